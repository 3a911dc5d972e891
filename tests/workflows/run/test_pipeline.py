"""The list of a run's stages: it can be printed, and each takes what one before it gives."""

from __future__ import annotations

from pyspark.sql import SparkSession

from workflows.run.pipeline import STAGES


def test_each_stage_takes_what_one_before_it_gives() -> None:
    given: set[type] = set()
    for stage in STAGES:
        assert {*stage.takes, *stage.may_take} <= given, stage
        assert given.isdisjoint(stage.gives), stage
        given |= set(stage.gives)


def test_what_a_stage_gives_is_taken_by_a_later_one() -> None:
    for number, stage in enumerate(STAGES, 1):
        taken = {kind for later in STAGES[number:] for kind in (*later.takes, *later.may_take)}
        assert set(stage.gives) <= taken, stage


def test_where_a_log_is_as_before_all_that_would_be_read_of_it_is_skipped() -> None:
    """They take what is read, or something that is made of it: but for the one that tells so, and one of no log."""
    of_the_log = {SparkSession}
    for stage in STAGES:
        if of_the_log & set(stage.takes):
            of_the_log |= set(stage.gives)
    assert [stage.name for stage in STAGES if of_the_log.isdisjoint(stage.takes)] == [
        "as before", "start spark", "dashboards",
    ]  # fmt: skip


def test_the_list_can_be_printed() -> None:
    assert "\n".join(map(str, STAGES)) == (
        "as before: - -> -\n"
        "start spark: - -> SparkSession\n"
        "read: SparkSession -> Statements, GatheredRows\n"
        "parse: Statements -> Templates\n"
        "group: Statements, Templates -> Occurrences\n"
        "bind: Statements, Occurrences -> BoundShards\n"
        "resolve: BoundShards -> ResolvedShards\n"
        "publish: ResolvedShards -> LineageResult\n"
        "stale edges: Statements, LineageResult -> -\n"
        "dashboards: - -> -\n"
        "loads: Statements, GatheredRows, LineageResult? -> -\n"
        "metrics: SparkSession, Statements, LineageResult? -> QueryChanges\n"
        "reads: Statements, LineageResult? -> -\n"
        "remember: Statements, LineageResult?, QueryChanges? -> -\n"
        "open statements: GatheredRows, LineageResult? -> -"
    )
