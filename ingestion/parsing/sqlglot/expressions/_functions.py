"""What functions do to their arguments and of what type the result is, and how their own dialect writes them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect as SqlglotDialect
from sqlglot.errors import ErrorLevel, SqlglotError

from ingestion.analysis.form import TypeRule
from ingestion.analysis.roles import ARGUMENTS, ATOM, TRANSFORMED
from ingestion.dialects.functions import (
    COUNTS,
    MOVING,
    MULTIPLYING,
    TEXTS,
    Effect,
    effect_of,
    has_condition_last,
    known_effect,
)
from ingestion.dialects.keywords import DATE_PART_WORDS
from ingestion.parsing.sqlglot.expressions.types import literal_type
from ingestion.parsing.sqlglot.expressions.writer import ExpressionWriter

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

_MOST = 10_000
"""Names and shapes that are kept at most."""
_LONE_CAPITALS = re.compile(r"(?<![A-Z0-9])([A-Z])_(?=[A-Z][0-9]*(?:_|\Z))")

_ARGUMENT = re.compile(r"__h(\d+)__", re.IGNORECASE)
_LITERAL = re.compile(r"'[^']*+'|__l__|\b[0-9]++(?:\.[0-9]++)?", re.IGNORECASE)
_NUMBER = "9"
_NAME_WORD = re.compile(r"[^_() ]+")
_WITHIN = (exp.TsOrDsToDate, exp.TsOrDsToTimestamp, exp.TsOrDsToTime, exp.TsOrDsToDatetime)
"""What sqlglot puts around an argument, and writes as nothing, or as a cast, together with the function."""
_KEPT = (exp.Var, exp.DataType, exp.WeekStart)
"""Parts of a function that are words of it: units, types."""
_SIZED = (exp.SHA2, exp.SHA2Digest)
_SIZES = frozenset(("224", "256", "384", "512"))
"""Of digests: `SHA2(a, 256)` is `SHA256(a)` where a dialect has the size in the name."""
_OTHERWISE = (exp.Struct, exp.StarMap, exp.VarMap, exp.Map, exp.JSONObject, exp.Array, exp.Window, exp.Subquery)
"""What is written in a form of its own."""

Wording: TypeAlias = tuple["str | int", ...]
_known: dict[tuple[object, ...], Wording | None] = {}


@dataclass(frozen=True, slots=True)
class Behaviour:
    """`inner[role]` is what an argument is to a result that plays `role`; `name` is None where the text has it."""

    name: str | None
    inner: tuple[int, ...]
    type: TypeRule = None
    last_filters: bool = False


class Behaviours:
    """What the functions of one dialect do; the rules are walked once for each that is met."""

    __slots__ = ("_by_kind", "_by_name", "dialect", "multiplying")

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect
        self.multiplying = MULTIPLYING.get(dialect, frozenset())
        self._by_kind: dict[type[exp.Expr], Behaviour] = {}
        self._by_name: dict[tuple[type[exp.Expr], str, int], Behaviour] = {}

    def of(self, kind: type[exp.Expr]) -> Behaviour:
        """The behaviour of a kind of node."""
        found = self._by_kind.get(kind)
        if found is None:
            if issubclass(kind, exp.Anonymous | exp.AnonymousAggFunc | exp.ParameterizedAgg):
                found = Behaviour(None, TRANSFORMED)
            else:
                found = Behaviour(_display_name(kind), ARGUMENTS[self._effect(kind)], _RESULT_TYPES.get(kind))
            self._by_kind[kind] = found
        return found

    def by_name(self, kind: type[exp.Expr], name: str, arguments: int) -> Behaviour:
        """The behaviour of a function that is known only by the name that the text gives it, in capitals."""
        key = (kind, name, arguments)
        found = self._by_name.get(key)
        if found is not None:
            return found
        plain = name.rpartition(".")[2]
        filters = arguments > 1 and has_condition_last(plain, self.dialect)
        if issubclass(kind, exp.AnonymousAggFunc | exp.ParameterizedAgg):  # ClickHouse: sumIf(value, condition)
            filters = plain.endswith("IF")
            plain = plain.removesuffix("IF")
            counts = effect_of(name, self.dialect, arguments) is Effect.COUNT
            inner = ARGUMENTS[Effect.COUNT if counts else Effect.AGGREGATE]
        else:
            inner = ARGUMENTS[effect_of(name, self.dialect, arguments)]
        found = Behaviour(name, inner, _NAMED_TYPES.get(plain), filters)
        if len(self._by_name) < _MOST:  # names come from queries: do not grow without bound
            self._by_name[key] = found
        return found

    def counts(self, node: exp.Expr | None) -> bool:
        """Whether a function counts rows or values: `COUNT(*)` reads no column, `HASH(*)` reads all."""
        if isinstance(node, exp.Anonymous):
            return effect_of(str(node.this).upper(), self.dialect, len(node.expressions)) is Effect.COUNT
        return isinstance(node, exp.Func) and self.of(type(node)).inner is ARGUMENTS[Effect.COUNT]

    def _effect(self, kind: type[exp.Expr]) -> Effect:
        """By the first of sqlglot's names for a function that the tables know; else an aggregate by its class."""
        names = [_plain_spelling(name) for name in kind.sql_names()] if issubclass(kind, exp.Func) else []
        known = next((effect for name in names if (effect := known_effect(name, self.dialect)) is not None), None)
        if known is not None:
            return known
        return Effect.AGGREGATE if issubclass(kind, exp.AggFunc) and MOVING.isdisjoint(names) else Effect.VALUE


