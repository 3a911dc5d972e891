"""What people rejected: edges and pairs of columns that are not read, whoever says them, until that is taken back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, Select, select

from connectors.catalog.store.database import loads
from connectors.catalog.store.entities import columns as columns_of
from connectors.catalog.store.entities import name_events
from connectors.catalog.store.entities.columns import ColumnEvents
from connectors.catalog.store.entities.entities import any_rows_of
from connectors.catalog.store.lineage.inserts import ContributionRow, Edge
from connectors.catalog.store.lineage.intervals import Interval
from connectors.catalog.store.schema import corrections
from ingestion.model.lineage import Json

REJECTED, UNDONE = "rejected", "undone"
_UNDONE = corrections.alias()
_REJECTED = (
    select(corrections, _UNDONE.c.at.label("until"))
    .outerjoin(_UNDONE, _UNDONE.c.undoes == corrections.c.id)
    .where(corrections.c.verdict == REJECTED)
    .order_by(corrections.c.id)
)
_OF_EDGES = _REJECTED.where(corrections.c.from_path == "", corrections.c.to_path == "")
_OF_COLUMNS = _REJECTED.where((corrections.c.from_path != "") | (corrections.c.to_path != ""))


@dataclass(frozen=True, slots=True)
class Rejection:
    """An edge, or a pair of columns of one (paths; both "": all of it), rejected `at` and `until` (None: still)."""

    from_id: str
    to_id: str
    from_path: str
    to_path: str
    at: int
    until: int | None

    @property
    def edge(self) -> Edge:
        return self.from_id, self.to_id

    def holds(self, moment: int | None) -> bool:
        """Whether it is in force at a moment (milliseconds; None: now)."""
        if moment is None:
            return self.until is None
        return self.at <= moment and (self.until is None or self.until > moment)


def rejected_edges(connection: Connection) -> list[Rejection]:
    """The edges that are or were rejected as a whole, also under the names that their ends moved to."""
    return _rejections(connection, _OF_EDGES)


def rejected_columns(connection: Connection) -> list[Rejection]:
    """Likewise the pairs of columns."""
    return _rejections(connection, _OF_COLUMNS)


def _rejections(connection: Connection, rejected: Select[Any]) -> list[Rejection]:
    found = [
        Rejection(row.from_id, row.to_id, row.from_path, row.to_path, row.at, row.until)
        for row in connection.execute(rejected).all()
    ]
    return _under_new_names(connection, found) if found else []


def _under_new_names(connection: Connection, found: list[Rejection]) -> list[Rejection]:
    """Each rejection where it was made, and from each renaming of an end on under the new name too."""
    lives = name_events.lives(connection, {end for one in found for end in one.edge})
    waiting, seen = list(found), set(found)
    for one in waiting:
        for end in one.edge:
            for life in lives.get(end, ()):
                if life.other is None or life.at <= one.at or (one.until is not None and life.at >= one.until):
                    continue
                source, target = (life.other if name == end else name for name in one.edge)
                moved = replace(one, at=life.at, from_id=source, to_id=target)
                if source != target and moved not in seen:
                    seen.add(moved)
                    waiting.append(moved)
    return waiting


def without_rejected(parts: Sequence[Interval], rejections: Mapping[Edge, Sequence[Rejection]]) -> list[Interval]:
    """The intervals without the time in which their edge was rejected."""
    left: list[Interval] = []
    for part in parts:
        parts = [part]
        for one in rejections.get((part.from_id, part.to_id), ()):
            parts = [each for whole in parts for each in _outside(whole, one)]
        left += parts
    return left


def _outside(part: Interval, rejection: Rejection) -> Iterable[Interval]:
    at, until = rejection.at, rejection.until
    if part.end is not None and part.end <= at:
        return [part]
    if until is not None and part.start >= until:
        return [part]
    before = [replace(part, end=at)] if part.start < at else []
    after_end = until is not None and (part.end is None or part.end > until)
    return [*before, replace(part, start=until)] if after_end and until is not None else before


def without_rejected_columns(
    content: Mapping[str, Any], edge: Edge, rejections: Sequence[Rejection], events: ColumnEvents, moment: int | None
) -> Mapping[str, Any]:
    """What is said of an edge without the pairs of columns that are rejected at a moment."""
    pairs = {
        (
            _path_at(events, (one.from_id, one.from_path), one.at, moment),
            _path_at(events, (one.to_id, one.to_path), one.at, moment),
        )
        for one in rejections
        if one.edge == edge and one.holds(moment)
    }
    if not pairs:
        return content
    columns = []
    for column in content.get("columns") or ():
        kept = [path for path in column["from"] if (path, column.get("to") or "") not in pairs]
        if kept:
            columns.append({**column, "from": kept})
    return {**content, "columns": columns}


def rejected_names(connection: Connection, given: Sequence[ContributionRow]) -> list[Json]:
    """What of these contributions nobody reads now, since it is rejected: `from` and `to` of each, by full names."""
    edges = {one.edge for one in rejected_edges(connection) if one.until is None}
    columns = [one for one in rejected_columns(connection) if one.until is None]
    with_rejected = edges | {one.edge for one in columns}
    concerned = [one for one in given if one.edge in with_rejected]
    if not concerned:
        return []
    ids = {end for one in concerned for end in one.edge}
    events = columns_of.column_events_of(connection, ids)
    names = {identifier: row.fqn for identifier, row in any_rows_of(connection, ids).items()}
    found: dict[tuple[str, str], None] = {}
    for one in concerned:
        source, target = (names[end] for end in one.edge)
        if one.edge in edges:
            found[source, target] = None
            continue
        ends = ((one.from_id, None),), ((one.to_id, None),)
        content = columns_of.rewrite(events, ends, loads(one.content.document), one.last, None)
        read = _pairs_of(without_rejected_columns(content, one.edge, columns, events, None))
        for start, end in sorted(_pairs_of(content) - read):
            found[f"{source}.{start}" if start else source, f"{target}.{end}" if end else target] = None
    return [{"from": source, "to": target} for source, target in found]


def _pairs_of(content: Mapping[str, Any]) -> set[tuple[str, str]]:
    return {(path, column.get("to") or "") for column in content.get("columns") or () for path in column["from"]}


def _path_at(events: ColumnEvents, column: tuple[str, str], seen: int, until: int | None) -> str | None:
    return columns_of.path_at(events, column, seen, until) if column[1] else ""
