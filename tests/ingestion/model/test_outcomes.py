"""The table of ends: a page of the docs says the same, and what counts statements goes by it."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingestion.model.isolation import Failure, FailureStage
from ingestion.model.outcomes import (
    Outcome,
    ProblemKind,
    RunOutcome,
    StatementEnd,
    UncoveredReason,
    WriteOutcome,
    meaning_of,
    words_of,
)

PAGE = Path(__file__).parents[3] / "docs" / "outcomes.md"
BESIDE_STATEMENTS = {FailureStage.NAMES, FailureStage.QUERIES, FailureStage.LOADS, FailureStage.EVENTS}
"""What fails there is filed beside the lineage: no statement ends for it."""
SECTIONS = {
    "## Statements, and the names that they need": Outcome,
    "## Edges that were sent": WriteOutcome,
    "## What stays open in a statement that counts": ProblemKind,
}

OTHER_SECTIONS: dict[str, type[RunOutcome] | type[UncoveredReason]] = {
    "## How a run ended": RunOutcome,
    "## Why the source of a table is not known, where no statement's end tells it": UncoveredReason,
}


def lines() -> Iterator[str]:
    """The tables of the page."""
    for title, table in SECTIONS.items():
        yield from ("", title, "", "| code | statement | what it means | what to do |", "|---|---|---|---|")
        yield from (f"| `{one}` | {one.end} | {one.sentence} | {one.advice} |" for one in table)
    for title, codes in OTHER_SECTIONS.items():
        yield from ("", title, "", "| code | what it means |", "|---|---|")
        yield from (f"| `{one}` | {one.sentence} |" for one in codes)


def test_the_page_has_the_table() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text[text.index("\n## ") :] == "\n".join(lines()) + "\n"


def test_each_stage_that_a_statement_passes_has_an_end() -> None:
    ended = [Failure(stage, "").reason for stage in FailureStage if stage not in BESIDE_STATEMENTS]
    assert {outcome.end for outcome in ended} == {StatementEnd.DEAD}


@pytest.mark.parametrize("table", [Outcome, WriteOutcome, ProblemKind])
def test_an_end_is_a_sentence_and_survives_a_pickle(table: type[Outcome]) -> None:
    for outcome in table:
        assert outcome.sentence.endswith(".")
        assert not outcome.advice or outcome.advice.endswith(".")
        assert pickle.loads(pickle.dumps(outcome)) is outcome


def test_what_follows_a_code_is_no_part_of_it() -> None:
    assert (
        meaning_of("unsupported:SaveIntoDataSource") == f"{Outcome.UNSUPPORTED.sentence} {Outcome.UNSUPPORTED.advice}"
    )
    assert meaning_of("rejected: HTTP 400: no such column").startswith(WriteOutcome.REJECTED.sentence)
    assert meaning_of("unchanged") == Outcome.UNCHANGED.sentence
    assert meaning_of("a code of long ago") == ""


def test_words_for_a_sentence_leave_out_the_advice_and_what_follows_the_code() -> None:
    assert words_of("templated (line 1)".partition(" ")[0]) == "A template was left in the text that nobody filled in"
    assert words_of("unsupported:SaveIntoDataSource") == "A write that ran, of a kind of which nothing is understood"
    assert words_of("not_written") == "No statement that was read fills it"
    assert words_of("a_code of long ago") == "a code of long ago"
    assert {end.value: end.words for end in StatementEnd}["dead"] == "given up on"


@pytest.mark.parametrize("table", [StatementEnd, RunOutcome, UncoveredReason])
def test_other_codes_have_words_and_survive_a_pickle(table: type[RunOutcome]) -> None:
    for one in table:
        assert getattr(one, "sentence", getattr(one, "words", ""))
        assert pickle.loads(pickle.dumps(one)) is one
