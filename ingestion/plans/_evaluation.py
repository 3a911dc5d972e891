"""A plan's tree evaluated bottom-up to the relation that it gives, whatever form the tree was printed in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from ingestion.model.lineage import Problem, TableName
from ingestion.model.outcomes import ProblemKind
from ingestion.plans import _logical as logical
from ingestion.plans import _physical as physical
from ingestion.plans import _row_operations as row_operations
from ingestion.plans import _scans as scans
from ingestion.plans._expressions import AttributeScope
from ingestion.plans._relation import MISSING, Attribute, Element, PlanRelation, attribute_list, join_relations
from ingestion.plans._scans import PlanNodeInput
from ingestion.plans._tree import PlanNode
from ingestion.plans.names import NameMapping

_PASSING = """
    SubqueryAlias Exchange BroadcastExchange ColumnarToRow RowToColumnar InputAdapter WholeStageCodegen
    AdaptiveSparkPlan ShuffleQueryStage BroadcastQueryStage AQEShuffleRead CustomShuffleReader GlobalLimit LocalLimit
    CollectLimit Limit Offset Tail CollectTail Sample Repartition RepartitionByExpression RebalancePartitions
    ResolvedHint Coalesce WriteFiles EventTimeWatermark CollectMetrics Subquery SubqueryBroadcast CommandResult
    SubqueryAdaptiveBroadcast WindowGroupLimit ReusedSubquery ReturnAnswer TableCacheQueryStage ResultQueryStage
    ColumnarExchange CoalesceBatches ShuffleCoalesce BringBackToHost ShuffleExchangeSink ShuffleExchangeSource
    ShuffleMapStage ResultStage WriteToMicroBatchDataSource WriteToMicroBatchDataSourceV1 WriteToDataSourceV2
"""
PASSING = frozenset(_PASSING.split())
"""Nodes that give their child's columns and rows on (limits and samples choose rows by no column)."""


@dataclass(slots=True)
class Evaluation:
    """What the plans of one statement have in common: names, subqueries, what earlier plans of the application made.

    `remembered` maps an expression id to the column that an earlier plan of the same application gave it: checkpoints
    and cached frames are leaves whose ids only it explains. `paths` has the locations of leaves that print none;
    `batch` is what foreachBatch's function is given, `loop` what a recursive query has so far; `made` collects the
    columns of all leaves and projections.
    """

    names: NameMapping
    remembered: Mapping[int, Attribute] = field(default_factory=dict)
    subqueries: Mapping[int, PlanNode] = field(default_factory=dict)
    paths: Mapping[int, str] = field(default_factory=dict)
    through_views: bool = False
    batch: PlanRelation | None = None
    known: set[int] = field(default_factory=set)
    made: dict[int, Attribute] = field(default_factory=dict)
    by_id: dict[int, PlanRelation] = field(default_factory=dict)
    ctes: dict[int, PlanRelation] = field(default_factory=dict)
    expected: dict[int, list[Element]] = field(default_factory=dict)
    by_number: dict[int, PlanRelation] = field(default_factory=dict)
    loop: PlanRelation | None = None
    read: dict[TableName, None] = field(default_factory=dict)

    def scope(self, node: PlanNode, relation: PlanRelation, outer: Mapping[int, Attribute]) -> AttributeScope:
        """What the expressions of `node` may refer to over its input."""
        inner = self.inner(node, relation, outer)
        return AttributeScope(relation.scope, outer, self.by_id, inner, self.known, self.read)

    def inner(self, node: PlanNode, relation: PlanRelation, outer: Mapping[int, Attribute]) -> Iterator[PlanRelation]:
        """The subqueries printed below a logical node, evaluated as they are asked for."""
        inside = {**outer, **relation.scope}
        return (self.relation(tree, inside) for tree in node.inner)

    def relation(self, root: PlanNode, outer: Mapping[int, Attribute] | None = None) -> PlanRelation:
        """The relation of a tree. Iterative: plans of thousands of nodes are common."""
        done: dict[int, PlanRelation] = {}
        pending: list[tuple[PlanNode, bool]] = [(root, False)]
        while pending:
            node, ready = pending.pop()
            if not ready:
                pending.append((node, True))
                pending.extend((child, False) for child in reversed(node.children))
                if len(node.children) == 1:
                    self.expect(node.children[0], attribute_list(node.fields.get("Input", "")))
                continue
            result = self.node(node, [done.pop(id(child)) for child in node.children], outer or {})
            if self.read:  # by the subqueries in the node's expressions
                result.sources = {**result.sources, **self.read}
                self.read.clear()
            self.known.update(attribute.id for attribute in result.attributes)
            if not node.children or kind_of(node) == "Project":
                self.made.update((attribute.id, attribute) for attribute in result.attributes)
            if node.number is not None:
                self.by_number[node.number] = result
            done[id(node)] = result
        return done[id(root)]

    def expect(self, node: PlanNode, elements: list[Element]) -> None:
        """Note what the node above reads from `node`: it tells where the elements of a list end."""
        if elements:
            self.expected[id(node)] = elements

    def prepare_subqueries(self) -> None:
        """Evaluate a physical plan's subqueries, those that others need first."""
        for identifier, tree in reversed(list(self.subqueries.items())):
            self.by_id[identifier] = self.relation(tree)

    def node(self, node: PlanNode, inputs: list[PlanRelation], outer: Mapping[int, Attribute]) -> PlanRelation:
        """One node over its inputs' relations."""
        kind = kind_of(node)
        operator = OPERATORS.get(kind)
        if operator is not None:
            return operator(PlanNodeInput(node, inputs, outer, self))
        if not node.children:
            return scans.leaf(node, kind, self)
        if "Join" in kind or kind == "CartesianProduct":
            return logical.join(PlanNodeInput(node, inputs, outer, self))
        if kind in PASSING:
            return join_relations(inputs)
        return self.unknown_relation(node, kind, inputs)

    def unknown_relation(self, node: PlanNode, kind: str, inputs: list[PlanRelation]) -> PlanRelation:
        """A node of a kind that is not known here: what it passes on is kept, what it makes is incomplete."""
        below = join_relations(inputs)
        text = node.fields.get("Output") or node.fields.get("Results") or ""
        attributes = below.attributes
        if text:
            scope = below.scope
            attributes = [scope.get(item.id) or Attribute(item.id, item.name, MISSING) for item in attribute_list(text)]
        return below.with_attributes(attributes, problems=[Problem(ProblemKind.UNSUPPORTED, kind)])


