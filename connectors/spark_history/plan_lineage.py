"""The symbolic lineage of one statement from the plans of its executions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from connectors.spark_history.attributes import Element, attribute_list, truncated
from connectors.spark_history.evaluation import Evaluation, kind_of
from connectors.spark_history.leaves import LOCATION
from connectors.spark_history.names import NameMapping
from connectors.spark_history.plan_text import PlanNode, PlanText, parse_plan_text
from connectors.spark_history.relation import Attribute, Influence, Lineage, Relation
from connectors.spark_history.writes import Write, writes
from ingestion.model import (
    ColumnRef,
    Flow,
    Output,
    Problem,
    ProblemKind,
    Reference,
    StatementKind,
    StatementLineage,
    Subtype,
    TableName,
    Target,
    Transformation,
    WriteMode,
)

FILE_SCAN = re.compile(r"(\[.*?#\d+L?(?:-T\d+ms)?\]).*?Location: (\w.*?\[[^\]]*\])", re.DOTALL)
FLOW_ORDER = {StatementKind.CREATE_TABLE_AS: 0, StatementKind.CREATE_VIEW: 0}


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
    batch: Relation | None = None


@dataclass(frozen=True, slots=True)
class _Evaluated:
    write: Write
    relation: Relation | None
    logical: bool


def statement_lineage(
    descriptions: Sequence[str], application: Application, stream: bool = False
) -> StatementLineage | None:
    """The lineage of a statement whose executions printed these plans, root first; None without a read or a write.

    A logical plan that is whole is preferred to a physical one: both are evaluated and the better one of each target
    is kept. `stream` tells a micro-batch, whose first plan is what its others may read. What is missing or was cut is a
    problem of the result, never an error.
    """
    found: list[_Evaluated] = []
    reads: list[Relation] = []
    for description in descriptions:
        text = parse_plan_text(description)
        if len(descriptions) > 1 and repeats(text):
            continue
        evaluated = list(evaluate_writes(text, application))
        found.extend(evaluated)
        if not evaluated:
            reads.extend(evaluate_query(text, application))
            application.batch = reads[0] if stream and reads else None
    application.batch = None
    merged = merge_writes(found)
    flows = tuple(flow for item in merged if (flow := to_flow(item)) is not None)
    problems = tuple(dict.fromkeys(problem for item in merged for problem in problems_of(item)))
    if flows:
        return StatementLineage(merged[0].write.kind, flows, problems=problems)
    read = next((relation for relation in reads if relation.sources), None)
    if read is None:
        return None
    flow = Flow(None, outputs_of(read, None), influence_references(read.indirect), tuple(read.sources))
    return StatementLineage(StatementKind.SELECT, (flow,), problems=relation_problems(read))


def repeats(text: PlanText) -> bool:
    """Whether a plan only shows the result of a command whose own execution is beside it (CLI and Thrift server)."""
    return text.physical is not None and kind_of(text.physical) == "CommandResult"


def evaluate_writes(text: PlanText, application: Application) -> Iterator[_Evaluated]:
    """Each write of a description with the relation that it writes."""
    for tree, logical in ((text.analyzed, True), (text.physical, False)):
        if tree is None:
            continue
        found = writes(tree, application.names)
        if not found:
            continue
        evaluation = new_evaluation(text, application)
        for write in found:
            if write.query is not None and write.columns:
                evaluation.expect(write.query, [Element(-1, name) for name in write.columns])
            whole = logical or write.kind is not StatementKind.INSERT
            relation = evaluation.relation(write.query) if write.query is not None else None
            if relation is not None:
                remember(relation, application)
            yield _Evaluated(write, relation, whole)
        return


def evaluate_query(text: PlanText, application: Application) -> Iterator[Relation]:
    """The relation of a plan that writes nothing; remembered, for a checkpoint or a cache may be read later."""
    tree = text.analyzed or text.physical
    if tree is None or (not any(True for _ in tree.children) and "Scan" not in tree.name):
        return
    evaluation = new_evaluation(text, application)
    relation = evaluation.relation(tree)
    remember(relation, application)
    yield relation


def new_evaluation(text: PlanText, application: Application) -> Evaluation:
    evaluation = Evaluation(
        application.names,
        application.remembered,
        text.subqueries,
        file_paths(text.physical) if text.analyzed is not None else {},
        application.through_views,
        application.batch,
    )
    evaluation.prepare_subqueries()
    return evaluation


def remember(relation: Relation, application: Application) -> None:
    for attribute in relation.attributes:
        if attribute.lineage.direct or attribute.lineage.indirect:
            application.remembered[attribute.id] = attribute


def file_paths(physical: PlanNode | None) -> Mapping[int, str]:
    """Where a one-line physical plan reads each column id from: logical leaves over paths print no location."""
    found: dict[int, str] = {}
    if physical is None:
        return found
    for node in physical.walk():
        if kind_of(node) != "FileScan":
            continue
        match = FILE_SCAN.search(node.args)
        location = LOCATION.search(match.group(2)) if match else None
        if match and location and not location.group("paths").endswith("..."):
            first = location.group("paths").split(", ")[0]
            found.update({item.id: first for item in attribute_list(match.group(1), ",")})
    return found


# --- from several executions to one statement ---------------------------------------------------------------------


def merge_writes(found: Sequence[_Evaluated]) -> list[_Evaluated]:
    """One write a target. A statement's executions repeat it: one has the name, another the path and the plan."""
    named = [item for item in found if item.write.name is not None]
    unnamed = [item for item in found if item.write.name is None]
    merged: dict[TableName, _Evaluated] = {}
    for item in named:
        name = item.write.name
        if name is not None:
            merged[name] = better(merged.get(name), item)
    creating = [item for item in merged.values() if item.write.kind is StatementKind.CREATE_TABLE_AS]
    for item in unnamed:
        if len(creating) == 1:
            name = creating[0].write.name
            if name is not None:
                merged[name] = better(merged[name], item)
        elif item.write.location is not None:
            merged[item.write.location] = better(merged.get(item.write.location), item)
    return list(merged.values())


