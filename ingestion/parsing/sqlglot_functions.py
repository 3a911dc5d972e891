"""What functions do to their arguments: aggregate them, hide them (hash, count), and of what type the result is."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from ingestion.lexing import keywords
from ingestion.parsing.relational import TypeRule
from ingestion.parsing.roles import AGGREGATED, AGGREGATION, COMPOSED, GROUP_BY, MASKING, TRANSFORMATION, TRANSFORMED

_MASKED = tuple(row[TRANSFORMATION | MASKING] for row in COMPOSED)
_COUNTED = tuple(row[AGGREGATION | MASKING] for row in COMPOSED)
_GROUPED = tuple(row[GROUP_BY] for row in COMPOSED)


@dataclass(frozen=True, slots=True)
class Behaviour:
    """`inner[role]` is what an argument is to a result that plays `role`; `name` is None where the text has it."""

    name: str | None
    inner: tuple[int, ...]
    type: TypeRule = None
    last_filters: bool = False


_MOVING = (exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue)
"""Window functions that give another row's value, and aggregate nothing."""

_COUNTING = (exp.Count, exp.CountIf, exp.ApproxDistinct, exp.Hll, exp.HashAgg, exp.RegrCount)
_HASHING = (
    exp.MD5,
    exp.MD5Digest,
    exp.SHA,
    exp.SHA2,
    exp.SHA1Digest,
    exp.SHA2Digest,
    exp.FarmFingerprint,
    exp.StandardHash,
)

_HASH_NAMES = keywords(
    "BLAKE3 CHECKSUM BINARY_CHECKSUM CITYHASH64 CRC32 CRYPT DIGEST FARM_FINGERPRINT FARMFINGERPRINT64 FNV_HASH "
    "FNV1A HALFMD5 HASH HASH64 HASHBYTES HASHROW HIVEHASH HMAC INTHASH32 INTHASH64 JAVAHASH MD4 MD5 MD5_DIGEST "
    "MD5_HEX MD5_NUMBER_LOWER64 MD5_NUMBER_UPPER64 MURMUR_HASH MURMURHASH2_32 MURMURHASH2_64 MURMURHASH3_128 "
    "MURMURHASH3_32 MURMURHASH3_64 MURMUR3 ORA_HASH SHA SHA1 SHA1_BINARY SHA1_HEX SHA2 SHA224 SHA256 "
    "SHA2_BINARY SHA2_HEX SHA384 SHA512 SIPHASH64 SIPHASH128 SPOOKY_HASH_V2_32 SPOOKY_HASH_V2_64 STANDARD_HASH "
    "XXHASH32 XXHASH64 XXH3 XX_HASH64 HASH_MD5 HASH_SHA1 HASH_SHA256 HASH_SHA512 HASHTYPE_MD5 TO_HEX_HASH "
    "HASHAMP HASHBUCKET MASK MASK_HASH MASK_FIRST_N MASK_LAST_N MASK_SHOW_FIRST_N MASK_SHOW_LAST_N AES_ENCRYPT "
    "ENCRYPT ENCRYPT_RAW PGP_SYM_ENCRYPT"
)
_COUNT_NAMES = keywords(
    "APPROXIMATE_COUNT_DISTINCT APPROX_COUNT_DISTINCT APPROX_COUNT_DISTINCT_DS_HLL COUNT COUNTDISTINCT COUNTIF "
    "COUNT_BIG COUNT_IF HLL HLL_COUNT HLL_SKETCH_AGG HLL_UNION_AGG NDV UNIQ UNIQCOMBINED UNIQCOMBINED64 "
    "UNIQEXACT UNIQHLL12 HASH_AGG CHECKSUM_AGG UNIQUPTO UNIQTHETA BITMAP_COUNT APPROX_SET"
)
_AGGREGATE_NAMES = keywords(
    "ANY ANYLAST AVG BIT_AND_AGG BIT_OR_AGG BOOL_AND BOOL_OR COLLECT COLLECT_LIST COLLECT_SET EVERY GROUPARRAY "
    "GROUPUNIQARRAY JSON_AGG JSONB_AGG JSON_ARRAYAGG JSON_OBJECT_AGG JSONB_OBJECT_AGG JSON_OBJECTAGG LISTAGG "
    "MAX MIN MULTISET_AGG PERCENTILE PERCENTILE_APPROX APPROX_PERCENTILE RANGE_AGG ST_UNION_AGG STRING_AGG SUM "
    "WM_CONCAT XMLAGG GROUP_CONCAT GROUPBITMAP SUMMAP TOPK RETENTION ARRAY_AGG ARRAYAGG LIST HISTOGRAM "
    "BITMAP_UNION HLL_UNION REGR_SLOPE CORR PRODUCT MAD ENTROPY RESERVOIR_QUANTILE QUANTILE_CONT QUANTILE_DISC "
    "TDIGEST_AGG SKETCH_AGG HISTOGRAM_NUMERIC"
)

