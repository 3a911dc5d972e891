"""What SQL functions do to their arguments, by name: one table for all parsers and for Spark's plans."""

from __future__ import annotations

from enum import Enum

from ingestion.dialects.definition import keywords


class Effect(Enum):
    """How a result depends on the values of its arguments.

    VALUE: made of one row's values. AGGREGATE: made of many rows' values. COUNT: made of many rows, and shows none of
    their values (counts, and sketches of hashed values). HASH: made of one row's values, which cannot be read from it.
    GROUPING: says which keys a row is grouped by. ORDER: numbers rows; no value flows.
    """

    VALUE = "value"
    AGGREGATE = "aggregate"
    COUNT = "count"
    HASH = "hash"
    GROUPING = "grouping"
    ORDER = "order"


class ArgumentUse(Enum):
    """What a function does with one of its arguments, where it does not do the same with all.

    VALUE: its value goes into the result. CONDITION: it decides which value does. BOTH: COALESCE(a, b) tests what it
    gives. ORDER: it decides which row's value does.
    """

    VALUE = "value"
    CONDITION = "condition"
    BOTH = "both"
    ORDER = "order"


class PartsUse(Enum):
    """What a function does with values that have parts: structs, arrays and maps.

    Of ELEMENTS_KEPT as many come out as go in, of ELEMENTS_PICKED some, by their values.
    """

    STRUCT = "struct of names and values in turn"
    STRUCT_CHANGE = "fields set and dropped"
    ARRAY = "array of the arguments"
    ARRAY_ZIP = "array of structs of several arrays' elements"
    MAP = "map of keys and values in turn"
    MAP_OF_ARRAYS = "map of an array of keys and one of values"
    MAP_OF_ENTRIES = "map of an array of structs"
    MAP_ENTRIES = "array of a map's entries"
    MAP_KEYS = "array of a map's keys"
    MAP_VALUES = "array of a map's values"
    MAP_JOIN = "map of several maps' entries"
    MAP_FILTER = "entries for which a lambda holds"
    MAP_CHANGE = "map whose keys or values a lambda makes"
    MAP_MERGE = "map whose values a lambda makes of two maps' values"
    LAMBDA = "array of what a lambda makes of each element"
    LAMBDA_OF_TWO = "array of what a lambda makes of two arrays' elements"
    LAMBDA_FILTER = "elements for which a lambda holds"
    LAMBDA_TEST = "whether a lambda holds"
    LAMBDA_MERGE = "one value that a lambda makes of all elements"
    LAMBDA_ORDER = "elements in the order of a lambda"
    ELEMENTS_KEPT = "elements in another order, or a stretch of them"
    ELEMENTS_PICKED = "elements but for some values"
    ELEMENTS_JOINED = "elements of several arrays"
    ELEMENT_ADDED = "array with one more element"
    ELEMENT_REPEATED = "array of one value"
    ELEMENT = "element at a position, or behind a key"
    NESTED_ELEMENTS = "elements of an array's arrays"
    LIST = "array of a group's values"
    EXTREME = "greatest or least value of a group"
    PICK = "value of one row of a group"
    FIRST_KNOWN = "first value that is not NULL"
    COUNT = "number of elements"
    NULL_TEST = "whether there is a value"


