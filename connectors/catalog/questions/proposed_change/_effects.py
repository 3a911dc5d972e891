"""What each difference does to what lies downstream of it, in the catalog and in the scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from connectors.catalog.questions.proposed_change._differences import Sides, TableDifference
from connectors.catalog.questions.proposed_change._scripts import BoundScript, TableNames, bound_script, columns_of
from connectors.catalog.questions.proposed_change.report import ChangeKind, DownstreamEffect, EffectKind, ProposedChange
from connectors.catalog.questions.tables import LocalTables
from connectors.catalog.store.lineage.reads import ColumnDependency
from connectors.sql_files.scripts import Script
from ingestion.binding.binder import BoundLog
from ingestion.dialects import Dialect
from ingestion.model.fqn import split_fqn
from ingestion.model.lineage import Column, WriteMode
from ingestion.model.moments import earliest_unseen
from ingestion.model.namespaces import Namespace
from ingestion.model.outcomes import ProblemKind
from ingestion.policies import ValueFlow, value_flow
from ingestion.walk import DIRECT, INDIRECT, TABLE, ColumnNode, EdgeIndex, Hop, node_name, strongest_ways

Path = tuple[ColumnDependency, ...]

_RENAMES = frozenset({ChangeKind.COLUMN_RENAMED, ChangeKind.TABLE_RENAMED})
_GOING = _RENAMES | {ChangeKind.COLUMN_DROPPED, ChangeKind.TABLE_DROPPED}
_MEANINGS = frozenset({ChangeKind.ROWS_REDEFINED, ChangeKind.COLUMN_REDEFINED, ChangeKind.COLUMN_FILLED})
_ORDER = tuple(EffectKind)

_BREAKING = frozenset({ProblemKind.AMBIGUOUS_COLUMN, ProblemKind.COLUMN_COUNT, ProblemKind.UNKNOWN_COLUMN})
_APPENDING = frozenset({WriteMode.APPEND, WriteMode.OVERWRITE})


# What lies downstream of a table or a column, in the catalog and in the scripts, after a change.


class DownstreamPaths:
    """Shortest paths downstream; what the change writes anew is not followed by what it said before."""

    def __init__(self, sides: Sides) -> None:
        self.sides = sides
        self._edges = EdgeIndex(self._read, upstream=False)

    def paths(
        self, start: ColumnNode, follows: Callable[[ColumnDependency], bool] = lambda _one: True
    ) -> dict[ColumnNode, tuple[str, Path]]:
        """For everything downstream the strongest tie and its shortest path, over what `follows` takes."""

        def hops(nodes: Sequence[ColumnNode]) -> Iterator[Hop[ColumnNode, ColumnDependency]]:
            for hop in self._edges.hops(nodes):
                if follows(hop.edge):
                    # Of a whole table what is certain is that it is read: the first hop's columns do not matter.
                    is_read = hop.strength == TABLE and hop.start == start and start[1] is None
                    yield hop._replace(strength=INDIRECT) if is_read else hop

        ways = strongest_ways(start, hops, apart=lambda one: one.unseen is not None).found.values()
        return {way.node: (way.strength, tuple(hop.edge for hop in way.hops)) for way in ways if way.hops}

    def readers(self, name: str) -> list[ColumnDependency]:
        """The dependencies out of a table."""
        return self._edges.edges([name])

    def _read(self, names: Sequence[str]) -> Iterable[ColumnDependency]:
        rewritten, wanted = self.sides.rewritten_tables(), frozenset(names)
        found = [one for one in self.sides.tables.dependencies(names) if one.target[0] not in rewritten]
        for script, skipped in ((self.sides.before, rewritten), (self.sides.after, frozenset[str]())):
            for target, dependencies in script.dependencies.items():
                if target not in skipped and self._stands(target):
                    found += [one for one in dependencies if one.source[0] in wanted]
        return dict.fromkeys(found)

    def _stands(self, name: str) -> bool:
        state = self.sides.state_before(name)
        return state is not None and state.exists


# The effects of one difference.


def change_of(difference: TableDifference, walk: DownstreamPaths, dialect: Dialect) -> ProposedChange:
    """The difference with its effects, the worst first."""
    effects = tuple(sorted(_effects(difference, walk, dialect), key=lambda one: _ORDER.index(one.kind)))
    return ProposedChange(difference.kind, node_name(difference.node), difference.detail, effects)


def _effect_on(kind: EffectKind, sides: Sides, node: ColumnNode, path: Path, why: str = "") -> DownstreamEffect:
    """An effect on `node`, by the path that leads there."""
    table = sides.tables.table(node[0])
    names = (node_name(path[0].source), *(node_name(hop.target) for hop in path)) if path else (node_name(node),)
    owners = table.owners if table is not None else ()
    unseen = earliest_unseen(hop.unseen for hop in path)
    why = "; ".join(filter(None, (why, str(unseen) if unseen is not None else "")))
    return DownstreamEffect(
        kind, node_name(node), owners, names, tuple(hop.expression for hop in path), why, node[1] is None
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
            yield _effect_on(kind, walk.sides, node, path)


def _kind_by_strength(difference: TableDifference) -> Callable[[str], EffectKind | None] | None:
    """What the difference does to something that is tied to it DIRECTly, INDIRECTly or by TABLE; None: nothing."""
    if difference.kind in _GOING:
        return lambda strength: EffectKind.UNCERTAIN if strength == TABLE else EffectKind.BREAKS
    if difference.kind in _MEANINGS:
        return lambda strength: EffectKind.MEANING if strength != TABLE else None
    if difference.kind is ChangeKind.COLUMN_SENSITIVE:
        return lambda strength: EffectKind.SENSITIVITY if strength == DIRECT else None
    if difference.kind is not ChangeKind.COLUMN_RETYPED:
        return None
    if difference.fits:
        return lambda strength: EffectKind.TYPE if strength == DIRECT else None
    if difference.fits is None:
        return lambda _strength: EffectKind.UNCERTAIN
    return lambda strength: EffectKind.UNCERTAIN if strength == TABLE else EffectKind.BREAKS


def _keeps_value(one: ColumnDependency) -> bool:
    return one.certain and value_flow(one) is ValueFlow.KEPT


def _reads(one: ColumnDependency, node: ColumnNode) -> bool:
    """Whether it is a view over the node itself: the engine keeps that by number, so a new name does not reach it."""
    return one.source[0] == node[0] and (node[1] is None or one.source[1] in (None, node[1]))


def _lacks(sides: Sides, node: ColumnNode, tags: str) -> bool:
    """Whether a column lacks one of these tags."""
    table = sides.tables.table(node[0])
    column = table.column(node[1].strip('"')) if table is not None and node[1] is not None else None
    return column is not None and not set(tags.split(", ")) <= set(column.tags)


# What a new column breaks: names that become ambiguous, and INSERTs that count their columns.
#
# The catalog keeps the masked text of each statement that reads or fills a table: it is bound twice, without the new
# column and with it.


@dataclass(frozen=True, slots=True)
class Rebinding:
    """What statements are bound with: their dialect and names' namespace, and the seconds of a parser for each."""

    dialect: Dialect
    namespace: Namespace
    timeout_seconds: float


