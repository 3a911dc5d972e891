"""What a change reaches, what changed, what a proposed change would do: for people, pull requests and models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from connectors.catalog.answer.contracts import (
    contract_lines,
    contract_markdown,
    contract_rows,
    promise_lines,
    promise_rows,
)
from connectors.catalog.answer.pages import AnswerRows, Row, fact
from connectors.catalog.answer.rendering import Renderings
from connectors.catalog.answer.writing import Name, bold, cell, code, how_text, quoted_text, red, short_text
from connectors.catalog.questions.answer import moment_text
from connectors.catalog.questions.diff import CatalogDiff, ChangeReach, LineageChange, SchemaChange
from connectors.catalog.questions.impact import Impact, ReachedNode, ReachedTable
from connectors.catalog.questions.proposed_change.report import (
    ChangeReport,
    DownstreamEffect,
    EffectKind,
    ProposedChange,
)
from ingestion.model.moments import minute_text

_MOST_EFFECTS = 50
"""Effects of one change in a pull request: a comment is cut at 65,536 characters."""

_MOST_NAMES = 12
"""Owners, or tags, that are counted one by one."""
_COUNTED = (
    (EffectKind.BREAKS, "break"),
    (EffectKind.UNCERTAIN, "may break"),
    (EffectKind.TYPE, "change their type"),
    (EffectKind.MEANING, "change their meaning"),
    (EffectKind.SENSITIVITY, "get sensitive values"),
)


# Everything downstream of a table or a column.


def impact_rows(found: Impact) -> AnswerRows:
    """Tables, then their columns, the nearest first, each with how it is tied and by way of what."""
    counts = found.counts()
    apart = f", {counts['notSeen']} not any more" if "notSeen" in counts else ""
    facts = (
        fact(Name(found.root), f": {len(found.reached)} downstream in {_entities_text(found)}"),
        fact(
            f"{counts['direct']} get its values, {counts['indirect']} depend on them, {counts['table']} by table alone"
            + apart
        ),
        *((fact(_left_out_text(found)),) if found.left_out else ()),
    )
    tables = found.by_table()
    rows = (*promise_rows(found.promises), *map(_reached_table_row, tables), *map(_reached_row, found.reached))
    return AnswerRows("columns and tables", (*facts, *_whose_facts(tables)), rows)


def _left_out_text(found: Impact) -> str:
    asked = ", ".join(quoted_text(one) for one in found.asked.words())
    why = f"only {asked} was asked for" if asked else "they are farther, or get no values"
    return f"{found.left_out} are left out: {why}"


def _whose_facts(tables: Sequence[ReachedTable]) -> Iterator[Row]:
    """Of how many each owner and each tag is: the rows of many tables are on many pages."""
    owners = Counter(name for one in tables for name in one.owners)
    if owners:
        nobody = sum(not one.owners for one in tables)
        yield fact("owned by ", *_most_common(owners), *((f", nobody {nobody}",) if nobody else ()))
    tags = Counter(name for one in tables for name in one.tags)
    if tags:
        yield fact("tagged ", *_most_common(tags))


def _most_common(counts: Counter[str]) -> Iterator[str]:
    ordered = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    yield ", ".join(f"{quoted_text(name)} {count}" for name, count in ordered[:_MOST_NAMES])
    if len(counts) > _MOST_NAMES:
        yield f", {len(counts) - _MOST_NAMES} others"


def _reached_table_row(one: ReachedTable) -> Row:
    counts = f": {one.direct} direct, {one.others} others, {one.hops} hop{'' if one.hops == 1 else 's'}"
    owned = f", owned by {', '.join(map(quoted_text, one.owners))}" if one.owners else ""
    tagged = f", tags {', '.join(map(quoted_text, one.tags))}" if one.tags else ""
    cells = ("table", Name(one.name), one.kind, one.direct, one.others, one.hops)
    return Row((f"{_in_words(one.kind)} ", Name(one.name), counts, owned, tagged), (*cells, *one.owners, *one.tags))


def _reached_row(one: ReachedNode) -> Row:
    kind, hops, last = one.strength.lower(), len(one.hops), one.hops[-1]
    how = how_text(last.type, last.subtype, masking=False, certain=True)
    parts = Name(one.name), f" [{kind}, {hops} hop{'' if hops == 1 else 's'}] {how} of ", Name(last.source)
    cells = "impacted", Name(one.name), kind, hops, how, Name(last.source)
    doubts = _doubts(one)
    tagged = (f" tags {', '.join(map(quoted_text, one.tags))}",) if one.tags else ()
    return Row((*parts, *tagged, *(f" ({doubt})" for doubt in doubts)), (*cells, *doubts))


def _doubts(one: ReachedNode) -> tuple[str, ...]:
    """What stands against the way: that it was not seen any more, that somebody tells otherwise of a hop."""
    unseen = (str(one.unseen),) if one.unseen is not None else ()
    return (*unseen, f"not by: {', '.join(one.disputed_by)}") if one.disputed_by else unseen


def _impact_lines(found: Impact) -> Iterator[str]:
    counts = found.counts()
    yield bold(found.root)
    for one in found.reached:
        path = one.path
        via = f"  via {' -> '.join(path[1:-1])}" if len(path) > len(("from", "to")) else ""
        owned = f"  (owner {', '.join(one.owners)})" if one.owners else ""
        apart = owned + "".join(f"  ({doubt})" for doubt in _doubts(one))
        yield f"  {one.strength.lower():8} {one.name}{'' if one.column else ' (every row)'}{via}{apart}"
    titles = {"notSeen": "not seen any more"}
    yield from promise_lines(found.promises)
    kinds = ", ".join(f"{count} {titles.get(kind, kind)}" for kind, count in counts.items() if kind != "entities")
    yield f"{_entities_text(found)}: {kinds}"
    if found.left_out:
        yield _left_out_text(found)


_KINDS = ("table", "container", "topic", "dashboardDataModel", "chart", "dashboard")


def _entities_text(found: Impact) -> str:
    """`3 tables, 2 charts, 1 dashboard`."""
    counts = found.kinds()
    kinds = [*(kind for kind in _KINDS if kind in counts), *sorted(counts.keys() - set(_KINDS))]
    return ", ".join(_kind_text(counts[kind], kind) for kind in kinds) or _kind_text(0, "table")


def _kind_text(count: int, kind: str) -> str:
    """`2 data models` of the kind dashboardDataModel."""
    word = _in_words(kind).removeprefix("dashboard ")
    return f"{count} {word}{'' if count == 1 else 's'}"


def _impact_table(found: Impact) -> Iterator[tuple[str | int, ...]]:
    yield "table", "column", "type", "depth", "path", "not seen since"
    for one in found.reached:
        since = minute_text(one.unseen.since) if one.unseen is not None else ""
        yield one.table, one.column, one.strength, len(one.hops), " -> ".join(one.path), since


IMPACT = Renderings(_impact_lines, Impact.to_json, impact_rows, table=_impact_table, states_truncation=True)


# What changed between two moments.


def diff_rows(found: CatalogDiff) -> AnswerRows:
    """What breaks something first, then what reaches most: tables and columns, then the rest of lineage."""
    sources, lineage = _apart(found)
    schema = sorted(found.schema, key=_by_reach)
    rows = [*contract_rows(found.contracts), *(_schema_row(one, sources.get(_key(one), ())) for one in schema)]
    rows += map(_lineage_row, lineage)
    span = f"{moment_text(found.start)} to {'now' if found.now else moment_text(found.end)}"
    facts = (
        fact(f"{span}: {len(schema)} changes of schemas, {len(found.lineage)} of lineage"),
        fact(f"{sum(one.breaking for one in schema)} break something downstream"),
        *((fact(f"left out: {_left_out(found)}"),) if found.left_out else ()),
    )
    return AnswerRows("changes", facts, tuple(rows))


def _by_reach(one: SchemaChange | LineageChange) -> tuple[bool, int]:
    return not (isinstance(one, SchemaChange) and one.breaking), -one.reaches.count


def _key(one: SchemaChange) -> tuple[str, str]:
    return one.kind, one.name


_WITH_ITS_TABLE = {"edgeAdded": "entityAdded", "edgeRemoved": "entityDropped"}
"""An edge into a table that came or went with it is no news of its own."""


def _apart(found: CatalogDiff) -> tuple[dict[tuple[str, str], list[str]], list[LineageChange]]:
    """What the tables that came or went are or were made of, and the changes of lineage that are news beside them."""
    whole = {_key(one) for one in found.schema if not one.column}
    sources: dict[tuple[str, str], list[str]] = {}
    others = []
    for one in found.lineage:
        table = _WITH_ITS_TABLE.get(one.kind, ""), one.to_entity
        if table in whole:
            sources.setdefault(table, []).append(one.from_entity)
        else:
            others.append(one)
    return sources, sorted(others, key=_by_reach)


def _schema_row(one: SchemaChange, sources: Sequence[str]) -> Row:
    now = Name(one.new_name) if one.new_name else None
    renamed = (" to ", now) if now else ()
    made = [part for source in sources for part in (", ", Name(source))][1:]
    parts = (f"{_schema_kind(one)} ", Name(one.name), *renamed, *((" made of ", *made) if made else ()))
    reaches = [f"reaches {count}" for count in (one.reaches.count,) if count]
    ending = ", ".join([*reaches, *(["breaks"] if one.breaking else []), f"at {moment_text(one.at)}"])
    cells = (one.kind, Name(one.name), now, one.reaches.count, one.breaking, moment_text(one.at))
    return Row((*parts, f": {ending}"), (*cells, *map(Name, sources)))


def _lineage_row(one: LineageChange) -> Row:
    source, target = Name(one.source), Name(one.target)
    unseen = (str(one.unseen),) if one.unseen is not None else ()
    ending = ", ".join([*(f"reaches {count}" for count in (one.reaches.count,) if count), *unseen])
    parts = (f"{_in_words(one.kind)} ", source, " -> ", target, *((f": {ending}",) if ending else ()))
    return Row(parts, (one.kind, source, target, one.reaches.count, *unseen))


def _schema_kind(one: SchemaChange) -> str:
    """What happened to what: `table added`, `column retyped`."""
    return _in_words(one.kind.replace("entity", str(one.entity["type"]), 1))


def _in_words(kind: str) -> str:
    spaced = "".join(f" {one.lower()}" if one.isupper() else one for one in kind)
    return quoted_text(spaced)[1:-1]


def _left_out(found: CatalogDiff) -> str:
    return ", ".join(f"{count} of {_in_words(type_)}" for type_, count in found.left_out)


def _diff_lines(found: CatalogDiff) -> Iterator[str]:
    sources, lineage = _apart(found)
    for change in sorted(found.schema, key=_by_reach):
        mark = red("breaks ") if change.breaking else "       "
        now = f" to {change.new_name}" if change.new_name else ""
        made = f"  made of {', '.join(some)}" if (some := sources.get(_key(change))) else ""
        yield f"{mark}{_schema_kind(change):18} {change.name}{now}{made}{_reach_text(change.reaches)}"
    for one in lineage:
        apart = f"  ({one.unseen})" if one.unseen is not None else ""
        yield f"       {_in_words(one.kind):18} {one.source} -> {one.target}{_reach_text(one.reaches)}{apart}"
        for sign, texts in (("-", one.before), ("+", one.after)):
            yield from (f"         {sign} {' '.join(text.split())}" for text in texts)
    broken = sum(change.breaking for change in found.schema)
    yield from contract_lines(found.contracts)
    yield f"{len(found.schema)} schema changes, {broken} of them breaking; {len(found.lineage)} lineage changes"
    if found.left_out:
        yield f"left out, see --all: {_left_out(found)}"


def _reach_text(reach: ChangeReach) -> str:
    return f"  reaches {reach.count}" if reach.count else ""


DIFF = Renderings(_diff_lines, CatalogDiff.to_json, diff_rows, states_truncation=True)


# What a proposed change does.


def change_rows(report: ChangeReport) -> AnswerRows:
    """The verdict, then each change with its effects, what breaks something first, and what is not known of them."""
    counts = ", ".join(f"{report.count(kind)} {kind}" for kind in EffectKind)
    verdict = "breaks something downstream" if report.breaks else "breaks nothing that is known"
    facts = (
        fact(f"{verdict}{'' if report.complete else ', and not all of it is known'}"),
        fact(f"downstream: {counts}"),
        fact(f"{len(report.reads)} tables read, {len(report.writes)} written, {len(report.unknown)} things not known"),
    )
    rows = [*contract_rows(report.contracts), *(row for one in report.changes for row in _change_rows(one))]
    rows += [Row((f"not known: {(why := short_text(one))}",), ("not known", why)) for one in report.unknown]
    rows += (_table_row("reads", name) for name in report.reads)
    rows += (_table_row("writes", name) for name in report.writes)
    return AnswerRows("rows", facts, tuple(rows))


def _table_row(how: str, name: str) -> Row:
    return Row((f"{how} ", Name(name)), (how, Name(name)))


def _change_rows(change: ProposedChange) -> Iterator[Row]:
    detail = short_text(change.detail)
    shown = f": {detail}" if detail else ""
    yield Row((f"{change.kind} ", Name(change.name), shown), ("change", str(change.kind), Name(change.name), detail))
    for effect in change.effects:
        yield _effect_row(effect)


def _effect_row(effect: DownstreamEffect) -> Row:
    way = [Name(one) for one in effect.path[:-1]]  # it ends with what is affected
    why, owners = short_text(effect.why), ", ".join(map(quoted_text, effect.owners))
    via = [part for one in way for part in (" -> ", one)][1:]
    ending = "".join((f" ({why})" if why else "", f" owned by {owners}" if owners else ""))
    parts = (f"  {effect.kind} ", Name(effect.name), *((" via ", *via) if via else ()), ending)
    return Row(parts, ("effect", str(effect.kind), Name(effect.name), " -> ".join(way), why, owners))


def _verdict(report: ChangeReport) -> str:
    """What there is to say in one line."""
    counts = [f"{count} {what}" for kind, what in _COUNTED if (count := report.count(kind))]
    if not counts and report.contracts is not None and report.contracts.breaks:
        return "breaks promises of contracts" if report.contracts.breaking else "may break promises of contracts"
    if counts:
        known = "" if not report.unknown else f"; {len(report.unknown)} things not understood"
        return f"downstream {', '.join(counts)}{known}"
    if report.unknown:
        return f"not known: {len(report.unknown)} things not understood"
    return "nothing breaks downstream" if report.changes else "nothing changes"


def _change_lines(report: ChangeReport) -> Iterator[str]:
    for title, names in (("reads", report.reads), ("writes", report.writes)):
        if names:
            yield f"{title} {', '.join(names)}"
    for change in report.changes:
        yield f"{change.kind}  {change.name}{f'  ({change.detail})' if change.detail else ''}"
        yield from (f"  {_effect_line(effect)}" for effect in change.effects)
    yield from (f"not understood: {one}" for one in report.unknown)
    yield from contract_lines(report.contracts)
    yield _verdict(report)


def _effect_line(effect: DownstreamEffect) -> str:
    via = f"  via {' -> '.join(effect.path[1:-1])}" if len(effect.path) > len(("from", "to")) else ""
    owners = f"  (owner {', '.join(effect.owners)})" if effect.owners else ""
    why = f"  {effect.why}" if effect.why else ""
    return f"{effect.kind:11} {effect.name}{' (every row)' if effect.whole else ''}{owners}{via}{why}"


def _change_markdown(report: ChangeReport) -> str:
    """For a pull request: a heading, the changes, and a table of what each does downstream."""
    lines = [f"### Lineage: {_verdict(report)}", ""]
    for title, names in (("Reads", report.reads), ("Writes", report.writes)):
        if names:
            lines += [f"{title} {', '.join(map(code, names))}.", ""]
    for change in report.changes:
        lines += [f"**{change.kind}** {code(change.name)}{f': {code(change.detail)}' if change.detail else ''}", ""]
        lines += _effect_table(change)
    if report.unknown:
        lines += ["**Not understood**", "", *(f"- {code(one)}" for one in report.unknown), ""]
    lines += contract_markdown(report.contracts)
    return "\n".join(lines)


def _effect_table(change: ProposedChange) -> list[str]:
    if not change.effects:
        return []
    lines = ["| | what | owner | path |", "|---|---|---|---|"]
    for effect in change.effects[:_MOST_EFFECTS]:
        mark = f"❌ {effect.kind}" if effect.kind is EffectKind.BREAKS else str(effect.kind)
        owners = ", ".join(map(cell, effect.owners))
        path = " → ".join(map(code, effect.path)) + (f" ({cell(effect.why)})" if effect.why else "")
        lines.append(f"| {mark} | {code(effect.name)} | {owners} | {path} |")
    left = len(change.effects) - _MOST_EFFECTS
    return [*lines, *([f"| | and {left} more | | |"] if left > 0 else []), ""]


PROPOSED_CHANGE = Renderings(_change_lines, ChangeReport.to_json, change_rows, _change_markdown)
