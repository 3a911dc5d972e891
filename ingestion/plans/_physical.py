"""The operators that only physical plans have, or that look different there."""

from __future__ import annotations

import re

from ingestion.analysis.roles import GROUP_BY, SORT, TRANSFORMATION
from ingestion.model.lineage import ColumnRef, Problem
from ingestion.model.outcomes import ProblemKind
from ingestion.plans._evaluation import CUT, PlanNodeInput, cut, named_attributes, unknown_relation
from ingestion.plans._expressions import AttributeScope, read_expression, read_influences
from ingestion.plans._logical import two_lists
from ingestion.plans._relation import (
    ID,
    Attribute,
    AttributeLineage,
    Element,
    IndirectUse,
    PlanRelation,
    arguments,
    attribute_list,
    element_list,
    join_relations,
    unite_lineages,
    unnamed_list,
)
from ingestion.plans._scans import relation_with_columns

_OPAQUE = """
    MapInPandas MapInArrow PythonMapInArrow FlatMapGroupsInPandas FlatMapGroupsInArrow FlatMapCoGroupsInPandas
    FlatMapCoGroupsInArrow FlatMapGroupsInPandasWithState TransformWithState TransformWithStateInPandas
    TransformWithStateInPySpark TransformWithStateInPy AggregateInPandas
    ArrowAggregatePython MapElements MapPartitions MapPartitionsInR MapGroups CoGroup AppendColumns TypedFilter
    AppendColumnsWithObject SerializeFromObject DeserializeToObject FlatMapGroupsWithState ScriptTransformation
    AttachDistributedSequence
"""
OPAQUE = frozenset(_OPAQUE.split())
"""Operators that run code of the user's: what they give may come from all that goes in."""

_STATE = re.compile(r", \[StructField\(|, (?:class\[|state info \[)")
"""What an operator with a state prints behind its output: the state's schema, and where the state is."""
CACHE = re.compile(r", (?:StorageLevel|CachedRDDBuilder)\(")
"""What follows the columns of a cached relation; before Spark 3.5 its builder."""

PARTIAL = re.compile(r"^\[(?:partial|merge)_")
"""The stages of an aggregate but the last one: what they give is not yet the aggregate's value."""


def aggregate_stage(step: PlanNodeInput) -> PlanRelation:
    """One stage of an aggregation. The last stage's functions name the columns below the first stage."""
    fields = step.node.fields
    functions = fields.get("Functions", "[]")
    base = step.below.grouped or step.below
    partial = PARTIAL.match(functions) is not None
    scope = {**base.scope, **step.below.scope}
    results = fields.get("Results", "[]")
    if partial:
        kept = PlanRelation(step.below.attributes, base.indirect, base.sources, base.problems)
        kept.attributes = _passed_results(results, scope, step)
        kept.grouped = base
        kept.functions = functions if step.below.grouped is None else step.below.functions
        return kept
    made = _aggregate_results(step, scope)
    keys = fields.get("Keys", "[]")
    found = read_influences(keys, AttributeScope(scope, known=step.evaluation.known), GROUP_BY)
    relation = base.with_attributes(made, found, cut(functions + results))
    if functions == "[]":
        relation.grouped = base  # perhaps the de-duplication that precedes a DISTINCT aggregate
    return relation


def photon_aggregate(step: PlanNodeInput) -> PlanRelation:
    """A stage of Photon's: `[keys], [functions as they are named], [their attributes], [results]`, without keys in one.

    Each stage names what it makes, so that the next one's ids tell all.
    """
    lists = [part for part in arguments(step.node.args) if part.startswith("[")]
    if len(lists) < 3:
        return unknown_relation(step, "Agg")
    keys = lists[0] if len(lists) > 3 else "[]"
    scope = step.below.scope
    values = named_attributes(element_list(lists[-3], scope), step.scope)
    visible = {**scope, **{value.id: value for value in values}}
    results = named_attributes(element_list(lists[-1], visible), AttributeScope(visible, known=step.evaluation.known))
    found = read_influences(keys, step.scope, GROUP_BY)
    return step.below.with_attributes(results, found, cut(step.node.args))


