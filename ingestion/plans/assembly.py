"""Evaluated writes as flows of the lineage model: one a target, with references, influences and problems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ingestion.model import (
    Flow,
    Output,
    Problem,
    ProblemKind,
    Reference,
    StatementKind,
    Subtype,
    TableName,
    Target,
    Transformation,
)
from ingestion.plans.text.relation import AttributeLineage, IndirectUse, PlanRelation
from ingestion.plans.writes.write import PlanWrite


@dataclass(frozen=True, slots=True)
class EvaluatedWrite:
    """A write with the relation that it writes; `logical` where that was read from a logical plan."""

    write: PlanWrite
    relation: PlanRelation | None
    logical: bool


# --- from several executions to one statement ---------------------------------------------------------------------


def merge_writes(found: Sequence[EvaluatedWrite]) -> list[EvaluatedWrite]:
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


# --- to the model -------------------------------------------------------------------------------------------------


def to_flow(item: EvaluatedWrite) -> Flow | None:
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
    return Flow(target, outputs, influence_references(relation.indirect), sources_of(relation))


def sources_of(relation: PlanRelation) -> tuple[TableName, ...]:
    """The tables that a relation reads, in the order of their names."""
    return tuple(sorted(relation.sources, key=str))


def outputs_of(relation: PlanRelation, names: Sequence[str] | None) -> tuple[Output, ...]:
    return tuple(
        Output(names[i] if names else attribute.name, _references(attribute.lineage))
        for i, attribute in enumerate(relation.attributes)
    )


def _references(lineage: AttributeLineage) -> tuple[Reference, ...]:
    """One reference a source column and role; all sources of an opaque value together, as candidates."""
    if lineage.opaque and lineage.direct:
        how = Transformation(Subtype.TRANSFORMATION)
        direct = [Reference(tuple(sorted(lineage.direct, key=str)), how, "", opaque=True)]
    else:
        direct = [
            Reference((column,), how, "" if how.subtype is Subtype.IDENTITY else lineage.expression)
            for column, how in lineage.direct.items()
        ]
    return (*direct, *influence_references(lineage.indirect))


def influence_references(indirect: frozenset[IndirectUse]) -> tuple[Reference, ...]:
    return tuple(
        Reference((column,), Transformation(subtype)) for column, subtype in sorted(indirect, key=_influence_order)
    )


def _influence_order(item: IndirectUse) -> tuple[str, str]:
    return (str(item[0]), item[1].value)


def problems_of(item: EvaluatedWrite) -> tuple[Problem, ...]:
    return relation_problems(item.relation) if item.relation is not None else ()


def relation_problems(relation: PlanRelation) -> tuple[Problem, ...]:
    """The plan's problems, and each column whose sources may not be all."""
    doubtful = [
        Problem(ProblemKind.INCOMPLETE, attribute.name)
        for attribute in relation.attributes
        if attribute.lineage.incomplete
    ]
    return tuple(dict.fromkeys([*relation.problems, *doubtful]))
