"""What Spark's own analyzer says of a query: its analyzed plan as JSON, walked by expression ids.

An oracle for the tests, independent of the product: it reads the structured plan inside the job and never the event
log's text. Direct sources leave out conditions; `indirect` is the row-level keys plus a column's own.
"""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass, field
from typing import Any

from py4j.protocol import Py4JError

Source = tuple[str, str]
NO_DIRECT = {"Rank", "DenseRank", "PercentRank", "RowNumber", "CumeDist", "NTile", "Grouping", "GroupingID"}
OPAQUE = {"MapInPandas", "MapInArrow", "FlatMapGroupsInPandas", "FlatMapCoGroupsInPandas", "MapElements"}


@dataclass
class Column:
    name: str
    direct: set[Source] = field(default_factory=set)
    indirect: set[Source] = field(default_factory=set)
    opaque: bool = False


@dataclass
class Rows:
    """A plan's output columns by id, in order, and the sources that decided its rows."""

    columns: dict[int, Column]
    indirect: set[Source] = field(default_factory=set)


def tree(items: list[dict[str, Any]]) -> dict[str, Any]:
    """The nested node of a pre-order list."""
    position = 0

    def take() -> dict[str, Any]:
        nonlocal position
        node = dict(items[position])
        position += 1
        node["kind"] = node["class"].rsplit(".", 1)[-1].rstrip("$")
        node["children"] = [take() for _ in range(node["num-children"])]
        return node

    return take()


def is_tree(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict) and "num-children" in value[0]


def trees(value: Any) -> list[dict[str, Any]]:
    """The expressions held by a field: one, a list, or lists of lists."""
    if is_tree(value):
        return [tree(value)]
    if isinstance(value, list):
        return [found for item in value for found in trees(item)]
    return []


REMEMBERED: dict[int, Column] = {}
"""The columns of frames that are about to be checkpointed, which afterwards are leaves without a past."""