@cache
def behaviours_of(dialect: str) -> Behaviours:
    """What the functions of a dialect do."""
    return Behaviours(dialect)


def _plain_spelling(name: str) -> str:
    """SHA2_DIGEST of S_H_A2_DIGEST: sqlglot spells names out of the capitals of its classes' names."""
    return _LONE_CAPITALS.sub(r"\1", name)


def _display_name(kind: type[exp.Expr]) -> str:
    if issubclass(kind, exp.Func):
        return _plain_spelling(str(kind.sql_names()[0])).removeprefix("EXPLODING_")
    return kind.__name__.upper()


# Functions in the words of their dialect: sqlglot has names and an order of arguments of its own.


def write_in_dialect(w: ExpressionWriter, node: exp.Expr, role: int) -> list[TypeRule] | None:
    """Write a function as its dialect does, its arguments playing `role`; returns their types.

    None, and nothing is written, where sqlglot has no words of the dialect for it.
    """
    worded = _wording(node, w.names.dialect.sqlglot) if isinstance(node, exp.Func) else None
    if worded is None or isinstance(node, _OTHERWISE):
        return None
    words, arguments = worded
    rules: dict[int, TypeRule] = {}
    for number, part in enumerate(words):
        if isinstance(part, str):
            w.parts.append(part)
            continue
        before, after = words[number - 1], words[number + 1] if number + 1 < len(words) else ")"
        listed = str(before).endswith(("(", ", ")) and str(after).startswith((")", ","))
        rules[id(arguments[part])] = w.write(arguments[part], role, 0 if listed else ATOM)
    given = (item for value in node.args.values() for item in (value if type(value) is list else (value,)))
    return [
        literal_type(item) if type(item) is exp.Literal else rules.get(id(item))
        for item in given
        if isinstance(item, exp.Expr)
    ]


def _wording(node: exp.Expr, grammar: str) -> tuple[Wording, list[exp.Expr]] | None:
    """A function's text in its dialect, with numbers where arguments stand, and the arguments.

    None where the dialect has no words for it.
    """
    arguments: list[exp.Expr] = []
    key = (grammar, *_shape(node, arguments))
    if key not in _known:
        if len(_known) >= _MOST:  # shapes come from queries: do not grow without bound
            _known.clear()
        _known[key] = _find_wording(node, grammar, len(arguments))
    words = _known[key]
    return None if words is None else (words, arguments)


