"""What a batch changes in DataHub, as proposals of its own classes: patches, so that what others wrote stays.

An edge of columns is known there by its transformation, its query and both columns, so that another expression is
another edge: what is not true any more is taken away by the key that it was written under.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from datahub.emitter.mcp import MetadataChangeProposalWrapper
from datahub.metadata.schema_classes import (
    AuditStampClass,
    DatasetLineageTypeClass,
    FineGrainedLineageClass,
    FineGrainedLineageDownstreamTypeClass,
    FineGrainedLineageUpstreamTypeClass,
    MetadataChangeProposalClass,
    QueryLanguageClass,
    QueryPropertiesClass,
    QuerySourceClass,
    QueryStatementClass,
    QuerySubjectClass,
    QuerySubjectsClass,
    UpstreamClass,
)
from datahub.metadata.urns import DatasetUrn, QueryUrn, SchemaFieldUrn
from datahub.specific.dataset import DatasetPatchBuilder

from connectors.datahub.names import ACTOR, DatahubNames, DatasetName
from connectors.platforms.datahub_platforms import MOST_COLUMNS, MOST_UPSTREAMS
from connectors.sink import EdgeCounts, TargetBatch
from ingestion.errors import Rejected
from ingestion.model.contributions import DOUBTFUL, ColumnEvidence, Contribution
from ingestion.model.digests import digest
from ingestion.model.entities import EntityReference
from ingestion.model.fqn import split_fqn
from ingestion.model.lineage import Subtype
from ingestion.model.requests import AddLineageRequest, EdgeSource

Proposal: TypeAlias = MetadataChangeProposalClass | MetadataChangeProposalWrapper
_UPSTREAM, _COLUMN = "upstream", "column"


@dataclass(frozen=True, slots=True)
class _Key:
    """Under what something is written to the aspect of `dataset`: an upstream, or of it a column's edge."""

    dataset: str
    upstream: str
    column: str = ""
    from_column: str = ""
    operation: str = ""
    query: str = ""

    def text(self) -> str:
        kind = [_COLUMN, self.column, self.from_column, self.operation, self.query] if self.column else [_UPSTREAM]
        return json.dumps([self.dataset, self.upstream, *kind], ensure_ascii=False)

    @classmethod
    def of(cls, text: str) -> _Key:
        """The one that `text` gave."""
        dataset, upstream, _kind, *column = json.loads(text)
        return cls(dataset, upstream, *column)

    def edge(self, confidence: float) -> FineGrainedLineageClass:
        return FineGrainedLineageClass(
            upstreamType=FineGrainedLineageUpstreamTypeClass.FIELD_SET,
            downstreamType=FineGrainedLineageDownstreamTypeClass.FIELD,
            upstreams=[self.from_column],
            downstreams=[self.column],
            transformOperation=self.operation or None,
            query=self.query or None,
            confidenceScore=min(max(confidence, 0.0), 1.0),
        )


@dataclass(frozen=True)
class Changes:
    """Makes proposals, by these `names`."""

    names: DatahubNames
    _urns: dict[EntityReference, tuple[str, DatasetName]] = field(default_factory=dict)
    _fields: dict[tuple[str, str], str] = field(default_factory=dict)

    def check_names(self, request: AddLineageRequest) -> None:
        """Raises Rejected where an end of a request has no name there."""
        self._urn(request.from_entity)
        self._urn(request.to_entity)

    def keys(self, request: AddLineageRequest, contribution: Contribution) -> list[str]:
        """Under what it writes a contribution; nothing of what has no name there."""
        try:
            return [key.text() for key in self._keys(request, contribution)]
        except Rejected:
            return []

    def without_those_of_others(
        self, ended: frozenset[str], upstreams_of_others: Callable[[str], frozenset[str]]
    ) -> frozenset[str]:
        """What is `ended` but the upstreams that others wrote last; a dataset's are asked for."""
        keys = {text: _Key.of(text) for text in ended}
        datasets = {key.dataset for key in keys.values() if not key.column}
        theirs = {dataset: upstreams_of_others(dataset) for dataset in sorted(datasets)}
        return frozenset(text for text, key in keys.items() if key.column or key.upstream not in theirs[key.dataset])

    def counts(self, batch: TargetBatch) -> EdgeCounts:
        """What it writes of a batch, and what has no place. Raises Rejected where an end of it has no name there."""
        columns, upstreams = 0, set[str]()
        lost = EdgeCounts()
        for request in batch.requests:
            keys = {key for one in request.contributions for key in self._keys(request, one)}
            if batch.superseded:
                keys = {key for key in keys if key.text() not in batch.superseded}
            columns += sum(bool(key.column) for key in keys)
            upstreams.update(key.upstream for key in keys)
            lost += EdgeCounts.lost_of(request)
        wide = len(upstreams) > MOST_UPSTREAMS or columns > MOST_COLUMNS
        ended, new = len(batch.ended), len(batch.requests)
        return lost + EdgeCounts(new=new, replaced=ended, column_edges=columns, wide_targets=int(wide))

    def proposals(self, batch: TargetBatch) -> list[Proposal]:
        """What the batch changes, queries first. Raises Rejected where an end of it has no name there."""
        patches: dict[str, DatasetPatchBuilder] = {}
        for text in sorted(batch.ended):
            key = _Key.of(text)
            _take_away(patches.setdefault(key.dataset, _patch_of(key.dataset)), key)
        queries: dict[str, tuple[Contribution, set[str]]] = {}
        for request in batch.requests:
            self._add(request, batch.superseded, patches, queries)
        found: list[Proposal] = []
        for urn, (contribution, subjects) in sorted(queries.items()):
            found += _query_proposals(urn, contribution, subjects)
        return found + [proposal for _urn, patch in sorted(patches.items()) for proposal in patch.build()]

    def _add(
        self,
        request: AddLineageRequest,
        superseded: frozenset[str],
        patches: dict[str, DatasetPatchBuilder],
        queries: dict[str, tuple[Contribution, set[str]]],
    ) -> None:
        upstreams: dict[_Key, list[Contribution]] = {}
        for contribution in sorted(request.contributions, key=lambda one: one.recency):
            for key in self._keys(request, contribution):
                if superseded and key.text() in superseded:
                    continue
                patch = patches.setdefault(key.dataset, _patch_of(key.dataset))
                if key.column:
                    patch.add_fine_grained_lineage(key.edge(contribution.confidence))
                else:
                    upstreams.setdefault(key, []).append(contribution)
                query = _query_urn(contribution, key.dataset)
                if query:
                    _latest, subjects = queries.setdefault(query, (contribution, {key.dataset}))
                    subjects.update(one for one in (key.upstream, key.column, key.from_column) if one)
        for key, contributions in upstreams.items():
            patches[key.dataset].add_upstream_lineage(_upstream(key, contributions))

    def _keys(self, request: AddLineageRequest, contribution: Contribution) -> Iterator[_Key]:
        """The upstream, and each certain pair of columns whose value flows: DataHub has no place for others."""
        (source, source_name), (target, target_name) = self._urn(request.from_entity), self._urn(request.to_entity)
        if source != target:  # shards of one table are one dataset, which is not made of itself
            yield _Key(target, source)
        query = _query_urn(contribution, target)
        for evidence in contribution.columns:
            if not evidence.publishable:
                continue
            to = self._field(target, target_name, _column(request.to_entity, evidence.to_column))
            for name in evidence.from_columns:
                column = _column(request.from_entity, name)
                operation = _operation(evidence, column)
                yield _Key(target, source, to, self._field(source, source_name, column), operation, query)

    def _urn(self, entity: EntityReference) -> tuple[str, DatasetName]:
        if entity not in self._urns:
            name = self.names.of(entity)
            urn = DatasetUrn.create_from_ids(
                platform_id=name.platform, table_name=name.name, env=name.env, platform_instance=name.instance
            )
            self._urns[entity] = str(urn), name
        return self._urns[entity]

    def _field(self, dataset: str, name: DatasetName, path: str) -> str:
        if (dataset, path) not in self._fields:
            plain = ".".join(split_fqn(path))
            self._fields[dataset, path] = str(SchemaFieldUrn(dataset, plain.lower() if name.lowercase else plain))
        return self._fields[dataset, path]


