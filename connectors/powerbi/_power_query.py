"""What queries in M read: the tables and native queries that they begin with, and what becomes of the columns.

`Table.RenameColumns(Sql.Database(s, "shop"){[Schema="dbo",Item="orders"]}[Data], {{"total", "Amount"}})` has the column
Amount, which is `total` of `shop.dbo.orders`. A step that is not known leaves its tables, and of columns nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from connectors.platforms.power_query import CONNECTORS, DATABASE, QUERIES, REMOTE_MODELS, SCHEMA, TABLE
from connectors.powerbi._m import (
    CallValue,
    Choice,
    Constant,
    FieldOf,
    FieldsOf,
    FunctionValue,
    ItemOf,
    Let,
    ListValue,
    NameOf,
    Node,
    NotPowerQuery,
    Operation,
    RecordValue,
    TextValue,
    TryValue,
    parse_m,
)
from connectors.powerbi._made import Made, ModelRows, RowOrigin, UnreadableQuery, join_made, rows_of, unite

_DEEPEST_EXPRESSION = 60
_MOST_STEPS = 200_000
_UNKNOWN_TEXT = "{{ parameter }}"
"""What stands in SQL for a value that is not known: a template, which is what such a text is."""
_DATA = "Data"
_ID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")
"""What Fabric connects to in place of a database's name."""
_REMOTE = "another semantic model"
_NAMING = frozenset({"name", "item", "schema", "id"})
"""Fields of a record by which a database is entered."""
_AS_TEXT = frozenset({"Text.From", "Number.ToText", "Text.Trim"})


@dataclass(frozen=True, slots=True)
class Navigation:
    """A way into a database, as far as names have led: the type of connection, and the name of each level."""

    connection: str
    levels: tuple[str, ...]
    names: Mapping[str, str] = field(default_factory=dict)

    def deeper(self, selector: Mapping[str, Value]) -> Navigation:
        """The same, one record of names further."""
        given = {key.lower(): value for key, value in selector.items() if isinstance(value, str)}
        if "item" in given:
            return self._with({SCHEMA: given.get("schema") or self.names.get(SCHEMA, ""), TABLE: given["item"]})
        if "id" in given and "itemkind" in given:
            return self._with({TABLE: given["id"]})
        if "name" in given:
            kind = given.get("kind", "").lower()
            level = kind if kind in (DATABASE, SCHEMA) else TABLE if kind else ""
            waiting = [one for one in self.levels if one not in self.names]
            return self._with({level or (waiting[0] if waiting else TABLE): given["name"]})
        return self._with({SCHEMA: given["schema"]}) if "schema" in given else self

    def _with(self, names: Mapping[str, str]) -> Navigation:
        return replace(self, names={**self.names, **names})

    def rows(self) -> ModelRows | None:
        """The table that names lead to; None where they do not go so far."""
        if not self.names.get(TABLE):
            return None
        path = tuple(self.names.get(level, "") for level in (DATABASE, SCHEMA, TABLE))
        return rows_of(RowOrigin(self.connection, path))

    def native(self, text: str) -> ModelRows:
        """The rows of a query in the database's own SQL."""
        return rows_of(RowOrigin(self.connection, (self.names.get(DATABASE, ""),), text))

    def unknown_rows(self) -> ModelRows:
        """Rows behind a name that is not known, which no default may stand for: a template, as such a text is."""
        return self.native(_sql(None)).opaque("a name that is not known")


@dataclass(frozen=True, slots=True)
class RemoteModel:
    """A table of another semantic model, whose name is the last that was given."""

    name: str = ""


