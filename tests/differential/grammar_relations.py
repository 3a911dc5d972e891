"""Random FROM clauses: tables, WITH items, derived tables, VALUES, joins of every kind, lateral views, pivots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.differential.grammar_scope import Scope, Visible
from tests.differential.schemas import INT, INTS, TEXT, Columns

if TYPE_CHECKING:
    from tests.differential.grammar import Grammar

_JOINS = ("join", "left join", "right join", "full join", "join")


class Relations:
    """FROM clauses; what they bring into scope is added to it."""

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar
        self._choices = grammar.choices
        self._flavour = grammar.flavour

    def source(self, scope: Scope) -> str:
        """One to three relations, joined."""
        text = self.one(scope)
        for _ in range(self._choices.number(3) if self._choices.happens(60) else 0):
            text = self._joined(text, scope)
        if self._flavour.lateral_views and self._choices.happens(10):
            text = self._lateral_view(text, scope)
        return text

    def one(self, scope: Scope) -> str:
        """One relation, added to the scope."""
        text, columns, alias = self._relation(scope)
        scope.relations.append(Visible(alias, columns))
        return text

    def _relation(self, scope: Scope) -> tuple[str, Columns, str]:
        shape = self._choices.number(100)
        if scope.common and self._choices.happens(60):
            name = self._choices.one_of(tuple(scope.common))
            self._grammar.read.add(name)
            return self._named(name, scope.common[name], scope)
        if shape >= 97:
            return self._values()
        if shape >= 92 and self._flavour.pivots and not self._grammar.too_deep():
            return self._pivot(scope) if shape >= 95 else self._unpivot()
        if shape >= 62 and not self._grammar.too_deep():
            text, columns = self._grammar.query(Scope(scope.common), None)
            alias = self._grammar.names.fresh("d")
            if self._choices.happens(20):
                columns = tuple((self._grammar.names.fresh("m"), kind) for _, kind in columns)
                return f"({text}) as {alias} ({_list(columns)})", columns, alias
            return f"({text}) as {alias}", columns, alias
        tables = {name: columns for name, columns in self._grammar.schema.tables.items() if name not in scope.common}
        if not tables:
            return self._values()
        name = self._choices.one_of(tuple(tables))
        return self._named(name, tables[name], scope)

    def _named(self, name: str, columns: Columns, scope: Scope) -> tuple[str, Columns, str]:
        taken = {relation.alias for relation in scope.relations}
        outer = scope.outer
        while outer is not None:
            taken |= {relation.alias for relation in outer.relations}
            outer = outer.outer
        source, listed = name, ""
        if self._grammar.inlined and name in scope.common:
            body, listed = self._grammar.bodies[name]
            source = f"({body})"
        if name not in taken and self._choices.happens(40):
            return f"{source} as {name}{listed}" if source != name else name, columns, name
        alias = self._grammar.names.fresh("r")
        if self._choices.happens(10):
            columns = tuple((self._grammar.names.fresh("m"), kind) for _, kind in columns)
            return f"{source} as {alias} ({_list(columns)})", columns, alias
        as_ = "as " if self._choices.happens(50) else ""
        return f"{source} {as_}{alias}{listed}", columns, alias

    def _values(self) -> tuple[str, Columns, str]:
        alias = self._grammar.names.fresh("v")
        columns = ((self._grammar.names.fresh("m"), INT), (self._grammar.names.fresh("m"), TEXT))
        return f"(values (1, 'p'), (2, 'q')) as {alias} ({_list(columns)})", columns, alias

    # -- joins

    def _joined(self, text: str, scope: Scope) -> str:
        if not self._grammar.too_deep() and self._choices.happens(10):
            return self._lateral_query(text, scope)
        before = scope.names()
        left = list(scope.relations)
        how = self._choices.one_of(_JOINS)
        right = self.one(scope)
        added = scope.relations[-1]
        if self._flavour.semi_joins and self._choices.happens(15):
            how = self._choices.one_of(("left semi join", "left anti join"))
            condition = self._grammar.expressions.condition(scope)
            scope.relations = left
            return f"{text} {how} {right} on {condition}"
        shared = self._shared(before, added.columns)
        if shared and self._choices.happens(35):
            if self._choices.happens(30):
                names, joined = shared, f"{text} natural {how} {right}"
            else:
                names = shared[: 1 + self._choices.number(2)]
                joined = f"{text} {how} {right} using ({', '.join(name for name, _ in names)})"
            self._merge(scope, dict(names))
            return joined
        if self._choices.happens(12):
            return f"{text} cross join {right}"
        if self._choices.happens(20):
            right += self._joined_first(scope)
        return f"{text} {how} {right} on {self._grammar.expressions.condition(scope)}"

    def _joined_first(self, scope: Scope) -> str:
        """What makes `a JOIN b ON …` of the relation read last `a JOIN b JOIN c ON … ON …`, without parentheses."""
        how, right = self._choices.one_of(_JOINS), self.one(scope)
        both = Scope(scope.common, scope.outer, scope.relations[-2:])
        return f" {how} {right} on {self._grammar.expressions.condition(both)}"

    @staticmethod
    def _shared(left: Columns, right: Columns) -> Columns:
        names = [name for name, _ in left]
        others = [name for name, _ in right]
        once = [c for c in right if names.count(c[0]) == 1 and others.count(c[0]) == 1 and c[1] in (INT, TEXT)]
        both = {name for name in names if name in others}
        kinds = dict(left)
        fits = all(kinds[name] == kind for name, kind in right if name in both)
        return tuple(once) if fits and len(once) == len(both) else ()

    @staticmethod
    def _merge(scope: Scope, names: dict[str, str]) -> None:
        scope.relations = [
            Visible(r.alias, r.columns, r.hidden | {name for name, _ in r.columns if name in names})
            for r in scope.relations
        ]
        scope.merged.update(names)

    def _lateral_query(self, text: str, scope: Scope) -> str:
        inner = Scope(scope.common, scope)
        columns: list[tuple[str, str]] = []
        source = self.one(inner)
        items = []
        for kind in (INT, TEXT)[: 1 + self._choices.number(2)]:
            name = self._grammar.names.fresh("o")
            items.append(f"max({self._grammar.expressions.value(kind, inner, 1)}) as {name}")
            columns.append((name, kind))
        condition = self._grammar.expressions.condition(inner, 0)
        alias = self._grammar.names.fresh("d")
        scope.relations.append(Visible(alias, tuple(columns)))
        return f"{text} cross join lateral (select {', '.join(items)} from {source} where {condition}) as {alias}"

    # -- what only some dialects have

    def _lateral_view(self, text: str, scope: Scope) -> str:
        alias, name = self._grammar.names.fresh("e"), self._grammar.names.fresh("m")
        exploded = self._grammar.expressions.value(INTS, scope, 1)
        if "(select" in exploded:
            return text
        if self._choices.happens(30):
            position = self._grammar.names.fresh("m")
            scope.relations.append(Visible(alias, ((position, INT), (name, INT))))
            return f"{text} lateral view posexplode({exploded}) {alias} as {position}, {name}"
        outer = "outer " if self._choices.happens(30) else ""
        scope.relations.append(Visible(alias, ((name, INT),)))
        return f"{text} lateral view {outer}explode({exploded}) {alias} as {name}"

    def _pivot(self, scope: Scope) -> tuple[str, Columns, str]:
        inner, _ = self._grammar.query(Scope(scope.common), (INT, INT, TEXT))
        inside, alias = self._grammar.names.fresh("d"), self._grammar.names.fresh("p")
        kept, key, value = (self._grammar.names.fresh("m") for _ in range(3))
        first, second = (self._grammar.names.fresh("n") for _ in range(2))
        function = self._choices.one_of(("max", "count"))
        text = (
            f"(select * from ({inner}) as {inside} ({kept}, {key}, {value}) "
            f"pivot ({function}({value}) for {key} in (1 as {first}, 2 as {second}))) as {alias}"
        )
        kind = TEXT if function == "max" else INT
        return text, ((kept, INT), (first, kind), (second, kind)), alias

    def _unpivot(self) -> tuple[str, Columns, str]:
        tables = self._grammar.schema.tables
        name = self._choices.one_of(tuple(tables))
        numbers = [column for column, kind in tables[name] if kind == INT][:3]
        alias, value, key = (self._grammar.names.fresh(kind) for kind in "pmm")
        rest = tuple(column for column in tables[name] if column[0] not in numbers)
        text = f"(select * from {name} unpivot ({value} for {key} in ({', '.join(numbers)}))) as {alias}"
        return text, (*rest, (key, TEXT), (value, INT)), alias


def _list(columns: Columns) -> str:
    return ", ".join(name for name, _ in columns)
