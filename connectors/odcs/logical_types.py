"""The logical types of the standard, by the types of databases."""

from __future__ import annotations

from ingestion.dialects.types import standard_type

_LOGICAL = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INT", "BIGINT"), "integer"),
    **dict.fromkeys(("DECIMAL", "FLOAT", "DOUBLE"), "number"),
    **dict.fromkeys(("CHAR", "VARCHAR", "STRING", "UUID"), "string"),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMPTZ"), "timestamp"),
    **dict.fromkeys(("STRUCT", "MAP", "JSON"), "object"),
    "DATE": "date",
    "TIME": "time",
    "BOOLEAN": "boolean",
    "ARRAY": "array",
}


def logical_type(written: str) -> str:
    """The logical type of a database's type, "" where it has none or is not known."""
    standard = standard_type(written)
    base = standard.partition("(")[0].partition("<")[0].strip()
    return _LOGICAL.get(base, "")
