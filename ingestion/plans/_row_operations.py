"""MERGE, UPDATE and DELETE: as Spark rewrites them (Iceberg and other V2 tables) and as Delta Lake's own commands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ingestion.analysis.roles import FILTER, IDENTITY, JOIN
from ingestion.model.lineage import ColumnRef, StatementKind, TableName
from ingestion.plans._evaluation import CUT, PlanNodeInput, cut
from ingestion.plans._expressions import AttributeScope, read_expression, read_influences
from ingestion.plans._logical import is_deletion
from ingestion.plans._physical import opaque
from ingestion.plans._relation import (
    MISSING,
    Attribute,
    AttributeLineage,
    Element,
    IndirectUse,
    PlanRelation,
    attribute_list,
    is_truncated,
    unite_lineages,
    unnamed_list,
)

METADATA = frozenset("_file _pos _spec_id _partition _deleted _row_id _last_updated_sequence_number".split())  # noqa: SIM905
"""Columns that a table format adds to rows which it rewrites."""

_OPERATION_COLUMN = "__row_"
_INSTRUCTION = re.compile(r"\b(keep|discard|split)\(")
_CONTEXT = re.compile(r"^(?:Copy|Update|Insert|Delete), ")
_CLAUSE = re.compile(r"\b(Update|Insert|Delete) \[")
_UPDATED = re.compile(r"^Delta\[[^\]]*\], (?:(?:`(?:[^`]|``)+`\.?)+, )?\[")
_FILTERED_COLUMN = re.compile(
    r"(?:^|, |\(|\b(?:NOT|AND|OR) )(?:`(?P<quoted>[^`]+)`|(?P<plain>(?!NOT\b)[^\W\d]\w*))(?:\.\w+)*"
    r" (?:IS|=|!=|<|>|IN|NOT|LIKE)"
)
_LITERAL = re.compile(r"'(?:[^']|'')*'?")
_ACTION = re.compile(r"(?:^|, )`((?:[^`]|``)+)` = ")


def merge_rows(step: PlanNodeInput) -> PlanRelation:
    """A rewritten MERGE: instructions say which rows are kept and what each of their columns becomes.

    The one-line form prints the columns only: each may come from any of the rows that were joined.
    """
    head, listed, outputs = step.node.args.rpartition(", [")
    if not listed:
        return opaque(step)
    columns = attribute_list("[" + outputs)
    scope = step.below.scope
    parts: list[list[AttributeLineage]] = [[] for _ in columns]
    found: set[IndirectUse] = set()
    for kind, body in _instructions(head):
        condition, *values = unnamed_list(_CONTEXT.sub("", body), scope) or [""]
        found |= read_influences(condition, step.scope, FILTER)
        if kind == "discard":
            continue
        for row in _rows_made(values, columns):
            for position, text in enumerate(row):
                parts[position].append(read_expression(text, step.scope) if text is not None else MISSING)
    written = [(item, parts[i]) for i, item in enumerate(columns) if parts[i]]  # none where rows are only deleted
    made = [Attribute(item.id, item.name, unite_lineages(values)) for item, values in written]
    return step.below.with_attributes(made, found, cut(step.node.args))


def _rows_made(values: Sequence[str], columns: Sequence[Element]) -> Iterator[Sequence[str | None]]:
    """The rows that an instruction makes of one: two for a split, whose first is the old row's deletion.

    A deletion carries no values. Where the values are not told apart (a literal has commas), none is known.
    """
    width = len(columns)
    if width == 0 or len(values) % width or not values:
        yield [None] * width
        return
    for start in range(0, len(values), width):
        row = values[start : start + width]
        if not is_deletion(columns, row):
            yield row


def _instructions(text: str) -> Iterator[tuple[str, str]]:
    """Each instruction of a MergeRows node with its arguments."""
    for match in _INSTRUCTION.finditer(text):
        yield match.group(1), _balanced_text(text, match.end(), "(", ")")


def _balanced_text(text: str, start: int, opening: str, closing: str) -> str:
    """The text from `start` to the bracket that closes one opened just before it."""
    depth = 1
    for index in range(start, len(text)):
        depth += (text[index] == opening) - (text[index] == closing)
        if depth == 0:
            return text[start:index]
    return text[start:]


# Delta's commands.


def delta_merge(args: str, made: Mapping[int, Attribute], reads: Iterable[PlanRelation]) -> PlanRelation:
    """Delta's MERGE: its clauses name the columns; their ids are those of the scans beside it, which are its `reads`.

    What decides the rows of its source is in these alone: the WHERE of `USING (SELECT k FROM s WHERE live)`.
    """
    scope = AttributeScope(made, known=set(made))
    found: set[IndirectUse] = {use for read in reads for use in read.indirect}
    columns: dict[str, list[AttributeLineage]] = {}
    first = _CLAUSE.search(args)
    condition = args[: first.start()] if first else args
    found |= read_influences(condition.partition("], ")[2], scope, JOIN)
    for match in _CLAUSE.finditer(args):
        body = _balanced_text(args, match.end(), "[", "]")
        test, _, actions = body.partition("actions: [")
        found |= read_influences(test.removeprefix("condition: "), scope, FILTER)
        for name, text in _assignments(actions.removesuffix("]")):
            columns.setdefault(name, []).append(read_expression(text, scope))
    attributes = [Attribute(-1 - i, name, unite_lineages(parts)) for i, (name, parts) in enumerate(columns.items())]
    if args.count("[") != args.count("]"):  # a literal has some: where clauses begin and end is not known
        attributes = [replace(item, lineage=replace(item.lineage, opaque=True)) for item in attributes]
    problems = (CUT,) if is_truncated(args) else ()
    lineages = [lineage for parts in columns.values() for lineage in parts]
    tables = {c.table: None for lineage in lineages for c in lineage.columns} | {c.table: None for c, _ in found}
    return PlanRelation(attributes, frozenset(found), tables, problems)


def delta_update(args: str, target: PlanRelation) -> PlanRelation:
    """Delta's UPDATE over the relation of its table: `…, [value of each column], condition`."""
    head = _UPDATED.search(args)
    scope = AttributeScope(target.scope)
    body = _balanced_text(args, head.end(), "[", "]") if head else ""
    condition = args[head.end() + len(body) :].removeprefix("], ") if head else ""
    values = [value for value in unnamed_list("[" + body + "]", target.scope) if not is_truncated(value)]
    columns = target.attributes
    whole = len(values) == len(columns)  # a literal may have commas and brackets
    lineages = [read_expression(value, scope) for value in values] if whole else [MISSING] * len(columns)
    made = [replace(column, lineage=lineage) for column, lineage in zip(columns, lineages, strict=True)]
    found = read_influences(condition, scope, FILTER) if whole else ()  # over which columns is not known
    return target.with_attributes(made, found, cut(args))


