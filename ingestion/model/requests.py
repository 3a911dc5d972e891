"""What is asked of a metadata platform: an edge between two entities, in OpenMetadata's wire names.

Every value here is in normal form (sorted, without repetition), so equal content is equal, and merging is a
join: commutative, associative and idempotent. What a plain OpenMetadata cannot hold (who said it, column edges
that are indirect or uncertain, when it was seen) travels beside the details as contributions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from operator import lt
from typing import Any, ClassVar

from ingestion.model.contributions import (
    Contribution,
    Producer,
    certain_pairs,
    description_of_jobs,
    merge_contributions,
)
from ingestion.model.entities import EntityReference
from ingestion.model.lineage import Json


class EdgeSource(StrEnum):
    """OpenMetadata's names of what an edge was read from; the order is which name a merged edge keeps."""

    MANUAL = "Manual"
    VIEW = "ViewLineage"
    DASHBOARD = "DashboardLineage"
    DBT = "DbtLineage"
    PIPELINE = "PipelineLineage"
    SPARK = "SparkLineage"
    OPEN_LINEAGE = "OpenLineage"
    EXTERNAL_TABLE = "ExternalTableLineage"
    CROSS_DATABASE = "CrossDatabaseLineage"
    QUERY = "QueryLineage"


_SOURCE_RANK = {source.value: rank for rank, source in enumerate(EdgeSource)}


@dataclass(frozen=True, slots=True)
class ColumnLineage:
    """Columns (by FQN) that make one column; its identity is (from_columns, to_column), not `function`."""

    from_columns: tuple[str, ...]
    to_column: str
    function: str | None = None
    __normalizes__: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if len(self.from_columns) > 1:
            object.__setattr__(self, "from_columns", tuple(sorted(set(self.from_columns))))
        if self.function == "":
            object.__setattr__(self, "function", None)

    @property
    def key(self) -> tuple[tuple[str, ...], str]:
        return self.from_columns, self.to_column

    def to_json(self) -> Json:
        json: Json = {"fromColumns": list(self.from_columns), "toColumn": self.to_column}
        if self.function:
            json["function"] = self.function
        return json

    @classmethod
    def from_json(cls, json: Mapping[str, Any]) -> ColumnLineage:
        return cls(tuple(json.get("fromColumns") or ()), str(json.get("toColumn") or ""), json.get("function"))


@dataclass(frozen=True, slots=True, order=True)
class TempLineageTable:
    """One hop through a table that no entity stands for, by the names that the query has."""

    from_entity: str
    to_entity: str

    def to_json(self) -> Json:
        return {"fromEntity": self.from_entity, "toEntity": self.to_entity}

    @classmethod
    def from_json(cls, json: Mapping[str, Any]) -> TempLineageTable:
        return cls(str(json["fromEntity"]), str(json["toEntity"]))


@dataclass(frozen=True, slots=True)
class LineageDetails:
    """How one entity comes from another; `sql_query` is masked, `source` is a LineageSource or a newer name."""

    sql_query: str | None = None
    source: str = EdgeSource.QUERY
    columns_lineage: tuple[ColumnLineage, ...] = ()
    pipeline: EntityReference | None = None
    temp_lineage_tables: tuple[TempLineageTable, ...] = ()
    description: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "sql_query", self.sql_query or None)
        object.__setattr__(self, "description", self.description or None)
        object.__setattr__(self, "columns_lineage", _union_of_columns(self.columns_lineage))
        object.__setattr__(self, "temp_lineage_tables", tuple(sorted(set(self.temp_lineage_tables))))

    def to_json(self) -> Json:
        json: Json = {"source": str(self.source), "columnsLineage": [one.to_json() for one in self.columns_lineage]}
        if self.sql_query:
            json["sqlQuery"] = self.sql_query
        if self.pipeline is not None:
            json["pipeline"] = self.pipeline.to_json()
        if self.temp_lineage_tables:
            json["tempLineageTables"] = [hop.to_json() for hop in self.temp_lineage_tables]
        if self.description:
            json["description"] = self.description
        return json

    @classmethod
    def from_json(cls, json: Mapping[str, Any]) -> LineageDetails:
        """Details as a server gives them: unknown keys are ignored, a missing source is Manual as in its schema."""
        pipeline = json.get("pipeline")
        return cls(
            sql_query=json.get("sqlQuery"),
            source=json.get("source") or EdgeSource.MANUAL.value,
            columns_lineage=tuple(ColumnLineage.from_json(item) for item in json.get("columnsLineage") or ()),
            pipeline=EntityReference.from_json(pipeline) if pipeline else None,
            temp_lineage_tables=tuple(TempLineageTable.from_json(item) for item in json.get("tempLineageTables") or ()),
            description=json.get("description"),
        )


