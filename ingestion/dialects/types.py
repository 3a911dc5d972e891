"""The standard type set: each warehouse's names for it, and how types follow through expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

# What each warehouse calls the types of the standard set, and what its own names mean in it.
#
# The standard set: BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, DECIMAL(p, s), FLOAT, DOUBLE, CHAR(n), VARCHAR(n),
# STRING, BINARY, DATE, TIME, TIMESTAMP (without a zone), TIMESTAMPTZ, INTERVAL, ARRAY<t>, MAP<k, v>, STRUCT<name t,
# …>, JSON, VARIANT, UUID, GEOGRAPHY, GEOMETRY, XML. A warehouse without a type gets the nearest that holds its
# values.

STANDARD_OF: Mapping[str, str] = {
    **dict.fromkeys(("bool", "boolean", "bit", "logical"), "BOOLEAN"),
    **dict.fromkeys(("tinyint", "int1", "int8_t", "byte", "byteint"), "TINYINT"),
    **dict.fromkeys(("smallint", "int2", "int16", "smallserial", "serial2", "uint8", "short"), "SMALLINT"),
    **dict.fromkeys(
        ("int", "integer", "int4", "int32", "mediumint", "serial", "serial4", "uint16", "year", "signed"), "INT"
    ),
    **dict.fromkeys(("bigint", "int8", "int64", "bigserial", "serial8", "uint32", "long", "hugeint"), "BIGINT"),
    **dict.fromkeys(("uint64", "ubigint"), "DECIMAL(20, 0)"),
    **dict.fromkeys(("int128", "int256", "uint128", "uint256", "largeint"), "DECIMAL(38, 0)"),
    **dict.fromkeys(
        ("decimal", "numeric", "number", "dec", "bignumeric", "bigdecimal", "fixed", "decimal32", "decimal64"),
        "DECIMAL",
    ),
    **dict.fromkeys(("decimal128", "decimal256"), "DECIMAL"),
    "money": "DECIMAL(19, 4)",
    "smallmoney": "DECIMAL(10, 4)",
    **dict.fromkeys(("float4", "real", "float32", "binary_float"), "FLOAT"),
    **dict.fromkeys(
        ("double", "double precision", "float", "float8", "float64", "binary_double", "decfloat"), "DOUBLE"
    ),
    **dict.fromkeys(("char", "character", "nchar", "bpchar", "fixedstring"), "CHAR"),
    **dict.fromkeys(("varchar", "character varying", "nvarchar", "varchar2", "nvarchar2", "varying"), "VARCHAR"),
    **dict.fromkeys(
        ("string", "text", "tinytext", "mediumtext", "longtext", "clob", "nclob", "ntext", "citext", "name", "enum"),
        "STRING",
    ),
    **dict.fromkeys(("set", "enum8", "enum16", "lvarchar", "long varchar", "utf8"), "STRING"),
    **dict.fromkeys(
        ("binary", "varbinary", "bytea", "bytes", "blob", "raw", "long raw", "tinyblob", "mediumblob", "longblob"),
        "BINARY",
    ),
    **dict.fromkeys(("image", "rowversion", "long varbinary", "byte varying"), "BINARY"),
    **dict.fromkeys(("date", "date32"), "DATE"),
    **dict.fromkeys(("time", "time without time zone", "timetz", "time with time zone"), "TIME"),
    **dict.fromkeys(
        ("timestamp", "timestamp without time zone", "timestamp_ntz", "timestampntz", "datetime", "datetime2"),
        "TIMESTAMP",
    ),
    **dict.fromkeys(("datetime64", "datetime32", "smalldatetime", "timestamp_s", "timestamp_ms"), "TIMESTAMP"),
    **dict.fromkeys(("timestamp_ns", "abstime"), "TIMESTAMP"),
    **dict.fromkeys(
        ("timestamptz", "timestamp with time zone", "timestamp_tz", "timestamp_ltz", "timestampltz", "datetimeoffset"),
        "TIMESTAMPTZ",
    ),
    **dict.fromkeys(("timestamp with local time zone", "timestamptz_ns"), "TIMESTAMPTZ"),
    "interval": "INTERVAL",
    **dict.fromkeys(("json", "jsonb", "hjson"), "JSON"),
    **dict.fromkeys(("variant", "super", "dynamic"), "VARIANT"),
    **dict.fromkeys(("uuid", "uniqueidentifier"), "UUID"),
    "geography": "GEOGRAPHY",
    **dict.fromkeys(("geometry", "sdo_geometry", "st_geometry", "point", "polygon"), "GEOMETRY"),
    **dict.fromkeys(("xml", "xmltype"), "XML"),
    **dict.fromkeys(("array", "list"), "ARRAY"),
    "map": "MAP",
    **dict.fromkeys(("struct", "row", "object", "record", "tuple", "nested"), "STRUCT"),
}
"""The standard type of a name in lower case, in most systems."""

STANDARD_IN: Mapping[str, Mapping[str, str]] = {
    "bigquery": {"timestamp": "TIMESTAMPTZ", "numeric": "DECIMAL(38, 9)", "float64": "DOUBLE", "int": "BIGINT"},
    "clickhouse": {"int8": "TINYINT", "float32": "FLOAT", "bool": "BOOLEAN", "datetime": "TIMESTAMP"},
    "oracle": {"date": "TIMESTAMP", "number": "DECIMAL", "float": "DOUBLE", "long": "STRING"},
    "snowflake": {
        "number": "DECIMAL(38, 0)",
        "decimal": "DECIMAL(38, 0)",
        "numeric": "DECIMAL(38, 0)",
        "object": "STRUCT",
        "byteint": "INT",
    },
    "mysql": {"float": "FLOAT", "bit": "BINARY", "tinyint(1)": "BOOLEAN"},
    "spark": {"float": "FLOAT", "timestamp": "TIMESTAMP", "real": "FLOAT"},
    "hive": {"float": "FLOAT"},
    "tsql": {"timestamp": "BINARY", "real": "FLOAT"},
    "duckdb": {"float": "FLOAT"},
    "trino": {"real": "FLOAT"},
    "teradata": {"byte": "BINARY", "byteint": "TINYINT"},
}
"""Where a name means something else in a system."""

LIKE: Mapping[str, str] = {
    "greenplum": "postgres",
    "cockroach": "postgres",
    "materialize": "postgres",
    "risingwave": "postgres",
    "redshift": "redshift",
    "mariadb": "mysql",
    "singlestore": "mysql",
    "doris": "mysql",
    "starrocks": "mysql",
    "databricks": "spark",
    "impala": "hive",
    "presto": "trino",
    "athena": "trino",
    "fabric": "tsql",
}
"""The systems that name their types as another does."""

_POSTGRES = {
    "TINYINT": "SMALLINT",
    "INT": "INTEGER",
    "FLOAT": "REAL",
    "DOUBLE": "DOUBLE PRECISION",
    "DECIMAL": "NUMERIC",
    "STRING": "TEXT",
    "BINARY": "BYTEA",
    "JSON": "JSONB",
    "VARIANT": "JSONB",
    "STRUCT": "JSONB",
    "MAP": "JSONB",
    "ARRAY": "{0}[]",
    "GEOGRAPHY": "GEOGRAPHY",
}

NATIVE: Mapping[str, Mapping[str, str]] = {
    "ansi": {"STRING": "VARCHAR", "DOUBLE": "DOUBLE PRECISION", "TIMESTAMPTZ": "TIMESTAMP WITH TIME ZONE"},
    "postgres": _POSTGRES,
    "redshift": {
        **_POSTGRES,
        "STRING": "VARCHAR(65535)",
        "BINARY": "VARBYTE",
        "UUID": "CHAR(36)",
        **dict.fromkeys(("JSON", "VARIANT", "STRUCT", "MAP", "ARRAY"), "SUPER"),
    },
    "vertica": {**_POSTGRES, "STRING": "LONG VARCHAR", "JSON": "LONG VARCHAR", "ARRAY": "ARRAY[{0}]"},
    "duckdb": {"STRING": "VARCHAR", "BINARY": "BLOB", "VARIANT": "JSON", "ARRAY": "{0}[]", "MAP": "MAP({0}, {1})"},
    "snowflake": {
        "TINYINT": "NUMBER(3, 0)",
        "SMALLINT": "NUMBER(5, 0)",
        "INT": "NUMBER(38, 0)",
        "BIGINT": "NUMBER(38, 0)",
        "DECIMAL": "NUMBER",
        "FLOAT": "FLOAT",
        "DOUBLE": "FLOAT",
        "STRING": "VARCHAR",
        "TIMESTAMP": "TIMESTAMP_NTZ",
        "TIMESTAMPTZ": "TIMESTAMP_TZ",
        "JSON": "VARIANT",
        "STRUCT": "OBJECT",  # semi-structured: fields have no types of their own
        "MAP": "OBJECT",
        "ARRAY": "ARRAY",
        "UUID": "VARCHAR(36)",
        "INTERVAL": "VARCHAR",
        "XML": "VARIANT",
    },
    "bigquery": {
        "BOOLEAN": "BOOL",
        **dict.fromkeys(("TINYINT", "SMALLINT", "INT", "BIGINT"), "INT64"),
        "DECIMAL": "NUMERIC",
        **dict.fromkeys(("FLOAT", "DOUBLE"), "FLOAT64"),
        **dict.fromkeys(("CHAR", "VARCHAR", "STRING", "UUID", "XML"), "STRING"),
        "BINARY": "BYTES",
        "TIMESTAMP": "DATETIME",
        "TIMESTAMPTZ": "TIMESTAMP",
        "VARIANT": "JSON",
        "MAP": "ARRAY<STRUCT<key {0}, value {1}>>",
        "GEOMETRY": "GEOGRAPHY",
    },
    "spark": {
        "TIMESTAMP": "TIMESTAMP_NTZ",
        "TIMESTAMPTZ": "TIMESTAMP",
        **dict.fromkeys(("JSON", "UUID", "XML", "GEOGRAPHY", "GEOMETRY", "TIME"), "STRING"),
    },
    "hive": {
        "TIMESTAMPTZ": "TIMESTAMP",
        **dict.fromkeys(("JSON", "VARIANT", "UUID", "XML", "GEOGRAPHY", "GEOMETRY", "TIME", "INTERVAL"), "STRING"),
    },
    "trino": {
        "FLOAT": "REAL",
        "INT": "INTEGER",
        "STRING": "VARCHAR",
        "BINARY": "VARBINARY",
        "TIMESTAMPTZ": "TIMESTAMP WITH TIME ZONE",
        "VARIANT": "JSON",
        "ARRAY": "ARRAY({0})",
        "MAP": "MAP({0}, {1})",
        "STRUCT": "ROW({0})",
        "XML": "VARCHAR",
        "INTERVAL": "INTERVAL DAY TO SECOND",
    },
    "mysql": {
        "BOOLEAN": "TINYINT(1)",
        "STRING": "LONGTEXT",
        "BINARY": "LONGBLOB",
        "TIMESTAMP": "DATETIME",
        "TIMESTAMPTZ": "TIMESTAMP",
        "UUID": "CHAR(36)",
        "INTERVAL": "VARCHAR(64)",
        **dict.fromkeys(("VARIANT", "STRUCT", "MAP", "ARRAY"), "JSON"),
        "XML": "LONGTEXT",
        "GEOGRAPHY": "GEOMETRY",
    },
    "tsql": {
        "BOOLEAN": "BIT",
        "FLOAT": "REAL",
        "DOUBLE": "FLOAT",
        "CHAR": "NCHAR",
        "VARCHAR": "NVARCHAR",
        "STRING": "NVARCHAR(MAX)",
        "BINARY": "VARBINARY(MAX)",
        "TIMESTAMP": "DATETIME2",
        "TIMESTAMPTZ": "DATETIMEOFFSET",
        "UUID": "UNIQUEIDENTIFIER",
        **dict.fromkeys(("JSON", "VARIANT", "STRUCT", "MAP", "ARRAY", "INTERVAL"), "NVARCHAR(MAX)"),
    },
    "oracle": {
        "BOOLEAN": "NUMBER(1)",
        "TINYINT": "NUMBER(3)",
        "SMALLINT": "NUMBER(5)",
        "INT": "NUMBER(10)",
        "BIGINT": "NUMBER(19)",
        "DECIMAL": "NUMBER",
        "FLOAT": "BINARY_FLOAT",
        "DOUBLE": "BINARY_DOUBLE",
        "VARCHAR": "VARCHAR2",
        "STRING": "CLOB",
        "BINARY": "BLOB",
        "TIME": "VARCHAR2(18)",
        "TIMESTAMPTZ": "TIMESTAMP WITH TIME ZONE",
        "INTERVAL": "INTERVAL DAY TO SECOND",
        "UUID": "RAW(16)",
        **dict.fromkeys(("JSON", "VARIANT", "STRUCT", "MAP", "ARRAY"), "JSON"),
        "XML": "XMLTYPE",
        **dict.fromkeys(("GEOGRAPHY", "GEOMETRY"), "SDO_GEOMETRY"),
    },
    "clickhouse": {
        "BOOLEAN": "Bool",
        "TINYINT": "Int8",
        "SMALLINT": "Int16",
        "INT": "Int32",
        "BIGINT": "Int64",
        "DECIMAL": "Decimal",
        "FLOAT": "Float32",
        "DOUBLE": "Float64",
        **dict.fromkeys(("CHAR", "VARCHAR", "STRING", "BINARY", "XML", "TIME", "INTERVAL"), "String"),
        "DATE": "Date32",
        "TIMESTAMP": "DateTime64(6)",
        "TIMESTAMPTZ": "DateTime64(6, 'UTC')",
        "VARIANT": "JSON",
        "UUID": "UUID",
        "ARRAY": "Array({0})",
        "MAP": "Map({0}, {1})",
        "STRUCT": "Tuple({0})",
    },
    "teradata": {
        "BOOLEAN": "BYTEINT",
        "TINYINT": "BYTEINT",
        "INT": "INTEGER",
        "FLOAT": "FLOAT",
        "DOUBLE": "FLOAT",
        "STRING": "CLOB",
        "BINARY": "BLOB",
        "TIMESTAMPTZ": "TIMESTAMP WITH TIME ZONE",
        "INTERVAL": "INTERVAL DAY TO SECOND",
        **dict.fromkeys(("VARIANT", "STRUCT", "MAP", "ARRAY"), "JSON"),
        "UUID": "CHAR(36)",
    },
    "sqlite": {
        **dict.fromkeys(("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT"), "INTEGER"),
        **dict.fromkeys(("FLOAT", "DOUBLE"), "REAL"),
        "DECIMAL": "NUMERIC",
        "BINARY": "BLOB",
        **dict.fromkeys(("CHAR", "VARCHAR", "STRING", "DATE", "TIME", "TIMESTAMP", "TIMESTAMPTZ", "JSON"), "TEXT"),
        **dict.fromkeys(("VARIANT", "STRUCT", "MAP", "ARRAY", "UUID", "INTERVAL", "XML"), "TEXT"),
    },
    "exasol": {
        "STRING": "VARCHAR(2000000)",
        "DOUBLE": "DOUBLE PRECISION",
        "TIMESTAMPTZ": "TIMESTAMP WITH LOCAL TIME ZONE",
    },
    "db2": {"STRING": "CLOB", "FLOAT": "REAL", "BINARY": "BLOB", "TIMESTAMPTZ": "TIMESTAMP", "INT": "INTEGER"},
}
"""What a system calls a standard type; `{0}` and `{1}` stand for inner types. What is not listed keeps its name."""


# How types follow through expressions.
#
# A type is a text: `DECIMAL(10, 2)`, `ARRAY<STRING>`, `STRUCT<a INT, b DATE>`. "" is a type that is not known.

_NUMBERS = ("TINYINT", "SMALLINT", "INT", "BIGINT", "DECIMAL", "FLOAT", "DOUBLE")
_RANK = {name: number for number, name in enumerate(_NUMBERS)}
_TIMES = {"DATE": 0, "TIMESTAMP": 1, "TIMESTAMPTZ": 2}
_TEXTS = {"CHAR": 0, "VARCHAR": 1, "STRING": 2}
_INTEGERS = frozenset(_NUMBERS[:4])
_SIZED = frozenset({"DECIMAL", "CHAR", "VARCHAR"})
_TRANSPARENT = frozenset({"nullable", "lowcardinality", "simpleaggregatefunction"})


@lru_cache(maxsize=20_000)
def standard_type(written: str, dialect: str = "ansi") -> str:
    """The standard type of a type as a catalog or DDL writes it; "" for a type of the user's own."""
    text = " ".join(written.split()).strip()
    if not text:
        return ""
    if text.endswith("[]"):
        return f"ARRAY<{standard_type(text[:-2], dialect)}>"
    name, inner, rest = _taken_apart(text)
    system = LIKE.get(dialect, dialect)
    special = STANDARD_IN.get(system, {})
    spelled = f"{name} {rest}".strip() if rest and not inner.startswith("<") else name
    base = special.get(text.lower()) or special.get(spelled) or STANDARD_OF.get(spelled)
    if base is None and name in _TRANSPARENT:
        parts = _split(inner[1:-1])
        return standard_type(parts[-1], dialect) if parts else ""
    base = base or special.get(name) or STANDARD_OF.get(name, "")
    if base in ("ARRAY", "MAP", "STRUCT") and inner:
        return f"{base}<{', '.join(_inner_types(base, inner[1:-1], dialect))}>"
    if inner.startswith("(") and base.partition("(")[0] in _SIZED:
        sizes = [size for size in _split(inner[1:-1]) if size.isdigit()]
        base = base.partition("(")[0]
        if base == "DECIMAL" and len(sizes) == 1:
            sizes.append("0")
        return f"{base}({', '.join(sizes)})" if sizes else base
    return base


