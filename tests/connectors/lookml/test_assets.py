"""LookML as assets: what the query of each view, explore and tile says, and what is told of what has none."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.assets import Asset, Assets
from connectors.dashboards.files import ExportedFile, exported_files
from connectors.dashboards.queries import PLAIN_SQL
from connectors.lookml._assets import assets_of
from connectors.lookml._project import ENDINGS, read_project
from connectors.lookml.settings import LookmlConfig
from ingestion import LineageParser
from tests.support.lookml_project import FILES

SETTINGS = LookmlConfig.model_construct(dashboard_service_name=None, database_names={"warehouse": "shopdb"})


def read(folder: Path, files: dict[str, str]) -> Assets:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return assets_of(read_project(exported_files(folder, ENDINGS)), SETTINGS, "postgres")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Assets:
    return read(tmp_path_factory.mktemp("lookml"), FILES)


def text_of(found: Assets, title: str) -> str:
    [one] = [one for one in found.items if one.title == title]
    return one.query.text if one.query is not None else one.end


FACTS = {
    "shop.model.lkml": 'connection: "warehouse"\ninclude: "/explores/*.explore"\n',
    "other.model.lkml": 'include: "//lent/views/*"\ninclude: "/**/sold.explore.lkml"\n',
    "explores/sold.explore.lkml": (
        'include: "/views/*.view"\nexplore: orders {\n join: facts {\n  sql_on: ${facts.id} = ${orders.id} ;;\n'
        "  sql_where: ${facts.total} > 7 ;;\n }\n}\n"
    ),
    "explores/alone.explore.lkml": "explore: users { }\n",
    "views/orders.view.lkml": (
        "view: orders {\n dimension: id {}\n dimension: city {}\n"
        " measure: total { type: sum sql: ${TABLE}.total ;; }\n}\n"
    ),
    "views/facts.view.lkml": (
        "view: facts {\n derived_table: {\n  explore_source: orders {\n   column: id {}\n   column: total {}\n"
        "   column: place { field: orders.city }\n   derived_column: rank { sql: RANK() OVER (ORDER BY total) ;; }\n"
        "  }\n }\n dimension: id {}\n dimension: total {}\n dimension: place {}\n dimension: rank {}\n}\n"
    ),
    "views/users.view.lkml": "view: users {\n dimension: id {}\n}\n",
}


def test_an_explore_is_in_each_model_that_includes_its_file(tmp_path: Path) -> None:
    found = read(tmp_path, {**FACTS, "lost/c.explore.lkml": "explore: users { }\n"})
    titles = [one.title for one in found.items if "/" in one.title]
    assert sorted(titles) == ["c/users", "other/orders", "shop/orders", "shop/users"]


def test_what_a_join_asks_for_decides_which_rows_there_are(tmp_path: Path) -> None:
    assert text_of(read(tmp_path, FACTS), "shop/orders").endswith(
        'ON ("facts"."id" = "orders"."id") WHERE ("facts"."total" > 7)'
    )


@pytest.mark.parametrize(("dialect", "written"), [("bigquery", PLAIN_SQL), ("postgres", "postgres")])
def test_a_view_derived_from_an_explore_reads_its_fields_in_every_dialect(
    tmp_path: Path, dialect: str, written: str
) -> None:
    read(tmp_path, FACTS)
    project = read_project(exported_files(tmp_path, ENDINGS))
    (facts,) = [one for one in assets_of(project, SETTINGS, dialect).items if one.title == "facts"]
    assert facts.query is not None
    assert facts.query.dialect == written
    lineage = LineageParser(f"CREATE VIEW facts AS {facts.query.text}", written)
    assert {(edge.source.column, edge.target.column) for edge in lineage.edges} == {
        ("orders.id", "id"),
        ("orders.total", "total"),
        ("orders.city", "place"),
        ("orders.total", "rank"),
    }


def test_a_view_over_an_explore_whose_sql_is_of_its_dialect_alone_is_told(tmp_path: Path) -> None:
    facts = FACTS["views/facts.view.lkml"].replace("ORDER BY total", "ORDER BY `total`")
    read(
        tmp_path, {"views/facts.view.lkml": facts, **{key: FACTS[key] for key in (*FACTS,)[::2] if "facts" not in key}}
    )
    project = read_project(exported_files(tmp_path, ENDINGS))
    (view,) = [one for one in assets_of(project, SETTINGS, "bigquery").items if one.title == "facts"]
    assert (view.query, view.end) == (None, "unsupported:quotes over an explore")


def test_a_view_is_made_of_its_table_with_its_fields_filled_in(found: Assets) -> None:
    assert text_of(found, "orders") == (
        'SELECT orders.id AS "id", orders.user_id AS "user_id", lower(orders.status) AS "status", '
        'orders.total - orders.tax AS "net", orders.placed_at AS "placed_date", orders.placed_at AS "placed_month", '
        'COUNT(*) AS "count", SUM(CASE WHEN NOT (lower(orders.status)) IS NULL THEN (orders.total - orders.tax) END) '
        'AS "paid", (SUM(CASE WHEN NOT (lower(orders.status)) IS NULL THEN (orders.total - orders.tax) END)) / '
        'nullif((COUNT(*)), 0) AS "share" FROM shop.orders orders'
    )
    assert text_of(found, "users") == (
        "SELECT users.id AS \"id\", CASE WHEN users.city = 'x' THEN '' END AS \"city\" FROM (\nSELECT u.id, u.city "
        "FROM shop.users u JOIN shop.orders o ON o.user_id = u.id\n         WHERE (o.placed_at) IS NOT NULL\n) users"
    )
    assert text_of(found, "cities") == (
        'SELECT cities.city AS "city", cities."rank" AS "rank" FROM (\nSELECT columns_of_explore.*, '
        '(rank() over (order by paid)\n) AS "rank" FROM (\nSELECT "users.city" AS "city", "orders.paid" AS "paid" '
        'FROM "dashboards"."model"."shop_orders"\n) columns_of_explore\n) cities'
    )
    assert "{{ _user_attributes" in text_of(found, "templated")  # which the run tells as it tells it of any text
    query = next(one.query for one in found.items if one.title == "orders")
    assert query is not None
    assert query.database == "shopdb"
    assert found.notes == (
        "2 fields are columns without lineage: Liquid, fields of other views, or no SQL at all: orders (2)",
    )


def test_an_explore_is_made_of_the_views_that_it_joins(found: Assets) -> None:
    text = text_of(found, "shop/orders")
    assert text.startswith('SELECT "orders"."id" AS "orders.id", ')
    assert text.endswith(
        '"users"."city" AS "users.city" FROM "dashboards"."model"."orders" "orders" LEFT JOIN '
        '"dashboards"."model"."users" "users" ON ("orders"."user_id" = "users"."id") '
        'WHERE ("orders"."status" <> \'secret\')'
    )
    assert "tag" not in text


def test_a_tile_is_made_of_the_fields_of_its_explore(found: Assets) -> None:
    assert text_of(found, "Paid") == (
        'SELECT "orders.placed_month" AS "orders.placed_month", "orders.paid" AS "orders.paid" '
        'FROM "dashboards"."model"."shop_orders" WHERE NOT "users.city" IS NULL'
    )
    [paid] = [one for one in found.items if one.title == "Paid"]
    assert paid.query is not None
    assert paid.query.dialect == PLAIN_SQL  # in the quotes of BigQuery a dot is none of a name
    ends = {one.title: one.end for one in found.items if one.end}
    assert ends == {
        "base": "no_query",
        "tags": "no_dataset",
        "Note": "no_query",
        "Gone": "no_dataset",
        "Merged": "unsupported:merged_queries",
    }
    [board] = [one for one in found.items if one.kind == "dashboard"]
    assert (board.title, len(board.members), board.location) == ("Sales", 4, "sales.dashboard.lookml:1")


def test_a_tile_shows_what_it_makes_up_and_what_no_view_has_is_told(tmp_path: Path) -> None:
    board = """\
