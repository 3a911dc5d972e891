"""Column edges of a catalog as an answer tells them: a line each, with how and by which statements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from connectors.catalog.store.evidence.column_dependencies import ColumnDependency, dependencies_of
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
    return [SeenEdge(_edge(one), view) for one in dependencies_of(view, *names, columns)]


def _edge(one: ColumnDependency) -> CatalogEdge:
    (source, path), (target, to) = one.source, one.target
    if one.type != "TABLE":
        source, target = f"{source}.{path}", f"{target}.{to or EVERY}"
    return CatalogEdge(
        target, source, one.type, one.subtype, masking=one.masking, certain=one.certain, expression=one.expression
    )


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
