"""Random expressions: typed, so that nearly all of them are valid."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.differential.grammar_scope import Scope, column
from tests.differential.schemas import INT, INTS, PAIR, TEXT

if TYPE_CHECKING:
    from tests.differential.grammar import Grammar


class Expressions:
    """Expressions over a scope. `depth` bounds how deep they nest."""

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar
        self._choices = grammar.choices
        self._flavour = grammar.flavour

    def value(self, kind: str, scope: Scope, depth: int = 2) -> str:
        """An expression of a kind."""
        if depth <= 0 or self._choices.happens(35):
            return self._atom(kind, scope)
        return {INT: self._int, TEXT: self._text, INTS: self._ints, PAIR: self._pair}[kind](scope, depth - 1)

    def _atom(self, kind: str, scope: Scope) -> str:
        if self._flavour.lateral_aliases and scope.aliases and self._choices.happens(12):
            found = [name for name, of in scope.aliases if of == kind]
            if found:
                return self._choices.one_of(found)
        return column(self._choices, scope, kind) or self._literal(kind)

    def _literal(self, kind: str) -> str:
        before, after = self._flavour.array
        return {INT: "7", TEXT: "'x'", INTS: f"{before}1{after}", PAIR: "named_struct('x', 1, 'y', 'z')"}[kind]

    def _conditional(self, kind: str, scope: Scope, depth: int) -> str:
        first = self.value(kind, scope, depth)
        second = self.value(kind, scope, depth)
        shape = self._choices.number(6)
        if shape == 0:
            return f"case when {self.condition(scope, depth)} then {first} else {second} end"
        if shape == 1:
            return f"coalesce({first}, {second})"
        if shape == 2:
            return f"case {self.value(INT, scope, depth)} when 1 then {first} when 2 then {second} end"
        if shape == 3 and self._flavour.if_function:
            return f"if({self.condition(scope, depth)}, {first}, {second})"
        if shape == 4:
            return f"nullif({first}, {second})"
        if shape == 5 and self._flavour.if_function:
            return f"nvl2({self.value(TEXT, scope, depth)}, {first}, {second})"
        return first

    def _int(self, scope: Scope, depth: int) -> str:
        shape = self._choices.number(10)
        if shape <= 1:
            operator = self._choices.one_of("+-*")
            return f"({self.value(INT, scope, depth)} {operator} {self.value(INT, scope, depth)})"
        if shape <= 4:
            return self._conditional(INT, scope, depth)
        if shape == 5:
            return f"length({self.value(TEXT, scope, depth)})"
        if shape == 6:
            return f"cast({self.value(TEXT, scope, depth)} as int)"
        if shape == 7:
            return self.scalar_subquery(INT, scope, depth)
        if shape == 8:
            access = self._flavour.element if self._choices.happens(50) else self._flavour.size
            return access.format(self.value(INTS, scope, 0))
        field = column(self._choices, scope, PAIR) if PAIR in self._flavour.kinds else None
        return f"{field}.x" if field else f"abs({self.value(INT, scope, depth)})"

    def _text(self, scope: Scope, depth: int) -> str:
        shape = self._choices.number(8)
        if shape == 0:
            return f"upper({self.value(TEXT, scope, depth)})"
        if shape == 1:
            return f"concat({self.value(TEXT, scope, depth)}, {self.value(TEXT, scope, depth)})"
        if shape == 2:
            return f"({self.value(TEXT, scope, depth)} || '-' || {self.value(TEXT, scope, depth)})"
        if shape == 3:
            return f"cast({self.value(INT, scope, depth)} as {self._flavour.text_type})"
        if shape == 4:
            return self._flavour.hash.format(self.value(TEXT, scope, depth))
        if shape == 5:
            return self.scalar_subquery(TEXT, scope, depth)
        if shape == 6 and PAIR in self._flavour.kinds and (field := column(self._choices, scope, PAIR)):
            return f"{field}.y"
        return self._conditional(TEXT, scope, depth)

    def _ints(self, scope: Scope, depth: int) -> str:
        if self._choices.happens(50):
            return self._conditional(INTS, scope, depth)
        before, after = self._flavour.array
        return f"{before}{self.value(INT, scope, depth)}, {self.value(INT, scope, depth)}{after}"

    def _pair(self, scope: Scope, depth: int) -> str:
        """A struct as a table has it: fields of built ones, which are told apart, are compared in fixed statements."""
        return self._atom(PAIR, scope)

    def scalar_subquery(self, kind: str, scope: Scope, depth: int) -> str:
        """An aggregate of one relation, often correlated with the query around it."""
        if self._grammar.too_deep():
            return self._atom(kind, scope)
        inner, source = self._grammar.subquery_scope(scope)
        where = self._correlation(inner, depth)
        return f"(select max({self.value(kind, inner, depth)}) from {source}{where})"

    def _correlation(self, inner: Scope, depth: int) -> str:
        own, outer = inner.references(INT), inner.outer_references(INT)
        if own and outer and self._choices.happens(70):
            return f" where {self._choices.one_of(own)} = {self._choices.one_of(outer)}"
        return f" where {self.condition(inner, depth)}" if self._choices.happens(30) else ""

    def condition(self, scope: Scope, depth: int = 1) -> str:
        """Something true or false."""
        shape = self._choices.number(10)
        if depth <= 0 or shape <= 1:
            operator = self._choices.one_of(("=", "<", "<>"))
            return f"{self.value(INT, scope, depth)} {operator} {self.value(INT, scope, depth)}"
        if shape == 2:
            return f"{self.value(TEXT, scope, depth)} is not null"
        if shape == 3:
            return f"{self.value(TEXT, scope, depth)} in ('p', {self.value(TEXT, scope, depth - 1)})"
        if shape == 4:
            return f"{self.value(TEXT, scope, depth)} like 'a%'"
        if shape == 5:
            joined = self._choices.one_of(("and", "or"))
            return f"({self.condition(scope, depth - 1)} {joined} {self.condition(scope, depth - 1)})"
        if shape == 6:
            return f"not {self.condition(scope, depth - 1)}"
        if shape == 7:
            low, high = self.value(INT, scope, 0), self.value(INT, scope, depth - 1)
            return f"{self.value(INT, scope, depth)} between {low} and {high}"
        if self._grammar.too_deep():
            return f"{self.value(INT, scope, 0)} > 0"
        inner, source = self._grammar.subquery_scope(scope)
        where = self._correlation(inner, depth - 1)
        negated = "not " if self._choices.happens(30) else ""
        if shape == 8:
            return f"{negated}exists (select {self.value(INT, inner, 1)} from {source}{where})"
        return (
            f"{self.value(INT, scope, depth - 1)} {negated}in (select {self.value(INT, inner, 1)} from {source}{where})"
        )

    def aggregate(self, kind: str, scope: Scope) -> str:
        """An aggregate whose result is of a kind."""
        if kind == TEXT:
            return f"{self._choices.one_of(('max', 'min'))}({self.value(TEXT, scope, 1)})"
        if kind == INTS:
            function = "collect_list" if self._flavour.name == "spark" else "array_agg"
            return f"{function}({self.value(INT, scope, 1)})"
        if kind == PAIR:
            return f"max({self.value(PAIR, scope, 1)})"
        shape = self._choices.number(6)
        inside = self.value(INT, scope, 1)
        if shape == 0:
            return f"max({inside})"
        if shape == 1:
            return f"cast(sum({inside}) as int)"
        if shape == 2:
            return f"cast(count(distinct {inside}) as int)"
        if shape == 3:
            return "cast(count(*) as int)"
        if shape == 4 and self._flavour.name == "spark":
            return f"max_by({inside}, {self.value(INT, scope, 1)})"
        return f"max({inside}) filter (where {self.condition(scope, 0)})"

    def window(self, scope: Scope) -> str:
        """A window function; all of them give integers."""
        function = self._choices.one_of(("cast(row_number() {} as int)", "max({v}) {}", "lag({v}) {}", "rank() {}"))
        keys = [f"partition by {self.value(INT, scope, 1)}"] if self._choices.happens(60) else []
        keys.append(f"order by {self.value(TEXT, scope, 1)}")
        over = f"over ({' '.join(keys)})"
        return function.format(over, v=self.value(INT, scope, 1))
