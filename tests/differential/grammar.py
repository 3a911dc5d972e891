"""Random SELECTs over a random schema: every construct that lineage has a rule for."""

from __future__ import annotations

from collections.abc import Sequence

from tests.differential.choices import Choices
from tests.differential.grammar_expressions import Expressions
from tests.differential.grammar_relations import Relations
from tests.differential.grammar_scope import Flavour, Names, Scope
from tests.differential.schemas import INT, INTS, PAIR, TEXT, Columns, Schema

_DEEPEST = 4
_LONGEST = 3500


class Grammar:
    """Makes one statement. The same bytes and another `names` make the same statement under other aliases.

    With `inlined` the bodies of WITH items stand where they are read, which needs names that do not collide.
    """

    def __init__(
        self, choices: Choices, schema: Schema, flavour: Flavour, names: Names | None = None, *, inlined: bool = False
    ) -> None:
        self.choices = choices
        self.schema = schema
        self.flavour = flavour
        self.names = names or Names()
        self.inlined = inlined
        self.bodies: dict[str, tuple[str, str]] = {}  # of WITH items: the query and the column list
        self.read: set[str] = set()  # WITH items that are read somewhere
        self.expressions = Expressions(self)
        self.relations = Relations(self)
        self._depth = 0
        self._nested = 0

    def statement(self) -> str:
        """A query with or without WITH."""
        return self.query(Scope({}), None)[0]

    def too_deep(self) -> bool:
        """Whether it is time to end: queries grow quickly."""
        return self._depth >= _DEEPEST or self._nested > 14

    # -- queries

    def query(self, scope: Scope, kinds: Sequence[str] | None) -> tuple[str, Columns]:
        """A query and its columns; `kinds` are those it must have. `scope` is what stands around it."""
        self._depth += 1
        self._nested += 1
        try:
            with_, common = "", scope.common
            if self.choices.happens(30) and not self.too_deep():
                with_, common = self._with(scope)
            inner = Scope(common, scope.outer)
            if self.choices.happens(18) and not self.too_deep():
                text, columns = self._set_operation(inner, kinds)
            else:
                text, columns = self.select(inner, kinds)
            return with_ + text, columns
        finally:
            self._depth -= 1

    def _with(self, scope: Scope) -> tuple[str, dict[str, Columns]]:
        common = dict(scope.common)
        items: list[str] = []
        for _ in range(1 + self.choices.number(2)):
            text, columns = self.query(Scope(dict(common)), None)
            shadows = self.names.colliding and self.choices.happens(10)
            name = self.choices.one_of(tuple(self.schema.tables)) if shadows else self.names.fresh("q")
            listed = ""
            if self.choices.happens(20):
                columns = tuple((self.names.fresh("l"), kind) for _, kind in columns)
                listed = f" ({', '.join(name for name, _ in columns)})"
            if name in common and name in (item.partition(" ")[0] for item in items):
                continue
            common[name] = columns
            items.append(f"{name}{listed} as ({text})")
            self.bodies[name] = text, listed
        return "" if self.inlined else f"with {', '.join(items)} ", common

    def _set_operation(self, scope: Scope, kinds: Sequence[str] | None) -> tuple[str, Columns]:
        wanted = list(kinds) if kinds is not None else self._kinds()
        wanted = [TEXT if kind == PAIR else kind for kind in wanted] if kinds is None else wanted
        first, columns = self.query(Scope(scope.common, scope.outer), wanted)
        second, _ = self.query(Scope(scope.common, scope.outer), wanted)
        how = self.choices.one_of(("union all", "union", "intersect", "except", "union all"))
        text = f"({first}) {how} ({second})"
        if self.choices.happens(30):
            text += " order by 1"
        return text, columns

    def _kinds(self) -> list[str]:
        return [self.choices.one_of((INT, TEXT, INT, *self.flavour.kinds)) for _ in range(1 + self.choices.number(3))]

    # -- SELECT

    def select(self, scope: Scope, kinds: Sequence[str] | None) -> tuple[str, Columns]:
        """SELECT with its clauses."""
        source = self.relations.source(scope)
        if kinds is None and self.choices.happens(15):
            items, columns, grouped = *self._star(scope), ""
        elif self.choices.happens(25):
            items, columns, grouped = self._aggregated(scope, kinds)
        else:
            items, columns, grouped = *self._plain(scope, kinds), ""
        distinct = "distinct " if not grouped and self.choices.happens(8) and _sortable(columns) else ""
        where = f" where {self._without_aliases(scope)}" if self.choices.happens(40) else ""
        text = f"select {distinct}{', '.join(items)} from {source}{where}{grouped}"
        if not grouped and not distinct:
            text += self._qualify(scope, columns)
        return text + self._order(scope, columns, free=not grouped and not distinct), columns

    def _without_aliases(self, scope: Scope) -> str:
        aliases, scope.aliases = scope.aliases, []
        condition = self.expressions.condition(scope)
        scope.aliases = aliases
        return condition

    def _star(self, scope: Scope) -> tuple[list[str], Columns]:
        columns = scope.names()
        if self.choices.happens(30):
            relation = self.choices.one_of(scope.relations)
            return [f"{relation.alias}.*"], relation.columns
        if self.flavour.star_except and self.choices.happens(40):
            names = [name for name, _ in columns]
            unique = [name for name in names if names.count(name) == 1]
            if len(unique) > 1:
                gone = self.choices.one_of(unique)
                return [f"* except ({gone})"], tuple(column for column in columns if column[0] != gone)
        if self.choices.happens(30):
            extra = self._output_name(scope, columns)
            return ["*", f"{self.expressions.value(INT, scope)} as {extra}"], (*columns, (extra, INT))
        return ["*"], columns

    def _output_name(self, scope: Scope, taken: Columns = ()) -> str:
        """A new name, or now and then that of a column in scope; never one twice, which ORDER BY could not tell."""
        if self.names.colliding and self.choices.happens(12):
            name = self.choices.one_of([name for name, _ in scope.names()] or ["id"])
            if name not in dict(taken):
                return name
        return self.names.fresh("o")

    def _cast_column(self, scope: Scope, kind: str, taken: Columns) -> str | None:
        """A column whose cast needs no alias, as an engine calls it by the column; None in all other cases."""
        if kind not in (INT, TEXT) or not self.flavour.casts_keep_names or not self.choices.happens(10):
            return None
        found = [name for name in scope.references(kind) if name.rpartition(".")[2] not in dict(taken)]
        return self.choices.one_of(found) if found else None

    def _plain(self, scope: Scope, kinds: Sequence[str] | None) -> tuple[list[str], Columns]:
        items: list[str] = []
        columns: list[tuple[str, str]] = []
        for kind in kinds if kinds is not None else self._kinds():
            kept = self._cast_column(scope, kind, tuple(columns))
            if kept is not None:
                items.append(f"cast({kept} as {INT if kind == INT else self.flavour.text_type})")
                columns.append((kept.rpartition(".")[2], kind))
                continue
            windowed = kind == INT and self.choices.happens(15)
            value = self.expressions.window(scope) if windowed else self.expressions.value(kind, scope)
            name = self._output_name(scope, tuple(columns))
            items.append(f"{value} as {name}")
            columns.append((name, kind))
            if not windowed and name not in {known for known, _ in scope.names()}:
                scope.aliases.append((name, kind))
        return items, tuple(columns)

    def _aggregated(self, scope: Scope, kinds: Sequence[str] | None) -> tuple[list[str], Columns, str]:
        wanted = list(kinds) if kinds is not None else self._kinds()
        items: list[str] = []
        columns: list[tuple[str, str]] = []
        keys: list[str] = []
        for kind in wanted:
            name = self._output_name(scope, tuple(columns))
            if kind in (INT, TEXT) and self.choices.happens(45):
                value = self.expressions.value(kind, scope, 1)
                if "(select" not in value and "'" not in value and value != "7":
                    keys.append(value)
                    items.append(f"{value} as {name}")
                    columns.append((name, kind))
                    continue
            items.append(f"{self.expressions.aggregate(kind, scope)} as {name}")
            columns.append((name, kind))
        how = self.choices.one_of(("group by {}", "group by {}", "group by rollup({})", "group by cube({})"))
        grouped = f" {how.format(', '.join(keys))}" if keys else ""
        if self.choices.happens(30):
            grouped += f" having {self.expressions.aggregate(INT, scope)} > 1"
        return items, tuple(columns), grouped or " "

    def _qualify(self, scope: Scope, columns: Columns) -> str:
        if self.flavour.qualify and self.choices.happens(8):
            return f" qualify {self.expressions.window(scope)} = 1"
        return ""

    def _order(self, scope: Scope, columns: Columns, *, free: bool) -> str:
        if not self.choices.happens(30):
            return ""
        keys = [name for name, kind in columns if kind in (INT, TEXT) and [n for n, _ in columns].count(name) == 1]
        if free and self.choices.happens(40):
            key = self.expressions.value(self.choices.one_of((INT, TEXT)), scope, 1)
            if key[0] in "7'":
                return ""
        elif keys:
            key = self.choices.one_of(keys)
        else:
            return ""
        return f" order by {key} desc" + (" limit 5" if self.choices.happens(30) else "")

    # -- what expressions need

    def subquery_scope(self, outer: Scope) -> tuple[Scope, str]:
        """The scope and the FROM clause of a subquery in an expression."""
        self._nested += 1
        self._depth += 1
        try:
            scope = Scope(outer.common, outer)
            return scope, self.relations.one(scope)
        finally:
            self._depth -= 1


def _sortable(columns: Columns) -> bool:
    return all(kind in (INT, TEXT, INTS) for _, kind in columns)


def statement(
    data: bytes, schema: Schema, flavour: Flavour, names: Names | None = None, *, inlined: bool = False
) -> str | None:
    """The statement that some bytes make; None where it became too long to be worth a comparison."""
    text = Grammar(Choices(data), schema, flavour, names, inlined=inlined).statement()
    return text if len(text) <= _LONGEST else None
