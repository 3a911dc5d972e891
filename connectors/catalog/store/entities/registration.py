"""Registering entities: one at a time over the contract's PUT, or thousands in one transaction; and what of a
document follows from the rest.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, bindparam, delete, select, update

from connectors.catalog.contract.entity_types import BY_TYPE, LINEAGE_TYPES, SERVICE_TYPES, EntityType
from connectors.catalog.contract.errors import bad_request, not_found
from connectors.catalog.store.database import dumps, loads, tick
from connectors.catalog.store.entities import columns as columns_of
from connectors.catalog.store.entities import name_events
from connectors.catalog.store.entities.attributes import Change, entity_changes, record, shapes_around
from connectors.catalog.store.entities.entities import EntityRow, entity_id, reference, reference_of
from connectors.catalog.store.entities.tests import suite_document, test_document, tested_table
from connectors.catalog.store.entities.versions import keep_versions, next_version
from connectors.catalog.store.indexes import forget_labels, has_labels, index_names, label_rows
from connectors.catalog.store.rows import WaitingRows, thousands_of
from connectors.catalog.store.schema import entities, query_uses
from ingestion.model import fqn
from ingestion.model.lineage import Json
from ingestion.model.storage_paths import normal_path
from ingestion.model.topics import topic_path

_SECRET_KEY = re.compile(r"passw|secret|token|private.?key|credential|access.?key|api.?key|passphrase", re.IGNORECASE)
_REDACTED = "*********"

_CARRIED = (
    *("description", "displayName", "owners", "tags", "extension", "domains", "lifeCycle", "certification"),
    *("reviewers", "experts", "style", "inspectionQuery"),
)
_CARRIED_OF = {
    "table": ("dataModel", "tableProfilerConfig"),
    "dashboard": ("charts", "dataModels"),
    "query": ("queryUsedIn", "usedBy", "users"),
}

# Built once: building it costs more than carrying it out.
_FIND = select(entities).where(entities.c.type == bindparam("kind"), entities.c.fqn == bindparam("name"))
Check = Callable[[EntityRow | None], None]


# The connections of services, as far as the catalog keeps them: it opens none, so it keeps no secret.


def _connection_without_secrets(document: Json) -> Json:
    """The connection of a service's request, as it is answered. Raises ApiError (400) for one that is none."""
    config = document["connection"].get("config") or {}
    if not isinstance(config, dict):
        raise bad_request("connection.config must be an object")
    # clients pick the connection's class by `type` and send none: without it the first class of a union wins
    return {"config": {"type": document["serviceType"], **_redact(config)}}


def _redact(value: Any) -> Any:
    """Secrets stay with the client: the catalog opens no connection, so it keeps none."""
    if isinstance(value, dict):
        return {
            key: _REDACTED if isinstance(item, str) and _SECRET_KEY.search(key) else _redact(item)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_redact(item) for item in value]
    return value


# What of an entity's document follows from the rest of it, and from where it lies.


def _carried_keys(kind: str) -> tuple[str, ...]:
    """What stays as it is when a repeated request for an entity of this type does not mention it."""
    return (*_CARRIED, *_CARRIED_OF.get(kind, ()))


def _parent_name(kind: EntityType, holder: EntityRow | None) -> str:
    """The name under which the names of what `holder` holds begin."""
    if holder is None:
        return ""
    name: str = holder.fqn
    return f"{name}.model" if kind.type == "dashboardDataModel" else name


def _references_to(kind: EntityType, parent: EntityRow) -> Json:
    """What an answer says of where an entity lies: references to its `parent` and to all above."""
    stored = _parent(parent.document)
    refs: Json = {kind.ancestors[0][0]: reference(stored, parent.type)}
    for key, _ in kind.ancestors[1:]:
        refs[key] = stored[key]
    if kind.type not in {"query", "ingestionPipeline"} and stored.get("serviceType"):
        refs["serviceType"] = stored["serviceType"]
    return refs


@lru_cache(maxsize=64)  # what lies under one parent is registered together; nobody changes what is read of it
def _parent(document: str) -> Json:
    return loads(document)


