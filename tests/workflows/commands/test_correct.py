"""`ingest correct` and what `ingest diff` tells of an expression, on one small catalog."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from connectors.catalog.http.server import CatalogConfig, running_catalog
from tests.support.http_client import Client
from tests.support.shop_history import CHANGED, SCHEMA, fill
from workflows.cli import app


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Client]]:
    file = tmp_path_factory.mktemp("shop") / "catalog.db"
    with running_catalog(CatalogConfig(file, port=0)) as address:
        client = Client(address.url)
        fill(client)
        yield file, client


def ingest(shop: tuple[Path, Client], *words: str) -> tuple[int, str]:
    """The exit code of a command over the shop's catalog, and what it printed."""
    done = CliRunner().invoke(app, [*words, "--catalog", str(shop[0])])
    return done.exit_code, done.output


def sources(client: Client, table: str) -> set[str]:
    """What a table reads, by the served catalog."""
    ends = client.get(f"/lineage/table/name/{SCHEMA}.{table}", upstreamDepth=1, downstreamDepth=0)[1]
    return {node["name"] for node in ends["nodes"]}


def test_an_edge_is_rejected_listed_and_taken_back(shop: tuple[Path, Client]) -> None:
    assert sources(shop[1], "daily") == {"orders", "rates"}
    code, told = ingest(
        shop, "correct", "reject", "rates", "public.daily", "--reason", "only checked", "--author", "ann"
    )
    assert (code, "rejected" in told, f"{SCHEMA}.rates -> {SCHEMA}.daily  ann: only checked" in told) == (0, True, True)
    assert sources(shop[1], "daily") == {"orders"}, "the server sees it at once"
    code, told = ingest(shop, "correct", "list", "daily", "--json")
    (filed,) = json.loads(told)
    assert (filed["verdict"], filed["author"], filed["undone"]) == ("rejected", "ann", None)
    assert ingest(shop, "correct", "undo", str(filed["id"]), "--reason", "no, it is read")[0] == 0
    assert sources(shop[1], "daily") == {"orders", "rates"}
    code, told = ingest(shop, "correct", "list")
    assert "local: no, it is read" in told and "1 corrections, 1 of them undone" in told


def test_columns_are_added_and_confirmed(shop: tuple[Path, Client]) -> None:
    code, told = ingest(shop, "correct", "add", "rates.day", "daily.day", "--reason", "by hand")
    assert code == 0 and f"added  {SCHEMA}.rates.day -> {SCHEMA}.daily.day" in told
    code, told = ingest(shop, "correct", "confirm", "orders.day", "daily.day", "--reason", "seen")
    assert code == 0 and "confirmed" in told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("reject", "nobody", "daily", "--reason", "x"), "no such table or column"),
        (("reject", "daily", "orders", "--reason", "x"), "nothing says that"),
        (("add", "daily", "daily", "--reason", "x"), "two ends"),
        (("add", "rates", "report", "--reason", " "), "needs a reason"),
        (("undo", "999", "--reason", "x"), "no correction 999"),
    ],
)
def test_what_cannot_be_corrected_is_told_in_a_sentence(
    shop: tuple[Path, Client], words: tuple[str, ...], told: str
) -> None:
    code, output = ingest(shop, "correct", *words)
    assert code == 2 and told in output
    assert "Traceback" not in output


def test_a_list_that_is_not_whole_says_so(shop: tuple[Path, Client]) -> None:
    for number in range(2):
        assert ingest(shop, "correct", "add", "rates", "report", "--reason", f"reason {number}")[0] == 0
    assert "note: there are older ones" in ingest(shop, "correct", "list", "--limit", "1")[1]
    assert "note:" not in ingest(shop, "correct", "list")[1]


def test_a_diff_has_the_expression_before_and_after(shop: tuple[Path, Client]) -> None:
    then = datetime.fromtimestamp(CHANGED / 1000 - 1, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    lines = [line.strip() for line in ingest(shop, "diff", "--from", then)[1].splitlines()]
    at = next(n for n, line in enumerate(lines) if line.startswith("column edge changed"))
    assert f"{SCHEMA}.orders.total -> {SCHEMA}.daily.total" in lines[at]
    assert lines[at + 1 : at + 3] == ["- SUM(total)", "+ SUM(total * rate)"]
