"""What each difference does to what lies downstream of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from connectors.catalog.store.evidence.column_dependencies import ColumnDependency
from ingestion.dialects import Dialect
from ingestion.policies.values import ColumnNode, ValueFlow, value_flow
from workflows.changes.differences import Sides, TableDifference
from workflows.changes.downstream import DownstreamPaths, Path
from workflows.changes.report import ChangeKind, DownstreamEffect, EffectKind, ProposedChange

_RENAMES = frozenset({ChangeKind.COLUMN_RENAMED, ChangeKind.TABLE_RENAMED})
_GOING = _RENAMES | {ChangeKind.COLUMN_DROPPED, ChangeKind.TABLE_DROPPED}
_MEANINGS = frozenset({ChangeKind.ROWS_REDEFINED, ChangeKind.COLUMN_REDEFINED, ChangeKind.COLUMN_FILLED})
_ORDER = tuple(EffectKind)


def change_of(difference: TableDifference, walk: DownstreamPaths, dialect: Dialect) -> ProposedChange:
    """The difference with its effects, the worst first."""
    effects = tuple(sorted(_effects(difference, walk, dialect), key=lambda one: _ORDER.index(one.kind)))
    return ProposedChange(difference.kind, _label(difference.node), difference.detail, effects)


def _label(node: ColumnNode) -> str:
    """The full name of a table or a column."""
    return node[0] if node[1] is None else f"{node[0]}.{node[1]}"


def effect(kind: EffectKind, sides: Sides, node: ColumnNode, path: Path, why: str = "") -> DownstreamEffect:
    """An effect on `node`, by the path that leads there."""
    table = sides.tables.table(node[0])
    names = (_label(path[0].source), *(_label(hop.target) for hop in path)) if path else (_label(node),)
    owners = table.owners if table is not None else ()
    return DownstreamEffect(
        kind, _label(node), owners, names, tuple(hop.expression for hop in path), why, node[1] is None
    )


def _effects(difference: TableDifference, walk: DownstreamPaths, dialect: Dialect) -> Iterator[DownstreamEffect]:
    kind_of = _kind_by_strength(difference)
    if kind_of is None:
        return
    follows: Callable[[ColumnDependency], bool] = lambda _one: True  # noqa: E731 one of three
    if difference.kind is ChangeKind.COLUMN_SENSITIVE:
        follows = _keeps_value
    elif difference.kind in _RENAMES and dialect.views_follow_names:
        start = difference.node
        follows = lambda one: one.producer != "view" or not _reads(one, start)  # noqa: E731
    for node, (strength, path) in walk.paths(difference.node, follows).items():
        kind = kind_of(strength)
        if kind is EffectKind.SENSITIVITY and not _lacks(walk.sides, node, difference.detail):
            continue
        after = walk.sides.state_after(node[0])
        if kind is not None and (after is None or after.exists):
            yield effect(kind, walk.sides, node, path)


def _kind_by_strength(difference: TableDifference) -> Callable[[str], EffectKind | None] | None:
    """What the difference does to something that is tied to it DIRECTly, INDIRECTly or by TABLE; None: nothing."""
    if difference.kind in _GOING:
        return lambda strength: EffectKind.UNCERTAIN if strength == "TABLE" else EffectKind.BREAKS
    if difference.kind in _MEANINGS:
        return lambda strength: EffectKind.MEANING if strength != "TABLE" else None
    if difference.kind is ChangeKind.COLUMN_SENSITIVE:
        return lambda strength: EffectKind.SENSITIVITY if strength == "DIRECT" else None
    if difference.kind is not ChangeKind.COLUMN_RETYPED:
        return None
    if difference.fits:
        return lambda strength: EffectKind.TYPE if strength == "DIRECT" else None
    if difference.fits is None:
        return lambda _strength: EffectKind.UNCERTAIN
    return lambda strength: EffectKind.UNCERTAIN if strength == "TABLE" else EffectKind.BREAKS


def _keeps_value(one: ColumnDependency) -> bool:
    return one.certain and value_flow(one) is ValueFlow.KEPT


def _reads(one: ColumnDependency, node: ColumnNode) -> bool:
    return one.source[0] == node[0] and (node[1] is None or one.source[1] in (None, node[1]))


def _lacks(sides: Sides, node: ColumnNode, tags: str) -> bool:
    """Whether a column lacks one of these tags."""
    table = sides.tables.table(node[0])
    column = table.column(node[1].strip('"')) if table is not None and node[1] is not None else None
    return column is not None and not set(tags.split(", ")) <= set(column.tags)
