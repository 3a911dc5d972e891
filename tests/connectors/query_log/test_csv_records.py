from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.query_log import _csv_records as csv_records
from connectors.query_log._csv_records import RecordReader, split_lines
from connectors.query_log._interpreter import Records
from connectors.query_log._layout import Layout
from connectors.query_log._streams import CUT_LINE, TOO_LARGE
from connectors.query_log.files import QueryLogFile
from connectors.query_log.text_files import FileRange, examine_range, tile

TIMED = Layout(",", frozenset({3}), {"start_time": 0, "text": 1, "user": 2}, zone=UTC)


def read(text: str, layout: Layout = TIMED, block: int = 1000) -> Records:
    lines = split_lines(text)
    reader = RecordReader(layout)
    whole = Records()
    for at in range(0, len(lines), block):
        found = reader.feed(lines[at : at + block], last=at + block >= len(lines))
        whole.rows += found.rows
        whole.lines += found.lines
        whole.malformed += found.malformed
    return whole


def written(rows: list[list[str]], line_end: str = "\n") -> str:
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator=line_end).writerows(rows)
    return out.getvalue()


def test_records_of_many_lines_keep_the_line_they_start_on() -> None:
    found = read('2026-11-20,"select 1\n  from ""T""\n",a\n\n2026-11-20,select 2,b\r\n2026-11-21,select 3,c')
    assert found.lines == [1, 5, 6]
    assert [row[1] for row in found.rows] == ['select 1\n  from "T"\n', "select 2", "select 3"]


def test_backslashed_quotes_are_understood_where_doubled_ones_make_no_record() -> None:
    found = read('2026-11-20,"select \\"a\\" from \\"T\\"",x\n2026-11-20,"select E\'\\d\' from ""T""",y\n')
    assert [row[1] for row in found.rows] == ['select "a" from "T"', "select E'\\d' from \"T\""]
    assert not found.malformed


def test_a_wrong_number_of_columns_costs_its_own_record_only() -> None:
    found = read("2026-11-20,select 1,a\n2026-11-20,select a, b,c\n2026-11-20,select 2,b\n")
    assert found.lines == [1, 3]
    assert [(bad.line, bad.problem) for bad in found.malformed] == [(2, "more columns than the 3 expected")]


def test_an_unterminated_quote_costs_its_own_record_only() -> None:
    found = read('2026-11-20,"select 1,a\n2026-11-20,"select 2\nfrom t",b\n2026-11-20,"select 3",c\n')
    assert found.lines == [2, 4]
    assert [bad.line for bad in found.malformed] == [1]


def test_an_unterminated_quote_does_not_swallow_texts_that_begin_with_a_new_line() -> None:
    found = read('2026-11-20,"select 1,a\n2026-11-20,"\nselect 2",b\n2026-11-20,"\nselect 3",c\n')
    assert found.lines == [2, 4]
    assert [bad.line for bad in found.malformed] == [1]


def test_each_of_many_broken_records_is_counted_where_its_time_shows_its_start() -> None:
    broken = '2026-11-20,"select 1,a\n' * 3 + '2026-11-20,"select 2\n from t",a,b\n' * 2
    found = read(broken + '2026-11-20,"select 3",c\n')
    assert [bad.line for bad in found.malformed] == [1, 2, 3, 4, 6]
    assert found.lines == [8]


def test_a_quote_open_at_the_end_of_the_file_is_named_by_its_line() -> None:
    found = read('2026-11-20,select 1,a\n2026-11-20,"select 2\nfrom t\nwhere x = 1\n')
    assert found.lines == [1]
    assert [bad.line for bad in found.malformed] == [2]


def test_a_line_of_sql_in_a_broken_record_is_no_record() -> None:
    found = read('2026-11-20,"create view "v" as\nselect a,b,c\nfrom t, u, w",a\n2026-11-20,select 2,b\n')
    assert found.lines == [4]
    assert [bad.line for bad in found.malformed] == [1]


# quotes, commas, line ends and backslashes in all combinations; no lone \r, which ends a line for the csv module alone
texts = st.lists(st.sampled_from([*"ab '\",;\\\n\u2028é", "\r\n", "select "]), max_size=30).map("".join)
logs = st.lists(st.tuples(st.just("2026-11-20 08:00:00"), texts, texts).map(list), max_size=12)


@given(logs, st.integers(1, 5), st.sampled_from(["\n", "\r\n"]))
def test_what_a_csv_writer_wrote_comes_back_however_it_is_cut(rows: list[list[str]], block: int, line_end: str) -> None:
    text = written(rows, line_end)
    found = read(text, block=block)
    assert found.rows == rows
    assert not found.malformed
    starts = [written(rows[:index], line_end).count("\n") + 1 for index in range(len(rows))]
    assert found.lines == starts