# Encryption and masking stand with hashes: nothing of the argument can be read from the result without a key.
HASHES = keywords(
    "AES_ENCRYPT BINARY_CHECKSUM BITMAP_COUNT BLAKE3 CHECKSUM CITYHASH64 CITY_HASH64 CRC32 CRYPT DIGEST ENCRYPT "
    "ENCRYPT_RAW FARMFINGERPRINT64 FARM_FINGERPRINT FNV1A FNV_HASH HALFMD5 HASH HASH64 HASHAMP HASHBUCKET HASHBYTES "
    "HASHROW HASHTYPE_MD5 HASH_MD5 HASH_SHA1 HASH_SHA256 HASH_SHA512 HIVEHASH HMAC INTHASH32 INTHASH64 JAVAHASH MASK "
    "MASK_FIRST_N MASK_HASH MASK_LAST_N MASK_SHOW_FIRST_N MASK_SHOW_LAST_N MD4 MD5 MD5_DIGEST MD5_HEX "
    "MD5_NUMBER_LOWER64 MD5_NUMBER_UPPER64 MURMUR3 MURMURHASH2_32 MURMURHASH2_64 MURMURHASH3_128 MURMURHASH3_32 "
    "MURMURHASH3_64 MURMUR_HASH ORA_HASH PGP_SYM_ENCRYPT SHA SHA1 SHA1_BINARY SHA1_DIGEST SHA1_HEX SHA2 SHA224 SHA256 "
    "SHA2_BINARY SHA2_DIGEST SHA2_HEX SHA384 SHA512 SIPHASH128 SIPHASH64 SPOOKY_HASH_V2_32 SPOOKY_HASH_V2_64 "
    "STANDARD_HASH TO_HEX_HASH XXH3 XXHASH32 XXHASH64 XX_HASH64"
)
COUNTS = keywords(
    "APPROXIMATE_COUNT_DISTINCT APPROXIMATE_JACCARD_INDEX APPROXIMATE_SIMILARITY APPROX_COUNT_DISTINCT "
    "APPROX_COUNT_DISTINCT_DS_HLL APPROX_DISTINCT APPROX_SET BLOOM_FILTER_AGG CHECKSUM_AGG COUNT COUNTDISTINCT "
    "COUNTIF COUNT_BIG COUNT_IF COUNT_MIN_SKETCH HASH_AGG HLL HLL_COUNT HLL_SKETCH_AGG HLL_UNION_AGG MINHASH "
    "MINHASH_COMBINE NDV REGR_COUNT THETA_INTERSECTION_AGG THETA_SKETCH_AGG THETA_UNION_AGG UNIQ UNIQCOMBINED "
    "UNIQCOMBINED64 UNIQEXACT UNIQHLL12 UNIQTHETA UNIQUPTO"
)
AGGREGATES = keywords(
    "AGG AI_AGG AI_SUMMARIZE_AGG ANY ANYLAST ANY_VALUE APPROX_PERCENTILE APPROX_PERCENTILE_ACCUMULATE "
    "APPROX_PERCENTILE_COMBINE APPROX_QUANTILE APPROX_QUANTILES APPROX_TOP_COUNT APPROX_TOP_K APPROX_TOP_K_ACCUMULATE "
    "APPROX_TOP_K_COMBINE APPROX_TOP_SUM ARBITRARY ARGMAX ARGMIN ARG_MAX ARG_MIN ARRAYAGG ARRAY_AGG ARRAY_CONCAT_AGG "
    "ARRAY_UNION_AGG ARRAY_UNIQUE_AGG AVG BITANDAGG BITAND_AGG BITMAP_CONSTRUCT_AGG BITMAP_OR_AGG BITMAP_UNION "
    "BITORAGG BITOR_AGG BITWISE_AND_AGG BITWISE_OR_AGG BITWISE_XOR_AGG BITXORAGG BITXOR_AGG BIT_AND BIT_ANDAGG "
    "BIT_AND_AGG BIT_OR BIT_ORAGG BIT_OR_AGG BIT_XOR BIT_XORAGG BIT_XOR_AGG BOOLAND_AGG BOOLOR_AGG BOOLXOR_AGG "
    "BOOL_AND BOOL_OR COLLECT COLLECT_LIST COLLECT_SET CORR COVAR_POP COVAR_SAMP ENTROPY EVERY FIRST GROUPARRAY "
    "GROUPBITAND GROUPBITMAP GROUPBITOR GROUPBITXOR GROUPUNIQARRAY GROUP_CONCAT HISTOGRAM HISTOGRAM_NUMERIC HLL_UNION "
    "JSONB_AGG JSONB_OBJECT_AGG JSON_AGG JSON_ARRAYAGG JSON_GROUP_ARRAY JSON_GROUP_OBJECT JSON_OBJECTAGG "
    "JSON_OBJECT_AGG KURTOSIS LAST LIST LISTAGG LOGICAL_AND LOGICAL_OR MAD MAX MAX_BY MEAN MEDIAN MIN MIN_BY MODE "
    "MULTISET_AGG OBJECT_AGG PERCENTILE PERCENTILE_APPROX PERCENTILE_CONT PERCENTILE_DISC PIVOTFIRST PRODUCT QUANTILE "
    "QUANTILE_CONT QUANTILE_DISC RANGE_AGG REGR_AVGX REGR_AVGY REGR_INTERCEPT REGR_R2 REGR_SLOPE REGR_SXX REGR_SXY "
    "REGR_SYY REGR_VALX REGR_VALY RESERVOIR_QUANTILE RETENTION SCHEMA_OF_VARIANT_AGG SET_AGG SKETCH_AGG SKEW SKEWNESS "
    "STD STDDEV STDDEV_POP STDDEV_SAMP STDEV STDEVP STRING_AGG ST_UNION_AGG SUM SUMMAP TDIGEST_AGG TOPK TRY_AVG "
    "TRY_SUM VAR VARIANCE VARIANCE_POP VARIANCE_SAMP VARP VAR_POP VAR_SAMP WM_CONCAT XMLAGG"
)
RETURNING = keywords(
    "ANY ANYLAST ANY_VALUE APPROX_PERCENTILE APPROX_TOP_K ARGMAX ARGMIN ARG_MAX ARG_MIN ARRAYAGG ARRAY_AGG COLLECT"
    " COLLECT_LIST COLLECT_SET FIRST FIRST_VALUE GROUPARRAY GROUPUNIQARRAY GROUP_CONCAT JSONB_AGG JSONB_OBJECT_AGG"
    " JSON_AGG JSON_ARRAYAGG JSON_OBJECTAGG JSON_OBJECT_AGG LAST LAST_VALUE LIST LISTAGG MAX MAXIF MAX_BY MEDIAN MIN"
    " MINIF MIN_BY MODE MULTISET_AGG PERCENTILE PERCENTILE_APPROX PERCENTILE_CONT PERCENTILE_DISC PIVOTFIRST"
    " QUANTILE_CONT QUANTILE_DISC RESERVOIR_QUANTILE STRING_AGG TOPK WM_CONCAT XMLAGG"
)
"""Aggregates whose result is, or holds, one of the values that they were given."""
GROUPINGS = keywords("GROUPING GROUPING_ID")
ORDERS = keywords("CUME_DIST DENSE_RANK NTILE PERCENT_RANK RANK ROW_NUMBER")
MOVING = keywords("FIRST_VALUE LAG LAST_VALUE LEAD NTH_VALUE")
"""Window functions that give another row's value, and aggregate nothing."""

