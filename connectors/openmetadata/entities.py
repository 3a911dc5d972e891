"""Entities over the platform's REST API: collections, create requests, column types in its words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from connectors.openmetadata.http import Call, Http, Params, path_of
from ingestion.model.entities import EntityReference, TableEntity
from ingestion.model.fqn import decode_name, encode_name, split_fqn
from ingestion.model.lineage import Column, Json

_ARGUMENTS = re.compile(r"\(\s*+(\d++)\s*+(?:,\s*+(-?\d++)\s*+)?+[^)]*+(?:\)|\Z)")
_NOT_THE_NAME = re.compile(r"\([^)]*+(?:\)|\Z)|<.*|\[.*", re.DOTALL)

# OpenMetadata's name: other spellings in one word, then after each bar one of several words
_SPELLINGS = {
    "BIGINT": "BIGINT int8 long int64 bigserial serial8 hugeint",
    "INT": "INT int4 integer int32 mediumint serial serial4",
    "SMALLINT": "SMALLINT int2 int16 short smallserial",
    "TINYINT": "TINYINT byte int1",
    "BOOLEAN": "BOOLEAN bool",
    "DOUBLE": "DOUBLE float8 float64|double precision",
    "FLOAT": "FLOAT float4 real",
    "DECIMAL": "DECIMAL dec",
    "NUMERIC": "NUMERIC bignumeric",
    "NUMBER": "NUMBER",
    "MONEY": "MONEY smallmoney",
    "VARCHAR": "VARCHAR varchar2 nvarchar nvarchar2|character varying|char varying|national character varying",
    "CHAR": "CHAR nchar bpchar character|national character",
    "STRING": "STRING",
    "TEXT": "TEXT ntext citext longtext tinytext",
    "MEDIUMTEXT": "MEDIUMTEXT",
    "BINARY": "BINARY",
    "VARBINARY": "VARBINARY raw",
    "BYTEA": "BYTEA",
    "BYTES": "BYTES",
    "BLOB": "BLOB longblob tinyblob image",
    "MEDIUMBLOB": "MEDIUMBLOB",
    "CLOB": "CLOB",
    "DATE": "DATE",
    "TIME": "TIME timetz|time without time zone|time with time zone",
    "DATETIME": "DATETIME datetime2 smalldatetime",
    "TIMESTAMP": "TIMESTAMP timestamp_ntz|timestamp without time zone",
    "TIMESTAMPZ": "TIMESTAMPZ timestamptz timestamp_tz timestamp_ltz datetimeoffset"
    "|timestamp with time zone|timestamp with local time zone",
    "INTERVAL": "INTERVAL",
    "ARRAY": "ARRAY list",
    "MAP": "MAP",
    "STRUCT": "STRUCT row record",
    "JSON": "JSON jsonb",
    "XML": "XML",
    "UUID": "UUID uniqueidentifier",
    "VARIANT": "VARIANT",
    "OBJECT": "OBJECT",
    "ENUM": "ENUM",
    "SET": "SET",
    "BIT": "BIT",
    "INET": "INET",
    "CIDR": "CIDR",
    "MACADDR": "MACADDR",
    "POINT": "POINT",
    "POLYGON": "POLYGON",
    "GEOMETRY": "GEOMETRY",
    "GEOGRAPHY": "GEOGRAPHY",
    "HLLSKETCH": "HLLSKETCH",
    "SUPER": "SUPER",
    "TSVECTOR": "TSVECTOR",
    "TSQUERY": "TSQUERY",
    "YEAR": "YEAR",
    "ROWID": "ROWID",
}
_NAMES = {
    spelling.casefold(): name
    for name, spellings in _SPELLINGS.items()
    for spelling in (*spellings.split("|")[0].split(), *spellings.split("|")[1:])
}
_NEEDS_LENGTH = frozenset({"CHAR", "VARCHAR", "BINARY", "VARBINARY"})
_HAS_PRECISION = frozenset({"DECIMAL", "NUMERIC", "NUMBER"})

PAGE = 100
COLUMNS_COMPLETE = "columnsComplete"
"""Attribute of tables that were registered from a log: whether all of their columns are known."""

FILED_FROM_LOG = "filedFromLog"
"""Attribute of procedures that were registered from a log: their code is what was seen of it, masked."""


# Column types as a database writes them, in the words that OpenMetadata has for them.


def column_request(column: Column) -> dict[str, Any]:
    """A column as OpenMetadata's create requests want it; a type it has no word for is UNKNOWN, shown as written."""
    request: dict[str, Any] = {"name": column.name, "dataType": "UNKNOWN"}
    if not column.type.strip():
        return request
    request["dataTypeDisplay"] = column.type
    words = _NOT_THE_NAME.sub(" ", column.type).split()
    name = _NAMES.get(" ".join(words).casefold(), "UNKNOWN")
    if column.type.rstrip().endswith("]"):
        return {**request, "dataType": "ARRAY", "arrayDataType": name}
    request["dataType"] = name
    if name == "ARRAY":
        request["arrayDataType"] = "UNKNOWN"
    arguments = _ARGUMENTS.search(column.type)
    if name in _NEEDS_LENGTH:
        request["dataLength"] = int(arguments[1]) if arguments else 1
    if name in _HAS_PRECISION and arguments:
        request["precision"] = int(arguments[1])
        request["scale"] = int(arguments[2] or 0)
    return request