def is_same_type(one: str, other: str) -> bool:
    """Whether two types as they are written are one, in whatever words, as far as standard types and sizes tell."""
    if " ".join(one.split()).casefold() == " ".join(other.split()).casefold():
        return True
    standard, same = _signed_standard(one), _signed_standard(other)
    if not standard[0] or standard != same:
        return False
    inner, other_inner = ("".join(_taken_apart(text)[1].split()).casefold() for text in (one, other))
    sized = inner[:1] == other_inner[:1] == "(" and "(" not in standard[0] and standard[0] not in _INTEGERS
    return not sized or inner == other_inner


def _signed_standard(written: str) -> tuple[str, bool]:
    """The standard type, as if it had negative numbers, and whether it has none."""
    words = [word for word in written.split() if word.casefold() != "zerofill"]
    signed = [word for word in words if word.casefold() != "unsigned"]
    standard = standard_type(" ".join(signed))
    return "CHAR(1)" if standard == "CHAR" else standard, len(signed) < len(words)


def _taken_apart(text: str) -> tuple[str, str, str]:
    """A type's name in lower case, its bracketed part, and what follows (`with time zone`, `unsigned`)."""
    for number, character in enumerate(text):
        if character in "(<[":
            end = text.rfind({"(": ")", "<": ">", "[": "]"}[character])
            end = end if end > number else len(text) - 1
            return text[:number].strip().lower(), text[number : end + 1], text[end + 1 :].strip().lower()
    return text.lower(), "", ""


