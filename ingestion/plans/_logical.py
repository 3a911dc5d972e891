"""The operators that logical and physical plans share, each a relation over the relations of its children."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ingestion.analysis.roles import FILTER, GROUP_BY, JOIN, SORT
from ingestion.dialects.functions import OF_ONE_ROW
from ingestion.model.lineage import ColumnRef, TableName
from ingestion.plans._evaluation import PlanNodeInput, cut, named_attributes, unknown_relation
from ingestion.plans._expressions import AttributeScope, read_expression, read_influences
from ingestion.plans._relation import (
    MISSING,
    SUBQUERY,
    Attribute,
    AttributeLineage,
    Element,
    IndirectUse,
    PlanRelation,
    attribute_list,
    attribute_spans,
    base_column,
    element_list,
    influences,
    inside,
    join_relations,
    nesting,
    unite_lineages,
    unnamed_list,
)
from ingestion.plans._values import FunctionCall, generator_columns, uncertain_part
from ingestion.plans.names import quoted_parts

_HINTS = re.compile(r"(?:, (?:left|right)Hint=\([^()]*\)){1,2}$")
"""Behind a join's condition: `, rightHint=(strategy=broadcast)`."""
_OUTER = re.compile(r", (?:true|false)(?=, |\Z)")
_FILE_METADATA = re.compile(r"(?:knownnotnull\()?named_struct\((file_\w+|row_index), \1#\d")
"""`knownnotnull(named_struct(file_path, file_path#9, …)) AS _metadata#4`: what is known of a row's file."""
_NULL = "null"
_IF = "if ("
_ROW_OPERATION, _DELETED = "__row_operation", "1"
"""The column that says what becomes of a row, and its value for one that is deleted."""
_GENERATOR = re.compile(r"(\w+)\((.*)\)", re.DOTALL)
_JOIN_TYPE = re.compile(r"\], ((?:Inner|Cross|Left|Right|Full|ExistenceJoin)\w*(?:\([^()]*\))?)(?=, |$)")
COUNTED = re.compile(r"^\[(?:-?1 AS vcol|(?:true|null) AS vcol1)#")
"""A side of EXCEPT ALL or INTERSECT ALL, of which Spark makes a union whose rows it counts."""


def project(step: PlanNodeInput) -> PlanRelation:
    """SELECT: named expressions over the child's columns."""
    text = step.node.fields.get("Output") or step.node.args
    expected, count = step.evaluation.expected.get(id(step.node), ()), step.node.counts.get("Output")
    elements = element_list(text, step.below.scope | dict(step.outer), expected, count)
    elements = [replace(item, expression=_NULL) if _is_file_metadata(item) else item for item in elements]
    table = step.evaluation.updated
    made, found = _assigned_columns(step, elements, table) if table else (named_attributes(elements, step.scope), set())
    return step.below.with_attributes(made, found, cut(text))


def _assigned_columns(
    step: PlanNodeInput, elements: Sequence[Element], table: TableName
) -> tuple[list[Attribute], set[IndirectUse]]:
    """UPDATE t SET a = v WHERE c, which Spark writes as `if (c) v else a#1 AS a#2`: what is set, and what decides.

    That the rows which it leaves alone are written anew makes a column of nothing.
    """
    scope, own = step.scope, {attribute.name: attribute for attribute in step.below.attributes}
    made: list[Attribute] = []
    found: set[IndirectUse] = set()
    for element in elements:
        before = own.get(element.name)
        text = _without_else(element.expression, before) if before else None
        if before is None or text is None or before.lineage != base_column(ColumnRef(table, before.name)):
            made.extend(named_attributes([element], scope))
            continue
        condition, value = _condition_and_value(text)
        found |= read_influences(condition, scope, FILTER)
        lineage = read_expression(value, scope)
        sure = bool(condition)  # a bracket in a literal hides where the condition ends
        made.append(Attribute(element.id, element.name, lineage if sure else replace(lineage, opaque=True)))
    return made, found


def _without_else(expression: str, own: Attribute) -> str | None:
    """The `if (c) v` of a choice between a value and what the column holds; None of another expression."""
    behind = re.search(rf" else {re.escape(own.name)}#{own.id}L?\Z", expression)
    return expression[: behind.start()] if behind and expression.startswith(_IF) else None


