"""A real warehouse's 83 relations against what the PostgreSQL that built them says they read (pg_depend)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ingestion.analysis.analyzer import analyze
from ingestion.binding.binder import bind
from ingestion.binding.timeline import Occurrence, SchemaProvider
from ingestion.model.lineage import Column, Flow, TableName
from ingestion.model.namespaces import Namespace
from ingestion.parsing.sqlglot.tier import parse
from ingestion.statements import split

DATA = Path(__file__).parents[3] / "shared" / "data" / "mimic_iii"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the MIMIC-III warehouse is not on this machine")

Refs = frozenset[tuple[str, str]]
_PATH = Namespace("mimic", ("mimiciii", "public"))


@dataclass(frozen=True)
class RelationFacts:
    """What one side says of a relation."""

    tables: frozenset[str]
    columns: tuple[str, ...]
    refs: Refs


@cache
def _oracle() -> dict[str, tuple[str, RelationFacts]]:
    """Relation -> its statement, and what the server says of it."""
    found = {}
    for line in (DATA / "oracle.jsonl").read_text().splitlines():
        one = json.loads(line)
        if "error" not in one:
            refs = frozenset((table.rpartition(".")[2], column) for table, column in one["refs"])
            tables = frozenset(table.rpartition(".")[2] for table in one["tables"])
            found[one["id"]] = one["sql"], RelationFacts(tables, tuple(one["columns"]), refs)
    return found


@cache
def _schema() -> dict[str, tuple[Column, ...]]:
    """Every table's columns: from the warehouse's DDL, and of the derived ones as the server has them."""
    found: dict[str, tuple[Column, ...]] = {}
    for statement in split((DATA / "schema.sql").read_text(), "postgres"):
        if statement.text.upper().startswith("CREATE TABLE"):
            for change in parse(statement.text, "postgres").changes:
                found[change.name.table] = change.columns
    derived: Iterator[tuple[str, Any]] = iter(_oracle().items())
    return found | {name: tuple(map(Column, facts.columns)) for name, (_, facts) in derived}


def _facts_of(flow: Flow) -> RelationFacts:
    references = [*flow.indirect, *(reference for output in flow.outputs for reference in output.references)]
    certain = (reference.sources[0] for reference in references if reference.certain)
    return RelationFacts(
        frozenset(name.table.lower() for name in flow.sources),
        tuple(output.name for output in flow.outputs),
        frozenset((ref.table.table, ref.column) for ref in certain if ref.column != "*"),
    )


def _lookup(name: TableName) -> tuple[Column, ...] | None:
    return _schema().get(name.table)


def test_with_the_schema_tables_columns_and_references_are_exact() -> None:
    """The server also counts columns of subqueries that nothing depends on: those are named as unused."""
    edges = said = right = wanted = 0
    for name, (sql, expected) in _oracle().items():
        lineage = analyze(parse(sql, "postgres"), _lookup)
        (flow,) = lineage.flows
        facts = _facts_of(flow)
        assert facts.tables == expected.tables, name
        assert facts.columns == expected.columns, name
        assert not lineage.problems, name
        assert facts.refs <= expected.refs, name
        refs = facts.refs | {(ref.table.table, ref.column) for ref in lineage.unused}
        edges += len(facts.refs)
        said += len(refs)
        right += len(refs & expected.refs)
        wanted += len(expected.refs)
    print(f"{edges} of {wanted} references have a part in an output, {right} are named")
    assert len(_oracle()) == 83
    assert right == said
    assert right / wanted >= 0.995
    assert edges / wanted >= 0.96


def test_without_a_schema_what_binds_is_right_and_is_most() -> None:
    occurrences = [
        Occurrence(name, parse(sql, "postgres"), _PATH, (float(number), number), "s")
        for number, (name, (sql, _)) in enumerate(_oracle().items())
    ]
    log = bind(occurrences, SchemaProvider(lambda _key: None))
    hit = wanted = exact = 0
    for statement in log.statements:
        (flow,) = statement.lineage.flows
        facts, expected = _facts_of(flow), _oracle()[statement.occurrence.template][1]
        assert facts.tables == expected.tables, statement.occurrence.template
        assert not facts.refs - expected.refs, statement.occurrence.template
        hit += len(facts.refs)
        wanted += len(expected.refs)
        exact += facts.columns == expected.columns
    print(f"{hit} of {wanted} references bind, {exact} of {len(log.statements)} relations have all their columns")
    assert hit / wanted >= 0.9
    assert exact >= 75