def _split(text: str) -> list[str]:
    """The parts between commas outside brackets."""
    parts, depth, start = [], 0, 0
    for number, character in enumerate(text):
        if character in "(<[":
            depth += 1
        elif character in ")>]":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:number].strip())
            start = number + 1
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def _inner_types(base: str, inner: str, dialect: str) -> list[str]:
    if base != "STRUCT":
        return [standard_type(part, dialect) for part in _split(inner)]
    fields = []
    for part in _split(inner):
        name, _, kind = part.replace(":", " ", 1).partition(" ")
        fields.append(f"{name} {standard_type(kind, dialect)}".strip() if kind else standard_type(name, dialect))
    return fields


@lru_cache(maxsize=20_000)
def native_type(standard: str, dialect: str) -> str:
    """What a warehouse calls a type of the standard set; the nearest that holds its values where it has none."""
    if not standard:
        return ""
    names = NATIVE.get(LIKE.get(dialect, dialect), NATIVE["ansi"])
    base, inner, _ = _taken_apart(standard)
    base = base.upper()
    own = names.get(base)
    if base in ("ARRAY", "MAP", "STRUCT"):
        return _native_nested(base, inner[1:-1], own, dialect)
    if own is None:
        return standard
    if inner and base in _SIZED and "(" not in own and own not in ("STRING", "String"):
        return own + inner
    return own