@given(logs, st.integers(5, 60))
def test_ranges_of_a_file_tile_it_at_records(rows: list[list[str]], size: int) -> None:
    rows = [[row[0], row[1] or "x", row[2]] for row in rows]
    content = written(rows).encode()
    part = FileRange(QueryLogFile("x", "x", len(content)), TIMED, end=len(content))
    raw = io.BytesIO(content)
    cuts = [
        examine_range(raw, part, 0, (start, min(start + size, len(content)))) for start in range(0, len(content), size)
    ]
    slices = tile(part, cuts)
    assert (slices[0].start, slices[-1].end) == (0, len(content))
    found: list[list[str]] = []
    for piece, following in zip(slices, [*slices[1:], None], strict=True):
        assert following is None or piece.end == following.start
        assert piece.line == content[: piece.start].count(b"\n") + 1
        found += read(content[piece.start : piece.end].decode()).rows
    assert found == rows


@given(st.lists(st.one_of(logs.map(written), st.text('ab,"\\\n2\u2028', max_size=40)), max_size=8))
def test_whatever_the_bytes_are_no_line_is_read_twice_and_none_stops_the_reading(parts: list[str]) -> None:
    text = "\n".join(parts)
    found = read(text, block=2)
    lines = found.lines + [bad.line for bad in found.malformed]
    assert len(lines) == len(set(lines))
    assert all(1 <= line <= text.count("\n") + 1 for line in lines)
    assert all(len(row) == 3 for row in found.rows)


CUT = CUT_LINE.decode("utf-8", "surrogateescape")
ROW = "2026-01-0{},select {},u\n"


@pytest.mark.parametrize(
    ("long", "line"),
    [
        ('2026-01-02,"x' + CUT, 2),
        ('2026-01-02,"one\ntwo\nx' + CUT, 2),
        ("x" + CUT, 2),
        ('2026-01-02,"one' + CUT + 'two\nthree"\n', 2),
    ],
)
@pytest.mark.parametrize("block", [1, 2, 1000])
def test_a_line_that_was_too_long_costs_its_own_record_only(long: str, line: int, block: int) -> None:
    found = read(ROW.format(1, 1) + long + ROW.format(3, 3) + ROW.format(4, 4), block=block)
    assert [row[1] for row in found.rows] == ["select 1", "select 3", "select 4"]
    (malformed,) = found.malformed
    assert (malformed.line, malformed.problem) == (line, TOO_LARGE)
    before = (ROW.format(1, 1) + long).count("\n")
    assert found.lines == [1, before + 1, before + 2]


def test_a_record_of_too_many_lines_says_that_it_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_records, "MAX_RECORD_CHARS", 2_000)
    found = read(ROW.format(1, 1) + '2026-01-02,"' + "one more line\n" * 1_000 + ROW.format(3, 3), block=50)
    assert [row[1] for row in found.rows] == ["select 1", "select 3"]
    assert [(one.line, one.problem) for one in found.malformed] == [(2, TOO_LARGE)]


def test_lines_that_each_keep_a_quote_open_are_read_in_a_few_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each closes the quote of the line before and opens another: from wherever one begins, a record has no end."""
    monkeypatch.setattr(csv_records, "MAX_RECORD_CHARS", 40_000)
    reader, passed = RecordReader(TIMED), 0

    class Line(str):
        __slots__ = ()

        def __len__(self) -> int:
            nonlocal passed
            passed += super().__len__()
            return super().__len__()

    found = Records()
    lines = [ROW.format(1, 1), *map(Line, ['x",a,"\n'] * 20_000)]
    for at in range(0, len(lines), 1_000):
        found.malformed += reader.feed(lines[at : at + 1_000], last=False).malformed
    rest = reader.feed(['"\n', ROW.format(2, 2), ROW.format(3, 3)], last=True)
    assert [row[1] for row in rest.rows][-1] == "select 3"
    assert TOO_LARGE in {one.problem for one in found.malformed}
    assert passed < 200 * sum(str.__len__(line) for line in lines)


def test_a_nul_byte_in_a_text_costs_nothing_around_it() -> None:
    found = read(ROW.format(1, 1) + ROW.format(2, "\0") + ROW.format(3, 3))
    assert [row[1] for row in found.rows] == ["select 1", "select \0", "select 3"]
    assert not found.malformed


def test_those_behind_a_record_that_cannot_be_read_are_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    attempt, tried = RecordReader._attempt, list[int]()

    def counted(reader: RecordReader, lines: Iterator[str], at: int) -> csv_records._Single:
        tried.append(at)
        return attempt(reader, lines, at)

    monkeypatch.setattr(RecordReader, "_attempt", counted)
    good = [[f"2026-11-20 08:24:{second:02}", f"insert into t select {second} from s", "a"] for second in range(60)]
    found = read(f'{written(good)}2026-11-20,b\n{written(good)}2026-11-20,"select "x,c\n{written(good)}')
    assert (len(found.rows), [bad.line for bad in found.malformed]) == (180, [61, 122])
    assert set(tried) <= {60, 121, 122}
