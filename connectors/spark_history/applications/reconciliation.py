"""A statement's text and its plan together: the plan decides columns and full names, the text gives view names.

A physical plan reads base tables where the statement named a stored view; the text knows the view. Where text and plan
tell different things, the plan's lineage is kept and the difference is a problem of the statement.

Without a text (an INSERT by `spark.sql` or a DataFrame) nothing knows the view: Spark puts its query in its place
before it plans, and no node, argument or id of it is left. That the same tables, columns and filter are read proves
nothing: who writes out what the view says has the same plan. So the edge comes from the base tables, which is right, if
further away. The view is kept by CREATE TABLE AS and saveAsTable, whose plan is logical, and by
`spark.sql.ui.explainMode=extended`, whose analyzed plan has a View node: `operators.view` reads both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from ingestion.model import (
    ColumnRef,
    Flow,
    LineageType,
    NameKind,
    Output,
    Problem,
    ProblemKind,
    Reference,
    StatementLineage,
    Subtype,
    TableName,
)

Resolve = Callable[[TableName], TableName]


@dataclass(slots=True)
class KnownViews:
    """The views that an application created: stored ones with their columns' origin, temporary ones by name."""

    stored: dict[TableName, Mapping[str, ColumnRef]] = field(default_factory=dict)
    bases: dict[TableName, frozenset[TableName]] = field(default_factory=dict)
    temporary: set[str] = field(default_factory=set)

    def note(self, lineage: StatementLineage) -> None:
        """Remember the views that a statement creates."""
        for flow in lineage.flows:
            if flow.target is None or not flow.target.view:
                continue
            if flow.target.temporary:
                self.temporary.add(flow.target.name.table.casefold())
                continue
            self.stored[flow.target.name] = {
                output.name: output.references[0].sources[0] for output in flow.outputs if _is_identity(output)
            }
            self.bases[flow.target.name] = frozenset(flow.sources)


def _is_identity(output: Output) -> bool:
    return (
        len(output.references) == 1
        and output.references[0].certain
        and output.references[0].transformation.subtype is Subtype.IDENTITY
    )


def reconcile(text: StatementLineage, plan: StatementLineage, views: KnownViews, resolve: Resolve) -> StatementLineage:
    """The plan's lineage with the view names of the text, and a problem for each difference between the two.

    `resolve` gives the full name of a name as the text has it.
    """
    named = {fold_name(resolve(name)): resolve(name) for name in text.sources if name.kind is NameKind.TABLE}
    named = {key: name for key, name in named.items() if name.table.casefold() not in views.temporary}
    read = {fold_name(name): name for name in plan.sources if name.kind is NameKind.TABLE}
    only_text = [name for key, name in named.items() if key not in read]
    only_plan = [name for key, name in read.items() if key not in named]
    stored = {fold_name(name): name for name in views.stored}
    viewed = [stored[fold_name(name)] for name in only_text if fold_name(name) in stored]
    behind = {base for view in viewed for base in views.bases[view]}
    if len(viewed) == len(only_text) and all(name in behind for name in only_plan):
        plan = _through_views(plan, viewed, only_plan, views)
        return plan if viewed else _with_problems(plan, _column_differences(text, plan, resolve))
    differing = [*only_text] if not views.temporary else [name for name in only_text if name not in viewed]
    differing += [name for name in only_plan if name not in behind and not views.temporary]
    return _with_problems(plan, (Problem(ProblemKind.DISAGREEMENT, name.dotted) for name in differing))


def fold_name(name: TableName) -> tuple[str, ...]:
    return tuple(part.casefold() for part in name.parts)


def _with_problems(lineage: StatementLineage, problems: Iterable[Problem]) -> StatementLineage:
    return replace(lineage, problems=tuple(dict.fromkeys([*lineage.problems, *problems])))


# --- view names ---------------------------------------------------------------------------------------------------


def _through_views(
    plan: StatementLineage, viewed: list[TableName], hidden: list[TableName], views: KnownViews
) -> StatementLineage:
    """The plan's lineage with columns of base tables that only views read as the columns of those views."""
    places: dict[ColumnRef, ColumnRef | None] = {}
    for view in viewed:
        for column, base in views.stored[view].items():
            if base.table in hidden:
                places[base] = None if base in places else ColumnRef(view, column)
    known = {base: place for base, place in places.items() if place is not None}
    if not known:
        return plan
    return replace(plan, flows=tuple(_move(flow, known) for flow in plan.flows))


def _move(flow: Flow, places: Mapping[ColumnRef, ColumnRef]) -> Flow:
    outputs = tuple(
        replace(output, references=tuple(_moved_reference(item, places) for item in output.references))
        for output in flow.outputs
    )
    indirect = tuple(_moved_reference(item, places) for item in flow.indirect)
    used = [r for output in outputs for r in output.references] + list(indirect)
    tables = {column.table: None for reference in used for column in reference.sources}
    left = [table for table in flow.sources if table in tables or not any(base.table == table for base in places)]
    return replace(flow, outputs=outputs, indirect=indirect, sources=tuple(dict.fromkeys([*left, *tables])))


def _moved_reference(reference: Reference, places: Mapping[ColumnRef, ColumnRef]) -> Reference:
    return replace(reference, sources=tuple(places.get(column, column) for column in reference.sources))


# --- columns ------------------------------------------------------------------------------------------------------


def _column_differences(text: StatementLineage, plan: StatementLineage, resolve: Resolve) -> list[Problem]:
    """The columns whose direct sources text and plan tell differently; what the text leaves open is no difference."""
    if len(text.flows) != len(plan.flows):
        return []
    found: list[Problem] = []
    for written, planned in zip(text.flows, plan.flows, strict=True):
        if len(written.outputs) != len(planned.outputs) or any(output.star for output in written.outputs):
            continue
        for mine, theirs in zip(written.outputs, planned.outputs, strict=True):
            if _differs(mine, theirs, resolve):
                found.append(Problem(ProblemKind.DISAGREEMENT, theirs.name))
    return found


def _differs(written: Output, planned: Output, resolve: Resolve) -> bool:
    candidates = [
        {(fold_name(resolve(column.table)), column.column.casefold()) for column in reference.sources}
        for reference in written.references
        if reference.transformation.type is LineageType.DIRECT
    ]
    read = {
        (fold_name(column.table), column.column.casefold())
        for reference in planned.references
        if reference.transformation.type is LineageType.DIRECT
        for column in reference.sources
    }
    allowed = {item for each in candidates for item in each}
    return not read <= allowed or any(not each & read for each in candidates)
