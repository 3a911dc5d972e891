"""Expressions and views as people read them: the columns' own names, MASK for literals."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.errors import SqlglotError

from ingestion.dialects import Dialect, fold_column
from ingestion.dialects.keywords import DATE_PARTS, reserved_words
from ingestion.metrics.inlining import (
    MATCHED,
    Block,
    FullJoin,
    Leaf,
    QueryRows,
    Refusal,
    Value,
    columns_in,
    leaf_number,
    numbers_in,
)
from ingestion.metrics.model import MASK

_WORDS = re.compile(r"[A-Za-z0-9]+")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NAMED = (exp.Identifier, exp.Var, exp.Anonymous, exp.AnonymousAggFunc, exp.Boolean, exp.Null)
"""Nodes whose text is a name or a keyword; that of any other is data."""
_FAILURES = (SqlglotError, ValueError, AttributeError, TypeError, KeyError, IndexError)


@dataclass(frozen=True, slots=True)
class QueryRendering:
    """Writes what is in one query; `aliases` name the relations of its FROM clause.

    `ambiguous` are the columns' names that say too little without an alias.
    """

    leaves: Mapping[int, Leaf]
    aliases: Mapping[int, str]
    ambiguous: frozenset[str]
    dialect: Dialect

    def text(self, node: exp.Expr, *, qualified: bool = False) -> str:
        """An expression with MASK for its literals; `qualified` has every column bear its relation's alias."""
        rendered = self._render(node, qualified=qualified)
        try:
            return rendered.sql(dialect=self.dialect.sqlglot)
        except _FAILURES:
            return rendered.sql()

    def _render(self, node: exp.Expr, *, qualified: bool) -> exp.Expr:
        kind = type(node)
        if kind is exp.Column:
            return self._column(node, qualified=qualified)
        if kind is exp.Anonymous and node.this == MATCHED:
            return self._render(node.expressions[0], qualified=qualified)
        if kind is exp.Star:
            return exp.Star()
        if kind is exp.DataType:
            return _type_without_data(node)
        if kind is exp.Var and not self._is_word(node.name):
            return exp.Var(this=MASK)
        holds_data = isinstance(node.args.get("this"), str) and not isinstance(node, _NAMED)
        if holds_data or isinstance(node, exp.JSONPath | exp.Parameter | exp.Placeholder):
            return exp.Var(this=MASK)
        made = kind()
        for key, value in node.args.items():
            made.set(key, self._part(value, node, qualified=qualified))
        if kind is exp.In and all(type(option) is exp.Literal for option in node.expressions):
            made.set("expressions", [exp.Var(this=MASK)] if node.expressions else [])
        return made

    def _is_word(self, name: str) -> bool:
        """Whether a bare word is one of the language, and not what a string said: DATE_TRUNC('month', d) has a word."""
        return name.lower() in DATE_PARTS or name in reserved_words(self.dialect.name)

    def _part(self, value: object, parent: exp.Expr, *, qualified: bool) -> object:
        if isinstance(value, list):
            return [self._part(part, parent, qualified=qualified) for part in value]
        if not isinstance(value, exp.Expr):
            return value
        rendered = self._render(value, qualified=qualified)
        return exp.Paren(this=rendered) if _needs_brackets(rendered, parent) else rendered

    def _column(self, node: exp.Expr, *, qualified: bool) -> exp.Expr:
        leaf = self.leaves.get(leaf_number(node))
        if leaf is None:
            return exp.Column(this=self._identifier(node.name))
        if leaf.rows is not None and (leaf.number not in self.aliases or not qualified):
            inner = query_rendering(leaf.rows, self.leaves, self.dialect)
            value = leaf.rows.columns.get(node.name)
            inlined = leaf.number in self.aliases and isinstance(value, exp.Expr)
            return exp.Var(this=inner.text(value) if inlined else f"({inner.query(leaf.rows)})")  # type: ignore[arg-type]
        if not qualified and node.name not in self.ambiguous:
            return exp.Column(this=self._identifier(node.name))
        return exp.Column(this=self._identifier(node.name), table=_identifier(self.aliases[leaf.number]))

    def _identifier(self, name: str) -> exp.Identifier:
        """A column's name, in quotes where without them it would be another's."""
        folded = fold_column(name, self.dialect, quoted=False)
        return exp.Identifier(this=name, quoted=folded != name or not _PLAIN.fullmatch(name))

    def query(self, rows: QueryRows) -> str:
        """A query inside another, in one line."""
        columns = [self._output(name, value) for name, value in rows.columns.items()]
        conditions = [self.text(part) for part in rows.block.conditions if len(numbers_in(part)) <= 1]
        text = f"SELECT {', '.join(columns) or '*'} FROM {self.relations(rows.block)}"
        if conditions:
            text += f" WHERE {' AND '.join(sorted(conditions))}"
        if rows.keys:
            text += f" GROUP BY {', '.join(map(self.text, rows.keys))}"
        return text + (f" HAVING {' AND '.join(map(self.text, rows.having))}" if rows.having else "")

    def _output(self, name: str, value: Value) -> str:
        text = MASK if isinstance(value, Refusal) else self.text(value)
        return text if name.startswith("#") or text == name else f"{text} AS {name}"

    def relations(self, block: Block, others: Iterable[exp.Expr] = ()) -> str:
        """What stands behind FROM, with the conditions that join, and those `others` behind WHERE."""
        waiting = [part for part in block.conditions if len(numbers_in(part)) > 1]
        text, seen = "", set[int]()
        for member in block.members:
            seen |= _numbers_of(member)
            on = [part for part in waiting if numbers_in(part) <= seen]
            waiting = [part for part in waiting if part not in on]
            if text:
                text += " JOIN " if on else " CROSS JOIN "
            text += self._member(member) + (f" ON {self._all(on)}" if on else "")
        for other, on in block.attached:
            nested = len(other.members) + len(other.attached) > 1
            own = [part for part in other.conditions if len(numbers_in(part)) <= 1]
            rendered = self.relations(other)
            text += f" LEFT JOIN {f'({rendered})' if nested else rendered} ON {self._all([*on, *own])}"
        waiting += others
        return text + (f" WHERE {self._all(waiting)}" if waiting else "")

    def _all(self, parts: Iterable[exp.Expr]) -> str:
        return " AND ".join(self.text(part, qualified=True) for part in parts) or "TRUE"

    def _member(self, member: Leaf | FullJoin) -> str:
        if isinstance(member, FullJoin):
            left, right = self._side(member.left), self._side(member.right)
            return f"{left} FULL JOIN {right} ON {self._all(member.conditions)}"
        if member.rows is not None:
            inner = query_rendering(member.rows, self.leaves, self.dialect)
            return f"({inner.query(member.rows)}) AS {self.aliases[member.number]}"
        table = _table_text(member, self.dialect)
        return f"{table} AS {self.aliases[member.number]}" if len(self.aliases) > 1 else table

    def _side(self, block: Block) -> str:
        """A side of a FULL JOIN: what chooses its rows stands in it, where ON would choose other rows."""
        conditions = [part for part in block.conditions if len(numbers_in(part)) <= 1]
        rendered = self.relations(block, conditions)
        if conditions:
            return f"(SELECT * FROM {rendered}) AS {self.aliases[next(block.leaves()).number]}"
        return rendered if len(block.members) + len(block.attached) == 1 else f"({rendered})"


