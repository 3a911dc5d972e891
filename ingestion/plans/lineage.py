"""The symbolic lineage of one statement from the plans of its executions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ingestion.model import (
    Flow,
    StatementKind,
    StatementLineage,
    TableName,
)
from ingestion.plans.assembly import (
    EvaluatedWrite,
    influence_references,
    merge_writes,
    outputs_of,
    problems_of,
    relation_problems,
    sources_of,
    to_flow,
)
from ingestion.plans.child_queries import Placed, Read, reads_delta_log, reads_rewritten_files, with_queries
from ingestion.plans.operators.evaluation import Evaluation, kind_of
from ingestion.plans.operators.row_operations import row_operation_kind, without_own
from ingestion.plans.operators.scans import LOCATION
from ingestion.plans.text.attributes import Element, attribute_list
from ingestion.plans.text.name_mapping import NameMapping
from ingestion.plans.text.relation import Attribute, PlanRelation
from ingestion.plans.text.tree import PlanNode, PlanText, parse_plan_text
from ingestion.plans.writes.v1 import writes

REWRITES = frozenset(("ReplaceData", "WriteDelta"))
"""Writes of rewritten row operations: only what is written tells which statement it was."""

_SCANNED = re.compile(r"\[.*?(?:#\d++L?(?:-T\d++ms)?\]|(?P<open>\Z))", re.DOTALL)


@dataclass(slots=True)
class Application:
    """What the plans of one application have in common, in the order of its executions.

    `remembered` grows with every plan: a column's id is unique in an application, so a later plan that reads a
    checkpoint or a cached frame finds there what it was made of. `batch` is what the current micro-batch gives to the
    function of foreachBatch, whose frame has other ids.
    """

    names: NameMapping = field(default_factory=NameMapping)
    through_views: bool = False
    remembered: dict[int, Attribute] = field(default_factory=dict)
    batch: PlanRelation | None = None


def statement_lineage(
    descriptions: Sequence[str], application: Application, *, stream: bool = False
) -> StatementLineage | None:
    """The lineage of a statement whose executions printed these plans, root first; None without a read or a write.

    A logical plan that is whole is preferred to a physical one: both are evaluated and the better one of each target
    is kept. `stream` tells a micro-batch, whose first plan is what its others may read. What is missing or was cut is a
    problem of the result, never an error.
    """
    found: list[Placed] = []
    reads: list[Read] = []
    made: dict[int, Attribute] = {}
    for place, description in enumerate(descriptions):
        text = parse_plan_text(description)
        if (len(descriptions) > 1 and _repeats(text)) or reads_delta_log(text):
            continue
        evaluated = [Placed(place, item) for item in _evaluate_writes(text, application, made)]
        found.extend(evaluated)
        if not evaluated:
            rewritten = reads_rewritten_files(text)
            reads.extend(Read(place, relation, rewritten) for relation in _evaluate_query(text, application, made))
            application.batch = reads[0].relation if stream and reads else None
    application.batch = None
    merged = merge_writes(with_queries(found, reads, made))
    flows = tuple(flow for item in merged if (flow := to_flow(item)) is not None)
    problems = tuple(dict.fromkeys(problem for item in merged for problem in problems_of(item)))
    if flows:
        return StatementLineage(merged[0].write.kind, flows, problems=problems)
    read = next((each.relation for each in reads if each.relation.sources and (stream or not each.rewritten)), None)
    if read is None:
        return None
    flow = Flow(None, outputs_of(read, None), influence_references(read.indirect), sources_of(read))
    return StatementLineage(StatementKind.SELECT, (flow,), problems=relation_problems(read))


def _repeats(text: PlanText) -> bool:
    """Whether a plan only shows the result of a command whose own execution is beside it (CLI and Thrift server).

    One that has the analyzed plan too says more than that execution: it has the names of views.
    """
    return text.analyzed is None and text.physical is not None and kind_of(text.physical) == "CommandResult"


def _evaluate_writes(text: PlanText, application: Application, made: dict[int, Attribute]) -> Iterator[EvaluatedWrite]:
    """Each write of a description with the relation that it writes."""
    for tree, logical in ((text.analyzed, True), (text.physical, False)):
        if tree is None:
            continue
        found = writes(tree, application.names)
        if not found:
            continue
        evaluation = _new_evaluation(text, application)
        for write in found:
            if write.query is not None and write.columns:
                evaluation.expect(write.query, [Element(-1, name) for name in write.columns])
            whole = logical or write.kind is not StatementKind.INSERT
            relation = evaluation.relation(write.query) if write.query is not None else None
            made.update(evaluation.made)
            if relation is not None:
                _remember(relation, application)
                if write.row_operation and write.name is not None:
                    kinds = frozenset(kind_of(node) for node in tree.walk())
                    if kinds & REWRITES:
                        write = replace(write, kind=row_operation_kind(kinds, relation, write.name))
                    relation = without_own(relation, write.name or TableName(()))
            yield EvaluatedWrite(write, relation, whole)
        return


def _evaluate_query(text: PlanText, application: Application, made: dict[int, Attribute]) -> Iterator[PlanRelation]:
    """The relation of a plan that writes nothing; remembered, for a checkpoint or a cache may be read later."""
    tree = text.analyzed or text.physical
    if tree is None or (not any(True for _ in tree.children) and "Scan" not in tree.name):
        return
    if kind_of(tree) == "DeserializeToObject" and tree.children:
        tree = tree.children[0]  # rows handed to code: a V1 writer's, or the application's own
    evaluation = _new_evaluation(text, application)
    relation = evaluation.relation(tree)
    made.update(evaluation.made)
    _remember(relation, application)
    yield relation


def _new_evaluation(text: PlanText, application: Application) -> Evaluation:
    evaluation = Evaluation(
        application.names,
        application.remembered,
        text.subqueries,
        _file_paths(text.physical) if text.analyzed is not None else {},
        application.through_views,
        application.batch,
    )
    evaluation.prepare_subqueries()
    return evaluation


def _remember(relation: PlanRelation, application: Application) -> None:
    for attribute in relation.attributes:
        if attribute.lineage.direct or attribute.lineage.indirect:
            application.remembered[attribute.id] = attribute


def _file_paths(physical: PlanNode | None) -> Mapping[int, str]:
    """The locations that a one-line physical plan reads each column id from: logical leaves over paths print none."""
    found: dict[int, str] = {}
    if physical is None:
        return found
    for node in physical.walk():
        if kind_of(node) != "FileScan":
            continue
        columns = _SCANNED.search(node.args)
        place = node.args.find("Location: ", columns.end()) if columns and columns["open"] is None else -1
        location = LOCATION.search(node.args, place) if place >= 0 else None
        if columns and location and location["open"] is None:
            found.update({item.id: location.group() for item in attribute_list(columns.group(), ",")})
    return found
