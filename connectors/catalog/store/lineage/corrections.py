"""What people correct by hand: edges that they add, confirm or reject, each with a reason and an author."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, and_, insert, or_, select

from connectors.catalog.contract.errors import ApiError, bad_request
from connectors.catalog.store.database import tick
from connectors.catalog.store.entities.entities import EntityRow, any_rows_of
from connectors.catalog.store.lineage import reads
from connectors.catalog.store.lineage.inserts import Content, ContributionRow
from connectors.catalog.store.lineage.intervals import Retraction
from connectors.catalog.store.lineage.rejections import REJECTED, UNDONE, rejected_edges
from connectors.catalog.store.lineage.writer import LineageWriter, project, versions_at
from connectors.catalog.store.schema import corrections
from ingestion.model.lineage import Json

ADDED = "added"


@dataclass(frozen=True, slots=True)
class EdgeEnd:
    """An entity, or the column of it at `path` ("": the entity as a whole)."""

    entity: EntityRow
    path: str = ""


@dataclass(frozen=True, slots=True)
class Correction:
    """What somebody says of the edge between `source` and `target`."""

    verdict: str
    source: EdgeEnd
    target: EdgeEnd
    reason: str
    author: str


def file(connection: Connection, given: Correction) -> Json:
    """Files a correction and answers it; one that stands already is answered as it is.

    Raises ApiError: 400 for an edge from a thing to itself, 404 where there is nothing to confirm or to reject, 409
    where the contrary stands.
    """
    current = _in_force(connection, given)
    if current is not None and current.verdict == given.verdict:
        return _answers(connection, [current])[0]
    if current is not None and REJECTED in (current.verdict, given.verdict):
        message = f"this edge was {current.verdict} by {current.author}: undo correction {current.id} first"
        raise ApiError(409, message)
    content = _content(connection, given)
    now = tick(connection)
    identifier = _insert(connection, given, now)
    edge = given.source.entity.id, given.target.entity.id
    if given.verdict == REJECTED:
        project(connection, sorted(versions_at(connection, {edge[1]})))
    else:
        writer = LineageWriter(connection, f"correction:{identifier}", now)
        writer.add(ContributionRow(*edge, "manual", _key(identifier), "Manual", Content.of(content), now, now))
        writer.finish()
    return _correction_of(connection, identifier)


def undo(connection: Connection, identifier: int, reason: str, author: str) -> Json:
    """Takes the correction `identifier` back: for a `reason`, by an `author`; answers it.

    Raises ApiError: 404 where there is none, 409 where it was taken back before.
    """
    row = connection.execute(select(corrections).where(corrections.c.id == identifier)).one_or_none()
    if row is None or row.verdict == UNDONE:
        raise ApiError(404, f"there is no correction {identifier}")
    if connection.execute(select(corrections.c.id).where(corrections.c.undoes == identifier)).first() is not None:
        raise ApiError(409, f"correction {identifier} was undone before")
    now = tick(connection)
    values = {key: row._mapping[key] for key in ("from_id", "to_id", "from_path", "to_path")}
    undone = {"at": now, "verdict": UNDONE, "reason": reason, "author": author, "undoes": identifier, **values}
    connection.execute(insert(corrections).values(**undone))
    if row.verdict == REJECTED:
        project(connection, sorted(versions_at(connection, {row.to_id})))
    else:
        batch = f"undo:{identifier}"
        writer = LineageWriter(connection, batch, now)
        scope = {"from_id": row.from_id, "to_id": row.to_id, "kind": "manual", "key": _key(identifier)}
        writer.end(Retraction(now, now, batch, manual=True, **scope))
        writer.finish()
    return _correction_of(connection, identifier)


def _correction_of(connection: Connection, identifier: int) -> Json:
    """The correction as clients read it."""
    return _answers(connection, [connection.execute(select(corrections).where(corrections.c.id == identifier)).one()])[
        0
    ]


def listing(connection: Connection, entity: EntityRow | None, limit: int) -> list[Json]:
    """The corrections of an entity's edges (None: of all), the newest first, those that were taken back with why."""
    where = corrections.c.verdict != UNDONE
    if entity is not None:
        where = and_(where, or_(corrections.c.from_id == entity.id, corrections.c.to_id == entity.id))
    newest = select(corrections).where(where).order_by(corrections.c.id.desc()).limit(limit)
    return _answers(connection, list(connection.execute(newest)))