def deleted_rows(condition: str, target: PlanRelation) -> PlanRelation:
    """DELETE over the relation of its table: nothing flows, and the condition decides what is left."""
    found = read_influences(condition, AttributeScope(target.scope), FILTER)
    return target.with_attributes([], found, cut(condition))


def rows_deleted_by_name(filters: str, table: TableName) -> PlanRelation:
    """DELETE as a catalog is told it: `day < 20455, region IN ('a', 'b')`, columns by their names alone."""
    names = _FILTERED_COLUMN.finditer(_LITERAL.sub("", filters))
    found = {(ColumnRef(table, name["quoted"] or name["plain"]), FILTER) for name in names}
    return PlanRelation([], frozenset(found), {table: None}, tuple(cut(filters)))


def _assignments(actions: str) -> Iterator[tuple[str, str]]:
    """The columns that a clause sets, each with its expression."""
    found = list(_ACTION.finditer(actions))
    ends = [match.start() for match in found[1:]] + [len(actions)]
    for match, end in zip(found, ends, strict=False):
        yield match.group(1).replace("``", "`"), actions[match.end() : end]


# What a row operation leaves.


def changed_rows(relation: PlanRelation, name: TableName) -> PlanRelation:
    """A row operation's relation without what only carries the target's own rows on.

    What it makes of others of the target's columns is lineage, and so are conditions on them: over the columns that it
    sets, and over all that is left where it sets none.
    """
    kept = [_changed_column(attribute, name) for attribute in relation.attributes if not _is_carried(attribute, name)]
    rows = frozenset(use for use in relation.indirect if _tells(use[0], name))
    read = {column.table for attribute in kept for column in attribute.lineage.columns} | {use[0].table for use in rows}
    sources = {table: None for table in relation.sources if table != name or table in read}
    return PlanRelation(kept, rows, sources, relation.problems)


def _changed_column(attribute: Attribute, name: TableName) -> Attribute:
    """The column as its new values are made: that others of them are the old ones says nothing."""
    lineage, old = attribute.lineage, ColumnRef(name, attribute.name)
    direct = {column: role for column, role in lineage.direct.items() if (column, role) != (old, IDENTITY)}
    direct = {column: role for column, role in direct.items() if _tells(column, name)}
    indirect = frozenset(use for use in lineage.indirect if _tells(use[0], name))
    return replace(attribute, lineage=replace(lineage, direct=direct, indirect=indirect))


def _tells(column: ColumnRef, name: TableName) -> bool:
    """Whether a column is one of the data, not of what the format adds to the rows of the table that it rewrites."""
    return column.table != name or not _is_internal(column.column)


def row_operation_kind(kinds: frozenset[str], relation: PlanRelation, name: TableName) -> StatementKind:
    """Which statement a rewritten plan stands for: MERGE has its rows merged, DELETE changes no column.

    `kinds` are the names of the plan's operators, `relation` is what it writes and `name` the table it writes to.
    """
    if "MergeRows" in kinds or "MergeIntoCommand" in kinds:
        return StatementKind.MERGE
    changed = not all(_is_carried(attribute, name) for attribute in relation.attributes)
    return StatementKind.UPDATE if changed else StatementKind.DELETE


def _is_carried(attribute: Attribute, name: TableName) -> bool:
    """Whether a column is the target's own, unchanged, or none of the target's."""
    lineage = attribute.lineage
    own = lineage.identity and set(lineage.direct) == {ColumnRef(name, attribute.name)}
    return _is_internal(attribute.name) or (own and not lineage.expression)  # else a constant in other rows


def _is_internal(column: str) -> bool:
    """Whether a column is one by which a rewritten operation finds rows, or says what becomes of them."""
    return column in METADATA or column.startswith(_OPERATION_COLUMN)
