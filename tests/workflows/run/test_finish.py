"""The end of a run: what is shown, what is written, how it exits."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from connectors.sink import EdgeCounts
from ingestion.errors import ThresholdBreached, Unaccounted
from ingestion.model.outcomes import Outcome
from workflows.counts import Pointer, RunCounts, RunSummary
from workflows.run.finish import SuccessCriteria, finish
from workflows.runtime.logs import LogFormat

GOOD = RunCounts(
    records_read=12,
    statements=10,
    published=5,
    skipped={"no lineage": 3, "failed": 1},
    dead={"timeout": 1},
    templates=6,
    parsed_by_tier={"sqlglot": 5, "sqlfluff": 1},
    timed_out=1,
    resolved=4,
    unresolved=1,
    unresolved_names={"shop.gone": 7},
    edges=EdgeCounts(new=4, column_edges=9),
)


def summary(counts: RunCounts, **changes: object) -> RunSummary:
    given: dict[str, object] = {
        "run_id": "r1",
        "workflow": "lineage.yaml",
        "started": 0.0,
        "ended": 2.0,
        "counts": counts,
        "seconds_by_stage": {"read": 0.5, "parse": 1.25},
        "where_to_look": (Pointer("catalog", "http://127.0.0.1:8585"),),
    }
    return RunSummary(**{**given, **changes})  # type: ignore[arg-type]


def test_the_table_has_every_count_and_where_to_look(capsys: pytest.CaptureFixture[str]) -> None:
    finish(summary(GOOD), SuccessCriteria(), None, LogFormat.TEXT)

    shown = capsys.readouterr().out
    rows = {line.rsplit("  ", 1)[0].strip(): line for line in shown.splitlines()}
    for label, words in {
        "records read": "12",
        "skipped": "no lineage 3, failed 1",
        "dead": "timeout 1",
        "success": "90.0 %",
        "templates": "sqlglot 5, sqlfluff 1",
        "unresolved": "shop.gone 7",
        "column edges": "9",
        "seconds": "read 0.5, parse 1.2",
    }.items():
        assert any(label in line and words in line for line in rows.values()), label
    assert "catalog: http://127.0.0.1:8585" in shown


def test_what_the_reasons_of_dead_statements_mean_is_shown_once_each(capsys: pytest.CaptureFixture[str]) -> None:
    dead = {"ill_formed:a quote": 4, "ill_formed:a comment": 3, "cut": 2, "timeout": 1, "memory": 1, "of long ago": 9}

    finish(summary(RunCounts(statements=90, published=70, dead=dead)), SuccessCriteria(70), None, LogFormat.TEXT)

    told = [line for line in capsys.readouterr().out.splitlines() if line.startswith("dead, ")]
    assert [line.split(":")[0] for line in told] == ["dead, ill_formed", "dead, cut", "dead, memory"]
    assert told[1] == f"dead, cut: {Outcome.CUT.sentence} {Outcome.CUT.advice}"


def test_names_with_markup_are_text(capsys: pytest.CaptureFixture[str]) -> None:
    counts = RunCounts(unresolved=1, unresolved_names={"[bold]x[/nope]": 1})

    finish(summary(counts), SuccessCriteria(), None, LogFormat.TEXT)

    assert "[bold]x[/nope] 1" in capsys.readouterr().out


def test_too_little_success_is_raised_after_the_report_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ThresholdBreached):
        finish(summary(GOOD), SuccessCriteria(success_percent=95), tmp_path / "r.json", LogFormat.TEXT)

    assert json.loads((tmp_path / "r.json").read_text())["exit_code"] == 3
    assert "records read" in capsys.readouterr().out
    finish(summary(GOOD), SuccessCriteria(success_percent=None), None, LogFormat.TEXT)


def test_counts_that_do_not_add_up_fail_the_run(tmp_path: Path) -> None:
    with pytest.raises(Unaccounted):
        finish(summary(RunCounts(statements=1)), SuccessCriteria(None), tmp_path / "r.json", LogFormat.TEXT)

    assert json.loads((tmp_path / "r.json").read_text())["exit_code"] == 1


def test_strict_takes_doubts_for_failures() -> None:
    finish(summary(RunCounts(statements=1, published=1)), SuccessCriteria(strict=True), None, LogFormat.TEXT)

    with pytest.raises(ThresholdBreached, match="1 dead, 1 unresolved"):
        finish(summary(GOOD), SuccessCriteria(strict=True), None, LogFormat.TEXT)
    with pytest.raises(ThresholdBreached, match="1 warnings"):
        finish(summary(RunCounts(), warnings=("quiet",)), SuccessCriteria(strict=True), None, LogFormat.TEXT)


def test_a_dry_run_leaves_standard_output_to_its_requests(capsys: pytest.CaptureFixture[str]) -> None:
    finish(summary(GOOD, dry_run=True), SuccessCriteria(), None, LogFormat.TEXT)

    captured = capsys.readouterr()
    assert captured.out == ""
    assert "nothing was sent" in captured.err


def test_json_logs_carry_the_report(capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "workflows"):
        finish(summary(GOOD), SuccessCriteria(), None, LogFormat.JSON)

    assert capsys.readouterr().out == ""
    assert caplog.records[-1].report["counts"]["published"] == 5  # type: ignore[attr-defined]
