"""Column types as a database writes them, in the words that OpenMetadata has for them."""

from __future__ import annotations

import re
from typing import Any

from ingestion.model import Column

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
