"""A list of edges in a run: what is exported of its catalog is what it says, and what it has no more ends."""

from __future__ import annotations

import csv
import io
import json
import random
from dataclasses import astuple, replace
from pathlib import Path

import pytest

from connectors.edge_rows import HEADER, ColumnWord, EdgeRow, name_text, rows_of, write_rows
from ingestion.model.lineage import DIRECT_SUBTYPES, Subtype
from tests.support.growing_log import SPARK
from tests.support.run_in_session import command_line, run
from workflows.runtime.options import Failpoints

pytestmark = pytest.mark.spark

LETTERS = "abZ9 .\"'`:=+-@,;\n\té名[]()*?"
EXPRESSIONS = (
    *("", "SUM(s.a.kilos)", "-s.a.kilos", "CASE WHEN s.a.x > ? THEN ? END", "COALESCE(x, ?) || ?"),
    *('CAST("a b" AS VARCHAR(20))', "x::numeric(10, 2)", "?", "x IN (?)", "DATE_TRUNC(?, t.day)"),
)
SETTINGS = f"""\
source:
  type: edge-list
  serviceName: shop
  serviceConnection: {{config: {{type: Postgres}}}}
  sourceConfig: {{config: {{type: DatabaseLineage, edgeListPath: edges.csv}}}}
sink: {{type: metadata-rest, config: {{}}}}
workflowConfig: {{successThreshold: 0, openMetadataServerConfig: {{hostPort: embedded}}}}
headwater:
  spark: {{master: "local[2]", conf: {json.dumps(SPARK)}}}
  catalog: {{file: catalog.db}}
  deadLetters: dead.jsonl
  state: {{url: state.db}}
"""


def odd_rows() -> list[EdgeRow]:
    """Edges between tables and columns with names that need care wherever they are written."""
    chance = random.Random(4)

    def name() -> str:
        while not (made := "".join(chance.choices(LETTERS, k=chance.randint(1, 7)))).strip(" *"):
            pass
        return made

    names = ["NULL", "?", "None", "=1+1", "select", *dict.fromkeys(name().casefold() for _ in range(30))]
    tables = [name_text((chance.choice(("shop", "hub", "a.b")), "db", chance.choice("st"), one)) for one in names]
    tables.append("s3://bucket/in/orders")
    found: list[EdgeRow] = []
    for _ in range(60):
        ends = (chance.choice(tables), chance.choice(tables))
        who = chance.choice(("ann", "query 12ab", "=who"))
        words = [_word(chance, names) for _ in range(chance.randint(0, 3))]
        confidence = chance.choice((0.4, 1.0))
        if ends[0] != ends[1]:
            found += rows_of(ends, who, words, confidence)
    return found


def _word(chance: random.Random, names: list[str]) -> ColumnWord:
    subtype = chance.choice(list(Subtype))
    direct = subtype in DIRECT_SUBTYPES
    source, target = (chance.choice([one for one in names if '"' not in one and "." not in one]) for _ in "ab")
    return ColumnWord(
        [source],
        target if direct else chance.choice((target, "")),
        subtype,
        masking=chance.random() < 0.2,
        expression=chance.choice(EXPRESSIONS),
        certain=chance.random() < 0.7,
        direct=direct,
    )


def written(folder: Path, rows: list[EdgeRow]) -> str:
    out = io.StringIO()
    write_rows(rows, out)
    (folder / "lineage.yaml").write_text(SETTINGS)
    (folder / "edges.csv").write_text(out.getvalue(), newline="")
    return out.getvalue()


def exported(folder: Path) -> str:
    done = command_line(folder, "export", "--catalog", "catalog.db", "--csv", "-")
    assert done.exit_code == 0, done.output
    return done.output