def _patch_of(dataset: str) -> DatasetPatchBuilder:
    return DatasetPatchBuilder(dataset)


def _take_away(patch: DatasetPatchBuilder, key: _Key) -> None:
    """Taken away once it is surely there: what was never answered for may not be, and removing nothing is an error."""
    if key.column:
        edge = key.edge(0.0)
        patch.add_fine_grained_lineage(edge)
        patch.remove_fine_grained_lineage(edge)
    else:
        patch.add_upstream_lineage(UpstreamClass(key.upstream, DatasetLineageTypeClass.TRANSFORMED, _stamp(None)))
        patch.remove_upstream_lineage(key.upstream)


def _upstream(key: _Key, contributions: list[Contribution]) -> UpstreamClass:
    """DataHub has one word for a pair of tables: that of the contribution seen last."""
    last = contributions[-1]
    jobs = sorted({job for one in contributions for job in one.jobs})
    return UpstreamClass(
        dataset=key.upstream,
        type=DatasetLineageTypeClass.VIEW if last.source == EdgeSource.VIEW else DatasetLineageTypeClass.TRANSFORMED,
        auditStamp=_stamp(last.last_seen),
        query=_query_urn(last, key.dataset) or None,
        properties={
            "headwater.producer": f"{last.producer.kind} {last.producer.key}",
            **({"headwater.jobs": ", ".join(jobs)} if jobs else {}),
            **({"headwater.certainty": "possible"} if all(one.confidence <= DOUBTFUL for one in contributions) else {}),
        },
    )


def _query_urn(contribution: Contribution, dataset: str) -> str:
    """A query by its masked text and what it writes, so that what it touches is told in one batch; "" without one."""
    if not contribution.sql_query:
        return ""
    return str(QueryUrn(f"headwater-{digest(contribution.sql_query, dataset)}"))


def _query_proposals(urn: str, contribution: Contribution, subjects: Iterable[str]) -> Iterator[Proposal]:
    aspects = (
        QueryPropertiesClass(
            statement=QueryStatementClass(contribution.sql_query, QueryLanguageClass.SQL),
            source=QuerySourceClass.SYSTEM,
            created=_stamp(contribution.first_seen),
            lastModified=_stamp(contribution.last_seen),
        ),
        QuerySubjectsClass([QuerySubjectClass(subject) for subject in sorted(subjects)]),
    )
    yield from (MetadataChangeProposalWrapper(entityUrn=urn, aspect=aspect) for aspect in aspects)


def _stamp(seconds: float | None) -> AuditStampClass:
    return AuditStampClass(round((seconds or 0) * 1000), ACTOR)


def _column(entity: EntityReference, fqn: str) -> str:
    return fqn.removeprefix(f"{entity.fully_qualified_name}.")


def _operation(evidence: ColumnEvidence, column: str) -> str:
    """As DataHub's own connectors write it."""
    if evidence.transformation.subtype is Subtype.IDENTITY and not evidence.expression:
        return f"COPY: {column}"
    return f"SQL: {evidence.expression}" if evidence.expression else ""
