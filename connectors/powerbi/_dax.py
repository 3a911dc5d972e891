"""What expressions in DAX are made of: columns whose values they give, and columns that decide about them.

`CALCULATE(SUM(Sales[Amount]), Region[Name] = "x")` gives `Sales[Amount]`, and `Region[Name]` decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from connectors.powerbi._model import SemanticModel

_TOKEN = re.compile(
    r"\s+|//[^\n]*|--[^\n]*|/\*"
    r"|\"(?P<text>(?:[^\"]|\"\")*+)\"|'(?P<quoted>(?:[^']|'')*+)'|\[(?P<column>(?:[^\]]|\]\])*+)\]"
    r"|\.\s*\[(?P<part>(?:[^\]]|\]\])*+)\]"
    r"|(?P<number>\d++(?:\.\d*+)?(?:[eE][+-]?\d+)?|\.\d+)"
    r"|(?P<word>[^\W\d][\w.]*+)"
    r"|(?P<sign>&&|\|\||<>|<=|>=|==|[-+*/^&=<>(){},;@:%!?~#$|])"
)
_DEEPEST_DAX = 120
_MOST_CALLS = 2_000
"""Of functions of a model's own, in one expression: those that call each other twice give more."""
_LONGEST_DAX = 1 << 20
_AGGREGATES: Mapping[str, str] = {
    **dict.fromkeys(("AVERAGE", "AVERAGEA"), "AVG"),
    **dict.fromkeys(("COUNT", "COUNTA", "COUNTBLANK"), "COUNT"),
    **dict.fromkeys(("DISTINCTCOUNT", "DISTINCTCOUNTNOBLANK", "APPROXIMATEDISTINCTCOUNT"), "COUNT DISTINCT"),
    **dict.fromkeys(("MAX", "MAXA", "PERCENTILE.INC", "PERCENTILE.EXC", "PRODUCT"), "MAX"),
    **dict.fromkeys(("MIN", "MINA"), "MIN"),
    **dict.fromkeys(("STDEV.P", "STDEV.S"), "STDDEV"),
    **dict.fromkeys(("VAR.P", "VAR.S"), "VARIANCE"),
    "MEDIAN": "MEDIAN",
    "SUM": "SUM",
}
_OVER_ROWS: Mapping[str, str] = {
    **dict.fromkeys(("COUNTX", "COUNTAX"), "COUNT"),
    **dict.fromkeys(("CONCATENATEX", "MAXX", "PRODUCTX", "RANKX", "GEOMEANX"), "MAX"),
    **dict.fromkeys(("PERCENTILEX.INC", "PERCENTILEX.EXC"), "MAX"),
    **dict.fromkeys(("STDEVX.P", "STDEVX.S"), "STDDEV"),
    **dict.fromkeys(("VARX.P", "VARX.S"), "VARIANCE"),
    "AVERAGEX": "AVG",
    "MEDIANX": "MEDIAN",
    "MINX": "MIN",
    "SUMX": "SUM",
}
"""Functions that go over the rows of a table, with the aggregate that is taken of what they find."""
_FIRST_ALONE = frozenset(
    {
        "CALCULATE",
        "CALCULATETABLE",
        "FILTER",
        "LOOKUPVALUE",
        "TOTALMTD",
        "TOTALQTD",
        "TOTALYTD",
        *(f"{name}BALANCE{period}" for name in ("OPENING", "CLOSING") for period in ("MONTH", "QUARTER", "YEAR")),
    }
)
"""Functions whose first argument is the value, and of which the others decide."""
_BY_ROW = frozenset(
    {"ADDCOLUMNS", "FILTER", "GENERATE", "GENERATEALL", "GROUPBY", "SELECTCOLUMNS", "SUMMARIZE", "TOPN"}
)
"""Functions whose first table is what columns without a table are of in the others."""
_WITH_NAMES = frozenset({"ADDCOLUMNS", "DATATABLE", "GROUPBY", "ROW", "SELECTCOLUMNS", "SUMMARIZE", "SUMMARIZECOLUMNS"})
"""Functions that name the columns that they make: `"gmv", SUM(Sales[Amount])`."""
_ONE_COLUMN: Mapping[str, str] = {"CALENDAR": "date", "CALENDARAUTO": "date", "GENERATESERIES": "value"}
"""Functions that make a table of one column, and what that is called."""
_AS_IT_IS = frozenset({"RELATED", "VALUES", "DISTINCT", "SELECTEDVALUE"})
_ENDS = frozenset({")", "}", ",", ";"})
_OPERATORS = frozenset({"AND", "OR", "NOT", "IN"})