VENDORS = re.compile(r"^(?:Gpu|Photon)(?=[A-Z])")
"""What accelerators put before the names of Spark's own operators, which they replace one by one."""


def kind_of(node: PlanNode) -> str:
    """A node's kind: its first word, two for set operations of ALL; an accelerator's is that of what it replaces."""
    name = VENDORS.sub("", node.name.lstrip("'"))
    words = name.split(" ")
    if words[0] in ("Intersect", "Except") and len(words) > 1 and words[1] == "All":
        return words[0] + " All"
    if words[0] == "Execute" and len(words) > 1:
        return "Execute " + VENDORS.sub("", words[1])
    return words[0]


OPERATORS: dict[str, Callable[[PlanNodeInput], PlanRelation]] = {
    "Project": logical.project,
    "Filter": logical.filter_rows,
    "Aggregate": logical.aggregate,
    "HashAggregate": physical.aggregate,
    "SortAggregate": physical.aggregate,
    "Agg": physical.photon_aggregate,
    "GroupingAgg": physical.photon_aggregate,
    "ObjectHashAggregate": physical.aggregate,
    "Sort": logical.sort,
    "TakeOrderedAndProject": physical.take_ordered,
    "TopN": physical.take_ordered,
    "Union": logical.union,
    "Intersect": logical.set_operation,
    "Intersect All": logical.set_operation,
    "Except": logical.set_operation,
    "Except All": logical.set_operation,
    "Distinct": logical.distinct,
    "Deduplicate": logical.deduplicate,
    "DeduplicateWithinWatermark": logical.deduplicate,
    "StreamingDeduplicate": logical.deduplicate,
    "Window": logical.window,
    "WindowInPandas": logical.window,
    "ArrowWindowPython": logical.window,
    "Generate": logical.generate,
    "UnionLoop": physical.union_loop,
    "Expand": logical.expand,
    "LateralJoin": logical.lateral_join,
    "WithCTE": logical.with_cte,
    "CTERelationDef": logical.cte_definition,
    "View": logical.view,
    "MergeRows": row_operations.merge_rows,
    "ArrowEvalPython": physical.python_udf,
    "BatchEvalPython": physical.python_udf,
    "InMemoryTableScan": physical.read_cached_frame,
    "Scan In-memory": physical.read_cached_frame,
    "InMemoryRelation": physical.cached_relation,
    **dict.fromkeys(physical.OPAQUE, physical.opaque),
}