NAMED_IN_TEXTS = keywords(
    "CROSSTAB DBLINK DBLINK_EXEC DICTGETALL DICTGETCHILDREN DICTGETDESCENDANTS DICTGETHIERARCHY DICTGETORNULL DICTHAS "
    "DICTIONARY DICTISIN ELEMENT_AT EXTERNAL_QUERY FLATTEN FROM_JSON GET GETXML GET_JSON_OBJECT GET_PATH IDENTIFIER "
    "INFER_SCHEMA JDBC JOINGET JOINGETORNULL JSONB_BUILD_OBJECT JSONB_EXTRACT_PATH JSONB_EXTRACT_PATH_TEXT "
    "JSONB_PATH_QUERY JSONEXTRACT JSONEXTRACTRAW JSONEXTRACTSTRING JSON_BUILD_OBJECT JSON_EXTRACT JSON_EXTRACT_PATH "
    "JSON_EXTRACT_PATH_TEXT JSON_EXTRACT_SCALAR JSON_EXTRACT_STRING JSON_OBJECT JSON_QUERY JSON_TABLE JSON_TUPLE "
    "JSON_VALUE MAP_EXTRACT MONGODB MYSQL_QUERY MYSQL_SCAN NAMED_STRUCT OBJECT_CONSTRUCT OBJECT_CONSTRUCT_KEEP_NULL "
    "ODBC OPENDATASOURCE OPENJSON PIVOT POSTGRESQL POSTGRES_QUERY POSTGRES_SCAN QUERY_TABLE QUERY_TO_XML RESULT_SCAN "
    "SNIFF_CSV SQLITE_SCAN STACK STRUCT_EXTRACT TABLE_DATE_RANGE TABLE_QUERY TRY_VARIANT_GET UNPIVOT VARIANT_GET "
    "XMLTABLE"
)
"""Functions, and clauses like PIVOT, whose texts name tables, columns or fields, or are SQL; beside those below."""
ALSO_WORDS = keywords(
    "CLUSTER COLUMNS FILE FILES GLOB INPUT LOCAL MERGE MYSQL QUERY REDIS REMOTE S3 SQLITE TABLE URL VIEW"
)
"""Functions of that kind only where a text comes first: elsewhere they are ordinary words."""
FROM_IN_ARGUMENTS = keywords("EXTRACT OVERLAY POSITION SUBSTRING TRIM")
"""Functions with a FROM between their arguments: TRIM('x' FROM a)."""
CONVERTERS = keywords("CAST CONVERT SAFE_CAST TRY_CAST TRY_CONVERT")
TEXTS = keywords(
    "BTRIM DATE_FORMAT FORMAT GET_JSON_OBJECT LOWER LPAD LTRIM MD5 RPAD RTRIM SHA1 SHA256 TO_VARCHAR TRIM UPPER"
)
"""Functions whose result is a text."""
OBJECT_BUILDERS = keywords("JSON_BUILD_OBJECT JSONB_BUILD_OBJECT OBJECT_CONSTRUCT OBJECT_CONSTRUCT_KEEP_NULL")
"""Functions of names and values in turn: OBJECT_CONSTRUCT('k', a)."""
STRUCTS = OBJECT_BUILDERS | keywords("JSON_OBJECT NAMED_STRUCT ROW STRUCT STRUCT_PACK")
"""Functions of a value with fields."""
TO_JSON = keywords("PARSE_JSON ROW_TO_JSON TO_ARRAY TO_JSON TO_JSONB TO_JSON_STRING TO_OBJECT TO_VARIANT")
"""Functions that give the value of their argument another form, with the same fields."""

