"""Forty questions and more about a real warehouse, one call each; the server that ran it says what is right.

The catalog is made of the statements in the log, and the answers are compared with the dependencies that PostgreSQL
itself recorded of each relation.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from connectors.catalog.answer.pages import AnswerPage, token_count
from connectors.catalog.mcp.answers import CatalogAnswers
from ingestion import lineage_graph
from tests.support.catalog_contents import REPOSITORY
from tests.support.made_catalog import MadeCatalog

SHARED = REPOSITORY.parent / "shared" / "data" / "mimic_iii"
pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="the MIMIC-III log is not on this machine")
HOME = "hospital.mimic"
DERIVED = f"{HOME}.mimiciii_derived"
_STATEMENT = re.compile(r"(?:statement|execute [^:]*): (.*)", re.DOTALL)
_ROUTER = re.compile(r"CREATE OR REPLACE FUNCTION chartevents_insert_trigger.*?EXECUTE PROCEDURE [^;]*;", re.DOTALL)
"""What moves rows into partitions: no relation, so that the server recorded no dependency of it."""
_MESSAGE = 13
"""Where a csvlog has the statement."""


def oracle() -> dict[str, dict[str, Any]]:
    """The relations by their full names: columns, and the full names of the tables that they read."""
    if not SHARED.is_dir():
        return {}
    facts = [json.loads(line) for line in (SHARED / "oracle.jsonl").read_text().splitlines()]
    return {
        f"{DERIVED}.{fact['id']}": {**fact, "tables": {f"{HOME}.{name}" for name in fact["tables"]}}
        for fact in facts
        if "error" not in fact
    }


ORACLE = oracle()
RELATIONS = sorted(ORACLE)
SOURCES = sorted({name for fact in ORACLE.values() for name in fact["tables"]})


def readers(name: str) -> set[str]:
    return {relation for relation, fact in ORACLE.items() if name in fact["tables"]}


def downstream(name: str) -> set[str]:
    found: set[str] = set()
    waiting = [name]
    for one in waiting:
        waiting += sorted(readers(one) - found)
        found |= readers(one)
    return found


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CatalogAnswers]:
    csv.field_size_limit(1 << 24)
    with (SHARED / "query_log.csv").open(newline="") as log:
        found = [match for row in csv.reader(log) if (match := _STATEMENT.match(row[_MESSAGE]))]
    schema = (SHARED / "schema.sql").read_text()
    tables = _ROUTER.sub("", schema)
    named = re.sub(r"(?i)(create table (?:if not exists )?)(\w+)", r"\1mimiciii.\2", tables)
    # the trigger that parts chartevents is not among the known answers
    texts = [re.sub(r"(?is)create trigger[^;]*", "", one) for one in (named, *(match[1] for match in found))]
    graph = lineage_graph(texts, "postgres")
    assert graph.failures == ()
    made = MadeCatalog(tmp_path_factory.mktemp("hospital") / "catalog.db")
    made.add_graph(graph, HOME)
    made.close()
    with CatalogAnswers(made.file) as answers:
        yield answers


def rows(page: AnswerPage, kind: str) -> list[list[str]]:
    """The rows of a kind on a page that has to hold the whole answer, names in full."""
    assert page.cursor is None
    assert token_count(page.text) <= 2_000
    prefixes = page.structured["prefixes"]
    full = [
        [prefixes[one[0]] + one[1:] if one[:1] in prefixes else one for one in row] for row in page.structured["rows"]
    ]
    return [row for row in full if row[0] == kind]


@pytest.mark.parametrize("relation", RELATIONS[::8])
def test_which_columns_has_it(hospital: CatalogAnswers, relation: str) -> None:
    page = hospital.describe(relation).page()
    assert [row[1] for row in rows(page, "column")] == ORACLE[relation]["columns"]


@pytest.mark.parametrize("relation", RELATIONS[3::8])
def test_which_tables_does_it_read(hospital: CatalogAnswers, relation: str) -> None:
    page = hospital.describe(relation.rpartition(".")[2] if relation.count("_") > 2 else relation).page()
    assert {row[1] for row in rows(page, "upstream")} == ORACLE[relation]["tables"]


@pytest.mark.parametrize("source", SOURCES[::4])
def test_which_relations_read_it(hospital: CatalogAnswers, source: str) -> None:
    page = hospital.describe(source).page()
    assert {row[1] for row in rows(page, "downstream")} == readers(source)


@pytest.mark.parametrize("source", SOURCES[1::4])
def test_how_many_tables_does_it_reach(hospital: CatalogAnswers, source: str) -> None:
    page = hospital.impact(source).page()
    assert re.search(r"downstream in (\d+) tables?", page.text)[1] == str(len(downstream(source)))  # type: ignore[index]


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("search", ("sofa",), "table ~sofa\n"),
        ("search", ("icustays",), "table hospital.mimic.mimiciii.icustays"),
        ("explain", ("echo_data.charttime",), "base ~mimiciii.noteevents.chartdate (values)"),
        ("explain", ("echo_data.height",), "base ~mimiciii.noteevents.text (values)"),
        ("explain", ("echo_data.height",), "base ~mimiciii.noteevents.category (a say)"),
        ("paths", ("mimiciii.icustays.outtime", "icustay_detail.los_icu"), "1 hops of values"),
        ("paths", ("icustay_detail", "mimiciii.icustays"), "no way is known"),
        ("parse_sql", ("SELECT loss FROM mimiciii.icustays", "postgres"), "mimic.mimiciii.icustays.los?"),
        ("parse_sql", ("SELECT a FROM mimiciii.icustay", "postgres"), "did you mean mimiciii.icustays?"),
        ("quality", ("sofa",), "0 tests"),
    ],
)  # fmt: skip
def test_what_people_ask(hospital: CatalogAnswers, tool: str, arguments: tuple[str, ...], expected: str) -> None:
    questions = {
        "search": hospital.search,
        "explain": hospital.explain,
        "paths": hospital.paths,
        "parse_sql": hospital.parse_sql,
        "quality": hospital.quality,
    }
    page = questions[tool](*arguments).page()  # type: ignore[operator]
    assert expected in page.text, page.text
    assert token_count(page.text) <= 2_000


def test_there_are_forty_questions() -> None:
    asked = (RELATIONS[::8], RELATIONS[3::8], SOURCES[::4], SOURCES[1::4], test_what_people_ask.pytestmark[0].args[1])
    assert sum(map(len, asked)) >= 40
