"""Who agrees on an edge, who tells otherwise, who is silent."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from ingestion.errors import ConfigError
from ingestion.model.witnesses import Column, TargetWords, Verdict, Witness, WitnessFilter, Word, witness_of

LOG, ENGINE, DBT, PERSON = Witness.LOG, Witness.ENGINE, Witness.DBT, Witness.PERSON
DAY = 86_400_000.0


def word(who: Witness, pair: str, **more: object) -> Word:
    """`orders.amount > total`; without columns on either side what is not written is not known."""
    source, _, to = (part.strip() for part in pair.partition(">"))
    table, _, path = source.partition(".")
    return Word(who, table, path or None, to or None)._replace(**more)  # type: ignore[arg-type]


def apart(_some: Iterable[Column], _column: Column) -> bool:
    return False


def verdict(*words: Word, linked: object = apart) -> str:
    """The verdict on what the first of the words says."""
    return str(TargetWords(words).verdict(words[0], linked))  # type: ignore[arg-type]


OURS = word(LOG, "orders.amount > total")
FILTER = {"direct": False}


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ((), "seen by: log"),
        ((word(ENGINE, "orders.amount > total"),), "seen by: log, engine"),
        ((word(ENGINE, "orders.price > total"),), "seen by: log; not by: engine"),
        # it speaks of another column: of this one it is silent
        ((word(ENGINE, "orders.day > day"),), "seen by: log"),
        # it knows tables alone
        ((word(ENGINE, "orders"), word(ENGINE, "prices")), "seen by: log"),
        ((word(ENGINE, "orders"), word(ENGINE, "prices.price > total")), "seen by: log"),
        ((word(ENGINE, "prices"), word(ENGINE, "prices.price > total")), "seen by: log; not by: engine"),
        # it says that the column decides over this one, or over every row
        ((word(ENGINE, "orders.amount > total", **FILTER), word(ENGINE, "rates.rate > total")), "seen by: log"),
        ((word(ENGINE, "orders.amount", **FILTER), word(ENGINE, "rates.rate > total")), "seen by: log"),
        # it is not sure, or does not know all
        ((word(ENGINE, "a.x > total", certain=False), word(ENGINE, "b.x > total")), "seen by: log"),
        ((word(ENGINE, "a.x > total"), word(ENGINE, "b.x > day", whole=False)), "seen by: log"),
        # who adds an edge does not tell of all there are
        ((word(PERSON, "a.x > total"),), "seen by: log"),
        ((word(Witness.FILE, "a.x > total"), word(Witness.TOOL, "a.x > total")), "seen by: log"),
        ((word(ENGINE, "orders.amount > total"), word(DBT, "a.x > total")), "seen by: log, engine; not by: dbt"),
        # it names a field of the column
        ((word(ENGINE, "orders.amount.net > total"),), "seen by: log"),
        ((word(ENGINE, "orders.amount_net > total"),), "seen by: log; not by: engine"),
        # an agent knows of its own jobs: of another that fills the column too it is silent
        ((word(LOG, "fees.fee > total"), word(Witness.OPENLINEAGE, "fees.fee > total")), "seen by: log"),
        ((word(LOG, "fees.fee > total"), word(ENGINE, "fees.fee > total")), "seen by: log; not by: engine"),
        ((word(Witness.OPENLINEAGE, "fees.fee > total"),), "seen by: log; not by: openlineage"),
        # what it says no more since a newer one came is no word of today
        ((word(ENGINE, "a.x > total", current=False),), "seen by: log"),
    ],
)
def test_who_speaks_of_the_column_and_does_not_say_the_edge_tells_otherwise(
    others: tuple[Word, ...], expected: str
) -> None:
    assert verdict(OURS, *others) == expected


@pytest.mark.parametrize(("pair", "how"), [("orders.day", FILTER), ("orders.day > total", FILTER), ("calendar", {})])
def test_engines_tell_of_values_alone_so_nothing_is_held_against_what_decides(pair: str, how: dict[str, bool]) -> None:
    others = word(ENGINE, "orders.price > total"), word(ENGINE, "orders.day > day")
    assert verdict(word(LOG, pair, **how), *others) == "seen by: log"


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        (5 * DAY, 6 * DAY, "seen by: log; not by: engine"),
        (2 * DAY, 3 * DAY, "seen by: log; not by: engine"),  # a night's load is at the end of one day, or of the next
        (7 * DAY, 9 * DAY, "seen by: log"),
        (0.0, 1 * DAY, "seen by: log"),
    ],
)
def test_only_who_spoke_at_that_time_tells_otherwise(first: float, last: float, expected: str) -> None:
    ours = OURS._replace(span=(4 * DAY, 5.5 * DAY))
    assert verdict(ours, word(ENGINE, "orders.price > total", span=(first, last))) == expected


def test_a_field_is_not_held_against_who_names_the_whole_column() -> None:
    city = word(LOG, "orders.address.city > town")
    assert verdict(city, word(ENGINE, "orders.address > town")) == "seen by: log"
    assert verdict(city, word(ENGINE, "orders.addr > town")) == "seen by: log; not by: engine"


def test_a_word_that_is_said_again_counts_from_when_it_came_until_it_was_seen_last() -> None:
    ours = OURS._replace(span=(4 * DAY, 5 * DAY))
    said = [word(ENGINE, "orders.price > total", span=(day * DAY, day * DAY)) for day in (9, 0, 8)]
    assert verdict(ours, *said) == "seen by: log; not by: engine"
    assert verdict(ours, *said[::2]) == "seen by: log"


def test_an_edge_that_is_not_seen_any_more_is_held_against_nobody() -> None:
    assert verdict(OURS._replace(current=False), word(ENGINE, "orders.price > total")) == "seen by: log"
    seen_again = word(DBT, "orders.amount > total")
    assert verdict(OURS._replace(current=False), word(ENGINE, "a.x > total"), seen_again) == (
        "seen by: log, dbt; not by: engine"
    )


def test_stations_of_one_way_do_not_contradict_each_other() -> None:
    """An engine that looks through a view has its base table, where the log has the view."""
    asked: list[tuple[list[Column], Column]] = []

    def linked(some: Iterable[Column], column: Column) -> bool:
        asked.append((list(some), column))
        return True

    assert verdict(OURS, word(ENGINE, "base.amount > total"), linked=linked) == "seen by: log"
    assert asked == [([("base", "amount")], ("orders", "amount"))]


def test_of_an_edge_that_is_not_certain_the_engine_tells_which_it_is() -> None:
    either = [word(LOG, f"{table}.amount > total", certain=False) for table in ("orders", "refunds")]
    words = TargetWords((*either, word(ENGINE, "orders.amount > total")))
    assert [str(words.verdict(one, apart)) for one in either] == [
        "seen by: log, engine",
        "seen by: log; not by: engine",
    ]
    assert [one.column for one in words.pairs()] == [("orders", "amount")]


@pytest.mark.parametrize(
    ("kind", "source", "witness"),
    [
        ("query", "QueryLineage", LOG),
        ("plan", "SparkLineage", LOG),
        ("view", "ViewLineage", LOG),
        ("view", "DbtLineage", DBT),
        ("engine", "QueryLineage", ENGINE),
        ("openlineage", "OpenLineage", Witness.OPENLINEAGE),
        ("manual", "Manual", PERSON),
        ("edge_list", "Manual", Witness.FILE),
        ("wire", "Manual", PERSON),
        ("wire", "QueryLineage", Witness.TOOL),
    ],
)
def test_a_producer_is_of_a_witness(kind: str, source: str, witness: Witness) -> None:
    assert witness_of(kind, source) is witness


@pytest.mark.parametrize(
    ("asked", "admitted"),
    [
        (["engine"], [True, False, True]),
        (["!log"], [False, False, True]),
        (["engine", "!log"], [False, False, True]),
        (["disputed"], [False, True, False]),
        (["Log", "disputed"], [False, True, False]),
    ],
)
def test_a_filter_admits_edges_by_who_says_them(asked: list[str], admitted: list[bool]) -> None:
    verdicts = [Verdict((LOG, ENGINE)), Verdict((LOG,), (ENGINE,)), Verdict((ENGINE,))]
    wanted = WitnessFilter.of(asked)
    assert wanted is not None
    assert [wanted.admits(one) for one in verdicts] == admitted


def test_a_filter_of_no_words_is_none_and_one_of_an_unknown_word_is_refused() -> None:
    assert WitnessFilter.of(()) is None
    with pytest.raises(ConfigError, match="nobody: no witness; give one of log, engine, openlineage, dbt"):
        WitnessFilter.of(["engine", "!nobody"])
