"""Power BI's projects as assets: what the query of each table, measure and visual says, and what is told besides."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from connectors.assets import Assets
from connectors.dashboards.files import exported_files
from connectors.dashboards.queries import PLAIN_SQL
from connectors.powerbi._assets import assets_of
from connectors.powerbi._project import ENDINGS, read_projects
from connectors.powerbi.settings import PowerBiConfig
from tests.support.powerbi_project import FILES, column

SETTINGS = PowerBiConfig.model_construct(dashboard_service_name=None, database_names={"devdb": "shopdb"})
PBIR = "Sales.Report/definition.pbir"


def read(folder: Path, files: dict[str, str]) -> Assets:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return assets_of(read_projects(exported_files(folder, ENDINGS), "whole"), SETTINGS, PLAIN_SQL)


def text_of(found: Assets, title: str) -> str:
    [one] = [one for one in found.items if one.title == title and one.kind != "dashboard"]
    return one.query.text if one.query is not None else one.end


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Assets:
    return read(tmp_path_factory.mktemp("powerbi"), FILES)


def test_a_table_is_made_of_what_its_query_reads(found: Assets) -> None:
    assert text_of(found, "Sales/Orders") == (
        "SELECT b0.[customer_id] AS [Customer Id], b0.[placed] AS [Placed], b0.[total] AS [Gross], "
        "b1.[name] AS [City], power_bi(b0.[total], b2.[Rebate]) AS [Net] FROM [shop].[orders] b0, [shop].[cities] b1, "
        "[dashboards].[model].[sales_who_s_who] b2 WHERE NOT b0.[state] IS NULL AND b0.[city_id] = b1.[id]"
    )
    assert text_of(found, "Sales/Who's Who") == (
        "SELECT b0.[id] AS [Id], b0.[kind] AS [Kind], b0.[rebate] AS [Rebate] FROM (\n"
        "select id, kind, rebate\nfrom shop.customers where kind <> 'sesame'\n) b0"
    )
    [orders] = [one for one in found.items if one.title == "Sales/Orders"]
    assert orders.query is not None
    assert (orders.query.dialect, orders.query.database) == ("tsql", "shopdb")
    assert (orders.description, orders.location) == (
        "What was sold",
        "Sales.SemanticModel/definition/tables/Orders.tmdl:2",
    )


def test_the_measures_of_a_model_are_made_of_the_columns_of_its_tables(found: Assets) -> None:
    assert text_of(found, "Sales") == (
        'SELECT SUM(b0."Net") AS "Total", CASE WHEN NOT b1."Kind" IS NULL THEN SUM(b0."Net") END AS "Total of VIPs" '
        'FROM "dashboards"."model"."sales_orders" b0, "dashboards"."model"."sales_who_s_who" b1'
    )


def test_a_visual_is_made_of_what_it_shows_and_depends_on_filters_and_relationships(found: Assets) -> None:
    assert text_of(found, "Sales/Overview/Sales by region") == (
        'SELECT b0."Kind" AS "Kind", b2."Total" AS "Total" FROM "dashboards"."model"."sales_who_s_who" b0, '
        '"dashboards"."model"."sales_orders" b1, "dashboards"."model"."sales" b2 '
        'WHERE b0."Id" = b1."Customer Id" AND NOT b1."Placed" IS NULL'
    )
    assert text_of(found, "Sales/Overview/card Gross") == (
        'SELECT AVG(b0."Gross") AS "Gross" FROM "dashboards"."model"."sales_orders" b0 WHERE NOT b0."Placed" IS NULL'
    )
    assert {one.title: one.end for one in found.items if one.end} == {"Sales/Overview/card Gone": "no_dataset"}
    [board] = [one for one in found.items if one.kind == "dashboard"]
    assert (board.title, len(board.members), board.subtype) == ("Sales", 3, "Report")
    assert found.notes == (
        "1 fields of visuals are in no model that was read, and left out: Sales (1)",
        "1 visuals show no data, and are no charts: texts, pictures, buttons",
    )
    assert not found.unread


def test_an_older_project_has_its_model_and_its_report_in_one_file_each(tmp_path: Path) -> None:
    model = {
        "dataSources": [
            {"name": "SQL/host", "connectionString": "Provider=SQLNCLI11;Password=sesame;Initial Catalog=devdb"}
        ],
        "tables": [
            {
                "name": "Orders",
                "columns": [
                    {"name": "Total", "sourceColumn": "total"},
                    {"type": "calculated", "name": "Twice", "expression": ["[Total] +", "[Total]"]},
                ],
                "partitions": [
                    {"name": "p", "source": {"type": "query", "dataSource": "SQL/host", "query": "SELECT * FROM o"}}
                ],
            },
            {
                "name": "Lake",
                "columns": [{"name": "Id", "sourceColumn": "id"}],
                "partitions": [
                    {
                        "name": "p",
                        "source": {
                            "type": "entity",
                            "entityName": "lake",
                            "schemaName": "dbo",
                            "expressionSource": "Q",
                        },
                    }
                ],
            },
            {
                "name": "Made",
                "columns": [
                    {"type": "calculatedTableColumn", "name": "Total", "sourceColumn": "Orders[Total]"},
                    {"type": "calculatedTableColumn", "name": "Best", "sourceColumn": "[Best]"},
                    {"type": "calculatedTableColumn", "name": "Unknown", "sourceColumn": "[Unknown]"},
                ],
                "partitions": [
                    {
                        "name": "p",
                        "source": {
                            "type": "calculated",
                            "expression": 'SUMMARIZE(Orders, Orders[Total], "Best", MAX(Orders[Twice]))',
                        },
                    }
                ],
            },
        ],
        "expressions": [{"name": "Q", "expression": ["let", 'd = Sql.Database("h", "devdb")', "in d"]}],
    }
    level = {"Expression": {"Hierarchy": {"Expression": {"SourceRef": {"Source": "o"}}, "Hierarchy": "Days"}}}
    query = {
        "From": [{"Name": "o", "Entity": "Orders"}],
        "Select": [
            {**column("", "Total"), "Name": "a"},
            {"HierarchyLevel": {**level, "Level": "Day"}, "Name": "b"},
        ],
    }
    query["Select"][0]["Column"]["Expression"]["SourceRef"] = {"Source": "o"}  # type: ignore[index]
    config = {"name": "v", "singleVisual": {"visualType": "tableEx", "prototypeQuery": query}}
    report = {
        "sections": [
            {
                "displayName": "One",
                "visualContainers": [
                    {"config": json.dumps(config), "filters": json.dumps([{"expression": column("Made", "Best")}])}
                ],
            }
        ]
    }
    found = read(
        tmp_path,
        {
            "Old.Dataset/model.bim": json.dumps({"model": model}),
            "Old.Report/definition.pbir": json.dumps({"datasetReference": {"byPath": {"path": "../Old.Dataset"}}}),
            "Old.Report/report.json": json.dumps(report),
        },
    )
    assert text_of(found, "Old/Orders") == (
        "SELECT b0.[total] AS [Total], power_bi(b0.[total]) AS [Twice] FROM (\nSELECT * FROM o\n) b0"
    )
    assert text_of(found, "Old/Lake") == "SELECT b0.[id] AS [Id] FROM [dbo].[lake] b0"
    assert text_of(found, "Old/Made") == (
        'SELECT b0."Total" AS "Total", MAX(b0."Twice") AS "Best" FROM "dashboards"."model"."old_orders" b0'
    )
    lost = "columns are without lineage, behind steps that are not followed"
    assert f"1 {lost}: columns that nothing names (1)" in found.notes
    assert text_of(found, "Old/One/tableEx Total, Day") == (
        'SELECT b1."Total" AS "Total" FROM "dashboards"."model"."old_made" b0, "dashboards"."model"."old_orders" b1 '
        'WHERE NOT b0."Best" IS NULL'
    )
    assert {one.query.database for one in found.items if one.query and one.query.dialect == "tsql"} == {"shopdb"}
    assert "sesame" not in repr(found)


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        (
            "Sales.SemanticModel/definition/tables/Cut.tmdl",
            "table Cut\n\tmeasure M = ```\n\t\t1",
            "it is no TMDL, or is cut",
        ),
        ("Sales.SemanticModel/definition/tables/Sql.tmdl", "SELECT 1 FROM x", "it is no TMDL, or is cut"),
        ("Sales.SemanticModel/definition/tables/Deep.tmdl", "table A\n\t\t\t\tcolumn B", "it is no TMDL, or is cut"),
        ("Other.Dataset/model.bim", '{"name": "x"}', "it has no model, as a model.bim has"),
        ("Other.Dataset/model.bim", "[" * 10_000, "it is no JSON, or is cut"),
        (
            "Other.Dataset/model.bim",
            json.dumps({"model": {"tables": [{}] * 20_001}}),
            "it has more than 20000 tables, which no model has",
        ),
        (PBIR, json.dumps({"version": "9.0"}), "a version of Power BI's reports that is not known: up to 4.0 is"),
        (
            PBIR,
            json.dumps({"datasetReference": {"byPath": {"path": "../../../etc/Sales.SemanticModel"}}}),
            "its model is outside of the folder",
        ),
        ("Sales.Report/definition/pages/p1/visuals/v9/visual.json", "{", "it is no JSON, or is cut"),
        ("Sales.Report/report.json", '{"sections": 1}', "it is no report, or too large"),
    ],
)
def test_what_is_none_of_power_bi_is_told_in_one_line(tmp_path: Path, name: str, text: str, problem: str) -> None:
    assert [one.problem for one in read(tmp_path, {**FILES, name: text}).unread] == [problem]


ROLE = "Sales.SemanticModel/definition/roles/North.tmdl"


def test_what_roles_see_rows_by_decides_about_a_table(tmp_path: Path) -> None:
    who = "LOOKUPVALUE('Who''s Who'[Kind], 'Who''s Who'[Id], USERPRINCIPALNAME())"
    role = (
        "role North\n\tmodelPermission: read\n\n"
        "\ttablePermission 'Who''s Who' = [Rebate] > 7\n\n"
        f'\ttablePermission Orders =\n\t\t\t[Net] > 7 && {who} = "sesame"\n'
    )
    found = read(tmp_path, {**FILES, ROLE: role})
    assert text_of(found, "Sales/Who's Who").endswith(") b0 WHERE NOT b0.[rebate] IS NULL")
    assert text_of(found, "Sales/Orders").endswith(
        "AND NOT b0.[total] IS NULL AND NOT b2.[Rebate] IS NULL AND NOT b2.[Kind] IS NULL AND NOT b2.[Id] IS NULL"
    )
    assert "sesame" not in text_of(found, "Sales/Orders")


def test_a_role_over_a_column_that_nothing_is_known_of_makes_no_table_of_itself(tmp_path: Path) -> None:
    table = "table T\n\tcolumn A\n\t\tsourceColumn: A\n\tpartition T = m\n\t\tsource = Csv.Document(x)\n"
    role = "role R\n\ttablePermission T = [A] = 1\n"
    found = read(tmp_path, {ROLE: role, "Sales.SemanticModel/definition/tables/T.tmdl": table})
    assert text_of(found, "Sales/T") == "no_dataset"


ITEMS = {
    "One": ["CALCULATE(SELECTEDMEASURE(),", "'Who''s Who'[Kind] = 7)"],
    "Two": 'SELECTEDMEASURE() + CALCULATE(SUM(Orders[Net]), Shift[Way] = "One")',
    "Three": "SELECTEDMEASURE()",
}


def test_a_calculation_group_is_made_of_what_its_items_name(tmp_path: Path) -> None:
    items = "".join(
        f"\t\tcalculationItem {name} =\n\t\t\t\t{text if isinstance(text, str) else ' '.join(text)}\n"
        for name, text in ITEMS.items()
    )
    form = '\t\t\tformatStringDefinition = IF(MAX(Orders[Gross]) > 7, "x", "y")\n'
    columns = "\tcolumn Way\n\t\tsourceColumn: Name\n\tcolumn Order\n\t\tsourceColumn: Ordinal\n"
    text = f"table Shift\n\tcalculationGroup\n\t\tprecedence: 1\n{items}{form}{columns}"
    model = "Sales.SemanticModel/definition/tables/Shift.tmdl"
    made = text_of(read(tmp_path, {**FILES, model: text}), "Sales/Shift")
    assert made == (
        'SELECT CASE WHEN NOT b0."Kind" IS NULL AND NOT b1."Net" IS NULL AND NOT b1."Gross" IS NULL THEN 1 END '
        'AS "Way", NULL AS "Order" FROM "dashboards"."model"."sales_who_s_who" b0, '
        '"dashboards"."model"."sales_orders" b1'
    )


def test_roles_and_groups_of_a_model_in_one_file_are_those_of_the_text_form(tmp_path: Path) -> None:
    orders = {
        "name": "Orders",
        "columns": [{"name": "Total", "sourceColumn": "total"}],
        "partitions": [{"name": "p", "source": {"type": "query", "query": "SELECT * FROM o"}}],
    }
    items = [{"name": "x", "expression": "SELECTEDMEASURE() + SUM(Orders[Total])"}, {"name": "y"}, 3]
    group = {"name": "G", "calculationGroup": {"calculationItems": items}, "columns": [{"name": "G"}]}
    roles = [{"name": "r", "tablePermissions": [{"name": "Orders", "filterExpression": ["[Total]", "> 7"]}, 3]}, 4]
    document = {"model": {"tables": [orders, group], "roles": roles}}
    found = read(tmp_path, {"Old.Dataset/model.bim": json.dumps(document)})
    assert text_of(found, "Old/Orders").endswith(') b0 WHERE NOT b0."total" IS NULL')
    assert text_of(found, "Old/G") == (
        'SELECT CASE WHEN NOT b0."Total" IS NULL THEN 1 END AS "G" FROM "dashboards"."model"."old_orders" b0'
    )


def test_a_table_made_of_values_has_what_its_values_name(tmp_path: Path) -> None:
    columns = "".join(f"\tcolumn C{n}\n\t\tsourceColumn: [Value{n}]\n" for n in (1, 2, 3))
    rows = '{ ("Net" & "!", NAMEOF(Orders[Net]), 0), ("Who", NAMEOF(\'Who\'\'s Who\'[Kind]), 1) }'
    text = f"table Pick\n{columns}\tpartition Pick = calculated\n\t\tsource = {rows}\n"
    found = read(tmp_path, {**FILES, "Sales.SemanticModel/definition/tables/Pick.tmdl": text})
    assert text_of(found, "Sales/Pick").startswith(
        'SELECT NULL AS "C1", CASE WHEN NOT b0."Net" IS NULL AND NOT b1."Kind" IS NULL THEN 1 END AS "C2", NULL AS "C3"'
    )
    assert not any("nothing names" in one for one in found.notes)


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    read(tmp_path, FILES)
    (tmp_path / "Sales.SemanticModel/definition/tables/Link.tmdl").symlink_to("/etc/passwd")
    found = read_projects(exported_files(tmp_path, ENDINGS), "whole")
    assert [one.problem for one in found.unread] == ["a symbolic link, which is not followed"]


def test_a_file_of_a_zip_whose_name_leads_out_of_it_is_told(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("../../Orders.tmdl", "table Orders")
    found = read_projects(exported_files(tmp_path / "all.zip", ENDINGS), "all")
    assert [one.problem for one in found.unread] == ["its path leads out of the export"]


def test_a_report_over_a_model_that_was_not_read_says_so(tmp_path: Path) -> None:
    named = {"byConnection": {"connectionString": "Data Source=powerbi://sesame;Initial Catalog=Elsewhere"}}
    found = read(tmp_path, {**FILES, PBIR: json.dumps({"version": "4.0", "datasetReference": named})})
    assert {one.end for one in found.items if one.kind == "chart"} == {"no_dataset"}
    named["byConnection"]["connectionString"] = "Data Source=powerbi://sesame;Initial Catalog=Sales"
    found = read(tmp_path, {**FILES, PBIR: json.dumps({"version": "4.0", "datasetReference": named})})
    assert text_of(found, "Sales/Overview/card Gross").startswith("SELECT AVG(")
    assert "powerbi://" not in repr(found)


def test_a_table_of_another_model_is_found_where_that_is_read(tmp_path: Path) -> None:
    begin = "Over.SemanticModel/definition"
    files = {
        f"{begin}/expressions.tmdl": 'expression \'To Sales\' = AnalysisServices.Database("powerbi://x", "Sales")\n',
        f"{begin}/tables/O.tmdl": (
            "table Mine\n\tcolumn Gross\n\t\tsourceColumn: Gross\n\tpartition P = entity\n\t\tsource\n"
            "\t\t\tentityName: Orders\n\t\t\texpressionSource: 'To Sales'\n"
        ),
    }
    found = read(tmp_path / "both", {**FILES, **files})
    assert text_of(found, "Over/Mine") == 'SELECT b0."Gross" AS "Gross" FROM "dashboards"."model"."sales_orders" b0'
    alone = read(tmp_path / "alone", files)
    assert text_of(alone, "Over/Mine") == "no_dataset"
    assert alone.notes == ("1 tables are of models that were not read: Sales (1)",)
