"""Expressions in DAX: the columns that give their values, and those that decide."""

from __future__ import annotations

import pytest

from connectors.powerbi._dax import DaxModel, DaxValue, NotDax
from connectors.powerbi._model import ModelColumn, ModelMeasure, ModelTable, SemanticModel

SALES = ModelTable(
    "Sales",
    "",
    tuple(ModelColumn(name) for name in ("Amount", "Price", "Day", "Region Id")),
    (ModelMeasure("Total", "SUM(Sales[Amount])"), ModelMeasure("Loop", "[Loop] + [Total]")),
)
FUNCTIONS = {
    "Shop.Taxed": "(amount: NUMERIC, day: COLUMNREF = Sales[Day]) => CALCULATE(SUMX(Sales, amount), day) * [Total]",
    "Least": "() => MIN(Sales[Price])",
    "Round": "(x) => Round(x) + Round(x)",
    "Cut": "(x => x",
}
REGION = ModelTable("Sales Region", "", tuple(ModelColumn(name) for name in ("Id", "Name]x", "Kind")))
MODEL = SemanticModel("m", "", "", (SALES, REGION), functions=FUNCTIONS)


def read(text: str, table: str = "") -> DaxValue:
    return DaxModel(MODEL).value(text, table)


def shown(value: DaxValue) -> tuple[str, str]:
    """`SUM Sales.Amount` of each value, and of each that decides."""
    sides = (value.values, value.deciding)
    direct, deciding = (
        ", ".join(f"{one.aggregate} {one.table}.{one.column}".strip() for one in side) for side in sides
    )
    return direct, deciding


@pytest.mark.parametrize(
    ("text", "direct", "deciding"),
    [
        ("sum ( 'sales'[AMOUNT] )", "SUM Sales.Amount", ""),
        ("'Sales Region'[Name]]x]", "Sales Region.Name]x", ""),
        ("SUMX(Sales, Sales[Amount] * [Price])", "SUM Sales.Amount, SUM Sales.Price", ""),
        ("SUMX(FILTER(Sales, [Price] > 4711), [Amount])", "SUM Sales.Amount", "Sales.Price"),
        ('CALCULATE([Total], \'Sales Region\'[Kind] = "it""s")', "SUM Sales.Amount", "Sales Region.Kind"),
        ("[Total] / CALCULATE([Total], ALL(Sales[Day]))", "SUM Sales.Amount", "Sales.Day"),
        ("DIVIDE(SUM(Sales[Amount]), AVERAGE(Sales[Price]), 0)", "SUM Sales.Amount, AVG Sales.Price", ""),
        ("IF(MAX(Sales[Price]) > 1, [Total], BLANK())", "SUM Sales.Amount", "Sales.Price"),
        (
            "SWITCH(TRUE(), MAX(Sales[Day]) > 1, [Total], MIN(Sales[Price]))",
            "SUM Sales.Amount, MIN Sales.Price",
            "Sales.Day",
        ),
        ("VAR a = [Total] VAR b = MAX(Sales[Day]) RETURN IF(b > 1, a)", "SUM Sales.Amount", "Sales.Day"),
        ("TOTALYTD([Total], Sales[Day])", "SUM Sales.Amount", "Sales.Day"),
        ("COUNTROWS(VALUES(Sales[Day]))", "COUNT Sales.Day", ""),
        ("COUNTROWS(Sales)", "", ""),
        ("RELATED('Sales Region'[Kind])", "Sales Region.Kind", ""),
        ("LOOKUPVALUE(Sales[Price], Sales[Region Id], 4711)", "Sales.Price", "Sales.Region Id"),
        (
            'MAXX(ADDCOLUMNS(VALUES(Sales[Day]), "@t", [Total]), [@t])',
            "SUM Sales.Amount",
            "Sales.Day, Sales.Amount",
        ),
        ('CONCATENATEX(Sales, [Day], ", ", [Price])', "MAX Sales.Day", "Sales.Price"),
        ('{ ("x", NAMEOF(Sales[Price]), 0) }', "", "Sales.Price"),
        ("TOTALYTD([Total], Sales[Day].[Date])", "SUM Sales.Amount", "Sales.Day"),
        ("MAX('Sales'[Day] . [Month No])", "MAX Sales.Day", ""),
        (
            "shop.taxed(Sales[Price], 'Sales Region'[Kind])",
            "SUM Sales.Price, SUM Sales.Amount",
            "Sales Region.Kind",
        ),
        ("Shop.Taxed(Sales[Price])", "SUM Sales.Price, SUM Sales.Amount", "Sales.Day"),
        ("Least() + 1", "MIN Sales.Price", ""),
        ("1 + 2 // Sales[Amount]\n-- [Total]\n/* [Total] */", "", ""),
    ],
)
def test_an_expression_has_values_and_what_decides(text: str, direct: str, deciding: str) -> None:
    found = read(text)
    assert shown(found) == (direct, deciding)
    assert found.lost == 0


