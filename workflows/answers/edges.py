"""Column edges of a catalog as an answer tells them: a line each, with how and by which statements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from connectors.catalog.store.lineage.reads import ContributionView
from ingestion.model import Json
from workflows.answers.paging.pages import Row
from workflows.answers.paging.statements import NumberedTexts
from workflows.answers.paging.writing import Name

EVERY = "*"
"""Stands for every column that a statement gives its target."""


@dataclass(frozen=True, slots=True)
class CatalogEdge:
    """One source in one target; both without a column where only the tables are known to be joined."""

    target: str
    source: str
    type: str
    subtype: str
    masking: bool
    certain: bool
    expression: str


@dataclass(frozen=True, slots=True)
class SeenEdge:
    """An edge and the contribution that tells of it."""

    edge: CatalogEdge
    view: ContributionView


def edges_of(view: ContributionView, names: tuple[str, str], columns: Iterable[Json] | None = None) -> list[SeenEdge]:
    """The edges of a contribution between the entities of these `names`; of these `columns` of it alone, if given."""
    given = view.content.get("columns") or []
    if not given:
        return [
            SeenEdge(CatalogEdge(names[1], names[0], "TABLE", "", masking=False, certain=True, expression=""), view)
        ]
    found = []
    for column in given if columns is None else columns:
        target = f"{names[1]}.{column.get('to') or EVERY}"
        found += [
            SeenEdge(
                CatalogEdge(
                    target,
                    f"{names[0]}.{source}",
                    column.get("type", "DIRECT"),
                    column.get("subtype") or "",
                    masking=bool(column.get("masking")),
                    certain=bool(column.get("certain", True)),
                    expression=column.get("expression") or "",
                ),
                view,
            )
            for source in column["from"]
        ]
    return found


def edge_rows(seen: Sequence[SeenEdge], texts: NumberedTexts) -> list[Row]:
    """A row an edge, in the order given; what several statements tell is told once, with all of their numbers."""
    numbers: dict[CatalogEdge, dict[str, None]] = {}
    for one in seen:
        number = texts.statement(one.view.content.get("sql") or "", one.view.kind, one.view.jobs)
        numbers.setdefault(one.edge, {})[number] = None
    return [_row(edge, tuple(seen_in), texts) for edge, seen_in in numbers.items()]


def _row(edge: CatalogEdge, numbers: tuple[str, ...], texts: NumberedTexts) -> Row:
    how = how_text(edge.type, edge.subtype, masking=edge.masking, certain=edge.certain)
    expression = texts.expression(edge.expression)
    shown = f" {expression}" if expression else ""
    return Row(
        (Name(edge.target), " <- ", Name(edge.source), f" [{how}] {' '.join(numbers)}{shown}"),
        ("edge", Name(edge.target), Name(edge.source), how, " ".join(numbers), expression),
    )


def how_text(type_: str, subtype: str, *, masking: bool, certain: bool) -> str:
    """How a source takes part, in words: `aggregation`, `filter`, the type without a subtype, `identity, masked`."""
    words = [(subtype or type_).lower().replace("_", " ")]
    if masking:
        words.append("masked")
    if not certain:
        words.append("uncertain")
    return ", ".join(words)
