"""DataHub over REST and by file: a stub of its metadata service takes the emitter's real calls."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from connectors.datahub.changes import Changes
from connectors.datahub.file import settings as file_settings
from connectors.datahub.file import sink as file_sink
from connectors.datahub.rest import settings as rest_settings
from connectors.datahub.rest import sink as rest_sink
from connectors.sink import EdgeCounts, SinkRun, TargetBatch
from ingestion.errors import ConfigError, TargetDown
from ingestion.model.entities import EntityReference
from ingestion.model.lineage import Subtype
from ingestion.model.requests import request_of
from tests.connectors.datahub.conftest import SOURCE, batch, column, contribution, in_files
from tests.support.datahub_service import SOURCE_URN, Model, Service

RUN = SinkRun("run", 1, object(), "shop", "Postgres")
SAID = contribution(column("total", "gmv", "SUM(o.total)"))
BAD = EntityReference("3", "table", "bad", "shop.db.s.bad")
UNNAMED = EntityReference("4", "table", "x", "hub.db.s.x")


def test_batches_go_by_the_emitters_calls_with_the_token(service: Service) -> None:
    with rest_sink.open_sink(service.settings(), RUN) as sink:
        report = sink.write([batch(SAID)])
    assert (report.counts.new, report.counts.column_edges, service.tokens) == (1, 1, {"Bearer canary-token"})
    assert service.model.upstreams.keys() == {SOURCE_URN}
    assert {operation for operation, *_ in service.model.columns} == {"SQL: SUM(o.total)"}


def test_what_is_refused_is_named_and_costs_itself(service: Service) -> None:
    refused, unnamed = (TargetBatch(one, (request_of(SOURCE, one, [SAID]),)) for one in (BAD, UNNAMED))
    with rest_sink.open_sink(service.settings(), RUN) as sink:
        report = sink.write([refused, batch(SAID), unnamed])
    assert (report.counts.new, report.counts.rejected) == (1, 2)
    assert [result.reason for result in report.results] == [
        "400 unknown urn",
        "",
        "DataHub's platform of hub is not known: name it in sink.config.services",
    ]


@pytest.mark.parametrize("actor", ["urn:li:corpuser:ann", "urn:li:corpuser:headwater"])
def test_an_upstream_that_another_wrote_last_is_not_taken_away(service: Service, actor: str) -> None:
    with rest_sink.open_sink(service.settings(), RUN) as sink:
        sink.write([batch(SAID)])
        service.model.upstreams[SOURCE_URN]["auditStamp"]["actor"] = actor
        sink.write([batch(ended=sink.keys(batch(SAID).requests[0], SAID))])
    assert bool(service.model.upstreams) == actor.endswith("ann")
    assert not service.model.columns


def test_what_has_no_name_costs_no_call(service: Service) -> None:
    """A log of one service speaks of many: each edge by a call of its own would be a call for each of them."""
    unnamed = [EntityReference(f"u{n}", "table", "x", f"hub.db.s.x{n}") for n in range(8)]
    batches = [TargetBatch(one, (request_of(SOURCE, one, [SAID]),)) for one in unnamed]
    with rest_sink.open_sink(service.settings(), RUN) as sink:
        report = sink.write([*batches[:4], batch(SAID), *batches[4:]])
    assert (service.calls, report.counts.new, report.counts.rejected) == (1, 1, 8)
    assert [result.accepted for result in report.results] == [False] * 4 + [True] + [False] * 4


def test_what_is_not_true_any_more_goes_beside_an_edge_that_has_no_name(service: Service) -> None:
    unnamed = request_of(UNNAMED, batch(SAID).target, [SAID])
    with rest_sink.open_sink(service.settings(), RUN) as sink:
        sink.write([batch(SAID)])
        ended = sink.keys(batch(SAID).requests[0], SAID)
        sink.write([TargetBatch(unnamed.to_entity, (unnamed,), ended=frozenset(ended))])
    assert (service.model.upstreams, service.model.columns) == ({}, set())


def test_where_a_part_is_refused_what_was_before_stays(service: Service) -> None:
    ended = {json.dumps(["urn:li:dataset:(urn:li:dataPlatform:postgres,db.s.daily,PROD)", SOURCE_URN, "upstream"])}
    both = (request_of(SOURCE, batch(SAID).target, [SAID]), request_of(BAD, batch(SAID).target, [SAID]))
    with rest_sink.open_sink(service.settings(), RUN) as sink:
        report = sink.write([TargetBatch(batch(SAID).target, both, ended=frozenset(ended))])
    assert (report.counts.new, report.counts.rejected, report.counts.replaced) == (1, 1, 0)


@pytest.mark.parametrize(("status", "error"), [(401, ConfigError), (403, ConfigError), (500, TargetDown)])
@pytest.mark.parametrize("at_door", [False, True])
def test_an_error_says_what_to_do_and_never_the_token(
    service: Service, status: int, error: type[Exception], *, at_door: bool
) -> None:
    service.door = status if at_door else 200
    service.statuses = [] if at_door else [status]
    with pytest.raises(error) as raised, rest_sink.open_sink(service.settings(), RUN) as sink:
        sink.write([batch(SAID)])
    assert "canary-token" not in str(raised.value)
    assert str(status) in str(raised.value)


def test_a_page_in_place_of_the_service_is_the_configurations_fault(service: Service) -> None:
    service.door = 404
    with pytest.raises(ConfigError, match=r"sink\.config\.server"), rest_sink.open_sink(service.settings(), RUN):
        pass


@pytest.mark.parametrize("page", ["<html>Sign in</html>", "[]"])
def test_a_page_that_answers_for_the_service_is_the_configurations_fault_too(service: Service, page: str) -> None:
    service.page = page
    with pytest.raises(ConfigError, match=r"sink\.config\.server"), rest_sink.open_sink(service.settings(), RUN):
        pass


def test_a_token_that_is_no_header_is_the_configurations_fault(service: Service) -> None:
    settings = service.settings(token="canary\ntoken")
    with pytest.raises(ConfigError, match=r"sink\.config\.token") as raised, rest_sink.open_sink(settings, RUN):
        pass
    assert "canary" not in str(raised.value)


def test_nobody_there_is_no_fault_of_the_configuration() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        settings = rest_settings.DatahubRestSettings.model_validate(
            {"server": f"http://127.0.0.1:{bound.getsockname()[1]}", "retry_max_times": 0}
        )
        with pytest.raises(TargetDown, match="does not answer"), rest_sink.open_sink(settings, RUN):
            pass


def test_an_answer_that_never_comes_ends_the_run_for_now(service: Service) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with rest_sink.open_sink(service.settings(timeout_sec=1), RUN) as sink:
            sink.send.__self__._emitter._gms_server = f"http://127.0.0.1:{silent.getsockname()[1]}"
            with pytest.raises(TargetDown, match="does not answer"):
                sink.write([batch(SAID)])


def test_a_file_is_what_datahub_itself_reads(tmp_path: Path, changes: Changes) -> None:
    """One process for its checker and its file source: they take seconds to load."""
    settings = file_settings.DatahubFileSettings(filename=tmp_path / "lineage.json")
    for _ in range(2):
        with file_sink.open_sink(settings, RUN) as sink:
            sink.write([batch(SAID)])
    ended = sink.keys(batch(SAID).requests[0], SAID)
    with file_sink.open_sink(settings, RUN) as sink:
        sink.write([batch(ended=ended)])
    code = f"""