def _passed_results(results: str, scope: dict[int, Attribute], step: PlanNodeInput) -> list[Attribute]:
    """What a partial stage gives: its keys, and buffers, which only the last stage's functions explain."""
    elements = element_list(results, scope, (), step.node.counts.get("Results"))
    known = AttributeScope(scope, known=step.evaluation.known)
    return [
        attribute
        if (element.id in scope or element.expression != element.name)
        else Attribute(element.id, element.name)
        for element, attribute in zip(elements, named_attributes(elements, known), strict=True)
    ]


def _aggregate_results(step: PlanNodeInput, scope: dict[int, Attribute]) -> list[Attribute]:
    """The output of a last stage: its results over the keys and the values of its functions."""
    fields, known = step.node.fields, step.evaluation.known
    functions = _filtered_functions(unnamed_list(fields.get("Functions", "[]"), scope), step.below.functions, scope)
    values = _attribute_values(functions, _value_names(step, scope), scope)
    visible = {**scope, **{value.id: value for value in values}}
    elements = element_list(fields.get("Results", "[]"), visible, (), step.node.counts.get("Results"))
    return named_attributes(elements, AttributeScope(visible, {}, step.evaluation.by_id, known=known))


def _value_names(step: PlanNodeInput, scope: dict[int, Attribute]) -> list[Element]:
    """The attributes of an aggregation's functions, whose names are the functions' texts with the ids in them."""
    text = step.node.fields.get("Aggregate Attributes", "[]")
    found, count = attribute_list(text), step.node.counts.get("Aggregate Attributes")
    return found if count in (None, len(found)) else element_list(text, scope, (), count)


def _filtered_functions(functions: list[str], first_stage: str, scope: dict[int, Attribute]) -> list[str]:
    """The functions of a last stage with their FILTER clauses, which Spark prints at the first stage only."""
    first = unnamed_list(first_stage, scope)
    if len(first) != len(functions):
        return functions
    pairs = [(text, before.removeprefix("partial_")) for text, before in zip(functions, first, strict=True)]
    return [before if before.startswith(text + " FILTER (WHERE ") else text for text, before in pairs]


def _attribute_values(texts: list[str], names: list[Element], scope: dict[int, Attribute]) -> list[Attribute]:
    """Each aggregate attribute with the lineage of its function, paired by position."""
    if len(texts) != len(names):
        lineage = read_expression(", ".join(texts), AttributeScope(scope))
        doubtful = AttributeLineage(
            lineage.direct, lineage.indirect, lineage.expression, lineage.opaque, incomplete=True
        )
        return [Attribute(item.id, item.name, doubtful) for item in names]
    return [
        Attribute(item.id, item.name, read_expression(text, AttributeScope(scope)))
        for item, text in zip(names, texts, strict=True)
    ]


def take_ordered(step: PlanNodeInput) -> PlanRelation:
    """ORDER BY with LIMIT: `n, [orders], [projection]`."""
    lists = two_lists(step.node.args.partition(", ")[2])
    orders, projection = (lists[0], lists[1]) if len(lists) > 1 else (lists[0], "")
    found = read_influences(orders, step.scope, SORT)
    problems = cut(step.node.args)
    if not projection:
        return step.below.with_attributes(step.below.attributes, found, problems)
    elements = element_list(projection[: projection.rfind("]") + 1], step.below.scope)
    return step.below.with_attributes(named_attributes(elements, step.scope), found, problems)


def python_udf(step: PlanNodeInput) -> PlanRelation:
    """Python functions of columns: `[f(a)#1, g(b)#2], [pythonUDF0#3, pythonUDF1#4]`."""
    calls, _, rest = step.node.args.partition("], [")
    names = attribute_list(rest.partition("]")[0])
    texts = unnamed_list(calls + "]", step.below.scope)
    scope = step.scope
    made: list[Attribute] = []
    for position, item in enumerate(names):
        text = texts[position] if len(texts) == len(names) else calls
        lineage = read_expression(ID.sub("", text) if not step.below.scope else text, scope)
        made.append(Attribute(item.id, item.name, lineage))
    return step.below.with_attributes([*step.below.attributes, *made], problems=cut(step.node.args))


