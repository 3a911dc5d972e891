"""A proposed change, given as SQL, as DDL or as two directories: what it does to what a catalog knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection

from connectors.catalog.questions.answer import Answer, When
from connectors.catalog.questions.contracts import BoundContracts
from connectors.catalog.questions.file import open_catalog
from connectors.catalog.questions.proposed_change._contracts import changed_names, loosened_names
from connectors.catalog.questions.proposed_change._differences import (
    Sides,
    TableDifference,
    filling_differences,
    schema_differences,
    unknown_columns,
    unknown_tables,
)
from connectors.catalog.questions.proposed_change._effects import (
    DownstreamPaths,
    Rebinding,
    change_of,
    effects_of_added,
)
from connectors.catalog.questions.proposed_change._scripts import (
    BoundScript,
    ScriptEffects,
    TableNames,
    bound_script,
    script_effects,
)
from connectors.catalog.questions.proposed_change.report import ChangeKind, ChangeReport, ProposedChange
from connectors.catalog.questions.tables import LocalTables
from connectors.catalog.store.lineage.reads import Moment
from connectors.catalog.store.lineage.window import window
from connectors.sql_files.lineage import DEFAULT_DIALECT
from connectors.sql_files.scripts import Script, read_script
from ingestion.arguments import listing
from ingestion.dialects import Dialect, dialect_of
from ingestion.dialects.connection_types import CONNECTION_TYPES
from ingestion.errors import ConfigError
from ingestion.model.lineage import Column
from ingestion.model.namespaces import Namespace
from ingestion.statements import split
from ingestion.walk import node_name


@dataclass(frozen=True, slots=True)
class ChangeOptions:
    """The change: a file or directory of SQL, or - (`sql`), its text (`ddl`), or two directories (`diff`).

    `dialect` None: that of the catalog's databases; `default_schema`: where names without a schema stand (schema, or
    database.schema), "" if nowhere. `contracts`: a file or a folder of those that it is held against.
    """

    sql: str | None = None
    ddl: str | None = None
    diff: tuple[str, str] | None = None
    dialect: str | None = None
    default_schema: str = ""
    timeout_seconds: float = 30.0
    contracts: Path | None = None


def proposed_change(catalog: Path, options: ChangeOptions, when: When) -> Answer[ChangeReport]:
    """What the change does downstream. Raises ConfigError for files, a dialect or a catalog that are not there."""
    with open_catalog(catalog) as connection:
        return change_report(connection, options, window(connection, when.as_of, when.days).moment)


def change_report(connection: Connection, options: ChangeOptions, moment: Moment) -> Answer[ChangeReport]:
    """The same of an open catalog, as it was at a moment. Raises ConfigError also where no statement was given."""
    tables = LocalTables(connection, moment)
    dialect = _dialect(options.dialect, tables)
    names = TableNames(tables, _namespace(options.default_schema))
    scripts = _scripts(options, dialect)
    before, after = (_read(script, dialect, names, options) for script in scripts)
    if options.diff is None and not (after.texts or after.unknown or split(scripts[1].text, dialect.name)):
        raise ConfigError("there is no statement in what was given: an empty text changes nothing, and says nothing")
    sides = Sides(tables, script_effects(before, names), script_effects(after, names, before))
    rebinding = Rebinding(dialect, names.namespace, options.timeout_seconds)
    changes = tuple(_changes(sides, rebinding))
    ambiguous = (f"{name} may be one of {', '.join(of[:3])}" for name, of in names.ambiguous.items())
    unknown = (
        *_not_understood(before, after),
        *ambiguous,
        *(f"{name} is not in this catalog: what depends on it is not known" for name in unknown_tables(sides)),
        *(f"{name} is not in this catalog: a mistyped name?" for name in _not_found(sides)),
        *(f"{column} is not in this catalog" for column in unknown_columns(sides)),
        *_taken_along(sides, after),
        *_problems(sides.after, sides.before),
    )
    reads, writes = (tuple(sorted(names)) for names in (sides.after.reads, sides.after.writes))
    contracts = None
    if options.contracts is not None:
        altered = [*changed_names(changes), *loosened_names(before, after, names, dialect)]
        contracts = BoundContracts.of(options.contracts, tables).report(altered)
    return Answer(ChangeReport(changes, reads, writes, tuple(dict.fromkeys(unknown)), contracts))


def _dialect(given: str | None, tables: LocalTables) -> Dialect:
    if given is not None:
        return dialect_of(given)
    kinds = {CONNECTION_TYPES[kind] for kind in tables.service_types() if kind in CONNECTION_TYPES}
    if len(kinds) > 1:
        raise ConfigError(f"the catalog holds databases of several dialects ({', '.join(sorted(kinds))}): --dialect")
    return dialect_of(next(iter(kinds), DEFAULT_DIALECT))


def _namespace(default_schema: str) -> Namespace:
    *database, schema = default_schema.split(".")
    return Namespace(".".join(database), (schema,) if schema else ())


def _scripts(options: ChangeOptions, dialect: Dialect) -> tuple[Script | None, Script]:
    if options.diff is not None:
        base, head = options.diff
        return read_script(base, dialect), read_script(head, dialect)
    if options.ddl is not None:
        return None, Script(f"{options.ddl}\n", ((1, "<ddl>"),))
    return None, read_script(options.sql or "-", dialect)


def _read(script: Script | None, dialect: Dialect, names: TableNames, options: ChangeOptions) -> BoundScript:
    return bound_script(script, dialect, names, options.timeout_seconds)


def _changes(sides: Sides, rebinding: Rebinding) -> Iterator[ProposedChange]:
    walk = DownstreamPaths(sides)
    found = [*schema_differences(sides), *filling_differences(sides)]
    changes = [_with_effects(one, found, walk, rebinding) for one in found]
    yield from sorted(changes, key=lambda change: (not change.breaks, change.name))


def _with_effects(
    one: TableDifference, found: list[TableDifference], walk: DownstreamPaths, rebinding: Rebinding
) -> ProposedChange:
    if one.kind is not ChangeKind.COLUMN_ADDED:
        return change_of(one, walk, rebinding.dialect)
    added = [
        Column(other.node[1] or "", other.detail)
        for other in found
        if other.kind is ChangeKind.COLUMN_ADDED and other.node[0] == one.node[0]
    ]
    first = added[0].name == one.node[1]  # they come together, and break what they break once
    effects = tuple(effects_of_added(one.node[0], tuple(added), walk, rebinding)) if first else ()
    return ProposedChange(one.kind, node_name(one.node), one.detail, effects)


def _not_found(sides: Sides) -> Iterator[str]:
    """The tables that the change reads, fills or only touches, and that neither it makes nor anything knows."""
    named = {**sides.after.reads, **sides.after.writes}
    strangers = sides.after.not_found - sides.before.not_found
    yield from (name for name in named if name in strangers and sides.state_before(name) is None)
    yield from (name for name in sides.after.touched_in_vain if name not in sides.before.touched_in_vain)


def _taken_along(sides: Sides, after: BoundScript) -> Iterator[str]:
    """What is downstream of one dropped table and goes with it, where a schema or a database was dropped.

    `DROP DATABASE shop` names none of its tables. Nothing that stays breaks, and a whole warehouse is gone.
    """
    dropped = frozenset(after.dropped)
    fed = {one.target[0] for one in sides.tables.dependencies(after.dropped) if one.target[0] != one.source[0]}
    if gone := sorted(fed & dropped):
        yield (
            f"{len(dropped)} tables go with what is dropped, {len(gone)} of them made of others among them"
            f" ({listing(gone[:3])}): drop them by name if that is meant"
        )


def _not_understood(before: BoundScript, after: BoundScript) -> Iterator[str]:
    """What is not understood of the change itself, and not of what it leaves as it is."""
    known = Counter(text for text, _location in before.unknown)
    for text, location in after.unknown:
        if known[text] > 0:
            known[text] -= 1
        else:
            yield location


def _problems(after: ScriptEffects, before: ScriptEffects) -> Iterator[str]:
    """What the change itself names in vain, or not for certain."""
    for target, problems in after.problems.items():
        for kind, subject in problems:
            if (kind, subject) not in before.problems.get(target, ()):
                yield f"{target or 'a query'}: {kind.replace('_', ' ')}: {subject}"
