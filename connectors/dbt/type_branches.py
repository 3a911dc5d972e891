"""Templates that ask for the types of columns: their SQL stands where its lineage is one whatever the types are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from connectors.dbt.rendering.relations import TYPE_ASKED
from connectors.dbt.rendering.sandboxed import RenderedModel
from ingestion.errors import RecordError
from ingestion.scripts.lineage_parser import LineageParser

_Lineage = frozenset[tuple[str, str, str]]


def without_type_branches(rendered: Mapping[str, RenderedModel], dialect: str) -> dict[str, RenderedModel]:
    """The models as they are rendered, but those whose lineage depends on types: these ask the warehouse."""
    return {key: _settle(one, dialect) if one.other_ways else one for key, one in rendered.items()}


def _settle(one: RenderedModel, dialect: str) -> RenderedModel:
    ways = {one.texts, *one.other_ways}
    found = {_lineage_of(texts, dialect) for texts in ways} if len(ways) > 1 else {frozenset()}
    if len(found) == 1 and None not in found:
        return replace(one, other_ways=())
    return RenderedModel(line=one.line, reason=TYPE_ASKED)


def _lineage_of(texts: Iterable[str], dialect: str) -> _Lineage | None:
    views = ";\n".join(f"CREATE VIEW way_{number} AS {text}" for number, text in enumerate(texts))
    try:
        parser = LineageParser(views, dialect)
    except RecordError:
        return None
    if parser.failures:
        return None
    edges = {(str(edge.source), str(edge.target), str(edge.type)) for edge in parser.edges}
    made = {(str(table), column, "") for table, names in parser.whole_columns.items() for column in names}
    return frozenset(edges | made | {(str(table), "", "") for table in parser.source_tables})
