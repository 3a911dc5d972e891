"""SQL read as one script and bound to the tables of a catalog, and what it leaves of them: their columns, their new
names, what fills them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from connectors.catalog.questions.tables import CatalogTable, LocalTables
from connectors.catalog.store.lineage.reads import ColumnDependency
from connectors.sql_files.scripts import Script
from ingestion.analysis.analyzer import mentions
from ingestion.analysis.symbolic import loads
from ingestion.binding.binder import BoundLog, BoundStatement, bind
from ingestion.binding.relations import Relation
from ingestion.binding.schema_changes import occurrences_of_tables
from ingestion.binding.timeline import Occurrence, SchemaProvider
from ingestion.dialects import Dialect
from ingestion.dialects.definition import keywords
from ingestion.model.fqn import decode_name
from ingestion.model.lineage import (
    Column,
    Flow,
    NameKind,
    Reference,
    StatementKind,
    StatementLineage,
    TableName,
    WriteMode,
)
from ingestion.model.namespaces import Namespace, RelationKey
from ingestion.model.outcomes import Outcome, ProblemKind
from ingestion.parsing.tiers import ParseOutcome
from ingestion.scripts.inspected_tables import held_statement
from ingestion.scripts.statements import ScriptStatement, parse_script_statements, script_statements
from ingestion.scripts.touched_names import made_namespace, referenced_tables, touched_columns, touched_namespaces
from ingestion.scripts.touched_tables import touched_tables
from ingestion.scripts.unfollowed_changes import dropped_namespace, made_types, misspelt_type, unfollowed_change
from ingestion.statements import classify, split
from ingestion.statements.altered_types import altered_types
from ingestion.statements.sessions import Session
from ingestion.walk import TABLE, ColumnNode

# SQL files read as one script and bound to the tables of a catalog.

_WHOLE = 3
_SYSTEM_SCHEMAS = keywords("information_schema pg_catalog pg_temp sys performance_schema system dbc syscat sysibm")
"""Schemas that a database has of its own: no log makes them."""
_SYSTEM_PREFIX = "pg_"
"""Of the names that PostgreSQL keeps for its own, which it finds without their schema."""


class TableNames:
    """Which table of a catalog a name means. `ambiguous`: for each name that may be one of several, those.

    Of several that a name may mean the one is meant that is among the `near` ones. `columns` are those of tables (by
    full name) that have others here than in the catalog.
    """

    def __init__(
        self,
        tables: LocalTables,
        namespace: Namespace,
        near: frozenset[str] = frozenset(),
        columns: Mapping[str, tuple[Column, ...]] | None = None,
    ) -> None:
        self.tables = tables
        self.namespace = namespace
        self._near = near
        self._own_columns = columns or {}
        self.ambiguous: dict[str, tuple[str, ...]] = {}

    def table(self, parts: Sequence[str]) -> CatalogTable | None:
        """The one table whose name ends with these parts."""
        known = tuple(part for part in parts if part)
        found = self.tables.tables_named(known) if known else ()
        if len(found) > 1:
            found = tuple(one for one in found if one.fqn in self._near) or found
        if len(found) > 1:
            self.ambiguous[".".join(known)] = tuple(one.fqn for one in found)
        return found[0] if len(found) == 1 else None

    def table_from(self, parts: Sequence[str], namespace: Namespace) -> CatalogTable | None:
        """The table that a name means where unqualified ones are looked for in a namespace first."""
        if len(parts) == 1:
            own = (self.table((schema, *parts)) for schema in namespace.search_path)
            return next((one for one in own if one is not None), None) or self.table(parts)
        return self.table(parts)

    def table_name(self, key: RelationKey) -> str:
        """The full name of the table that a key means, or the key itself where the catalog has none."""
        found = self.table(key.parts) if key.kind is NameKind.TABLE and key.session is None else None
        return str(key) if found is None else found.fqn

    def provider(self) -> SchemaProvider:
        """What stood before a script."""
        return SchemaProvider(self._columns, self._elsewhere)

    def _columns(self, key: RelationKey) -> Sequence[Column] | None:
        whole = key.kind is NameKind.TABLE and key.session is None and len(list(filter(None, key.parts))) >= _WHOLE
        found = self.table(key.parts) if whole else None
        return None if found is None else self._own_columns.get(found.fqn, columns_of(found))

    def _elsewhere(self, name: TableName, namespace: Namespace) -> RelationKey | None:
        if name.kind is not NameKind.TABLE:
            return None
        found = self.table_from(name.parts, namespace)
        return None if found is None else RelationKey(found.parts)


def columns_of(table: CatalogTable) -> tuple[Column, ...]:
    """The columns of a table in order, without the nested ones; () where not all of them are known."""
    return seen_columns(table) if table.complete else ()


def seen_columns(table: CatalogTable) -> tuple[Column, ...]:
    """The same, with those of a table of which only what queries named is known."""
    top = (one for one in table.columns if "." not in one.path or one.path.startswith('"'))
    return tuple(Column(decode_name(one.path.strip('"')), one.type) for one in top)


@dataclass(frozen=True, slots=True)
class _NamedTable:
    """A table that a statement is about without making, reading or filling it, and a column of it, or none."""

    parts: tuple[str, ...]
    namespace: Namespace
    column: str | None = None


@dataclass(frozen=True, slots=True)
class BoundScript:
    """A script's statements, bound; `texts` are their texts by the second part of their order.

    `retyped` are the columns that got a type, with the parts of their table's name; `dropped` the tables of dropped
    schemas; `named` those that a statement is about without lineage; `namespaces` the schemas and databases that are
    named, and `made_namespaces` those of them that are made; `unknown` what could not be understood: the statement's
    text, and where it is with the reason.
    """

    log: BoundLog
    texts: dict[int, str]
    dialect: Dialect
    retyped: tuple[tuple[tuple[str, ...], Column], ...] = ()
    dropped: tuple[str, ...] = ()
    named: tuple[_NamedTable, ...] = ()
    namespaces: tuple[tuple[str, ...], ...] = ()
    made_namespaces: tuple[tuple[str, ...], ...] = ()
    unknown: tuple[tuple[str, str], ...] = ()

    def text_of(self, statement: BoundStatement) -> str:
        return self.texts[int(statement.occurrence.order[1])]


def bound_script(script: Script | None, dialect: Dialect, names: TableNames, timeout_seconds: float) -> BoundScript:
    """The statements of a script in the catalog that `names` knows; None is the script without statements."""
    first = Session.at(names.namespace)
    found = tuple(script_statements(script.text, dialect, first, script.parts)) if script is not None else ()
    outcomes, held = _outcomes_with_held(found, dialect, timeout_seconds)
    own_types = made_types(script.text) if script is not None else frozenset()
    reasons = {
        number: why
        for number, (statement, outcome) in enumerate(zip(found, outcomes, strict=True))
        if (why := _doubt(statement, outcome, dialect, held.get(number)) or _misspelt_type(outcome, own_types))
    }
    occurrences = []
    named: dict[_NamedTable, None] = {}
    for number, (statement, outcome) in enumerate(zip(found, outcomes, strict=True)):
        named |= dict.fromkeys(_named_tables(statement.text, dialect, statement.namespace))
        named |= dict.fromkeys(_mentioned_tables(held[number], statement.namespace) if number in held else ())
        symbolic = outcome.symbolic if number not in held else held[number].query
        if symbolic is not None:
            order = (0.0, number)
            occurrences.append(Occurrence(str(number), loads(symbolic), statement.namespace, order, "script"))
    log = bind(occurrences_of_tables(occurrences), names.provider())
    reasons |= {number: str(failure.reason) for (_, number), failure in log.failures.items()}
    texts = {number: " ".join(statement.text.split()) for number, statement in enumerate(found)}
    for one in split(script.text, dialect.name) if script is not None else ():
        if classify(one.text, dialect).skip_reason is Outcome.ROUTINE_DEFINITION:  # of it the steps alone are found
            named |= dict.fromkeys(_named_tables(one.text, dialect, names.namespace))
    return BoundScript(
        log,
        texts,
        dialect,
        tuple(_retyped_columns(found, dialect)),
        tuple(dict.fromkeys(_dropped_tables(found, dialect, names.tables))),
        tuple(named),
        tuple(dict.fromkeys(name for one in found for name in touched_namespaces(one.text, dialect) if name)),
        tuple(name for one in found if (name := made_namespace(one.text, dialect))),
        (
            *((why, why) for why in (script.unread if script is not None else ())),
            *((texts[n] or why, f"{_location(script, found, n)}: {why}") for n, why in sorted(reasons.items())),
        ),
    )


def _named_tables(text: str, dialect: Dialect, namespace: Namespace) -> Iterator[_NamedTable]:
    if not text:
        return
    for parts in (*touched_tables(text, dialect), *referenced_tables(text, dialect)):
        if parts:
            yield _NamedTable(parts, namespace)
    for parts, column in touched_columns(text, dialect):
        yield _NamedTable(parts, namespace, column)


@dataclass(frozen=True, slots=True)
class _InnerStatement:
    """A statement that another one explains, or the query of a cursor: of what it names, nothing is run here."""

    statement: ScriptStatement
    outcome: ParseOutcome
    is_query: bool

    @property
    def query(self) -> bytes | None:
        """What a query reads; of another statement the names alone count, as it makes and fills nothing."""
        return self.outcome.symbolic if self.is_query else None


def _outcomes_with_held(
    found: Sequence[ScriptStatement], dialect: Dialect, timeout_seconds: float
) -> tuple[list[ParseOutcome], dict[int, _InnerStatement]]:
    """What became of each statement, and of those that some of them hold."""
    texts = {number: text for number, one in enumerate(found) if (text := held_statement(one.text, dialect))}
    inner = [ScriptStatement(found[number].line, text) for number, text in texts.items()]
    parsed = parse_script_statements((*found, *inner), dialect, timeout_seconds)
    outcomes = zip(texts, inner, parsed[len(found) :], strict=True)
    kinds = {number: classify(text, dialect).kind for number, text in texts.items()}
    held = {
        number: _InnerStatement(one, outcome, kinds[number] is StatementKind.SELECT)
        for number, one, outcome in outcomes
    }
    return parsed[: len(found)], held


def _mentioned_tables(held: _InnerStatement, namespace: Namespace) -> Iterator[_NamedTable]:
    """What a statement that is only explained reads, fills and changes; not what it would make."""
    if held.is_query or held.outcome.symbolic is None:
        return
    usage = mentions(loads(held.outcome.symbolic))
    made = {name for name, _temporary in usage.created}
    names = (*usage.read, *(name for name, _temporary, _mode in usage.written), *(one.name for one in usage.changes))
    for name in dict.fromkeys(names):
        if name.kind is NameKind.TABLE and name not in made:
            yield _NamedTable(name.parts, namespace)


def _doubt(
    statement: ScriptStatement, outcome: ParseOutcome, dialect: Dialect, held: _InnerStatement | None = None
) -> str:
    """Why it is not known what a statement does, or what one that it holds names; "" where it is."""
    if held is not None:
        return unfollowed_change(statement.text, dialect) or _doubt(held.statement, held.outcome, dialect)
    unfollowed = unfollowed_change(statement.text, dialect) if statement.text else None
    if outcome.dead_reason and not (outcome.dead_reason == Outcome.UNKNOWN_VERB and unfollowed):
        return "" if altered_types(statement.text, dialect) else outcome.dead_reason
    return unfollowed or statement.unread_call


def _misspelt_type(outcome: ParseOutcome, own_types: Collection[str]) -> str:
    changes = loads(outcome.symbolic).changes if outcome.symbolic is not None else ()
    return misspelt_type((column for change in changes for column in change.columns), own_types)


def _location(script: Script | None, found: Sequence[ScriptStatement], number: int) -> str:
    return script.location(found[number].line) if script is not None else ""


def _retyped_columns(found: Sequence[ScriptStatement], dialect: Dialect) -> Iterator[tuple[tuple[str, ...], Column]]:
    """`ALTER TABLE t ALTER COLUMN c TYPE bigint`: no lineage is in it, so no parser keeps the type."""
    for statement in found:
        altered = altered_types(statement.text, dialect)
        if altered is not None:
            yield from ((altered[0], column) for column in altered[1])


def _dropped_tables(found: Sequence[ScriptStatement], dialect: Dialect, tables: LocalTables) -> Iterator[str]:
    """`DROP SCHEMA mart CASCADE` names none of the tables that go with it."""
    for statement in found:
        namespace = dropped_namespace(statement.text, dialect)
        if namespace:
            yield from (table.fqn for table in tables.below(namespace))


# What a script leaves of the tables that it names: their columns, their new names, and what fills them.


@dataclass(frozen=True, slots=True)
class TableState:
    """A table after a script: None are the columns that are not known; `renamed` leads from a column's old name.

    `new_name` is what a table that is gone is called now, `former_name` what one that took this name was called.
    `replaced`: the columns stand in the place of all that there were, also where none of those is listed anywhere.
    """

    exists: bool
    columns: tuple[Column, ...] | None = None
    renamed: dict[str, str] = field(default_factory=dict)
    new_name: str = ""
    former_name: str = ""
    replaced: bool = False


@dataclass(slots=True)
class ScriptEffects:
    """What a script leaves, by the full names of its tables.

    `created` are the tables that it makes; `defined` those whose whole content one statement gives (views, CREATE TABLE
    AS), with its text. `types` are those that columns (in lower case) got, `needed` the columns that it drops, renames
    or retypes, `given` those that it adds, `touched` those that an index, a grant or an INSERT is of. `dependencies` is
    what each table is filled from, `problems` what the script names in vain, `not_found` the tables that it neither
    makes nor the catalog has, `touched_in_vain` those of them that an index, a comment or a TRUNCATE is of, and the
    schemas of which nothing is known.
    """

    states: dict[str, TableState] = field(default_factory=dict)
    created: set[str] = field(default_factory=set)
    defined: dict[str, str] = field(default_factory=dict)
    views: set[str] = field(default_factory=set)
    dependencies: dict[str, list[ColumnDependency]] = field(default_factory=dict)
    types: dict[str, dict[str, str]] = field(default_factory=dict)
    needed: dict[str, set[str]] = field(default_factory=dict)
    given: dict[str, set[str]] = field(default_factory=dict)
    touched: dict[str, set[str]] = field(default_factory=dict)
    filled: dict[str, None] = field(default_factory=dict)
    reads: dict[str, None] = field(default_factory=dict)
    writes: dict[str, None] = field(default_factory=dict)
    problems: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    not_found: set[str] = field(default_factory=set)
    touched_in_vain: dict[str, None] = field(default_factory=dict)


def script_effects(script: BoundScript, names: TableNames, before: BoundScript | None = None) -> ScriptEffects:
    """What `script` leaves of the tables of the catalog that `names` knows.

    Among what it reads and writes are not those tables that only statements of `before` do.
    """
    effects = ScriptEffects()
    known = frozenset(before.texts.values()) if before is not None else frozenset()
    labels = {relation.number: _table_label(relation, names) for relation in script.log.relations}
    _add_relations(script, effects, names, labels)
    for parts, column in script.retyped:
        table = names.table(parts)
        name = table.fqn if table is not None else ".".join(parts)
        effects.types.setdefault(name, {})[column.name.casefold()] = column.type
        effects.needed.setdefault(name, set()).add(column.name)
    for statement in script.log.statements:
        meaning = {name: labels[number] for name, number in statement.meaning.items()}
        text = script.text_of(statement)
        for flow in statement.lineage.flows:
            _add_flow(flow, meaning, effects, names, text)
            if text not in known:
                effects.reads.update(dict.fromkeys(meaning.get(source, str(source)) for source in flow.sources))
                written = (flow.target.name,) if flow.target is not None else ()
                effects.writes.update(dict.fromkeys(meaning.get(name, str(name)) for name in written))
        _add_changes(statement.lineage, meaning, effects)
        target = next((meaning[name] for name in statement.lineage.targets if name in meaning), "")
        for problem in statement.lineage.problems:
            # what a statement that stays as it is cannot find any more is told as an effect on its target
            if text not in known or problem.kind is not ProblemKind.UNKNOWN_COLUMN:
                effects.problems.setdefault(target, []).append((str(problem.kind), problem.subject))
    return effects


def _add_relations(script: BoundScript, effects: ScriptEffects, names: TableNames, labels: dict[int, str]) -> None:
    renamed = _renamed_columns(script)
    for relation in script.log.relations:
        if relation.key.session is not None or relation.temporary or relation.key.kind is not NameKind.TABLE:
            continue
        label = labels[relation.number]
        if relation.creator is None and not _is_of_system(relation.born.parts) and not names.table(relation.born.parts):
            effects.not_found.add(label)
        if relation.dropped is not None or relation.key != relation.born:
            gone = TableState(exists=False, new_name="" if relation.dropped else label)
            effects.states.setdefault(names.table_name(relation.born), gone)
        if relation.creator is not None:
            effects.created.add(label)
        changed = relation.creator is not None or relation.alterations or relation.key != relation.born
        if changed and relation.dropped is None and not relation.superseded:
            replaced = _replaced_columns(relation)
            columns = replaced or script.log.schemas.get(relation.number)
            former = names.table_name(relation.born) if relation.key != relation.born else ""
            state = TableState(
                exists=True,
                columns=columns,
                renamed=renamed.get(relation.number, {}),
                former_name=former,
                replaced=bool(replaced),
            )
            effects.states[label] = state
    for name in script.dropped:
        effects.states.setdefault(name, TableState(exists=False))
    _add_named_tables(script, effects, names, labels)
    _add_unknown_namespaces(script, effects, names)


def _add_named_tables(script: BoundScript, effects: ScriptEffects, names: TableNames, labels: dict[int, str]) -> None:
    made: dict[str, dict[tuple[str, ...], str]] = defaultdict(dict)
    for relation in script.log.relations:
        key = tuple(part.casefold() for part in relation.key.parts if part)
        if key and (relation.creator is not None or relation.key != relation.born):
            made[key[-1]][key] = labels[relation.number]
    for one in script.named:
        folded = tuple(part.casefold() for part in one.parts)
        table = names.table_from(one.parts, one.namespace)
        own = (label for key, label in made.get(folded[-1], {}).items() if _are_one(key, folded))
        label = next(own, None) or (table.fqn if table is not None else None)
        if label is not None:
            effects.touched.setdefault(label, set()).update((one.column,) if one.column is not None else ())
        elif not (".".join(one.parts) in names.ambiguous or names.tables.below(one.parts) or _is_of_system(one.parts)):
            effects.touched_in_vain.setdefault(".".join(one.parts))


def _is_of_system(parts: Sequence[str]) -> bool:
    *schemas, name = (part.casefold() for part in parts)
    return name.startswith(_SYSTEM_PREFIX) or not _SYSTEM_SCHEMAS.isdisjoint(schemas)


def _are_one(key: tuple[str, ...], written: tuple[str, ...]) -> bool:
    """Whether two names of which either may lack its first parts can be the same."""
    return all(one == other for one, other in zip(reversed(key), reversed(written), strict=False))


def _add_unknown_namespaces(script: BoundScript, effects: ScriptEffects, names: TableNames) -> None:
    """The schemas that are named, and those of tables that are made, where neither the catalog nor the script has them.

    A schema in which nothing has lineage yet is told as well: it cannot be told from one that is misspelt.
    """
    keys = (
        relation.key
        for relation in script.log.relations
        if (relation.creator is not None or relation.key != relation.born)
        and relation.key.kind is NameKind.TABLE
        and relation.key.session is None
        and not relation.temporary
    )
    of_tables = (tuple(filter(None, key.parts[:-1])) for key in keys)
    own = {script.dialect.default_schema.casefold(), *_SYSTEM_SCHEMAS}
    made = {tuple(part.casefold() for part in name)[-1] for name in script.made_namespaces}
    for parts in dict.fromkeys((*script.namespaces, *of_tables)):
        known = not parts or parts[-1].casefold() in own | made or names.tables.has_namespace(parts)
        if not known and names.table(parts) is None:  # SQL Server writes DROP INDEX t.i
            effects.touched_in_vain.setdefault(".".join(parts))


def _replaced_columns(relation: Relation) -> tuple[Column, ...]:
    """What REPLACE COLUMNS leaves of a table that the catalog has; () where none is among its alterations.

    To a log's run the columns of a catalog are those after it, to a change that is proposed those before. Partition
    columns, which stay, are not known among them: one of these is told as dropped, rather than another as kept.
    """
    changes = [change for _order, change in relation.alterations]
    if relation.declared is not None or not any(change.whole for change in changes):
        return ()
    columns: dict[str, Column] = {}
    for change in changes:
        if change.whole:
            columns = {}
        gone = {name.casefold() for name in change.dropped_columns}
        names = {old.casefold(): new for old, new in change.renamed_columns}
        kept = (replace(one, name=names.get(folded, one.name)) for folded, one in columns.items() if folded not in gone)
        columns = {column.name.casefold(): column for column in (*kept, *change.columns)}
    return tuple(columns.values())


def _add_changes(lineage: StatementLineage, meaning: dict[TableName, str], effects: ScriptEffects) -> None:
    for change in lineage.changes:
        label = meaning.get(change.name, "")
        needed = (*change.dropped_columns, *(old for old, _ in change.renamed_columns))
        given = (*(column.name for column in change.columns), *(new for _, new in change.renamed_columns))
        effects.needed.setdefault(label, set()).update(needed)
        effects.given.setdefault(label, set()).update(given)


def _table_label(relation: Relation, names: TableNames) -> str:
    label = names.table_name(relation.key)
    return f"{label} (temporary)" if relation.key.session is not None or relation.temporary else label


def _renamed_columns(script: BoundScript) -> dict[int, dict[str, str]]:
    """By the number of a relation the last name of each column that got another one."""
    found: dict[int, dict[str, str]] = {}
    for statement in script.log.statements:
        for change in statement.lineage.changes:
            if change.kind is StatementKind.ALTER_TABLE and change.name in statement.meaning:
                names = found.setdefault(statement.meaning[change.name], {})
                first_names = {last: first for first, last in names.items()}
                names.update({first_names.get(old, old): new for old, new in change.renamed_columns})
    return found


def _add_flow(flow: Flow, meaning: dict[TableName, str], effects: ScriptEffects, names: TableNames, text: str) -> None:
    if flow.target is None:
        return
    target = meaning.get(flow.target.name, str(flow.target.name))
    effects.filled.setdefault(target)
    if flow.target.mode is not WriteMode.CREATE:
        named = (one.name for one in flow.outputs if one.star is None and not one.name_assumed)
        effects.touched.setdefault(target, set()).update(named)
    else:
        effects.defined[target] = text
        if flow.target.view:
            effects.views.add(target)
    found = list(_dependencies(flow, target, meaning, names))
    kind = "view" if flow.target.view else "query"
    for source in flow.sources:
        label = meaning.get(source, str(source))
        if not any(one.source[0] == label for one in found):
            found.append(ColumnDependency((label, None), (target, None), TABLE, producer=kind))
    effects.dependencies.setdefault(target, []).extend(found)


def _dependencies(
    flow: Flow, target: str, meaning: dict[TableName, str], names: TableNames
) -> Iterator[ColumnDependency]:
    producer = "view" if flow.target is not None and flow.target.view else "query"

    def of(reference: Reference, to: ColumnNode, *, certain: bool) -> Iterator[ColumnDependency]:
        how = reference.transformation
        for source in reference.sources:
            if source.column != "*":
                node = _column_node(meaning.get(source.table, str(source.table)), source.column, names)
                yield ColumnDependency(
                    node, to, str(how.type), str(how.subtype), how.masking, reference.expression, certain, producer
                )

    for output in flow.outputs:
        if output.star is None:
            to = _column_node(target, output.name, names)
            for reference in output.references:
                yield from of(reference, to, certain=reference.certain and not output.name_assumed)
    for reference in flow.indirect:
        yield from of(reference, (target, None), certain=reference.certain)


def _column_node(label: str, column: str, names: TableNames) -> ColumnNode:
    """A column of a table under the name that the catalog has for it."""
    table = names.tables.table(label)
    known = table.column(column) if table is not None else None
    return label, column if known is None else known.path