def _native_nested(base: str, inner: str, own: str | None, dialect: str) -> str:
    if own is not None and "{" not in own:
        return own
    if not inner:
        return own.partition("(")[0].partition("<")[0].replace("{0}", "") if own is not None else base
    if base == "STRUCT":
        fields = []
        for part in _split(inner):
            name, _, kind = part.partition(" ")
            fields.append(f"{name} {native_type(kind, dialect)}" if kind else native_type(name, dialect))
        parts = [", ".join(fields)]
    else:
        parts = [native_type(part, dialect) for part in _split(inner)]
    return own.format(*parts, "") if own is not None else f"{base}<{', '.join(parts)}>"


def field_type(struct: str, name: str) -> str:
    """The type of a struct's field, "" where the struct does not say."""
    if struct in ("JSON", "VARIANT"):
        return struct
    return next((kind for field, kind in struct_fields(struct) if field.lower() == name.lower()), "")


def struct_fields(struct: str) -> tuple[tuple[str, str], ...]:
    """The fields of a struct and their types, in order; () for other types and where the fields have no names."""
    if not struct.startswith("STRUCT<"):
        return ()
    fields = [part.partition(" ") for part in _split(struct[7:-1])]
    return tuple((name, kind) for name, _, kind in fields) if all(kind for _, _, kind in fields) else ()


