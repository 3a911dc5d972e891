"""The lineage of a statement from the plans that Spark printed of it: evaluated, laid beside each other, put
together.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ingestion.analysis.roles import IDENTITY, TRANSFORMATION, TRANSFORMATIONS
from ingestion.model.lineage import (
    Flow,
    Output,
    Problem,
    Reference,
    StatementKind,
    StatementLineage,
    TableName,
    Target,
    WriteMode,
)
from ingestion.model.outcomes import ProblemKind
from ingestion.plans._delta_log import reads_delta_log, reads_rewritten_files
from ingestion.plans._evaluation import Evaluation
from ingestion.plans._operators import operate
from ingestion.plans._relation import (
    Attribute,
    AttributeLineage,
    Element,
    IndirectUse,
    PlanRelation,
    attribute_list,
    element_list,
)
from ingestion.plans._row_operations import (
    changed_rows,
    deleted_rows,
    delta_merge,
    delta_update,
    row_operation_kind,
    rows_deleted_by_name,
)
from ingestion.plans._scans import LOCATION
from ingestion.plans._tree import PlanNode, PlanText, kind_of, parse_plan_text
from ingestion.plans.names import NameMapping
from ingestion.plans.writes import PlanWrite, writes

_REWRITES = frozenset(("ReplaceData", "WriteDelta"))
"""Writes of rewritten row operations: only what is written tells which statement it was."""

_SCANNED = re.compile(r"\[.*?(?:#\d++L?(?:-T\d++ms)?\]|(?P<open>\Z))", re.DOTALL)


@dataclass(frozen=True, slots=True)
class EvaluatedWrite:
    """A write with the relation that it writes; `logical` where that was read from a logical plan."""

    write: PlanWrite
    relation: PlanRelation | None
    logical: bool


# From several executions to one statement.


def _merge_writes(found: Sequence[EvaluatedWrite]) -> list[EvaluatedWrite]:
    """One write a target. A statement's executions repeat it: one has the name, another the path and the plan."""
    creates = any(item.write.kind is StatementKind.CREATE_TABLE_AS for item in found)
    unnamed = [item for item in found if item.write.name is None or (item.write.partial and creates)]
    named = [item for item in found if item not in unnamed]
    merged: dict[TableName, EvaluatedWrite] = {}
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


def better(one: EvaluatedWrite | None, other: EvaluatedWrite) -> EvaluatedWrite:
    """Of two accounts of one write, the surer one's columns under the name and mode of the first."""
    if one is None:
        return other
    chosen = min((one, other), key=_doubt)
    if chosen is one:
        return one
    outer = replace(other.write, kind=one.write.kind, mode=one.write.mode, name=one.write.name or other.write.name)
    return EvaluatedWrite(outer, other.relation, other.logical)


def _doubt(item: EvaluatedWrite) -> tuple[int, int, int, int, int]:
    """How little an account is to be trusted: none, what is cut, the fewest whole columns, the most that was not read.

    Where two are equal, physical comes after logical. What was cut most may have the fewest places that say so: a list
    cut short says it once, for all that it lacks.
    """
    if item.relation is None:
        return (1, 0, 0, 0, 0)
    whole = sum(not attribute.lineage.incomplete for attribute in item.relation.attributes)
    cut = len(item.relation.attributes) - whole
    cut += sum(problem.kind is ProblemKind.INCOMPLETE for problem in item.relation.problems)
    unread = sum(problem.kind is ProblemKind.UNSUPPORTED for problem in item.relation.problems)
    return (0, 1 if cut else 0, -whole if cut else 0, unread, 0 if item.logical else 1)


# From evaluated writes to flows of the lineage model: one a target.


def _to_flow(item: EvaluatedWrite) -> Flow | None:
    write, relation = item.write, item.relation
    name = write.name or write.location
    if name is None or relation is None:
        return None
    columns = write.columns
    names: Sequence[str] | None = None
    if columns is not None and len(columns) == len(relation.attributes):
        names = columns
    outputs = _outputs_of(relation, names)
    explicit = tuple(output.name for output in outputs)
    named = write.kind is StatementKind.INSERT or write.view
    given, mode = explicit if named else None, write.create_mode
    target = Target(name, write.mode, given, temporary=write.temporary, view=write.view, create_mode=mode)
    return Flow(target, outputs, _influence_references(relation.indirect), _sources_of(relation))


def _sources_of(relation: PlanRelation) -> tuple[TableName, ...]:
    """The tables that a relation reads, in the order of their names."""
    return tuple(sorted(relation.sources, key=str))


def _outputs_of(relation: PlanRelation, names: Sequence[str] | None) -> tuple[Output, ...]:
    return tuple(
        Output(_output_name(attribute, names[i] if names else attribute.name), _references(attribute.lineage))
        for i, attribute in enumerate(relation.attributes)
    )


def _output_name(attribute: Attribute, name: str) -> str:
    """The name that a column is written by, without the literals of the expression that Spark called it by."""
    return attribute.masked if attribute.masked and name == attribute.name else name


