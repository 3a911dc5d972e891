"""Many tables in the page: a hub with 500 readers, schemas and services, finding, searches that narrow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.select import Select
from typer.testing import CliRunner

from connectors.catalog.page.html import self_contained_page
from tests.support.browser import ENTER, ESCAPE, NAMELESS, SMALL, WIDER, Page
from tests.support.hub_catalog import CHANGED, HUB, READERS, REWORDED, fill
from tests.support.layered_document import layered_document, layered_view
from tests.support.served_page import DESK, PHONE, ServedPage, resize, served_page
from workflows.cli import app

pytestmark = pytest.mark.browser

_OVERLAPS = """
    const boxes = [...document.querySelectorAll('.card .plate')].map((e) => e.getBoundingClientRect());
    const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    return boxes.some((a, at) => boxes.slice(at + 1).some((b) => meet(a, b)));
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedPage]:
    with served_page(tmp_path_factory.mktemp("port"), fill) as shown:
        yield shown


@pytest.fixture
def port(served: ServedPage) -> Iterator[ServedPage]:
    yield served
    assert served.page.complaints() == []


def one(page: Page, selector: str) -> Any:
    return page.driver.find_element(By.CSS_SELECTOR, selector)


def test_a_hub_shows_its_most_used_readers_and_lists_all_of_them(port: ServedPage) -> None:
    page = port.show(f"t=1.1.{HUB}", 22)
    assert page.js(_OVERLAPS) is False
    assert {f"quay_{n}" for n in (499, 498, 480)} <= {name for name in page.cards() if name.startswith("quay")}
    assert page.texts(".expand text") == ["+480"]
    page.click(one(page, "[data-expand=downstream]"))
    page.until(lambda: page.texts(".entities li"), "the list")
    assert f"1 to 20 of {READERS}" in page.text("#panel [role=status]")
    assert page.texts(".entities b")[:2] == ["quay_499", "quay_498"]
    assert "in the picture" in page.texts(".entities .how")[0]
    assert page.js(NAMELESS) == []
    page.driver.find_element(By.XPATH, "//button[text()='Later']").click()
    page.until(lambda: page.texts(".entities b")[0] == "quay_479", "the second page")
    Select(one(page, ".list-order")).select_by_value("name")
    page.until(lambda: page.texts(".entities b")[0] == "quay_000", "the order of names")
    one(page, ".list-search").send_keys("uay_12")
    page.until(lambda: f"1 to 10 of 10 (of {READERS})" in page.text("#panel [role=status]"), "what is searched")
    one(page, ".bring-all").click()
    page.until(lambda: page.tables == 32, "ten more in the picture")
    assert "t=0.0.port.main.quays.quay_125" in page.state()


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_of_two_moments_a_hub_shows_what_changed_and_lists_the_rest(port: ServedPage, size: tuple[int, int]) -> None:
    page = port.show(f"t=1.1.{HUB}&base={CHANGED - 1}&asof={CHANGED + 1}", 22, size)
    page.button("zoom-fit")
    page.until(lambda: len(page.cards()) == 22, "all cards")
    shown = {name for name in page.cards() if name.startswith("quay")}
    assert len(shown) == 20 and all(int(name[-3:]) < REWORDED for name in shown)
    assert f"20 links changed; {REWORDED - 20} more changed beside these tables" in page.status
    assert page.js("return document.querySelector('.expand.changed').ariaLabel") == (
        "+480 ±5: show 480 downstream of harbour, of which 5 changed"
    )
    page.js("document.querySelector('.card.root').focus()")
    page.press("]")
    page.until(lambda: page.texts(".entities li"), "the list")
    assert f"1 to 20 of {READERS}; {REWORDED} changed" in page.text("#panel [role=status]")
    assert page.texts(".entities .glyph") == ["~"] * 20
    page.driver.find_element(By.XPATH, "//button[text()='Later']").click()
    page.until(lambda: len(page.texts(".entities .glyph")) == 5, "the second page: five that changed, then the others")
    assert page.texts(".entities b")[5] == "quay_499"
    assert page.js(NAMELESS) == []
    assert page.js(WIDER) == []
    one(page, ".bring-all").click()
    page.until(lambda: page.tables > 22 and "more changed" not in page.status, "those in the picture")


