"""What functions do to their arguments: aggregate them, hide them (hash, count), and of what type the result is."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from ingestion.dialects.functions import COUNTS, MOVING, TEXTS, Effect, effect_of
from ingestion.relational.form import TypeRule
from ingestion.relational.roles import ARGUMENTS, TRANSFORMED


@dataclass(frozen=True, slots=True)
class Behaviour:
    """`inner[role]` is what an argument is to a result that plays `role`; `name` is None where the text has it."""

    name: str | None
    inner: tuple[int, ...]
    type: TypeRule = None
    last_filters: bool = False


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
    **dict.fromkeys(COUNTS, "BIGINT"),
    **dict.fromkeys(TEXTS, "STRING"),
}

FUNCTIONS: dict[type[exp.Expr], Behaviour] = {}
"""The behaviours met so far, by node type: the rules below are walked once for each."""

_NAMED: dict[tuple[str, str], Behaviour] = {}


def behaviour_of(node: exp.Expr, name: str | None = None, dialect: str = "") -> Behaviour:
    """The behaviour of a node's kind; of one function where `name` is the name that the text gives it."""
    if name is not None:
        return _NAMED.get((dialect, name)) or _by_name(node, name, dialect)
    kind = type(node)
    if isinstance(node, exp.Anonymous | exp.AnonymousAggFunc | exp.ParameterizedAgg):
        FUNCTIONS[kind] = Behaviour(None, TRANSFORMED)
        return FUNCTIONS[kind]
    FUNCTIONS[kind] = Behaviour(_display_name(kind), ARGUMENTS[_effect(node)], _RESULT_TYPES.get(kind))
    return FUNCTIONS[kind]


def is_count(node: exp.Expr | None) -> bool:
    """Whether a function counts rows or values."""
    if isinstance(node, exp.Anonymous):
        return effect_of(str(node.this).upper()) is Effect.COUNT
    return isinstance(node, exp.Func) and _effect(node) is Effect.COUNT


def _effect(node: exp.Expr) -> Effect:
    """By any of the names that sqlglot knows a function under; else an aggregate is known by its class."""
    names = type(node).sql_names() if isinstance(node, exp.Func) else ()
    for name in names:
        effect = effect_of(name)
        if effect is not Effect.VALUE:
            return effect
    return Effect.AGGREGATE if isinstance(node, exp.AggFunc) and MOVING.isdisjoint(names) else Effect.VALUE


def _display_name(kind: type[exp.Expr]) -> str:
    if issubclass(kind, exp.Func):
        return str(kind.sql_names()[0]).replace("J_S_O_N", "JSON").removeprefix("EXPLODING_")
    return kind.__name__.upper()


def _by_name(node: exp.Expr, name: str, dialect: str) -> Behaviour:
    plain = name.rpartition(".")[2]
    filters = False
    if isinstance(node, exp.AnonymousAggFunc | exp.ParameterizedAgg):  # ClickHouse: sumIf(value, condition)
        filters = plain.endswith("IF")
        plain = plain.removesuffix("IF")
        inner = ARGUMENTS[Effect.COUNT if effect_of(plain) is Effect.COUNT else Effect.AGGREGATE]
    else:
        inner = ARGUMENTS[effect_of(plain, dialect)]
    found = Behaviour(name, inner, _NAMED_TYPES.get(plain), filters)
    if len(_NAMED) < 10_000:  # names come from queries: do not grow without bound
        _NAMED[(dialect, name)] = found
    return found
