"""Whether the queries of TPC-DS are one metric however they are written, and another one when a filter changes.

    python tests/benchmarks/metric_rewrites.py QUERIES TABLES [--dialect spark] [--seed 1]

QUERIES is a folder of *.sql files, TABLES a file that names the columns of each table: `Table("t", …, 'c .int, …)` as
databricks/spark-sql-perf has it. Prints how many queries were taken apart, why others were not, and of the rewrites
and of the changed filters how many were told as what they are. Exit code 1 if one was not.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import sqlglot
from sqlglot import exp
from sqlglot.optimizer.eliminate_subqueries import eliminate_subqueries
from sqlglot.optimizer.qualify import qualify

from ingestion.dialects import dialect_of
from ingestion.metrics._normalizer import Comparison
from ingestion.metrics.inlining import Refusal
from ingestion.metrics.process import known_table
from ingestion.metrics.query import Context, query_metrics

_TABLE = re.compile(r'Table\("(\w+)"(.*?)(?=Table\("|\Z)', re.DOTALL)
_COLUMN = re.compile(r"'(\w+)\s+\.(\w+)")
_CONDITIONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between, exp.In, exp.Like)

Schema = dict[str, dict[str, str]]
Identities = frozenset[tuple[object, ...]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("queries", type=Path)
    parser.add_argument("tables", type=Path)
    parser.add_argument("--dialect", default="spark")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    schema = {name: dict(_COLUMN.findall(body)) for name, body in _TABLE.findall(given.tables.read_text("utf-8"))}
    chance = random.Random(given.seed)
    refused: Counter[str] = Counter()
    rewrites: Counter[str] = Counter()
    equal: Counter[str] = Counter()
    changes = told = taken = 0
    wrong: list[str] = []
    for file in sorted(given.queries.glob("*.sql")):
        tree = sqlglot.parse_one(file.read_text("utf-8").rstrip().rstrip(";"), dialect=given.dialect)
        try:
            found = identities(tree, schema, given.dialect)
        except Refusal as refusal:
            refused[refusal.reason] += 1
            continue
        taken += 1
        for name, rewritten in rewritings(tree, schema, given.dialect, chance):
            rewrites[name] += 1
            if _same(rewritten, found, schema, given.dialect):
                equal[name] += 1
            else:
                wrong.append(f"{file.name}: {name}")
        for changed in with_other_filters(tree):
            changes += 1
            if _different(changed, found, schema, given.dialect):
                told += 1
            else:
                wrong.append(f"{file.name}: a changed filter")
    print(f"queries taken apart: {taken} of {taken + refused.total()}")
    for reason, count in refused.most_common():
        print(f"  not: {count} of {reason}")
    for name, count in rewrites.items():
        print(f"rewritten by {name}: {equal[name]} of {count} are the same metrics")
    print(f"changed filters: {told} of {changes} are other metrics")
    print("\n".join(wrong))
    return 1 if wrong else 0


def identities(tree: exp.Expr, schema: Schema, dialect: str) -> Identities:
    """What the measures of a query are known by. Raises Refusal."""
    rules = dialect_of(dialect)
    comparison = Comparison(b"benchmark", rules.text_addition)
    context = Context(rules, comparison, lambda table: known_table(schema, table), ())
    written = sqlglot.parse_one(tree.sql(dialect=dialect), dialect=dialect)  # as a person would have it
    found = query_metrics(written, context)
    filters = frozenset(one.key for one in found.filters)
    return frozenset((found.view.key, measure.expression.key, filters) for measure in found.measures)


def _same(tree: exp.Expr, found: Identities, schema: Schema, dialect: str) -> bool:
    try:
        return identities(tree, schema, dialect) == found
    except Refusal:
        return False


def _different(tree: exp.Expr, found: Identities, schema: Schema, dialect: str) -> bool:
    try:
        return not identities(tree, schema, dialect) & found
    except Refusal:
        return True


def rewritings(tree: exp.Expr, schema: Schema, dialect: str, chance: random.Random) -> Iterator[tuple[str, exp.Expr]]:
    """The query written otherwise, with the name of how."""
    yield "order of predicates", _with_shuffled_predicates(tree, chance)
    yield "turned comparisons", _with_turned_comparisons(tree)
    shuffled = _with_shuffled_joins(tree, chance)
    if shuffled != tree:
        yield "order of joins", shuffled
    known: dict[str, object] = {**schema}
    qualified = qualify(
        tree.copy(), schema=known, dialect=dialect, quote_identifiers=False, validate_qualify_columns=False
    )
    yield "qualified names", qualified
    yield "aliases", _with_other_aliases(qualified)
    yield "WITH items for queries in FROM", eliminate_subqueries(qualified.copy())
    without = _without_with(tree)
    if without is not None:
        yield "queries in FROM for WITH items", without


def _with_shuffled_predicates(tree: exp.Expr, chance: random.Random) -> exp.Expr:
    changed = tree.copy()
    for where in list(changed.find_all(exp.Where, exp.Having)):
        parts = (
            [part.copy() for part in where.this.unnest().flatten()] if isinstance(where.this.unnest(), exp.And) else []
        )
        if parts:
            chance.shuffle(parts)
            where.set("this", exp.and_(*parts, copy=False))
    return changed


def _with_turned_comparisons(tree: exp.Expr) -> exp.Expr:
    turned = {exp.LT: exp.GT, exp.GT: exp.LT, exp.LTE: exp.GTE, exp.GTE: exp.LTE, exp.EQ: exp.EQ}
    changed = tree.copy()
    for node in list(changed.find_all(*turned)):
        if not isinstance(node.this, exp.Query) and not isinstance(node.expression, exp.Query):
            node.replace(turned[type(node)](this=node.expression.copy(), expression=node.this.copy()))
    return changed


def _with_shuffled_joins(tree: exp.Expr, chance: random.Random) -> exp.Expr:
    """Another order of the relations that commas join; other joins stay as they are."""
    changed = tree.copy()
    for select in list(changed.find_all(exp.Select)):
        from_, joins = select.args.get("from_"), select.args.get("joins") or []
        if (
            from_ is None
            or not joins
            or any(join.side or join.args.get("on") or join.args.get("using") for join in joins)
        ):
            continue
        if any(isinstance(item, exp.Star) for item in select.expressions):
            continue
        items = [from_.this, *(join.this for join in joins)]
        chance.shuffle(items)
        from_.set("this", items[0])
        select.set("joins", [exp.Join(this=item, kind="CROSS") for item in items[1:]])
    return changed


def _with_other_aliases(qualified: exp.Expr) -> exp.Expr:
    """Every alias of a relation with a prefix; the names of WITH items stay."""
    changed = qualified.copy()
    for column in changed.find_all(exp.Column):
        if column.table:
            column.set("table", exp.to_identifier(f"x_{column.table}"))
    for source in changed.find_all(exp.Table, exp.Subquery):
        if source.alias:
            source.args["alias"].set("this", exp.to_identifier(f"x_{source.alias}"))
    return changed


def _without_with(tree: exp.Expr) -> exp.Expr | None:
    """The query with each WITH item in the places where it is read; None where there is none."""
    changed = tree.copy()
    with_ = changed.args.get("with_")
    if with_ is None:
        return None
    items: dict[str, exp.Expr] = {}
    for item in with_.expressions:
        items[item.alias.lower()] = _replaced(item.this.copy(), items)
    changed.set("with_", None)
    return _replaced(changed, items)


def _replaced(tree: exp.Expr, items: dict[str, exp.Expr]) -> exp.Expr:
    for table in list(tree.find_all(exp.Table)):
        item = items.get(table.name.lower()) if not table.db else None
        if item is not None:
            table.replace(
                exp.Subquery(this=item.copy(), alias=exp.TableAlias(this=exp.to_identifier(table.alias_or_name)))
            )
    return tree


def with_other_filters(tree: exp.Expr) -> Iterator[exp.Expr]:
    """The query with one literal of one of its conditions changed, for each of them."""
    literals = [
        number
        for number, literal in enumerate(tree.find_all(exp.Literal))
        if literal.find_ancestor(exp.Where, exp.Having) and isinstance(literal.parent, _CONDITIONS)
    ]
    for wanted in literals:
        changed = tree.copy()
        literal = next(one for number, one in enumerate(changed.find_all(exp.Literal)) if number == wanted)
        other = f"{literal.this}7"
        literal.replace(exp.Literal.string(other) if literal.is_string else exp.Literal.number(other))
        yield changed


if __name__ == "__main__":
    sys.exit(main())