def test_a_file_of_two_moments_shows_a_hub_in_the_same_way(port: ServedPage, tmp_path: Path) -> None:
    file = tmp_path / "changes.html"
    moments = ["--compare", "2023-11-15T22:13:19", "--as-of", "2023-11-15T22:13:21"]
    result = CliRunner().invoke(app, ["export", "--catalog", str(port.file), "--html", str(file), *moments])
    assert result.exit_code == 0, result.output
    page = port.page
    page.open(f"{file.as_uri()}#t=1.1.{HUB}", 22)
    assert f"20 links changed; {REWORDED - 20} more changed beside these tables" in page.status
    page.js("document.querySelector('.card.root').focus()")
    page.press("]")
    page.until(lambda: page.texts(".entities li"), "the list")
    assert f"1 to 20 of {READERS}; {REWORDED} changed" in page.text("#panel [role=status]")


def test_a_key_opens_the_list_where_neighbours_are_many(port: ServedPage) -> None:
    page = port.show(f"t=1.0.{HUB}", 2)
    page.js("document.querySelector('.card.root').focus()")
    page.press("]")
    page.until(lambda: page.js("return document.activeElement.className") == "list-search", "the list, ready to search")


def test_from_the_picture_one_goes_out_to_schemas_and_services_and_in_again(port: ServedPage, tmp_path: Path) -> None:
    page = port.show(f"t=1.1.{HUB}", 22)
    page.press("o")
    page.until(lambda: "3 schemas, 502 tables, 2 links" in page.status, "the schemas")
    assert page.driver.title == "all schemas · Lineage"
    assert page.js("return document.getElementById('title').textContent") == "Lineage of all schemas"
    assert {"495 more tables", "quay_499"} <= set(page.texts(".card .more text, .card .column-name"))
    assert page.js(NAMELESS) == []
    link = page.driver.current_url
    page.driver.find_element(By.XPATH, "//*[@id='save-svg']/ancestor::details/summary").click()
    page.button("save-svg")
    assert "quay_499" in page.saved("lineage.svg")
    page.driver.find_element(By.XPATH, "//button[text()='Services']").click()
    page.until(lambda: "2 services, 502 tables, 1 links" in page.status, "the services")
    page.driver.back()
    page.until(lambda: "3 schemas" in page.status, "the schemas again")
    page.open(link)
    page.until(lambda: "3 schemas" in page.status, "the same by a link")
    page.click_wire("table")
    page.until(lambda: "lead from tables" in page.text("#panel p"), "the links between two schemas")
    page.press(ESCAPE)
    page.click(page.driver.find_element(By.XPATH, "//*[name()='text'][text()='quays']"))
    page.until(lambda: page.texts(".entities b")[:1] == ["quay_499"], "the tables of a schema")
    page.button("area-open")
    page.until(lambda: page.tables == 30, "its most used tables")


def test_columns_are_found_in_the_picture_though_they_are_folded_away(port: ServedPage) -> None:
    page = port.show(f"t=1.1.{HUB}", 22)
    page.press("F")
    page.driver.switch_to.active_element.send_keys("tide 05")
    page.until(lambda: page.text("#find-count") == "10", "how many there are")
    page.press(ENTER)
    page.until(lambda: page.text("#find-count") == "1 of 10, harbour.tide_050", "the first")
    assert page.texts(".column.current .column-name") == ["tide_050"]
    place = one(page, ".column.current").rect
    assert 0 < place["y"] < DESK[1]
    page.press(ESCAPE)
    assert page.js("return document.activeElement.getAttribute('aria-label')").startswith("column tide_050")
    page.press("F")
    one(page, "#find-text").clear()
    one(page, "#find-text").send_keys("ship")
    page.until(lambda: page.text("#find-count") == "23", "tables and columns")
    one(page, "#find-here").click()
    page.until(lambda: page.text("#find-count") == "1", "those of one table")
    page.press(ESCAPE)