def opaque(step: PlanNodeInput) -> PlanRelation:
    """Code that the plan does not show: every output may come from every input."""
    below = step.below
    everything = unite_lineages(attribute.lineage for attribute in below.attributes)
    direct: dict[ColumnRef, int] = dict.fromkeys(everything.direct, TRANSFORMATION)
    lineage = AttributeLineage(direct, everything.indirect, "", opaque=True, incomplete=everything.incomplete)
    outputs = _opaque_outputs(step)
    problem = Problem(ProblemKind.UNSUPPORTED, step.node.name.split(" ")[0])
    return below.with_attributes(
        [Attribute(item.id, item.name, lineage) for item in outputs], problems=[problem, *cut(step.node.args)]
    )


def _opaque_outputs(step: PlanNodeInput) -> list[Element]:
    """The attributes that an opaque operator makes: its last list of some, its named elements, or its object."""
    kind = step.node.name.split(" ")[0]
    if kind == "SerializeFromObject":
        return element_list(step.node.args, step.below.scope)
    if kind in ("TypedFilter", "AttachDistributedSequence"):
        return [Element(item.id, item.name) for item in step.below.attributes]
    text = _STATE.split(step.node.args, 1)[0]
    if "[" in text and kind not in ("DeserializeToObject", "MapElements", "MapPartitions"):
        last = text[text.rindex("[") :]
        return attribute_list(last[: last.rindex("]") + 1] if "]" in last else last)
    found = re.search(r"\bobj#(\d+)L?: ", text)
    return [Element(int(found.group(1)), "obj")] if found else []


def union_loop(step: PlanNodeInput) -> PlanRelation:
    """WITH RECURSIVE: the first query's rows, and those of the second over what there is so far, until no more is new.

    A logical plan does not print its outputs: what is above refers to ids that only the physical one explains.
    """
    columns, evaluation, queries = attribute_list(step.node.fields.get("Output", "")), step.evaluation, step.node.inner
    if len(queries) != 2 or not columns:
        return unknown_relation(step, "UnionLoop")
    first, outer = evaluation.relation(queries[0], step.outer), evaluation.loop
    so_far = relation_with_columns(columns, first)
    for _ in range(len(columns) + 1):
        evaluation.loop = so_far
        again = relation_with_columns(columns, evaluation.relation(queries[1], step.outer))
        both = [
            unite_lineages((one.lineage, other.lineage))
            for one, other in zip(so_far.attributes, again.attributes, strict=True)
        ]
        before = [attribute.lineage.columns for attribute in so_far.attributes]
        made = [Attribute(item.id, item.name, lineage) for item, lineage in zip(columns, both, strict=True)]
        so_far = join_relations([so_far, again]).with_attributes(made)
        if before == [lineage.columns for lineage in both]:
            break
    evaluation.loop = outer
    return PlanRelation(made, so_far.indirect, so_far.sources, tuple(dict.fromkeys(so_far.problems)))


def read_cached_frame(step: PlanNodeInput) -> PlanRelation:
    """A cached frame read again: its columns by id from the plan that filled the cache."""
    below = join_relations([*step.inputs, *(step.evaluation.relation(tree) for tree in step.node.inner)])
    text = step.node.fields.get("Output") or two_lists(step.node.args)[0]
    scope = {**below.scope}
    found: set[IndirectUse] = set()
    columns: list[Attribute] = []
    for item in attribute_list(text):
        known = scope.get(item.id) or step.evaluation.remembered.get(item.id)
        columns.append(known.read_as(item.id, item.name) if known else Attribute(item.id, item.name))
    return below.with_attributes(columns, found)


def cached_relation(step: PlanNodeInput) -> PlanRelation:
    """The relation in the cache: the attributes that it is read by stand, by position, for its plan's output."""
    below = join_relations([*step.inputs, *(step.evaluation.relation(tree) for tree in step.node.inner)])
    columns = attribute_list(CACHE.split(step.node.args, 1)[0])
    made = [
        below.attributes[i].read_as(item.id, item.name) if i < len(below.attributes) else Attribute(item.id, item.name)
        for i, item in enumerate(columns)
    ]
    problems = [] if len(columns) == len(below.attributes) else [CUT]
    return below.with_attributes(made, problems=problems)
