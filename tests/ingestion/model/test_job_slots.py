"""Which word of a job is its newest, told from the days on which it ran, in whatever order they are joined."""

from __future__ import annotations

from functools import reduce

from hypothesis import given
from hypothesis import strategies as st

from ingestion.model.job_slots import DAYS_KEPT, SLOTS_KEPT, UNKNOWN, JobSlot, RunDays, join_slots, superseding_moments

DAY = 86_400
START = 20_000 * DAY + 7_200


def ran(*days: float) -> RunDays:
    return reduce(RunDays.join, (RunDays(START + day * DAY, START + day * DAY) for day in days))


def words(slot: str = "job", **days: list[float]) -> dict[str, tuple[JobSlot, ...]]:
    return {name: (JobSlot(slot, ran(*on)),) for name, on in days.items()}


class TestRunDays:
    def test_the_longest_gap_is_between_days_that_follow_each_other(self) -> None:
        assert ran(1, 2, 3, 6, 7).longest_gap == 3
        assert ran(1).longest_gap == 0

    def test_a_gap_that_is_longer_than_days_are_kept_is_known_by_its_ends(self) -> None:
        assert ran(1, 1 + 3 * DAYS_KEPT).longest_gap == 3 * DAYS_KEPT

    @given(st.lists(st.floats(0, 200), min_size=1, max_size=12), st.data())
    def test_days_join_in_any_order_and_grouping(self, days: list[float], data: st.DataObject) -> None:
        shuffled = data.draw(st.permutations([*days, *data.draw(st.lists(st.sampled_from(days)))]))
        cut = data.draw(st.integers(1, len(shuffled)))
        parts = [part for part in (shuffled[:cut], shuffled[cut:]) if part]
        assert reduce(RunDays.join, (ran(*part) for part in parts)) == ran(*days)


class TestSlots:
    def test_a_slot_stands_once_with_all_of_its_days(self) -> None:
        assert join_slots([JobSlot("b", ran(1)), JobSlot("a", ran(4)), JobSlot("b", ran(3))]) == (
            JobSlot("a", ran(4)),
            JobSlot("b", ran(1, 3)),
        )

    def test_of_what_many_run_nothing_is_told_but_that(self) -> None:
        many = [JobSlot(f"{n:08x}", ran(n)) for n in range(SLOTS_KEPT + 1)]
        assert [slot.key for slot in join_slots(many)] == [UNKNOWN]
        assert join_slots([*join_slots(many), *many[:3]]) == join_slots(many)


class TestTheRule:
    def test_the_newer_of_a_job_that_was_rewritten_supersedes_the_older_since_it_came(self) -> None:
        found = superseding_moments(words(total=[1, 2, 3, 4, 5], net=[6, 7, 8]))
        assert found == {"total": START + 6 * DAY}

    def test_a_newer_one_of_one_day_may_have_been_an_experiment(self) -> None:
        assert superseding_moments(words(total=[1, 2, 3, 4, 5], net=[6, 6.1])) == {}

    def test_a_load_that_was_made_once_is_not_superseded(self) -> None:
        assert superseding_moments(words(history=[1], staged=[2, 3, 4, 5])) == {}

    def test_both_statements_of_one_job_stand(self) -> None:
        assert superseding_moments(words(eu=[1, 2, 3, 4, 5, 6], us=[1.01, 2.01, 3.01, 4.01, 5.01, 6.01])) == {}

    def test_of_two_statements_the_one_that_was_rewritten_goes(self) -> None:
        days = {"eu": [1, 2, 3], "us": [1.1, 2.1, 3.1, 4.1, 5.1, 6.1], "eu2": [4, 5, 6]}
        assert superseding_moments(words(**days)) == {"eu": START + 4 * DAY}

    def test_a_statement_that_only_stops_is_not_superseded_by_one_that_was_there(self) -> None:
        assert superseding_moments(words(eu=[1, 2, 3], us=[1.1, 2.1, 3.1, 4.1, 5.1, 6.1])) == {}

    def test_a_branch_of_another_rhythm_waits_for_its_day(self) -> None:
        mondays = [0, 7, 14]
        daily = [float(day) for day in range(15, 21)]
        assert superseding_moments(words(monday=mondays, others=daily)) == {}
        assert superseding_moments(words(monday=mondays, others=[*daily, 21, 22])) == {"monday": START + 15 * DAY}

    def test_a_backfill_that_runs_the_old_statement_late_makes_it_stand_again(self) -> None:
        assert superseding_moments(words(total=[1, 2, 3, 4, 5, 9], net=[6, 7, 8, 9, 10])) == {}

    def test_several_rewritings_supersede_what_was_before_each(self) -> None:
        found = superseding_moments(words(a=[1, 2], b=[3, 4], c=[5, 6]))
        assert found == {"a": START + 3 * DAY, "b": START + 5 * DAY}

    def test_other_jobs_and_other_ways_of_writing_are_other_slots(self) -> None:
        older, newer = JobSlot("nightly insert", ran(1, 2, 3)), JobSlot("nightly create", ran(4, 5, 6))
        assert superseding_moments({"older": (older,), "newer": (newer,)}) == {}

    def test_what_two_jobs_run_is_superseded_when_it_is_in_both(self) -> None:
        both = (JobSlot("a", ran(1, 2)), JobSlot("b", ran(1, 2)))
        newer = {"in a": (JobSlot("a", ran(3, 4)),)}
        assert superseding_moments({"older": both, **newer}) == {}
        newer["in b"] = (JobSlot("b", ran(5, 6)),)
        assert superseding_moments({"older": both, **newer}) == {"older": START + 5 * DAY}

    def test_what_nobody_knows_who_ran_is_not_superseded(self) -> None:
        assert superseding_moments(words(UNKNOWN, total=[1, 2, 3], net=[4, 5, 6])) == {}
        assert superseding_moments({"total": (), "net": ()}) == {}