def _complete(kind: EntityType, document: Json) -> None:
    """Adds to a `document` what follows from it. Raises ApiError (400, 413) for what cannot be kept."""
    name: str = document["fullyQualifiedName"]
    if kind.type in SERVICE_TYPES and document.get("connection"):
        document["connection"] = _connection_without_secrets(document)
    _keep_what_fits(name, document)
    columns_of.check_size(name, columns_of.of_document(document))
    if "columns" in document:
        document["columns"] = columns_of.answers(name, document["columns"])
    if document.get("dataModel"):
        given = document["dataModel"].get("columns") or []
        document["dataModel"] = {**document["dataModel"], "columns": columns_of.answers(name, given)}
    if document.get("messageSchema"):
        given = document["messageSchema"].get("schemaFields") or []
        document["messageSchema"] = {**document["messageSchema"], "schemaFields": columns_of.answers(name, given)}
    if kind.type == "query":
        document["checksum"] = query_digest(document["query"])


def _keep_what_fits(name: str, document: Json) -> None:
    """Of a table that logs name too many columns of, the first ones stay, and it is not said that these are all.

    Refused, it would take with it what every statement says of it.
    """
    given = document.get("columns") or []
    kept = columns_of.fitting(name, given) if columns_of.LOG_MARK in (document.get("extension") or {}) else given
    if len(kept) < len(given):
        document["columns"] = kept
        document["extension"] = {**document["extension"], columns_of.LOG_MARK: False}


def _path(kind: EntityType, document: Json) -> str | None:
    """Where the data of an entity is, None where nothing tells."""
    if kind.type == "topic":
        return topic_path(*fqn.split(document["fullyQualifiedName"])[:2])
    path = document.get("fullPath") or document.get("locationPath")
    return normal_path(path) if path else None


def query_digest(text: str) -> str:
    """The checksum of a query, and its name where it has no other."""
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


# Registering.


@dataclass(frozen=True, slots=True)
class Registered:
    """What became of one create request."""

    id: str
    fqn: str
    created: bool


