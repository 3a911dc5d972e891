"""Forms that one dialect or two have: what meets by name or by position, and what is a relation or a column there."""

from __future__ import annotations

import pytest

from ingestion.model.lineage import LineageType
from ingestion.parser import LineageParser

Case = tuple[str, str, dict[str, dict[str, str]], str]
"""A dialect, a statement, the schemas that are known, and its direct edges: those in doubt with a mark behind them."""

CONFLICTS: list[Case] = [
    (
        "bigquery",
        "MERGE d.crew t USING d.hired h ON t.no = h.no WHEN NOT MATCHED THEN INSERT VALUES (h.no, h.label)",
        {"d.crew": {"no": "INT64", "full_name": "STRING"}},
        "d.hired.label>d.crew.full_name d.hired.no>d.crew.no",
    ),
    (
        "duckdb",
        "MERGE INTO crew t USING hired h ON t.no = h.no WHEN MATCHED THEN UPDATE BY NAME "
        "WHEN NOT MATCHED THEN INSERT BY NAME *",
        {"crew": {"no": "INT", "full_name": "TEXT"}, "hired": {"full_name": "TEXT", "no": "INT"}},
        "hired.full_name>crew.full_name hired.no>crew.no",
    ),
    (
        "duckdb",
        "MERGE INTO crew t USING hired h ON t.no = h.no WHEN MATCHED THEN UPDATE BY POSITION",
        {"crew": {"no": "INT", "full_name": "TEXT"}, "hired": {"label": "INT", "no": "INT"}},
        "hired.label>crew.no hired.no>crew.full_name",
    ),
    (
        "duckdb",
        "INSERT INTO crew BY NAME SELECT pay, no FROM hired ON CONFLICT (no) DO UPDATE SET last_pay = excluded.pay",
        {"crew": {"no": "INT", "last_pay": "INT", "pay": "INT"}},
        "hired.no>crew.no hired.pay>crew.last_pay hired.pay>crew.pay",
    ),
    (
        "duckdb",
        "INSERT INTO crew (no, pay) SELECT no, gross FROM hired ON CONFLICT (no) DO UPDATE SET last_pay = pay",
        {},
        "crew.pay>crew.last_pay hired.gross>crew.pay hired.no>crew.no",
    ),
    (
        "mysql",
        "INSERT INTO crew (no, pay) SELECT h.no, r.gross FROM hired h JOIN rates r ON r.no = h.no "
        "ON DUPLICATE KEY UPDATE pay = r.gross + h.extra, seen = h.day",
        {},
        "hired.day>crew.seen hired.extra>crew.pay hired.no>crew.no rates.gross>crew.pay",
    ),
    ("postgres", "UPDATE crew SET label = gone.label FROM hired h WHERE h.no = crew.no", {}, ""),
    ("snowflake", "UPDATE crew SET label = gone.label FROM hired h WHERE h.no = crew.no", {}, ""),
]
BY_NAME: list[Case] = [
    (
        "databricks",
        "COPY INTO lake.crew FROM (SELECT b AS label, a AS no FROM 's3://files/crew') FILEFORMAT = JSON",
        {"lake.crew": {"no": "INT", "label": "STRING"}},
        "s3://files/crew.a>lake.crew.no s3://files/crew.b>lake.crew.label",
    ),
    (
        "databricks",
        "COPY INTO lake.crew BY POSITION FROM (SELECT _c1, _c0 FROM 's3://files/crew') FILEFORMAT = CSV",
        {"lake.crew": {"no": "INT", "label": "STRING"}},
        "s3://files/crew._c0>lake.crew.label s3://files/crew._c1>lake.crew.no",
    ),
    (
        "databricks",
        "COPY INTO lake.crew (label, no) FROM (SELECT x AS no, y AS label FROM 's3://files/crew') FILEFORMAT = CSV",
        {"lake.crew": {"no": "INT", "label": "STRING"}},
        "s3://files/crew.x>lake.crew.label s3://files/crew.y>lake.crew.no",
    ),
    (
        "bigquery",
        "CREATE TABLE d.o AS SELECT p, q FROM d.left_ones INNER UNION ALL BY NAME SELECT q, r FROM d.right_ones",
        {},
        "d.left_ones.q>d.o.q d.right_ones.q>d.o.q",
    ),
    (
        "bigquery",
        "CREATE TABLE d.o AS SELECT p, q FROM d.left_ones LEFT UNION ALL BY NAME SELECT r, q FROM d.right_ones",
        {},
        "d.left_ones.p>d.o.p d.left_ones.q>d.o.q d.right_ones.q>d.o.q",
    ),
    (
        "bigquery",
        "CREATE TABLE d.o AS SELECT p, q FROM d.left_ones UNION ALL BY NAME ON (q) SELECT q, p FROM d.right_ones",
        {},
        "d.left_ones.q>d.o.q d.right_ones.q>d.o.q",
    ),
    (
        "bigquery",
        "CREATE TABLE d.o AS SELECT p, q FROM d.left_ones FULL UNION ALL BY NAME SELECT q, r FROM d.right_ones",
        {},
        "d.left_ones.p>d.o.p d.left_ones.q>d.o.q d.right_ones.q>d.o.q d.right_ones.r>d.o.r",
    ),
    (
        "bigquery",
        "CREATE TABLE d.o AS SELECT p, q FROM d.left_ones EXCEPT DISTINCT BY NAME SELECT q, p FROM d.right_ones",
        {},
        "d.left_ones.p>d.o.p d.left_ones.q>d.o.q",
    ),
]
RELATIONS: list[Case] = [
    (
        "bigquery",
        "CREATE TABLE d.o AS SELECT b.no, (SELECT MAX(w.pages) FROM b.works w) AS longest FROM d.books b",
        {},
        "d.books.no>d.o.no d.books.works>d.o.longest",
    ),
    (
        "bigquery",
        "CREATE TABLE d.o AS SELECT b.no, w.pages FROM d.books b JOIN b.works w ON w.pages > 9",
        {},
        "d.books.no>d.o.no d.books.works>d.o.pages",
    ),
    (
        "bigquery",
        "CREATE TABLE d.o AS SELECT b.no, w.pages FROM d.b b JOIN b.works w ON w.no = b.no",
        {"d.b": {"no": "INT64"}},
        "b.works.pages>d.o.pages d.b.no>d.o.no",
    ),
    (
        "impala",
        "INSERT INTO o (no, page) SELECT b.no, w.item FROM lib.books b, b.works w",
        {},
        "lib.books.no>o.no lib.books.works>o.page",
    ),
    (
        "postgres",
        "CREATE TABLE o AS WITH RECURSIVE a AS (SELECT no FROM b), b AS (SELECT no FROM books) SELECT no FROM a",
        {},
        "books.no>o.no",
    ),
    (
        "sqlite",
        "CREATE TABLE o AS WITH a AS (SELECT no FROM b), b AS (SELECT no FROM books) SELECT no FROM a",
        {},
        "books.no>o.no",
    ),
    (
        "duckdb",
        "CREATE TABLE o AS WITH RECURSIVE a AS (SELECT no FROM b), b AS (SELECT no FROM books) SELECT no FROM a",
        {},
        "b.no>o.no",
    ),
]


def _edges(case: Case) -> str:
    dialect, statement, schema, _ = case
    found = LineageParser(statement, dialect=dialect, schema=schema).edges
    direct = {
        f"{edge.source}>{edge.target}".lower() + "?" * (not edge.certain)
        for edge in found
        if edge.type is LineageType.DIRECT
    }
    return " ".join(sorted(direct))


@pytest.mark.parametrize("case", CONFLICTS)
def test_rows_that_are_there_meet_those_that_come(case: Case) -> None:
    assert _edges(case) == case[-1]


@pytest.mark.parametrize("case", BY_NAME)
def test_columns_meet_by_name_or_by_position_as_the_statement_says(case: Case) -> None:
    assert _edges(case) == case[-1]


@pytest.mark.parametrize("case", RELATIONS)
def test_a_name_under_from_means_what_the_dialect_takes_it_for(case: Case) -> None:
    assert _edges(case) == case[-1]
