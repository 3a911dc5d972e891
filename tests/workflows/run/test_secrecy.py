"""Canaries in literals, passwords, tokens and URLs: nothing that a run writes, shows or sends holds one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families
from pyspark.sql import SparkSession

from tests.support.catalog_contents import opened
from tests.support.growing_log import configuration, rows_of, write_log
from tests.support.literal_forms import filled
from tests.support.run_in_session import run_that_shows_all

pytestmark = pytest.mark.spark
FORMS = [form for form in filled() if form.dialect == "postgres"]
LITERALS = (
    *(canary for form in FORMS for canary in form.canaries),
    "canary-literal-1", "canary-literal-2", "998877665544", "canary-email@example.com", "canary-dollar", "canary-ddl",
    "canary-broken", "canary-routine", "canary-comment", "canary-path-key", "canary-url-password", "canary-select",
)  # fmt: skip
SECRETS = ("canary-token-1234567", "canary-password-7654321", "canary-api-key-55555")
STATEMENTS = [
    ("s1", "INSERT INTO t (a) SELECT a FROM s WHERE name = 'canary-literal-1' AND id = 998877665544"),
    ("s1", "INSERT INTO t (a) SELECT 'canary-literal-2' || a FROM s -- canary-comment"),
    ("s1", "CREATE TABLE u AS SELECT replace(a, 'canary-email@example.com', '') AS a FROM s"),
    ("s1", "INSERT INTO v (a) SELECT $$canary-dollar$$ FROM s"),
    ("s1", "CREATE TABLE w (a text DEFAULT 'canary-ddl')"),
    ("s1", "INSERT INTO broken (a SELECT 'canary-broken"),
    ("s1", "SELECT 'canary-select' FROM s"),
    ("s1", "CREATE FUNCTION f() RETURNS void LANGUAGE sql AS $$INSERT INTO t (a) SELECT 'canary-routine' FROM s$$"),
    ("s1", "COPY t FROM 's3://bucket/raw/x.csv?X-Amz-Signature=canary-path-key'"),
    ("s1", "COPY t FROM 'https://user:canary-url-password@host.example/raw/y.csv'"),
    *(("s2", form.text) for form in FORMS),
]


@pytest.fixture(scope="module")
def folder_and_output(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A folder in which a workflow with every output ran, and all that it showed."""
    folder = tmp_path_factory.mktemp("folder_and_output")
    write_log(folder / "log" / "all.csv", rows_of(STATEMENTS))
    file = configuration(
        folder,
        metricsFile=str(folder / "metrics.prom"),
        openLineage={
            "transport": {
                "type": "file",
                "log_file_path": str(folder / "events.jsonl"),
                "append": True,
                "apiKey": SECRETS[2],
            }
        },
    )
    content = yaml.safe_load(file.read_text())
    content["headwater"]["catalog"]["token"] = SECRETS[0]
    content["source"]["serviceConnection"]["config"]["password"] = SECRETS[1]
    file.write_text(yaml.safe_dump(content))
    shown = folder / "shown.txt"
    run_that_shows_all(file, shown)
    file.unlink()
    yield folder, shown.read_text()


def test_every_kind_of_output_was_written(folder_and_output: tuple[Path, str]) -> None:
    folder, shown = folder_and_output
    assert {path.name for path in folder.iterdir()} >= {
        "catalog.db", "state.db", "dead.jsonl", "metrics.prom", "events.jsonl", "shown.txt",
    }  # fmt: skip
    assert "publish" in shown
    assert (folder / "events.jsonl").read_text().count('"eventType"') >= 4


def test_what_remembers_is_readable_by_its_owner_alone(folder_and_output: tuple[Path, str]) -> None:
    folder, _ = folder_and_output
    kept = [folder / name for name in ("catalog.db", "state.db", "dead.jsonl")]
    assert {path.stat().st_mode & 0o777 for path in kept} == {0o600}


def test_no_canary_is_in_any_file_log_event_report_or_database(folder_and_output: tuple[Path, str]) -> None:
    folder, _ = folder_and_output
    files = [path for path in folder.rglob("*") if path.is_file() and path.parent.name != "log"]
    for path in files:
        content = path.read_bytes().lower()
        for canary in (*LITERALS, *SECRETS):
            assert canary.encode() not in content, (path.name, canary)


def test_no_canary_is_in_the_journal_or_in_stored_lineage(folder_and_output: tuple[Path, str]) -> None:
    """They are compressed in the database: looked at as they are read."""
    from workflows.state.journal import journal_of
    from workflows.state.store import open_state, templates

    store = open_state(str(folder_and_output[0] / "state.db"))
    with store.read() as connection:
        journal = journal_of(store, "shop.query-log-lineage", "none", None)
        kept = [str(segment.rows().to_pylist()) for segment in journal.segments(connection)]
        stored = [bytes(row.symbolic or b"") for row in connection.execute(templates.select())]
    store.close()
    assert kept
    assert stored
    for canary in (*LITERALS, *SECRETS):
        assert canary not in "".join(kept).lower(), canary
        assert canary.encode() not in b"".join(stored).lower(), canary


def test_no_canary_is_on_a_page_or_in_an_answer(folder_and_output: tuple[Path, str]) -> None:
    from connectors.catalog.page.export import ExportScope, catalog_document
    from connectors.catalog.page.html import self_contained_page

    page = self_contained_page(catalog_document(folder_and_output[0] / "catalog.db", ExportScope()), "lineage")
    with opened(folder_and_output[0] / "catalog.db") as catalog:
        answers = json.dumps([list(catalog.edges().values()), catalog.listing("tables"), catalog.listing("queries")])
    for canary in (*LITERALS, *SECRETS):
        assert canary not in page.lower(), canary
        assert canary not in answers.lower(), canary


def test_the_metrics_are_prometheus_own_format(folder_and_output: tuple[Path, str]) -> None:
    families = {f.name: f for f in text_string_to_metric_families((folder_and_output[0] / "metrics.prom").read_text())}
    assert families["headwater_run_statements"].samples[0].value >= len(STATEMENTS)
    assert families["headwater_dead_letters"].samples[0].value >= 1
    (run,) = families["headwater_runs"].samples
    assert run.labels == {"workflow": "shop.query-log-lineage", "outcome": "done"}