class NotDax(Exception):
    """A text that is none of DAX, is cut, or goes too deep."""


@dataclass(frozen=True, slots=True)
class DaxColumn:
    """A column of a model's table, with the aggregate that is taken of it ("" of one that is not)."""

    table: str
    column: str
    aggregate: str = ""


@dataclass(frozen=True, slots=True)
class DaxValue:
    """What an expression gives: the columns that are its value, those that decide, the tables that it names.

    `is_whole`: the value is one column as it is. `lost`: names in it that mean nothing in the model, or several things.
    """

    values: tuple[DaxColumn, ...] = ()
    deciding: tuple[DaxColumn, ...] = ()
    tables: tuple[str, ...] = ()
    is_whole: bool = False
    lost: int = 0

    def as_condition(self) -> DaxValue:
        """The same where it decides alone."""
        plain = (replace(one, aggregate="") for one in (*self.values, *self.deciding))
        return replace(self, values=(), deciding=tuple(dict.fromkeys(plain)), is_whole=False)

    def aggregate_by(self, name: str) -> DaxValue:
        """The same over many rows."""
        values = (replace(one, aggregate=one.aggregate or name) for one in self.values)
        return replace(self, values=tuple(dict.fromkeys(values)), is_whole=False)


def _all_of(parts: Iterable[DaxValue]) -> DaxValue:
    several = tuple(parts)
    if len(several) == 1:
        return several[0]
    return DaxValue(
        tuple(dict.fromkeys(column for one in several for column in one.values)),
        tuple(dict.fromkeys(column for one in several for column in one.deciding)),
        tuple(dict.fromkeys(table for one in several for table in one.tables)),
        lost=sum(one.lost for one in several),
    )


@dataclass(slots=True)
class DaxModel:
    """The names that expressions of a model are about; DAX does not tell capitals from small letters.

    `measures`: by name, each with its home table, whose columns go without a name in it; with those of a report that a
    model does not have.
    """

    model: SemanticModel
    measures: dict[str, tuple[str, str]] = field(default_factory=dict)
    tables: dict[str, str] = field(default_factory=dict)
    columns: dict[tuple[str, str], DaxColumn] = field(default_factory=dict)
    functions: dict[str, str] = field(default_factory=dict)
    depth: int = 0
    calls: int = 0
    _known: dict[str, DaxValue] = field(default_factory=dict)
    _open: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.functions = {name.lower(): text for name, text in self.model.functions.items()}
        for table in self.model.tables:
            self.tables[table.name.lower()] = table.name
            for column in table.columns:
                self.columns[table.name.lower(), column.name.lower()] = DaxColumn(table.name, column.name)
            for measure in table.measures:
                self.measures.setdefault(measure.name.lower(), (measure.expression, table.name))

    def measure(self, name: str) -> DaxValue | None:
        """What a measure is made of, None where there is none of this name. Raises NotDax."""
        key = name.lower()
        if key not in self._known:
            if key not in self.measures or key in self._open:
                return None
            self._open.add(key)
            try:
                self._known[key] = self.value(*self.measures[key]).aggregate_by("MAX")
            finally:
                self._open.discard(key)
        return self._known[key]

    def value(self, text: str, table: str = "") -> DaxValue:
        """What an expression of a `table` gives. Raises NotDax."""
        return _read(self, text, table).expression()

    def table(self, text: str) -> tuple[DaxValue, Mapping[str, DaxValue | None]]:
        """What a table is made of, and each of the columns that the expression names. Raises NotDax."""
        reader = _read(self, text, "")
        if reader.peek() == ("sign", "{"):
            return reader.values()
        return reader.expression(), reader.named

    def column(self, table: str, column: str) -> DaxColumn | None:
        """A column of a table."""
        return self.columns.get((table.lower(), column.lower()))


