"""The tables of a model's versions in a log, by the names of models."""

from __future__ import annotations

import pytest

from connectors.sqlmesh.physical_names import by_model_names
from ingestion.model.outcomes import Outcome

MODELS = frozenset({("mart", "sales"), ("raw", "orders")})


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("INSERT INTO sqlmesh__mart.mart__sales__2719104535 SELECT 1", "INSERT INTO mart.sales SELECT 1"),
        ("SELECT * FROM sqlmesh__mart.sales__2719104535__dev AS s", "SELECT * FROM mart.sales AS s"),
        ('SELECT * FROM "db"."sqlmesh__raw"."raw__orders__861203344"', 'SELECT * FROM "db"."raw"."orders"'),
        ("SELECT * FROM `sqlmesh__raw`.`raw__orders__861203344__temp`", "SELECT * FROM `raw`.`orders`"),
        ("SELECT * FROM [sqlmesh__raw].[raw__orders__861203344]", "SELECT * FROM [raw].[orders]"),
        ("SELECT * FROM mart__dev.sales, other__dev.sales", "SELECT * FROM mart.sales, other__dev.sales"),
        ('SELECT * FROM "mart__dev"."sales"', 'SELECT * FROM "mart"."sales"'),
        ("SELECT * FROM `hub.sqlmesh__raw.raw__orders__861203344`", "SELECT * FROM `hub.raw.orders`"),
        ('SELECT * FROM sqlmesh__raw."raw__orders__861203344"', 'SELECT * FROM raw."orders"'),
        (
            'SELECT * FROM db.mart__dev.sales, "db"."mart__dev"."sales"',
            'SELECT * FROM db.mart.sales, "db"."mart"."sales"',
        ),
        ("SELECT * FROM `hub.mart__dev.sales`", "SELECT * FROM `hub.mart.sales`"),
        ("SELECT a__b.c FROM t__u.v", "SELECT a__b.c FROM t__u.v"),
        ("DROP TABLE sqlmesh__mart.mart__sales__2719104535", "DROP TABLE sqlmesh__mart.mart__sales__2719104535"),
    ],
)
def test_a_statement_names_models(text: str, named: str) -> None:
    assert by_model_names(MODELS, text) == (named, None)


@pytest.mark.parametrize("view", ["mart.sales", '"mart"."sales"', "mart__dev.sales", "db.mart.sales"])
def test_the_view_by_which_a_model_is_read_is_the_model(view: str) -> None:
    text = f"CREATE OR REPLACE VIEW {view} AS SELECT * FROM sqlmesh__mart.mart__sales__2719104535"
    assert by_model_names(MODELS, text) == (text, Outcome.DEFINITION)


def test_a_view_over_a_path_in_one_pair_of_quotes_is_the_model_too() -> None:
    text = "CREATE VIEW `hub.mart__dev.sales` AS SELECT * FROM `hub.sqlmesh__mart.mart__sales__2719104535`"
    assert by_model_names(MODELS, text) == (text, Outcome.DEFINITION)


def test_another_view_over_a_version_reads_the_model() -> None:
    text = "CREATE VIEW reports.best AS SELECT * FROM sqlmesh__mart.mart__sales__2719104535"
    assert by_model_names(MODELS, text) == ("CREATE VIEW reports.best AS SELECT * FROM mart.sales", None)
