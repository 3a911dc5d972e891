"""The explorer as the catalog serves it, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from selenium.webdriver.common.by import By

from connectors.catalog.http.server import CatalogConfig, running_catalog
from connectors.catalog.page.export import ExportScope, catalog_document
from connectors.catalog.page.html import self_contained_page
from tests.support.browser import DOWN, ENTER, ESCAPE, LEFT, NAMELESS, RIGHT, WIDER
from tests.support.disputed_catalog import SHOP, disputed_catalog
from tests.support.http_client import Client
from tests.support.sample_catalog import fill, name
from tests.support.served_page import DESK, PHONE, ServedPage, served_page

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedPage]:
    with served_page(tmp_path_factory.mktemp("explorer"), fill) as shown:
        yield shown


@pytest.fixture
def orchard(served: ServedPage) -> Iterator[ServedPage]:
    yield served
    assert served.page.complaints() == []


TAKINGS = f"t=1.1.{name('takings')}"
EVERYTHING = f"t=9.9.{name('takings')}"


def test_the_first_page_says_how_much_there_is_and_where_to_begin(orchard: ServedPage) -> None:
    page = orchard.show("", 0)
    page.until(lambda: "6 tables, 14 links between columns" in page.text("#start-count"), "the counts")
    page.until(lambda: page.texts("#start-used .found"), "the lists")
    assert page.js("return document.activeElement.id") == "search"
    assert page.texts("#start-lists h2") == ["Lately changed", "Most used", "Failed lately", "Uncovered"]
    assert page.texts("#start-used .found")[:2] == ["prices", "takings"]
    assert page.texts("#start-uncovered .count")[0] == "No statement that was read fills it · read by 2 tables"
    assert page.text("#start-failed .note") == "No test, load or statement failed last."
    page.click(page.driver.find_element(By.CSS_SELECTOR, "#start-used li:nth-child(2) button"))
    page.until(lambda: page.tables == 5, "the neighbours of takings")
    page.until(lambda: page.texts("#impact tbody tr"), "what the panel tells of it")
    assert page.text("#panel h2") == "takings"


def test_search_finds_tables_and_columns_and_focuses_what_is_chosen(orchard: ServedPage) -> None:
    page = orchard.show("", 0)
    assert page.search("takings.cen") == ["cents"]
    page.press(ENTER)
    page.until(lambda: page.tables == 5, "the neighbours of takings")
    assert page.cards() == {"takings", "weighed", "trees", "prices", "report"}
    assert f"p={name('takings')}\ncents" in page.state()
    assert page.texts(".column.pinned .column-name") == ["cents"]


def test_a_search_says_how_far_around_a_table_the_picture_goes(orchard: ServedPage) -> None:
    page = orchard.show("", 0)
    for text, cards in {
        "+takings": {"takings", "weighed", "trees", "prices", "pickings"},
        "takings+1": {"takings", "report"},
        "1+weighed+": {"pickings", "weighed", "takings", "report"},
    }.items():
        assert page.search(text)[:1] == [text.strip("+1")]
        page.press(ENTER)
        page.until(lambda cards=cards: page.cards() == cards, text)


def test_the_way_from_one_choice_in_the_picture_to_another_is_told_and_lit(orchard: ServedPage) -> None:
    page = orchard.show(EVERYTHING, 6)
    path_to = "//button[text()='Path to …']"
    page.click(page.column("pickings", "kilos"))
    page.driver.find_element(By.XPATH, path_to).click()
    page.click(page.column("report", "total"))
    page.until(lambda: page.texts("#way li"), "the way")
    assert page.texts("#way li") == ["pickings.kilos", "weighed.kilos", "takings.cents", "report.total"]
    assert page.lit() == {"pickings.kilos", "weighed.kilos", "takings.cents", "report.total"}
    page.press(ESCAPE, ESCAPE)
    page.click(page.column("trees", "kind"))
    page.driver.find_element(By.XPATH, path_to).click()
    page.click(page.column("pickings", "kilos"))
    page.until(lambda: "No way between trees.kind and pickings.kilos" in page.status, "that there is none")


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_a_way_is_found_in_the_whole_catalog_and_its_tables_come_into_the_picture(
    orchard: ServedPage, size: tuple[int, int]
) -> None:
    page = orchard.show(f"t=0.0.{name('report')}&o={name('report')}", 1, size)
    page.until(lambda: page.texts("#panel .actions"), "the panel")
    page.driver.find_element(By.XPATH, "//button[text()='Path to …']").click()
    assert page.js("return document.activeElement.id") == "way-end"
    page.driver.find_element(By.ID, "way-end").send_keys("pickings.kil")
    page.until(lambda: page.texts("#way-found b") == ["pickings.kilos"], "what is found")
    assert page.js(WIDER) == [] and page.js(NAMELESS) == []
    page.click(page.driver.find_element(By.CSS_SELECTOR, "#way-found button"))
    page.until(lambda: page.texts("#way li"), "the way")
    assert page.texts("#way li") == ["pickings.kilos", "weighed.kilos", "takings.cents", "report.total"]
    assert page.cards() == {"pickings", "weighed", "takings", "report"}
    if size == DESK:  # on a phone there is room for names alone
        assert page.lit() == {"pickings.kilos", "weighed.kilos", "takings.cents", "report.total"}
    assert "3 steps" in page.status


def test_the_panel_of_a_table_searches_its_columns(orchard: ServedPage) -> None:
    page = orchard.show(f"t=0.0.{name('weighed')}&o={name('weighed')}", 1)
    page.until(lambda: page.texts("#column-list li"), "the columns")
    assert [text.split()[0] for text in page.texts("#column-list li")] == ["tree_id", "day", "kilos", "grade"]
    page.driver.find_element(By.XPATH, "//*[@id='column-list']//button[text()='grade']").click()
    page.until(lambda: page.text("#panel h2") == "grade", "the column")
    assert page.texts(".column.pinned .column-name") == ["grade"]


def test_a_card_says_how_many_neighbours_are_hidden_and_a_click_brings_them(orchard: ServedPage) -> None:
    page = orchard.show(f"t=0.0.{name('takings')}", 1)
    assert sorted(page.texts(".expand text")) == ["+1", "+3"]
    page.click(page.driver.find_element(By.CSS_SELECTOR, "[data-expand=upstream]"))
    page.until(lambda: page.tables == 4, "one hop upstream")
    assert page.cards() == {"takings", "weighed", "trees", "prices"}


def test_everything_upstream_comes_with_a_key(orchard: ServedPage) -> None:
    page = orchard.show(f"t=0.0.{name('report')}", 1)
    page.driver.execute_script("document.querySelector('.card').focus()")
    page.press("{")
    page.until(lambda: page.tables == 6, "everything upstream")


def test_hovering_a_column_lights_its_whole_path_and_leaving_puts_it_out(orchard: ServedPage) -> None:
    page = orchard.show(EVERYTHING + "&off=indirect", 6)
    page.hover(page.column("takings", "cents"))
    page.until(lambda: page.lit(), "light")
    assert page.lit() == {"takings.cents", "weighed.kilos", "prices.cents", "pickings.kilos", "report.total"}
    page.hover(page.driver.find_element(By.ID, "status"))
    page.until(lambda: not page.lit(), "darkness")


def test_what_only_decides_is_lit_in_another_way_than_what_flows(orchard: ServedPage) -> None:
    page = orchard.show(EVERYTHING, 6)
    page.hover(page.column("takings", "kind"))
    page.until(lambda: page.lit(), "light")
    assert "indirect" in page.column("trees", "planted").get_attribute("class")
    assert "direct" in page.column("trees", "kind").get_attribute("class").split()


def test_a_click_pins_a_column_and_several_pins_combine(orchard: ServedPage) -> None:
    page = orchard.show(EVERYTHING + "&off=indirect", 6)
    page.click(page.column("report", "kind"))
    page.click(page.column("takings", "day"))
    page.hover(page.driver.find_element(By.ID, "status"))
    assert page.lit() == {"report.kind", "takings.kind", "trees.kind", "takings.day", "weighed.day", "pickings.day"}
    page.click(page.column("takings", "day"))
    page.hover(page.driver.find_element(By.ID, "status"))
    assert page.lit() == {"report.kind", "takings.kind", "trees.kind"}
    page.button("clear-pins")
    assert not page.lit()


def test_only_the_columns_on_the_paths_of_the_pins_can_be_shown(orchard: ServedPage) -> None:
    page = orchard.show(EVERYTHING + f"&columns=path&off=indirect&p={name('report')}%0Atotal", 6)
    page.until(lambda: page.cards() == {"report", "takings", "weighed", "pickings", "prices"}, "the cards on the path")
    assert set(page.texts(".column-name")) == {"total", "cents", "kilos"}


@pytest.mark.parametrize(
    ("switch", "kind", "others"), [("show-direct", "direct", "indirect"), ("show-indirect", "indirect", "direct")]
)
def test_kinds_of_links_are_told_apart_by_line_and_switched(
    orchard: ServedPage, switch: str, kind: str, others: str
) -> None:
    page = orchard.show(EVERYTHING, 6)
    dashes = {
        one: page.js("return getComputedStyle(document.querySelector('.wire.' + arguments[0])).strokeDasharray", one)
        for one in ("direct", "indirect", "both", "table")
    }
    assert dashes["direct"] == "none"
    assert len(set(dashes.values())) == 4
    assert page.wires(kind) and page.wires("both") == 1
    page.button(switch)
    assert page.wires(kind) == 0 and page.wires("both") == 0
    assert page.wires(others) > 0
    page.button(switch)
    assert page.wires("both") == 1


def test_an_edge_shows_who_said_it_and_marks_the_expression_in_the_masked_sql(orchard: ServedPage) -> None:
    page = orchard.show(f"t=0.0.{name('takings')}&t=0.0.{name('prices')}", 2)
    page.click_wire("direct")
    page.until(lambda: page.texts("#panel .said"), "the panel")
    said = page.text("#panel .said")
    for fact in ("direct: transformed", "sqlglot", "100 %", "2023-11-11 22:13", "2023-11-14 22:13", "f2"):
        assert fact in said
    assert page.texts("#panel .sql mark") == ["w.kilos * p.cents"]
    assert page.text("#panel .sql") == TAKINGS_TEXT


TAKINGS_TEXT = (
    "INSERT INTO core.takings SELECT w.day, t.kind, w.kilos * p.cents FROM core.weighed AS w "
    "JOIN raw.trees AS t ON t.tree_id = w.tree_id JOIN raw.prices AS p ON p.grade = w.grade WHERE t.planted > ?"
)


def test_a_link_through_temporary_tables_is_marked_and_says_which(orchard: ServedPage) -> None:
    page = orchard.show(f"t=0.0.{name('weighed')}&t=0.0.{name('pickings')}", 2)
    assert len(page.driver.find_elements(By.CSS_SELECTOR, ".wires .folded")) == page.wires() == 4
    page.click_wire("both")
    page.until(lambda: page.texts("#panel .hops li"), "the hops")
    assert page.texts("#panel .hops li") == [f"{name('pickings')} → scratch", f"scratch → {name('weighed')}"]
    assert "direct and indirect" in page.text("#panel .pill")


def test_the_impact_of_a_column_is_a_list_beside_the_picture_and_a_csv(orchard: ServedPage) -> None:
    page = orchard.show(f"t=0.0.{name('pickings')}&columns=all", 1)
    page.click(page.column("pickings", "kilos"))
    page.until(lambda: page.texts("#impact tbody tr"), "the impact")
    assert page.text("#impact h3") == "If pickings.kilos changes"
    page.button("impact-csv")
    lines = page.saved("impact of pickings.kilos.csv").splitlines()
    assert lines[0] == "changed,table,column,type,hops,path,owners,tags"
    found = {tuple(line.split(",")[1:5]) for line in lines[1:]}
    assert (name("weighed"), "kilos", "DIRECT", "1") in found
    assert (name("report"), "total", "DIRECT", "3") in found


def test_the_panel_tells_the_tests_owner_and_tags_of_a_table_and_of_its_columns(orchard: ServedPage) -> None:
    client = Client(orchard.url + "api")
    table = name("report")
    definition = {"description": "None is missing.", "entityType": "COLUMN", "testPlatforms": ["dbt"]}
    client.made("/dataQuality/testDefinitions", {"name": "not_null", **definition})
    for test, link in (("has_kind", f"<#E::table::{table}::columns::kind>"), ("has_rows", f"<#E::table::{table}>")):
        request = {"name": test, "entityLink": link, "testDefinition": "not_null"}
        made = client.made("/dataQuality/testCases", request)
        if test == "has_kind":
            result = {"timestamp": 0, "testCaseStatus": "Failed", "failedRows": 3}
            client.post(f"/dataQuality/testCases/testCaseResults/{made['fullyQualifiedName']}", result)
    owner = {"id": client.made("/teams", {"name": "growers"})["id"], "type": "team"}
    label = {"tagFQN": "dbtTags.fruit", "source": "Classification", "labelType": "Automated", "state": "Confirmed"}
    additions = (("/owners", [owner]), ("/tags", [label]))
    operations = [{"op": "add", "path": path, "value": value} for path, value in additions]
    assert client.patch(f"/tables/name/{table}", operations)[0] == 200
    page = orchard.show(f"t=0.0.{table}&columns=all", 1)
    page.click(page.column("report", "kind"))
    page.until(lambda: page.text("#panel .test.failed") == "has_kind: failed, 3 rows (1970-01-01 00:00)", "the test")
    page.click(page.driver.find_element(By.CSS_SELECTOR, "#picture .card .band"))
    page.until(lambda: "has_rows: no result yet" in page.texts("#panel .test"), "the table's tests")
    told = page.text("#panel .facts")
    assert "growers" in told
    assert "dbtTags.fruit" in told
    page.until(lambda: page.texts(".card .state.bad title"), "the state on the card")
    assert page.texts(".card .state title") == ["1 of 1 tests fail"]
    orchard.show(f"t=0.0.{name('takings')}&o={name('takings')}", 1)
    page.until(lambda: page.texts("#state-facts dd") == ["last written 2023-11-14 22:13"], "the last run")
    orchard.show(f"t=0.0.{table}", 1)
    page.until(lambda: page.texts(".card .state.bad title"), "the state on the card")
    assert "1 of 1 tests fail" in page.js("return document.querySelector('.card').getAttribute('aria-label')")
    for choice in ("owner.growers", "tag.dbtTags.fruit"):
        page = orchard.show(f"{EVERYTHING}&f={choice}", 6)
        assert page.cards() == {"takings", "report"}, choice
        assert page.text("#filter-count") == "1"
    page = orchard.show(f"{EVERYTHING}&f=type.view", 6)
    assert page.cards() == {"takings"}


def test_filters_leave_out_schemas_producers_the_unsure_and_the_old(orchard: ServedPage) -> None:
    page = orchard.show(EVERYTHING, 6)
    page.driver.find_element(By.CSS_SELECTOR, "#filters summary").click()
    page.click(page.driver.find_element(By.CSS_SELECTOR, "[data-choice=schema][value='farm.mart']"))
    assert "report" not in page.cards()
    page.click(page.driver.find_element(By.CSS_SELECTOR, "[data-choice=schema][value='farm.mart']"))
    assert page.wires("table") == 1
    page.click(page.driver.find_element(By.CSS_SELECTOR, "[data-choice=producer][value=manual]"))
    assert page.wires("table") == 0
    page.js("const e = document.getElementById('confidence'); e.value = 90; e.dispatchEvent(new Event('input'))")
    assert page.wires("both") == 0
    page.js("const e = document.getElementById('since'); e.value = '2023-11-20'; e.dispatchEvent(new Event('change'))")
    assert page.wires() == 0
    page.button("reset")
    assert page.wires("both") == 1 and page.wires("table") == 1


def test_links_are_narrowed_by_who_says_them_and_each_tells_who_does_not(orchard: ServedPage, tmp_path: Path) -> None:
    document = catalog_document(disputed_catalog(tmp_path / "catalog.db"), ExportScope())
    file = tmp_path / "disputed.html"
    file.write_text(self_contained_page(document, "Disputed"), "utf-8")
    page = orchard.page
    page.open(f"file://{file}#t=9.9.{SHOP}.daily&w=disputed", 3)
    assert page.wires() == 2
    page.driver.find_element(By.CSS_SELECTOR, "#filters summary").click()
    assert page.text("#filter-count") == "1"
    options = "return [...document.getElementById('witness').options].map((one) => one.value)"
    assert page.js(options) == ["", "disputed", "engine", "!engine", "log", "!log"]
    choose = "const [e, value] = [document.getElementById('witness'), arguments[0]]; e.value = value;"
    choose += "e.dispatchEvent(new Event('change'))"
    for asked, wires in (("engine", 1), ("!engine", 3), ("", 4)):
        page.js(choose, asked)
        assert page.wires() == wires, asked
    page.button("filters-disagreements")
    page.until(lambda: page.texts("#disagreements li"), "where they disagree")
    told = f"from {SHOP}.orders.amount: seen by log, not by engine"
    assert told in page.texts("#disagreements li")[0] or told in page.texts("#disagreements li")[1]
    assert f"engine has {SHOP}.orders.price" in page.text("#disagreements")
    page.driver.find_element(By.CSS_SELECTOR, "#disagreements button").click()
    page.until(lambda: page.texts(".column.pinned .column-name") == ["total"], "the column")
    page.open(f"file://{file}#t=1.0.{SHOP}.daily&w=engine&e={SHOP}.orders%0Aprice%09{SHOP}.daily%0Atotal", 2)
    page.until(lambda: page.texts("#panel .pill.disputed") == ["not by log"], "who does not say so")
    assert "seen by engine" in page.texts("#panel .pill")
    page.click(page.column("daily", "total"))
    page.until(lambda: page.texts("#chain .how"), "the chain")
    hows = {"direct, identity, seen by: engine; not by: log", "direct, identity, seen by: log; not by: engine"}
    assert hows == set(page.texts("#chain .how"))


def test_as_of_a_time_before_the_lineage_there_is_none(orchard: ServedPage) -> None:
    page = orchard.show(TAKINGS, 5)
    page.driver.find_element(By.CSS_SELECTOR, "#filters summary").click()
    page.js(
        "const e = document.getElementById('as-of'); e.value = '2023-06-01T00:00'; e.dispatchEvent(new Event('change'))"
    )
    page.until(lambda: page.tables == 1, "an empty past")
    assert "asof=1685577600000" in page.state()


def test_the_address_holds_the_view_and_the_way_back_works(orchard: ServedPage) -> None:
    page = orchard.show(TAKINGS, 5)
    page.click(page.column("takings", "cents"))
    page.button("show-indirect")
    address = page.driver.current_url
    page.open(address, 5)
    page.until(lambda: page.texts(".column.pinned .column-name") == ["cents"], "the pin")
    assert page.wires("indirect") == 0
    page.click(page.driver.find_element(By.CSS_SELECTOR, "[data-expand=upstream]"))
    page.until(lambda: page.tables == 6, "pickings")
    page.driver.back()
    page.until(lambda: page.tables == 5, "the view before")


def test_the_keyboard_goes_along_columns_and_links(orchard: ServedPage) -> None:
    page = orchard.show(TAKINGS, 5)
    page.press("/")
    page.search("takings.cents")
    page.press(ENTER)
    page.until(
        lambda: "panel" in page.js("return [...document.querySelectorAll('aside:not([hidden])')].map((e) => e.id)"),
        "the panel",
    )
    page.until(
        lambda: page.js("return document.activeElement.getAttribute('aria-label')") == "column cents, INT of takings",
        "focus",
    )
    page.press(RIGHT)
    assert page.js("return document.activeElement.getAttribute('aria-label')") == "column total, INT of report"
    page.press(LEFT, LEFT)
    assert " cents, INT of prices" in page.js("return document.activeElement.getAttribute('aria-label')") or (
        " kilos, INT of weighed" in page.js("return document.activeElement.getAttribute('aria-label')")
    )
    page.press(ENTER)
    assert len(page.texts(".column.pinned")) == 2
    page.press(ESCAPE, ESCAPE)
    assert not page.texts(".column.pinned")
    page.press(DOWN)
    assert page.js("return document.activeElement.closest('.card') !== null")


def test_the_list_holds_the_same_links_as_text(orchard: ServedPage) -> None:
    page = orchard.show(EVERYTHING, 6)
    page.press("l")
    rows = [" ".join(row.split()) for row in page.texts("#list .links tbody tr")]
    assert len(rows) == 14
    assert any("report.total" in row and "takings.cents" in row and "aggregation" in row for row in rows)
    assert any("prices (every row)" in row and "tables only" in row for row in rows)
    page.driver.find_element(By.CSS_SELECTOR, "#list .links tbody button").click()
    page.until(lambda: page.texts("#panel .said"), "the panel")
    page.button("list-csv")
    assert page.saved("lineage.csv").splitlines()[0] == "from,to,kind,how,said by,confidence"


def test_the_picture_can_be_saved_as_svg_without_script(orchard: ServedPage) -> None:
    page = orchard.show(EVERYTHING, 6)
    page.driver.find_element(By.XPATH, "//summary[text()='Save']").click()
    page.button("save-svg")
    text = page.saved("lineage.svg")
    root = ElementTree.fromstring(text)
    names = {element.text for element in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"takings", "report", "pickings", "cents"} <= names
    assert "<script" not in text and "http://127" not in text
    assert "stroke-dasharray" in text


def test_the_page_is_light_or_dark_as_one_likes(orchard: ServedPage) -> None:
    page = orchard.show(TAKINGS, 5)
    background = "return getComputedStyle(document.body).backgroundColor"
    before = page.js(background)
    page.button("theme")
    assert page.js(background) != before


def test_cards_out_of_sight_do_not_exist_and_come_with_the_camera(orchard: ServedPage) -> None:
    page = orchard.show(EVERYTHING, 6)
    page.press(*"++++++++++")
    page.drag((1350, 130), (250, 130))
    page.until(lambda: "pickings" not in page.cards() and "report" in page.cards(), "fewer cards")
    page.press("f")
    page.until(lambda: len(page.cards()) == 6, "all cards")


def test_an_address_of_anybodys_making_does_no_harm(orchard: ServedPage) -> None:
    strange = (
        f"t=999.x.<b>&t=1.1.{name('takings')}&t=0.0.nothing&p=%00&p={name('takings')}%0A<i>&e=a%09b&columns=__proto__"
    )
    page = orchard.show(
        strange + "&m=full.__proto__&off=__proto__.direct&by=%27&sure=9&since=-1&asof=x&days=1e9&s=%22", 5
    )
    assert page.wires("direct") == 0
    assert page.cards() == {"takings", "weighed", "trees", "prices", "report"}


def test_a_catalog_with_a_token_asks_for_it(served: ServedPage, tmp_path: Path) -> None:
    config = CatalogConfig(tmp_path / "catalog.db", port=0, token="open-sesame")
    with running_catalog(config) as address:
        fill(Client(address.url, "open-sesame"))
        page = served.page
        page.open(f"{address.url.removesuffix('api')}#{TAKINGS}")
        page.until(lambda: page.js("return document.getElementById('token-dialog')?.open"), "the question")
        page.driver.find_element(By.ID, "token").send_keys("open-sesame" + ENTER)
        page.until(lambda: page.tables == 5, "the picture")
        assert "sesame" not in page.driver.current_url
        assert all("401" in complaint for complaint in page.complaints())