def query_rendering(rows: QueryRows, leaves: Mapping[int, Leaf], dialect: Dialect) -> QueryRendering:
    """The writer for a query of those `leaves`: `order_items` is called `oi`, a second one `oi2`."""
    aliases: dict[int, str] = {}
    for leaf in rows.block.leaves():
        name = leaf.table.table if leaf.table is not None else leaf.alias or "q"
        initials = "".join(word[0] for word in _WORDS.findall(name)).lower() or "t"
        count = sum(alias.rstrip("0123456789") == initials for alias in aliases.values())
        aliases[leaf.number] = f"{initials}{count + 1}" if count else initials
    of: dict[str, set[int]] = defaultdict(set)
    values = [value for value in rows.columns.values() if isinstance(value, exp.Expr)]
    filters = [part for part in rows.block.conditions if len(numbers_in(part)) == 1]
    for value in [*values, *(rows.keys or ()), *filters, *rows.having]:
        for column in columns_in(value):
            of[column.name].add(leaf_number(column))
    ambiguous = frozenset(name for name, numbers in of.items() if len(numbers) > 1)
    return QueryRendering(leaves, aliases, ambiguous, dialect)


def _type_without_data(node: exp.Expr) -> exp.Expr:
    """A type with its names and sizes, and `?` for what else it has: members of an ENUM, a time zone, comments."""
    made = type(node)()
    for key, value in node.args.items():
        made.set(key, [_type_part(one) for one in value] if isinstance(value, list) else _type_part(value))
    return made


def _type_part(value: object) -> object:
    if not isinstance(value, exp.Expr):
        return value
    if type(value) is exp.ColumnDef:
        return exp.ColumnDef(this=_type_part(value.this), kind=_type_part(value.args.get("kind")))
    if isinstance(value, exp.DataType | exp.DataTypeParam | exp.Interval | exp.IntervalSpan):
        return _type_without_data(value)
    is_data = not isinstance(value, exp.Identifier | exp.Var) and not (
        type(value) is exp.Literal and not value.is_string
    )
    return exp.Var(this=MASK) if is_data else value.copy()


def _numbers_of(member: Leaf | FullJoin) -> set[int]:
    if isinstance(member, Leaf):
        return {member.number}
    return {leaf.number for side in (member.left, member.right) for leaf in side.leaves()}


def _identifier(name: str) -> exp.Identifier:
    return exp.Identifier(this=name, quoted=not _PLAIN.fullmatch(name))


def _table_text(leaf: Leaf, dialect: Dialect) -> str:
    written = str(leaf.table)
    return f"`{written}`" if dialect.dotted_quotes else written


def _needs_brackets(node: exp.Expr, parent: exp.Expr) -> bool:
    """Whether an operator's operand stood in brackets, or may have."""
    if isinstance(node, exp.Connector):
        return isinstance(parent, exp.Binary | exp.Unary | exp.Predicate) and type(node) is not type(parent)
    arithmetic = isinstance(parent, exp.Binary | exp.Unary) and not isinstance(parent, exp.Connector)
    if isinstance(node, exp.Binary):
        return arithmetic and not (type(node) is type(parent) and isinstance(node, exp.Add | exp.Mul))
    return isinstance(node, exp.Not | exp.Predicate) and arithmetic and type(parent) is not exp.Not