LAMBDA_FUNCTIONS = keywords(
    "AGGREGATE ALL_MATCH ANY_MATCH APPLY ARRAYALL ARRAYCOUNT ARRAYEXISTS ARRAYFILTER ARRAYFIRST ARRAYLAST ARRAYMAP "
    "ARRAYREVERSESORT ARRAYSORT ARRAYSUM ARRAY_APPLY ARRAY_COUNT ARRAY_EXISTS ARRAY_FILTER ARRAY_FIRST "
    "ARRAY_FIRST_INDEX ARRAY_LAST ARRAY_LAST_INDEX ARRAY_MAP ARRAY_REDUCE ARRAY_REVERSE_SPLIT ARRAY_SORT ARRAY_SORTBY "
    "ARRAY_SPLIT ARRAY_TRANSFORM EXISTS FILTER FORALL LIST_APPLY LIST_FILTER LIST_REDUCE LIST_TRANSFORM MAP_APPLY "
    "MAP_FILTER MAP_ZIP_WITH NONE_MATCH REDUCE TRANSFORM TRANSFORM_KEYS TRANSFORM_VALUES ZIP_WITH"
)
"""Functions that take a lambda: what duckdb_functions() says so of, and those of other systems' manuals."""

ELEMENTS = keywords("EXPLODE EXPLODE_OUTER UNNEST")
"""Table functions that give one column: an array's elements."""
INLINES = keywords("INLINE INLINE_OUTER")
"""Table functions that give the fields of an array's structs."""
GENERATORS = INLINES | keywords("STACK EXPLODE EXPLODE_OUTER POSEXPLODE POSEXPLODE_OUTER JSON_TUPLE PARSE_URL_TUPLE")
"""Give several columns where one function stands, in Hive's family."""
WITH_POSITIONS = keywords("POSEXPLODE POSEXPLODE_OUTER")
"""Generators whose first column is the position of what they take apart."""
OF_ONE_ROW = keywords("JSON_TUPLE PARSE_URL_TUPLE")
"""Generators that make one row of one."""
TABLE_FUNCTIONS = keywords(
    "GENERATE_SERIES RANGE NUMBERS GENERATOR SPLIT_TO_TABLE STRTOK_SPLIT_TO_TABLE FLATTEN UNNEST JSON_EACH "
    "JSON_EACH_TEXT JSONB_EACH JSONB_EACH_TEXT JSON_ARRAY_ELEMENTS JSONB_ARRAY_ELEMENTS "
    "JSON_ARRAY_ELEMENTS_TEXT JSONB_ARRAY_ELEMENTS_TEXT JSON_TO_RECORDSET JSONB_TO_RECORDSET JSON_TO_RECORD "
    "JSONB_TO_RECORD REGEXP_MATCHES REGEXP_SPLIT_TO_TABLE STRING_SPLIT OPENJSON JSON_TABLE XMLTABLE "
    "STRING_TO_TABLE ZEROS SEQUENCE EXPLODE POSEXPLODE EXPLODE_OUTER INLINE STACK JSON_TUPLE PARSE_URL_TUPLE "
    "UNNEST_TOKENS ROWS_FROM NODES VALUES JSON_OBJECT_KEYS JSONB_OBJECT_KEYS JSONB_PATH_QUERY "
    "GENERATE_SUBSCRIPTS GENERATE_DATE_ARRAY RESULT_SCAN"
)
"""Table functions of the systems themselves, which read nothing but their arguments."""
ONE_ROW_FUNCTIONS = keywords("JSONB_TO_RECORD JSON_TO_RECORD JSON_TUPLE PARSE_URL_TUPLE")
"""Table functions that give one row, whatever their arguments are."""
# PostgreSQL's are those of pg_proc with proretset, DuckDB's the macros over unnest in duckdb_functions().
_POSTGRES_ROWS = keywords(
    "EXPLODE GENERATE_SERIES GENERATE_SUBSCRIPTS JSONB_ARRAY_ELEMENTS JSONB_ARRAY_ELEMENTS_TEXT JSONB_EACH "
    "JSONB_EACH_TEXT JSONB_OBJECT_KEYS JSONB_PATH_QUERY JSONB_PATH_QUERY_TZ JSONB_POPULATE_RECORDSET "
    "JSONB_TO_RECORDSET JSON_ARRAY_ELEMENTS JSON_ARRAY_ELEMENTS_TEXT JSON_EACH JSON_EACH_TEXT JSON_OBJECT_KEYS "
    "JSON_POPULATE_RECORDSET JSON_TO_RECORDSET REGEXP_MATCHES REGEXP_SPLIT_TO_TABLE STRING_TO_TABLE UNNEST"
)
_SPARK_ROWS = keywords(
    "EXPLODE EXPLODE_OUTER INLINE INLINE_OUTER POSEXPLODE POSEXPLODE_OUTER VARIANT_EXPLODE VARIANT_EXPLODE_OUTER"
)
MULTIPLYING: dict[str, frozenset[str]] = {
    **dict.fromkeys(("postgres", "cockroach", "greenplum", "materialize", "redshift", "risingwave"), _POSTGRES_ROWS),
    **dict.fromkeys(("spark", "databricks", "hive"), _SPARK_ROWS),
    "duckdb": keywords("EXPLODE GENERATE_SUBSCRIPTS REGEXP_SPLIT_TO_TABLE UNNEST"),
    "clickhouse": keywords("ARRAYJOIN EXPLODE"),
}
"""Functions of a select list that give several rows for one, by dialect; EXPLODE is what sqlglot calls UNNEST there."""
FILE_READERS = keywords(
    "AZUREBLOBSTORAGE AZUREBLOBSTORAGECLUSTER BULK_ROWS CLOUD_FILES CSV_SCAN DELTALAKE DELTALAKECLUSTER DELTA_SCAN "
    "FILE FILECLUSTER FILES GCS HDFS HDFSCLUSTER HUDI HUDICLUSTER ICEBERG ICEBERGCLUSTER ICEBERGHDFS "
    "ICEBERGHDFSCLUSTER ICEBERGLOCAL ICEBERGS3 ICEBERGS3CLUSTER ICEBERG_SCAN LOCAL PARQUET_SCAN READ_AVRO READ_BLOB "
    "READ_CSV READ_CSV_AUTO READ_FILES READ_JSON READ_JSON_AUTO READ_JSON_OBJECTS READ_KAFKA READ_NDJSON "
    "READ_NDJSON_AUTO READ_PARQUET READ_TEXT READ_XLSX S3 S3CLUSTER ST_READ URL URLCLUSTER"
)
"""Table functions that read the path in their first text."""
ON_OTHER_MACHINES = keywords("CLUSTER CLUSTERALLREPLICAS REMOTE REMOTESECURE")
"""Functions that read or write a table on other machines: (where, db.table | db, table, …)."""
REMOTE_QUERIES = keywords("OPENQUERY OPENROWSET")
"""T-SQL's functions of a text that another server runs."""

