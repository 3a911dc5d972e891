"""Runs, coverage and freshness in the page: from the start, with the keyboard, on a desk and on a phone."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By

from tests.support.browser import NAMELESS, SMALL, WIDER, Page
from tests.support.http_client import Client
from tests.support.served_page import DESK, PHONE, ServedPage, served_page
from tests.support.shop_history import AFTER, BEFORE, SCHEMA, fill

pytestmark = pytest.mark.browser

HOSTILE = "INSERT INTO x SELEKT <img src=x onerror=alert(1)> \u202e?"


def tell(client: Client) -> None:
    """The shop, and two runs of which the second gave up on two statements."""
    fill(client)
    for number, dead in enumerate(({}, {"unparsable": 1, "templated": 1}), 1):
        counts = {"statements": 9, "published": 6, "skipped": {"select": 3 - len(dead)}, "dead": dead}
        run = {"workflow": "nightly", "run": f"{number}a{number}", "outcome": "done", "started": AFTER + number * 1_000}
        run |= {"ended": AFTER + number * 1_500, "report": {"counts": counts}, "replay": "ingest replay -c wf.yaml"}
        assert client.post("/headwater/workflow-runs", run)[0] == 200
    orders = client.get(f"/tables/name/{SCHEMA}.orders")[1]["id"]
    of_run = {"run": "2a2", "masked": HOSTILE}
    dead = [
        {**of_run, "location": "log.csv:7", "reason": "unparsable", "writes": [orders]},
        {**of_run, "location": "log.csv:9", "reason": "templated", "error": "line 1: {{ x }}"},
    ]
    told = {"workflow": "nightly", "dead": dead, "dead_total": 2}
    assert client.post("/headwater/workflow-runs/open-statements", told)[0] == 200


@pytest.fixture(scope="module")
def noted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("noted") / "replayed"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, noted: Path) -> Iterator[ServedPage]:
    note = "import pathlib, sys; pathlib.Path(sys.argv[1]).write_text(sys.argv[2])"
    replays = {"nightly": (sys.executable, "-c", note, str(noted))}
    with served_page(tmp_path_factory.mktemp("shop"), tell, replays) as shown:
        yield shown


@pytest.fixture
def shop(served: ServedPage) -> Iterator[ServedPage]:
    yield served
    assert served.page.complaints() == []


def begin(shop: ServedPage, size: tuple[int, int]) -> Page:
    page = shop.show("", None, size)
    page.until(lambda: page.texts("#start-coverage"), "the start")
    return page


def click(page: Page, selector: str) -> None:
    page.driver.find_element(By.CSS_SELECTOR, selector).click()


def looks_well(page: Page) -> None:
    """Nothing is wider than the window, nothing to tap too small, nothing without a name."""
    assert page.js(WIDER) == []
    assert page.js(NAMELESS) == []
    if page.js("return window.innerWidth") == PHONE[0]:
        assert page.js(SMALL) == []


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_from_the_start_to_a_run_and_what_it_gave_up_on(shop: ServedPage, size: tuple[int, int]) -> None:
    page = begin(shop, size)
    assert page.text("#start-runs").endswith(": Done")
    looks_well(page)
    click(page, "#start-runs")
    page.until(lambda: page.texts("#runs li"), "the runs")
    assert len(page.texts("#runs li")) == 2
    assert "Done, 1.0 s: 6 gave lineage, 1 left out, 2 given up on" in page.texts("#runs li")[0]
    label = page.js("return document.getElementById('trend').getAttribute('aria-label')")
    assert label == "Statements of 2 runs, at most 9; given up on: 0, 2"
    looks_well(page)
    click(page, "[data-run='2a2']")
    page.until(lambda: page.texts("#dead li"), "the run")
    told = "A template was left in the text that nobody filled in"
    assert page.texts("[data-tally=dead] li")[0].startswith(f"1{told} templated")
    assert page.texts("[data-tally=dead] .reason")[0] == "templated"
    assert f"Given up on: {told}: 0 → 1" in page.text("#run-changes")
    assert f"log.csv:9{told} (line 1: {{{{ x }}}}) templated" in page.texts("#dead li")[1]
    words = page.text("#panel").replace(told, "")
    assert not [word for word in ("published", "skipped", "dead", "_") if word in words.replace("nightly", "")]
    assert "<img src=x onerror=alert(1)> ‹U+202E›?" in page.text("#dead")
    assert page.js("return document.querySelectorAll('#panel img').length") == 0
    looks_well(page)
    page.button("runs-back")
    page.until(lambda: page.texts("#runs li"), "the runs again")


def test_a_dead_statement_is_read_again_where_the_server_can(shop: ServedPage, noted: Path) -> None:
    page = begin(shop, DESK)
    click(page, "#start-runs")
    page.until(lambda: page.texts("#runs li"), "the runs")
    click(page, "[data-run='2a2']")
    page.until(lambda: page.texts("[data-replay]"), "the buttons")
    click(page, "[data-replay='log.csv:9']")
    page.until(lambda: "is being read again" in page.text("#status"), "the answer")
    page.until(noted.exists, "the replay")
    assert noted.read_text() == "--statement=log.csv:9"


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_what_is_not_covered_is_a_list_to_work_off(shop: ServedPage, size: tuple[int, int]) -> None:
    page = begin(shop, size)
    assert "Source known of 4 tables: 2 by columns, 0 by table, 2 not at all" in page.text("#start-coverage")
    click(page, "#start-coverage")
    page.until(lambda: page.texts("#uncovered li"), "the list")
    label = page.js("return document.getElementById('coverage-trend').getAttribute('aria-label')")
    assert label == "Source known by columns after each of 2 runs: 50 %, 50 %"
    rows = page.texts("#uncovered li")
    assert "orders" in rows[0] and "unparsable" in rows[0] and "log.csv:7" in rows[0]
    assert "No statement that was read fills it" in rows[1]
    assert page.texts("#uncovered .reason") == ["unparsable", "not_written"]
    looks_well(page)
    page.button("runs-back")
    page.until(lambda: page.texts("#runs li"), "the runs")
    click(page, "#show-freshness")
    page.until(lambda: page.texts("#fresh li"), "the tables")
    assert BEFORE < AFTER and "never seen filled from others" in page.text("#fresh")
    looks_well(page)
    click(page, "#fresh li .go")
    page.until(lambda: page.tables > 0, "the picture of the table")
