"""Bulk lineage: thousands of contributions merged into their edges in one transaction, once per batch id."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from json.encoder import encode_basestring as quoted

from sqlalchemy import Connection, insert, select

from connectors.catalog.contract import bulk_models
from connectors.catalog.contract.errors import ApiError, not_found
from connectors.catalog.store.database import dumps, loads, tick
from connectors.catalog.store.entities import columns as columns_of
from connectors.catalog.store.entities.attributes import known_columns
from connectors.catalog.store.entities.entities import any_rows_of
from connectors.catalog.store.entities.versions import mark_processed
from connectors.catalog.store.lineage import reads, rest_edges
from connectors.catalog.store.lineage.column_names import ColumnNames, column_names, names_of
from connectors.catalog.store.lineage.inserts import Content, ContributionRow, StoredText, record_digest
from connectors.catalog.store.lineage.intervals import Retraction
from connectors.catalog.store.lineage.rejections import rejected_names
from connectors.catalog.store.lineage.writer import LineageWriter
from connectors.catalog.store.rows import IDS, bind_ids, thousands_of
from connectors.catalog.store.schema import batches, entities
from ingestion.model.job_slots import JobSlot, RunDays
from ingestion.model.lineage import Json

# without their documents, which are most of what there is to read
_THERE = select(entities.c.id, entities.c.type, entities.c.fqn).where(entities.c.id.in_(IDS), ~entities.c.purged)


def apply(connection: Connection, request: bulk_models.Lineage) -> Json:
    """Applies a batch; a batch applied before gives its answer again.

    Raises ApiError: 404 when an end or a pipeline is not there, 409 when the id was used for another batch.
    """
    digest = hashlib.sha256(request.model_dump_json().encode()).hexdigest()
    known = connection.execute(select(batches).where(batches.c.id == request.batchId)).one_or_none()
    if known is not None:
        if known.digest != digest:
            raise ApiError(409, "this batchId was used for another batch: give every batch an id of its own")
        return loads(known.answer)
    now = tick(connection)
    answer = _apply(connection, request, now)
    connection.execute(insert(batches).values(id=request.batchId, digest=digest, at=now, answer=dumps(answer)))
    return answer


def _apply(connection: Connection, request: bulk_models.Lineage, now: int) -> Json:
    names = _names(connection, _ends(connection, request))
    existing = reads.neighbours(connection, {edge.toEntity.id.lower() for edge in request.edges}, upstream=True)
    known = _BatchContext(names, request.sqlQueries)
    writer = LineageWriter(connection, f"batch:{request.batchId}", now)
    given = [_contribution(connection, edge, known, now) for edge in request.edges]
    for scope in request.replace:
        writer.end(_ending(scope, given, writer.batch, now))
    for contribution in given:
        writer.add(contribution)
    written = writer.finish()
    mark_processed(connection, {scope.toEntity.id.lower() for scope in request.replace if scope.processed}, now)
    concerned = {one.edge for one in given}
    answer: Json = {
        # one that was told before is not new, though it ended since or goes on under another name
        "new": len((concerned - existing) & written.news),
        "merged": len(concerned & existing & written.news),
        "unchanged": len(concerned - written.news),
        "replaced": written.replaced,
        "columnEdges": sum(one.content.column_edges for one in given),
    }
    rejected = rejected_names(connection, given)
    return answer | ({"rejected": rejected} if rejected else {})


def _ends(connection: Connection, request: bulk_models.Lineage) -> dict[str, tuple[str, str]]:
    """The types and full names of all entities that a batch speaks of, by their ids."""
    wanted = {(end.id.lower(), end.type) for edge in request.edges for end in (edge.fromEntity, edge.toEntity)}
    wanted |= {(scope.toEntity.id.lower(), scope.toEntity.type) for scope in request.replace}
    # a name that the log drops later has its lineage before
    found: dict[str, tuple[str, str]] = {}
    for some in thousands_of(sorted({identifier for identifier, _ in wanted})):
        for identifier, kind, name in connection.execute(_THERE, bind_ids(some)).all():
            found[identifier] = kind, name
    for identifier, kind in sorted(wanted):
        if identifier not in found or found[identifier][0] != kind:
            raise not_found(kind, identifier)
    return found


def _names(connection: Connection, ends: Mapping[str, tuple[str, str]]) -> dict[str, ColumnNames]:
    ever = known_columns(connection, sorted(ends))
    names = {identifier: names_of(name, sorted(ever[identifier])) for identifier, (_, name) in ends.items()}
    without = {identifier for identifier, (kind, _) in ends.items() if kind not in columns_of.WITH_COLUMNS}
    # of a chart, a dashboard or a metric what stands for columns
    return names | {key: column_names(connection, row) for key, row in any_rows_of(connection, without).items()}


@dataclass(frozen=True, slots=True)
class _BatchContext:
    """What the contributions of a batch name: columns of its entities, its texts by their places, pipelines by ids."""

    names: Mapping[str, ColumnNames]
    queries: Sequence[str]
    pipelines: dict[str, Json] = field(default_factory=dict)
    _texts: dict[str, StoredText] = field(default_factory=dict)

    def text(self, given: bulk_models.ContributionRequest) -> StoredText | None:
        """The text of a contribution; its digest is made once."""
        query = given.sqlQuery if given.sqlQueryIndex is None else self.queries[given.sqlQueryIndex]
        if query is not None and query not in self._texts:
            self._texts[query] = StoredText.of(query)
        return None if query is None else self._texts[query]


def _contribution(connection: Connection, edge: bulk_models.Edge, known: _BatchContext, now: int) -> ContributionRow:
    given = edge.contribution
    ends = edge.fromEntity.id.lower(), edge.toEntity.id.lower()
    columns = _columns(given.columns, (known.names[ends[0]], known.names[ends[1]]))
    text = known.text(given)
    rest: Json = {}
    for key, value in (
        ("text", text.digest if text is not None else None),
        ("parser", given.parser),
        ("confidence", given.confidence),
        ("description", given.description),
        ("columnsAt", given.columnsAt),
    ):
        if value is not None:
            rest[key] = value
    if given.tempLineageTables:
        rest["temp"] = [hop.model_dump() for hop in given.tempLineageTables]
    if given.pipeline is not None:
        identifier = given.pipeline.id
        if identifier not in known.pipelines:
            known.pipelines[identifier] = rest_edges.expand(connection, {"id": identifier})
        rest["pipeline"] = known.pipelines[identifier]
    last = given.lastSeen if given.lastSeen is not None else given.firstSeen if given.firstSeen is not None else now
    first = min(given.firstSeen if given.firstSeen is not None else last, last)
    records = None if given.records is None else tuple(sorted({record_digest(record) for record in given.records}))
    who = given.producer.kind, given.producer.key, given.source
    # the columns, most of it by far and first by name, are written already
    document = f'{{"columns":[{",".join(sorted(columns))}]{f",{dumps(rest)[1:]}" if rest else "}"}'
    content = Content(document, sum(columns.values()), (rest.get("pipeline") or {}).get("id"), text)
    slots = tuple(JobSlot(one.key, RunDays(one.first / 1000, one.last / 1000, one.days)) for one in given.slots)
    return ContributionRow(*ends, *who, content, first, last, given.count, records, tuple(given.jobs), slots)


def _columns(given: Sequence[bulk_models.ColumnEdge], names: tuple[ColumnNames, ColumnNames]) -> dict[str, int]:
    """Column edges between columns that the entities have or had, by their text; of how many source columns each is."""
    source_text, target_text = names[0].path_text, names[1].path_text
    columns: dict[str, int] = {}
    for edge in given:
        to, read = edge.get("to"), edge["from_"]
        target = "null" if to is None else target_text(to)
        # nearly all are of one column, which needs no order
        source, number = (source_text(read[0]), 1) if len(read) == 1 else _sources(read, names[0])
        if source is not None and target is not None:
            columns[_column_text(edge, source, target)] = number
    return columns


def _sources(read: Sequence[str], names: ColumnNames) -> tuple[str | None, int]:
    """The columns among those `read` that are known, each once and in order, as JSON, and how many; None for none."""
    paths = sorted({path for name in read if (path := names.path(name)) is not None})
    return ",".join(map(quoted, paths)) or None, len(paths)


def _column_text(edge: bulk_models.ColumnEdge, read: str, to: str) -> str:
    """A column edge as `dumps` writes it, several times as fast: it is most of what a batch has to store."""
    certain = "" if edge.get("certain", True) else '"certain":false,'
    expression = f'"expression":{quoted(found)},' if (found := edge.get("expression")) else ""
    masking = '"masking":true,' if edge.get("masking") else ""
    subtype = f'"subtype":{quoted(found)},' if (found := edge.get("subtype")) else ""
    return f'{{{certain}{expression}"from":[{read}],{masking}{subtype}"to":{to},"type":"{edge.get("type", "DIRECT")}"}}'


def _ending(scope: bulk_models.Replace, given: Sequence[ContributionRow], batch: str, now: int) -> Retraction:
    kind = scope.producer.kind if scope.producer is not None else None
    key = scope.producer.key if scope.producer is not None else None
    to_id = scope.toEntity.id.lower()
    inside = [
        one
        for one in given
        if one.to_id == to_id and one.source == scope.source and kind in (None, one.kind) and key in (None, one.key)
    ]
    first = min((one.first for one in inside), default=now)
    at = scope.at if scope.at is not None else first
    until = max([at, scope.until or at, *(one.last for one in inside)])
    return Retraction(at, until, batch, to_id=to_id, kind=kind, key=key, source=scope.source)