def test_a_search_is_narrowed_by_what_is_typed_and_by_controls_alike(port: ServedPage) -> None:
    page = port.show("", 0)
    assert page.search("tag:pii") == ["harbour", "ships", "crew"]
    assert "500 readers" in page.texts("#results .use")[0]
    assert page.search("owner:ann") == ["ships"]
    assert page.search("quay used:>28") == ["quay_498", "quay_499"]
    one(page, "#narrow summary").click()
    assert one(page, "#narrow-used").get_attribute("value") == "29"
    page.until(lambda: "PII.Sensitive" in page.js("return document.querySelector('#narrow-tags').innerHTML"), "values")
    one(page, "#narrow-readers").send_keys("1", ENTER)
    one(page, "#narrow-tag").click()
    page.until(lambda: page.js("return document.getElementById('search').value").endswith("readers:>=1"), "the text")
    one(page, "#narrow-reset").click()
    assert page.js("return document.getElementById('search').value") == "quay"
    assert page.js(NAMELESS) == []


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_what_a_search_finds_is_a_page_that_a_link_leads_to(port: ServedPage, size: tuple[int, int]) -> None:
    page = port.show("q=quay used:%3E21 sort:name", 0, size)
    page.until(lambda: page.texts("#beginnings .found"), "the results")
    assert page.texts("#beginnings .found") == [f"port.main.quays.quay_{n}" for n in range(491, 500)]
    assert "22 runs" in page.texts("#beginnings .count")[0]
    assert page.driver.title == "quay used:>21 sort:name · Lineage"
    assert page.js(WIDER) == []
    page.search("quay used:>21 sort:used")
    page.press("\ue013", ENTER)  # up: the last offer is all of it
    page.until(lambda: "sort:used" in page.state(), "another page of results")
    page.until(lambda: page.texts("#beginnings .found")[:1] == ["port.main.quays.quay_499"], "in another order")


@pytest.mark.parametrize("view", ["a=schemas.", f"t=1.1.{HUB}"])
def test_on_a_phone_all_of_it_fits(port: ServedPage, view: str) -> None:
    page = port.show(view, None, PHONE)
    page.until(lambda: page.tables > 0, "the picture")
    page.press("F")
    assert page.js(WIDER) == []
    assert page.js(SMALL, 24) == []
    page.press(ESCAPE)
    one(page, "#narrow summary").click()
    assert page.js(WIDER) == []
    assert page.js(SMALL, 24) == []


def test_an_exported_file_narrows_lists_and_goes_out_as_the_catalog_does(port: ServedPage, tmp_path: Path) -> None:
    file = tmp_path / "port.html"
    arguments = ["export", "--catalog", str(port.file), "--html", str(file), "--days", "0"]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    page = port.page
    page.open(file.as_uri(), None)
    page.until(lambda: page.texts("#start-used .found"), "where to begin")
    for text in ("tag:pii", "owner:ann", "producer:nightly.load", "quay readers:>0", "readers:>100", "used:29..600"):
        here = page.search(text)
        answer = port.client.get("/headwater/search", q=text, limit=40)[1]["results"]
        assert sorted(here) == sorted(found["name"] for found in answer), text
    page.press(ESCAPE)
    page.press("o")
    page.until(lambda: "3 schemas, 502 tables, 2 links" in page.status, "the schemas")


