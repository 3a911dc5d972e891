"""Lineage as the platform's REST contract has it: one row per edge, details as clients write and read them.

What a foreign client writes is one `wire` contribution per edge; what it reads is the union of all contributions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Connection, and_, func, or_, select

from connectors.catalog.contract.errors import ApiError, bad_request
from connectors.catalog.contract.patches import apply_patch
from connectors.catalog.store.database import loads, tick
from connectors.catalog.store.entities import columns as columns_of
from connectors.catalog.store.entities.entities import EntityRow, find_id, reference
from connectors.catalog.store.lineage import reads
from connectors.catalog.store.lineage.column_names import ColumnNames, column_names
from connectors.catalog.store.lineage.inserts import Content, ContributionRow
from connectors.catalog.store.lineage.intervals import Retraction
from connectors.catalog.store.lineage.reads import ContributionView
from connectors.catalog.store.lineage.writer import LineageWriter
from connectors.catalog.store.schema import contributions, endings, intervals
from ingestion.model.contributions import description_of_jobs
from ingestion.model.lineage import Json

PATCHABLE = ("/columnsLineage", "/pipeline", "/sqlQuery")
_OTHER_PATHS = "a lineage patch may only name paths under /columnsLineage, /pipeline and /sqlQuery"


def put(
    connection: Connection, ends: tuple[EntityRow, EntityRow], details: Json, description: str | None
) -> ContributionRow:
    """Replaces what clients of the contract say of the edge between `ends`, by its `details`, and answers that.

    Raises ApiError (404) when its pipeline is not there.
    """
    content = _content(connection, ends, details)
    if description is not None:
        content.setdefault("description", description)
    return _store(connection, (ends[0].id, ends[1].id), details.get("source") or "Manual", content)


def read(connection: Connection, ends: tuple[EntityRow, EntityRow]) -> Json:
    """The details of one edge. Raises ApiError (404) when nothing is said about it."""
    details = find(connection, ends)
    if details is None:
        raise ApiError(404, f"lineage edge from {ends[0].fqn} to {ends[1].fqn} not found")
    return details


def find(connection: Connection, ends: tuple[EntityRow, EntityRow]) -> Json | None:
    """The details of one edge, None when nothing is said about it."""
    found = reads.contributions_between(connection, (ends[0].id, ends[1].id))
    return details_of(found, ends) if found else None


def patch(
    connection: Connection, ends: tuple[EntityRow, EntityRow], operations: list[Json]
) -> tuple[Json, ContributionRow]:
    """Applies the `operations` of a JSON Patch to the details that `read` gives.

    What it adds or changes becomes what clients of the contract say; answers the details, and that.

    Raises ApiError: 404 without an edge, 400 for a patch that names other paths or does not apply.
    """
    for operation in operations:
        for key in ("path", "from"):
            path = operation.get(key)
            if path is not None and not any(path == p or path.startswith(f"{p}/") for p in PATCHABLE):
                raise bad_request(_OTHER_PATHS)
    before = read(connection, ends)
    after = _valid(apply_patch(before, operations))
    edge = (ends[0].id, ends[1].id)
    found = reads.contributions_between(connection, edge)
    own = [one for one in found if one.wire]
    content = _content(connection, ends, after)
    _leave_to_others(content, own, [one for one in found if not one.wire])
    if own_words := next((one.content["description"] for one in found if one.content.get("description")), None):
        content["description"] = own_words
    stored = _store(connection, edge, before["source"], content)
    return read(connection, ends), stored


def _valid(details: Json) -> Json:
    # Commands that ask read edges alone: the models would be a sixth of the time to their answers.
    from connectors.catalog.contract.models import LineageDetails

    try:
        return LineageDetails.model_validate(details).model_dump(exclude_none=True)
    except ValidationError as error:
        raise bad_request("the JSON Patch leaves no valid lineage details") from error


def end_edge(connection: Connection, edge: tuple[str, str]) -> bool:
    """Ends everything said about an edge; whether there was anything."""
    found = reads.contributions_between(connection, edge)
    if found:
        _end(connection, found, {"from_id": edge[0], "to_id": edge[1]})
    return bool(found)


def end_source(connection: Connection, entity: EntityRow, source: str) -> None:
    """Ends what `source` said about edges into an entity, or, for a pipeline's lineage, with that pipeline."""
    if entity.type in {"pipeline", "storedProcedure"} and source in {"PipelineLineage", "OpenLineage"}:
        _end(connection, [], {"pipeline_id": entity.id, "source": source})
        return
    into = reads.read_contributions(connection, and_(intervals.c.to_id == entity.id, contributions.c.source == source))
    _end(connection, into, {"to_id": entity.id, "source": source})


def end_entity(connection: Connection, identifier: str) -> None:
    """Ends everything said about the edges of an entity that is gone for good."""
    touching = or_(intervals.c.to_id == identifier, intervals.c.from_id == identifier)
    for edge in sorted({one.edge for one in reads.read_contributions(connection, touching)}):
        end_edge(connection, edge)