# The fields of a topic's messages, whose types are those of Avro.

_FIELD_TYPES = {
    name: kind
    for kind, names in (
        ("INT", "INT TINYINT SMALLINT YEAR"),
        ("LONG", "BIGINT"),
        ("BYTES", "BYTES DECIMAL NUMERIC NUMBER MONEY BINARY VARBINARY BYTEA BLOB MEDIUMBLOB"),
        ("STRING", "STRING VARCHAR CHAR TEXT MEDIUMTEXT CLOB JSON XML UUID INTERVAL"),
        ("TIMESTAMP", "TIMESTAMP DATETIME"),
        ("RECORD", "STRUCT"),
        *((alike, alike) for alike in ("BOOLEAN", "FLOAT", "DOUBLE", "DATE", "TIME", "TIMESTAMPZ")),
        *((alike, alike) for alike in ("ARRAY", "MAP", "ENUM")),
    )
    for name in names.split()
}
_BARE_FIELD = "BYTES"
"""What a field is of whose type nothing is known: there is no other word for it."""


def topic_request(service: str, name: str, columns: Sequence[Column]) -> Json:
    """A topic of a `service` (an FQN) as create requests want it; how many partitions it has nothing tells."""
    fields = []
    for column in columns:
        request = column_request(Column(encode_name(column.name), column.type))
        shown = {"dataTypeDisplay": column.type} if column.type.strip() else {}
        kind = _FIELD_TYPES.get(request["dataType"], _BARE_FIELD)
        fields.append({"name": request["name"], "dataType": kind, **shown})
    return {
        "name": encode_name(name),
        "service": service,
        "partitions": 1,
        "messageSchema": {"schemaType": "Other", "schemaFields": fields},
    }


# Services, databases, schemas, tables, procedures, containers, topics and queries over the platform's REST API.


class Collection(StrEnum):
    """The paths of the entity types."""

    DATABASE_SERVICES = "services/databaseServices"
    STORAGE_SERVICES = "services/storageServices"
    MESSAGING_SERVICES = "services/messagingServices"
    DATABASES = "databases"
    SCHEMAS = "databaseSchemas"
    TABLES = "tables"
    PROCEDURES = "storedProcedures"
    CONTAINERS = "containers"
    TOPICS = "topics"
    QUERIES = "queries"
    DASHBOARD_SERVICES = "services/dashboardServices"
    DASHBOARDS = "dashboards"
    CHARTS = "charts"
    DATA_MODELS = "dashboard/datamodels"
    METRICS = "metrics"
    TEAMS = "teams"
    USERS = "users"
    TEST_DEFINITIONS = "dataQuality/testDefinitions"
    TEST_CASES = "dataQuality/testCases"


@dataclass(frozen=True, slots=True)
class TableDefinition:
    """A table to create or to bring up to date; `definition` is a view's own SQL."""

    schema_fqn: str
    name: str
    columns: tuple[Column, ...] = ()
    table_type: str | None = None
    definition: str | None = None

    def to_json(self) -> Json:
        request: Json = {
            "name": encode_name(self.name),
            "databaseSchema": self.schema_fqn,
            "columns": [column_request(Column(encode_name(column.name), column.type)) for column in self.columns],
        }
        if self.table_type:
            request["tableType"] = self.table_type
        if self.definition:
            request["schemaDefinition"] = self.definition
        return request


@dataclass(frozen=True, slots=True)
class QueryRecord:
    """A query to file: its masked text, the FQN of its service, the tables it uses, who ran it."""

    query: str
    service: str
    used_in: tuple[EntityReference, ...] = ()
    duration: float | None = None
    date: float | None = None  # seconds since the epoch
    processed: bool = True
    users: tuple[str, ...] = ()

    def to_json(self) -> Json:
        request: Json = {
            "query": self.query,
            "service": self.service,
            "queryUsedIn": [{"id": table.id, "type": table.type} for table in self.used_in],
            "processedLineage": self.processed,
        }
        if self.users:
            request["usedBy"] = list(self.users)
        if self.duration is not None:
            request["duration"] = self.duration
        if self.date is not None:
            request["queryDate"] = round(self.date * 1000)
        return request


