"""The past in the page: a slider over the moments of change, and two moments side by side."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from selenium.webdriver.common.by import By
from typer.testing import CliRunner

from connectors.catalog.http.server import CatalogConfig, running_catalog
from tests.support.browser import COPIED, LEFT, NAMELESS, SMALL, WIDER, Page
from tests.support.dbt_project import BUILT
from tests.support.http_client import Client
from tests.support.made_catalog import MadeCatalog
from tests.support.served_page import DESK, PHONE, ServedPage, served_page
from tests.support.shop_history import AFTER, CHANGED, SCHEMA, fill
from workflows.cli import app

pytestmark = pytest.mark.browser

VIEW = f"t=1.1.{SCHEMA}.daily&days=0"
COMPARED = f"{VIEW}&base={CHANGED - 1}&asof={AFTER}"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedPage]:
    with served_page(tmp_path_factory.mktemp("shop"), fill) as shown:
        yield shown


@pytest.fixture
def shop(served: ServedPage) -> Iterator[ServedPage]:
    yield served
    assert served.page.complaints() == []


def marks(page: Page, selector: str) -> set[str]:
    """What is marked as changed, by its label, up to the first comma that does not belong to the mark."""
    return set(page.js("return [...document.querySelectorAll(arguments[0])].map((e) => e.ariaLabel)", selector))


def test_the_slider_stops_at_each_change_and_the_picture_is_that_of_then(shop: ServedPage) -> None:
    page = shop.show(VIEW, 4)
    page.button("time-toggle")
    page.until(lambda: page.js("return document.getElementById('time-at').ariaValueText") == "now", "now")
    page.press(LEFT)  # the present is its last stop
    page.press(LEFT)
    page.until(lambda: "asof=" in page.state(), "a moment")
    asked = page.js("return Number(new URLSearchParams(location.hash.slice(1)).get('asof'))")
    assert asked in {one["at"] for one in shop.client.get("/headwater/moments")[1]["moments"]}
    shop.show(f"{VIEW}&asof={CHANGED - 1}", 3)
    assert page.cards() == {"orders", "daily", "report"}
    assert page.column("daily", "region")
    assert "as of 2023-11-24 22:13" in page.driver.title
    assert page.js("return document.getElementById('time').hidden") is False
    page.button("time-now")
    page.until(lambda: page.tables == 4, "the present")
    assert "as of" not in page.driver.title


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_two_moments_are_one_picture_in_which_every_change_is_marked_without_its_colour(
    shop: ServedPage, size: tuple[int, int]
) -> None:
    page = shop.show(COMPARED, 4, size)
    page.button("zoom-fit")
    page.js("document.getElementById('columns').value = 'all'")
    assert page.texts(".wires .change.added text") == ["+"]
    assert page.texts(".wires .change.removed text") == ["−", "−"]  # what was read of it went with the column
    assert page.texts(".wires .change.changed text") == ["~"]
    assert "1 table added, 1 column removed, 1 link added, 2 links removed, 1 link changed" in page.status
    page.button("time-changes")
    page.until(lambda: page.texts("#changes li"), "the list")
    rows = page.texts("#changes li")
    assert [row for row in rows if "Breaks" in row] == rows[:1]
    assert "column removed" in rows[0] and f"{SCHEMA}.report.region" in rows[0]
    assert any("SUM(total)" in row and "→ SUM(total * rate)" in row for row in rows)
    assert any("table added" in row and "rates" in row for row in rows)
    assert page.js(WIDER) == []
    assert page.js(SMALL, 16) == []
    assert page.js(NAMELESS) == []


def test_what_went_stands_where_it_stood(shop: ServedPage) -> None:
    page = shop.show(f"{COMPARED}&columns=all", 4)
    page.button("zoom-fit")
    columns = page.js("""
        const card = [...document.querySelectorAll('.card')].find((e) => e.ariaLabel.includes('.daily,'));
        return [...card.querySelectorAll('.column')].map((e) => e.ariaLabel.split(' ')[1] + e.textContent.slice(-1));
    """)
    assert [text[:-1].rstrip(",") for text in columns] == ["day", "region", "total"]
    region = page.column("daily", "region")
    assert "removed" in region.get_attribute("class")
    assert "removed" in region.get_attribute("aria-label")
    assert page.js(
        "return getComputedStyle(arguments[0].querySelector('.column-name')).textDecorationLine", region
    ) == ("line-through")
    assert marks(page, ".card.added") == {f"table {SCHEMA}.rates, added, 2 of 2 columns shown, its source is not known"}
    assert "added" not in page.column("orders", "day").get_attribute("class")


def test_a_changed_link_shows_what_it_was_and_the_list_has_all_changes(shop: ServedPage) -> None:
    page = shop.show(f"{COMPARED}&list=1", 4)
    rows = [row for row in page.texts(".links tbody tr") if "changed" in row]
    assert len(rows) == 1
    assert "SUM(total) → SUM(total * rate)" in rows[0]
    page.driver.find_element(By.XPATH, "//tr[contains(., 'changed')]//button").click()
    page.until(lambda: page.texts("#panel .said"), "the edge")
    assert "Was" in page.text("#panel-body") and "SUM(total)" in page.texts("#panel-body .expression")[0]


def test_a_link_names_both_moments_and_the_files_say_which_they_show(shop: ServedPage) -> None:
    page = shop.show(COMPARED, 4)
    page.js(COPIED)
    page.driver.find_element(By.XPATH, "//summary[text()='Save']").click()
    page.button("copy-link")
    page.until(lambda: page.js("return window.copied"), "the link")
    said = "daily · 2023-11-24 22:13 compared with 2023-11-25 22:13 · Lineage"
    assert page.js("return window.copied") == f"{said}\n{page.driver.current_url}"
    assert f"asof={AFTER}" in page.driver.current_url and f"base={CHANGED - 1}" in page.driver.current_url
    page.button("save-svg")
    picture = ElementTree.fromstring(page.saved("lineage.svg"))
    texts = [element.text for element in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert said in texts and {"+", "−", "~"} <= set(texts)
    page.button("save-csv")
    lines = page.saved("lineage.csv").splitlines()
    assert lines[0].endswith(",change")
    assert sorted(line.rsplit(",", 1)[1] for line in lines[1:]) == [
        "",
        "",
        "",
        "added",
        "changed",
        "removed",
        "removed",
    ]


def test_comparing_is_a_button_away_and_a_step_of_the_way_back(shop: ServedPage) -> None:
    page = shop.show(f"{VIEW}&asof={AFTER}", 4)
    page.button("time-compare")
    page.until(lambda: "base=" in page.state(), "two moments")
    page.button("time-compare")
    page.until(lambda: "base=" not in page.state(), "one moment")
    page.driver.back()
    page.until(
        lambda: "base=" in page.state() and page.js("return !document.getElementById('time-base-field').hidden"), "two"
    )


def test_a_page_of_two_moments_opens_from_disk_with_what_changed(shop: ServedPage, tmp_path: Path) -> None:
    file = tmp_path / "changes.html"
    moments = ["--compare", "2023-11-24T22:13:19", "--as-of", "2023-11-25T22:13:20"]
    result = CliRunner().invoke(app, ["export", "--catalog", str(shop.file), "--html", str(file), *moments])
    assert result.exit_code == 0, result.output
    page = shop.page
    page.open(file.as_uri(), 4)
    assert page.driver.title == "daily · 2023-11-24 22:13 compared with 2023-11-25 22:13 · Lineage"
    assert page.texts(".wires .change text").count("−") == 2
    page.button("time-changes")
    page.until(lambda: page.texts("#changes li"), "the list")
    assert "Breaks" in page.texts("#changes li")[0]
    assert page.js(NAMELESS) == []


def test_a_page_shows_what_a_pull_request_changes(shop: ServedPage, tmp_path: Path) -> None:
    base = BUILT / "manifest.json"
    head = tmp_path / "head.json"
    manifest = json.loads(base.read_text())
    model = manifest["nodes"]["model.roastery.stg_customers"]
    model["compiled_code"] = model["compiled_code"].replace("upper(city) as city,", "")
    head.write_text(json.dumps(manifest))
    file = tmp_path / "pull_request.html"
    result = CliRunner().invoke(app, ["export", "--html", str(file), "--manifest", str(base), str(head)])
    assert result.exit_code == 0, result.output
    page = shop.page
    page.open(file.as_uri())
    page.until(lambda: page.tables > 1, "the changed models and their neighbours")
    assert "stg_customers" in page.cards()
    assert "manifest.json compared with head.json" in page.driver.title
    page.button("time-changes")
    page.until(lambda: page.texts("#changes li"), "the list")
    rows = page.texts("#changes li")
    assert any("column removed" in row and "stg_customers.city" in row and "Breaks" in row for row in rows)
    assert page.texts(".wires .change.removed"), "the links of the column that went"


def test_what_the_window_hides_is_told_beside_the_picture_and_on_a_page_of_its_own(
    shop: ServedPage, tmp_path: Path
) -> None:
    made = MadeCatalog(tmp_path / "catalog.db")
    orders, daily, old = (f"lake.main.s.{name}" for name in ("orders", "daily", "old"))
    made.add_tables({orders: ("a",), daily: ("a",), old: ("a",)})
    seen = {daily: 1_700_000_000_000, old: 1_690_000_000_000}
    made.add_edges(
        (orders, target, {"producer": {"kind": "query", "key": target}, "firstSeen": at, "lastSeen": at})
        for target, at in seen.items()
    )
    made.close()
    hidden = "1 edge of the catalog was last seen before 2023-10-15 22:13 and left out"
    page, view = shop.page, f"#t=0.1.{orders}"
    with running_catalog(CatalogConfig(made.file, port=0)) as address:
        served = address.url.removesuffix("api")
        page.open(f"{served}{view}", 2)
        page.until(lambda: f"{hidden}: “Observed within any time” has them all" in page.status, "what is hidden")
        page.open(f"{served}#a=schemas.", None)
        page.until(lambda: hidden in page.status, "what is hidden of all schemas")
        page.open(f"{served}{view}&days=0", 3)
        assert Client(address.url).get("/headwater/window", days=0)[1]["leftOut"] == ""
    file = tmp_path / "page.html"
    assert CliRunner().invoke(app, ["export", "--catalog", str(made.file), "--html", str(file)]).exit_code == 0
    page.open(f"{file.as_uri()}{view}", 2)
    page.until(lambda: f"{hidden}: `ingest export --days 0` has them all" in page.status, "what the export hid")