_RESULT_TYPES: dict[type[exp.Expr], TypeRule] = {
    **dict.fromkeys((exp.Count, exp.CountIf, exp.ApproxDistinct, exp.RowNumber, exp.Rank, exp.DenseRank), "BIGINT"),
    **dict.fromkeys(
        (exp.Max, exp.Min, exp.AnyValue, exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue), "same"
    ),
    **dict.fromkeys((exp.First, exp.Last, exp.Abs, exp.Median, exp.Mode), "same"),
    **dict.fromkeys((exp.Greatest, exp.Least), "widest"),
    exp.Sum: "summed",
    exp.Avg: "averaged",
    exp.ArrayAgg: "listed",
    exp.ArrayUniqueAgg: "listed",
    exp.Explode: "element",
    **dict.fromkeys(
        (
            exp.Concat,
            exp.ConcatWs,
            exp.Upper,
            exp.Lower,
            exp.Trim,
            exp.Substring,
            exp.Replace,
            exp.RegexpReplace,
            exp.RegexpExtract,
            exp.GroupConcat,
            exp.Initcap,
            exp.Left,
            exp.Right,
            exp.Pad,
            exp.Repeat,
            exp.Reverse,
            exp.SplitPart,
            exp.ToChar,
            exp.TimeToStr,
            exp.MD5,
            exp.SHA,
            exp.SHA2,
            exp.Hex,
            exp.Translate,
            exp.ArrayToString,
            exp.JSONFormat,
            exp.Chr,
            exp.Space,
        ),
        "STRING",
    ),
    **dict.fromkeys((exp.Length, exp.StrPosition, exp.Extract, exp.Ascii, exp.ArraySize), "INT"),
    **dict.fromkeys(
        (exp.Year, exp.Month, exp.Day, exp.DayOfWeek, exp.DayOfYear, exp.Quarter, exp.Week, exp.Hour, exp.Minute), "INT"
    ),
    **dict.fromkeys((exp.DateDiff, exp.TimestampDiff, exp.DatetimeDiff, exp.Ntile), "BIGINT"),
    **dict.fromkeys(
        (exp.CurrentDate, exp.Date, exp.TsOrDsToDate, exp.StrToDate, exp.LastDay, exp.DateFromParts), "DATE"
    ),
    **dict.fromkeys((exp.DateTrunc, exp.DateAdd, exp.DateSub, exp.TimestampTrunc, exp.TsOrDsAdd), "same"),
    **dict.fromkeys((exp.CurrentTimestamp, exp.TimestampAdd, exp.TimestampSub), "TIMESTAMPTZ"),
    **dict.fromkeys(
        (exp.CurrentDatetime, exp.StrToTime, exp.TsOrDsToTimestamp, exp.Timestamp, exp.UnixToTime), "TIMESTAMP"
    ),
    exp.CurrentTime: "TIME",
    **dict.fromkeys(
        (
            exp.Sqrt,
            exp.Exp,
            exp.Ln,
            exp.Log,
            exp.Stddev,
            exp.StddevPop,
            exp.StddevSamp,
            exp.Variance,
            exp.VariancePop,
            exp.Corr,
            exp.CovarPop,
            exp.CovarSamp,
            exp.Pow,
            exp.Rand,
            exp.CumeDist,
            exp.PercentRank,
        ),
        "DOUBLE",
    ),
    **dict.fromkeys((exp.Ceil, exp.Floor, exp.Round), "same"),
    **dict.fromkeys(
        (exp.LogicalAnd, exp.LogicalOr, exp.StartsWith, exp.EndsWith, exp.Contains, exp.ArrayContains, exp.IsNan),
        "BOOLEAN",
    ),
    **dict.fromkeys((exp.ParseJSON, exp.JSONObject, exp.JSONArray), "JSON"),
    exp.Uuid: "UUID",
}
_NAMED_TYPES: dict[str, TypeRule] = {
    **dict.fromkeys(_COUNT_NAMES, "BIGINT"),
    **dict.fromkeys(("UPPER", "LOWER", "TRIM", "LTRIM", "RTRIM", "BTRIM", "LPAD", "RPAD", "TO_VARCHAR"), "STRING"),
    **dict.fromkeys(("MD5", "SHA1", "SHA256", "FORMAT", "DATE_FORMAT", "GET_JSON_OBJECT"), "STRING"),
}

