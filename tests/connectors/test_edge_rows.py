"""Cells of a list of edges: what is written is what is read, whatever a name is made of."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from connectors.edge_rows import (
    HEADER,
    ColumnWord,
    EdgeRow,
    as_text,
    column_name,
    column_text,
    is_path,
    name_text,
    producer_text,
    rows_of,
    table_parts,
    table_text,
    without_mark,
    write_rows,
)
from ingestion.model.fqn import build_fqn, encode_name, quote

PARTS = st.text(st.sampled_from("ab Z9.\"'`:/\\=+-@,;\t\nµé名[]()*?"), min_size=1, max_size=9)
FROM_TO = ("shop.db.s.a", "shop.db.s.b")


@given(st.lists(PARTS, min_size=1, max_size=4))
@example(["s3:/x", "y"])
@example(['"', "a.b", " c "])
def test_a_name_is_read_as_it_was_written(parts: list[str]) -> None:
    cell = name_text(parts)
    assert table_parts(cell) == tuple(parts)
    assert not is_path(cell)


@given(st.lists(PARTS, min_size=1, max_size=4))
def test_a_stored_name_is_written_as_the_database_has_it(parts: list[str]) -> None:
    assert table_parts(table_text(build_fqn(*parts))) == tuple(parts)


@given(PARTS)
def test_a_column_is_read_as_it_was_written(name: str) -> None:
    assert column_name(column_text(quote(encode_name(name)))) == name


@given(st.text(st.sampled_from("'=+-@\ta1 "), max_size=6))
def test_no_cell_is_a_formula_and_none_is_changed(cell: str) -> None:
    written = as_text(cell)
    assert not written.startswith(("=", "+", "-", "@", "\t"))
    assert without_mark(written) == cell


@pytest.mark.parametrize("cell", ["a..b", ".a", "a.", '""', "a. .b"])
def test_an_empty_part_is_no_name(cell: str) -> None:
    with pytest.raises(ValueError, match="empty"):
        table_parts(cell)


@pytest.mark.parametrize(("cell", "path"), [("/srv/x", True), ("s3://b/x", True), ("file:/x", True), ("a.b", False)])
def test_a_storage_path_is_told_from_a_table(cell: str, *, path: bool) -> None:
    assert is_path(cell) is path


def test_an_edge_without_columns_has_one_row_which_goes_where_columns_are_known() -> None:
    whole = list(rows_of(FROM_TO, "ann", (), 1.0))
    word = ColumnWord(["x"], "y", "IDENTITY", masking=False, expression="", certain=True, direct=True)
    out = io.StringIO()

    assert write_rows([*whole, *rows_of(FROM_TO, "ann", [word], 1.0)], out) == 1

    assert list(csv.reader(io.StringIO(out.getvalue()))) == [
        list(HEADER),
        [FROM_TO[0], "x", FROM_TO[1], "y", "direct", "identity", "", "", "certain", "ann"],
    ]


@pytest.mark.parametrize(("confidence", "certainty"), [(0.4, "possible"), (0.5, "certain"), (1.0, "certain")])
def test_an_edge_of_tables_is_as_sure_as_its_confidence(confidence: float, certainty: str) -> None:
    row: EdgeRow = next(rows_of(FROM_TO, "ann", (), confidence))
    assert row.certainty == certainty


def test_what_a_catalog_does_not_tell_is_what_a_list_takes_it_for() -> None:
    unknown = [
        ColumnWord(["x"], "y", "", masking=False, expression="", certain=True, direct=one) for one in (True, False)
    ]
    found = [row.transformation for row in rows_of(FROM_TO, "ann", unknown, 1.0)]
    assert found == ["transformation", "filter"]


def test_who_says_so_is_named_by_the_list_or_by_kind_and_key() -> None:
    assert producer_text("edge_list", "query 12ab") == "query 12ab"
    assert producer_text("query", "12ab") == "query 12ab"
