"""Metabase's cards as assets, by its export and by its API alike, and what is told of what has no query."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from pytest_httpserver import HTTPServer

from connectors.assets import Asset
from connectors.dashboards.files import ExportedFile
from connectors.dashboards.settings import DashboardServer
from connectors.metabase._api import documents_of_server
from connectors.metabase._assets import assets_of
from connectors.metabase._documents import documents_of
from connectors.metabase.settings import MetabaseConfig
from connectors.metabase.source import open_source
from connectors.source import SourceRun
from ingestion.errors import ConfigError

SETTINGS = MetabaseConfig.model_construct(dashboard_service_name=None, database_names={})
ORDERS, USERS = ["shop", "sales", "orders"], ["shop", "sales", "users"]


def place(table: list[str], field: str) -> list[str]:
    return [*table, field]


def card(key: str, query: Mapping[str, Any], **more: Any) -> tuple[str, dict[str, Any]]:
    content = {"name": f"Card {key}", "dataset_query": query, "serdes/meta": [{"model": "Card", "id": key}], **more}
    return f"cards/{key}.yaml", content


def native(text: str, **tags: str) -> dict[str, Any]:
    kinds = {name.replace("__", " "): {"type": kind} for name, kind in tags.items()}
    return {"type": "native", "database": "shop", "native": {"query": text, "template-tags": kinds}}


def mbql(**query: Any) -> dict[str, Any]:
    return {"type": "query", "database": "shop", "query": {key.replace("_", "-"): one for key, one in query.items()}}


_JOIN = {
    "source-table": USERS,
    "alias": "U",
    "condition": ["=", ["field", place(ORDERS, "user_id"), None], ["field", place(USERS, "id"), {"join-alias": "U"}]],
}
CARDS = dict(
    [
        card(
            "sums",
            mbql(
                source_table=ORDERS,
                joins=[_JOIN],
                expressions={"net": ["-", *(["field", place(ORDERS, name), None] for name in ("total", "tax"))]},
                breakout=[["field", place(USERS, "city"), {"join-alias": "U"}]],
                aggregation=[["sum", ["expression", "net"]], ["count"]],
                filter=["and", ["=", ["field", place(ORDERS, "status"), None], "secret"], [">", ["field", "x", {}], 5]],
            ),
            creator_id="ann@shop.example",
            display="bar",
        ),
        card(
            "model",
            native(
                "SELECT o.id, o.total FROM sales.orders o "
                "WHERE o.day > {{since}} [[AND {{area}}]] AND {{snippet: paid}};",
                since="date",
                area="dimension",
            ),
            type="model",
            result_metadata=[{"name": "id", "base_type": "type/Integer"}, {"name": "total"}],
        ),
        card("over", mbql(source_table="model", aggregation=[["avg", ["field", "total", {"base-type": "x"}]]])),
        card(
            "stages",
            {
                "lib/type": "mbql/query",
                "database": "shop",
                "stages": [
                    {"source-table": ORDERS, "aggregation": [["max", {}, ["field", {}, place(ORDERS, "total")]]],
                     "breakout": [["field", {"source-field": place(ORDERS, "user_id")}, place(USERS, "city")]]},
                    {"filters": [[">", {}, ["field", {}, "max"], 3]], "fields": [["field", {}, "city"]]},
                ],
            },
        ),
        card(
            "joined",
            {
                "database": "shop",
                "stages": [
                    {
                        "source-table": ORDERS,
                        "joins": [
                            {
                                "stages": [{"source-table": USERS}],
                                "alias": "U",
                                "conditions": [
                                    ["=", {}, ["field", {}, place(ORDERS, "u")], ["field", {}, place(USERS, "id")]]
                                ],
                                "fields": [["field", {"join-alias": "U"}, place(USERS, "city")]],
                            }
                        ],
                        "expressions": [
                            [
                                "if",
                                {"lib/expression-name": "Tier"},
                                [[[">", {}, ["field", {}, place(ORDERS, "total")], 5], "x"]],
                                ["field", {}, place(ORDERS, "kind")],
                            ]
                        ],
                    }
                ],
            },
        ),
        card(
            "named",
            {
                "type": "native",
                "database": "shop",
                "native": {
                    "query": "SELECT m.total FROM {{#1-model}} AS m",
                    "template-tags": {"#1-model": {"type": "card", "card-id": "model"}},
                },
            },
        ),
        card("open", native("SELECT {{column}} FROM sales.orders", column="temporal")),
        card("metric", mbql(source_table=ORDERS, aggregation=[["metric", "abc"]])),
        card("lost", mbql(source_table="nowhere")),
        card("foreign", mbql(source_table=ORDERS, breakout=[["field", place(USERS, "city"), None]])),
    ]
)  # fmt: skip
EXPORT: dict[str, Any] = {
    **CARDS,
    "databases/shop.yaml": {
        "name": "shop",
        "engine": "postgres",
        "details": {"dbname": "shopdb"},
        "serdes/meta": [{"model": "Database", "id": "shop"}],
    },
    "snippets/paid.yaml": {
        "name": "paid",
        "content": "o.paid IS NOT NULL",
        "serdes/meta": [{"model": "NativeQuerySnippet", "id": "s"}],
    },
    "dashboards/main.yaml": {
        "name": "Main",
        "dashcards": [{"card_id": "sums", "series": [{"card_id": "over"}]}, {"card_id": None}],
        "serdes/meta": [{"model": "Dashboard", "id": "d"}],
    },
    "other.yaml": {"name": "no identity"},
}


def read(export: Mapping[str, Any]) -> dict[tuple[str, str], Asset]:
    files = [ExportedFile(name, json.dumps(content)) for name, content in export.items()]
    return {(one.kind, one.key): one for one in assets_of(documents_of(files), SETTINGS).items}


def test_questions_models_and_stages_become_sql_over_tables_and_each_other() -> None:
    found = read(EXPORT)
    texts = {
        key: one.query.text if one.query is not None else one.end
        for (kind, key), one in found.items()
        if kind == "chart"
    }
    model = found["dashboardDataModel", "model"]
    assert model.query is not None
    assert model.query.text == (
        "SELECT o.id, o.total FROM sales.orders o WHERE o.day > 0 AND 1 = 1 AND o.paid IS NOT NULL"
    )
    assert (model.query.dialect, model.query.database) == ("postgres", "shopdb")
    assert texts == {
        "sums": 'SELECT "U".city AS "city", SUM(((t0.total - t0.tax))) AS "sum", COUNT(*) AS "count" FROM '
        'sales.orders t0 LEFT JOIN sales.users "U" ON (t0.user_id = "U".id) WHERE ((t0.status = \'\') AND (t0.x > 0)) '
        'GROUP BY "U".city',
        "model": 'SELECT "id" AS "id", "total" AS "total" FROM "dashboards"."model"."card_model"',
        "over": 'SELECT AVG(t0.total) AS "avg" FROM "dashboards"."model"."card_model" t0',
        "stages": 'SELECT t0.city AS "city" FROM (\nSELECT by_user_id.city AS "city", MAX(t0.total) AS "max" FROM '
        "sales.orders t0 LEFT JOIN sales.users by_user_id ON NOT t0.user_id IS NULL GROUP BY by_user_id.city\n) t0 "
        "WHERE (t0.max > 0)",
        "joined": 'SELECT t0.*, "U".city AS "city", (CASE WHEN (t0.total > 0) THEN \'\' ELSE t0.kind END) AS "Tier" '
        'FROM sales.orders t0 LEFT JOIN sales.users "U" ON (t0.u = "U".id)',
        "named": 'SELECT m.total FROM "dashboards"."model"."card_model" AS m',
        "open": "SELECT {{column}} FROM sales.orders",
        "metric": "unsupported:metric",
        "lost": "no_dataset",
        "foreign": "no_dataset",
    }
    assert found["dashboard", "d"].members == ("sums", "over")
    assert (found["chart", "sums"].owners, found["chart", "sums"].subtype) == (("ann@shop.example",), "Bar")


def test_a_key_of_a_joined_table_leads_on_from_that_table() -> None:
    cities = ["shop", "sales", "cities"]
    ways = [["field", place(cities, "name"), {"source-field": place(table, "city_id")}] for table in (ORDERS, USERS)]
    found = read(dict([card("two", mbql(source_table=ORDERS, joins=[_JOIN], fields=ways))]))["chart", "two"]
    assert found.query is not None
    assert found.query.text.endswith(
        "LEFT JOIN sales.cities by_city_id ON NOT t0.city_id IS NULL "
        'LEFT JOIN sales.cities by_city_id_of_users ON NOT "U".city_id IS NULL'
    )


def test_sums_of_one_name_are_counted_on_as_metabase_does() -> None:
    sums = [["sum", ["field", place(ORDERS, name), None]] for name in ("net", "tax", "total")]
    found = read(dict([card("three", mbql(source_table=ORDERS, aggregation=sums))]))["chart", "three"]
    assert [column.name for column in found.columns] == ["sum", "sum_2", "sum_3"]


def _dashboard(*targets: tuple[str, Any], **more: Any) -> dict[str, Any]:
    mappings = [{"parameter_id": "p", "card_id": key, "target": target} for key, target in targets]
    cards = [{"card_id": "sums", "parameter_mappings": mappings}]
    return {"name": "D", "dashcards": cards, "serdes/meta": [{"model": "Dashboard", "id": "d"}], **more}


def _filters_of(dashboard: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    files = {**EXPORT, **dict([card("tagged", _TAGGED)]), "dashboards/main.yaml": dashboard}
    assets = assets_of(documents_of([ExportedFile(name, json.dumps(one)) for name, one in files.items()]), SETTINGS)
    (board,) = assets.of_kind("dashboard")
    assert board.query is not None
    return board.query.text.partition(" FROM ")[2], assets.notes


_AREA = ["field", place(USERS, "Area"), None]
_TAGGED = {
    "type": "native",
    "database": "shop",
    "native": {
        "query": "SELECT 1 FROM sales.orders WHERE {{area}} AND a = {{a}}",
        "template-tags": {"area": {"type": "dimension", "dimension": _AREA}, "a": {"type": "text"}},
    },
}
_CHART = '"dashboards"."chart"."card_sums" c0'


@pytest.mark.parametrize(
    ("key", "target", "origin"),
    [
        ("sums", ["dimension", ["field", place(ORDERS, "day"), None]], "shopdb.sales.orders f0|f0.\"day\""),
        ("sums", ["dimension", ["field", {}, place(ORDERS, "day")], {"stage-number": 0}],
         "shopdb.sales.orders f0|f0.\"day\""),
        ("tagged", ["dimension", ["template-tag", "area"]], "shopdb.sales.users f0|f0.\"Area\""),
        ("over", ["dimension", ["field", "total", None]], '"dashboards"."model"."card_model" f0|f0."total"'),
        ("model", ["dimension", ["field", "id", None]], '"dashboards"."model"."card_model" f0|f0."id"'),
    ],
)  # fmt: skip
def test_what_a_parameter_filters_by_is_read_by_the_dashboard(key: str, target: Any, origin: str) -> None:
    relation, _, column = origin.partition("|")
    expected = f"{_CHART}, {relation} WHERE NOT {column} IS NULL"
    assert _filters_of(_dashboard((key, target), (key, target))) == (expected, ())


def test_what_a_parameter_offers_a_choice_of_is_read_by_the_dashboard() -> None:
    offered = {"card_id": "over", "value_field": ["field", "avg", None]}
    text, notes = _filters_of(_dashboard(parameters=[{"id": "p", "values_source_config": offered}, {"id": "q"}, 3]))
    assert text == f'{_CHART}, "dashboards"."chart"."card_over" f0 WHERE NOT f0."avg" IS NULL'
    assert not notes


def test_a_value_of_native_sql_is_about_no_column() -> None:
    targets = [("tagged", ["variable", ["template-tag", "a"]]), ("tagged", ["dimension", ["template-tag", "a"]])]
    assert _filters_of(_dashboard(*targets, ("sums", ["text-tag", "x"]), ("sums", None))) == (_CHART, ())


@pytest.mark.parametrize(
    ("key", "target"),
    [
        ("gone", ["dimension", ["field", "total", None]]),
        ("gone", ["dimension", ["template-tag", "area"]]),
        ("tagged", ["dimension", ["template-tag", "gone"]]),
        ("over", ["dimension", ["field", "gone", None]]),
        ("sums", ["dimension", ["expression", "net"]]),
        ("sums", ["dimension", ["field", 12, None]]),
        ("sums", ["dimension", 3]),
    ],
)
def test_what_a_parameter_is_about_and_nobody_knows_is_counted(key: str, target: Any) -> None:
    note = "1 columns that parameters of dashboards are about are not known, and left out: D"
    assert _filters_of(_dashboard((key, target))) == (_CHART, (note,))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: [", "it is no YAML, or is cut"),
        (json.dumps({"serdes/meta": [{"model": "Card", "id": "x"}]}), "it has no name, which every card has"),
    ],
)
def test_what_is_no_document_of_metabase_is_told_in_one_line(text: str, problem: str) -> None:
    assert [one.problem for one in documents_of([ExportedFile("x.yaml", text)]).unread] == [problem]


def test_its_files_are_opened_as_a_source(tmp_path: Path) -> None:
    for name, content in EXPORT.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(json.dumps(content))
    settings = MetabaseConfig.model_construct(
        dashboard_path=str(tmp_path), dashboard_service_name="bi", database_names={"shop": "other"}
    )
    with open_source(settings, SourceRun()) as source:
        assert source.assets is not None
        assets = source.assets()
    assert (assets.service, assets.complete, len(assets.items)) == ("bi", True, 12)
    assert {one.query.database for one in assets.of_kind("dashboardDataModel") if one.query is not None} == {"other"}


def test_a_folder_of_something_else_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("name: x")
    settings = MetabaseConfig.model_construct(
        dashboard_path=str(tmp_path), dashboard_service_name="bi", database_names={}
    )
    with pytest.raises(ConfigError, match="holds nothing of Metabase"), open_source(settings, SourceRun()):
        pass


def test_odd_values_end_a_card_and_no_run() -> None:
    odd: list[Any] = [
        None,
        3,
        "x",
        [],
        {"query": 3},
        {"query": {"source-table": []}},
        {"stages": [3]},
        {"stages": [{}]},
    ]
    deep: Any = ["field", "x", None]
    for _ in range(100):
        deep = ["not", deep]
    odd += [{"query": {"source-table": ORDERS, "filter": deep}}, {"query": {"source-table": ORDERS, "joins": [3]}}]
    total: Any = [{"field": "total"}, ["field", {}]]
    join: Any = {"source-table": ORDERS, "conditions": 5, "source-query": [1]}
    odd += [{"query": {"source-table": ORDERS, **clauses}} for clauses in (
        {"joins": 3, "aggregation": total}, {"breakout": [["field", [{}], None]]}, {"joins": [join]},
    )]  # fmt: skip
    found = read(dict(card(str(number), query) for number, query in enumerate(odd)))
    ends = [found["chart", str(number)].end.partition(":")[0] for number in range(len(odd))]
    assert ends == [*["unsupported"] * 5, *["no_dataset"] * 3, "unsupported", "", *["no_dataset"] * 2, ""]


ANSWERS: dict[str, Any] = {
    "database": {"data": [{"id": 1, "name": "shop", "engine": "mysql"}]},
    "database/1/metadata": {
        "tables": [{"id": 5, "schema": "", "name": "orders", "fields": [{"id": 9, "name": "total"}]}]
    },
    "card": [
        {
            "id": 7,
            "name": "Total",
            "creator": {"common_name": "Ann Lee"},
            "dataset_query": {
                "type": "query",
                "database": 1,
                "query": {"source-table": 5, "aggregation": [["sum", ["field", 9, None]]]},
            },
        }
    ],
    "dashboard": [{"id": 3, "name": "Main"}],
    "dashboard/3": {
        "id": 3,
        "name": "Main",
        "dashcards": [
            {"card_id": 7, "parameter_mappings": [{"card_id": 7, "target": ["dimension", ["field", 9, None]]}]}
        ],
    },
    "native-query-snippet": [],
}


@pytest.mark.parametrize("broken", sorted(ANSWERS))
@pytest.mark.parametrize("said", ["maintenance", 7, {"data": {}}])
def test_an_answer_of_another_form_is_no_empty_metabase(httpserver: HTTPServer, broken: str, said: object) -> None:
    for path, answer in ANSWERS.items():
        is_object = isinstance(answer, dict) and "data" not in answer
        httpserver.expect_request(f"/api/{path}").respond_with_json(
            answer if path != broken else [] if is_object else said
        )
    server = DashboardServer.model_construct(
        host_port=httpserver.url_for(""), api_key=SecretStr("k"), username=None, password=None
    )
    with pytest.raises(ConfigError, match=f"answers api/{broken} as no Metabase that is known"):
        documents_of_server(server)


def test_what_the_server_answers_is_read_as_an_export_is(httpserver: HTTPServer) -> None:
    for path, answer in ANSWERS.items():
        request = httpserver.expect_request(f"/api/{path}", headers={"x-api-key": "k"})
        request.respond_with_json(answer)
    server = DashboardServer.model_construct(
        host_port=httpserver.url_for(""), api_key=SecretStr("k"), username=None, password=None
    )
    found = {one.title: one for one in assets_of(documents_of_server(server), SETTINGS).items}
    total = found["Total"]
    assert total.query is not None
    assert (total.query.text, total.query.dialect) == ("SELECT SUM(t0.total) AS `sum` FROM orders t0", "mysql")
    assert (total.owners, total.url) == (("Ann Lee",), httpserver.url_for("/question/7"))
    board = found["Main"]
    assert board.members == ("7",)
    assert board.query is not None
    assert board.query.text.endswith(', orders f0 WHERE NOT f0."total" IS NULL')
