"""What a proposed change does, as people, pull requests and language models read it."""

from __future__ import annotations

from collections.abc import Iterator

from connectors.catalog.answer.pages import AnswerRows, Row, fact
from connectors.catalog.answer.rendering import Renderings
from connectors.catalog.answer.writing import Name, cell, code, quoted_text, short_text
from connectors.catalog.questions.proposed_change.report import (
    ChangeReport,
    DownstreamEffect,
    EffectKind,
    ProposedChange,
)

_MOST_EFFECTS = 50
"""Effects of one change in a pull request: a comment is cut at 65,536 characters."""

_COUNTED = (
    (EffectKind.BREAKS, "break"),
    (EffectKind.UNCERTAIN, "may break"),
    (EffectKind.TYPE, "change their type"),
    (EffectKind.MEANING, "change their meaning"),
    (EffectKind.SENSITIVITY, "get sensitive values"),
)


def change_rows(report: ChangeReport) -> AnswerRows:
    """The verdict, then each change with its effects, what breaks something first, and what is not known of them."""
    counts = ", ".join(f"{report.count(kind)} {kind}" for kind in EffectKind)
    verdict = "breaks something downstream" if report.breaks else "breaks nothing that is known"
    facts = (
        fact(f"{verdict}{'' if report.complete else ', and not all of it is known'}"),
        fact(f"downstream: {counts}"),
        fact(f"{len(report.reads)} tables read, {len(report.writes)} written, {len(report.unknown)} things not known"),
    )
    rows = [row for one in report.changes for row in _change_rows(one)]
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
    if counts:
        known = "" if not report.unknown else f"; {len(report.unknown)} things not understood"
        return f"downstream {', '.join(counts)}{known}"
    if report.unknown:
        return f"not known: {len(report.unknown)} things not understood"
    return "nothing breaks downstream" if report.changes else "nothing changes"


def _lines(report: ChangeReport) -> Iterator[str]:
    for title, names in (("reads", report.reads), ("writes", report.writes)):
        if names:
            yield f"{title} {', '.join(names)}"
    for change in report.changes:
        yield f"{change.kind}  {change.name}{f'  ({change.detail})' if change.detail else ''}"
        yield from (f"  {_effect_line(effect)}" for effect in change.effects)
    yield from (f"not understood: {one}" for one in report.unknown)
    yield _verdict(report)


def _effect_line(effect: DownstreamEffect) -> str:
    via = f"  via {' -> '.join(effect.path[1:-1])}" if len(effect.path) > len(("from", "to")) else ""
    owners = f"  (owner {', '.join(effect.owners)})" if effect.owners else ""
    why = f"  {effect.why}" if effect.why else ""
    return f"{effect.kind:11} {effect.name}{' (every row)' if effect.whole else ''}{owners}{via}{why}"


def _markdown(report: ChangeReport) -> str:
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


PROPOSED_CHANGE = Renderings(_lines, ChangeReport.to_json, change_rows, _markdown)