def get_by_name(http: Http, collection: Collection, fqn: str, fields: Sequence[str] = ()) -> Json | None:
    """An entity by its FQN with these `fields` beside the usual ones, None when there is none."""
    return _one(http.get(f"{collection}/name/{path_of(fqn)}", _fields(fields)))


def find_reference(http: Http, collection: Collection, fqn: str) -> EntityReference | None:
    """A reference to the entity with an FQN, None when there is none."""
    found = get_by_name(http, collection, fqn)
    return None if found is None else _reference(found, collection)


def put(http: Http, collection: Collection, request: Mapping[str, Any]) -> EntityReference:
    """Creates an entity or brings it up to date; the same request again changes nothing."""
    return _reference(http.send(Call("PUT", str(collection), body=dict(request))), collection)


def pages(http: Http, collection: Collection, params: Params) -> Iterator[Json]:
    """Every entity of a listing, page by page (`params`: service, database, databaseSchema, fields, include)."""
    after: str | None = None
    while True:
        cursor = {} if after is None else {"after": after}
        page = http.get(str(collection), {"limit": PAGE, **params, **cursor}) or {}
        yield from page.get("data") or ()
        after = (page.get("paging") or {}).get("after")
        if not after:
            return


def delete_each(http: Http, collection: Collection, identifiers: Sequence[str]) -> int:
    """Deletes entities of a collection by their identifiers; how many."""
    for identifier in identifiers:
        http.send(Call("DELETE", f"{collection}/{path_of(identifier)}", answered=False))
    return len(identifiers)


def mark_processed(http: Http, collection: Collection, identifier: str) -> None:
    """Sets processedLineage on a view or procedure (`identifier`), so that the next run may leave it out.

    Raises Rejected, ServerFailed, ConfigError and TargetDown.
    """
    operation = {"op": "add", "path": "/processedLineage", "value": True}
    http.send(Call("PATCH", f"{collection}/{path_of(identifier)}", body=[operation], answered=False))


def table_entity(json: Mapping[str, Any], kind: str = "table") -> TableEntity:
    """A table, a container with its data model, or a topic with its messages' schema, as the platform gives it."""
    fqn = str(json["fullyQualifiedName"])
    extension = json.get("extension") or {}
    parts = split_fqn(fqn)
    database, schema = (parts[1], parts[2]) if kind == "table" else ("", "")
    return TableEntity(
        id=str(json["id"]),
        fully_qualified_name=fqn,
        service=parts[0],
        database=database,
        schema=schema,
        name=parts[-1],
        columns=tuple(_columns(_columns_of(json))),
        table_type=str(json.get("tableType") or "Regular"),
        definition=json.get("schemaDefinition"),
        type=kind,
        columns_complete=extension.get(COLUMNS_COMPLETE, True) is not False,
        filed_from_log=COLUMNS_COMPLETE in extension,
        path=str(json.get("locationPath") or json.get("storagePath") or ""),
    )


def _columns_of(json: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    held = (json.get("dataModel") or {}).get("columns") or (json.get("messageSchema") or {}).get("schemaFields")
    return json.get("columns") or held or ()


def _columns(columns: Sequence[Mapping[str, Any]]) -> Iterator[Column]:
    for column in columns:
        kind = column.get("dataTypeDisplay") or column.get("dataType") or ""
        yield Column(decode_name(str(column["name"])), str(kind))


def _fields(fields: Sequence[str]) -> Params | None:
    return {"fields": ",".join(fields)} if fields else None


def _one(value: Any) -> Json | None:
    return value if isinstance(value, dict) else None


def _reference(value: Any, collection: Collection) -> EntityReference:
    return EntityReference(str(value["id"]), _TYPES[collection], value.get("name"), value.get("fullyQualifiedName"))


_TYPES = {
    Collection.DATABASE_SERVICES: "databaseService",
    Collection.STORAGE_SERVICES: "storageService",
    Collection.MESSAGING_SERVICES: "messagingService",
    Collection.DATABASES: "database",
    Collection.SCHEMAS: "databaseSchema",
    Collection.TABLES: "table",
    Collection.PROCEDURES: "storedProcedure",
    Collection.CONTAINERS: "container",
    Collection.TOPICS: "topic",
    Collection.QUERIES: "query",
    Collection.DASHBOARD_SERVICES: "dashboardService",
    Collection.DASHBOARDS: "dashboard",
    Collection.CHARTS: "chart",
    Collection.DATA_MODELS: "dashboardDataModel",
    Collection.METRICS: "metric",
    Collection.TEAMS: "team",
    Collection.USERS: "user",
    Collection.TEST_DEFINITIONS: "testDefinition",
    Collection.TEST_CASES: "testCase",
}