def _references(lineage: AttributeLineage) -> tuple[Reference, ...]:
    """One reference a source column and role; all sources of an opaque value together, as candidates."""
    if lineage.opaque and lineage.direct:
        how = TRANSFORMATIONS[TRANSFORMATION]
        direct = [Reference(tuple(sorted(lineage.direct, key=str)), how, "", opaque=True)]
    else:
        direct = [
            Reference((column,), TRANSFORMATIONS[role], "" if role == IDENTITY else lineage.expression)
            for column, role in lineage.direct.items()
        ]
    return (*direct, *_influence_references(lineage.indirect))


def _influence_references(indirect: frozenset[IndirectUse]) -> tuple[Reference, ...]:
    return tuple(Reference((column,), TRANSFORMATIONS[role]) for column, role in sorted(indirect, key=_influence_order))


def _influence_order(item: IndirectUse) -> tuple[str, str]:
    return str(item[0]), TRANSFORMATIONS[item[1]].subtype


def _problems_of(item: EvaluatedWrite) -> tuple[Problem, ...]:
    return _relation_problems(item.relation) if item.relation is not None else ()


def _relation_problems(relation: PlanRelation) -> tuple[Problem, ...]:
    """The plan's problems, and each column whose sources may not be all."""
    doubtful = [
        Problem(ProblemKind.INCOMPLETE, attribute.masked or attribute.name)
        for attribute in relation.attributes
        if attribute.lineage.incomplete
    ]
    return tuple(dict.fromkeys([*relation.problems, *doubtful]))


# The query of a write whose plan does not show it: another execution of the same statement ran it.
#
# Delta Lake and other V1 writers behind Spark's V2 interface print one line of the query, its root; the query itself
# is the plan of an execution with the same root execution id. Delta reads its own log, and the files that it is about
# to rewrite, in executions of that id too.


@dataclass(frozen=True, slots=True)
class _Read:
    """What a plan that writes nothing reads; `index` is its execution's among the statement's.

    `rewritten` marks a read of files that a command of Delta's chose itself.
    """

    index: int
    relation: PlanRelation
    rewritten: bool = False


@dataclass(frozen=True, slots=True)
class _Placed:
    """An evaluated write and its execution's index among the statement's."""

    index: int
    item: EvaluatedWrite


def _with_queries(
    found: Sequence[_Placed], reads: Sequence[_Read], made: Mapping[int, Attribute]
) -> list[EvaluatedWrite]:
    """The writes, each with its query: that of an execution beside it, or Delta's MERGE from the scans beside it.

    `found` and `reads` are the writes and the scans of all executions; `made` has each attribute by its expression id.
    """
    return [_complete(write, _reads_of(write, found, reads), made) for write in found]


def _reads_of(write: _Placed, found: Sequence[_Placed], reads: Sequence[_Read]) -> list[_Read]:
    """The reads that may be a write's query: they follow it, and precede the next write of another target."""
    name = write.item.write.name
    others = (
        other.index
        for other in found
        if other.index > write.index and not other.item.write.partial and other.item.write.name not in (None, name)
    )
    end = min(others, default=math.inf)
    return [read for read in reads if write.index < read.index < end]


def _complete(placed: _Placed, reads: Sequence[_Read], made: Mapping[int, Attribute]) -> EvaluatedWrite:
    """The write with its query: its own, or that of an execution beside it, which names the same columns."""
    item = placed.item
    write = item.write
    if item.relation is not None:
        return item
    relation: PlanRelation | None = None
    if write.merge is not None:
        relation = delta_merge(write.merge, made, [read.relation for read in reads])
    elif write.outputs:
        relation = _query_beside(write.outputs, reads)
    return _with_changes(EvaluatedWrite(write, relation, item.logical))


def _query_beside(root: str, reads: Sequence[_Read]) -> PlanRelation | None:
    """The relation of the read that is a write's query, of which the write has the line of the root.

    The read whose columns stand in that line, by id or by name, is surest; a root without a list of columns (a filter,
    a sort, a union, a copy) names some or none of them. Columns that the line leaves out are the table's others, which
    get nulls.
    """
    likely = [read.relation for read in reads if not read.rewritten and read.relation.attributes]
    by_id = [r for r in likely if all(f"{a.name}#{a.id}" in root for a in r.attributes)]
    by_name = [r for r in likely if all(f" {a.name}#" in root or not a.lineage.columns for a in r.attributes)]
    by_some_id = [r for r in likely if any(re.search(rf"#{a.id}\b", root) for a in r.attributes)]
    found = next(reversed(by_id or by_name or by_some_id or likely), None)
    return found if found is None or by_id else _rename_by_root(found, root)