class Oracle:
    def __init__(self, leaf_names: list[str]) -> None:
        self.leaf_names = leaf_names
        self.ctes: dict[int, Rows] = {}
        self.cte_order: dict[int, list[int]] = {}

    # --- expressions ---------------------------------------------------------------------------------------
    def expression(self, node: dict[str, Any], scope: dict[int, Column]) -> Column:
        kind = node["kind"]
        if kind in ("AttributeReference", "OuterReference", "NamedLambdaVariable"):
            if kind == "OuterReference":
                inner = node["children"][0] if node["children"] else trees(node["e"])[0]
                return self.expression(inner, scope)
            found = scope.get(node["exprId"]["id"])
            return Column("", set(found.direct), set(found.indirect), found.opaque) if found else Column("")
        if kind == "GetStructField" and node["children"][0]["kind"] == "CreateNamedStruct":
            return self.expression(node["children"][0]["children"][2 * node["ordinal"] + 1], scope)
        direct: list[dict[str, Any]] = [] if "plan" in node and is_tree(node["plan"]) else node["children"]
        conditions: list[dict[str, Any]] = []
        if kind == "CaseWhen":
            pairs = len(direct) // 2
            conditions = direct[0 : 2 * pairs : 2]
            direct = direct[1 : 2 * pairs : 2] + direct[2 * pairs :]
        elif kind == "If":
            conditions, direct = direct[:1], direct[1:]
        elif kind in ("WindowExpression", "AggregateExpression", "MinBy", "MaxBy"):
            direct, conditions = direct[:1], direct[1:]
        elif kind == "PivotFirst":
            direct, conditions = direct[1:], direct[:1]
        elif kind == "Coalesce":
            conditions = direct
        elif kind in NO_DIRECT:
            direct = []
        out = Column("")
        for part in direct:
            got = self.expression(part, scope)
            out.direct |= got.direct
            out.indirect |= got.indirect
            out.opaque |= got.opaque
        for part in conditions:
            got = self.expression(part, scope)
            out.indirect |= got.direct | got.indirect
        if "plan" in node and is_tree(node["plan"]):
            rows = self.rows(tree(node["plan"]), scope)
            columns = list(rows.columns.values())
            if kind in ("ScalarSubquery", "ListQuery", "LateralSubquery"):
                out.direct |= columns[0].direct
                out.indirect |= columns[0].indirect
            out.indirect |= rows.indirect
        return out

    def sources(self, found: list[dict[str, Any]], scope: dict[int, Column]) -> set[Source]:
        out: set[Source] = set()
        for node in found:
            got = self.expression(node, scope)
            out |= got.direct | got.indirect
        return out

    def named(self, nodes: list[dict[str, Any]], scope: dict[int, Column]) -> dict[int, Column]:
        out: dict[int, Column] = {}
        for node in nodes:
            got = self.expression(node, scope)
            got.name = node["name"]
            out[node["exprId"]["id"]] = got
        return out

    # --- plans -----------------------------------------------------------------------------------------------
    def rows(self, node: dict[str, Any], outer: dict[int, Column]) -> Rows:
        kind = node["kind"]
        if kind == "WithCTE":
            for definition in node["children"][1:] if "cteDefs" not in node else []:
                self.rows(definition, outer)
            children = node["children"]
            plan = next(c for c in children if c["kind"] != "CTERelationDef")
            for definition in children:
                if definition["kind"] == "CTERelationDef":
                    self.rows(definition, outer)
            return self.rows(plan, outer)
        if kind == "CTERelationDef":
            self.ctes[node["id"]] = self.rows(node["children"][0], outer)
            return self.ctes[node["id"]]
        if kind == "CTERelationRef":
            source = self.ctes[node["cteId"]]
            ids = [(a["exprId"]["id"], a["name"]) for a in trees(node["output"])]
            columns = {
                i: Column(name, c.direct, c.indirect, c.opaque)
                for (i, name), c in zip(ids, source.columns.values(), strict=True)
            }
            return Rows(columns, set(source.indirect))
        if not node["children"]:
            return self.leaf(node)
        inputs = [self.rows(child, outer) for child in node["children"]] if kind != "LateralJoin" else []
        if kind == "LateralJoin":
            left = self.rows(node["children"][0], outer)
            lateral = trees(node["right"])[0]
            right = self.rows(tree(lateral["plan"]), {**outer, **left.columns})
            inputs = [left, right]
        merged: dict[int, Column] = {}
        for rows in inputs:
            merged.update(rows.columns)
        scope = {**outer, **merged}
        indirect = set().union(*[rows.indirect for rows in inputs])
        return self.inner(node, inputs, merged, scope, indirect)

    def inner(self, node, inputs, merged, scope, indirect) -> Rows:  # type: ignore[no-untyped-def]
        kind = node["kind"]
        if kind == "Project":
            return Rows(self.named(trees(node["projectList"]), scope), indirect)
        if kind == "Aggregate":
            keys = self.sources(trees(node["groupingExpressions"]), scope)
            return Rows(self.named(trees(node["aggregateExpressions"]), scope), indirect | keys)
        if kind == "Filter":
            return Rows(merged, indirect | self.sources(trees(node["condition"]), scope))
        if kind in ("Join", "LateralJoin"):
            condition = self.sources(trees(node.get("condition")), scope)
            join = str(node["joinType"])
            columns = inputs[0].columns if "LeftSemi" in join or "LeftAnti" in join else merged
            return Rows(columns, indirect | condition)
        if kind == "Sort":
            keys = self.sources(trees(node["order"]), scope) if node["global"] else set()
            return Rows(merged, indirect | keys)
        if kind == "Distinct":
            return Rows(merged, indirect | {s for c in merged.values() for s in c.direct | c.indirect})
        if kind == "Deduplicate":
            return Rows(merged, indirect | self.sources(trees(node["keys"]), scope))
        if kind == "Union":
            first = inputs[0].columns
            columns = {i: Column(c.name, set(c.direct), set(c.indirect), c.opaque) for i, c in first.items()}
            for other in inputs[1:]:
                for mine, theirs in zip(columns.values(), other.columns.values(), strict=True):
                    mine.direct |= theirs.direct
                    mine.indirect |= theirs.indirect
            return Rows(columns, indirect)
        if kind in ("Intersect", "Except"):
            keys = {s for r in inputs for c in r.columns.values() for s in c.direct | c.indirect}
            return Rows(inputs[0].columns, indirect | keys)
        return self.made(node, merged, scope, indirect)

    def made(self, node, merged, scope, indirect) -> Rows:  # type: ignore[no-untyped-def]
        """Nodes that add columns or make all of them."""
        kind = node["kind"]
        if kind == "Window":
            columns = dict(merged) | self.named(trees(node["windowExpressions"]), scope)
            return Rows(columns, indirect)
        if kind == "Generate":
            names = trees(node["generatorOutput"])
            parts, rows = self.generated(trees(node["generator"])[0], len(names), scope)
            columns = dict(merged)
            for attribute, part in zip(names, parts, strict=True):
                columns[attribute["exprId"]["id"]] = Column(attribute["name"], part.direct, part.indirect)
            return Rows(columns, indirect | rows)
        if kind == "Expand":
            columns = {}
            lists = [[tree(e) for e in row] for row in node["projections"]]
            for position, attribute in enumerate(trees(node["output"])):
                merged_column = Column(attribute["name"])
                for row in lists:
                    got = self.expression(row[position], scope)
                    merged_column.direct |= got.direct
                    merged_column.indirect |= got.indirect
                columns[attribute["exprId"]["id"]] = merged_column
            return Rows(columns, indirect)
        if kind in OPAQUE:
            everything = {s for c in merged.values() for s in c.direct | c.indirect}
            columns = {
                a["exprId"]["id"]: Column(a["name"], set(everything), set(), True) for a in trees(node["output"])
            }
            return Rows(columns, indirect)
        return Rows(merged, indirect)

    def generated(self, node: dict[str, Any], count: int, scope: dict[int, Column]) -> tuple[list[Column], set[Source]]:
        """What each column of a generator is made of, and what decides how many rows there are."""
        kind, children = node["kind"], node["children"]
        if kind == "Stack":
            return [self.any_of(children[1:][place::count], scope) for place in range(count)], set()
        listed = children[0]["kind"] in ("CreateArray", "CreateMap")
        whole = self.any_of(children, scope)
        rows = set() if listed or kind not in ("Explode", "PosExplode", "Inline") else whole.direct | whole.indirect
        parts = [Column("", indirect=set(rows))] if kind == "PosExplode" else []
        if children[0]["kind"] == "CreateMap":
            pairs = children[0]["children"]
            return [*parts, self.any_of(pairs[::2], scope), self.any_of(pairs[1::2], scope)], rows
        return [*parts, *[whole] * (count - len(parts))], rows

    def any_of(self, nodes: list[dict[str, Any]], scope: dict[int, Column]) -> Column:
        """What one of several expressions is made of."""
        found = [self.expression(node, scope) for node in nodes]
        return Column(
            "", set().union(*(each.direct for each in found)), set().union(*(each.indirect for each in found))
        )

    def leaf(self, node: dict[str, Any]) -> Rows:
        name = self.leaf_names.pop(0) if node.get("leaf") else ""
        catalog = node.get("catalogTable") or node.get("tableMeta")
        if isinstance(catalog, dict):
            i = catalog["identifier"]
            name = ".".join(p for p in (i.get("catalog") or "spark_catalog", i.get("database"), i["table"]) if p)
        kind = node["kind"]
        sourced = kind in ("LogicalRelation", "HiveTableRelation", "DataSourceV2Relation", "StreamingRelation")
        columns = {}
        for attribute in trees(node.get("output") or node.get("dataCols") or []) + trees(
            node.get("partitionCols") or []
        ):
            identifier = attribute["exprId"]["id"]
            if kind == "LogicalRDD" and identifier in REMEMBERED:
                columns[identifier] = REMEMBERED[identifier]
                continue
            direct = {(name, attribute["name"])} if sourced and name else set()
            columns[identifier] = Column(attribute["name"], direct)
        return Rows(columns)


