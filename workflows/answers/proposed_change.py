"""What a proposed change does, as rows: each change of a table or column, with what it does downstream."""

from __future__ import annotations

from collections.abc import Iterator

from ingestion.errors import ConfigError
from workflows.answers.paging.pages import Answer, Row, fact
from workflows.answers.paging.writing import Name, quoted_text, short_text
from workflows.changes.report import ChangeReport, DownstreamEffect, EffectKind, ProposedChange


def change_answer(report: ChangeReport) -> Answer:
    """The verdict, then each change with its effects, what breaks something first, and what is not known of them."""
    if not report.changes and not report.reads and not report.writes and not report.unknown:
        raise ConfigError("the text changes nothing that a catalog knows: give DDL, or statements that fill tables")
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
    return Answer("rows", facts, tuple(rows))


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
