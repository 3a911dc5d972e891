"""Runs that mean the same are one, and the lineage is that of one statement after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from random import Random

import pytest

from ingestion.binding.timeline import SchemaProvider
from ingestion.model.lineage import Column
from ingestion.model.namespaces import RelationKey
from ingestion.parsing.templates import ParsedTemplate
from tests.behaviour.harness import Record, Warehouse, group_of, merged_groups, statement_rows, templates_of
from workflows.run.bind.binding import LineageSource, bind_occurrences
from workflows.run.group.occurrences import OccurrenceGroup

BASES = {"orders": "abcd", "customers": "abce", "items": "afg"}
# What a statement needs, makes and ends; t1 and t2 are temporary.
STATEMENTS = {
    "CREATE TEMP TABLE t1 AS SELECT * FROM orders": ("", "t1", ""),
    "CREATE TEMP TABLE t1 AS SELECT a, b, e AS c FROM customers": ("", "t1", ""),
    "CREATE TEMP TABLE t2 AS SELECT x.*, y.f FROM t1 x JOIN items y ON x.a = y.a": ("t1", "t2", ""),
    "INSERT INTO t1 SELECT a, e, b FROM customers": ("t1", "", ""),
    "INSERT INTO t1 SELECT * FROM stage": ("t1 stage", "", ""),
    "INSERT INTO t1 SELECT b, a, c FROM t1": ("t1", "", ""),
    "ALTER TABLE t1 ADD COLUMN z int": ("t1", "", ""),
    "TRUNCATE t1": ("t1", "", ""),
    "DELETE FROM t2": ("t2", "", ""),
    "DROP TABLE t1": ("t1", "", "t1"),
    "DROP TABLE t2": ("t2", "", "t2"),
    "INSERT INTO out1 (k, l) SELECT a, c FROM t1": ("t1", "", ""),
    "INSERT INTO out2 SELECT * FROM t2": ("t2", "", ""),
    "CREATE TABLE stage AS SELECT a, b FROM orders": ("", "stage", ""),
    "CREATE TABLE stage AS SELECT * FROM items": ("", "stage", ""),
    "CREATE TABLE stage AS SELECT * FROM t2": ("t2", "stage", ""),
    "ALTER TABLE stage ADD COLUMN h int": ("stage", "", ""),
    "DROP TABLE stage": ("stage", "", "stage"),
    "CREATE OR REPLACE VIEW v AS SELECT * FROM stage": ("stage", "", ""),
    "CREATE OR REPLACE VIEW v AS SELECT a FROM orders": ("", "", ""),
    "INSERT INTO out3 SELECT * FROM v": ("", "", ""),
    "INSERT INTO out4 SELECT * FROM stage": ("stage", "", ""),
}
BEFORE = SchemaProvider(lambda key: [Column(name) for name in BASES.get(key.table, "")] or None)
DEFAULTS = Warehouse().settings.defaults


@cache
def all_templates() -> dict[str, ParsedTemplate]:
    return templates_of(statement_rows(list(STATEMENTS), Warehouse()))


def groups_one_by_one(rows: Sequence[dict[str, object]]) -> list[OccurrenceGroup]:
    return [group_of(number, row) for number, row in enumerate(rows)]


def bind_groups(groups: Sequence[OccurrenceGroup], templates: dict[str, ParsedTemplate] | None = None) -> LineageSource:
    source = bind_occurrences(templates or all_templates(), groups, Warehouse().settings, BEFORE)
    assert not source.failures
    return source


def edges(source: LineageSource) -> set[tuple[str, str, str, str]]:
    """Target and source of every column of every flow, and of every flow that reads a table."""
    keys: dict[int, RelationKey] = {relation.number: relation.key for relation in source.log.relations}
    found = set()
    for flow in source.flows:
        target = str(keys[flow.target])
        found |= {(target, "", str(keys[one]), "") for one in flow.content.sources}
        for name, references in flow.content.columns.items():
            columns = {column for reference in references for column in reference.sources}
            found |= {(target, name, str(keys[column.relation]), column.column) for column in columns}
    return found


def log(seed: int, length: int) -> list[Record]:
    """Statements as an engine takes them: what they need is there, and what they make is not."""
    random = Random(seed)
    pool = random.sample(sorted(STATEMENTS), random.randint(8, len(STATEMENTS)))
    sessions = [f"s{number}" for number in range(random.randint(1, 3))]
    there = set[str]()
    records: list[Record] = []
    for _ in range(20 * length):
        text, session = random.choice(pool), random.choice(sessions)
        needed, made, ended = ({_place(n, session) for n in names.split()} for names in STATEMENTS[text])
        if needed <= there and made.isdisjoint(there) and len(records) < length:
            there = (there - ended) | made
            records.append(Record(text, session, 1000.0 + len(records)))
    return records


def _place(name: str, session: str) -> str:
    return f"{session}.{name}" if name in ("t1", "t2") else name


@pytest.mark.parametrize("seed", range(12))
def test_the_lineage_is_that_of_one_statement_after_the_other(seed: int) -> None:
    rows = statement_rows(log(seed, 150), Warehouse())
    merged = merged_groups(rows, all_templates(), DEFAULTS)
    assert sum(group.count for group in merged) == len(rows)
    assert edges(bind_groups(merged)) == edges(bind_groups(groups_one_by_one(rows)))


NIGHT = (
    "CREATE TABLE new AS SELECT * FROM orders",
    "INSERT INTO new SELECT a, b, e, c FROM customers",
    "DROP TABLE sales",
    "ALTER TABLE new RENAME TO sales",
    "CREATE OR REPLACE VIEW v AS SELECT * FROM sales",
    "INSERT INTO out1 SELECT * FROM v",
    "CREATE TABLE new AS SELECT * FROM items",
    "DROP TABLE stock",
    "ALTER TABLE new RENAME TO stock",
    "INSERT INTO out2 SELECT * FROM stock",
)


def test_tables_that_are_built_beside_and_renamed_into_place_every_night() -> None:
    rows = statement_rows(NIGHT * 5, Warehouse())
    templates = templates_of(rows)
    merged = merged_groups(rows, templates, DEFAULTS)
    # In the first night there was nothing to drop; then one table is built while one that was built so stands.
    assert len(merged) <= 2 * len(NIGHT) + 2
    assert len(merged) == len(merged_groups(statement_rows(NIGHT * 9, Warehouse()), templates, DEFAULTS))
    nightly = edges(bind_groups(groups_one_by_one(rows), templates))
    assert edges(bind_groups(merged, templates)) == nightly
    assert ("db.public.out1", "a", "db.public.v", "a") in nightly


def test_groups_do_not_grow_with_the_log() -> None:
    night = [replace(record, at=None) for record in log(3, 200)]
    few, many = (
        merged_groups(statement_rows(night * count, Warehouse()), all_templates(), DEFAULTS) for count in (3, 30)
    )
    assert len(few) == len(many)
    assert sum(group.count for group in many) == 10 * sum(group.count for group in few)