def _base_of(name: str) -> str:
    """The type without its parameters."""
    for number, character in enumerate(name):
        if character in "(<":
            return name[:number]
    return name


def widest(types: Sequence[str]) -> str:
    """The type that holds all of the known types; "" where they have none in common."""
    found = ""
    for name in types:
        if not name or name == found:
            continue
        found = name if not found else _wider(found, name)
        if not found:
            return ""
    return found


def _wider(left: str, right: str) -> str:
    a, b = _base_of(left), _base_of(right)
    for ranks in (_RANK, _TIMES, _TEXTS):
        if a in ranks and b in ranks:
            if a == b:
                return _same_base(a, left, right)
            return left if ranks[a] > ranks[b] else right
    if a == "INTERVAL" and b in _TIMES:
        return right
    if b == "INTERVAL" and a in _TIMES:
        return left
    if (a in _TIMES and b in _RANK) or (b in _TIMES and a in _RANK):  # a date plus a number of days
        return left if a in _TIMES else right
    return ""


def _same_base(base: str, left: str, right: str) -> str:
    sizes = [_sizes(left), _sizes(right)]
    if not all(sizes):
        return base
    if base == "DECIMAL":
        scale = max(size[1] for size in sizes)
        whole = max(size[0] - size[1] for size in sizes)
        return f"DECIMAL({min(whole + scale, 38)}, {scale})"
    return f"{base}({max(size[0] for size in sizes)})"