def effects_of_added(
    name: str, columns: tuple[Column, ...], walk: DownstreamPaths, rebinding: Rebinding
) -> Iterator[DownstreamEffect]:
    """What breaks when a table gets these columns behind its others."""
    sides = walk.sides
    table = sides.tables.table(name)
    if table is None:
        return
    around = [*walk.readers(name), *_fillers(sides, name)]
    known = columns_of(table)
    for text in dict.fromkeys(one.sql for one in around if one.sql):
        own = [one for one in around if one.sql == text]
        near = frozenset(end[0] for one in own for end in (one.source, one.target))
        before, after = (
            _bind_text(text, sides.tables, near, more, rebinding) for more in ({}, {name: (*known, *columns)})
        )
        kind, why = EffectKind.UNCERTAIN, "the statement behind it cannot be read again"
        if not known and not after.unknown:
            why = _doubt(before.log, name, columns)
        elif not after.unknown:
            kind, why = EffectKind.BREAKS, _trouble(before.log, after.log, rebinding.dialect)
        for target in dict.fromkeys(one.target[0] for one in own) if why else ():
            path = tuple(one for one in own if one.target[0] == target and one.source[0] == name)[:1]
            yield _effect_on(kind, sides, (target, None), path, why)


def _fillers(sides: Sides, name: str) -> list[ColumnDependency]:
    if name in sides.rewritten_tables():
        return []
    return sides.tables.dependencies([name], upstream=True)