def _condition_and_value(text: str) -> tuple[str, str]:
    """The two of `if (c) v`: no condition, and all as the value, where brackets do not tell where it ends."""
    depth = nesting(text, [])
    end = next((at for at in range(len(_IF), len(text)) if depth[at + 1] == 0), len(text))
    balanced = depth[-1] == 0 and text.startswith(") ", end)
    return (text[len(_IF) : end], text[end + 2 :]) if balanced else ("", text)


def _is_file_metadata(element: Element) -> bool:
    """Whether an element is what Spark tells of each row's file, which it reads as if it were columns."""
    return element.name == "_metadata" and _FILE_METADATA.match(element.expression) is not None


def filter_rows(step: PlanNodeInput) -> PlanRelation:
    """WHERE and HAVING."""
    text = step.node.fields.get("Condition") or step.node.args
    found = read_influences(text, step.scope, FILTER)
    return step.below.with_attributes(step.below.attributes, found, cut(text))


def join(step: PlanNodeInput) -> PlanRelation:
    """Every kind of join: its keys and condition decide the rows; semi and anti joins give the left columns only."""
    node = step.node
    kind, texts = _join_parts(step)
    left, right = (step.inputs[0], step.inputs[1]) if len(step.inputs) > 1 else (step.below, PlanRelation([]))
    both = step.below.scope
    found: set[IndirectUse] = set()
    for text, side in texts:
        attributes = {"left": left.scope, "right": right.scope, "both": both}[side]
        found |= read_influences(
            text, step.evaluation.scope(node, PlanRelation(list(attributes.values())), step.outer), JOIN
        )
    problems = [problem for text, _ in texts for problem in cut(text)]
    if kind.startswith(("LeftSemi", "LeftAnti")):
        return step.below.with_attributes(left.attributes, found, problems)
    if kind.startswith("ExistenceJoin"):
        exists = attribute_list(kind.partition("(")[2].partition(")")[0])
        marker = AttributeLineage(indirect=frozenset(found) | right.indirect)
        made = [Attribute(item.id, item.name, marker) for item in exists]
        rows = join_relations([left, PlanRelation([], frozenset(), right.sources, right.problems)])
        return rows.with_attributes([*left.attributes, *made], problems=problems)
    return step.below.with_attributes(step.below.attributes, found, problems)


def _join_parts(step: PlanNodeInput) -> tuple[str, list[tuple[str, str]]]:
    """A join's type, and its key and condition texts with the side that each speaks of."""
    fields = step.node.fields
    if "Join type" in fields or "Join condition" in fields or "Left keys" in fields:
        texts = [(fields.get("Left keys", ""), "left"), (fields.get("Right keys", ""), "right")]
        condition = fields.get("Join condition", "None")
        texts += [] if condition == "None" else [(condition, "both")]
        return fields.get("Join type") or step.node.name.partition(" ")[2], texts  # before Spark 3.4, in the tree only
    args = _HINTS.sub("", step.node.args)
    keyed = _JOIN_TYPE.search(args) if args.startswith("[") else None
    if keyed:
        return keyed.group(1), [(args, "both")]
    kind, _, condition = args.partition(", ")
    if not step.node.args:
        kind = step.node.name.partition(" ")[2]
    return kind, [(condition, "both")] if condition else []


def lateral_join(step: PlanNodeInput) -> PlanRelation:
    """The right side is a subquery over the left side's columns."""
    left = step.below
    inner = [step.evaluation.relation(tree, {**step.outer, **left.scope}) for tree in step.node.inner]
    both = join_relations([left, *inner])
    _, _, condition = step.node.args.partition("], ")
    condition = condition.partition(", ")[2]
    scope = AttributeScope(both.scope, step.outer, known=step.evaluation.known)
    return both.with_attributes(both.attributes, read_influences(condition, scope, JOIN))


def aggregate(step: PlanNodeInput) -> PlanRelation:
    """GROUP BY of a logical plan: `[keys], [expressions]`, or only expressions."""
    lists = [part for part in two_lists(step.node.args) if part.startswith("[")]
    keys, text = (lists[0], lists[1]) if len(lists) > 1 else ("", lists[0] if lists else "")
    elements = element_list(text, step.below.scope | dict(step.outer))
    scope = step.scope
    made = named_attributes(elements, scope)
    return step.below.with_attributes(made, read_influences(keys, scope, GROUP_BY), cut(step.node.args))


