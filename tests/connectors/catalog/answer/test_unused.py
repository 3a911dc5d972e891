"""What nobody reads, in rows: one by one where it is little; of many a summary, and the names of all."""

from __future__ import annotations

from connectors.catalog.answer.pages import DEFAULT_BUDGET, AnswerRows
from connectors.catalog.answer.unused import unused_rows
from connectors.catalog.questions.unused import LastTime, StarColumn, Unused, UnusedReport
from connectors.catalog.store.evidence.readers import RunTotals

UNTIL = 1_790_000_000_000
SCHEMAS = ("lake.main.raw", "lake.main.core", "lake.main.mart")


def report(number: int, columns: int = 0) -> UnusedReport:
    cost = RunTotals(runs=3, statements=1, seconds=90.0, bytes=None, credits=None, at=0, writer="", job="")
    written = LastTime(UNTIL - 1, "etl")
    tables = tuple(
        Unused("table", f"{SCHEMAS[one % 3]}.order_items_{one}", f"id{one}", last_written=written, cost=cost)
        for one in range(number)
    )
    unread = tuple(Unused("column", f"{SCHEMAS[2]}.sales", "id", f"unused_{one}") for one in range(columns))
    stars = (StarColumn(f"{SCHEMAS[2]}.sales.note", LastTime(UNTIL)),)
    counts = {"tables": number, "tablesRead": 0, "tablesUnread": number, "columns": 9}
    counts |= {"columnsUnread": columns, "columnsOnlyByStar": 1}
    return UnusedReport(90, 0, UNTIL, 0, (), counts, {}, tables, unread, stars)


def pages(answer: AnswerRows) -> list[str]:
    found, cursor = [], None
    while not found or cursor is not None:
        page = answer.page(DEFAULT_BUDGET, cursor)
        found.append(page.text)
        cursor = page.cursor
    return found


def test_little_is_told_one_by_one() -> None:
    text = unused_rows(report(3)).page().text
    assert text.count("[3 runs, 1 min 30 s]") == 3
    assert "schema" not in text


def test_of_many_the_first_page_begins_with_a_summary_and_no_name_is_left_out() -> None:
    found = pages(unused_rows(report(258, columns=30)))
    assert len(found) <= 3
    assert "schema ~raw: 86 unread, 258 runs, 2 h 9 min; ask etl 86" in found[0]
    assert found[0].count("[3 runs, 1 min 30 s]") == 5
    whole = "\n".join(found)
    assert all(f"order_items_{one}" in whole for one in range(258))
    assert all(f"unused_{one}" in whole for one in range(30)) and "only by SELECT *" in whole
    assert "ask by the name of a schema or a table" in found[0]