LETTERS = """
    const scale = new DOMMatrix(getComputedStyle(document.querySelector('.world')).transform).a;
    const texts = [...document.querySelectorAll('#drawing text')].filter((e) => e.textContent.trim());
    return Math.min(...texts.map((e) => parseFloat(getComputedStyle(e).fontSize) * scale));
"""
BEYOND = """
    const [whole, beyond] = [document.getElementById('picture').getBoundingClientRect(), []];
    for (const card of document.querySelectorAll('.card')) {
      const box = card.getBoundingClientRect();
      const inside = box.left >= whole.left && box.right <= whole.right && box.top >= whole.top;
      if (!inside || box.bottom > whole.bottom) beyond.push(card.textContent);
    }
    return beyond;
"""
CLICK = "card.dispatchEvent(new MouseEvent('click', { bubbles: true }))"
PLACES = """
    const box = (e) => e.querySelector('.plate').getBoundingClientRect();
    const place = (e) => [e.getAttribute('data-card'), [Math.round(box(e).left), Math.round(box(e).top)]];
    return Object.fromEntries([...document.querySelectorAll('.card')].map(place));
"""


def shown_layers(port: ServedPage, folder: Path, *layers: int, view: str | None = None) -> Page:
    document = layered_document(layers)
    file = folder / f"{sum(layers)}.html"
    file.write_text(self_contained_page(document, "Layers"), "utf-8")
    resize(port.page, DESK)
    port.page.open(f"{file.as_uri()}#{layered_view(document) if view is None else view}")
    port.page.until(lambda: port.page.texts(".card, #start-used li"), "cards, or where to begin")
    return port.page


@pytest.mark.parametrize(
    ("layers", "words", "cards"),
    [
        ((3, 4, 3, 2), "", 12),
        ((6, 8, 6, 5), "names only, to fit", 25),
        ((20, 30, 30, 20, 6), "grouped by schema, to fit", None),
        ((100, 200, 200, 90, 10), "grouped by schema, to fit", None),
    ],
)
def test_all_of_a_picture_is_in_sight_and_legible(
    port: ServedPage, tmp_path: Path, layers: tuple[int, ...], words: str, cards: int | None
) -> None:
    page = shown_layers(port, tmp_path, *layers)
    assert words in page.status and "there is more" not in page.status
    assert page.js(LETTERS) >= 11
    assert page.js(BEYOND) == []
    names = page.texts(".card .name")
    assert len(names) == (cards or len(names)) and all(names)
    if cards is None:
        counted = [int(text) for text in page.texts(".card[aria-label^='schema '] .column-type")]
        assert sum(counted) + len(names) - len(counted) == sum(layers)


def test_what_is_expanded_opened_or_taken_out_leaves_the_rest_where_it_was(port: ServedPage, tmp_path: Path) -> None:
    page = shown_layers(port, tmp_path, 20, 30, 30, 20, 6)
    before = page.js(PLACES)
    group = next(one for one in before if one.startswith("group upstream main.raw"))
    page.js(f"const card = document.querySelector('.card[data-card=\"{group}\"]'); {CLICK}")
    page.until(lambda: group not in page.js(PLACES), "the tables of the group")
    page.until(lambda: places_of(page, before) == {**before, group: None}, "the others where they were")
    assert "g=group+upstream+main.raw" in page.driver.current_url
    page = shown_layers(port, tmp_path, 3, 4, 3, 2, view="t=1.1.shop.main.stage.stock_1_0")
    before = page.js(PLACES)
    page.js(f"const card = document.querySelector('[data-expand]'); {CLICK}")
    page.until(lambda: len(page.js(PLACES)) > len(before), "more tables")
    page.until(lambda: places_of(page, before) == before, "the others where they were")


def test_beside_the_panel_of_what_was_searched_for_as_much_is_shown_as_fits(port: ServedPage, tmp_path: Path) -> None:
    page = shown_layers(port, tmp_path, 6, 12, 4, 14, 6, view="")
    page.search("+orders_2_1+")
    page.press(ENTER)
    page.until(lambda: page.texts("#impact tr"), "the panel")
    assert "names only, to fit" in page.status
    page.until(lambda: page.js(BEYOND) == [], "all of it beside the panel")
    assert page.js(LETTERS) >= 11


def places_of(page: Page, cards: Iterable[str]) -> dict[str, list[int] | None]:
    known = page.js(PLACES)
    return {one: known.get(one) for one in cards}