def two_lists(text: str) -> list[str]:
    """`[a], [b]` as its two lists; brackets in literals are told from lists by their balance."""
    depth = 0
    for index, character in enumerate(text):
        depth += (character == "[") - (character == "]")
        if depth == 0 and text.startswith("], [", index):
            return [text[: index + 1], text[index + 3 :]]
    return [text]


def sort(step: PlanNodeInput) -> PlanRelation:
    """ORDER BY; a sort within partitions decides nothing."""
    orders, _, flags = step.node.args.rpartition("], ")
    if not flags.startswith("true"):
        return step.below
    found = read_influences(orders + "]", step.scope, SORT)
    return step.below.with_attributes(step.below.attributes, found, cut(orders))


def union(step: PlanNodeInput) -> PlanRelation:
    """UNION ALL by position; the ids are the first child's."""
    if not step.inputs or not step.inputs[0].attributes:
        return join_relations(step.inputs)
    if all(COUNTED.match(child.fields.get("Output", child.args)) for child in step.node.children):
        return set_operation(step)
    first = step.inputs[0].attributes
    columns = [
        replace(
            attribute,
            lineage=unite_lineages(
                each.attributes[i].lineage if i < len(each.attributes) else MISSING for each in step.inputs
            ),
        )
        for i, attribute in enumerate(first)
    ]
    return join_relations(step.inputs).with_attributes(columns)


def set_operation(step: PlanNodeInput) -> PlanRelation:
    """INTERSECT and EXCEPT: every column of both sides decides the rows, and the left side gives the values.

    A value of INTERSECT is as much the right side's: it is there because both have it.
    """
    found = {
        influence
        for relation in step.inputs
        for attribute in relation.attributes
        for influence in influences(attribute.lineage, JOIN)
    }
    given = step.inputs[0].attributes
    if "Intersect" in step.node.name and len(step.inputs) > 1:
        pairs = zip(given, step.inputs[1].attributes, strict=False)
        given = [replace(one, lineage=unite_lineages([one.lineage, other.lineage])) for one, other in pairs]
    return step.below.with_attributes(given, found)


def distinct(step: PlanNodeInput) -> PlanRelation:
    found = {i for a in step.below.attributes for i in influences(a.lineage, GROUP_BY)}
    return step.below.with_attributes(step.below.attributes, found)


def deduplicate(step: PlanNodeInput) -> PlanRelation:
    found = read_influences(step.node.args, step.scope, GROUP_BY)
    return step.below.with_attributes(step.below.attributes, found, cut(step.node.args))


def window(step: PlanNodeInput) -> PlanRelation:
    """Window functions added to the child's columns; the specification is an indirect source of each."""
    text = two_lists(step.node.args)[0]
    elements = element_list(text, step.below.scope)
    made = named_attributes([item for item in elements if item.expression], step.scope)
    return step.below.with_attributes([*step.below.attributes, *made], problems=cut(text))


def _generator_parts(args: str) -> tuple[str, str] | None:
    """The generator and what is passed on, and the columns that are made: `explode(a#1), [b#2], true, [c#3]`."""
    before, opening, columns = args.rstrip("\n").rpartition("[")
    head = before.removesuffix(", ")
    outer = list(_OUTER.finditer(head))
    if head == before or not columns.endswith("]") or not outer or set("[]") & set(head[outer[-1].end() :]):
        return None
    return head[: outer[-1].start()], opening + columns


def generate(step: PlanNodeInput) -> PlanRelation:
    """LATERAL VIEW and explode: rows made of others, with columns of the generator's arguments.

    A physical plan lists what is passed on, and no list where that is nothing; rows that are only repeated keep their
    ids. How many rows one becomes is decided by what the generator takes apart.
    """
    parts = _generator_parts(step.node.args)
    if parts is None:
        return unknown_relation(step, "Generate")
    (text, made_columns), scope = parts, step.below.scope
    passed = step.below.attributes
    if "Input" in step.node.fields:
        listed = text.rindex("), [") + 1 if text.endswith("]") and "), [" in text else len(text)
        kept = element_list(text[listed + 2 :], scope)
        passed = [scope[item.id] for item in kept if item.id in scope]
        text = text[:listed]
    columns = attribute_list(made_columns)
    lineages, deciding = _generator_columns(text, len(columns), step)
    made = [
        scope.get(item.id) or Attribute(item.id, item.name, lineage)
        for item, lineage in zip(columns, lineages, strict=True)
    ]
    found = {(column, FILTER) for column in deciding}
    return step.below.with_attributes([*passed, *made], found, cut(step.node.args))


