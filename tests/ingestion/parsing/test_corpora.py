"""Other projects' cases and a real server's own dependencies, where they stand beside the repository."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingestion.analysis.analyzer import analyze
from ingestion.analysis.form import RelationalStatement
from ingestion.errors import Unparsable
from ingestion.model.lineage import (
    Column,
    Flow,
    LineageType,
    StatementKind,
    StatementLineage,
    Subtype,
    TableName,
    WriteMode,
)
from ingestion.parsing.sqlglot.tier import parse
from ingestion.statements import split
from ingestion.statements.routines.bodies import take_apart

SHARED = Path(__file__).resolve().parents[4] / "shared"
Schemas = dict[str, list[Column]]

needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared corpora are not beside the repository")

# Cases whose expectation is wrong by the language's definition, or a convention that is not ours.
NOT_OURS = {
    # PostgreSQL's `::` is the same cast as CAST: one name for both, and this dialect names outputs by their text.
    "test_column_select_cast::test_postgres_style_type_cast",
    # f1 is a column of its own before the star: leaving it out loses an edge.
    "test_nested_cte_with_partial_wildcard_expansion",
    # Branches of a different number of columns: no system takes this.
    "test_union_where_later_branch_introduces_new_output_columns",
    # PostgreSQL calls an unnamed expression ?column?, not _0.
    "tests_simple::test_column_name_inference",
}


def _schemas(case: dict[str, object]) -> Schemas:
    given = case["schema"] or {}
    assert isinstance(given, dict)
    return {name.lower(): [Column(c, t) for c, t in columns.items()] for name, columns in given.items()}


def _lineages(case: dict[str, object]) -> list[StatementLineage]:
    """The statements of a case, those that create a relation giving the schema to those that read it."""
    dialect = str(case["dialect"] or "ansi")
    statements = [parse(text, dialect) for text in _texts(str(case["sql"]), dialect)]
    schemas = _schemas(case)
    for _ in statements:
        known = dict(schemas)
        for statement in statements:
            schemas.update(_made(statement, known))
        if schemas == known:
            break
    return [analyze(statement, lambda name: schemas.get(name.dotted.lower())) for statement in statements]


def _texts(script: str, dialect: str) -> Iterator[str]:
    """The statements of a script, those inside a routine's definition among them."""
    for part in split(script, dialect):
        routine = take_apart(part.text, dialect)
        if routine is None:
            yield part.text
        else:
            yield from (step.text for step in routine.steps if step.text)


def _made(statement: RelationalStatement, schemas: Schemas) -> Iterator[tuple[str, list[Column]]]:
    lineage = analyze(statement, lambda name: schemas.get(name.dotted.lower()))
    for change in lineage.changes:
        if change.kind is StatementKind.CREATE_TABLE and change.columns:
            yield change.name.dotted.lower(), list(change.columns)
    for flow in lineage.flows:
        without_stars = flow.outputs and not any(output.star for output in flow.outputs)
        if flow.target is not None and flow.target.mode is WriteMode.CREATE and without_stars:
            yield flow.target.name.dotted.lower(), [Column(output.name, output.type) for output in flow.outputs]


def _edges(flow: Flow) -> Iterator[tuple[str, str, str | None, str]]:
    """Direct edges, and columns that have a say in this one output only (CASE conditions, window keys)."""
    target = flow.target.name.dotted if flow.target else None
    for output in flow.outputs:
        if output.star is not None:
            yield output.star.table.dotted, "*", target, "*"
        for reference in output.references:
            if reference.certain:
                yield reference.sources[0].table.dotted, reference.sources[0].column, target, output.name


def _label(name: TableName) -> str:
    return {"path": "path:", "function": "func:", "table": ""}[name.kind.value] + name.dotted


def _prediction(case: dict[str, object]) -> dict[str, object]:
    lineages = _lineages(case)
    flows = [flow for lineage in lineages for flow in lineage.flows]
    edges = [edge for flow in flows for edge in _edges(flow)]
    if case["origin"] == "sqllineage" and len(lineages) > 1:
        edges = _folded(edges)
    made = [
        c
        for x in lineages
        for c in x.changes
        if c.kind in (StatementKind.CREATE_TABLE, StatementKind.CREATE_TABLE_LIKE)
    ]
    return {
        "id": case["id"],
        "sources": [_label(name) for flow in flows for name in flow.sources],
        "targets": [_label(flow.target.name) for flow in flows if flow.target] + [_label(c.name) for c in made],
        "columns": edges,
        "error": None,
    }


