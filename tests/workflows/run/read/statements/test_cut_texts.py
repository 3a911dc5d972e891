"""What a text that its source has cut says: nothing of its last statement, unless it is plain what that was."""

from __future__ import annotations

from typing import cast

import pytest

from connectors.platforms.profile import TextLimit
from connectors.records import RECORD_SCHEMA
from ingestion.model.namespaces import is_readable
from ingestion.model.outcomes import Outcome
from workflows.run.read.statements import Row, rows_of


def record(text: str, status: str | None = Outcome.CUT) -> Row:
    return {**dict.fromkeys(RECORD_SCHEMA.fieldNames()), "source_id": "log.csv:2", "text": text, "status": status}


def fate_of(text: str, dialect: str = "redshift") -> list[object]:
    return [row.get("dead") or row.get("skipped") or "read" for row in rows_of([record(text)], dialect)]


@pytest.mark.parametrize(
    ("text", "dialect", "fates"),
    [
        ("insert into t select a from s", "redshift", ["cut"]),
        ("insert into t select a from s where b = 'x", "redshift", ["cut"]),
        ("create view v as select a from s union all", "redshift", ["cut"]),
        ("insert into t select a from s; insert into u select b from", "tsql", ["read", "cut"]),
        ("insert into t select a from s; select b from u where", "tsql", ["read", "select"]),
        ("create table t (a int", "redshift", ["cut"]),
        ("select a, b", "redshift", ["cut"]),  # an INTO may follow
        ("select a, (select max(b) from s", "tsql", ["cut"]),
        ("select a into t from s", "tsql", ["cut"]),
        ("select a from s where b in (1, 2", "redshift", ["select"]),
        ("select a from s where b = 'x", "redshift", ["select"]),
        ("with x as (select a from s", "tsql", ["cut"]),  # an INSERT may follow
        ("with x as (select a from s) select a from x where", "tsql", ["select"]),
        ("begin; set x to", "redshift", ["transaction", "session_setting"]),
        ("create procedure p() as $$ begin insert into t select a from s;", "redshift", ["cut"]),
        ("grant select on t to", "redshift", ["grant"]),
    ],
)
def test_the_last_statement_of_a_cut_text_is_dead_where_its_end_may_have_told_more(
    text: str, dialect: str, fates: list[str]
) -> None:
    assert fate_of(text, dialect) == fates


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("insert into t select a from s; set search_path to we", False),
        ("set search_path to web; insert into t select a from", True),
        ("use web; do $$ begin if a then set search_path to x; end if; end $$", False),
        ("set search_path to {{ pla", False),
    ],
)
def test_a_session_is_nowhere_known_behind_a_name_that_may_be_cut(text: str, *, known: bool) -> None:
    paths = (cast("list[str] | None", row["set_path"]) for row in rows_of([record(text)], "postgres"))
    assert [is_readable(path) for path in paths if path is not None][-1] is known


def test_a_whole_text_brings_its_own_though_a_cut_one_of_its_form_came_before() -> None:
    text = "insert into t select a from s"
    cut, whole = rows_of([record(text), record(text, None)], "redshift")
    assert (cut["dead"], cut.get("fingerprint"), whole.get("text")) == (Outcome.CUT, None, text)


@pytest.mark.parametrize(
    ("limit", "text", "cut"),
    [
        (TextLimit(10), "x" * 10, True), (TextLimit(10), "x" * 9, False), (TextLimit(10), "x" * 11, False),
        (TextLimit(10), "é" * 10, True), (TextLimit(10, in_bytes=True), "é" * 5, True),
        (TextLimit(10, in_bytes=True), "é" * 3, False), (TextLimit(10, in_bytes=True), "é" * 6, False),
        (TextLimit(10, in_bytes=True), "x" * 6 + "é", True), (TextLimit(10, mark="..."), "select...", True),
        (TextLimit(1000, mark="..."), "select...", False),
    ],
)  # fmt: skip
def test_a_text_just_as_long_as_it_can_be_is_cut(limit: TextLimit, text: str, cut: bool) -> None:
    assert limit.cuts(text) is cut