def _rename_by_root(relation: PlanRelation, root: str) -> PlanRelation:
    """The relation under the names that the line of the write's root gives its columns, where it is a projection.

    Delta's change data feed plans the query of its rows once more, under the names that the source has. Where the two
    have not the same number of columns, it is not told which is which.
    """
    if not root.startswith("Project ["):
        return relation
    names = [item.name for item in element_list(root[len("Project ") : root.find("]", root.rfind("#")) + 1], {})]
    attributes = relation.attributes
    if len(names) == len(attributes):
        named = [replace(each, name=name) for each, name in zip(attributes, names, strict=True)]
    elif {each.name for each in attributes} <= set(names):
        named = attributes
    else:
        named = [replace(each, lineage=replace(each.lineage, opaque=True)) for each in attributes]
    return replace(relation, attributes=named)


@dataclass(slots=True)
class Application:
    """What the plans of one application have in common, in the order of its executions.

    `remembered` grows with every plan: a column's id is unique in an application, so a later plan that reads a
    checkpoint or a cached frame finds there what it was made of. `batch` is what the current micro-batch gives to the
    function of foreachBatch, whose frame has other ids. `query_lineage` reads the text of a query that was sent to a
    database; None for one that it cannot.
    """

    names: NameMapping = field(default_factory=NameMapping)
    through_views: bool = False
    remembered: dict[int, Attribute] = field(default_factory=dict)
    batch: PlanRelation | None = None
    query_lineage: Callable[[str], StatementLineage | None] = field(default=lambda _text: None)


def statement_lineage(
    descriptions: Sequence[str], application: Application, *, stream: bool = False
) -> StatementLineage | None:
    """The lineage of a statement whose executions printed these plans, root first; None without a read or a write.

    A logical plan that is whole is preferred to a physical one: both are evaluated and the better one of each target
    is kept. `stream` tells a micro-batch, whose first plan is what its others may read. What is missing or was cut is a
    problem of the result, never an error.
    """
    found: list[_Placed] = []
    reads: list[_Read] = []
    made: dict[int, Attribute] = {}
    for index, description in enumerate(descriptions):
        text = parse_plan_text(description)
        if (len(descriptions) > 1 and _repeats(text)) or reads_delta_log(text):
            continue
        evaluated = [_Placed(index, item) for item in _evaluate_writes(text, application, made)]
        found.extend(evaluated)
        if not evaluated:
            rewritten = reads_rewritten_files(text)
            reads.extend(_Read(index, relation, rewritten) for relation in _evaluate_query(text, application, made))
            application.batch = reads[0].relation if stream and reads else None
    application.batch = None
    merged = _merge_writes(_with_queries(found, reads, made))
    flows = tuple(flow for item in merged if (flow := _to_flow(item)) is not None)
    problems = tuple(dict.fromkeys(problem for item in merged for problem in _problems_of(item)))
    if flows:
        return StatementLineage(merged[0].write.kind, flows, problems=problems)
    read = next((each.relation for each in reads if each.relation.sources and (stream or not each.rewritten)), None)
    if read is None:
        return None
    flow = Flow(None, _outputs_of(read, None), _influence_references(read.indirect), _sources_of(read))
    return StatementLineage(StatementKind.SELECT, (flow,), problems=_relation_problems(read))


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
            kinds = frozenset(kind_of(node) for node in tree.walk()) if write.row_operation else frozenset()
            evaluation.updated = write.name if kinds & _REWRITES and "MergeRows" not in kinds else None
            relation = evaluation.relation(write.query) if write.query is not None else None
            made.update(evaluation.made)
            if relation is not None:
                _remember(relation, application)
                if kinds & _REWRITES and write.name is not None:
                    write = replace(write, kind=row_operation_kind(kinds, relation, write.name))
            yield _with_changes(EvaluatedWrite(write, relation, whole))
        return


def _with_changes(item: EvaluatedWrite) -> EvaluatedWrite:
    """A row operation with what it changes; one that sets no column deletes rows, as MERGE may do, too."""
    write, relation = item.write, item.relation
    if not write.row_operation or write.name is None:
        return item
    if write.condition is not None and write.query is None:
        relation = rows_deleted_by_name(write.condition, write.name)
    if relation is None:
        return item
    if write.condition is not None and write.query is not None:
        relation = deleted_rows(write.condition, relation)
    relation = delta_update(write.update, relation) if write.update is not None else relation
    relation = changed_rows(relation, write.name)
    deletes = not (relation.attributes or relation.problems)
    return replace(item, write=replace(write, mode=WriteMode.DELETE) if deletes else write, relation=relation)


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
        operate,
        application.names,
        application.remembered,
        text.subqueries,
        _file_paths(text.physical) if text.analyzed is not None else {},
        application.through_views,
        application.batch,
        application.query_lineage,
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
        start = node.args.find("Location: ", columns.end()) if columns and columns["open"] is None else -1
        location = LOCATION.search(node.args, start) if start >= 0 else None
        if columns and location and location["open"] is None:
            found.update({item.id: location.group() for item in attribute_list(columns.group(), ",")})
    return found