def _read(model: DaxModel, text: str, table: str) -> _DaxReader:
    if len(text) > _LONGEST_DAX:
        raise NotDax
    if not model.depth:
        model.calls = 0
    return _DaxReader(model, list(_tokens(text)), rows=[table] if table else [])


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise NotDax
        at = match.end()
        if match[0] == "/*":
            at = text.find("*/", at) + 2
            if at < 2:
                raise NotDax
        kind = match.lastgroup
        if kind is not None:
            yield kind, match[kind]


@dataclass(slots=True)
class _DaxReader:
    """Tokens, how far they are read, and what they have named so far.

    `rows`: the tables over whose rows is gone, the innermost last. `named`: columns by the names that the expression
    gives them, None of a name that stands for several.
    """

    model: DaxModel
    tokens: list[tuple[str, str]]
    at: int = 0
    rows: list[str] = field(default_factory=list)
    variables: dict[str, DaxValue] = field(default_factory=dict)
    named: dict[str, DaxValue | None] = field(default_factory=dict)

    def peek(self, ahead: int = 0) -> tuple[str, str]:
        at = self.at + ahead
        return self.tokens[at] if at < len(self.tokens) else ("end", "")

    def expression(self) -> DaxValue:
        """An expression, as far as it goes."""
        self.model.depth += 1
        try:
            if self.model.depth > _DEEPEST_DAX:
                raise NotDax
            return self._variables() if self._is_word("VAR") else self._operands()
        finally:
            self.model.depth -= 1

    def values(self) -> tuple[DaxValue, Mapping[str, DaxValue | None]]:
        """A table made of values, `{ ("gmv", NAMEOF([Gmv])), … }`: its columns are called Value1, Value2, or Value."""
        self._take("{")
        rows: list[tuple[DaxValue, ...]] = []
        while self.peek() != ("sign", "}"):
            rows.append(tuple(self._row()))
            if self.peek() != ("sign", "}"):
                self._take_separator()
        self._take("}")
        columns = [_all_of([DaxValue(), *column]) for column in zip(*rows, strict=False)]
        names = [f"value{number}" for number in range(1, len(columns) + 1)] if len(columns) > 1 else ["value"]
        return _all_of([DaxValue(), *columns]), dict(zip(names, columns, strict=False))

    def _row(self) -> Iterator[DaxValue]:
        """One row of such a table: its values in parentheses, or one without."""
        begin = self.at
        if self.peek() == ("sign", "("):
            self.at += 1
            several = list(self._arguments(")"))
            if self.peek() in (("sign", ","), ("sign", ";"), ("sign", "}")):
                yield from several
                return
            self.at = begin  # ("a") & "b"
        yield self.expression()

    def _take_separator(self) -> None:
        if self.peek() not in (("sign", ","), ("sign", ";")):
            raise NotDax
        self.at += 1

    def _is_word(self, word: str) -> bool:
        kind, text = self.peek()
        return kind == "word" and text.upper() == word

    def _variables(self) -> DaxValue:
        while self._is_word("VAR"):
            name = self.peek(1)[1].lower()
            if self.peek(2) != ("sign", "="):
                raise NotDax
            self.at += 3
            self.variables[name] = self.expression()
        if not self._is_word("RETURN"):
            raise NotDax
        self.at += 1
        return self.expression()

    def _operands(self) -> DaxValue:
        found: list[DaxValue] = []
        operators = 0
        while True:
            kind, text = self.peek()
            if kind == "end" or (kind == "sign" and text in _ENDS) or self._is_word("VAR") or self._is_word("RETURN"):
                break
            if (kind == "sign" and text not in "({") or (kind == "word" and text.upper() in _OPERATORS):
                self.at += 1
                operators += 1
            else:
                found.append(self._part_of(self._operand()))
        whole = _all_of(found) if found else DaxValue()
        return replace(whole, is_whole=False) if operators else whole

    def _part_of(self, found: DaxValue) -> DaxValue:
        """What `.[Month]` behind a date's column gives: it is made of that column, by a table that Power BI made."""
        if self.peek()[0] != "part" or self.tokens[self.at - 1][0] != "column":
            return found
        self.at += 1
        return replace(found, is_whole=False)

    def _operand(self) -> DaxValue:
        kind, text = self.peek()
        self.at += 1
        if kind in ("text", "number"):
            return DaxValue()
        if kind == "part":
            raise NotDax
        if kind == "sign":
            return self._inner() if text == "(" else _all_of([DaxValue(), *self._arguments("}")])
        if kind == "column":
            return self._bare_name(text.replace("]]", "]"))
        if kind == "quoted":
            return self._table(text.replace("''", "'"))
        if self.peek() == ("sign", "("):
            self.at += 1
            own = self.model.functions.get(text.lower())
            return self._call(text.upper()) if own is None else self._call_own(own)
        return self._word(text)

    def _inner(self) -> DaxValue:
        """What stands in parentheses: an expression, or several, as a row of them has."""
        several = list(self._arguments(")"))
        return several[0] if len(several) == 1 else _all_of([DaxValue(), *several])

    def _arguments(self, closing: str) -> Iterator[DaxValue]:
        while self.peek() != ("sign", closing):
            yield self.expression()
            if self.peek() not in (("sign", ","), ("sign", ";")):
                break
            self.at += 1
        if self.peek() != ("sign", closing):
            raise NotDax
        self.at += 1

    def _word(self, text: str) -> DaxValue:
        variable = self.variables.get(text.lower())
        if variable is None:
            return self._table(text)
        if self.peek()[0] != "column":
            return variable
        name = self.peek()[1].replace("]]", "]")
        self.at += 1
        found = self._own_name(name) or self._of_tables(variable.tables, name)
        return found if found is not None else replace(variable, is_whole=False)

    def _table(self, name: str) -> DaxValue:
        """A table, or the column of it that stands behind; a word that is none is a constant."""
        table = self.model.tables.get(name.lower())
        if self.peek()[0] != "column":
            return DaxValue(tables=(table,)) if table is not None else DaxValue()
        column = self.peek()[1].replace("]]", "]")
        self.at += 1
        found = self.model.column(name, column)
        if found is not None:
            return DaxValue((found,), tables=(found.table,), is_whole=True)
        measure = self.model.measure(column)
        if measure is not None:
            return measure
        return self._own_name(column) or DaxValue(lost=1)

    def _own_name(self, name: str) -> DaxValue | None:
        return self.named.get(name.lower())

    def _of_tables(self, tables: Iterable[str], name: str) -> DaxValue | None:
        found = [column for one in tables if (column := self.model.column(one, name)) is not None]
        return DaxValue((found[0],), tables=(found[0].table,), is_whole=True) if len(found) == 1 else None

    def _bare_name(self, name: str) -> DaxValue:
        """`[name]`: a measure, a column that the expression made, one of the rows at hand."""
        found = self._own_name(name) or self.model.measure(name)
        if found is None:
            of_rows = (self._of_tables((table,), name) for table in reversed(self.rows))
            found = next((one for one in of_rows if one is not None), None)
        return found if found is not None else DaxValue(lost=1)

    def _call(self, name: str) -> DaxValue:
        if name == "UNION":
            return self._unite()
        begin = len(self.rows)
        given: list[DaxValue] = []
        pending = ""
        for value, text in self._named_arguments():
            if pending:
                self._give_name(pending, value)
                pending = ""
            elif name in _WITH_NAMES:
                pending = text
            given.append(value)
            if (name in _OVER_ROWS or name in _BY_ROW) and value.tables and len(self.rows) == begin:
                self.rows += value.tables
        del self.rows[begin:]
        if name in _ONE_COLUMN and _ONE_COLUMN[name] not in self.model.measures:
            self._give_name(_ONE_COLUMN[name], _all_of([DaxValue(), *given]).as_condition())
        return _result(name, given)

    def _call_own(self, text: str) -> DaxValue:
        """A call of a function of the model's own: `(amount: NUMERIC, day: COLUMNREF = Day[Date]) => …`."""
        given = [value for value, _text in self._named_arguments()]
        self.model.calls += 1
        if self.model.calls > _MOST_CALLS:
            raise NotDax
        inner = _read(self.model, text, "")
        parameters = inner.parameters()
        inner.variables = {**parameters, **dict(zip(parameters, given, strict=False))}
        return replace(inner.expression(), is_whole=False)

    def parameters(self) -> Mapping[str, DaxValue]:
        """The parameters that a function begins with, each with its default; the `=>` behind them is read too."""
        found: dict[str, DaxValue] = {}
        self._take("(")
        while self.peek() != ("sign", ")"):
            name = self.peek()[1].lower()
            self.at += 1
            if self.peek() == ("sign", ":"):
                self.at += 1
                while self.peek()[0] == "word":
                    self.at += 1
            found[name] = DaxValue()
            if self.peek() == ("sign", "="):
                self.at += 1
                found[name] = self.expression()
            if self.peek() != ("sign", ")"):
                self._take(",")
        for sign in (")", "=", ">"):
            self._take(sign)
        return found

    def _take(self, sign: str) -> None:
        if self.peek() != ("sign", sign):
            raise NotDax
        self.at += 1

    def _unite(self) -> DaxValue:
        """`UNION(…, …)`: where each of the tables names the same columns, each is made of that of all."""
        before, parts, given = self.named, [], []
        self.named = dict(before)
        for value, _text in self._named_arguments():
            given.append(value)
            parts.append({name: one for name, one in self.named.items() if name not in before})
            self.named = dict(before)
        is_alike = all(list(one) == list(parts[0]) for one in parts)
        for name in dict.fromkeys(name for one in parts for name in one):
            several = [one[name] for one in parts if name in one]
            known = [one for one in several if one is not None]
            if len(known) < len(several) or not (is_alike or all(one == known[0] for one in known)):
                self.named[name] = None
            else:
                self.named[name] = _all_of(dict.fromkeys(known))
        return _result("UNION", given)

    def _named_arguments(self) -> Iterator[tuple[DaxValue, str]]:
        """The arguments of a call, each with the text that it is where it is no more than one."""
        while self.peek() != ("sign", ")"):
            kind, text = self.peek()
            is_text = kind == "text" and self.peek(1) in (("sign", ","), ("sign", ";"))
            yield self.expression(), text.replace('""', '"') if is_text else ""
            if self.peek() not in (("sign", ","), ("sign", ";")):
                break
            self.at += 1
        if self.peek() != ("sign", ")"):
            raise NotDax
        self.at += 1

    def _give_name(self, name: str, value: DaxValue) -> None:
        key = name.lower()
        self.named[key] = value if self.named.get(key, value) == value else None