_EFFECTS: dict[str, Effect] = {
    **dict.fromkeys(AGGREGATES, Effect.AGGREGATE),
    **dict.fromkeys(COUNTS, Effect.COUNT),
    **dict.fromkeys(HASHES, Effect.HASH),
    **dict.fromkeys(GROUPINGS, Effect.GROUPING),
    **dict.fromkeys(ORDERS, Effect.ORDER),
}
# Spark's analyzer resolves these to aggregate functions: first_value is first, some is bool_or; its hll_union takes the
# sketches of one row.
_SPARK_EFFECTS: dict[str, Effect] = {
    **dict.fromkeys(keywords("FIRST_VALUE LAST_VALUE SOME"), Effect.AGGREGATE),
    "HLL_UNION": Effect.VALUE,
}
# Sketches and vectors are Snowflake's own; its BIT_AND(a, b) is another spelling of BITAND, and BIT_AND_AGG aggregates.
_SNOWFLAKE_EFFECTS: dict[str, Effect] = {
    **dict.fromkeys(
        keywords(
            "DATASKETCHES_HLL DATASKETCHES_HLL_ACCUMULATE DATASKETCHES_HLL_COMBINE DATASKETCHES_HLL_ESTIMATE "
            "HLL_ACCUMULATE HLL_COMBINE HLL_ESTIMATE"
        ),
        Effect.COUNT,
    ),
    **dict.fromkeys(keywords("VECTOR_AVG VECTOR_MAX VECTOR_MIN VECTOR_SUM"), Effect.AGGREGATE),
    **dict.fromkeys(keywords("BIT_AND BIT_OR BIT_XOR"), Effect.VALUE),
}
DIALECT_EFFECTS: dict[str, dict[str, Effect]] = {
    **dict.fromkeys(("spark", "databricks"), _SPARK_EFFECTS),
    "snowflake": _SNOWFLAKE_EFFECTS,
    "exasol": dict.fromkeys(keywords("BIT_AND BIT_OR BIT_XOR"), Effect.VALUE),  # of two numbers, as BITAND elsewhere
}
"""Where a function of a dialect does not do what one of that name does elsewhere."""
ALONE_AGGREGATES: dict[str, frozenset[str]] = {"snowflake": keywords("ST_COLLECT")}
"""Aggregates with one argument; with two they put the values of one row together."""

