"""The one analyzer: the relational form and the schemas that are known give the lineage of a statement."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ingestion.model import (
    Flow,
    LineageType,
    Output,
    ProblemKind,
    Reference,
    StarOutput,
    StatementLineage,
    TableName,
    Target,
    WriteMode,
)
from ingestion.parsing.analyzer_binding import bind_lineage
from ingestion.parsing.analyzer_queries import QueryAnalysis
from ingestion.parsing.analyzer_rows import Entry, Rows, SchemaLookup
from ingestion.parsing.analyzer_runs import StarRun
from ingestion.parsing.analyzer_targets import Place, places_of, target_spelling
from ingestion.parsing.analyzer_values import ROLE_MASK, Value
from ingestion.parsing.relational import RelationalStatement, Write
from ingestion.parsing.roles import IDENTITY


def analyze(statement: RelationalStatement | StatementLineage, schema_of: SchemaLookup) -> StatementLineage:
    """The lineage of one statement, as far as `schema_of` (None: schema unknown) lets it be settled.

    Stars over unknown tables stay stars, and unprefixed names that several of them may have keep their candidates, so
    that the same statement can be analysed again when more schemas are known.
    """
    if isinstance(statement, StatementLineage):
        return bind_lineage(statement, schema_of)
    analysis = QueryAnalysis(statement.dialect, schema_of)
    flows = tuple(_flow(analysis, write, schema_of) for write in statement.writes)
    return StatementLineage(
        statement.kind,
        flows,
        statement.changes,
        statement.aliases,
        statement.problems + analysis.problems,
        analysis.unused_columns(),
        tuple(analysis.functions),
    )


def _flow(analysis: QueryAnalysis, write: Write, schema_of: SchemaLookup) -> Flow:
    if write.query is None:
        return Flow(write.target, (), (), write.sources)
    rows = analysis.query(write.query, None)
    target = write.target
    sources = dict(rows.tables)
    outputs: tuple[Output, ...] = ()
    if not write.deletes:
        outputs = _outputs(analysis, rows, write, schema_of)
        if target is not None and target.mode is WriteMode.UPDATE:
            _keep_own_values(outputs, target, sources)
    indirect = tuple(analysis.reference(key, _text_of(value)) for key, value in rows.indirect.items())
    return Flow(target, outputs, indirect, tuple(sources))


def _text_of(value: Value) -> str:
    """The expression behind a value; "" where it is a column as it is."""
    keys = value.keys
    if value.expression is None and not value.branches and len(keys) == 1 and keys[0] & ROLE_MASK == IDENTITY:
        return ""
    return value.text()


def _keep_own_values(outputs: tuple[Output, ...], target: Target, sources: dict[TableName, None]) -> None:
    """UPDATE t SET a = a + 1 reads t: it is a source where its values are used."""
    if target.name in sources:
        return
    for output in outputs:
        for reference in output.references:
            if reference.transformation.type is LineageType.DIRECT and any(
                column.table == target.name for column in reference.sources
            ):
                sources[target.name] = None
                return


def _outputs(analysis: QueryAnalysis, rows: Rows, write: Write, schema_of: SchemaLookup) -> tuple[Output, ...]:
    places = [Place(None)] * len(rows.entries)
    spell = target_spelling(write, schema_of)
    if write.target is not None:
        places, miscounted = places_of(rows.entries, write, schema_of)
        if miscounted:
            analysis.problem(ProblemKind.COLUMN_COUNT, str(write.target.name))
    return tuple(
        output
        for entry, place in zip(rows.entries, places, strict=True)
        if not place.surplus
        for output in _entry_outputs(analysis, entry, place, spell)
    )


def _entry_outputs(
    analysis: QueryAnalysis, entry: Entry, place: Place, spell: Callable[[str], str]
) -> Iterator[Output]:
    if isinstance(entry, StarRun):
        if entry.value is not None:
            yield Output("*", references_of(analysis, entry.whole(analysis.sources)), "", None, True)
        else:
            star = StarOutput(entry.table, tuple(sorted(entry.excluded)), entry.renamed)
            yield Output("*", (), "", star, place.assumed)
        for other in entry.others:  # the same positions in other branches, so under names of the first
            beside = other if isinstance(other, StarRun) else ("*", other)
            yield from _entry_outputs(analysis, beside, Place(None, True), spell)
        return
    name = spell(entry[0] if place.name is None else place.name)
    yield Output(name, references_of(analysis, entry[1]), entry[1].type(), None, place.assumed)


def references_of(analysis: QueryAnalysis, value: Value) -> tuple[Reference, ...]:
    """The references of an output's value; those of a set operation's branches each with their own expression."""
    found: dict[int, Reference] = {}
    stack = [value]
    while stack:
        current = stack.pop()
        if current.branches:
            stack.extend(reversed(current.branches))
            continue
        for key in current.keys:
            if key not in found:
                role = key & ROLE_MASK
                origin = current.origins.get(key, current) if current.origins else current
                text = "" if role == IDENTITY else origin.text()
                found[key] = analysis.reference(key, text)
    return tuple(found.values())


__all__ = ["SchemaLookup", "analyze"]
