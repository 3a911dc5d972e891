"""What lies downstream of a table or a column, as people and language models read it."""

from __future__ import annotations

from collections.abc import Iterator

from connectors.catalog.answer.pages import AnswerRows, Row, fact
from connectors.catalog.answer.rendering import Renderings
from connectors.catalog.answer.writing import Name, bold, how_text
from connectors.catalog.questions.impact import Impact, ReachedNode


def impact_rows(found: Impact) -> AnswerRows:
    """Everything downstream, the nearest first, each with how it is tied and by way of what."""
    counts = found.counts()
    facts = (
        fact(Name(found.root), f": {len(found.reached)} downstream in {counts['entities']} tables"),
        fact(
            f"{counts['direct']} get its values, {counts['indirect']} depend on them, {counts['table']} by table alone"
        ),
    )
    return AnswerRows("columns and tables", facts, tuple(_row(one) for one in found.reached))


def _row(one: ReachedNode) -> Row:
    kind, hops, last = one.strength.lower(), len(one.hops), one.hops[-1]
    how = how_text(last.type, last.subtype, masking=False, certain=True)
    parts = (Name(one.name), f" [{kind}, {hops} hop{'' if hops == 1 else 's'}] {how} of ", Name(last.source))
    return Row(parts, ("impacted", Name(one.name), kind, hops, how, Name(last.source)))


def _lines(found: Impact) -> Iterator[str]:
    counts = found.counts()
    yield bold(found.root)
    for one in found.reached:
        path = one.path
        via = f"  via {' -> '.join(path[1:-1])}" if len(path) > len(("from", "to")) else ""
        yield f"  {one.strength.lower():8} {one.name}{'' if one.column else ' (every row)'}{via}"
    kinds = ", ".join(f"{count} {kind}" for kind, count in counts.items() if kind != "entities")
    yield f"{counts['entities']} tables: {kinds}"


def _table(found: Impact) -> Iterator[tuple[str | int, ...]]:
    yield "table", "column", "type", "depth", "path"
    for one in found.reached:
        yield one.table, one.column, one.strength, len(one.hops), " -> ".join(one.path)


IMPACT = Renderings(_lines, Impact.to_json, impact_rows, table=_table, states_truncation=True)
