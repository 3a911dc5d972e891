"""Queries in M: the tables that they read, and what becomes of columns."""

from __future__ import annotations

import pytest

from connectors.powerbi._made import SqlOfRows, UnreadableQuery, connection_of, dialect_of_connection
from connectors.powerbi._power_query import PowerQueries
from connectors.powerbi._table_steps import STEPS

ORDERS = 'T = Sql.Database("host", "db"){[Schema="dbo",Item="t"]}[Data]'
OTHER = 'U = Sql.Database("host", "db"){[Schema="dbo",Item="u"]}[Data]'


def sql(text: str, *columns: str, **others: str) -> str:
    queries = PowerQueries({"Q": text, **others}, "ansi", STEPS)
    rows = queries.rows_of(queries.query("Q"))
    assert rows is not None
    connection, database = connection_of(rows)
    outputs = [(name, made) for name in columns if (made := rows.column(name)) is not None]
    return SqlOfRows(dialect_of_connection(connection), database).text(rows, outputs)


def steps(*written: str) -> str:
    """`T` with steps behind it, each of the one before: `_`."""
    text, last = f"let {ORDERS}, {OTHER}", "T"
    for number, step in enumerate(written):
        text += f', #"s {number}" = {step.replace("_", last, 1)}'
        last = f'#"s {number}"'
    return f"{text} in {last}"


@pytest.mark.parametrize(
    ("source", "origin"),
    [
        ('Sql.Database(Host, Name){[Schema="dbo",Item="t"]}[Data]', "[dbo].[t]"),
        ('Sql.Databases("h"){[Name="db"]}[Data]{[Schema="dbo",Item="t"]}[Data]', "[dbo].[t]"),
        (
            'Snowflake.Databases("h", "w", [Role="r"]){[Name="DB",Kind="Database"]}[Data]'
            '{[Name="S",Kind="Schema"]}[Data]{[Name="T",Kind="View"]}[Data]',
            '"S"."T"',
        ),
        ('GoogleBigQuery.Database(){[Name="p"]}[Data]{[Name="d"]}[Data]{[Name="t"]}[Data]', "`d`.`t`"),
        (
            'Databricks.Catalogs("h", "p", [Catalog="main"]){[Name="main",Kind="Database"]}[Data]'
            '{[Name="s",Kind="Schema"]}[Data]{[Name="t",Kind="Table"]}[Data]',
            "`s`.`t`",
        ),
        ('AmazonRedshift.Database("h", "db"){[Name="s"]}[Data]{[Name="t"]}[Data]', '"s"."t"'),
        ('PostgreSQL.Database("h", "db"){[Schema="s",Item="t"]}[Data]', '"s"."t"'),
        ('Oracle.Database("h", [HierarchicalNavigation=true]){[Schema="S"]}[Data]{[Name="T"]}[Data]', '"S"."T"'),
        ('MySQL.Database("h", "db"){[Schema="s",Item="t"]}[Data]', "`s`.`t`"),
        ('Lakehouse.Contents(null){[workspaceId="1"]}[Data]{[Id="t",ItemKind="Table"]}[Data]', "[t]"),
        ('Odbc.Query("dsn=x", "select 1")', "(\nselect 1\n)"),
        ('Sql.Database("h", "db", [Query="select 1"])', "(\nselect 1\n)"),
        ('Value.NativeQuery(Sql.Database("h", "db"), "select " & "#(#)1")', "(\nselect #1\n)"),
        ('Value.NativeQuery(Sql.Database("h", "db"), "select " & Gone)', "(\nselect {{ parameter }}\n)"),
        ('Sql.Database("h", "db", [Query=Gone])', "(\nSELECT {{ parameter }}\n)"),
        ('Sql.Database("h", Gone){[Schema="dbo",Item="t"]}[Data]', "(\nSELECT {{ parameter }}\n)"),
        ('Sql.Database("h", "db"){[Schema="dbo",Item=Text.Upper(Gone)]}[Data]', "(\nSELECT {{ parameter }}\n)"),
        (
            'Snowflake.Databases("h", "w"){[Name=Gone,Kind="Database"]}[Data]{[Name="S",Kind="Schema"]}[Data]'
            '{[Name="T",Kind="Table"]}[Data]',
            "(\nSELECT {{ parameter }}\n)",
        ),
        ('if Name = "db" then Load("t") else Load("u")', "[dbo].[t]"),
        ('try Load("t") otherwise #table({}, {})', "[dbo].[t]"),
    ],
)
def test_a_query_begins_with_a_table_or_with_sql(source: str, origin: str) -> None:
    parameters = {
        "Host": '"host" meta [IsParameterQuery=true]',
        "Name": '"db"',
        "Load": '(name as text) as table => Sql.Database(Host, Name){[Schema="dbo", Item=name]}[Data]',
    }
    assert sql(source, **parameters).removeprefix("SELECT 1 FROM ") == f"{origin} b0"