@dataclass(slots=True)
class Registration:
    """Registers entities inside one transaction; `finish` writes what was gathered.

    `replace` makes a request's columns the whole truth; without it no known column is ever lost. `at` is when the
    definition held (milliseconds; now when the request does not say). `exact` takes texts away too. What is new is
    written `together`, at the end, where nobody else reads it until then.
    """

    connection: Connection
    at: int | None = None
    replace: bool = True
    exact: bool = False
    together: bool = False
    now: int = 0
    _known: dict[tuple[str, str], EntityRow | None] = field(default_factory=dict)
    _changes: list[Change] = field(default_factory=list)
    _named: dict[tuple[str, str], str] = field(default_factory=dict)
    _new: set[str] = field(default_factory=set)
    _rows: WaitingRows = field(default_factory=WaitingRows)

    def __post_init__(self) -> None:
        self.now = tick(self.connection)

    def expect(self, kind: str, names: Iterable[str]) -> None:
        """Looks up together what is stored of entities that are to be put, by their fully qualified names."""
        for some in thousands_of(sorted(set(names))):
            rows = self.connection.execute(select(entities).where(entities.c.type == kind, entities.c.fqn.in_(some)))
            found = {row.fqn: row for row in rows}
            self._known.update({(kind, name): found.get(name) for name in some})

    def put(self, kind: EntityType, request: Json, check: Check | None = None) -> Registered:
        """Creates the entity or brings it up to date; `check` may refuse that by what is stored of it, None if nothing.

        Raises ApiError (404) when its parent is not there.
        """
        document, parent = self._document(kind, request)
        name: str = document["fullyQualifiedName"]
        stored = self._row(kind.type, name)
        if check is not None:
            check(stored)
        if stored is not None and not stored.purged:
            columns = columns_of.of_document(document)
            self._carry_over(document, stored)
            self._keep_latest(stored, document, columns)
        identifier = document["id"] = stored.id if stored is not None else entity_id(kind.type, name)
        values = self._values(kind, document, parent)
        if stored is None:
            self._rows.add({"id": identifier, "version": 0.1, "purged": False, **values})
        elif stored.document != values["document"] or stored.deleted or stored.processed != values["processed"]:
            self._rows.write(self.connection)
            keep_versions(self.connection, [stored])
            changed = {"version": next_version(stored), "purged": False, **values}
            self.connection.execute(update(entities).where(entities.c.id == identifier).values(changed))
            forget_labels(self.connection, identifier, stored.document)
        else:
            return Registered(identifier, name, created=False)
        self._file_changes(kind, stored, document)
        self._rows.add_labels(label_rows(identifier, document) if has_labels(values["document"]) else [])
        self._known.pop((kind.type, name), None)
        if kind.type == "query":
            self._file_uses(identifier, document, known=stored is not None)
        if not self.together:
            self._rows.write(self.connection)
        return Registered(identifier, name, created=stored is None or bool(stored.purged))

    def finish(self) -> None:
        """Writes what waits, the attribute events and the search index of everything that was put."""
        self._rows.write(self.connection)
        record(self.connection, self._changes)
        index_names(self.connection, self._named, self._new)
        self._changes, self._named, self._new = [], {}, set()

    def _file_changes(self, kind: EntityType, stored: EntityRow | None, document: Json) -> None:
        at, identifier = self.at or self.now, document["id"]
        before = loads(stored.document) if stored is not None and not stored.purged else {}
        changes = entity_changes(identifier, before, document, at)
        gone = [(change.path, None) for change in changes if change.name == "shape" and change.value is None]
        columns_of.insert_column_events(self.connection, identifier, gone, at)
        if stored is not None and stored.deleted:
            changes.append(Change(identifier, "", "exists", "true", at))
            if self.replace:  # a client that names it sees it: proof that the name was given again
                given = name_events.StoredNameEvent(name_events.CREATE, identifier, identifier, at)
                name_events.file_events(self.connection, [given])
        self._changes += changes
        if kind.type in LINEAGE_TYPES:  # no other names are searched: least of all those of queries, their checksums
            self._named.update({(one.entity_id, one.path): one.label for one in changes if one.label is not None})
            if stored is None:
                self._new.add(identifier)

    def _row(self, kind: str, name: str) -> EntityRow | None:
        if self._rows.have(kind, name):
            self._rows.write(self.connection)
        if (kind, name) not in self._known:
            self._known[kind, name] = self.connection.execute(_FIND, {"kind": kind, "name": name}).one_or_none()
        return self._known[kind, name]

    def _row_with(self, identifier: str) -> EntityRow | None:
        self._rows.write(self.connection)
        return self.connection.execute(select(entities).where(entities.c.id == identifier)).one_or_none()

    def _parent(self, kind: EntityType, request: Json) -> EntityRow | None:
        if kind.parent is None:
            return None
        given = request.get(kind.parent) or self._parent_of_holder(kind, request)
        name = given.get("fullyQualifiedName") or given["id"] if isinstance(given, dict) else given
        for parent_type in kind.parent_types:
            row = self._row(parent_type, name)
            if row is None and isinstance(given, dict):
                row = self._row_with(given["id"])
            if row is not None and not row.deleted and row.type in kind.parent_types:
                return row
        raise not_found(kind.parent_types[0], name)

    def _parent_of_holder(self, kind: EntityType, request: Json) -> Json:
        """What hangs under another of its type hangs under the parent of that. Raises ApiError (400) without one."""
        assert kind.parent is not None
        if not request.get("parent"):
            raise bad_request(f"a {kind.type} needs a {kind.parent}")
        parent: Json = loads(self._row_of((kind.type,), request["parent"]).document)[kind.parent]
        return parent

    def _document(self, kind: EntityType, request: Json) -> tuple[Json, EntityRow | None]:
        parent = self._parent(kind, request)
        document: Json = {key: request[key] for key in kind.keys if request.get(key) is not None}
        holder = parent
        if kind.nests and request.get("parent"):
            holder = self._row_of((kind.type,), request["parent"])
            document["parent"] = reference_of(holder)
        if document.get("owners"):
            document["owners"] = [self._with_names(owner) for owner in document["owners"]]
        for key, types in kind.references:
            if document.get(key):
                document[key] = [reference_of(self._row_of(types, one)) for one in document[key]]
        if kind.type == "testCase" or request.get("basicEntityReference"):
            return self._quality_document(kind, document, request)
        name = request.get("name") or query_digest(request["query"])
        document["name"] = name
        document["fullyQualifiedName"] = fqn.join(_parent_name(kind, holder), name)
        if parent is not None:
            document.update(_references_to(kind, parent))
        _complete(kind, document)
        return document, holder

    def _with_names(self, ref: Json) -> Json:
        row = self._row_with(ref["id"])
        return ref if row is None else reference_of(row)

    def _quality_document(self, kind: EntityType, document: Json, request: Json) -> tuple[Json, EntityRow]:
        """A test, or the suite of a table's tests: both lie under their table."""
        suite = kind.type == "testSuite"
        tested = request["basicEntityReference"] if suite else tested_table(request["entityLink"])
        table = self._row_of(("table",), tested)
        if suite:
            document.update(suite_document(table.fqn) | {"basicEntityReference": reference_of(table)})
            return document, table
        definition = self._row_of(("testDefinition",), request["testDefinition"])
        suite_request = {"name": "testSuite", "basic": True, "basicEntityReference": reference_of(table)}
        self.put(BY_TYPE["testSuite"], suite_request)
        made = self._row_of(("testSuite",), suite_document(table.fqn)["fullyQualifiedName"])
        document.update(test_document(request, table, reference_of(definition), reference_of(made)))
        return document, table

    def _row_of(self, types: tuple[str, ...], given: str | Json) -> EntityRow:
        """What a request names, by its name, its id or a reference. Raises ApiError (404) when it is not there."""
        name = given if isinstance(given, str) else given["id"]
        named = [self._row(kind, name) for kind in types] if isinstance(given, str) else []
        for row in (*named, self._row_with(name)):
            if row is not None and row.type in types and not row.deleted:
                return row
        raise not_found(types[0], name)

    def _carry_over(self, document: Json, row: EntityRow) -> None:
        """Keeps what a repeated registration does not mention."""
        if self.exact:
            return
        stored = loads(row.document)
        for key in _carried_keys(row.type):
            if key not in document and key in stored:
                document[key] = stored[key]
        definition = document.get("schemaDefinition", stored.get("schemaDefinition"))
        if row.processed and definition == stored.get("schemaDefinition"):
            document.setdefault("processedLineage", True)
        if self.replace:
            return
        if row.type in SERVICE_TYPES and document.get("connection") and stored.get("connection"):
            config = {**stored["connection"]["config"], **document["connection"]["config"]}
            document["connection"] = {"config": config}
        for key, value in stored.items():
            document.setdefault(key, value)
        known, given = columns_of.of_document(stored), columns_of.of_document(document)
        if known and given is not known:
            merged = columns_of.answers(document["fullyQualifiedName"], columns_of.merge(known, given))
            document.update(columns_of.with_columns(document, merged))
            _keep_what_fits(document["fullyQualifiedName"], document)

    def _keep_latest(self, stored: EntityRow, document: Json, columns: list[Json]) -> None:
        """A definition older than that of a column which stands does not turn the clock back.

        What it told of the column is filed as the column's past.
        """
        if self.at is None or self.replace or "columns" not in document:
            return
        shapes, later = shapes_around(self.connection, stored.id, self.at)
        before = enumerate(columns_of.of_document(loads(stored.document)), 1)
        known = {column["name"].casefold(): (position, column) for position, column in before}
        with_types = {column["name"].casefold(): column for column in columns if columns_of.is_typed(column)}
        for number, column in enumerate(document["columns"]):
            folded = column["name"].casefold()
            position, stands = known.get(folded, (0, column))
            path = columns_of.path_of(stands["name"])
            if not position or path not in later or not columns_of.is_typed(stands):
                continue
            document["columns"][number] = stands
            if folded in with_types:
                shape = columns_of.shape_text(position, with_types[folded])
                if shapes.get(path) != shape:
                    self._changes.append(Change(stored.id, path, "shape", shape, self.at))

    def _values(self, kind: EntityType, document: Json, parent: EntityRow | None) -> dict[str, Any]:
        processed = bool(document.pop("processedLineage", False))
        name: str = document["fullyQualifiedName"]
        return {
            "type": kind.type,
            "fqn": name,
            "fqn_folded": name.casefold(),
            "name_folded": document["name"].casefold(),
            "parent_id": parent.id if parent is not None else None,
            "service_folded": fqn.split(name)[0].casefold(),
            "table_type": document.get("tableType"),
            "path": _path(kind, document),
            "checksum": document.get("checksum"),
            "processed": processed,
            "has_definition": bool(document.get("schemaDefinition")),
            "deleted": False,
            "updated_at": self.now,
            "document": dumps(document),
        }

    def _file_uses(self, query: str, document: Json, *, known: bool) -> None:
        if known:
            self.connection.execute(delete(query_uses).where(query_uses.c.query_id == query))
        self._rows.add_uses([{"entity_id": ref["id"], "query_id": query} for ref in document.get("queryUsedIn") or ()])


def put_one(connection: Connection, kind: str, request: Json, check: Check | None = None) -> Registered:
    """One create request of the contract; `check` as of `Registration.put`."""
    registration = Registration(connection)
    registered = registration.put(BY_TYPE[kind], request, check)
    registration.finish()
    return registered