def _sizes(name: str) -> list[int]:
    parts = _split(name.partition("(")[2].rstrip(")"))
    return [int(part) for part in parts] if all(part.isdigit() for part in parts) else []


def rule_type(rule: object, slot_type: Callable[[int], str]) -> str:
    """The type that a rule of the relational form gives; `slot_type` has the types of slots."""
    if rule is None:
        return ""
    if isinstance(rule, str):
        return rule
    if isinstance(rule, int):
        return slot_type(rule)
    if not isinstance(rule, tuple):
        return ""
    name, *inner = rule
    return _RULES[name]([rule_type(item, slot_type) for item in inner])


def _difference(types: Sequence[str]) -> str:
    if len(types) == 2 and all(_base_of(name) in _TIMES for name in types):
        return "INT" if types[0] == types[1] == "DATE" else "INTERVAL"
    return _arithmetic(types)


def _arithmetic(types: Sequence[str]) -> str:
    """Arithmetic: not known unless all operands are."""
    wide = widest(types) if all(types) else ""
    return "DECIMAL" if _base_of(wide) == "DECIMAL" else wide


def _quotient(types: Sequence[str]) -> str:
    wide = _arithmetic(types)
    return "DOUBLE" if wide in _INTEGERS else wide


def _sum(types: Sequence[str]) -> str:
    base = _base_of(types[0]) if types else ""
    if base in _INTEGERS:
        return "BIGINT"
    if base == "DECIMAL":
        sizes = _sizes(types[0])
        return f"DECIMAL(38, {sizes[1]})" if len(sizes) == 2 else "DECIMAL"
    if base in ("FLOAT", "DOUBLE"):
        return "DOUBLE"
    return base if base == "INTERVAL" else ""


def _average(types: Sequence[str]) -> str:
    base = _base_of(types[0]) if types else ""
    if base == "DECIMAL" or base == "INTERVAL":
        return base
    return "DOUBLE" if base in _RANK else ""


def _list_of(types: Sequence[str]) -> str:
    return f"ARRAY<{types[0]}>" if types and types[0] else "ARRAY"


def _element(types: Sequence[str]) -> str:
    name = types[0] if types else ""
    if name.startswith("ARRAY<"):
        return name[6:-1]
    if name.startswith("MAP<"):
        return _split(name[4:-1])[-1]
    return name if name in ("JSON", "VARIANT") else ""


_RULES: dict[object, Callable[[Sequence[str]], str]] = {
    "widest": widest,
    "computed": _arithmetic,
    "subtracted": _difference,
    "divided": _quotient,
    "summed": _sum,
    "averaged": _average,
    "listed": _list_of,
    "element": _element,
}