@pytest.mark.parametrize(
    ("step", "column", "expected"),
    [
        ('Table.RenameColumns(_, {{"a", "b"}, {"b", "a"}})', "a", "b0.[b]"),
        ('Table.RenameColumns(_, {"a", "b"})', "a", ""),
        ('Table.SelectColumns(_, {"a"})', "b", ""),
        ('Table.RemoveColumns(_, "a")', "a", ""),
        ("_[[a], [b]]", "c", ""),
        ('Table.AddColumn(_, "n", each [a] & Text.From(_[b]), type text)', "n", "power_bi(b0.[a], b0.[b])"),
        ('Table.AddColumn(_, "n", (row) => row[Order Date])', "n", "b0.[Order Date]"),
        (
            'Table.AddColumn(_, "n", each if [a] > 4711 then [b] else if [c] then "x" else null)',
            "n",
            "CASE WHEN NOT b0.[a] IS NULL AND NOT b0.[c] IS NULL THEN power_bi(b0.[b]) END",
        ),
        ('Table.AddColumn(_, "n", each List.Sum(Table.SelectRows(U, (u) => u[k] = 1)[v]))', "n", "NULL"),
        ('Table.TransformColumns(_, {{"a", Text.Upper, type text}})', "a", "power_bi(b0.[a])"),
        ('Table.TransformColumnTypes(_, {{"a", Int64.Type}})', "a", "b0.[a]"),
        ('Table.DuplicateColumn(_, "a", "n")', "n", "b0.[a]"),
        ('Table.SplitColumn(_, "a", Splitter.SplitTextByDelimiter(","), {"x", "y"})', "y", "power_bi(b0.[a])"),
        ('Table.SplitColumn(_, "a", Splitter.SplitTextByDelimiter(","))', "a.2", "power_bi(b0.[a])"),
        (
            'Table.CombineColumns(_, {"a", "b"}, Combiner.CombineTextByDelimiter(","), "n")',
            "n",
            "power_bi(b0.[a], b0.[b])",
        ),
        (
            'Table.Pivot(_, {"north"}, "a", "b", List.Sum)',
            "north",
            "CASE WHEN NOT b0.[a] IS NULL THEN power_bi(b0.[b]) END",
        ),
        ('Table.Pivot(_, List.Distinct(_[a]), "a", "b")', "north", ""),
        ('Table.Unpivot(_, {"x", "y"}, "name", "value")', "value", "power_bi(b0.[x], b0.[y])"),
        ('Table.UnpivotOtherColumns(_, {"x"}, "name", "value")', "value", ""),
        ('Table.ReplaceValue(_, each [a], each [b], Replacer.ReplaceValue, {"a"})', "a", "power_bi(b0.[a], b0.[b])"),
        ('Table.ExpandRecordColumn(_, "a", {"f"}, {"a.f"})', "a.f", "power_bi(b0.[a])"),
        ('Table.PrefixColumns(_, "p")', "p.a", "b0.[a]"),
        ("Table.PromoteHeaders(_)", "a", ""),
        ("Table.Nonesuch(_)", "a", ""),
    ],
)
def test_a_step_says_what_a_column_is_made_of(step: str, column: str, expected: str) -> None:
    found = sql(steps(step), column)
    shown = f"{expected} AS [{column}]" if expected else "1"
    assert found.startswith(f"SELECT {shown} FROM [dbo].[t] b0")


