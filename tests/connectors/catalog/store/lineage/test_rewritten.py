"""What a job says since it was rewritten ends what it said before, in whatever order and cut its runs are filed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from connectors.catalog.store.lineage.reads import contributions_between
from connectors.catalog.store.schema import intervals
from tests.support.examples import examples
from tests.support.made_catalog import MadeCatalog

ORDERS, REFUNDS, SALES = "s.d.p.orders", "s.d.p.refunds", "s.d.p.sales"
DAY = 86_400_000
START = 20_000 * DAY + 7_200_000
JOB = "0123456789abcdef"
Run = tuple[int, str, str]
"""Day, source table, source column."""

HISTORY: tuple[Run, ...] = (
    *((day, ORDERS, "total") for day in range(1, 6)),
    *((day, ORDERS, "net") for day in range(6, 9)),
    *((day, REFUNDS, "net") for day in range(6, 9)),
)


def made(file: Path) -> MadeCatalog:
    catalog = MadeCatalog(file)
    catalog.add_tables({ORDERS: ["total", "net"], REFUNDS: ["net"], SALES: ["revenue"]})
    return catalog


def at(day: int) -> int:
    return START + day * DAY


def file(catalog: MadeCatalog, runs: Iterable[Run], *, slots: bool = True) -> None:
    for day, source, column in runs:
        said = {
            "producer": {"kind": "query", "key": f"{column:0>8}"},
            "columns": [{"from": [f"{source}.{column}"], "to": f"{SALES}.revenue"}],
            "records": [f"{day:08x}"],
        }
        ran = [{"key": JOB, "first": at(day), "last": at(day)}] if slots else []
        catalog.add_edges([(source, SALES, {**said, "slots": ran})], at(day))


def lineage(catalog: MadeCatalog) -> set[tuple[str, str, int, int | None]]:
    """Every interval: source, key of the statement, days."""
    with catalog.database.read() as connection:
        found = set()
        for source in (ORDERS, REFUNDS):
            edge = catalog.id_of(source), catalog.id_of(SALES)
            where = intervals.c.from_id == edge[0], intervals.c.to_id == edge[1]
            for row in connection.execute(select(intervals).where(*where)):
                end = None if row.end is None else (row.end - START) // DAY
                found.add((source, str(row.version_id), (row.start - START) // DAY, end))
        return found


def standing(catalog: MadeCatalog, source: str = ORDERS) -> list[str]:
    with catalog.database.read() as connection:
        views = contributions_between(connection, (catalog.id_of(source), catalog.id_of(SALES)))
        return sorted(view.content["columns"][0]["from"][0] for view in views)


def spans(catalog: MadeCatalog) -> set[tuple[str, int, int | None]]:
    return {(source, start, end) for source, _version, start, end in lineage(catalog)}


def test_the_older_word_ends_when_the_newer_came_and_the_past_keeps_it(tmp_path: Path) -> None:
    catalog = made(tmp_path / "c.db")
    file(catalog, HISTORY)
    assert standing(catalog) == ["net"]
    assert standing(catalog, REFUNDS) == ["net"]
    assert spans(catalog) == {(ORDERS, 1, 6), (ORDERS, 6, None), (REFUNDS, 6, None)}


def test_it_ends_too_where_another_table_is_read_since(tmp_path: Path) -> None:
    catalog = made(tmp_path / "c.db")
    file(catalog, [one for one in HISTORY if one[1:] != (ORDERS, "net")])
    assert spans(catalog) == {(ORDERS, 1, 6), (REFUNDS, 6, None)}


def test_the_old_statement_run_again_stands_again(tmp_path: Path) -> None:
    catalog = made(tmp_path / "c.db")
    file(catalog, [*HISTORY, (9, ORDERS, "total")])
    assert standing(catalog) == ["net", "total"]


def test_told_without_slots_both_stand_again(tmp_path: Path) -> None:
    catalog = made(tmp_path / "c.db")
    file(catalog, HISTORY)
    file(catalog, [(day, ORDERS, "net") for day in (6, 7)], slots=False)
    file(catalog, [(6, REFUNDS, "net")], slots=False)
    assert standing(catalog) == ["net", "total"]


@settings(max_examples=examples(5), suppress_health_check=list(HealthCheck), deadline=None)
@given(data=st.data())
def test_the_order_and_repetition_of_what_is_filed_changes_nothing(
    data: st.DataObject, tmp_path_factory: object
) -> None:
    history: Sequence[Run] = [
        *HISTORY,
        *data.draw(st.lists(st.sampled_from([(3, ORDERS, "net"), (9, ORDERS, "total")]))),
    ]
    shuffled = data.draw(st.permutations([*history, *data.draw(st.lists(st.sampled_from(history), max_size=3))]))
    found = []
    for runs in (history, shuffled):
        catalog = made(tmp_path_factory.mktemp("order") / "c.db")  # type: ignore[attr-defined]
        file(catalog, runs)
        found.append((spans(catalog), standing(catalog), standing(catalog, REFUNDS)))
    assert found[0] == found[1]
