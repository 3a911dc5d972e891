"""An analysed plan as Spark exports it (`toJSON`), made a tree again.

Spark writes a tree as a flat list in pre-order, each node with the number of its children; expressions and the plans of
subqueries stand in the fields of their plan node as lists of the same kind.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Node:
    """A plan or an expression: `name` is its class without the package."""

    name: str
    fields: dict[str, Any]
    children: tuple[Node, ...]

    @property
    def id(self) -> int:
        """The expression id of an attribute or an alias."""
        return int(self.fields["exprId"]["id"])

    def nodes(self, field: str) -> list[Node]:
        """The expressions in a field: one, several, or several lists of them."""
        return list(_flat(self.fields.get(field)))

    def child(self, field: str) -> Node:
        """The child that a field points to."""
        return self.children[int(self.fields[field])]


def _flat(value: Any) -> Iterator[Node]:
    if isinstance(value, Node):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _flat(item)


def analysed(spark: SparkSession, query: str) -> Node:
    """The plan of a query after Spark's analyzer; raises AnalysisException or ParseException where it has none."""
    return tree_of(spark.sql(query)._jdf.queryExecution().analyzed().toJSON())


def tree_of(exported: str) -> Node:
    """The tree of a plan as Spark exports it."""
    return _tree(iter(json.loads(exported)))


def _tree(nodes: Iterator[dict[str, Any]]) -> Node:
    head = next(nodes)
    fields = {key: _decoded(value) for key, value in head.items() if key not in ("class", "num-children")}
    children = tuple(_tree(nodes) for _ in range(head["num-children"]))
    return Node(head["class"].rpartition(".")[2], fields, children)


def _decoded(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    if value and isinstance(value[0], dict) and "num-children" in value[0]:
        return _tree(iter(value))
    return [_decoded(item) for item in value]


def words(spaced: str) -> frozenset[str]:
    """The names of classes in a text."""
    return frozenset(spaced.split())
