"""What a script leaves of the tables that it names: their columns, their new names, and what fills them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from connectors.catalog.store.evidence.column_dependencies import ColumnDependency
from ingestion.binding.relations import Relation
from ingestion.model import (
    Column,
    Flow,
    NameKind,
    ProblemKind,
    Reference,
    StatementKind,
    StatementLineage,
    TableName,
    WriteMode,
)
from ingestion.policies.values import ColumnNode
from workflows.changes.scripts import BoundScript, TableNames


@dataclass(frozen=True, slots=True)
class TableState:
    """A table after a script: None are the columns that are not known; `renamed` leads from a column's old name."""

    exists: bool
    columns: tuple[Column, ...] | None = None
    renamed: dict[str, str] = field(default_factory=dict)
    new_name: str = ""


@dataclass(slots=True)
class ScriptEffects:
    """What a script leaves, by the full names of its tables.

    `created` are the tables that it makes; `defined` those whose whole content one statement gives (views, CREATE TABLE
    AS), with its text. `types` are those that columns (in lower case) got, `needed` the columns that it drops, renames
    or retypes, `given` those that it adds. `dependencies` is what each table is filled from, `problems` what the
    script names in vain.
    """

    states: dict[str, TableState] = field(default_factory=dict)
    created: set[str] = field(default_factory=set)
    defined: dict[str, str] = field(default_factory=dict)
    views: set[str] = field(default_factory=set)
    dependencies: dict[str, list[ColumnDependency]] = field(default_factory=dict)
    types: dict[str, dict[str, str]] = field(default_factory=dict)
    needed: dict[str, set[str]] = field(default_factory=dict)
    given: dict[str, set[str]] = field(default_factory=dict)
    filled: dict[str, None] = field(default_factory=dict)
    reads: dict[str, None] = field(default_factory=dict)
    writes: dict[str, None] = field(default_factory=dict)
    problems: dict[str, list[tuple[str, str]]] = field(default_factory=dict)


def script_effects(script: BoundScript, names: TableNames, before: BoundScript | None = None) -> ScriptEffects:
    """What `script` leaves of the tables of the catalog that `names` knows.

    Among what it reads and writes are not those tables that only statements of `before` do.
    """
    effects = ScriptEffects()
    known = frozenset(before.texts.values()) if before is not None else frozenset()
    places = {relation.number: _place(relation, names) for relation in script.log.relations}
    _take_relations(script, effects, names, places)
    for parts, column in script.retyped:
        table = names.table(parts)
        name = table.fqn if table is not None else ".".join(parts)
        effects.types.setdefault(name, {})[column.name.casefold()] = column.type
        effects.needed.setdefault(name, set()).add(column.name)
    for statement in script.log.statements:
        meaning = {name: places[number] for name, number in statement.meaning.items()}
        text = script.text_of(statement)
        for flow in statement.lineage.flows:
            _take_flow(flow, meaning, effects, names, text)
            if text not in known:
                effects.reads.update(dict.fromkeys(meaning.get(source, str(source)) for source in flow.sources))
                written = (flow.target.name,) if flow.target is not None else ()
                effects.writes.update(dict.fromkeys(meaning.get(name, str(name)) for name in written))
        _take_changes(statement.lineage, meaning, effects)
        target = next((meaning[name] for name in statement.lineage.targets if name in meaning), "")
        for problem in statement.lineage.problems:
            # what a statement that stays as it is cannot find any more is told as an effect on its target
            if text not in known or problem.kind is not ProblemKind.UNKNOWN_COLUMN:
                effects.problems.setdefault(target, []).append((str(problem.kind), problem.subject))
    return effects


def _take_relations(script: BoundScript, effects: ScriptEffects, names: TableNames, places: dict[int, str]) -> None:
    renamed = _renamed_columns(script)
    for relation in script.log.relations:
        if relation.key.session is not None or relation.temporary or relation.key.kind is not NameKind.TABLE:
            continue
        place = places[relation.number]
        if relation.dropped is not None or relation.key != relation.born:
            gone = TableState(exists=False, new_name="" if relation.dropped else place)
            effects.states.setdefault(names.place(relation.born), gone)
        if relation.creator is not None:
            effects.created.add(place)
        changed = relation.creator is not None or relation.alterations or relation.key != relation.born
        if changed and relation.dropped is None and not relation.superseded:
            columns = script.log.schemas.get(relation.number)
            state = TableState(exists=True, columns=columns, renamed=renamed.get(relation.number, {}))
            effects.states[place] = state
    for name in script.dropped:
        effects.states.setdefault(name, TableState(exists=False))


def _take_changes(lineage: StatementLineage, meaning: dict[TableName, str], effects: ScriptEffects) -> None:
    for change in lineage.changes:
        place = meaning.get(change.name, "")
        needed = (*change.dropped_columns, *(old for old, _ in change.renamed_columns))
        given = (*(column.name for column in change.columns), *(new for _, new in change.renamed_columns))
        effects.needed.setdefault(place, set()).update(needed)
        effects.given.setdefault(place, set()).update(given)


def _place(relation: Relation, names: TableNames) -> str:
    place = names.place(relation.key)
    return f"{place} (temporary)" if relation.key.session is not None or relation.temporary else place


def _renamed_columns(script: BoundScript) -> dict[int, dict[str, str]]:
    """By the number of a relation the last name of each column that got another one."""
    found: dict[int, dict[str, str]] = {}
    for statement in script.log.statements:
        for change in statement.lineage.changes:
            if change.kind is StatementKind.ALTER_TABLE and change.name in statement.meaning:
                names = found.setdefault(statement.meaning[change.name], {})
                for old, new in change.renamed_columns:
                    first = next((one for one, last in names.items() if last == old), old)
                    names[first] = new
    return found


def _take_flow(flow: Flow, meaning: dict[TableName, str], effects: ScriptEffects, names: TableNames, text: str) -> None:
    if flow.target is None:
        return
    target = meaning.get(flow.target.name, str(flow.target.name))
    effects.filled.setdefault(target)
    if flow.target.mode is WriteMode.CREATE:
        effects.defined[target] = text
        if flow.target.view:
            effects.views.add(target)
    found = list(_dependencies(flow, target, meaning, names))
    kind = "view" if flow.target.view else "query"
    for source in flow.sources:
        place = meaning.get(source, str(source))
        if not any(one.source[0] == place for one in found):
            found.append(ColumnDependency((place, None), (target, None), "TABLE", producer=kind))
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


def _column_node(place: str, column: str, names: TableNames) -> ColumnNode:
    """A column of a place under the name that the catalog has for it."""
    table = names.tables.table(place)
    known = table.column(column) if table is not None else None
    return place, column if known is None else known.path
