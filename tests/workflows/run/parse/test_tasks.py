"""Each distinct statement is parsed once, in however many slices."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from connectors.records import RECORD_SCHEMA
from ingestion.analysis.analyzer import mentions
from ingestion.analysis.symbolic import names_in_bytes
from ingestion.parsing.sandbox.process import Limits
from ingestion.parsing.templates import ParsedTemplate
from tests.support.parser_processes import parser_processes
from workflows.run.parse.tasks import Parsing, parse_templates
from workflows.run.read.statements import STATEMENT_SCHEMA, rows_of

pytestmark = pytest.mark.spark
STATEMENTS = [f"insert into t{number % 10} select a from s where b = {number}" for number in range(20)]


def parsed(spark: SparkSession, expected: int, known: tuple[tuple[str, str], ...] = ()) -> dict[str, ParsedTemplate]:
    nothing = dict.fromkeys(RECORD_SCHEMA.fieldNames())
    records = [{**nothing, "source_id": f"log:{line}", "text": text} for line, text in enumerate(STATEMENTS)]
    rows = [tuple(row.get(name) for name in STATEMENT_SCHEMA.fieldNames()) for row in rows_of(records, "postgres")]
    statements = spark.createDataFrame(rows, STATEMENT_SCHEMA)
    found = list(parse_templates(statements, Parsing(Limits(), threads=2), expected, known))
    assert len({template.fingerprint for template in found}) == len(found)
    return {template.fingerprint: template for template in found}


def test_slices_give_what_one_pass_gives(spark: SparkSession) -> None:
    whole = parsed(spark, expected=10)
    assert len(whole) == 10
    assert all(template.tier == "sqlglot" and template.symbolic is not None for template in whole.values())
    assert parsed(spark, expected=9_000) == whole


def test_the_names_come_with_what_was_parsed(spark: SparkSession) -> None:
    for template in parsed(spark, expected=10).values():
        assert template.symbolic is not None
        assert names_in_bytes(template.symbolic) == template.names() == mentions(template.statement())


def test_what_is_known_is_not_parsed_again(spark: SparkSession) -> None:
    known = tuple((fingerprint, "postgres") for fingerprint in sorted(parsed(spark, expected=10))[:7])
    of_another_dialect = tuple((fingerprint, "mysql") for fingerprint, _dialect in known)
    many = tuple((f"other {number}", "postgres") for number in range(200))
    assert len(parsed(spark, 10, known)) == len(parsed(spark, 10, (*known, *many))) == 3
    assert len(parsed(spark, 10, of_another_dialect)) == 10


def test_few_are_parsed_by_the_process_that_parsed_those_before(spark: SparkSession) -> None:
    parsed(spark, expected=10)
    before = set(parser_processes())
    parsed(spark, expected=10)
    assert before
    assert set(parser_processes()) == before


def test_of_many_no_process_is_kept(spark: SparkSession) -> None:
    before = set(parser_processes())
    parsed(spark, expected=9_000)
    assert set(parser_processes()) <= before