@dataclass(frozen=True, slots=True)
class EntitiesEdge:
    """An edge from a source entity to the entity that is made from it."""

    from_entity: EntityReference
    to_entity: EntityReference
    lineage_details: LineageDetails

    def to_json(self) -> Json:
        return {
            "fromEntity": self.from_entity.to_json(),
            "toEntity": self.to_entity.to_json(),
            "lineageDetails": self.lineage_details.to_json(),
        }


@dataclass(frozen=True, slots=True)
class AddLineageRequest:
    """One edge to publish, with all (one or more) that was contributed to it.

    A sink that takes contributions needs no more: OpenMetadata's own `edge` is made when a sink asks for it.
    """

    from_entity: EntityReference
    to_entity: EntityReference
    contributions: tuple[Contribution, ...]

    @property
    def key(self) -> tuple[str, str]:
        """The ids of both ends."""
        return self.from_entity.id, self.to_entity.id

    @property
    def edge(self) -> EntitiesEdge:
        """The edge as a plain OpenMetadata has it, which holds certain DIRECT columns and nobody's name."""
        return EntitiesEdge(self.from_entity, self.to_entity, details_of(self.contributions))

    def to_json(self) -> Json:
        """OpenMetadata's body of PUT /v1/lineage; contributions are not part of it."""
        return {"edge": self.edge.to_json()}


@dataclass(frozen=True, slots=True)
class Replacement:
    """An order to drop what `source` said before about `to_entity` and does not say any more.

    A view that was redefined, a job whose complete set of edges is known. `producer` None: whoever said it. `at` is
    since when (seconds since the epoch), None: since the new edges were first seen; `until` the last moment that the
    new truth speaks of, None: when the new edges were last seen. `whole` False: not every name that it reads is known.
    `shared`: others said things of `to_entity` before which this run does not repeat.
    """

    to_entity: EntityReference
    source: str = EdgeSource.VIEW
    producer: Producer | None = None
    at: float | None = None
    until: float | None = None
    whole: bool = True
    shared: bool = False

    def to_json(self) -> Json:
        return {
            "producer": self.producer.to_json() if self.producer else None,
            "toEntity": {"id": self.to_entity.id, "type": self.to_entity.type},
            "source": str(self.source),
            "at": None if self.at is None else round(self.at * 1000),
            "until": None if self.until is None else round(self.until * 1000),
        }


def details_of(contributions: Sequence[Contribution]) -> LineageDetails:
    """The details that contributions amount to on the wire: only certain DIRECT pairs become columns.

    `sql_query` is the masked text of the contribution seen last, `description` names the jobs that ran it.
    """
    pairs = sorted(certain_pairs(contributions).items())
    last = max(contributions, key=lambda item: (bool(item.sql_query), item.recency))
    return LineageDetails(
        sql_query=last.sql_query,
        source=_preferred_source(contribution.source for contribution in contributions),
        columns_lineage=tuple([ColumnLineage((source,), target, text) for (target, source), text in pairs]),
        pipeline=_preferred_pipeline(contribution.pipeline for contribution in contributions),
        temp_lineage_tables=tuple(TempLineageTable(*hop) for one in contributions for hop in one.temp_lineage_tables),
        description=description_of_jobs(job for contribution in contributions for job in contribution.jobs),
    )


def request_of(
    from_entity: EntityReference, to_entity: EntityReference, contributions: Iterable[Contribution]
) -> AddLineageRequest:
    """One request for an edge and all (one or more) contributions to it."""
    return AddLineageRequest(from_entity, to_entity, merge_contributions(contributions))


def _union_of_columns(mappings: tuple[ColumnLineage, ...]) -> tuple[ColumnLineage, ...]:
    keys = [(mapping.to_column, mapping.from_columns) for mapping in mappings]
    if all(map(lt, keys, keys[1:])):
        return mappings
    found: dict[tuple[tuple[str, ...], str], ColumnLineage] = {}
    for mapping in mappings:
        known = found.setdefault(mapping.key, mapping)
        if known.function != mapping.function:
            found[mapping.key] = replace(mapping, function=_preferred_text((known.function, mapping.function)))
    return tuple(found[key] for key in sorted(found, key=lambda key: (key[1], key[0])))


def _preferred_text(texts: Iterable[str | None]) -> str | None:
    return min((text for text in texts if text), key=lambda text: (len(text), text), default=None)


def _preferred_source(sources: Iterable[str]) -> str:
    return min(map(str, sources), key=_source_rank)


def _preferred_pipeline(pipelines: Iterable[EntityReference | None]) -> EntityReference | None:
    return min((one for one in pipelines if one is not None), key=lambda one: one.rank, default=None)


def _source_rank(source: str) -> tuple[int, str]:
    return _SOURCE_RANK.get(source, len(_SOURCE_RANK)), source
