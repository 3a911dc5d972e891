"""Events to intervals: a pure function, whatever the order of the events."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from connectors.catalog.store.entities.name_events import NameLifetime
from connectors.catalog.store.lineage.intervals import Events, Interval, Retraction, Sighting, Subject, intervals

VIEW = Subject("a", "v", "view", "v", "ViewLineage")


def seen(first: int, last: int | None = None, batch: str = "b1") -> Sighting:
    return Sighting(batch, first, first if last is None else last)


def ended(at: int, until: int | None = None, batch: str = "b2", **scope: object) -> Retraction:
    return Retraction(at, at if until is None else until, batch, **scope)  # type: ignore[arg-type]


def spans(found: list[Interval]) -> list[tuple[str, str, int, int | None]]:
    return [(one.from_id, one.to_id, one.start, one.end) for one in found]


class TestEndings:
    def test_without_events_a_sighting_holds_for_ever(self) -> None:
        assert intervals(VIEW, [seen(5, 9)], Events()) == [Interval("a", "v", 5, None, 9)]

    def test_a_redefinition_ends_what_it_does_not_hold(self) -> None:
        scope = ended(20, kind="view", key="v", to_id="v", source="ViewLineage")
        assert spans(intervals(VIEW, [seen(5)], Events([scope]))) == [("a", "v", 5, 20)]

    def test_a_redefinition_keeps_what_it_holds(self) -> None:
        scope = ended(20, to_id="v", batch="b2")
        assert spans(intervals(VIEW, [seen(5), seen(20, batch="b2")], Events([scope]))) == [("a", "v", 5, None)]

    def test_what_is_said_after_a_redefinition_stands(self) -> None:
        scope = ended(20, to_id="v")
        assert spans(intervals(VIEW, [seen(5), seen(30, batch="b3")], Events([scope]))) == [
            ("a", "v", 5, 20),
            ("a", "v", 30, None),
        ]

    def test_a_batch_that_knows_better_about_the_same_time_voids_the_old_word(self) -> None:
        assert intervals(VIEW, [seen(5, 9)], Events([ended(5, 9, to_id="v")])) == []

    def test_other_scopes_end_nothing(self) -> None:
        for scope in (
            ended(20, to_id="w"),
            ended(20, to_id="v", kind="query"),
            ended(20, to_id="v", kind="view", key="other"),
            ended(20, to_id="v", source="QueryLineage"),
            ended(20, to_id="v", from_id="b"),
            ended(20, pipeline_id="p"),
        ):
            assert spans(intervals(VIEW, [seen(5)], Events([scope]))) == [("a", "v", 5, None)]

    def test_a_manual_edge_ends_only_by_hand(self) -> None:
        for manual in (replace(VIEW, kind="manual"), replace(VIEW, kind="wire", source="Manual")):
            assert spans(intervals(manual, [seen(5)], Events([ended(20, to_id="v")]))) == [("a", "v", 5, None)]
            by_hand = ended(20, to_id="v", manual=True)
            assert spans(intervals(manual, [seen(5)], Events([by_hand]))) == [("a", "v", 5, 20)]


class TestNames:
    def lives(self, **found: list[NameLifetime]) -> Events:
        return Events((), found)

    def test_a_dropped_target_takes_its_lineage_with_it(self) -> None:
        events = self.lives(v=[NameLifetime(20, None, 30)])
        assert spans(intervals(VIEW, [seen(5)], events)) == [("a", "v", 5, 20)]

    def test_a_dropped_source_is_read_again_when_its_name_is_given_again(self) -> None:
        assert spans(intervals(VIEW, [seen(5)], self.lives(a=[NameLifetime(20, None)]))) == [("a", "v", 5, 20)]
        events = self.lives(a=[NameLifetime(20, None, 30)])
        assert spans(intervals(VIEW, [seen(5)], events)) == [("a", "v", 5, 20), ("a", "v", 30, None)]

    def test_lineage_follows_renames(self) -> None:
        events = self.lives(v=[NameLifetime(20, "w")], w=[NameLifetime(30, "x")])
        assert spans(intervals(VIEW, [seen(5)], events)) == [
            ("a", "v", 5, 20),
            ("a", "w", 20, 30),
            ("a", "x", 30, None),
        ]

    def test_a_swap_moves_each_to_the_others_name(self) -> None:
        events = self.lives(v=[NameLifetime(20, "w", 20)], w=[NameLifetime(20, "v", 20)])
        assert spans(intervals(VIEW, [seen(5)], events))[-1] == ("a", "w", 20, None)
        assert spans(intervals(replace(VIEW, to_id="w"), [seen(5)], events))[-1] == ("a", "v", 20, None)

    def test_events_before_the_last_sight_change_nothing(self) -> None:
        events = self.lives(v=[NameLifetime(20, None)])
        assert spans(intervals(VIEW, [seen(5, 25)], events)) == [("a", "v", 5, None)]

    def test_an_edge_leads_from_an_entity_to_itself_only_where_it_was_said_to(self) -> None:
        events = self.lives(v=[NameLifetime(20, "a")])
        assert spans(intervals(VIEW, [seen(5)], events)) == [("a", "v", 5, 20)]
        assert spans(intervals(replace(VIEW, to_id="a"), [seen(5)], Events())) == [("a", "a", 5, None)]

    def test_a_redefinition_finds_what_was_renamed_into_its_place(self) -> None:
        events = Events([ended(40, to_id="w")], {"v": [NameLifetime(20, "w")]})
        assert spans(intervals(VIEW, [seen(5)], events)) == [("a", "v", 5, 20), ("a", "w", 20, 40)]


times = st.integers(0, 20)
sightings = st.lists(
    st.builds(lambda b, x, y: Sighting(f"b{b}", min(x, y), max(x, y)), st.integers(0, 3), times, times),
    min_size=1,
    max_size=6,
)
endings = st.lists(
    st.builds(
        lambda at, more, b, to: Retraction(at, at + more, f"b{b}", to_id=to),
        times,
        st.integers(0, 5),
        st.integers(0, 5),
        st.sampled_from(["v", "w"]),
    ),
    max_size=4,
)
lives = st.dictionaries(
    st.sampled_from(["a", "v", "w"]),
    st.lists(
        st.builds(
            lambda at, other, back: NameLifetime(at, other, None if back is None else at + back),
            times,
            st.sampled_from([None, "w", "x"]),
            st.none() | st.integers(0, 5),
        ),
        max_size=3,
    ).map(lambda found: sorted(found, key=lambda life: life.at)),
    max_size=3,
)


@given(sightings, endings, lives, st.randoms())
def test_order_and_repetition_of_events_do_not_matter(
    said: list[Sighting], scopes: list[Retraction], known: dict[str, list[NameLifetime]], chance: random.Random
) -> None:
    expected = intervals(VIEW, said, Events(scopes, known))
    shuffled, doubled = [*said], [*scopes, *scopes]
    chance.shuffle(shuffled)
    chance.shuffle(doubled)
    assert intervals(VIEW, [*shuffled, *said], Events(doubled, known)) == expected


@given(sightings, endings, lives)
def test_intervals_of_an_edge_are_apart_and_not_empty(
    said: list[Sighting], scopes: list[Retraction], known: dict[str, list[NameLifetime]]
) -> None:
    found = intervals(VIEW, said, Events(scopes, known))
    by_edge: dict[tuple[str, str], list[Interval]] = {}
    for one in found:
        assert one.end is None or one.end > one.start
        by_edge.setdefault((one.from_id, one.to_id), []).append(one)
    for parts in by_edge.values():
        for earlier, later in pairwise(parts):
            assert earlier.end is not None
            assert earlier.end < later.start


def test_of_two_whole_truths_about_one_moment_the_one_told_later_holds() -> None:
    first, second = seen(5, 5, "b1"), seen(4, 4, "b2")
    endings = [ended(5, 5, "b1", to_id="v", filed_at=1), ended(4, 5, "b2", to_id="v", filed_at=2)]
    assert intervals(VIEW, [first], Events(endings)) == []
    (remaining,) = intervals(VIEW, [second], Events(endings))
    assert remaining.end is None