def test_rows_that_are_chosen_grouped_joined_or_united() -> None:
    hidden = sql(steps("Table.SelectRows(_, each [a]?[b]? <> true)"), "c")
    assert hidden == "SELECT b0.[c] AS [c] FROM [dbo].[t] b0 WHERE NOT b0.[a] IS NULL"
    assert sql(steps('Table.SelectRows(_, each [a] = "x" and [b] <> null)'), "c") == (
        "SELECT b0.[c] AS [c] FROM [dbo].[t] b0 WHERE NOT b0.[a] IS NULL AND NOT b0.[b] IS NULL"
    )
    grouped = 'Table.Group(_, {"k"}, {{"n", each List.Sum([a]), type number}, {"all", each _, type table}})'
    assert sql(steps(grouped, 'Table.ExpandTableColumn(_, "all", {"z"})'), "k", "n", "z") == (
        "SELECT b0.[k] AS [k], SUM(b0.[a]) AS [n], b0.[z] AS [z] FROM [dbo].[t] b0 GROUP BY b0.[k]"
    )
    joined = 'Table.NestedJoin(_, {"k", "l"}, U, {"m", "n"}, "U", JoinKind.Inner)'
    assert sql(steps(joined), "a") == (
        "SELECT b0.[a] AS [a] FROM [dbo].[t] b0, [dbo].[u] b1 WHERE b0.[k] = b1.[m] AND b0.[l] = b1.[n]"
    )
    summed = 'Table.AggregateTableColumn(_, "U", {{"v", List.Max, "most"}})'
    assert sql(steps(joined, summed), "most").startswith("SELECT MAX(b1.[v]) AS [most] FROM")
    assert sql(steps('Table.Combine({_, Table.RenameColumns(U, {"x", "a"})})'), "a") == (
        "SELECT b0.[a] AS [a] FROM (\nSELECT b0.[a] AS [a] FROM [dbo].[t] b0\nUNION ALL\n"
        "SELECT b0.[x] AS [a] FROM [dbo].[u] b0\n) b0"
    )
    files = 'Excel.Workbook(File.Contents("x"))'
    assert sql(steps(f"Table.Combine({{_, {files}}})"), "a") == "SELECT b0.[a] AS [a] FROM [dbo].[t] b0"
    nothing = PowerQueries({"Q": f"Table.Combine({{{files}, {files}}})"}, "ansi", STEPS)
    rows = nothing.rows_of(nothing.query("Q"))
    assert rows is not None
    assert (rows.origins, rows.unknown) == ((), ("File.Contents", "Excel.Workbook"))
    chosen = 'Table.SelectColumns(_, {"k", "a"})'
    assert sql(steps(chosen, 'Table.Join(_, "k", U, "m")'), "a", "v") == (
        "SELECT b0.[a] AS [a], b1.[v] AS [v] FROM [dbo].[t] b0, [dbo].[u] b1 WHERE b0.[k] = b1.[m]"
    )


def test_databases_of_several_kinds_are_named_in_plain_sql_but_sql_of_several_is_not_mixed() -> None:
    other = 'PostgreSQL.Database("h", "pg"){[Schema="s",Item="t"]}[Data]'
    assert sql(f'Table.Combine({{Sql.Database("h", "db"){{[Schema="dbo",Item="t"]}}[Data], {other}}})', "a") == (
        'SELECT b0."a" AS "a" FROM (\nSELECT b0."a" AS "a" FROM "db"."dbo"."t" b0\nUNION ALL\n'
        'SELECT b0."a" AS "a" FROM "pg"."s"."t" b0\n) b0'
    )
    with pytest.raises(UnreadableQuery, match="queries_of_several_databases"):
        sql(f'Table.Combine({{Sql.Database("h", "db", [Query="select 1"]), {other}}})', "a")


def test_the_id_of_a_database_is_no_name_of_it_until_somebody_gives_it_one() -> None:
    given = "0a1b2c3d-0000-4711-8000-00aabbccddee"
    text = f'Sql.Database("h", "{given}"){{[Schema="dbo",Item="t"]}}[Data]'
    for databases, expected in (({}, ""), ({given: "lake"}, "lake")):
        queries = PowerQueries({"Q": text}, "ansi", STEPS, databases)
        rows = queries.rows_of(queries.query("Q"))
        assert rows is not None
        assert rows.origins[0].path == (expected, "dbo", "t")


@pytest.mark.parametrize(
    "text",
    [
        "(" * 10_000,
        "{" * 10_000,
        "each " * 10_000,
        "if " * 10_000,
        "let x = " * 10_000,
        "f(" * 5_000 + ")" * 5_000,
        "a" + "{0}" * 10_000,
        'let x = "cut',
        "SELECT 1 FROM x",
        "/* cut",
    ],
)
def test_what_is_no_power_query_or_goes_too_deep_is_refused(text: str) -> None:
    with pytest.raises(UnreadableQuery):
        PowerQueries({"Q": text}, "ansi", STEPS).query("Q")


def test_a_query_that_multiplies_itself_or_never_ends_is_refused_or_ends() -> None:
    doubled = ", ".join(f"s{number + 1} = Table.Combine({{s{number}, s{number}}})" for number in range(40))
    many = ", ".join(f's{number + 1} = Table.RenameColumns(s{number}, {{"a", "b"}})' for number in range(3_000))
    added = ", ".join(f's{n + 1} = Table.AddColumn(s{n}, "x{n + 1}", each [x{n}] + [x{n}])' for n in range(100))
    for text in (doubled, many):
        with pytest.raises(UnreadableQuery):
            PowerQueries({"Q": f"let s0 = {ORDERS[4:]}, {text} in s0"}, "ansi", STEPS).query("Q")
    assert sql(f"let s0 = {ORDERS[4:]}, {added} in s100", "x100").startswith("SELECT power_bi(b0.[x0]) AS")
    queries = PowerQueries({"Q": "let f = (x) => @f(x), y = f(1), z = z in y", "R": "S", "S": "R"}, "ansi", STEPS)
    with pytest.raises(UnreadableQuery):
        queries.query("Q")
    assert queries.query("R") is None