def rejected_now(connection: Connection) -> list[Json]:
    """The edges that are rejected as a whole now, by the ids of their ends."""
    edges = {found.edge for found in rejected_edges(connection) if found.until is None}
    return [{"fromEntity": source, "toEntity": target} for source, target in sorted(edges)]


def _key(identifier: int) -> str:
    return f"correction:{identifier}"


def _in_force(connection: Connection, given: Correction) -> Row[Any] | None:
    """The last correction of the same edge that nobody took back."""
    undone = select(corrections.c.undoes).where(corrections.c.undoes.is_not(None))
    same = (
        corrections.c.from_id == given.source.entity.id,
        corrections.c.to_id == given.target.entity.id,
        corrections.c.from_path == given.source.path,
        corrections.c.to_path == given.target.path,
        corrections.c.verdict != UNDONE,
        corrections.c.id.not_in(undone),
    )
    return connection.execute(select(corrections).where(*same).order_by(corrections.c.id.desc()).limit(1)).one_or_none()


def _insert(connection: Connection, given: Correction, now: int) -> int:
    values = {
        "at": now,
        "verdict": given.verdict,
        "from_id": given.source.entity.id,
        "to_id": given.target.entity.id,
        "from_path": given.source.path,
        "to_path": given.target.path,
        "reason": given.reason,
        "author": given.author,
    }
    (identifier,) = connection.execute(insert(corrections).values(**values)).inserted_primary_key or (0,)
    return int(identifier)


def _content(connection: Connection, given: Correction) -> Json:
    """What a manual edge says. Raises ApiError (400, 404)."""
    source, target = given.source, given.target
    if source.entity.id == target.entity.id and source.path == target.path:
        raise bad_request("an edge needs two ends")
    if source.path == "" and target.path != "":
        raise bad_request("a column is made of columns: name the column that it comes from")
    content: Json = {"columns": [], "description": given.reason, "author": given.author}
    column = {"from": [source.path], "to": target.path or None, "type": "DIRECT" if target.path else "INDIRECT"}
    if given.verdict != ADDED:
        found = reads.contributions_between(connection, (source.entity.id, target.entity.id))
        known = [
            column
            for view in found
            for column in view.content.get("columns") or ()
            if source.path in column["from"] and (column.get("to") or "") == target.path
        ]
        if not found or (source.path and not known):
            raise ApiError(404, f"nothing says that {target.entity.fqn} comes from {source.entity.fqn} so")
        if known:
            column |= {key: known[0][key] for key in ("type", "subtype", "expression", "masking") if key in known[0]}
    if source.path:
        content["columns"] = [column]
    return content


def _answers(connection: Connection, rows: list[Row[Any]]) -> list[Json]:
    identifiers = [row.id for row in rows]
    undone = {
        row.undoes: {"at": row.at, "reason": row.reason, "author": row.author}
        for row in connection.execute(select(corrections).where(corrections.c.undoes.in_(identifiers)))
    }
    named = any_rows_of(connection, {end for row in rows for end in (row.from_id, row.to_id)})
    return [
        {
            "id": row.id,
            "verdict": row.verdict,
            "from": {"entity": named[row.from_id].fqn, "column": row.from_path or None},
            "to": {"entity": named[row.to_id].fqn, "column": row.to_path or None},
            "reason": row.reason,
            "author": row.author,
            "at": row.at,
            "undone": undone.get(row.id),
        }
        for row in rows
    ]