import json
from click.testing import CliRunner
from datahub.entrypoints import datahub
from datahub.ingestion.run.pipeline import Pipeline
print(CliRunner().invoke(datahub, ["check", "metadata-file", {str(settings.filename)!r}]).output)
source = {{"type": "file", "config": {{"path": {str(settings.filename)!r}}}}}
sink = {{"type": "file", "config": {{"filename": {str(tmp_path / "read.json")!r}}}}}
pipeline = Pipeline.create({{"source": source, "sink": sink}})
pipeline.run()
pipeline.raise_from_status()
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "DATAHUB_TELEMETRY_ENABLED": "false", "HOME": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    assert "all valid" in done.stdout

    written, read = (json.loads((tmp_path / name).read_text()) for name in ("lineage.json", "read.json"))
    assert [_without_system(one) for one in read] == [_without_system(one) for one in written]
    assert written[:3] == in_files(changes.proposals(batch(SAID)))
    model = Model()
    model.take(read)
    assert (model.upstreams, model.columns) == ({}, set())


def _without_system(proposal: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in proposal.items() if key != "systemMetadata"}


def test_a_file_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text('{"a": 1}')
    settings = file_settings.DatahubFileSettings(filename=tmp_path / "other.json")
    with pytest.raises(ConfigError, match="no list of proposals"), file_sink.open_sink(settings, RUN):
        pass


def test_without_the_library_one_line_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "connectors.datahub.changes", raising=False)
    monkeypatch.setitem(sys.modules, "datahub", None)
    for name in [one for one in sys.modules if one.startswith("datahub.")]:
        monkeypatch.setitem(sys.modules, name, None)
    settings = file_settings.DatahubFileSettings(filename=tmp_path / "x.json")
    with pytest.raises(ConfigError, match=r"pip install 'headwater\[datahub\]'"), file_sink.open_sink(settings, RUN):
        pass


def test_what_datahub_has_no_place_for_is_told_in_one_line(service: Service) -> None:
    decides = column("day", "", subtype=Subtype.FILTER)
    candidate = column("net", "gmv", certain=False)
    through = contribution(column("total", "gmv"), decides, candidate, temp_lineage_tables=(("a", "tmp"), ("tmp", "b")))
    many = [EntityReference(f"m{number}", "table", "m", f"shop.db.s.m{number}") for number in range(301)]
    wide = TargetBatch(BAD, tuple(request_of(one, BAD, [contribution()]) for one in many))
    service.refused = "nothing"
    with rest_sink.open_sink(service.settings(), RUN) as sink:
        report = sink.write([batch(through), wide])
    assert (report.counts.new, report.counts.column_edges) == (302, 1)
    assert [*service.settings().losses(report.counts)] == [
        "DataHub cannot hold all: columns that only decide (filters, joins): 1 edges without them; "
        "columns that are one of several candidates: 1 left out; temporary tables on the way: 1 edges without them; "
        "more than 300 upstreams or 2,000 column edges of a table: 1 tables have more, all of it is written, "
        "and its own connectors cut there"
    ]
    assert not [*service.settings().losses(EdgeCounts(new=3))]


def test_an_edge_of_tables_that_is_no_more_than_possible_says_so(service: Service) -> None:
    with rest_sink.open_sink(service.settings(), RUN) as sink:
        sink.write([batch(contribution(confidence=0.4))])
        assert service.model.upstreams[SOURCE_URN]["properties"]["headwater.certainty"] == "possible"
        sink.write([batch(contribution(confidence=0.4), contribution(key="other"))])
    assert "headwater.certainty" not in service.model.upstreams[SOURCE_URN]["properties"]
