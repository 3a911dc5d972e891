"""The explorer as people use it all day: on a desk and on a phone, with a graph large enough for its minimap."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By
from typer.testing import CliRunner

from tests.support.browser import COPIED, ENTER, NAMELESS, SMALL, WIDER, Page
from tests.support.mill_catalog import DOTTED, FILE, HUB, LONG, READERS, fill
from tests.support.served_page import DESK, PHONE, ServedPage, served_page
from workflows.cli import app

pytestmark = pytest.mark.browser

ALL = f"t=9.9.{HUB}"
CARDS = 1 + 2 + 2 + len(READERS) + 4  # flours; grains, grain.csv; sales, yearly; readers; the strange names, old_name


HEADING = "h1:not([hidden]):not([hidden] *)"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedPage]:
    with served_page(tmp_path_factory.mktemp("mill"), fill) as shown:
        yield shown


@pytest.fixture
def mill(served: ServedPage) -> Iterator[ServedPage]:
    yield served
    assert served.page.complaints() == []


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_the_list_is_left_by_the_button_that_opened_it_and_one_can_search_in_it(
    mill: ServedPage, size: tuple[int, int]
) -> None:
    page = mill.show(ALL, CARDS, size)
    assert page.js("return document.getElementById('minimap').hidden") is False
    for listed in (True, False, True):
        page.button("list-toggle")
        assert page.driver.find_element(By.ID, "list").is_displayed() == listed
    page.search("yearly")
    page.press(ENTER)
    page.until(lambda: page.tables == 2, "yearly and its source")
    assert "did not work" not in page.status


def test_the_minimap_frames_what_is_in_sight_beside_a_panel_too(mill: ServedPage) -> None:
    page = mill.show(ALL, CARDS)
    page.press("+", "+")
    wide = "return document.querySelector('#minimap i').getBoundingClientRect().width"
    seen = "return document.getElementById('picture').clientWidth"
    time.sleep(0.5)  # until the camera rests
    before = page.js(wide), page.js(seen)
    page.js("document.querySelector('.card').dispatchEvent(new MouseEvent('click', { bubbles: true }))")
    page.until(lambda: page.js(seen) < before[1] - 100, "the panel")
    narrower = before[0] * page.js(seen) / before[1]
    page.until(lambda: abs(page.js(wide) - narrower) < 2, "the frame as large as what is in sight")


def test_each_choice_of_a_table_is_a_step_of_the_way_back_and_names_the_page(mill: ServedPage) -> None:
    page = mill.show("", 0)
    titles = []
    for name in ("flours", "sales", "yearly"):
        page.search(name)
        page.press(ENTER)
        titled(page, f"{name} · Lineage")
        titles.append(page.driver.title)
        assert page.text(HEADING) == f"Lineage of {name}"
    for title in (titles[1], titles[0]):
        page.driver.back()
        titled(page, title)
    page.driver.back()
    page.until(lambda: "Where did this column" in page.text("#start:not([hidden]) h1"), "the first page")
    page.driver.forward()
    titled(page, titles[0])


def titled(page: Page, title: str) -> None:
    page.until(lambda: page.driver.title == title, title)


def test_a_link_to_what_is_not_there_says_where_it_went_or_what_is_called_nearly_so(mill: ServedPage) -> None:
    page = mill.show("t=1.1.mill.main.core.flors", None)
    page.until(lambda: page.texts("#beginnings button"), "near names")
    assert "flors is not here" in page.text("#start h1")
    assert HUB in page.texts("#beginnings .found")
    page = mill.show("t=1.1.mill.main.core.old_name", None)
    page.until(lambda: "was renamed on 2023-11-15" in page.text("#start-count"), "the renaming")
    assert page.texts("#beginnings .count") == ["its name now"]
    page.driver.find_element(By.CSS_SELECTOR, "#beginnings button").click()
    page.until(lambda: page.cards() == {"new_name", "flours"}, "the new name")
    assert all("404" in complaint for complaint in page.complaints())
    mill.show(f"t=0.0.{HUB}&t=0.0.mill.main.core.nothing", 1)
    assert "not here: mill.main.core.nothing" in page.status


def test_tables_come_before_columns_and_words_parts_accents_and_slips_are_found(mill: ServedPage) -> None:
    page = mill.show("", 0)
    for text, found in {
        "flour": ["flours", "dim_flours", "fact_flours", "flour_quality"],
        "flours dim": ["dim_flours"],
        "dimflours": ["dim_flours"],
        "flurs": ["flours", "dim_flours", "fact_flours"],
        "monthly": ["milledMonthly"],
        "cafe pais": ["café_país"],
        "raw grains kilos": ["kilos"],
        "quuality": ["flour_quality"],
    }.items():
        assert page.search(text) == found, text
    found = page.search("gra")
    assert found[:2] == ["grains", "/in/grain.csv"]
    assert set(found[2:]) == {"grade"}
    assert set(page.texts("#results b")) == {"gra"}


@pytest.mark.parametrize("view", ["", ALL, f"{ALL}&list=1", f"t=1.1.{HUB}&p={HUB}%0Akilos"])
def test_a_phone_shows_everything_in_its_width(mill: ServedPage, view: str) -> None:
    page = mill.show(view, None, PHONE)
    page.until(lambda: page.status, "the page")
    if "p=" in view:
        page.search("flours.kilos")
        page.press(ENTER)
        page.until(lambda: page.texts("#impact tbody tr"), "the panel")
        bottom, top = page.js(
            "const box = (e) => document.querySelector(e).getBoundingClientRect();"
            "return [box('footer').top, box('#panel').bottom]"
        )
        assert abs(bottom - top) <= 1, "no strip is left below the panel"
        seen = page.column("flours", "kilos").rect
        assert seen["y"] + seen["height"] < page.driver.find_element(By.ID, "panel").rect["y"]
    if "list" in view:
        assert min(page.js("return [...document.querySelectorAll('.links td')].map((e) => e.clientWidth)")) > 200
    assert page.js(WIDER) == []
    assert page.js(SMALL, 24) == []
    for menu in page.driver.find_elements(By.CSS_SELECTOR, "nav summary"):
        menu.click()
        assert page.js(WIDER) == []
        menu.click()


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_names_however_long_or_strange_stay_in_their_places_and_cannot_pass_for_others(
    mill: ServedPage, size: tuple[int, int]
) -> None:
    page = mill.show(f"t=1.1.mill.main.core.{LONG}&p=mill.main.core.{LONG}%0Aday&list=1", 2, size)
    assert page.js(WIDER) == []
    page.driver.find_element(By.CSS_SELECTOR, "#list .tables button").click()
    page.until(lambda: page.texts("#impact p, #impact tr"), "the panel")
    assert page.js(WIDER) == []
    page.search("grind")
    assert page.js(WIDER) == []
    page.search("gnitsrow")
    assert page.texts("#results .found") == ["‹U+202E›gnitsrow"]
    page.press(ENTER)
    page.until(lambda: page.driver.title.startswith("‹U+202E›gnitsrow"), "its picture")
    assert "\u202e" not in page.js("return document.body.innerText + document.title")
    assert page.search("sacks") == [DOTTED]
    assert page.texts("#results .where") == ["mill.main.core"]


def test_light_or_dark_is_kept(mill: ServedPage) -> None:
    page = mill.show(ALL, CARDS)
    background = "return getComputedStyle(document.body).backgroundColor"
    before = page.js(background)
    page.button("theme")
    chosen = page.js(background)
    mill.show("", 0)
    assert page.js(background) == chosen != before
    page.button("theme")
    assert page.js(background) == before


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_nothing_covers_the_rows_of_the_list(mill: ServedPage, size: tuple[int, int]) -> None:
    page = mill.show(f"{ALL}&list=1", CARDS, size)
    page.js("document.getElementById('list').scrollTop = 120")
    covered = page.js("""
        const list = document.getElementById('list').getBoundingClientRect();
        const points = [];
        for (let x = list.left + 8; x < list.right - 20; x += 30)
          for (let y = list.top + 8; y < list.bottom; y += 12) points.push(document.elementFromPoint(x, y));
        return points.filter((e) => !e.closest('#list')).map((e) => e.outerHTML.slice(0, 60));
    """)
    assert covered == []


def test_everything_that_can_be_used_has_a_name_and_a_size_and_each_view_one_heading(mill: ServedPage) -> None:
    page = mill.show(f"t=1.1.{HUB}", None)
    page.until(lambda: page.tables > 1, "the picture")
    page.driver.find_element(By.CSS_SELECTOR, "#filters summary").click()
    assert page.js(SMALL, 16) == []
    page.click_wire("direct")
    page.until(lambda: page.texts("#panel .said"), "an edge")
    assert page.js(NAMELESS) == []
    for view, tables in (("", 0), (ALL, CARDS), (f"{ALL}&list=1", CARDS)):
        mill.show(view, tables)
        page.until(lambda: page.text(HEADING), "a heading")
        assert len(page.texts(HEADING)) == 1


def test_an_exported_page_begins_at_the_table_with_the_most_neighbours(mill: ServedPage, tmp_path: Path) -> None:
    file = tmp_path / "lineage.html"
    arguments = ["export", "--catalog", str(mill.file), "--html", str(file), "--days", "0"]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    page = mill.page
    page.open(file.as_uri(), None)
    page.until(lambda: page.tables > CARDS - 1, "everything")
    assert page.js("return document.querySelector('.card.root').getAttribute('aria-label')").startswith(f"table {HUB},")
    for text in ("flour", "flours dim", "dimflours", "flurs", "cafe pais", "raw grains kilos", "monthly", "quuality"):
        here = page.search(text)
        answer = mill.client.get("/headwater/search", q=text, limit=40)[1]["results"]
        assert sorted(here) == sorted(one["name"] for one in answer), text
    assert FILE.split(".", 1)[1].strip('"') in page.search("grain csv")


def test_a_column_tells_its_whole_chain_as_the_command_does_and_lights_the_way_one_goes_along(
    mill: ServedPage, tmp_path: Path
) -> None:
    page = mill.show("t=0.0.mill.main.core.yearly&columns=all", 1)
    page.js(COPIED)
    page.click(page.column("yearly", "kilos"))
    page.until(lambda: page.texts("#chain .hop"), "the chain")
    names, filtering = page.texts("#chain .hop .go"), "grains.café_país"
    assert names == ["sales.kilos", "flours.kilos", "grains.kilos", filtering, "flours.grade", filtering]
    assert page.texts("#chain .expression") == [
        "SUM(core.flours.kilos * ?)",
        "COALESCE(raw.grains.kilos, ?)",
        "raw.grains.café_país = ?",
        "core.flours.grade > ?",
        "raw.grains.café_país = ?",
    ]
    assert page.texts("#chain .bases") == ["Made of grains.kilos", "Depending on grains.café_país"]
    page.button("chain-copy")
    page.until(lambda: page.js("return window.copied"), "the text")
    arguments = ["explain", "mill.main.core.yearly.kilos", "--catalog", str(mill.file), "--full"]
    assert page.js("return window.copied") == CliRunner().invoke(app, arguments).output
    said = page.texts("#chain .statement summary")
    assert said[1] == "Show the SQL (query, last seen 2023-11-14)"
    steps = ["← What it reads", "← Everything before", "What reads it →", "Everything after →"]
    assert page.texts("#panel .actions button")[:4] == steps
    page.driver.find_elements(By.CSS_SELECTOR, "#chain .statement summary")[1].click()
    page.until(lambda: page.texts("#chain .sql mark"), "the statement")
    assert page.texts("#chain .sql mark") == ["SUM(f.kilos * 2)"]
    page.button("chain-bring")
    page.until(lambda: page.tables == 4, "the tables of the chain")
    page.until(lambda: page.texts("#chain .hop"), "the chain again")
    page.hover(page.driver.find_elements(By.CSS_SELECTOR, "#chain .hop")[2])
    on_the_way = {"grains.kilos", "flours.kilos", "sales.kilos", "yearly.kilos"}
    page.until(lambda: page.lit() == on_the_way, "the light of one way")
    page.hover(page.driver.find_element(By.ID, "status"))
    page.until(lambda: page.lit() > on_the_way, "the light of the pin")


def test_the_light_falls_on_what_the_chain_has_and_not_on_the_filters_of_other_statements(mill: ServedPage) -> None:
    three = "&".join(f"t=0.0.mill.main.core.{name}" for name in ("sales", "flours", "stock"))
    page = mill.show(f"{three}&columns=all&p=mill.main.core.sales%0Akilos", 3)
    page.until(lambda: page.lit() == {"sales.kilos", "flours.kilos", "flours.grade"}, "the filter of kilos")
    mill.show(f"{three}&columns=all&p=mill.main.core.sales%0Agrade", 3)
    page.until(lambda: page.lit() == {"sales.grade", "stock.grade", "stock.day", "flours.day"}, "that of grade")


def test_what_breaks_stands_beside_it_row_by_row_with_its_way(mill: ServedPage) -> None:
    page = mill.show(f"t=0.0.{HUB}&columns=all", 1, PHONE)
    page.click(page.column("flours", "kilos"))
    page.until(lambda: page.texts("#impact tbody tr"), "the impact")
    rows = page.texts("#impact tbody tr")
    assert any("yearly" in row and "by way of sales.kilos" in row for row in rows)


def test_the_picture_can_be_saved_as_png_and_a_link_says_what_it_shows(mill: ServedPage, tmp_path: Path) -> None:
    page = mill.show(f"t=1.1.{HUB}", None)
    page.until(lambda: page.tables > 1, "the picture")
    page.js(COPIED)
    page.driver.find_element(By.XPATH, "//summary[text()='Save']").click()
    page.button("copy-link")
    page.until(lambda: page.js("return window.copied"), "the link")
    assert page.js("return window.copied") == f"flours · Lineage\n{page.driver.current_url}"
    page.button("save-png")
    content = page.saved_bytes("lineage.png")
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(content[16:20]) > 800
    assert json.dumps(page.complaints()) == "[]"


def test_a_result_that_is_tapped_on_a_phone_opens_its_table_and_nothing_that_lies_beneath(mill: ServedPage) -> None:
    touch = "Emulation.setTouchEmulationEnabled"
    mill.page.driver.execute_cdp_cmd(touch, {"enabled": True})
    page = mill.show(ALL, CARDS, PHONE)
    page.search("yearly kilos")
    box = page.driver.find_element(By.CSS_SELECTOR, "#results li").rect
    finger = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    for what, points in (("touchStart", [finger]), ("touchEnd", [])):
        page.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": what, "touchPoints": points})
        time.sleep(0.1)  # a finger is not so fast that the page could not change beneath it
    page.until(lambda: page.tables == 2, "yearly and its source")
    page.until(lambda: page.texts("#chain .hop"), "what yearly.kilos comes from")
    assert page.js("return document.querySelectorAll('details[open]:not(#panel *)').length") == 0
    close = page.driver.find_element(By.CSS_SELECTOR, "#close-panel")
    page.click(close)
    page.until(lambda: not page.driver.find_element(By.ID, "panel").is_displayed(), "the panel closed")
    page.driver.execute_cdp_cmd(touch, {"enabled": False})


def test_the_keyboard_stays_where_it_was_when_neighbours_come_and_works_beside_the_bar_of_time(
    mill: ServedPage,
) -> None:
    page = mill.show("t=0.0.mill.main.core.sales", 1)
    focused = "return document.activeElement.closest('.card')?.getAttribute('aria-label') ?? ''"
    page.js("document.querySelector('.card').focus()")
    page.press("]")
    page.until(lambda: page.tables == 2, "what reads sales")
    page.until(lambda: "core.sales" in page.js(focused), "the focus on sales")
    page.press("[")
    page.until(lambda: page.tables == 4, "what sales reads")
    page.until(lambda: "core.sales" in page.js(focused), "the focus on sales")
    page.press("t")
    page.until(lambda: page.js("return document.activeElement.id") == "time-at", "the bar of time")
    page.press("t")
    page.until(lambda: not page.driver.find_element(By.ID, "time").is_displayed(), "the bar gone")


def test_a_link_shows_what_the_panel_told_and_keeps_it_while_the_picture_is_on_its_way(mill: ServedPage) -> None:
    page = mill.show("t=0.0.mill.main.core.yearly&columns=all", 1)
    page.js("arguments[0].dispatchEvent(new MouseEvent('click', { bubbles: true }))", page.column("yearly", "kilos"))
    page.until(lambda: page.texts("#chain .hop"), "the chain")
    address = page.driver.current_url
    page.open(address, 1)
    page.until(lambda: page.texts("#chain .hop"), "the chain by the link")
    page.js("window.fetch = () => new Promise(() => {})")  # an answer that does not come
    page.js("location.hash = arguments[0] + '&days=9'", address.partition("#")[2])
    page.until(lambda: not page.driver.find_element(By.ID, "panel").is_displayed(), "the picture asked for anew")
    assert "p=mill.main.core.yearly%0Akilos" in page.driver.current_url
    assert "o=mill.main.core.yearly%0Akilos" in page.driver.current_url


def test_a_column_that_is_not_there_and_a_catalog_that_does_not_answer_are_told(mill: ServedPage) -> None:
    page = mill.show("t=0.0.mill.main.core.yearly&p=mill.main.core.yearly%0Akillos", 1)
    page.until(lambda: "no such column: mill.main.core.yearly.killos" in page.status, "the column that is not there")
    page.js("window.kept = fetch; window.fetch = () => Promise.reject(new TypeError('Failed to fetch'))")
    page.js("location.hash = ''")
    page.until(lambda: "does not answer" in page.text("#start:not([hidden]) h1"), "what is wrong")
    assert "`ingest serve`" in page.status
    page.js("window.fetch = kept")
    page.driver.find_element(By.CSS_SELECTOR, "#beginnings button").click()
    page.until(lambda: "Where did this column" in page.text("#start:not([hidden]) h1"), "the first page")