- dashboard: d
  elements:
  - {title: Own, explore: sales, fields: [sales.day, most, sales.gone], dynamic_fields: [
     {measure: most, based_on: sales.total, type: max},
     {table_calculation: share, expression: 'if(${sales.total} > 4711, ${sales.day}, ${gone})'}]}
"""
    view = "view: sales { sql_table_name: s.sales ;; dimension: day {} dimension: total {} }"
    found = read(tmp_path, {"a.view.lkml": view, "m.model.lkml": "explore: sales {}", "d.dashboard.lookml": board})
    assert text_of(found, "Own") == (
        'SELECT "sales.day" AS "sales.day", custom_measure("sales.total") AS "most", '
        'custom_table_calculation("sales.total", "sales.day") AS "share" FROM "dashboards"."model"."m_sales"'
    )
    assert found.notes == ("1 fields of tiles are in no view that was read, and left out: d (1)",)


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("a.dashboard.lookml", "- dashboard: [", "it is no YAML, or is cut"),
        ("a.view.lkml", "view: orders { dimension: id { sql: ${TABLE}.id", "it is no LookML, or is cut"),
        ("a.view.lkml", "view: orders", "it is no LookML, or is cut"),
        ("a.view.lookml", "- view: orders", "it is LookML in YAML, as it was before 2016: convert it"),
        ("a.view.lkml", "view: orders { dimension: id derived_table: x }", "it is no LookML, or is cut"),
        ("a.view.lkml", "SELECT 1 FROM x", "it is no LookML, or is cut"),
        ("a.view.lkml", "view: a {" * 5000, "it is no LookML, or is cut"),
    ],
)
def test_what_is_no_lookml_is_told_in_one_line(name: str, text: str, problem: str) -> None:
    assert [one.problem for one in read_project([ExportedFile(name, text)]).unread] == [problem]


def test_names_that_mean_several_views_or_themselves_mean_none(tmp_path: Path) -> None:
    twice = "view: a { sql_table_name: s.one ;; dimension: x {} }"
    files = {
        "one.view.lkml": twice,
        "two.view.lkml": twice.replace("one", "two"),
        "m.model.lkml": "explore: a {}\n"
        "view: loop { derived_table: { sql: select 1 from ${loop.SQL_TABLE_NAME} ;; } dimension: y {} }\n"
        "view: self { extends: [self] sql_table_name: s.t ;; dimension: z { sql: ${z} ;; } }",
    }
    found = read(tmp_path, files)
    ends: dict[str, str] = {one.title: one.end for one in found.items}
    assert ends == {
        "a (one.view.lkml:1)": "",
        "a (two.view.lkml:1)": "",
        "loop": "no_dataset",
        "self": "",
        "m/a": "no_dataset",
    }
    assert isinstance(found.items[0], Asset)
    assert found.notes[1] == "1 views are there more than once, so that no name means one: a"


def test_a_join_whose_condition_has_liquid_is_told_and_joins_by_no_column(tmp_path: Path) -> None:
    model = """explore: orders {
      join: users { sql_on: ${orders.user_id} = ${users.id} {% if users.city._in_query %} AND 1 = 1 {% endif %} ;; }
    }
    view: orders { sql_table_name: shop.orders ;; dimension: user_id {} }
    view: users { sql_table_name: shop.users ;; dimension: id {} }"""
    found = read(tmp_path, {"shop.model.lkml": model})
    [explore] = [one.query.text for one in found.items if one.query is not None and "JOIN" in one.query.text]
    assert 'CROSS JOIN "dashboards"."model"."users"' in explore
    assert found.notes == ("1 joins have Liquid in their condition, and are told by table alone: orders (1)",)