def _bind_text(
    text: str, tables: LocalTables, near: frozenset[str], more: Mapping[str, tuple[Column, ...]], how: Rebinding
) -> BoundScript:
    names = TableNames(tables, how.namespace, near, more)
    return bound_script(Script(text, ((1, ""),)), how.dialect, names, how.timeout_seconds)


def _trouble(before: BoundLog, after: BoundLog, dialect: Dialect) -> str:
    """Why the statement fails with the new column, "" where it does not.

    `SELECT day FROM a JOIN b` is ambiguous once both have a `day`; `INSERT INTO t SELECT x, y FROM s` gives too few
    once `t` has three columns, but where the dialect fills the rest with NULL.
    """
    known = set(_problems(before))
    for kind, subject in _problems(after):
        if (kind, subject) not in known:
            return f"{kind.replace('_', ' ')}: {subject}"
    if dialect.fewer_values:
        return ""
    short = {target for target, count, wanted in _counts(before) if count < wanted}
    for target, count, wanted in _counts(after):
        if count < wanted and target not in short:
            return f"an INSERT without a list of columns gives {count} of {wanted}"
    return ""


def _doubt(log: BoundLog, name: str, columns: tuple[Column, ...]) -> str:
    """Why the statement may fail with a new column of a table of which queries alone tell what it has; "" where it
    cannot.

    `INSERT INTO u SELECT * FROM t` gives one more then; in `SELECT day FROM t JOIN s` a `day` of both is ambiguous.
    """
    added = {column.name.casefold() for column in columns}
    table = split_fqn(name)[-1].casefold()
    for meaning, flow in ((one.meaning, flow) for one in log.statements for flow in one.lineage.flows):
        stars = (meaning.get(output.star.table, -1) for output in flow.outputs if output.star is not None)
        starred = any(number >= 0 and log.relations[number].key.table.casefold() == table for number in stars)
        if starred and flow.target is not None and flow.target.mode in _APPENDING and not flow.target.by_name:
            return "it takes all columns that there are, by their order"
        read = (source for use in flow.references() if len(use.sources) > 1 for source in use.sources)
        named = next((source.column for source in read if source.column.casefold() in added), "")
        if named:
            return f"{named} may be ambiguous then"
    return ""


def _problems(log: BoundLog) -> list[tuple[str, str]]:
    problems = (problem for statement in log.statements for problem in statement.lineage.problems)
    return [(str(one.kind), one.subject) for one in problems if one.kind in _BREAKING]


def _counts(log: BoundLog) -> Iterator[tuple[str, int, int]]:
    """(target, columns given, columns there) of each INSERT without a list of columns, where both are known."""
    for statement in log.statements:
        for flow in statement.lineage.flows:
            target = flow.target
            if target is None or target.mode not in _APPENDING or target.columns is not None or target.by_name:
                continue
            there = log.schemas.get(statement.meaning.get(target.name, -1)) or ()
            if there and flow.outputs and all(output.star is None for output in flow.outputs):
                yield str(target.name), len(flow.outputs), len(there)
