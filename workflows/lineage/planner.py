"""What the text leaves ambiguous, the live database's planner decides: whose an unprefixed column is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from connectors.postgres import PostgresDatabase
from connectors.postgres.explain import Question, Reads, columns_read
from ingestion.binding.binder import BoundLog, BoundStatement
from ingestion.isolation import FailureStage, Isolation
from ingestion.model import ColumnRef, Flow, Reference, StatementLineage
from ingestion.names.namespaces import RelationKey
from ingestion.symbolic import dumps
from workflows.lineage.lineage_source import LineageSource
from workflows.templates.occurrences import OccurrenceGroup
from workflows.templates.parsing import ParsedTemplate

Texts = Callable[[Collection[str]], Mapping[str, str]]
"""Gives the texts of templates (by fingerprint), as far as the log still has them. They are not masked."""


def texts_in(statements: DataFrame) -> Texts:
    """The texts that the statements of a run still have."""

    def texts(wanted: Collection[str]) -> dict[str, str]:
        having = F.col("fingerprint").isin(list(wanted)) & F.col("text").isNotNull()
        rows = statements.where(having).groupBy("fingerprint").agg(F.min("text").alias("text"))
        return {row["fingerprint"]: row["text"] for row in rows.toLocalIterator()}

    return texts


def disambiguated_templates(
    source: LineageSource, templates: Mapping[str, ParsedTemplate], texts: Texts, database: PostgresDatabase
) -> dict[str, ParsedTemplate]:
    """The templates whose ambiguous columns the planner could resolve, without the ambiguity.

    A template that means different things in different places stays as it is.
    """
    places = Counter(group.template for group, _statement in source.statements())
    open_ones = [
        (number, group, statement)
        for number, (group, statement) in enumerate(source.statements())
        if places[group.template] == 1 and _is_ambiguous(statement.lineage)
    ]
    if not open_ones:
        return {}
    groups = [group for group, _statement in source.statements()]
    behind = {number: _creators_behind(source.log, number) for number, _group, _statement in open_ones}
    numbers = {number for number, _group, _statement in open_ones}.union(*behind.values())
    known = texts({groups[number].template for number in numbers})
    found: dict[str, ParsedTemplate] = {}
    for number, group, statement in open_ones:
        needed = (known.get(groups[creator].template) for creator in behind[number])
        with Isolation[str](source.probe).around(FailureStage.BINDING, group.template):  # what fails stays ambiguous
            read = _ask_planner(group, known, tuple(text for text in needed if text), database)
            if read is not None:
                lineage = _disambiguate(statement, source.log, read)
                found[group.template] = replace(templates[group.template], symbolic=dumps(lineage))
    return found


def _ask_planner(
    group: OccurrenceGroup, known: Mapping[str, str], dependencies: tuple[str, ...], database: PostgresDatabase
) -> Reads | None:
    text = known.get(group.template)
    return None if text is None else columns_read(database, Question(text, dependencies, group.search_path))


def _is_ambiguous(lineage: StatementLineage) -> bool:
    return any(len(reference.sources) > 1 for flow in lineage.flows for reference in _references(flow))


def _references(flow: Flow) -> Iterator[Reference]:
    for output in flow.outputs:
        yield from output.references
    yield from flow.indirect


def _creators_behind(log: BoundLog, number: int) -> tuple[int, ...]:
    """The statements that made what a statement reads, and what those read, in the order of the log."""
    found: set[int] = set()
    waiting = [number]
    while waiting:
        for relation in log.statements[waiting.pop()].meaning.values():
            creator = log.relations[relation].creator
            if creator is not None and creator != number and creator not in found:
                found.add(creator)
                waiting.append(creator)
    return tuple(sorted(found))


def _disambiguate(statement: BoundStatement, log: BoundLog, read: Reads) -> StatementLineage:
    def choose(reference: Reference) -> Reference:
        if len(reference.sources) < 2:
            return reference
        fitting = tuple(ref for ref in reference.sources if _is_read(ref, statement, log, read))
        return replace(reference, sources=fitting) if len(fitting) == 1 else reference

    flows = tuple(
        replace(
            flow,
            outputs=tuple(replace(o, references=tuple(map(choose, o.references))) for o in flow.outputs),
            indirect=tuple(map(choose, flow.indirect)),
        )
        for flow in statement.lineage.flows
    )
    return replace(statement.lineage, flows=flows)


def _is_read(ref: ColumnRef, statement: BoundStatement, log: BoundLog, read: Reads) -> bool:
    relation = statement.meaning.get(ref.table)
    if relation is None:
        return False
    return ref.column in read.get(_place(log.relations[relation].key), frozenset())


def _place(key: RelationKey) -> tuple[str, str]:
    return ("" if key.session is not None else key.schema), key.table
