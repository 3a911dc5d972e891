"""Column edges of a catalog, as language models read them: a line each, with how and by which statements."""

from __future__ import annotations

from collections.abc import Iterable

from connectors.catalog.answer.pages import AnswerRows, NumberedTexts, Row, fact
from connectors.catalog.answer.writing import Name, how_text
from connectors.catalog.questions.lineage import CatalogEdge, LineageEdges, Paths, SeenEdge
from ingestion.walk import DIRECT


def lineage_rows(found: LineageEdges) -> AnswerRows:
    """Every column edge, the nearest first; statements follow."""
    texts = NumberedTexts()
    rows = _edge_rows(found.seen, texts)
    facts = (
        fact(Name(found.name), f": {len(rows)} edges {found.direction} within {found.hops} hops"),
        fact(f"{found.tables} other tables, {texts.statement_count} statements (their text follows the edges)"),
    )
    return AnswerRows("rows", facts, (*rows, *texts.rows()))


def paths_rows(found: Paths) -> AnswerRows:
    """The edges of the shortest way, then those that lie on any other; statements follow."""
    title = (Name(found.source), " -> ", Name(found.target))
    if not found.hops:
        return AnswerRows("rows", (fact(*title, ": no way is known"),), ())
    texts = NumberedTexts()
    rows = _edge_rows((*found.shortest, *found.others), texts)
    on_shortest = len({one.edge for one in found.shortest})
    facts = (
        fact(*title, f": {found.hops} hops {'of values' if found.strength == DIRECT else 'not all of values'}"),
        fact(f"the first {on_shortest} edges are the shortest way; {len(rows)} edges lie on any"),
    )
    return AnswerRows("rows", facts, (*rows, *texts.rows()))


def _edge_rows(seen: Iterable[SeenEdge], texts: NumberedTexts) -> list[Row]:
    """A row an edge, in the order given; what several statements tell is told once, with all of their numbers."""
    numbers: dict[CatalogEdge, dict[str, None]] = {}
    for one in seen:
        number = texts.statement(one.view.content.get("sql") or "", one.view.kind, one.view.jobs)
        numbers.setdefault(one.edge, {})[number] = None
    return [_edge_row(edge, " ".join(seen_in), texts) for edge, seen_in in numbers.items()]


def _edge_row(edge: CatalogEdge, numbers: str, texts: NumberedTexts) -> Row:
    how = how_text(edge.type, edge.subtype, masking=edge.masking, certain=edge.certain)
    return texts.edge((edge.target, edge.source), how, edge.expression, numbers)
