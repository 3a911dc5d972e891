"""What a SELECT groups by, and SELECTs that only pass on, rename or choose what another has grouped."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp

from ingestion.decomposition.folding.expressions import has_aggregate
from ingestion.decomposition.folding.rows import Block, Leaf, QueryRows, Refusal, Value, columns_in, leaf_number
from ingestion.decomposition.folding.scopes import NameScope

Rewrite = Callable[[exp.Expr], exp.Expr]
_PASSED_ON = "a condition on a total over everything"


def grouping_keys(node: exp.Expr, rows: QueryRows, scope: NameScope, rewrite: Rewrite) -> list[exp.Expr] | None:
    """The keys of the GROUP BY of a SELECT (`node`) over base columns, None without one.

    Raises Refusal where one is not certain.
    """
    columns = rows.columns
    group = node.args.get("group")
    if group is None:
        return None
    if group.args.get("all") and not group.expressions:
        if rows.open:
            raise Refusal("GROUP BY ALL beside a star")
        return [value for value in map(_certain, columns.values()) if not has_aggregate(value)]
    outputs = list(columns.values())
    scope.outputs = columns
    keys: list[exp.Expr] = []
    for key in _flat(group):
        if type(key) is exp.Literal:
            if key.is_string or not key.name.isdigit() or not 0 < int(key.name) <= len(outputs):
                raise Refusal("a constant as a GROUP BY key")
            if rows.open:
                raise Refusal("the place of a column beside a star")
            keys.append(_certain(outputs[int(key.name) - 1]).copy())
        else:
            keys.append(rewrite(key))
    return keys


def _flat(group: exp.Expr) -> Iterator[exp.Expr]:
    """The keys of GROUP BY, those of ROLLUP, CUBE and GROUPING SETS among them."""
    waiting = [*group.expressions]
    for part in ("grouping_sets", "cube", "rollup"):
        waiting += group.args.get(part) or ()
    while waiting:
        key = waiting.pop(0)
        if isinstance(key, exp.Tuple | exp.GroupingSets | exp.Cube | exp.Rollup):
            waiting[:0] = key.expressions
        elif isinstance(key, exp.Paren):
            waiting.insert(0, key.this)
        elif isinstance(key, exp.Expr):
            yield key


def has_levels(node: exp.Expr) -> bool:
    """Whether it groups at several levels at once (ROLLUP), so that rows of one hold rows of another."""
    group = node.args.get("group")
    return group is not None and any(
        isinstance(found, exp.GroupingSets | exp.Cube | exp.Rollup) for found in group.walk()
    )


def only_groups(block: Block) -> Leaf | None:
    """The one occurrence that a FROM clause has, where its rows are groups."""
    if len(block.members) != 1 or block.attached or not isinstance(block.members[0], Leaf):
        return None
    return block.members[0] if block.members[0].rows is not None else None


def pass_groups_on(rows: QueryRows, groups: Leaf, conditions: list[exp.Expr]) -> QueryRows:
    """A SELECT over groups alone as one that groups itself: its conditions choose keys, or groups."""
    inner = groups.rows
    assert inner is not None
    assert inner.keys is not None
    columns = {name: _inline(value, groups, inner) for name, value in rows.columns.items()}
    for condition in [*conditions, *rows.block.conditions]:
        made = _certain(_inline(condition, groups, inner))
        if has_aggregate(made) or not inner.keys:
            inner.having.append(made)
        else:
            inner.block.conditions.append(made)
    return QueryRows(inner.block, columns, (), inner.keys, inner.having)


def _inline(value: Value, groups: Leaf, inner: QueryRows) -> Value:
    """An expression over groups as one over what they are made of; a query inside it stays."""
    if isinstance(value, Refusal):
        return value
    of_groups = [column for column in columns_in(value) if leaf_number(column) == groups.number]
    if of_groups == [value]:
        return inner.columns.get(of_groups[0].name, Refusal(_PASSED_ON))
    for column in of_groups:
        made = inner.columns.get(column.name)
        if made is None or isinstance(made, Refusal):
            return made or Refusal(_PASSED_ON)
        column.replace(made.copy())
    return value


def group_by_all(rows: QueryRows) -> None:
    """SELECT DISTINCT: rows are groups by all of the columns."""
    if rows.keys is not None:
        raise Refusal("DISTINCT over groups inside the query")
    if rows.open:
        raise Refusal("DISTINCT over columns that are not known")
    rows.keys = [_certain(value) for value in rows.columns.values()]


def _certain(value: Value) -> exp.Expr:
    if isinstance(value, Refusal):
        raise value
    return value