@dataclass(eq=False, slots=True)
class QueryScope:
    """Names with what they stand for: expressions that are looked at when they are asked for, or values.

    `calls`: what each call in it gave, by the node, so that none is looked at twice.
    """

    nodes: Mapping[str, Node] = field(default_factory=dict)
    values: dict[str, Value] = field(default_factory=dict)
    above: QueryScope | None = None
    open: set[str] = field(default_factory=set)
    calls: dict[int, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Closure:
    """A function with the names that it sees."""

    function: FunctionValue
    scope: QueryScope


Value = str | ModelRows | Navigation | RemoteModel | Closure | list["Value"] | dict[str, "Value"] | None
"""What an expression gives, None where that is not known."""


@dataclass(slots=True)
class PowerQueries:
    """The queries of a model by their names, which see each other.

    `connection`: whose SQL it is where a connector does not tell. `databases`: what databases are called besides.
    `steps`: what functions over tables do, None of those that cannot be told what they do.
    """

    texts: Mapping[str, str]
    connection: str
    steps: Mapping[str, Callable[[StepArguments], ModelRows | None]]
    databases: Mapping[str, str] = field(default_factory=dict)
    values: dict[str, Value] = field(default_factory=dict)
    _open: set[str] = field(default_factory=set)
    _depth: int = 0
    _steps: int = 0

    def query(self, name: str) -> Value:
        """What a query of a name gives. Raises UnreadableQuery."""
        if name not in self.values:
            if name not in self.texts or name in self._open:
                return None
            self._open.add(name)
            self.values[name] = self.value_of(self.texts[name])
            self._open.discard(name)
        return self.values[name]

    def value_of(self, text: str) -> Value:
        """What a text in M gives. Raises UnreadableQuery."""
        try:
            parsed = parse_m(text)
        except NotPowerQuery:
            raise UnreadableQuery("not_power_query") from None
        if not self._depth:
            self._steps = 0
        return self.value(parsed, QueryScope())

    def rows_of(self, value: Value) -> ModelRows | None:
        """The table that a value is."""
        if isinstance(value, Navigation):
            return value.rows()
        if isinstance(value, RemoteModel):
            return ModelRows(unknown=(_REMOTE,))
        return value if isinstance(value, ModelRows) else None

    def value(self, node: Node | None, scope: QueryScope) -> Value:
        """What an expression gives. Raises UnreadableQuery of one that goes too deep, or on without end."""
        self._steps += 1
        if self._depth > _DEEPEST_EXPRESSION or self._steps > _MOST_STEPS:
            raise UnreadableQuery("depth")
        self._depth += 1
        try:
            return self._value(node, scope)
        finally:
            self._depth -= 1

    def _value(self, node: Node | None, scope: QueryScope) -> Value:
        match node:
            case TextValue():
                return node.text
            case NameOf(name=name):
                return self._look_up(name, scope)
            case Let(bindings=bindings, body=body):
                return self._let(QueryScope(bindings, above=scope), body)
            case CallValue():
                if id(node) not in scope.calls:
                    scope.calls[id(node)] = self._call(node, scope)
                return scope.calls[id(node)]
            case FieldOf(row=row, name=name):
                return _field(self.value(row, scope), name)
            case FieldsOf(row=row, names=names):
                return _select(self.rows_of(self.value(row, scope)), names)
            case ItemOf(table=table, selector=selector):
                return self._item(self.value(table, scope), self.value(selector, scope))
            case ListValue(items=items):
                return [self.value(one, scope) for one in items]
            case RecordValue(fields=fields):
                return {name: self.value(one, scope) for name, one in fields.items()}
            case FunctionValue():
                return Closure(node, scope)
            case TryValue(one=one):
                return self.value(one, scope)
            case Choice():
                return self._choose(node, scope)
        return self._operation(node, scope) if isinstance(node, Operation) else None

    def _let(self, scope: QueryScope, body: Node) -> Value:
        """The steps in the order in which they are written, so that a long query is no deep one."""
        for name, node in scope.nodes.items():
            if not isinstance(node, FunctionValue):
                self._look_up(name, scope)
        return self.value(body, scope)

    def _look_up(self, name: str, scope: QueryScope) -> Value:
        looked: QueryScope | None = scope
        while looked is not None:
            if name in looked.values:
                return looked.values[name]
            if name in looked.nodes:
                if name in looked.open:
                    return None
                looked.open.add(name)
                found = self.value(looked.nodes[name], looked)
                looked.open.discard(name)
                looked.values[name] = found
                return found
            looked = looked.above
        return self.query(name)

    def _item(self, value: Value, selector: Value) -> Value:
        if isinstance(value, Navigation) and isinstance(selector, dict):
            if not all(isinstance(one, str) for key, one in selector.items() if key.lower() in _NAMING):
                return value.unknown_rows()
            return self._as_catalog_calls(value.deeper(selector))
        if isinstance(value, RemoteModel):
            names = selector.values() if isinstance(selector, dict) else ()
            return RemoteModel(next((one for one in names if isinstance(one, str)), value.name))
        return value.opaque("a row by its number") if isinstance(value, ModelRows) else None

    def _as_catalog_calls(self, found: Navigation) -> Navigation:
        """The same in a database as the catalog calls it, in none that is known where only the id of one is given."""
        database = found.names.get(DATABASE)
        if database is None or (database not in self.databases and not _ID.match(database)):
            return found
        return replace(found, names={**found.names, DATABASE: self.databases.get(database, "")})

    def _choose(self, node: Choice, scope: QueryScope) -> Value:
        """What a choice gives: the side that a comparison of texts decides for, else what both sides give alike."""
        waiting: list[Node] = []
        for condition, value in node.cases:
            holds = self._holds(condition, scope)
            if holds is not False:
                waiting.append(value)
            if holds:
                break
        else:
            waiting.append(node.other)
        sides = [self.value(one, scope) for one in waiting]
        if len(sides) == 1 or (isinstance(sides[0], Navigation | str) and all(one == sides[0] for one in sides)):
            return sides[0]
        return ModelRows(unknown=("if",)) if any(isinstance(one, ModelRows | Navigation) for one in sides) else None

    def _holds(self, condition: Node, scope: QueryScope) -> bool | None:
        """Whether a comparison of two texts that are known holds, None of any other condition."""
        if not isinstance(condition, Operation) or condition.signs not in (("=",), ("<>",)):
            return None
        one, other = (self.value(each, scope) for each in condition.operands)
        if not isinstance(one, str) or not isinstance(other, str):
            return None
        return (one == other) == (condition.signs == ("=",))

    def _operation(self, node: Operation, scope: QueryScope) -> Value:
        if node.signs[0] in ("meta", "??"):
            return self.value(node.operands[0], scope)
        if set(node.signs) != {"&"}:
            return None
        values = [self.value(one, scope) for one in node.operands]
        tables = [rows for value in values if (rows := self.rows_of(value)) is not None]
        if len(tables) == len(values):
            return unite(tables)
        if any(isinstance(one, str) for one in values):
            return "".join(one if isinstance(one, str) else _UNKNOWN_TEXT for one in values)
        lists = [one for one in values if isinstance(one, list)]
        return [each for one in lists for each in one] if len(lists) == len(values) else None

    def _call(self, node: CallValue, scope: QueryScope) -> Value:
        name = node.name
        if name in CONNECTORS:
            return self._connect(name, [self.value(one, scope) for one in node.arguments])
        if name in QUERIES:
            text = self.value(node.arguments[1], scope) if len(node.arguments) > 1 else None
            return Navigation(QUERIES[name] or self.connection, ()).native(_sql(text))
        if name in REMOTE_MODELS:
            if len(node.arguments) > 2:
                return ModelRows(unknown=(name,))  # with a query in a language of its own
            named = self.value(node.arguments[1], scope) if len(node.arguments) > 1 else None
            return RemoteModel(named if isinstance(named, str) else "")
        if name == "Value.NativeQuery" and len(node.arguments) > 1:
            target, text = (self.value(one, scope) for one in node.arguments[:2])
            return target.native(_sql(text)) if isinstance(target, Navigation) else ModelRows(unknown=(name,))
        if name in _AS_TEXT and node.arguments:
            first = node.arguments[0]
            return first.text if isinstance(first, Constant) and first.text else self.value(first, scope)
        if name in self.steps:
            found = self.steps[name](StepArguments(self, node.arguments, scope))
            return found if found is not None else self._without_columns(name, node, scope)
        function = self.value(node.function, scope)
        if isinstance(function, Closure):
            given = (self.value(one, scope) for one in node.arguments)
            return self.value(
                function.function.body,
                QueryScope(values=dict(zip(function.function.parameters, given, strict=False)), above=function.scope),
            )
        return self._without_columns(name, node, scope)

    def _without_columns(self, name: str, node: CallValue, scope: QueryScope) -> ModelRows:
        """What a step gives that is not known: the tables that it is given, and no column."""
        tables = [rows for one in node.arguments for rows in self._tables(self.value(one, scope))]
        unknown = tuple(dict.fromkeys((*(step for one in tables for step in one.unknown), name or "a function")))
        origins = tuple(dict.fromkeys(origin for one in tables for origin in one.origins))
        return ModelRows(origins, conditions=tuple(made for one in tables for made in one.conditions), unknown=unknown)

    def _tables(self, value: Value) -> Iterator[ModelRows]:
        if isinstance(value, list):
            for one in value:
                yield from self._tables(one)
        rows = self.rows_of(value)
        if rows is not None:
            yield rows

    def _connect(self, name: str, given: list[Value]) -> Value:
        facts = CONNECTORS[name]
        options = next((one for one in given if isinstance(one, dict)), {})
        names: dict[str, str] = {}
        if facts.database is not None and len(given) > facts.database:
            database = given[facts.database]
            if not isinstance(database, str):
                return Navigation(facts.connection or self.connection, facts.levels).unknown_rows()
            names[DATABASE] = database
        for key, level in (("Catalog", DATABASE), ("BillingProject", "")):
            if level and isinstance(options.get(key), str):
                names[level] = str(options[key])
        found = self._as_catalog_calls(Navigation(facts.connection or self.connection, facts.levels, names))
        return found.native(_sql(options["Query"])) if "Query" in options else found


def _sql(text: Value) -> str:
    return text if isinstance(text, str) and text.strip() else f"SELECT {_UNKNOWN_TEXT}"


def _field(value: Value, name: str) -> Value:
    if isinstance(value, Navigation | RemoteModel):
        return value
    if isinstance(value, dict):
        return value.get(name)
    if isinstance(value, ModelRows):
        return value.nested.get(name) or (value if name == _DATA and value.unknown else None)
    return None


def _select(rows: ModelRows | None, names: tuple[str, ...]) -> ModelRows | None:
    if rows is None:
        return None
    return rows.with_columns(lambda name: rows.column(name) if name in names else None, names)


# What steps are given, and what an expression over a row is made of.


@dataclass(frozen=True, slots=True)
class StepArguments:
    """What a function over tables is called with."""

    queries: PowerQueries
    nodes: tuple[Node, ...]
    scope: QueryScope

    def value(self, at: int) -> Value:
        """An argument, None where it is left out or not known."""
        return self.queries.value(self.nodes[at], self.scope) if at < len(self.nodes) else None

    def rows(self, at: int) -> ModelRows | None:
        """The table that an argument is."""
        return self.queries.rows_of(self.value(at))

    def text(self, at: int) -> str | None:
        """The text that an argument is."""
        found = self.value(at)
        return found if isinstance(found, str) else None

    def names(self, at: int) -> tuple[str, ...] | None:
        """The names that an argument lists, or the one that it is; None where one of them is not known."""
        found = self.value(at)
        several = found if isinstance(found, list) else [found]
        names = tuple(one for one in several if isinstance(one, str))
        return names if len(names) == len(several) else None

    def entries(self, at: int) -> tuple[tuple[Node, ...], ...] | None:
        """The lists in a list, `{{"a", each _}, …}`, or the one that stands there alone; None of anything else."""
        node = self.nodes[at] if at < len(self.nodes) else None
        if not isinstance(node, ListValue):
            return None
        if all(isinstance(one, ListValue) for one in node.items):
            return tuple(one.items for one in node.items if isinstance(one, ListValue))
        return (node.items,)

    def made_of(self, node: Node | None, rows: ModelRows) -> Made:
        """What a function, or an expression, over a row of these gives."""
        if isinstance(node, FunctionValue):
            return _RowExpression(rows, frozenset(node.parameters), self.queries, self.scope).made_of(node.body)
        return _RowExpression(rows, frozenset(), self.queries, self.scope).made_of(node)


@dataclass(frozen=True, slots=True)
class _RowExpression:
    """The row that an expression is about: its rows, and the names that it goes by, `_` where `[x]` is of it."""

    rows: ModelRows
    names: frozenset[str]
    queries: PowerQueries
    scope: QueryScope

    def made_of(self, node: Node | None, depth: int = 0) -> Made:
        """What the expression gives is made of; what a condition in it reads decides."""
        if depth > _DEEPEST_EXPRESSION:
            raise UnreadableQuery("depth")
        match node:
            case FieldOf(row=row, name=name):
                return self._field(row, name, depth)
            case FieldsOf(row=None, names=names) if "_" in self.names:
                return join_made(self._column(name) for name in names)
            case Choice(cases=cases, other=other):
                values = [self.made_of(value, depth + 1) for value in (*(one for _test, one in cases), other)]
                return join_made((*values, *(self.made_of(test, depth + 1).as_condition() for test, _one in cases)))
            case FunctionValue(parameters=parameters, body=body):
                inner = replace(self, names=self.names - set(parameters))
                return inner.made_of(body, depth + 1).as_part()
        return join_made(self.made_of(one, depth + 1) for one in _parts(node))

    def _field(self, row: Node | None, name: str, depth: int) -> Made:
        if row is None:
            return self._column(name) if "_" in self.names else Made()
        if isinstance(row, NameOf):
            if row.name in self.names:
                return self._column(name)
            other = self.queries.rows_of(self.queries.value(row, self.scope))
            found = other.column(name) if other is not None else None
            return found.as_part() if found is not None else Made()
        return self.made_of(row, depth + 1).as_part()

    def _column(self, name: str) -> Made:
        found = self.rows.column(name)
        return found if found is not None else Made()


def _parts(node: Node | None) -> tuple[Node, ...]:
    match node:
        case CallValue(function=function, arguments=arguments):
            return (function, *arguments)
        case ItemOf(table=table, selector=selector):
            return (table, selector)
        case ListValue(items=items):
            return items
        case RecordValue(fields=fields):
            return tuple(fields.values())
        case Let(bindings=bindings, body=body):
            return (*bindings.values(), body)
        case Operation(operands=operands):
            return operands
        case TryValue(one=one, other=other):
            return (one,) if other is None else (one, other)
    return ()