def test_a_list_comes_out_of_a_catalog_as_it_went_in_and_ends_what_it_has_no_more(
    tmp_path: Path, spark: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = odd_rows()
    text = written(tmp_path, rows)

    summary = run(tmp_path)

    assert summary.counts.dead == {}
    assert summary.counts.published == summary.counts.records_read
    assert set(summary.counts.parsed_by_tier) == {"list"}
    assert exported(tmp_path) == text

    # an expression is another, some rows are gone, and the catalog says neither any more
    edited = [replace(row, expression="upper(other)") if row.source_column else row for row in rows[10:]]
    text = written(tmp_path, edited)
    assert run(tmp_path).counts.dead == {}
    assert exported(tmp_path) == text

    # a row that cannot be read may be one of those that are there: nothing ends
    kept = written(tmp_path, edited[5:])
    (tmp_path / "edges.csv").write_text(kept + 'a.b,,,,,,,,"hm",\n', newline="")
    summary = run(tmp_path)
    assert summary.counts.dead == {"malformed_record:target is missing": 1}
    assert exported(tmp_path) == text
    [letter] = [json.loads(line) for line in (tmp_path / "dead.jsonl").read_text().splitlines()]
    assert letter["source_id"] == f"edges.csv:{kept.count(chr(10)) + 1}"

    # nor where one was given up on: what it said before still stands
    written(tmp_path, edited)
    summary = run(tmp_path, failpoints=Failpoints("analysis:bucket/in/orders:raise"))
    assert set(summary.counts.dead) == {"analysis_failed"}
    assert exported(tmp_path) == text


LISTS = {
    "edges.csv": "﻿Source Table;Target Table;Comment\nmart.a;mart.b;é\n".encode(),
    "latin.csv": "From,To,From Column,To Column,Rule\nmart.b,mart.c,größe,preis,größe * 'x'\n".encode("latin-1"),
    "wide.csv": "upstream\tdownstream\nmart.c\tmart.d\n".encode("utf-16"),
    "named.csv": "sep=;\r\nSource;Target;Certainty\r\n\u200b[mart].[d e];mart.f\xa0;0,8\r\n".encode(),
    "rows.csv": b'Source,,Target,\nTable,Column,Table,Column\n"=""mart.g""",x,`mart`.`h`,y\n',
    "windows.csv": "From;To;Rule;From Column;To Column\nmart.h;mart.i;a – €;a;b\n".encode("cp1252"),
}


def test_a_list_is_read_as_a_spreadsheet_wrote_it(
    tmp_path: Path, spark: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, content in LISTS.items():
        (tmp_path / "lists").mkdir(exist_ok=True)
        (tmp_path / "lists" / name).write_bytes(content)
    (tmp_path / "lineage.yaml").write_text(SETTINGS.replace("edges.csv", "lists"))

    counts = run(tmp_path).counts
    assert counts.published == 6
    heading = "it is a second row of the header, and what it says of columns is not read"
    assert counts.dead == {f"malformed_record:{heading}": 1}

    rows = [EdgeRow(*row) for row in csv.reader(io.StringIO(exported(tmp_path)))]
    assert astuple(rows[0]) == HEADER
    assert [(row.source, row.target, row.target_column, row.expression) for row in rows[1:]] == [
        ("shop.default.mart.a", "shop.default.mart.b", "", ""),
        ("shop.default.mart.b", "shop.default.mart.c", "preis", "größe * ?"),
        ("shop.default.mart.c", "shop.default.mart.d", "", ""),
        ("shop.default.mart.d e", "shop.default.mart.f", "", ""),
        ("shop.default.mart.g", "shop.default.mart.h", "", ""),
        ("shop.default.mart.h", "shop.default.mart.i", "b", "a – €"),
    ]
    assert {row.witness for row in rows[1:]} == {"edge list"}


def test_a_list_without_its_columns_is_refused_by_the_file_and_what_is_there(
    tmp_path: Path, spark: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lineage.yaml").write_text(SETTINGS)
    (tmp_path / "edges.csv").write_text("Source,Goal\na,b\n")
    done = command_line(tmp_path, "run", "-c", "lineage.yaml")
    assert done.exit_code == 2
    assert "edges.csv: a list of edges needs columns such as source and target; there are source, goal" in done.output


def test_a_run_writes_a_file_that_holds_what_stands_now(
    tmp_path: Path, spark: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = odd_rows()[:40]
    text = written(tmp_path, rows)
    to_file = "{type: edge-file, config: {path: out/edges.csv}}"
    (tmp_path / "lineage.yaml").write_text(SETTINGS.replace("{type: metadata-rest, config: {}}", to_file))
    out = tmp_path / "out" / "edges.csv"

    assert run(tmp_path).counts.edges.new == len({(row.source, row.target) for row in rows})
    assert out.read_bytes().decode() == text

    # what is edited and what is gone leaves the file, and nothing is done twice
    edited = [replace(row, certainty="possible") for row in rows[7:]]
    out_of_list = io.StringIO()
    write_rows(edited, out_of_list)
    (tmp_path / "edges.csv").write_text(out_of_list.getvalue(), newline="")
    assert run(tmp_path).counts.edges.replaced
    assert out.read_bytes().decode() == out_of_list.getvalue()
    again = run(tmp_path).counts.edges
    assert (again.new, again.replaced) == (0, 0)

    # a file that is gone is written whole, although all of it was acknowledged
    out.unlink()
    told = run(tmp_path).warnings
    assert out.read_bytes().decode() == out_of_list.getvalue()
    number = len(list(csv.reader(out_of_list.getvalue().splitlines(keepends=True)))) - 1
    assert [one for one in told if "not in out/edges.csv any more" in one] == [
        f"{number} rows that earlier runs wrote were not in out/edges.csv any more: {number} are written again"
    ]

    # that of another workflow too, whichever of both runs first once it is gone
    settings = ["headwater.state.workflow=other", "source.sourceConfig.config.edgeListPath=other.csv"]
    (tmp_path / "other.csv").write_text("source,target\ns.mine,s.yours\n")
    run(tmp_path, *settings)
    both = out.read_bytes()
    assert b"shop.default.s.mine" in both
    assert len(both) > len(out_of_list.getvalue().encode())
    out.unlink()
    run(tmp_path)
    run(tmp_path, *settings)
    assert out.read_bytes() == both