def details_of(found: Sequence[ContributionView], ends: tuple[EntityRow, EntityRow]) -> Json:
    """The union of what is said about the edge between `ends`, the wire's own word first."""
    first = found[0]
    columns: dict[tuple[tuple[str, ...], str], Json] = {}
    for one in found:
        for column in one.content.get("columns") or ():
            mapping = _mapping(column, ends)
            if mapping is not None:
                columns.setdefault((tuple(sorted(mapping["fromColumns"])), mapping["toColumn"]), mapping)
    details: Json = {"columnsLineage": list(columns.values()), "source": first.source}
    for key, name in (("sql", "sqlQuery"), ("pipeline", "pipeline"), ("description", "description")):
        value = next((one.content[key] for one in found if one.content.get(key) is not None), None)
        if value is not None:
            details[name] = value
    if "description" not in details and (described := description_of_jobs(job for one in found for job in one.jobs)):
        details["description"] = described
    hops = [hop for one in found for hop in one.content.get("temp") or ()]
    if hops:
        details["tempLineageTables"] = [dict(hop) for hop in {tuple(sorted(hop.items())): hop for hop in hops}.values()]
    details["createdAt"] = min(one.start for one in found)
    details["updatedAt"] = max(max(one.start, one.last_seen) for one in found)
    details["createdBy"] = details["updatedBy"] = "admin"
    return details


def _mapping(column: Json, ends: tuple[EntityRow, EntityRow]) -> Json | None:
    if column.get("type", "DIRECT") != "DIRECT" or not column.get("certain", True) or column.get("to") is None:
        return None
    mapping: Json = {
        "fromColumns": [columns_of.wire_name(ends[0].type, ends[0].fqn, path) for path in column["from"]],
        "toColumn": columns_of.wire_name(ends[1].type, ends[1].fqn, column["to"]),
    }
    if column.get("expression"):
        mapping["function"] = column["expression"]
    return mapping


def _content(connection: Connection, ends: tuple[EntityRow, EntityRow], details: Json) -> Json:
    known = column_names(connection, ends[0]), column_names(connection, ends[1])
    content: Json = {"columns": _wire_columns(details.get("columnsLineage") or [], known)}
    for key, name in (("sqlQuery", "sql"), ("description", "description"), ("tempLineageTables", "temp")):
        if details.get(key) is not None:
            content[name] = details[key]
    if details.get("pipeline") is not None:
        content["pipeline"] = expand(connection, details["pipeline"])
    return content


def _wire_columns(mappings: Sequence[Json], known: tuple[ColumnNames, ColumnNames]) -> list[Json]:
    """Mappings between columns that exist, each once: a source that is not there goes, a mapping without any too."""
    columns: dict[tuple[tuple[str, ...], str], Json] = {}
    for mapping in mappings:
        target = known[1].path(mapping.get("toColumn") or "")
        sources = [path for name in mapping.get("fromColumns") or () if (path := known[0].path(name)) is not None]
        if target is None or not sources:
            continue
        sources = list(dict.fromkeys(sources))
        column: Json = {"from": sources, "to": target}
        if mapping.get("function"):
            column["expression"] = mapping["function"]
        columns.setdefault((tuple(sorted(sources)), target), column)
    return list(columns.values())


def expand(connection: Connection, pipeline: Mapping[str, Any]) -> Json:
    """The reference to a pipeline (or procedure) that details carry. Raises ApiError (404) when it is not there."""
    row = find_id(connection, str(pipeline.get("id", "")))
    if row is None or row.type not in {"pipeline", "storedProcedure"}:
        raise ApiError(404, f"pipeline instance for {pipeline.get('id')} not found")
    return reference(loads(row.document), row.type)


def _leave_to_others(content: Json, own: Sequence[ContributionView], others: Sequence[ContributionView]) -> None:
    """Takes out what only other producers said: their word stays theirs, so that it can end with them."""

    def key(column: Json) -> tuple[tuple[str, ...], str | None]:
        return tuple(sorted(column["from"])), column.get("to")

    keys_by_wire = {key(column) for one in own for column in one.content.get("columns") or ()}
    keys_by_others = {key(column) for one in others for column in one.content.get("columns") or ()}
    left = keys_by_others - keys_by_wire
    content["columns"] = [column for column in content["columns"] if key(column) not in left]
    for name in ("sql", "pipeline", "temp"):
        borrowed = any(one.content.get(name) == content.get(name) for one in others)
        if borrowed and not any(one.content.get(name) == content.get(name) for one in own):
            content.pop(name, None)


def _store(connection: Connection, edge: tuple[str, str], source: str, content: Json) -> ContributionRow:
    now = tick(connection)
    # a word comes after every end of an earlier one, even where a log with a wrong clock moved that into the future
    latest = connection.scalar(select(func.max(endings.c.at)).where(endings.c.to_id == edge[1])) or 0
    now = max(now, latest + 1)
    batch = f"wire:{now}"
    writer = LineageWriter(connection, batch, now)
    writer.end(Retraction(now, now, batch, edge[0], edge[1], kind="wire", manual=True))
    row = ContributionRow(*edge, "wire", "", source, Content.of(content), now, now)
    writer.add(row)
    writer.finish()
    return row


def _end(connection: Connection, found: Sequence[ContributionView], scope: dict[str, Any]) -> None:
    now = tick(connection)
    at = max([now, *(one.last_seen + 1 for one in found)])
    batch = f"wire:{now}"
    writer = LineageWriter(connection, batch, now)
    writer.end(Retraction(at, at, batch, manual=True, **scope))
    writer.finish()