def _shape(node: exp.Expr, arguments: list[exp.Expr]) -> Iterator[object]:
    """What the words of a function depend on; its arguments are gathered in order."""
    yield type(node)
    for name, value in node.args.items():
        for item in value if type(value) is list else (value,):
            if not isinstance(item, exp.Expr):
                if item is not None and item is not False:
                    yield name, str(item)
            elif isinstance(item, _WITHIN):
                yield name, *_shape(item, arguments)
            elif _is_word(node, name, item):
                yield name, type(item), item.sql()
            elif type(item) is exp.Literal:
                yield name, exp.Literal, "text" if item.args.get("is_string") else "number"
            else:
                yield name, len(arguments)
                arguments.append(item.this if type(item) is exp.TimeStrToTime else item)


def _is_word(function: exp.Expr, name: str, part: exp.Expr) -> bool:
    """Whether a part is one of the function's words; of literals a unit of time, and the size in a digest's name."""
    if type(part) is not exp.Literal:
        return isinstance(part, _KEPT) and not may_be_text(part)
    if name == "length" and isinstance(function, _SIZED):
        return part.name in _SIZES
    return name == "unit" and not may_be_text(part)


def may_be_text(part: exp.Expr) -> bool:
    """Whether a string may stand in the statement where sqlglot has a word.

    It takes for a word whatever stands in a unit's place: `DATEDIFF('1985-03-12', born, seen)`, written for an engine
    that has the function without a unit.
    """
    around = type(part.parent)
    is_unit = part.arg_key == "unit" or around is exp.WeekStart or (around is exp.Extract and part.arg_key == "this")
    return is_unit and not DATE_PART_WORDS.issuperset(_NAME_WORD.findall(part.name.lower()))


def _stand_in(node: exp.Expr, indices: Iterator[int]) -> exp.Expr:
    """The function with names of places for arguments, and none of its literals."""
    made = type(node)()
    for name, value in node.args.items():
        parts = [_part(node, name, item, indices) for item in (value if type(value) is list else (value,))]
        made.set(name, parts if type(value) is list else parts[0])
    return made


def _part(function: exp.Expr, name: str, item: object, indices: Iterator[int]) -> object:
    if not isinstance(item, exp.Expr):
        return item
    if isinstance(item, _WITHIN):
        return _stand_in(item, indices)
    if _is_word(function, name, item):
        return item.copy()
    if type(item) is exp.Literal:
        return exp.Literal.string("__l__") if item.args.get("is_string") else exp.Literal.number(_NUMBER)
    return exp.column(f"__h{next(indices)}__")


def _find_wording(node: exp.Expr, grammar: str, count: int) -> Wording | None:
    try:
        generator = SqlglotDialect.get_or_raise(grammar).generator(unsupported_level=ErrorLevel.IGNORE)
        text = generator.generate(_stand_in(node, iter(range(count))), copy=False)
    except (SqlglotError, ValueError, AttributeError, TypeError, KeyError, IndexError):
        return None  # it cannot be written of stand-ins: some functions look into their arguments
    found = [int(index) for index in _ARGUMENT.findall(text)]
    if sorted(found) != list(range(count)):
        return None
    masked = _LITERAL.sub("?", text)
    if not _is_call(masked):
        masked = f"({masked})"
    between = _ARGUMENT.split(masked)
    return tuple(int(text) if number % 2 else text for number, text in enumerate(between) if text)


def _is_call(text: str) -> bool:
    """Whether the text is one function's call: what binds more loosely needs brackets around it."""
    name, bracket, _ = text.partition("(")
    if not bracket:
        return text.replace("_", "").isalnum()
    depth = 0
    for number, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0 and number > len(name):
            return number == len(text) - 1 and name.replace("_", "").replace(".", "").isalnum()
    return False
