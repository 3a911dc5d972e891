"""One text for all ways to write the same expression, join tree or set of conditions.

What it gives is compared, never shown: it holds literals, as digests under a key that stays here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import permutations, product
from math import factorial, prod

from sqlglot import exp

from ingestion.metrics.inlining import Block, FullJoin, Leaf, QueryRows, Refusal, leaf_number, numbers_in
from ingestion.model.digests import digest

_COMMUTATIVE = (exp.And, exp.Or, exp.Add, exp.Mul)
_SYMMETRIC = (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ)
_ORDERED: dict[type[exp.Expr], tuple[str, str, str]] = {
    exp.LT: ("LT", "this", "expression"),
    exp.LTE: ("LTE", "this", "expression"),
    exp.GT: ("LT", "expression", "this"),
    exp.GTE: ("LTE", "expression", "this"),
}
"""Comparisons of which each is another one turned round."""
_MOST_ORDERS = 720
"""Ways to number the occurrences of one table that are tried: those of six in FROM."""
_OF_NUMBERS = (exp.Mul, exp.Div, exp.Sub, exp.Mod, exp.Neg, exp.Count, exp.Sum, exp.Avg, exp.Length)
_NUMBER_TYPE = re.compile(
    r"\s*(?:tiny|small|medium|big)?(?:int(?:eger)?|decimal|numeric|number|float|real|double|money)\b", re.IGNORECASE
)
_BESIDE_THE_TEXT = ("big_int",)
"""What sqlglot notes of a node that the text does not say."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """How texts are compared: `key` makes digests of literals, `text_addition` says that + may join texts.

    With `any_literal` all literals are the same.
    """

    key: bytes
    text_addition: bool
    any_literal: bool = False


@dataclass(frozen=True, slots=True)
class Normalizer:
    """Writes canonical texts: `labels` name the occurrences of relations."""

    leaves: Mapping[int, Leaf]
    labels: Mapping[int, str]
    comparison: Comparison

    def expression(self, node: exp.Expr) -> str:
        """The canonical text of a rewritten expression."""
        kind = type(node)
        if kind is exp.Column:
            return self._column(node)
        if kind is exp.Literal and self.comparison.any_literal:
            return "'any'"
        if kind is exp.Literal:
            return f"'{keyed_digest(self.comparison.key, ('text' if node.is_string else 'number') + str(node.name))}'"
        if isinstance(node, _COMMUTATIVE):
            operands = list(node.flatten())
            written = [self.expression(one) for one in operands]
            ordered = kind is exp.Add and self.comparison.text_addition and not all(map(self._is_number, operands))
            return f"{kind.__name__}({', '.join(written if ordered else sorted(written))})"
        if isinstance(node, _SYMMETRIC):
            sides = sorted((self.expression(node.this), self.expression(node.expression)))
            return f"{kind.__name__}({', '.join(sides)})"
        if kind in _ORDERED:
            name, less, more = _ORDERED[kind]
            return f"{name}({self.expression(node.args[less])}, {self.expression(node.args[more])})"
        if kind is exp.In and node.expressions:
            options = sorted(set(map(self.expression, node.expressions)))
            if len(options) == 1 and not self.comparison.any_literal:
                return f"EQ({', '.join(sorted((options[0], self.expression(node.this))))})"
            return f"In({self.expression(node.this)}, {options})"
        if kind is exp.Count and type(node.this) is exp.Literal:
            return "Count(Star())"
        if isinstance(node, exp.DataType):
            return node.sql()
        return self._node(node)

    def _is_number(self, node: exp.Expr) -> bool:
        """Whether a value is surely no text."""
        if type(node) is exp.Literal:
            return not node.is_string
        if type(node) is exp.Column:
            known = self.leaves[leaf_number(node)].known
            return known is not None and bool(_NUMBER_TYPE.match(known.get(node.name, "")))
        if isinstance(node, exp.Cast | exp.TryCast):
            return bool(node.is_type(*exp.DataType.NUMERIC_TYPES))
        return isinstance(node, _OF_NUMBERS)

    def _node(self, node: exp.Expr) -> str:
        parts = [
            f"{name}={self._part(value)}"
            for name, value in sorted(node.args.items())
            if value not in (None, False, [], "") and name not in _BESIDE_THE_TEXT
        ]
        if type(node) is exp.Anonymous:
            parts = [f"this={str(node.this).upper()}", *(part for part in parts if not part.startswith("this="))]
        if len(parts) == 1 and parts[0].startswith("this="):
            parts = [parts[0][5:]]
        return f"{type(node).__name__}({', '.join(parts)})"

    def _part(self, value: object) -> str:
        if isinstance(value, exp.Expr):
            return self.expression(value)
        if isinstance(value, list):
            return f"[{', '.join(self._part(item) for item in value)}]"
        return repr(value)

    def _column(self, node: exp.Expr) -> str:
        leaf = self.leaves[leaf_number(node)]
        if leaf.rows is None:
            return f"{self.labels[leaf.number]}.{node.name!r}"
        inner = self.within(leaf.rows)
        if leaf.number not in self.labels:  # a query inside an expression
            return f"({inner.rows(leaf.rows, with_columns=True)})"
        value = leaf.rows.columns.get(node.name)
        if value is None or isinstance(value, Refusal):
            raise value or Refusal("a column that a query does not have")
        return f"{self.labels[leaf.number]}.({inner.expression(value)})"

    def within(self, rows: QueryRows) -> Normalizer:
        """The writer for a query of its own."""
        return next(iter(best_normalizers(rows, self.leaves, self.comparison)))

    def block(self, block: Block, *, with_filters: bool) -> str:
        """The canonical text of a join tree, without the conditions on one relation alone unless `with_filters`."""
        members = sorted(self._member(member) for member in block.members)
        attached = sorted(
            f"left({self.block(other, with_filters=True)}; {self.conditions(on)})" for other, on in block.attached
        )
        used = [part for part in block.conditions if with_filters or len(numbers_in(part)) > 1]
        return f"{members} {attached} {self.conditions(used)}"

    def _member(self, member: Leaf | FullJoin) -> str:
        if isinstance(member, Leaf):
            return self.labels[member.number]
        sides = sorted(self.block(side, with_filters=True) for side in (member.left, member.right))
        return f"full({sides}; {self.conditions(member.conditions)})"

    def conditions(self, parts: Iterable[exp.Expr]) -> str:
        """The canonical text of conditions that must all hold; columns that are equal to each other are one class."""
        classes: list[set[str]] = []
        others: set[str] = set()
        for part in parts:
            if type(part) is exp.EQ and type(part.this) is exp.Column and type(part.expression) is exp.Column:
                sides = {self.expression(part.this), self.expression(part.expression)}
                met = [one for one in classes if one & sides]
                classes = [one for one in classes if not one & sides] + [sides.union(*met)]
            else:
                others.add(self.expression(part))
        return f"{sorted(map(sorted, classes))} {sorted(others)}"

    def rows(self, rows: QueryRows, *, with_columns: bool) -> str:
        """The canonical text of a query inside another: what its rows depend on, and its columns where they count."""
        keys = None if rows.keys is None else sorted({self.expression(key) for key in rows.keys})
        text = f"{self.block(rows.block, with_filters=True)} by {keys} having {self.conditions(rows.having)}"
        if not with_columns:
            return text
        if rows.open:
            text += " *"
        columns = []
        for value in rows.columns.values():
            if isinstance(value, Refusal):
                raise value
            columns.append(self.expression(value))
        return f"{columns} of {text}"


def keyed_digest(key: bytes, text: str) -> str:
    """What stands for a text: without the key neither the text nor a guess at it can be told from it."""
    return digest(text, size=12, key=key)


def best_normalizers(rows: QueryRows, leaves: Mapping[int, Leaf], comparison: Comparison) -> tuple[Normalizer, ...]:
    """The writers of a query (its `rows`) that number tables which occur twice so that the text is the least.

    They are several where that makes no difference. Raises Refusal where there are too many ways to number them.
    """
    names: dict[int, str] = {}
    for leaf in rows.block.leaves():
        inner = leaf.rows
        if inner is None:
            names[leaf.number] = leaf.table.dotted if leaf.table is not None else ""
        else:
            writer = next(iter(best_normalizers(inner, leaves, comparison)))
            names[leaf.number] = keyed_digest(comparison.key, writer.rows(inner, with_columns=False))
    alike: dict[str, list[int]] = {}
    for number, name in names.items():
        alike.setdefault(name, []).append(number)
    if prod(factorial(len(numbers)) for numbers in alike.values()) > _MOST_ORDERS:
        raise Refusal("too many occurrences of one table")
    best: tuple[str, str] | None = None
    chosen: list[Normalizer] = []
    for orders in product(*(permutations(numbers) for numbers in alike.values())):
        labels = {number: f"{names[number]!r}#{position}" for order in orders for position, number in enumerate(order)}
        writer = Normalizer(leaves, labels, comparison)
        text = (writer.block(rows.block, with_filters=False), writer.rows(rows, with_columns=False))
        if best is None or text < best:
            best, chosen = text, []
        if text == best:
            chosen.append(writer)
    return tuple(chosen)