def _generator_columns(
    text: str, count: int, step: PlanNodeInput
) -> tuple[list[AttributeLineage], Iterable[ColumnRef]]:
    """What each of a generator's columns is made of, and the columns that decide how many rows there are."""
    scope = step.scope
    match = _GENERATOR.fullmatch(text)
    if match is not None and SUBQUERY.search(text) is None:
        arguments = unnamed_list(f"[{match.group(2)}]", step.below.scope)
        call = FunctionCall(match.group(1), arguments, lambda each, _bound: read_expression(each, scope))
        if (made := generator_columns(call, count)) is not None:
            return made
    whole = read_expression(text, scope)
    one_row = match is not None and match.group(1).upper() in OF_ONE_ROW
    return [whole if count == 1 else uncertain_part(whole)] * count, () if one_row else whole.columns


def expand(step: PlanNodeInput) -> PlanRelation:
    """GROUPING SETS, UNPIVOT: each output is one of several expressions, by position."""
    text = inside(step.node.args) if not step.node.args.startswith("[[") else step.node.args[1:]
    rows_text, _, outputs = text.rpartition("]], ")
    scope = step.scope
    spans = step.below.scope
    columns = attribute_list(outputs)
    rows = [_expand_row(row, spans) for row in (rows_text + "]").split("], [")]
    rows = [row for row in rows if not is_deletion(columns, row)]
    problems = cut(step.node.args)
    made: list[Attribute] = []
    for position, column in enumerate(columns):
        parts = [row[position] for row in rows if position < len(row)]
        lineage = unite_lineages(read_expression(part, scope) for part in parts)
        if problems or any(len(row) != len(columns) for row in rows):
            lineage = AttributeLineage(
                lineage.direct, lineage.indirect, lineage.expression, lineage.opaque, incomplete=True
            )
        made.append(Attribute(column.id, column.name, lineage))
    return step.below.with_attributes(made, problems=problems)


def is_deletion(columns: Sequence[Element], row: Sequence[str]) -> bool:
    """Whether a row that a row operation writes only says that an old one is deleted: it carries no values."""
    return bool(columns) and columns[0].name == _ROW_OPERATION and row[0] == _DELETED


def _expand_row(text: str, scope: dict[int, Attribute]) -> list[str]:
    """One projection's expressions. They have no names to tell their ends: cut at commas outside of brackets."""
    body = text.removeprefix("[").removesuffix("]")
    spans = attribute_spans(body, scope)
    hidden = {i for start, end, _ in spans for i in range(start, end)}
    depth = nesting(body, spans)
    found: list[str] = []
    start = 0
    for index, character in enumerate(body):
        if character == "," and depth[index] <= 0 and index not in hidden and body.startswith(", ", index):
            found.append(body[start:index])
            start = index + 2
    return [*found, body[start:]]


def with_cte(step: PlanNodeInput) -> PlanRelation:
    """WITH: the definitions come first, the query last."""
    rest = join_relations(
        PlanRelation([], frozenset(), relation.sources, relation.problems) for relation in step.inputs[:-1]
    )
    query = step.inputs[-1]
    return PlanRelation(query.attributes, query.indirect, query.sources, (*query.problems, *rest.problems))


def cte_definition(step: PlanNodeInput) -> PlanRelation:
    identifier = step.node.args.partition(",")[0].strip()
    if identifier.isdigit():
        step.evaluation.ctes[int(identifier)] = step.below
    return step.below


def view(step: PlanNodeInput) -> PlanRelation:
    """A stored view is a source of its own; a temporary one is what it selects."""
    parts = quoted_parts(step.node.args.lstrip("("))
    stored = len(parts) > 1 and parts[0] != "global_temp"
    if not stored or step.evaluation.through_views:
        return step.below
    name = step.evaluation.names.table(parts)
    columns = [Attribute(item.id, item.name, base_column(ColumnRef(name, item.name))) for item in step.below.attributes]
    return PlanRelation(columns, frozenset(), {name: None}, step.below.problems)