def better(one: _Evaluated | None, other: _Evaluated) -> _Evaluated:
    """Of two accounts of one write, the surer one's columns under the name and mode of the first."""
    if one is None:
        return other
    chosen = min((one, other), key=doubt)
    if chosen is one:
        return one
    outer = replace(other.write, kind=one.write.kind, mode=one.write.mode, name=one.write.name or other.write.name)
    return _Evaluated(outer, other.relation, other.logical)


def doubt(item: _Evaluated) -> tuple[int, int, int]:
    """How little an account is to be trusted: none, what is cut, then physical after logical."""
    if item.relation is None:
        return (1, 0, 0)
    cut = sum(attribute.lineage.incomplete for attribute in item.relation.attributes)
    cut += sum(problem.kind is ProblemKind.INCOMPLETE for problem in item.relation.problems)
    return (0, cut, 0 if item.logical else 1)


# --- to the model -------------------------------------------------------------------------------------------------


def to_flow(item: _Evaluated) -> Flow | None:
    write, relation = item.write, item.relation
    name = write.name or write.location
    if name is None or relation is None:
        return None
    columns = write.columns
    names: Sequence[str] | None = None
    if columns is not None and len(columns) == len(relation.attributes):
        names = columns
    outputs = outputs_of(relation, names)
    explicit = tuple(output.name for output in outputs)
    named = write.kind is StatementKind.INSERT or write.view
    target = Target(name, write.mode, explicit if named else None, temporary=write.temporary, view=write.view)
    return Flow(target, outputs, influence_references(relation.indirect), tuple(relation.sources))


def outputs_of(relation: Relation, names: Sequence[str] | None) -> tuple[Output, ...]:
    return tuple(
        Output(names[i] if names else attribute.name, references(attribute.lineage))
        for i, attribute in enumerate(relation.attributes)
    )


def references(lineage: Lineage) -> tuple[Reference, ...]:
    """One reference a source column and role; all sources of an opaque value together, as candidates."""
    if lineage.opaque and lineage.direct:
        how = Transformation(Subtype.TRANSFORMATION)
        direct = [Reference(tuple(sorted(lineage.direct, key=str)), how, "", True)]
    else:
        direct = [
            Reference((column,), how, "" if how.subtype is Subtype.IDENTITY else lineage.expression)
            for column, how in lineage.direct.items()
        ]
    return (*direct, *influence_references(lineage.indirect))


def influence_references(indirect: frozenset[Influence]) -> tuple[Reference, ...]:
    return tuple(
        Reference((column,), Transformation(subtype)) for column, subtype in sorted(indirect, key=influence_order)
    )


def influence_order(item: Influence) -> tuple[str, str]:
    return (str(item[0]), item[1].value)


def problems_of(item: _Evaluated) -> tuple[Problem, ...]:
    return relation_problems(item.relation) if item.relation is not None else ()


def relation_problems(relation: Relation) -> tuple[Problem, ...]:
    """The plan's problems, and each column whose sources may not be all."""
    doubtful = [
        Problem(ProblemKind.INCOMPLETE, attribute.name)
        for attribute in relation.attributes
        if attribute.lineage.incomplete
    ]
    return tuple(dict.fromkeys([*relation.problems, *doubtful]))


def columns_of(lineage: StatementLineage) -> frozenset[ColumnRef]:
    """Every source column that a statement's flows name."""
    return frozenset(
        column
        for flow in lineage.flows
        for reference in (*flow.indirect, *(r for output in flow.outputs for r in output.references))
        for column in reference.sources
    )


def is_cut(descriptions: Sequence[str]) -> bool:
    """Whether Spark cut any of these plans (spark.sql.debug.maxToStringFields)."""
    return any(truncated(text) for text in descriptions)


CREATING = frozenset({WriteMode.CREATE})
