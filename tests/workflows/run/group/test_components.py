"""Which templates hang together, and how they are packed."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import pytest

from ingestion.binding.name_states import Meaning
from ingestion.model.lineage import StatementKind, TableChange, TableName, TableUsageNames, WriteMode
from ingestion.model.namespaces import NamespaceDefaults
from workflows.run.group.components import MentionedNames, Mentions, shards_of
from workflows.run.group.occurrences import GroupedRuns
from workflows.run.group.runs import StatementRuns, Tally

DEFAULTS = NamespaceDefaults("db", "public")


def usage(text: str) -> TableUsageNames:
    """`a b > c` reads a and b and writes c; `> +c` makes it; `-c` drops it; `c => d` renames it."""
    read, _, written = text.partition(" > ")
    if "=>" in text:
        old, new = (TableName(tuple(part.strip().split("."))) for part in text.split("=>"))
        return TableUsageNames((), (), (), (TableChange(StatementKind.RENAME, old, other=new),))
    if text.startswith("-"):
        return TableUsageNames((), (), (), (TableChange(StatementKind.DROP, TableName((text[1:],))),))
    name = TableName(tuple(written.lstrip("+").split(".")))
    made = written.startswith("+")
    writes = ((name, False, WriteMode.CREATE if made else WriteMode.APPEND),) if written else ()
    reads = tuple(TableName(tuple(part.split("."))) for part in read.split())
    return TableUsageNames(reads, ((name, False),) if made else (), writes, ())


def batches(
    texts: Iterable[str],
    most: int = 1,
    paths: Iterable[str] = (),
    doubtful: Collection[str] = (),
    plans: Collection[str] | None = (),
    routines: dict[str, str] | None = None,
) -> list[list[str]]:
    """The statements of each batch; the first of `paths` belongs to the first one."""
    given = [*texts]
    places = [*paths, *["public"] * len(given)]
    tallies = []
    for number, text in enumerate(given):
        runs = StatementRuns(text, "", tuple(places[number].split()), (routines or {}).get(text), False)
        moment = (float(number), "f", number, 0, 0)
        tallies.append(Tally(runs, Meaning(), moment, moment, 1))
    names = MentionedNames({text: usage(text) for text in given}, plans)
    runs_of_log = GroupedRuns(tallies, 2)
    asked: list[str] = []

    def doubts(mentions: Mentions) -> Collection[str]:
        asked.extend(mentions)
        return [name for name in mentions if name in doubtful]

    found = shards_of(runs_of_log, names, most, doubts, DEFAULTS)
    assert sorted(number for batch in found for number in batch) == list(range(len(given)))
    return [[group.template for group in runs_of_log.occurrences(batch)] for batch in found]


def test_what_only_reads_a_table_hangs_together_with_nobody() -> None:
    assert batches(["a > x", "a > y"]) == [["a > x"], ["a > y"]]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("a > +b", "b > c"),  # who reads what the log makes
        ("a > +B", "s.b > c"),  # whatever the case and the schema
        ("a > x", "b > s.x"),  # who writes one table
        ("-a", "a > x"),
        ("a => b", "b > x"),
        ("a => b", "a > x"),
    ],
)
def test_what_may_mean_something_else_because_of_another_is_not_parted(first: str, second: str) -> None:
    assert batches([first, "alone > far", second]) == [[first, second], ["alone > far"]]


def test_a_routine_is_not_parted() -> None:
    given = ["a > x", "alone > far", "b > y"]
    assert batches(given, routines={"a > x": "r", "b > y": "r"}) == [["a > x", "b > y"], ["alone > far"]]


def test_who_reads_what_a_plan_wrote_sees_its_columns() -> None:
    assert batches(["a > x", "x > y"]) == [["a > x"], ["x > y"]]
    for plans in (("a > x",), None):
        assert batches(["a > x", "x > y"], plans=plans) == [["a > x", "x > y"]]


def test_a_name_that_is_said_in_several_ways_joins_where_its_place_is_not_sure() -> None:
    given, paths = ["t > x", "t > y", "u > z"], ["public", "web public", "public"]
    assert batches(given, paths=paths, doubtful=["t", "u"]) == [["t > x", "t > y"], ["u > z"]]
    assert batches(given, paths=paths) == [["t > x"], ["t > y"], ["u > z"]]
    assert batches(["t > x", "t > y"], paths=["web", "public"], doubtful=["t"]) == [["t > x"], ["t > y"]]


def test_above_the_limit_a_batch_has_a_quarter_of_it_and_a_large_component_is_alone() -> None:
    given = ["a > u", "a > v", "a > +m", "m > w", "m > x", "a > y", "a > z", "b > o", "b > p"]
    large, pairs = ["a > +m", "m > w", "m > x"], [["a > y", "a > z"], ["b > o", "b > p"]]
    assert batches(given, most=8) == [["a > u", "a > v"], large, *pairs]
    assert batches(given, most=1) == [["a > u"], ["a > v"], large, *([one] for pair in pairs for one in pair)]
    assert batches(given, most=9) == [given]
