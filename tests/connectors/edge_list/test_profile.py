"""What a row of a list says, by whatever names people give to its columns."""

from __future__ import annotations

import pytest

from connectors.edge_list._profile import edge_profile
from connectors.platforms.profile import EngineLineage, MalformedLineage
from ingestion.model.lineage import NameKind, StatementLineage, Subtype


def read(dialect: str = "postgres", **cells: str) -> StatementLineage | None:
    lineage = edge_profile("shop", dialect).lineage
    assert isinstance(lineage, EngineLineage)
    return lineage.read([cells.get(name, "") for name in lineage.columns])


def flow_of(**cells: str):
    found = read(**{"source": "s.a", "target": "s.b", **cells})
    assert found is not None
    return found.flows[0]


def test_names_of_its_own_service_carry_none_and_those_of_another_do() -> None:
    found = read(source="shop.db.s.a", target="hub.db.s.b")
    assert found is not None
    assert found.sources[0].parts == ("db", "s", "a")
    assert found.targets[0].parts == ("hub", "db", "s", "b")


def test_a_name_may_stand_in_several_cells() -> None:
    found = read(from_table="a", from_schema="s", source_database="db", target_table="t", target_schema="x")
    assert found is not None
    assert (found.sources[0].parts, found.targets[0].parts) == (("db", "s", "a"), ("x", "t"))


@pytest.mark.parametrize(
    ("cell", "path"),
    [
        ("/srv/in/part-?.csv", "/srv/in/part-?.csv"),
        ("abfss://landing@account.dfs.core.windows.net/in", "abfss://landing@account.dfs.core.windows.net/in"),
        ("s3://key:wo/rd@bucket/in", "s3://bucket/in"),
        ("s3://key:word@bucket/in/x.csv?sig=abc", "s3://bucket/in/x.csv"),
    ],
)
def test_a_path_is_read_without_its_secrets(cell: str, path: str) -> None:
    found = read(upstream=cell, downstream="s.b")
    assert found is not None
    assert (found.sources[0].kind, found.sources[0].dotted) == (NameKind.PATH, path)


def test_a_connection_is_no_name_and_is_not_repeated() -> None:
    with pytest.raises(MalformedLineage, match="source is neither a table nor a path of files") as raised:
        read(source="jdbc:postgresql://ann:word@h/db?password=word", target="s.b")
    assert "word" not in str(raised.value)


@pytest.mark.parametrize(
    ("cells", "subtype", "expression"),
    [
        ({"to_column": "y"}, Subtype.TRANSFORMATION, ""),
        ({}, Subtype.FILTER, ""),
        ({"to_column": "y", "transformation": "Group by"}, Subtype.GROUP_BY, ""),
        ({"to_column": "y", "transformation": "trim(x) || 'kg'"}, Subtype.TRANSFORMATION, "trim(x) || ?"),
        ({"to_column": "y", "kind": "Indirect"}, Subtype.FILTER, ""),
        ({"to_column": "*", "formula": "x = 'secret'"}, Subtype.FILTER, "x = ?"),
        ({"to_column": "y", "rule": "'no end"}, Subtype.TRANSFORMATION, "?"),
    ],
)
def test_how_a_column_is_made(cells: dict[str, str], subtype: Subtype, expression: str) -> None:
    flow = flow_of(from_column="x", **cells)
    reference = next(flow.references())
    assert (reference.transformation.subtype, reference.expression) == (subtype, expression)
    assert [output.name for output in flow.outputs] == ([] if cells.get("to_column", "*") == "*" else ["y"])


def test_a_cell_may_name_several_columns_where_its_column_says_so() -> None:
    assert [one.sources[0].column for one in flow_of(from_columns="a, b;c", to_column="y").references()] == [
        *("a", "b", "c")
    ]
    assert [one.sources[0].column for one in flow_of(source_column="a, b", to_column="y").references()] == ["a, b"]


@pytest.mark.parametrize(
    ("said", "certain"),
    [("", True), ("certain", True), ("1", True), ("100 %", True), ("0.7", False), ("60%", False), ("maybe", False)],
)
def test_what_is_not_certain_says_so(said: str, *, certain: bool) -> None:
    column = next(flow_of(source_column="x", target_column="y", confidence=said).references())
    whole = read(source="s.a", target="s.b", confidence=said)
    assert whole is not None
    assert (column.certain, whole.doubted) == (certain, not certain)


def test_an_empty_row_says_nothing() -> None:
    assert read(source="  ") is None


@pytest.mark.parametrize(
    ("cells", "problem"),
    [
        ({"source": ""}, "source is missing"),
        ({"target": "a..b"}, "target is no name: a part of it is empty"),
        ({"source": "a.b.c.d.e"}, "source has more parts than service, database, schema and table"),
        ({"target_column": "y"}, "source_column is missing, and target_column is given"),
        ({"source_column": "x", "kind": "direct"}, "target_column is missing, and kind is direct"),
        ({"source_column": "x", "kind": "strong"}, "kind is neither direct nor indirect"),
        (
            {"source_column": "x", "target_column": "y", "kind": "direct", "transformation": "filter"},
            "kind and transformation contradict each other",
        ),
        ({"source_column": "x", "masking": "perhaps"}, "masking is neither yes nor no"),
        ({"certainty": "hm"}, "certainty is neither certain nor possible, nor a number"),
    ],
)
def test_what_is_wrong_is_told_by_its_column_without_its_content(cells: dict[str, str], problem: str) -> None:
    with pytest.raises(MalformedLineage) as raised:
        read(**{"source": "s.a", "target": "s.b", **cells})
    assert str(raised.value) == problem


@pytest.mark.parametrize(
    ("cell", "parts"),
    [
        ("[s].[a b]", ("s", "a b")),
        ("[s].[a]]b]", ("s", "a]b")),
        ("`s`.`a``b`", ("s", "a`b")),
        ('="s.a"', ("s", "a")),
        ("\u200bs.a\ufeff", ("s", "a")),
        ("s.a[1]", ("s", "a[1]")),
    ],
)
def test_a_name_is_read_as_engines_quote_it_and_spreadsheets_leave_it(cell: str, parts: tuple[str, ...]) -> None:
    found = read(source=cell, target="s.b")
    assert found is not None
    assert found.sources[0].parts == parts


@pytest.mark.parametrize(
    ("word", "certain"), [("0,8", False), ("1,0", True), ("80 %", False), ("WAHR", True), ("non", False)]
)
def test_certainty_is_read_as_spreadsheets_of_other_languages_write_it(word: str, certain: bool) -> None:
    found = read(source="s.a", target="s.b", certainty=word)
    assert found is not None
    assert found.doubted is not certain


def test_the_second_row_of_a_header_is_no_edge() -> None:
    with pytest.raises(MalformedLineage, match="second row of the header"):
        read(source="Table", target="table")
    assert read(source="s.table", target="s.table") is not None