def test_a_name_alone_is_a_measure_or_a_column_of_the_table_at_hand_and_else_is_lost() -> None:
    assert shown(read("[Amount]", "Sales")) == ("Sales.Amount", "")
    assert read("[Amount]").lost == 1
    assert read("Sales[Nonesuch] + [Nonesuch]", "Sales").lost == 2
    assert read("SUMX(Nowhere, Nowhere[x])").lost == 1
    twice = 'SUMX(SELECTCOLUMNS(Sales, "x", Sales[Day]), 1) + SUMX(SELECTCOLUMNS(Sales, "x", Sales[Price]), [x])'
    assert read(twice).lost == 1
    once = 'SUMX(UNION(SELECTCOLUMNS(Sales, "x", Sales[Day]), SELECTCOLUMNS(Sales, "x", [Price], "y", 1)), [x])'
    assert read(once).lost == 1
    loop = DaxModel(MODEL).measure("loop")
    assert loop is not None
    assert (shown(loop)[0], loop.lost) == ("SUM Sales.Amount", 1)


def test_tables_that_are_named_are_told_and_columns_by_the_names_that_they_are_given() -> None:
    value, named = DaxModel(MODEL).table("SUMMARIZECOLUMNS('Sales Region'[Kind], Sales, \"gmv\", [Total])")
    assert value.tables == ("Sales Region", "Sales")
    assert {name: shown(one)[0] for name, one in named.items() if one is not None} == {"gmv": "SUM Sales.Amount"}


def test_a_column_that_all_tables_of_a_union_name_is_made_of_that_of_each() -> None:
    first, second = ('SELECTCOLUMNS(Sales, "k", "text", "x", Sales[Day])', 'SELECTCOLUMNS(Sales, "k", 1, "x", [Price])')
    united = f"UNION({first}, {second})"
    assert shown(read(f"MAXX({united}, [x])"))[0] == "MAX Sales.Day, MAX Sales.Price"
    _value, named = DaxModel(MODEL).table(united)
    assert {name: shown(one)[0] for name, one in named.items() if one is not None} == {
        "k": "",
        "x": "Sales.Day, Sales.Price",
    }


@pytest.mark.parametrize(
    "text",
    [
        "(" * 10_000,
        "{" * 10_000,
        "IF(" * 10_000,
        "VAR a = " * 10_000,
        "SUM(Sales[Amount]",
        'SUM("cut',
        "/* cut",
        ".[Day]",
        "Round(1)",
        "Cut(1)",
    ],
)
def test_what_is_no_dax_or_goes_too_deep_is_refused(text: str) -> None:
    with pytest.raises(NotDax):
        read(text)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("{ 1, MAX(Sales[Price]) }", {"value": "Sales.Price"}),
        ("{ (1), (2) }", {"value": ""}),
        ("{ (1, Sales[Amount]), (2, Sales[Price]) }", {"value1": "", "value2": "Sales.Amount Sales.Price"}),
        ('{ ("a") & "b", "c" }', {"value": ""}),
        ("{}", {}),
        ('DATATABLE("A", STRING, "B", INTEGER, {{"x", 1}, {"y", 2}})', {"a": "", "b": ""}),
        ("GENERATESERIES(1, MAX(Sales[Price]), 1)", {"value": "Sales.Price"}),
        ('ADDCOLUMNS(CALENDAR(MIN(Sales[Day]), TODAY()), "Y", YEAR([Date]))', {"date": "Sales.Day", "y": "Sales.Day"}),
    ],
)
def test_a_table_that_is_made_of_no_other_has_names_of_its_own(text: str, names: dict[str, str]) -> None:
    value, named = DaxModel(MODEL).table(text)
    found = {
        name: " ".join(f"{column.table}.{column.column}" for column in (*one.values, *one.deciding))
        for name, one in named.items()
        if one is not None
    }
    assert (found, value.lost) == (names, 0)


@pytest.mark.parametrize("text", ["{ 1", "{ (1, 2 }", "{ 1 2) }"])
def test_a_table_of_values_that_is_cut_is_no_dax(text: str) -> None:
    with pytest.raises(NotDax):
        DaxModel(MODEL).table(text)
