"""The runs that a catalog was told of: what each came to, what changed since, what is dead still, how to replay it."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from connectors.catalog.answer.rendering import in_rows, render
from connectors.catalog.answer.runs import RUN, RUN_LIST, run_list_rows, run_rows
from connectors.catalog.http.server import CatalogConfig, running_catalog
from connectors.catalog.questions.runs import run_in_file, runs_in_file
from ingestion.errors import ConfigError
from tests.support.http_client import Client
from tests.support.made_catalog import AT

HOUR = 3_600_000
NOTE = "import pathlib, sys; pathlib.Path(sys.argv[1]).write_text(' '.join(sys.argv[2:]))"


def run(number: int, dead: dict[str, int], **more: Any) -> dict[str, Any]:
    counts = {"statements": 10, "published": 10 - sum(dead.values()), "skipped": {}, "dead": dead, "edges_new": number}
    times = {"started": AT + number * HOUR, "ended": AT + number * HOUR + 1500}
    report = {"counts": counts, "warnings": ["look | here"]}
    return {"workflow": "wf", "run": f"{number}a{number}", "outcome": "done", **times, "report": report, **more}


def dead(location: str, of: str = "2a2") -> dict[str, Any]:
    return {"location": location, "run": of, "reason": "unparsable", "masked": "INSERT INTO x SELEKT ?"}


class Served:
    """A catalog that two runs have told of, and a server that can replay the one workflow of two."""

    def __init__(self, folder: Path) -> None:
        self.file, self.noted = folder / "catalog.db", folder / "noted"
        self.command = (sys.executable, "-c", NOTE, str(self.noted))

    def tell(self, client: Client) -> None:
        told = [run(1, {"timeout": 1}), run(2, {"unparsable": 2}, replay="ingest replay -c wf.yaml")]
        for one in (*told, run(3, {}, workflow="other", replay="ingest replay -c o.yaml")):
            assert client.post("/headwater/workflow-runs", one)[0] == 200
        for workflow in ("wf", "other"):
            open_ones = {"workflow": workflow, "dead": [dead("log.csv:7"), dead("log.csv:9", "1a1")], "dead_total": 2}
            assert client.post("/headwater/workflow-runs/open-statements", open_ones)[0] == 200


@pytest.fixture
def served(tmp_path: Path) -> Served:
    return Served(tmp_path)


@pytest.fixture
def client(served: Served) -> Iterator[Client]:
    with running_catalog(CatalogConfig(served.file, port=0, replays={"wf": served.command})) as address:
        client = Client(address.url)
        served.tell(client)
        yield client


def test_a_run_tells_its_counts_what_changed_and_what_is_dead_still(client: Client, served: Served) -> None:
    listed = client.get("/headwater/workflow-runs", workflow="wf")[1]
    assert [(one["run"], one["outcome"], one["counts"]["dead"]) for one in listed["runs"]] == [
        ("2a2", "done", {"unparsable": 2}),
        ("1a1", "done", {"timeout": 1}),
    ]
    assert (listed["replayable"], listed["truncated"]) == (["wf"], False)
    found = client.get("/headwater/workflow-runs/2a2")[1]
    changes = {(one["what"], one["of"]): (one["before"], one["now"]) for one in found["changes"]}
    assert changes == {
        ("published", ""): (9, 8),
        ("edges_new", ""): (1, 2),
        ("dead", "unparsable"): (0, 2),
        ("dead", "timeout"): (1, 0),
    }
    assert [(one["location"], one["statement"]) for one in found["deadStatements"]] == [
        ("log.csv:7", "INSERT INTO x SELEKT ?")
    ]
    assert (found["before"], found["deadBefore"]) == ("1a1", 1)
    assert "No parser" in found["reasons"]["unparsable"]
    assert client.get("/headwater/workflow-runs/9")[0] == 404
    # the same run as OpenMetadata's clients read it
    status = client.get("/services/ingestionPipelines/wf/pipelineStatus/2a2")[1]
    assert (status["pipelineState"], status["startDate"]) == ("success", AT + 2 * HOUR)
    text = render(run_in_file(served.file, "2a"), RUN, "tree")
    assert "1 of its 2 dead statements are dead still; 1 were read later" in text
    assert "read them again by: ingest replay -c wf.yaml" in text
    assert in_rows(run_in_file(served.file, "2a"), run_rows).page(2_000).total == 1
    assert in_rows(runs_in_file(served.file), run_list_rows).page(2_000).total == 3
    assert "skipped 0, dead 2 (unparsable 2)" in render(runs_in_file(served.file), RUN_LIST, "tree")
    with pytest.raises(ConfigError):
        run_in_file(served.file, "9")
    newest = run_in_file(served.file, "latest").content
    assert (newest.run.run, [one.location for one in newest.dead]) == ("3a3", [])


def test_a_replay_is_begun_only_of_what_is_dead_and_where_the_configuration_is(client: Client, served: Served) -> None:
    def ask(**asked: str) -> tuple[int, Any]:
        return client.post("/headwater/workflow-runs/replays", asked)

    assert ask(workflow="wf", location="log.csv:8")[0] == 400
    assert ask(workflow="wf", location="--full")[0] == 400
    status, answer = ask(workflow="other", location="log.csv:7")
    assert (status, answer["message"].rpartition("type: ")[2]) == (409, "ingest replay -c o.yaml")
    assert ask(workflow="nobody")[0] == 404
    assert ask(workflow="wf", location="log.csv:7")[0] == 202
    end = time.monotonic() + 20
    while time.monotonic() < end and not (served.noted.exists() and served.noted.read_text()):  # which comes later
        time.sleep(0.02)
    assert served.noted.read_text() == "--statement=log.csv:7"


def test_only_the_latest_runs_are_kept(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("connectors.catalog.store.evidence.workflow_runs._RUNS_KEPT", 2)
    assert client.post("/headwater/workflow-runs", run(4, {}))[0] == 200
    found = client.get("/headwater/workflow-runs", limit=2)[1]
    assert [one["run"] for one in found["runs"]] == ["4a4", "3a3"]
    assert found["truncated"]
    assert json.dumps(client.get("/headwater/workflow-runs")[1]).count('"1a1"') == 0


def test_a_run_that_was_killed_is_told_as_crashed_once_its_workflow_runs_again(client: Client) -> None:
    for number in (4, 5):
        begun = {"workflow": "wf", "run": f"{number}a{number}", "outcome": "running", "started": AT + number * HOUR}
        assert client.post("/headwater/workflow-runs", begun)[0] == 200
    found = client.get("/headwater/workflow-runs")[1]["runs"]
    assert [(one["run"], one["outcome"]) for one in found] == [
        ("5a5", "running"),
        ("4a4", "crashed"),
        ("3a3", "done"),  # another workflow's
        ("2a2", "done"),
        ("1a1", "done"),
    ]
    assert client.get("/services/ingestionPipelines/wf/pipelineStatus/4a4")[1]["pipelineState"] == "failed"
