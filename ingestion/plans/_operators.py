"""One node of a plan over its inputs: which function reads a node of which kind, in whatever form plans print it."""

from __future__ import annotations

from collections.abc import Callable

from ingestion.plans._evaluation import PlanNodeInput, unknown_relation
from ingestion.plans._logical import (
    aggregate,
    cte_definition,
    deduplicate,
    distinct,
    expand,
    filter_rows,
    generate,
    join,
    lateral_join,
    project,
    set_operation,
    sort,
    union,
    view,
    window,
    with_cte,
)
from ingestion.plans._physical import (
    OPAQUE,
    aggregate_stage,
    cached_relation,
    opaque,
    photon_aggregate,
    python_udf,
    read_cached_frame,
    take_ordered,
    union_loop,
)
from ingestion.plans._relation import PlanRelation
from ingestion.plans._row_operations import merge_rows
from ingestion.plans._scans import leaf
from ingestion.plans._tree import kind_of

_PASSING = """
    SubqueryAlias Exchange BroadcastExchange ColumnarToRow RowToColumnar InputAdapter WholeStageCodegen
    AdaptiveSparkPlan ShuffleQueryStage BroadcastQueryStage AQEShuffleRead CustomShuffleReader GlobalLimit LocalLimit
    CollectLimit Limit Offset Tail CollectTail Sample Repartition RepartitionByExpression RebalancePartitions
    ResolvedHint Coalesce WriteFiles EventTimeWatermark CollectMetrics Subquery SubqueryBroadcast CommandResult
    SubqueryAdaptiveBroadcast WindowGroupLimit ReusedSubquery ReturnAnswer TableCacheQueryStage ResultQueryStage
    ColumnarExchange CoalesceBatches ShuffleCoalesce BringBackToHost ShuffleExchangeSink ShuffleExchangeSource
    StateStoreRestore StateStoreSave SessionWindowStateStoreRestore SessionWindowStateStoreSave UpdatingSessions
    StreamingGlobalLimit StreamingLocalLimit UpdateEventTimeColumn UpdateEventTimeWatermarkColumn
    ShuffleMapStage ResultStage WriteToMicroBatchDataSource WriteToMicroBatchDataSourceV1 WriteToDataSourceV2
"""
PASSING = frozenset(_PASSING.split())
"""Nodes that give their child's columns and rows on (limits and samples choose rows by no column).

A stream's aggregation keeps its buffers in a state store between its stages."""

OPERATORS: dict[str, Callable[[PlanNodeInput], PlanRelation]] = {
    "Project": project,
    "Filter": filter_rows,
    "Aggregate": aggregate,
    "HashAggregate": aggregate_stage,
    "SortAggregate": aggregate_stage,
    "Agg": photon_aggregate,
    "GroupingAgg": photon_aggregate,
    "ObjectHashAggregate": aggregate_stage,
    "MergingSessions": aggregate_stage,
    "Sort": sort,
    "TakeOrderedAndProject": take_ordered,
    "TopN": take_ordered,
    "Union": union,
    "Intersect": set_operation,
    "Intersect All": set_operation,
    "Except": set_operation,
    "Except All": set_operation,
    "Distinct": distinct,
    "Deduplicate": deduplicate,
    "DeduplicateWithinWatermark": deduplicate,
    "StreamingDeduplicate": deduplicate,
    "StreamingDeduplicateWithinWatermark": deduplicate,
    "Window": window,
    "WindowInPandas": window,
    "ArrowWindowPython": window,
    "Generate": generate,
    "UnionLoop": union_loop,
    "Expand": expand,
    "LateralJoin": lateral_join,
    "WithCTE": with_cte,
    "CTERelationDef": cte_definition,
    "View": view,
    "MergeRows": merge_rows,
    "ArrowEvalPython": python_udf,
    "BatchEvalPython": python_udf,
    "InMemoryTableScan": read_cached_frame,
    "Scan In-memory": read_cached_frame,
    "InMemoryRelation": cached_relation,
    **dict.fromkeys(OPAQUE, opaque),
}


def operate(step: PlanNodeInput) -> PlanRelation:
    """The relation that a node gives."""
    kind = kind_of(step.node)
    operator = OPERATORS.get(kind)
    if operator is not None:
        return operator(step)
    if not step.node.children:
        return leaf(step.node, kind, step.evaluation)
    if "Join" in kind or kind == "CartesianProduct":
        return join(step)
    return step.below if kind in PASSING else unknown_relation(step, kind)
