"""What a new column breaks: names that become ambiguous, and INSERTs that count their columns.

The catalog keeps the masked text of each statement that reads or fills a table: it is bound twice, without the new
column and with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from connectors.catalog.local_tables import LocalTables
from connectors.catalog.store.evidence.column_dependencies import ColumnDependency
from ingestion.binding.binder import BoundLog
from ingestion.dialects import Dialect
from ingestion.model import Column, ProblemKind, WriteMode
from ingestion.names.namespaces import Namespace
from workflows.changes.differences import Sides
from workflows.changes.downstream import DownstreamPaths
from workflows.changes.effects import effect
from workflows.changes.report import DownstreamEffect, EffectKind
from workflows.changes.scripts import BoundScript, TableNames, bound_script, columns_of
from workflows.sql_files.sql_files import Script

_BREAKING = frozenset({ProblemKind.AMBIGUOUS_COLUMN, ProblemKind.COLUMN_COUNT, ProblemKind.UNKNOWN_COLUMN})
_APPENDING = frozenset({WriteMode.APPEND, WriteMode.OVERWRITE})


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
        if known and not after.unknown:
            kind, why = EffectKind.BREAKS, _trouble(before.log, after.log, rebinding.dialect)
        for target in dict.fromkeys(one.target[0] for one in own) if why else ():
            path = tuple(one for one in own if one.target[0] == target and one.source[0] == name)[:1]
            yield effect(kind, sides, (target, None), path, why)


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
    """Why the statement fails with the new column, "" where it does not."""
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
