"""Types in sqlglot's tree, by their names in the standard type set."""

from __future__ import annotations

from sqlglot import exp

_DType = exp.DType

_STANDARD: dict[object, str] = {
    _DType.BOOLEAN: "BOOLEAN",
    _DType.TINYINT: "TINYINT",
    # The standard set has no unsigned numbers: each is the next larger one, which holds all of its values.
    _DType.UTINYINT: "SMALLINT",
    _DType.SMALLINT: "SMALLINT",
    _DType.USMALLINT: "INT",
    _DType.MEDIUMINT: "INT",
    _DType.UMEDIUMINT: "INT",
    _DType.INT: "INT",
    _DType.UINT: "BIGINT",
    _DType.BIGINT: "BIGINT",
    # 2^64 - 1 has twenty digits; what is larger still has the most that any warehouse has, 38.
    _DType.UBIGINT: "DECIMAL(20, 0)",
    _DType.INT128: "DECIMAL(38, 0)",
    _DType.INT256: "DECIMAL(38, 0)",
    _DType.UINT128: "DECIMAL(38, 0)",
    _DType.UINT256: "DECIMAL(38, 0)",
    _DType.BIGNUM: "DECIMAL(38, 0)",
    _DType.FLOAT: "FLOAT",
    _DType.DOUBLE: "DOUBLE",
    _DType.DECFLOAT: "DOUBLE",
    _DType.DECIMAL: "DECIMAL",
    _DType.BIGDECIMAL: "DECIMAL",
    _DType.UDECIMAL: "DECIMAL",
    # T-SQL's money has four digits behind the point in eight bytes, smallmoney in four.
    _DType.MONEY: "DECIMAL(19, 4)",
    _DType.SMALLMONEY: "DECIMAL(10, 4)",
    _DType.CHAR: "CHAR",
    _DType.NCHAR: "CHAR",
    _DType.BPCHAR: "CHAR",
    _DType.FIXEDSTRING: "CHAR",
    _DType.VARCHAR: "VARCHAR",
    _DType.NVARCHAR: "VARCHAR",
    _DType.TEXT: "STRING",
    _DType.TINYTEXT: "STRING",
    _DType.MEDIUMTEXT: "STRING",
    _DType.LONGTEXT: "STRING",
    _DType.NAME: "STRING",
    _DType.ENUM: "STRING",
    _DType.BINARY: "BINARY",
    _DType.VARBINARY: "BINARY",
    _DType.BLOB: "BINARY",
    _DType.TINYBLOB: "BINARY",
    _DType.MEDIUMBLOB: "BINARY",
    _DType.LONGBLOB: "BINARY",
    _DType.ROWVERSION: "BINARY",
    _DType.DATE: "DATE",
    _DType.DATE32: "DATE",
    _DType.TIME: "TIME",
    _DType.TIMETZ: "TIME",
    _DType.TIMESTAMP: "TIMESTAMP",
    _DType.TIMESTAMPNTZ: "TIMESTAMP",
    _DType.DATETIME: "TIMESTAMP",
    _DType.DATETIME2: "TIMESTAMP",
    _DType.DATETIME64: "TIMESTAMP",
    _DType.SMALLDATETIME: "TIMESTAMP",
    _DType.TIMESTAMP_S: "TIMESTAMP",
    _DType.TIMESTAMP_MS: "TIMESTAMP",
    _DType.TIMESTAMP_NS: "TIMESTAMP",
    _DType.TIMESTAMPTZ: "TIMESTAMPTZ",
    _DType.TIMESTAMPLTZ: "TIMESTAMPTZ",
    _DType.INTERVAL: "INTERVAL",
    _DType.JSON: "JSON",
    _DType.JSONB: "JSON",
    _DType.VARIANT: "VARIANT",
    _DType.UUID: "UUID",
    _DType.GEOGRAPHY: "GEOGRAPHY",
    _DType.GEOMETRY: "GEOMETRY",
    _DType.XML: "XML",
    # PostgreSQL: an integer with a sequence for its default.
    _DType.SERIAL: "INT",
    _DType.BIGSERIAL: "BIGINT",
    _DType.SMALLSERIAL: "SMALLINT",
}


def type_name(node: exp.Expr) -> str:
    """The standard name of a type node."""
    if type(node) is not exp.DataType:
        return node.name.upper() or "UNKNOWN"
    kind = node.this
    inner = node.args.get("expressions") or []
    if kind in (_DType.ARRAY, _DType.LIST):
        return f"ARRAY<{type_name(inner[0])}>" if inner else "ARRAY"
    if kind is _DType.MAP:
        return f"MAP<{', '.join(type_name(item) for item in inner)}>" if inner else "MAP"
    if kind in (_DType.STRUCT, _DType.OBJECT, _DType.NESTED):
        return f"STRUCT<{', '.join(map(_field, inner))}>" if inner else "STRUCT"
    if kind is _DType.LOWCARDINALITY and inner:
        return type_name(inner[0])
    if kind is _DType.USERDEFINED:
        return str(node.args.get("kind") or "UNKNOWN").upper()
    name = _STANDARD.get(kind)
    if name is None:
        return str(kind.value if hasattr(kind, "value") else kind).upper()
    if inner and name in ("DECIMAL", "CHAR", "VARCHAR"):
        sizes = [item.this.name for item in inner if type(item) is exp.DataTypeParam]
        if name == "DECIMAL" and len(sizes) == 1:
            sizes.append("0")
        if sizes:
            return f"{name}({', '.join(sizes)})"
    return name


def _field(node: exp.Expr) -> str:
    if type(node) is exp.ColumnDef:
        kind = node.args.get("kind")
        return f"{node.name} {type_name(kind)}" if kind is not None else str(node.name)
    return type_name(node)


def literal_type(node: exp.Expr) -> str | None:
    """The type of a literal; a number's follows from how it is written."""
    if type(node) is not exp.Literal or node.args.get("is_string"):
        return "STRING"
    text: str = node.args["this"]
    if text.isdigit():
        return "INT" if len(text) < 10 else "BIGINT"
    return "DOUBLE" if "e" in text.lower() else "DECIMAL"


def has_constant_length(node: exp.Expr) -> bool:
    """Whether a value has as many elements as the text says, whatever they are: ARRAY[a, b], MAP('k', a)."""
    while isinstance(node, exp.Cast | exp.Paren):
        node = node.this
    if isinstance(node, exp.Map | exp.VarMap):
        return isinstance(node.args.get("keys"), exp.Array)
    return isinstance(node, exp.Struct) or (
        isinstance(node, exp.Array) and not any(isinstance(item, exp.Query) for item in node.expressions)
    )
