"""What a parser's process writes of a statement: its lineage, and the names that follow from it."""

from __future__ import annotations

from typing import Any, cast

from ingestion.analysis import analyzer
from ingestion.analysis.analyzer import lineage_with_names, mentions
from ingestion.analysis.form import RelationalStatement
from ingestion.analysis.symbolic import dumps, loads, names_in_bytes
from ingestion.model.lineage import StatementKind
from ingestion.parsing.sandbox.process import Limits, Sandbox
from ingestion.parsing.sqlglot.tier import parse
from ingestion.parsing.tiers import MODULES, Tier

TEXT = "CREATE TEMP TABLE t AS WITH w AS (SELECT f(a) AS a FROM s) SELECT a FROM w JOIN u ON true"


def test_a_parser_process_tells_the_names_too() -> None:
    with Sandbox(Limits()) as sandbox:
        (reply,) = sandbox.parse(MODULES[Tier.SQLGLOT], [(TEXT, "postgres")])
    assert reply.symbolic is not None
    assert names_in_bytes(reply.symbolic) == mentions(loads(reply.symbolic)) == mentions(parse(TEXT, "postgres"))


def test_what_cannot_be_analysed_has_no_names_and_is_kept() -> None:
    broken = RelationalStatement(StatementKind.INSERT, "postgres", writes=cast(Any, (1,)))
    assert lineage_with_names(dumps(broken), broken) == dumps(broken)


def test_what_is_large_is_analysed_elsewhere() -> None:
    outputs = ", ".join(f"a{number}" for number in range(9_000))
    statement = parse(f"INSERT INTO t SELECT {outputs} FROM s", "postgres")
    data = dumps(statement)
    assert len(data) > analyzer._MOST_TO_NAME
    assert lineage_with_names(data, statement) == data