def leaf_name(leaf: Any) -> str:
    """The name of a leaf that carries no catalog table in its JSON: a path, or a V2 table."""
    kind = leaf.getClass().getSimpleName()
    if kind == "LogicalRelation":
        relation = leaf.relation()
        with contextlib.suppress(Py4JError):  # relations over files have a location, whatever their class
            return str(relation.location().rootPaths().apply(0).toString())
        return str(relation.toString())
    if kind.startswith("DataSourceV2"):
        if leaf.catalog().isDefined() and leaf.identifier().isDefined():
            identifier = leaf.identifier().get()
            namespace = list(identifier.namespace())
            if namespace and "/" in namespace[-1]:  # a table read by its path
                return f"file:{namespace[-1]}/{identifier.name()}"
            return ".".join([leaf.catalog().get().name(), *identifier.namespace(), identifier.name()])
        return str(leaf.table().name())
    return ""


def lineage_of(plan: Any) -> dict[str, Any]:
    """Columns, direct pairs and indirect pairs of a JVM logical plan.

    `intersects`: what only decides rows here may be direct too, as a row of an INTERSECT stands in both its sides.
    """
    rows = rows_of(plan)
    columns = list(rows.columns.values())
    return {
        "columns": [c.name for c in columns],
        "direct": sorted([i, t, n] for i, c in enumerate(columns) for t, n in c.direct),
        "indirect": sorted([i, t, n] for i, c in enumerate(columns) for t, n in c.indirect | rows.indirect),
        "opaque": any(c.opaque for c in columns),
        "intersects": '.Intersect"' in plan.toJSON(),
    }


def remember(plan: Any) -> None:
    """Note what a frame's columns are made of, before a checkpoint cuts its plan."""
    REMEMBERED.update(rows_of(plan).columns)


def rows_of(plan: Any) -> Rows:
    items = json.loads(plan.toJSON())
    leaves = plan.collectLeaves()
    names = [leaf_name(leaves.apply(i)) for i in range(leaves.size())]
    for item in items:
        item["leaf"] = item["num-children"] == 0
    return Oracle(names).rows(tree(items), {})