def _folded(edges: list[tuple[str, str, str | None, str]]) -> list[tuple[str, str, str | None, str]]:
    """That suite's convention: a column that a script makes and reads itself is left out."""
    middle = {(edge[2], edge[3]) for edge in edges} & {(edge[0], edge[1]) for edge in edges}

    def roots(table: str, column: str) -> list[tuple[str, str]]:
        if (table, column) not in middle:
            return [(table, column)]
        return [root for e in edges if (e[2], e[3]) == (table, column) for root in roots(e[0], e[1])]

    return [(*root, e[2], e[3]) for e in edges if (e[2], e[3]) not in middle for root in roots(e[0], e[1])]


@needs_shared
def test_cases_of_other_projects(tmp_path: Path) -> None:
    corpus = SHARED / "corpora" / "statements.jsonl"
    cases = [json.loads(line) for line in corpus.read_text().splitlines()]
    ours = [case for case in cases if not any(name in case["id"] for name in NOT_OURS)]
    predictions = []
    for case in ours:
        try:
            predictions.append(_prediction(case))
        except Unparsable as error:
            predictions.append({"id": case["id"], "sources": [], "targets": [], "columns": [], "error": str(error)})
    (tmp_path / "cases.jsonl").write_text("\n".join(json.dumps(case) for case in ours))
    (tmp_path / "pred.jsonl").write_text("\n".join(json.dumps(prediction) for prediction in predictions))
    command = [sys.executable, str(SHARED / "corpora" / "score.py"), "--corpus", str(tmp_path / "cases.jsonl")]
    command += ["--pred", str(tmp_path / "pred.jsonl"), "--json", str(tmp_path / "scores.json")]
    subprocess.run(command, check=True, capture_output=True)
    for origin, scores in json.loads((tmp_path / "scores.json").read_text()).items():
        assert scores["flow"] >= 0.99 * scores["flow_n"], origin
        columns = scores["col"]
        if columns["want"]:
            assert columns["p"] >= 0.98, (origin, columns)
            assert columns["r"] >= 0.98, (origin, columns)


@needs_shared
def test_a_real_servers_dependencies(tmp_path: Path) -> None:
    data = SHARED / "data" / "mimic_iii"
    schemas: dict[str, tuple[Column, ...]] = {}
    for part in split((data / "schema.sql").read_text(), "postgres"):
        try:
            changes = parse(part.text, "postgres").changes
        except Unparsable:
            continue
        for change in changes:
            if change.columns:
                schemas[f"mimiciii.{change.name.dotted}"] = change.columns
    cases = [json.loads(line) for line in (data / "oracle.jsonl").read_text().splitlines()]
    forms = {case["id"]: parse(case["sql"], "postgres") for case in cases if "sql" in case and "error" not in case}
    lineages: dict[str, StatementLineage] = {}
    for _ in range(3):  # until the relations that read relations have their schemas
        for name, form in forms.items():
            lineages[name] = analyze(
                form, lambda table: schemas.get(table.dotted) or schemas.get(f"mimiciii.{table.dotted}")
            )
            flow = lineages[name].flows[0]
            assert flow.target is not None
            schemas[flow.target.name.dotted] = tuple(Column(output.name, output.type) for output in flow.outputs)
    lines = [json.dumps(_relation(name, lineage)) for name, lineage in lineages.items()]
    (tmp_path / "pred.jsonl").write_text("\n".join(lines))
    command = [sys.executable, str(SHARED / "corpora" / "score_oracle.py"), "--oracle", str(data / "oracle.jsonl")]
    result = subprocess.run(
        [*command, "--pred", str(tmp_path / "pred.jsonl")], check=True, capture_output=True, text=True
    )
    assert (
        "tables exact 83, output columns exact 83, references exact 83, precision 1.0000, recall 1.0000"
        in result.stdout
    )


def _relation(name: str, lineage: StatementLineage) -> dict[str, object]:
    (flow,) = lineage.flows
    references = [r for output in flow.outputs for r in output.references] + list(flow.indirect)
    columns = {source for r in references if r.certain for source in r.sources} | set(lineage.unused)
    assert all(r.transformation.type in LineageType and r.transformation.subtype in Subtype for r in references)
    return {
        "id": name,
        "columns": [output.name for output in flow.outputs],
        "tables": [table.dotted for table in flow.sources],
        "refs": [[column.table.dotted, column.column] for column in columns],
    }
