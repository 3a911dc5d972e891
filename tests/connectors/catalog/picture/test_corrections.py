"""Correcting by hand in the page: with the keyboard, with a reason and a name, and back again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from selenium.webdriver.common.by import By

from tests.support.browser import ENTER, ESCAPE, NAMELESS, SMALL, WIDER, Page
from tests.support.served_page import DESK, PHONE, ServedPage, served_page
from tests.support.shop_history import SCHEMA, fill

pytestmark = pytest.mark.browser

VIEW = f"t=1.1.{SCHEMA}.daily&days=0"
HOSTILE = "<img src=x onerror=alert(1)> \u202egnorw"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedPage]:
    with served_page(tmp_path_factory.mktemp("shop"), fill) as shown:
        yield shown


@pytest.fixture
def shop(served: ServedPage) -> Iterator[ServedPage]:
    yield served
    assert served.page.complaints() == []


def explain(page: Page, reason: str, author: str = "") -> None:
    """Fills the dialog in and sends it, as the focus goes."""
    page.until(lambda: page.js("return document.getElementById('correction').open"), "the dialog")
    page.driver.find_element(By.ID, "correction-reason").send_keys(reason)
    if author:
        field = page.driver.find_element(By.ID, "correction-author")
        field.clear()
        field.send_keys(author)
    page.button("correction-send")


def test_a_link_is_rejected_with_a_reason_and_is_there_again_when_that_is_undone(shop: ServedPage) -> None:
    page = shop.show(f"{VIEW}&e={SCHEMA}.rates%0Arate%09{SCHEMA}.daily%0Atotal", 4)
    page.until(lambda: page.texts("#panel .said"), "the link")
    before = page.wires()
    page.driver.find_element(By.CSS_SELECTOR, "[data-verdict=rejected]").click()
    assert page.text("#correction-ends") == "rates.rate → daily.total"
    page.press(ESCAPE)
    assert not page.js("return document.getElementById('correction').open")
    page.driver.find_element(By.CSS_SELECTOR, "[data-verdict=rejected]").click()
    explain(page, HOSTILE, "ann <b>")
    page.until(lambda: page.texts("#corrections li"), "the correction")
    assert not page.js("return document.getElementById('correction').open")
    told = page.text("#corrections li")
    assert "rejected" in told and "ann <b>" in told
    assert "<img src=x onerror=alert(1)> ‹U+202E›gnorw" in told
    assert page.js("return document.querySelectorAll('#panel img, #panel b b').length") == 0
    assert page.wires("direct") < before
    assert page.wires("table") == 1, "the statement reads the table all the same"
    stored = shop.client.get("/headwater/corrections")[1]["corrections"]
    assert [(one["reason"], one["author"], one["undone"]) for one in stored] == [(HOSTILE, "ann <b>", None)]
    page.driver.find_element(By.CSS_SELECTOR, "#corrections button").click()
    explain(page, "it was right")
    page.until(lambda: "Undone by ann <b>" in page.text("#corrections li"), "the way back")
    assert page.wires() == before
    assert page.js("return document.getElementById('correction-author').value") == "ann <b>", "the name is kept"


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_a_source_is_added_and_shown_as_what_a_person_said(shop: ServedPage, size: tuple[int, int]) -> None:
    target = "report" if size == DESK else "daily"
    page = shop.show(f"t=1.1.{SCHEMA}.{target}&days=0&columns=all", None, size)
    page.until(lambda: page.tables > 1, "the picture")
    page.search(f"{target}.day")
    page.press(ENTER)
    page.until(lambda: page.texts("#impact p, #impact tr"), "the panel")
    page.driver.find_element(By.XPATH, "//button[text()='Add a source …']").click()
    page.until(lambda: page.js("return document.activeElement.id") == "correction-from", "the focus")
    assert page.js(WIDER) == []
    assert page.js(SMALL, 16) == []
    assert page.js(NAMELESS) == []
    page.driver.find_element(By.ID, "correction-from").send_keys("orders.nothing")
    explain(page, "x")
    page.until(lambda: "not found" in page.text("#correction-failed"), "what is wrong")
    field = page.driver.find_element(By.ID, "correction-from")
    field.clear()
    field.send_keys("rates.day")
    page.until(lambda: page.js("return document.getElementById('correction-found').children.length"), "suggestions")
    field.clear()
    field.send_keys(f"{SCHEMA}.rates.day")
    page.button("correction-send")
    page.until(lambda: any("rates.day" in text for text in page.texts("#chain .go")), "the new source")
    assert "added" in page.text("#corrections li")
    assert page.js(WIDER) == []
    assert all("404" in complaint for complaint in page.complaints())


def test_a_picture_of_the_time_before_shows_what_was_corrected_since(shop: ServedPage) -> None:
    client = shop.client
    before = client.get("/headwater/moments")[1]["moments"][-1]["at"]
    ends = {"from": {"entity": f"{SCHEMA}.daily"}, "to": {"entity": f"{SCHEMA}.report"}}
    status, _ = client.post("/headwater/corrections", {"verdict": "rejected", "reason": "no", **ends})
    assert status == 200
    page = shop.show(f"t=1.1.{SCHEMA}.daily&base={before}", None)
    page.until(lambda: page.texts(".wires .change.removed"), "what was rejected")
    assert "compared with now" in page.driver.title


def test_what_is_not_sure_is_confirmed(shop: ServedPage) -> None:
    client = shop.client
    ids = {one["name"]: one["id"] for one in client.get("/tables", limit=10)[1]["data"]}
    column = {"from": [f"{SCHEMA}.rates.rate"], "to": f"{SCHEMA}.orders.total", "type": "DIRECT", "certain": False}
    said = {"producer": {"kind": "query", "key": "q"}, "source": "QueryLineage", "columns": [column], "confidence": 0.5}
    ends = {"fromEntity": {"id": ids["rates"], "type": "table"}, "toEntity": {"id": ids["orders"], "type": "table"}}
    edge = {**ends, "contribution": said}
    assert client.post("/headwater/lineage", {"batchId": "unsure", "edges": [edge]})[0] == 200
    link = f"e={SCHEMA}.rates%0Arate%09{SCHEMA}.orders%0Atotal"
    page = shop.show(f"t=0.0.{SCHEMA}.rates&t=0.0.{SCHEMA}.orders&days=0&{link}", 2)
    page.until(lambda: page.texts("#panel .said"), "the link")
    assert "not certain" in page.text("#panel .pills")
    page.driver.find_element(By.CSS_SELECTOR, "[data-verdict=confirmed]").click()
    explain(page, "the contract says so")
    page.until(lambda: "confirmed" in page.text("#corrections li"), "the correction")
    shop.show(f"t=0.0.{SCHEMA}.rates&t=0.0.{SCHEMA}.orders&days=0&{link}", 2)
    page.until(lambda: len(page.texts("#panel .said")) == 2, "both words")
    assert "not certain" not in page.text("#panel .pills")
    assert page.driver.find_elements(By.CSS_SELECTOR, "[data-verdict=confirmed]") == []
    assert client.edge({"id": ids["rates"]}, {"id": ids["orders"]})["columnsLineage"]
