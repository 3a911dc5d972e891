"""Edges between the columns of a few tables, made at random: what walks are tried on."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from ingestion.walk import DIRECT, INDIRECT, TABLE, ColumnNode

TABLES, COLUMNS = tuple("abcdef"), tuple("xyz")


@dataclass(frozen=True)
class MadeEdge:
    """An edge as a walk sees it."""

    source: ColumnNode
    target: ColumnNode
    type: str
    certain: bool = True


@st.composite
def made_edges(draw: st.DrawFn) -> MadeEdge:
    """An edge between columns, one that acts on all columns of its target, or one of tables alone."""
    source, target = draw(st.sampled_from(TABLES)), draw(st.sampled_from(TABLES))
    kind = draw(st.sampled_from(("column", "column", "column", "all", "tables")))
    if kind == "tables":
        return MadeEdge((source, None), (target, None), TABLE)
    path = draw(st.sampled_from(COLUMNS))
    certain = draw(st.sampled_from((True, True, False)))
    if kind == "all":
        return MadeEdge((source, path), (target, None), INDIRECT, certain)
    type_ = draw(st.sampled_from((DIRECT, INDIRECT)))
    return MadeEdge((source, path), (target, draw(st.sampled_from(COLUMNS))), type_, certain)


def edge_lists() -> st.SearchStrategy[list[MadeEdge]]:
    """Some edges."""
    return st.lists(made_edges(), max_size=14)