def _result(name: str, given: list[DaxValue]) -> DaxValue:
    """What a function makes of its arguments."""
    if not given:
        return DaxValue()
    if name in _AGGREGATES:
        return _all_of(given).aggregate_by(_AGGREGATES[name])
    if name in _OVER_ROWS:
        over, *others = given
        values = [one.aggregate_by(_OVER_ROWS[name]) for one in others[:1]]
        return _all_of([over.as_condition(), *values, *(one.as_condition() for one in others[1:])])
    if name == "COUNTROWS":
        return given[0].aggregate_by("COUNT")
    if name in _FIRST_ALONE:
        return _all_of([given[0], *(one.as_condition() for one in given[1:])])
    if name in ("IF", "IF.EAGER"):
        return _all_of([given[0].as_condition(), *given[1:]])
    if name == "SWITCH":
        return _all_of([given[0].as_condition(), *_cases(given[1:])])
    if name == "TOPN":
        return _all_of([given[0].as_condition(), *given[1:2], *(one.as_condition() for one in given[2:])])
    if name == "NAMEOF":
        return given[0].as_condition()
    whole = _all_of(given)
    return whole if name in _AS_IT_IS and len(given) == 1 else replace(whole, is_whole=False)


def _cases(given: list[DaxValue]) -> Iterator[DaxValue]:
    """The arguments of SWITCH behind its first: a test and a result in turn, and what is left."""
    for at, one in enumerate(given):
        is_test = at % 2 == 0 and at + 1 < len(given)
        yield one.as_condition() if is_test else one