# As Spark's analyzer replaces them (by CASE, IF and COALESCE), and as OpenLineage's facet has COALESCE: each argument
# is tested, and is a value.
_FIRST_KNOWN = keywords("COALESCE IFNULL NVL")
_WITH_ZERO = keywords("NULLIFZERO ZEROIFNULL")
# IF(a, b, c), Snowflake's IFF, T-SQL's IIF, NVL2.
_CHOICES = keywords("IF IFF IIF NVL2")
# MAX_BY(a, b): the a of the row whose b is the largest. ClickHouse has argMax, DuckDB arg_max.
_EXTREMES = keywords("ARGMAX ARGMIN ARG_MAX ARG_MIN MAX_BY MIN_BY")
WITH_USES = _FIRST_KNOWN | _WITH_ZERO | _CHOICES | _EXTREMES | {"DECODE", "ISNULL", "NULLIF", "PIVOTFIRST"}


def argument_uses(name: str, arguments: int) -> tuple[ArgumentUse, ...]:
    """What a function, by its name in capitals, does with each of so many arguments; () where it is the same for all.

    `NULLIF(a, b)` -> (BOTH, CONDITION); `DECODE(a, 1, b, c)` -> (CONDITION, CONDITION, VALUE, VALUE).
    """
    if name in _FIRST_KNOWN or (name == "ISNULL" and arguments == 2) or (name in _WITH_ZERO and arguments == 1):
        return (ArgumentUse.BOTH,) * arguments
    if name in _CHOICES and arguments == 3:
        return (ArgumentUse.CONDITION, ArgumentUse.VALUE, ArgumentUse.VALUE)
    if name in _EXTREMES and arguments == 2:
        return (ArgumentUse.VALUE, ArgumentUse.ORDER)
    if name == "NULLIF" and arguments == 2:
        return (ArgumentUse.BOTH, ArgumentUse.CONDITION)
    if name == "DECODE" and arguments > 2:
        pairs = (ArgumentUse.CONDITION, ArgumentUse.VALUE) * ((arguments - 1) // 2)
        return (ArgumentUse.CONDITION, *pairs, *((ArgumentUse.VALUE,) if arguments % 2 == 0 else ()))
    if name == "PIVOTFIRST" and arguments > 2:  # what Spark makes of PIVOT: the key, the value, the keys sought
        return (ArgumentUse.CONDITION, ArgumentUse.VALUE, *((ArgumentUse.VALUE,) * (arguments - 2)))
    return ()


UNIT_FIRST = {
    **dict.fromkeys(keywords("DATEADD DATEDIFF DATEDIFF_BIG DATE_BUCKET TIMEADD TIMEDIFF"), 3),
    **dict.fromkeys(keywords("TIMESTAMPADD TIMESTAMPDIFF"), 3),
    **dict.fromkeys(keywords("DATENAME DATEPART DATETRUNC DATE_PART"), 2),
}
UNIT_LAST = {
    **dict.fromkeys(keywords("DATETIME_DIFF DATE_DIFF TIMESTAMP_DIFF TIME_DIFF"), 3),
    **dict.fromkeys(keywords("DATETIME_TRUNC DATE_TRUNC LAST_DAY TIMESTAMP_TRUNC TIME_TRUNC"), 2),
}
# Snowflake has both orders: TRUNC(d, month) and DATE_TRUNC(month, d); Databricks' DATE_ADD(day, 1, d) has a unit,
# its DATE_ADD(d, 1) none.
UNIT_FIRST_IN_DIALECT = {
    "snowflake": {"DATE_TRUNC": 2, "TRUNC": 2},
    "databricks": {"DATE_ADD": 3, "DATE_DIFF": 3},
    "spark": {"DATE_ADD": 3, "DATE_DIFF": 3},
}
UNIT_LAST_IN_DIALECT = {"bigquery": UNIT_LAST, "snowflake": {"LAST_DAY": 2, "TRUNC": 2}}


def effect_of(name: str, dialect: str, arguments: int = 1) -> Effect:
    """The effect of a function by its name without a schema, in capitals; VALUE for one that is not known.

    `arguments` is how many it is called with: Snowflake's `ST_COLLECT(a)` is AGGREGATE, its `ST_COLLECT(a, b)` VALUE.
    """
    return known_effect(name, dialect, arguments) or Effect.VALUE


def known_effect(name: str, dialect: str, arguments: int = 1) -> Effect | None:
    """The effect that the tables give a function; None where they have none of that name.

    What a dialect says comes first, VALUE too: HLL_UNION aggregates everywhere but in Spark.
    """
    special = DIALECT_EFFECTS.get(dialect)
    if special is not None and name in special:
        return special[name]
    if arguments == 1 and name in ALONE_AGGREGATES.get(dialect, ()):
        return Effect.AGGREGATE
    return _EFFECTS.get(name)


def unit_positions(name: str, arguments: int, dialect: str) -> tuple[int, ...]:
    """Where a call with so many arguments takes a bare date part, counted from 0.

    `DATEDIFF(day, a, b)` -> (0,); BigQuery's `DATE_TRUNC(a, MONTH)` -> (1,); `MAX(year)` -> (): a column.
    """
    found = []
    if arguments >= UNIT_FIRST_IN_DIALECT.get(dialect, {}).get(name, UNIT_FIRST.get(name, arguments + 1)):
        found.append(0)
    if arguments >= UNIT_LAST_IN_DIALECT.get(dialect, {}).get(name, arguments + 1):
        found.append(arguments - 1)
    return tuple(found)


# Spark's names for functions of values that have parts, as its plans print them.
_PARTS = {
    PartsUse.STRUCT: "STRUCT NAMED_STRUCT",
    PartsUse.STRUCT_CHANGE: "UPDATE_FIELDS",
    PartsUse.ARRAY: "ARRAY",
    PartsUse.ARRAY_ZIP: "ARRAYS_ZIP",
    PartsUse.MAP: "MAP",
    PartsUse.MAP_OF_ARRAYS: "MAP_FROM_ARRAYS",
    PartsUse.MAP_OF_ENTRIES: "MAP_FROM_ENTRIES",
    PartsUse.MAP_ENTRIES: "MAP_ENTRIES",
    PartsUse.MAP_KEYS: "MAP_KEYS",
    PartsUse.MAP_VALUES: "MAP_VALUES",
    PartsUse.MAP_JOIN: "MAP_CONCAT",
    PartsUse.MAP_FILTER: "MAP_FILTER",
    PartsUse.MAP_CHANGE: "TRANSFORM_KEYS TRANSFORM_VALUES",
    PartsUse.MAP_MERGE: "MAP_ZIP_WITH",
    PartsUse.LAMBDA: "TRANSFORM",
    PartsUse.LAMBDA_OF_TWO: "ZIP_WITH",
    PartsUse.LAMBDA_FILTER: "FILTER",
    PartsUse.LAMBDA_TEST: "EXISTS FORALL",
    PartsUse.LAMBDA_MERGE: "AGGREGATE REDUCE",
    PartsUse.LAMBDA_ORDER: "ARRAY_SORT",
    PartsUse.ELEMENTS_KEPT: "SORT_ARRAY SLICE SHUFFLE",
    PartsUse.ELEMENTS_PICKED: "ARRAY_DISTINCT ARRAY_COMPACT",
    PartsUse.ELEMENTS_JOINED: "CONCAT ARRAY_UNION",
    PartsUse.ELEMENT_ADDED: "ARRAY_APPEND ARRAY_PREPEND ARRAY_INSERT",
    PartsUse.ELEMENT_REPEATED: "ARRAY_REPEAT",
    PartsUse.ELEMENT: "ELEMENT_AT TRY_ELEMENT_AT GET",
    PartsUse.NESTED_ELEMENTS: "FLATTEN",
    PartsUse.LIST: "COLLECT_LIST COLLECT_SET ARRAY_AGG",
    PartsUse.EXTREME: "MAX MIN",
    PartsUse.PICK: "FIRST LAST ANY_VALUE FIRST_VALUE LAST_VALUE LAG LEAD NTH_VALUE MODE MAX_BY MIN_BY",
    PartsUse.FIRST_KNOWN: "COALESCE IFNULL NVL",
    PartsUse.COUNT: "SIZE CARDINALITY ARRAY_SIZE",
    PartsUse.NULL_TEST: "ISNULL ISNOTNULL",
}
PARTS_USES = {name: use for use, names in _PARTS.items() for name in names.split()}
_PASSING_PARTS = frozenset(
    (
        *(PartsUse.ELEMENTS_JOINED, PartsUse.ELEMENT, PartsUse.EXTREME, PartsUse.PICK, PartsUse.FIRST_KNOWN),
        *(PartsUse.COUNT, PartsUse.NULL_TEST),
    )
)
MAKING_PARTS = frozenset(name for name, use in PARTS_USES.items() if use not in _PASSING_PARTS)
"""The functions whose value has parts, or is made of such; the others only hand on what has some."""