FUNCTIONS: dict[type[exp.Expr], Behaviour] = {}
"""The behaviours met so far, by node type: the rules below are walked once for each."""

_NAMED: dict[str, Behaviour] = {}


def behaviour_of(node: exp.Expr, name: str | None = None) -> Behaviour:
    """The behaviour of a node's kind; of one function where `name` is the name that the text gives it."""
    if name is not None:
        return _NAMED.get(name) or _by_name(node, name)
    kind = type(node)
    if isinstance(node, exp.Anonymous | exp.AnonymousAggFunc | exp.ParameterizedAgg):
        FUNCTIONS[kind] = Behaviour(None, TRANSFORMED)
        return FUNCTIONS[kind]
    FUNCTIONS[kind] = Behaviour(_display_name(kind), _inner(node), _RESULT_TYPES.get(kind))
    return FUNCTIONS[kind]


def is_count(node: exp.Expr | None) -> bool:
    """Whether a function counts rows or values."""
    if isinstance(node, exp.Anonymous):
        return str(node.this).upper() in _COUNT_NAMES
    return isinstance(node, _COUNTING)


def _inner(node: exp.Expr) -> tuple[int, ...]:
    if isinstance(node, _COUNTING):
        return _COUNTED
    if isinstance(node, exp.Grouping | exp.GroupingId):  # says which keys a row is grouped by, not what they hold
        return _GROUPED
    if isinstance(node, _HASHING) or type(node).__name__.upper() in _HASH_NAMES:
        return _MASKED
    if isinstance(node, _MOVING) or not isinstance(node, exp.AggFunc):
        return TRANSFORMED
    return AGGREGATED


def _display_name(kind: type[exp.Expr]) -> str:
    if issubclass(kind, exp.Func):
        return str(kind.sql_names()[0]).replace("J_S_O_N", "JSON").removeprefix("EXPLODING_")
    return kind.__name__.upper()


def _by_name(node: exp.Expr, name: str) -> Behaviour:
    plain = name.rpartition(".")[2]
    filters = False
    if isinstance(node, exp.AnonymousAggFunc | exp.ParameterizedAgg):  # ClickHouse: sumIf(value, condition)
        filters = plain.endswith("IF")
        plain = plain.removesuffix("IF")
        inner = _COUNTED if plain in _COUNT_NAMES else AGGREGATED
    elif plain in _HASH_NAMES:
        inner = _MASKED
    elif plain in _COUNT_NAMES:
        inner = _COUNTED
    else:
        inner = AGGREGATED if plain in _AGGREGATE_NAMES else TRANSFORMED
    found = Behaviour(name, inner, _NAMED_TYPES.get(plain), filters)
    if len(_NAMED) < 10_000:  # names come from queries: do not grow without bound
        _NAMED[name] = found
    return found
