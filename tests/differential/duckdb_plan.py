"""What DuckDB's own plan of a query says: of what each column is made, and what is read.

json_serialize_plan gives the plan as it is bound, before anything is optimized. A column of an operator is a position
among those of what is below it, so that nothing is looked up by name here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import duckdb

Reference = tuple[str, str]
"""(table, column), as the catalog spells them."""

Columns = list[set[Reference]]
"""Of what each column of an operator is made, in order."""

_Node = dict[str, Any]
MARK: Reference = ("", "mark")
"""Stands in a column that says whether a subquery has a row: of what that is made no plan tells."""

_HIDDEN = "rowid"
_MOST_TURNS = 6
"""Of a recursive item: no test has a chain of columns that is longer."""


class UnreadPlan(Exception):
    """The engine refuses the query, or its plan has what is not read here."""


@dataclass(frozen=True, slots=True)
class PlanLineage:
    """The columns of a query, all references in it (in conditions, too) and the tables under it."""

    columns: Columns
    references: set[Reference]
    tables: set[str]


def lineage_of_plan(connection: duckdb.DuckDBPyConnection, query: str) -> PlanLineage:
    """What the engine says of a query. Raises `UnreadPlan`, and duckdb.Error of a query that takes too long."""
    row = connection.execute("SELECT json_serialize_plan(?, optimize := false)", [query]).fetchone()
    answer = json.loads(row[0]) if row is not None else {"error": True}
    if answer["error"] or len(answer["plans"]) != 1:
        raise UnreadPlan(f"the engine: {answer.get('error_type', 'several plans')}")
    reader = _PlanReader()
    columns = reader.columns(answer["plans"][0])
    return PlanLineage(columns, reader.references.union(*columns), reader.tables)


@dataclass(slots=True)
class _PlanReader:
    references: set[Reference] = field(default_factory=set)
    tables: set[str] = field(default_factory=set)
    items: dict[int, Columns] = field(default_factory=dict)
    outer: list[Columns] = field(default_factory=list)

    def columns(self, node: _Node) -> Columns:
        """The columns of an operator."""
        kind = node["type"]
        read = _OPERATORS.get(kind)
        if read is None:
            raise UnreadPlan(kind)
        return read(self, node)

    def value(self, expression: object, columns: Columns) -> set[Reference]:
        """Of what an expression over these columns is made."""
        found: set[Reference] = set()
        self._collect(expression, columns, found)
        self.references |= found
        return found

    def _collect(self, expression: object, columns: Columns, found: set[Reference]) -> None:
        if isinstance(expression, list):
            for each in expression:
                self._collect(each, columns, found)
        elif isinstance(expression, dict) and expression.get("expression_class") != "BOUND_REF":
            for each in expression.values():
                self._collect(each, columns, found)
        elif isinstance(expression, dict):
            if expression["index"] >= len(columns):
                raise UnreadPlan("a column beyond those of the operator below")
            found |= columns[expression["index"]]

    def below(self, node: _Node) -> Columns:
        return self.columns(node["children"][0])

    def scan(self, node: _Node) -> Columns:
        """A table, or a function in FROM: what it is given comes behind its own columns where the plan says so."""
        given = self.below(node) if node["children"] else []
        data = node.get("function_data")
        table = data.get("table") if isinstance(data, dict) else None
        made: Columns = []
        for index in (each["index"] for each in node["column_indexes"]):
            name = node["names"][index] if index < len(node["names"]) else _HIDDEN
            made.append(set().union(*given) if table is None else {(table, name)})
        if table is not None:
            self.tables.add(table)
        chosen = [made[index] for index in node["projection_ids"]] if node["projection_ids"] else made
        return [*chosen, *(given[index] for index in node.get("projected_input") or [])]

    def join(self, node: _Node) -> Columns:
        left, eliminated = self.below(node), node.get("duplicate_eliminated_columns")
        if eliminated:  # the right side of a correlated subquery reads the columns of the left one again
            self.outer.append([self.value(each, left) for each in eliminated])
        right = self.columns(node["children"][1])
        if eliminated:
            self.outer.pop()
        for condition in node.get("conditions") or []:
            self.value(condition.get("left"), left)
            self.value(condition.get("right"), right)
        self.value([node.get("condition"), node.get("predicate")], left + right)
        left = _chosen(left, node.get("left_projection_map"))
        right = _chosen(right, node.get("right_projection_map"))
        match node["join_type"]:
            case "SEMI" | "ANTI":
                return left
            case "RIGHT_SEMI" | "RIGHT_ANTI":
                return right
            case "MARK":
                return [*left, {MARK}]
        return left + right

    def eliminated(self, node: _Node) -> Columns:
        count = len(node["chunk_types"])
        found = next((columns for columns in reversed(self.outer) if len(columns) == count), None)
        if found is None:
            raise UnreadPlan("a subquery without the query around it")
        return list(found)

    def aggregate(self, node: _Node) -> Columns:
        below, sets = self.below(node), node["grouping_sets"]
        keys = [self.value(key, below) for key in node["groups"]]
        if sets:  # a key that is in no set is NULL in each
            keys = [key if any(number in one for one in sets) else set() for number, key in enumerate(keys)]
        aggregates = [self.value(each, below) for each in node["expressions"]]
        return [*keys, *aggregates, *({MARK} for _ in node["grouping_functions"])]

    def rows(self, node: _Node) -> Columns:
        """VALUES."""
        below, rows = self.below(node), node["expressions"]
        return [_united(self.value(row[number], below) for row in rows) for number in range(len(rows[0]))]

    def set_operation(self, node: _Node) -> Columns:
        first, *others = [self.columns(child) for child in node["children"]]
        if node["type"] == "LOGICAL_EXCEPT":
            self.references.update(*(column for other in others for column in other))
            return first
        return [_united(columns) for columns in zip(first, *others, strict=True)]

    def item(self, node: _Node) -> Columns:
        self.items[node["table_index"]] = self.below(node)
        return self.columns(node["children"][1])

    def recursive_item(self, node: _Node) -> Columns:
        columns = self.below(node)
        for _ in range(_MOST_TURNS):
            self.items[node["table_index"]] = columns
            turn = self.columns(node["children"][1])
            columns = [_united(pair) for pair in zip(columns, turn, strict=True)]
        return columns

    def item_read(self, node: _Node) -> Columns:
        if node["cte_index"] not in self.items:
            raise UnreadPlan("an item that the plan does not have")
        return self.items[node["cte_index"]]

    def projection(self, node: _Node) -> Columns:
        below = self.below(node)
        return [self.value(each, below) for each in node["expressions"]]

    def extended(self, node: _Node) -> Columns:
        """Windows and UNNEST: their values come behind the columns that are there."""
        below = self.below(node)
        return below + [self.value(each, below) for each in node["expressions"]]

    def narrowed(self, node: _Node) -> Columns:
        """Filters, orders and limits: the columns that are there, or some of them."""
        below = self.below(node)
        self.value({key: value for key, value in node.items() if key != "children"}, below)
        return _chosen(below, node.get("projection_map"))

    def beside(self, node: _Node) -> Columns:
        return self.below(node) + self.columns(node["children"][1])

    def constant(self, node: _Node) -> Columns:
        types = node.get("chunk_types") or node.get("return_types") or [None]
        return [set() for _ in types]


def _united(values: Iterable[set[Reference]]) -> set[Reference]:
    return set().union(*values)


def _chosen(columns: Columns, numbers: Sequence[int] | None) -> Columns:
    return [columns[number] for number in numbers] if numbers else columns


_OPERATORS: dict[str, Callable[[_PlanReader, _Node], Columns]] = {
    "LOGICAL_GET": _PlanReader.scan,
    "LOGICAL_DELIM_GET": _PlanReader.eliminated,
    "LOGICAL_EXPRESSION_GET": _PlanReader.rows,
    "LOGICAL_PROJECTION": _PlanReader.projection,
    "LOGICAL_AGGREGATE_AND_GROUP_BY": _PlanReader.aggregate,
    "LOGICAL_MATERIALIZED_CTE": _PlanReader.item,
    "LOGICAL_RECURSIVE_CTE": _PlanReader.recursive_item,
    "LOGICAL_CTE_REF": _PlanReader.item_read,
    **dict.fromkeys(
        ("LOGICAL_DUMMY_SCAN", "LOGICAL_EMPTY_RESULT", "LOGICAL_CHUNK_GET", "LOGICAL_COLUMN_DATA_SCAN"),
        _PlanReader.constant,
    ),
    **dict.fromkeys(
        (
            *("LOGICAL_FILTER", "LOGICAL_ORDER_BY", "LOGICAL_LIMIT", "LOGICAL_TOP_N", "LOGICAL_SAMPLE"),
            "LOGICAL_DISTINCT",
        ),
        _PlanReader.narrowed,
    ),
    **dict.fromkeys(("LOGICAL_WINDOW", "LOGICAL_UNNEST"), _PlanReader.extended),
    **dict.fromkeys(("LOGICAL_UNION", "LOGICAL_EXCEPT", "LOGICAL_INTERSECT"), _PlanReader.set_operation),
    **dict.fromkeys(("LOGICAL_CROSS_PRODUCT", "LOGICAL_POSITIONAL_JOIN"), _PlanReader.beside),
    **dict.fromkeys(
        (
            *("LOGICAL_COMPARISON_JOIN", "LOGICAL_DELIM_JOIN", "LOGICAL_ASOF_JOIN", "LOGICAL_ANY_JOIN"),
            "LOGICAL_DEPENDENT_JOIN",
        ),
        _PlanReader.join,
    ),
}
