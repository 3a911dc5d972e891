"""Tags on cards and columns, those told apart that came along lineage, and what a metric measures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.by import By
from typer.testing import CliRunner

from tests.support.browser import ENTER, ESCAPE, NAMELESS, WIDER, Page
from tests.support.http_client import Client, ref
from tests.support.sample_catalog import fill as fill_orchard
from tests.support.sample_catalog import name
from tests.support.served_page import DESK, PHONE, ServedPage, served_page
from workflows.cli import app

pytestmark = pytest.mark.browser

PATH = f"Lineage policy: {name('pickings', 'kilos')} -> {name('weighed', 'kilos')}"

HOSTILE = "<b>\u202eeve</b>"
USE = {
    "runs": 1207,
    "users": ["ann", HOSTILE, *(f"user_{number}" for number in range(30))],
    "last_run": "2026-11-02T03:04:05Z",
    "filters": ["kind = ?"],
    "any_literal": True,
    "variant_of": ["revenue_2", "gone.metric"],
    "variant": ["kind = ?"],
    "view": {
        "name": "takings",
        "sql": "SELECT * FROM orchard.takings WHERE kind = ? AND " + "long_name_" * 40,
        "tables": [],
    },
}


def tag(fqn: str, **more: str) -> dict[str, str]:
    return {"tagFQN": fqn, "source": "Classification", "state": "Confirmed", **more}


def fill(client: Client) -> None:
    """The orchard, of which a column is tagged by hand, one by a policy, and whose takings a metric sums up."""
    fill_orchard(client)
    client.made("/classifications", {"name": "Orchard", "description": "what is secret"})
    for one in ("Secret", "Shown"):
        client.made("/tags", {"name": one, "classification": "Orchard", "description": one})
    labels = {
        "pickings": [tag("Orchard.Secret", labelType="Manual")],
        "weighed": [tag("Orchard.Secret", labelType="Propagated", reason=PATH)],
    }
    made: dict[str, Any] = {}
    for table in ("pickings", "weighed", "takings"):
        status, made[table] = client.get(f"/tables/name/{name(table)}", fields="columns")
        assert status == 200
    for table, tags in labels.items():
        at = next(n for n, column in enumerate(made[table]["columns"]) if column["name"] == "kilos")
        patch = [{"op": "add", "path": f"/columns/{at}/tags", "value": tags}]
        status, answer = client.patch(f"/tables/{made[table]['id']}", patch)
        assert status == 200, answer
    expression = {"language": "SQL", "code": "SUM(cents) / 100"}
    split = [{"name": "kind", "type": "CATEGORICAL"}]
    for one, told in (
        ("revenue", USE),
        ("revenue_2", {"runs": "many", "users": [7], "view": "none", "variant_of": {}}),
    ):
        request = {
            "name": one,
            "metricExpression": expression,
            "dimensions": split,
            "extension": {"entityLineage": told},
        }
        metric = client.made("/metrics", request)
        ends = {"fromEntity": ref(made["takings"]), "toEntity": ref(metric, "metric")}
        assert client.put("/lineage", {"edge": {**ends, "lineageDetails": {"source": "Manual"}}})[0] == 200


@pytest.fixture(scope="module")
def orchard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedPage]:
    with served_page(tmp_path_factory.mktemp("labels"), fill) as shown:
        yield shown
        assert shown.page.complaints() == []


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_tags_stand_at_their_columns_and_derived_ones_tell_their_path(
    orchard: ServedPage, size: tuple[int, int]
) -> None:
    page = orchard.show(f"t=1.1.{name('weighed')}&columns=all&days=0", None, size)
    page.until(lambda: page.tables > 1, "the picture")
    page.button("zoom-fit")
    page.js("document.getElementById('zoom-in').click(); document.getElementById('zoom-in').click()")
    page.search("weighed.kilos")
    page.press("\ue007")
    page.until(lambda: page.texts("#panel .derived summary"), "the panel")
    assert page.texts("#panel .derived summary") == ["Orchard.Secret, derived"]
    shown = page.driver.find_element(By.CSS_SELECTOR, "#panel .derived p")
    assert not shown.is_displayed()
    page.driver.find_element(By.CSS_SELECTOR, "#panel .derived summary").click()
    assert shown.is_displayed() and shown.text == PATH
    assert page.js(WIDER) == []
    assert page.js(NAMELESS) == []
    labels = page.js("return [...document.querySelectorAll('.card .column')].map((e) => e.getAttribute('aria-label'))")
    told = "tagged Orchard.Secret (derived) of weighed"
    assert [label for label in labels if told in label and label.startswith("column kilos")]
    assert len(page.driver.find_elements(By.CSS_SELECTOR, ".column .tag.derived")) == 1


def test_a_tag_by_hand_is_no_derived_one(orchard: ServedPage) -> None:
    page = orchard.show(f"t=0.0.{name('pickings')}&columns=all&days=0", 1)
    assert page.texts(".column .tag:not(.derived) title") == ["Orchard.Secret"]
    assert page.texts(".column .tag.derived") == []


def explain_metric(page: Page, metric: str) -> dict[str, str]:
    """Opens the panel of a metric by key; its facts by name."""
    page.until(lambda: metric in page.texts(".card .name"), "the metric")
    card = next(key for key in page.js(CARDS) if f"{metric}," in key)
    page.js("document.querySelector(`.card[aria-label='${arguments[0]}']`).focus()", card)
    page.press(ENTER)
    page.until(lambda: page.text("#panel h2") == metric, "the panel")
    return dict(zip(page.texts("#panel .facts dt"), page.texts("#panel .facts dd"), strict=True))


CARDS = "return [...document.querySelectorAll('.card')].map((e) => e.ariaLabel)"


@pytest.mark.parametrize(("size", "theme"), [(DESK, "light"), (PHONE, "dark")])
def test_a_metric_shows_how_it_is_computed_and_who_uses_it(
    orchard: ServedPage, size: tuple[int, int], theme: str
) -> None:
    page = orchard.show(f"t=0.1.{name('takings')}&days=0", None, size)
    page.js("document.documentElement.dataset.theme = arguments[0]", theme)
    facts = explain_metric(page, "revenue")
    assert (facts["Expression"], facts["Dimensions"]) == ("SUM(cents) / 100", "kind")
    assert (facts["Queries"], facts["Last used"]) == ("1,207 runs", "2026-11-02 03:04")
    assert facts["Used by"].startswith("ann<b>‹U+202E›eve</b>user_0") and "and 20 more" in facts["Used by"]
    assert facts["Filters"] == "kind = ?of any literal"
    assert facts["View"].startswith("takingsSELECT * FROM orchard.takings WHERE kind = ?")
    assert page.js(WIDER) == [] and page.js(NAMELESS) == []
    assert page.texts("#panel .variant") == ["revenue_2", "gone.metric"]
    page.driver.find_element(By.CSS_SELECTOR, "#panel .variant").send_keys(ENTER)
    page.until(lambda: page.text("#panel h2") == "revenue_2", "the variant")
    said = "what is not what it should be is left out"
    assert not {"Queries", "Used by", "Variants", "View"} & set(page.texts("#panel .facts dt")), said


def test_the_list_and_an_exported_page_tell_of_a_metric_too(orchard: ServedPage, tmp_path: Path) -> None:
    page = orchard.show(f"t=0.1.{name('takings')}&days=0", None)
    page.until(lambda: "revenue" in page.texts(".card .name"), "the metric")
    page.press("l")
    told = next(line for line in page.texts("#list .tables li") if line.startswith("revenue "))
    assert told.endswith("; 1,207 runs by 32 users, last 2026-11-02 03:04")
    file = tmp_path / "lineage.html"
    result = CliRunner().invoke(app, ["export", "--catalog", str(orchard.file), "--html", str(file), "--days", "0"])
    assert result.exit_code == 0, result.output
    page.open(f"{file.as_uri()}#t=0.1.{name('takings')}", None)
    facts = explain_metric(page, "revenue")
    assert (facts["Queries"], facts["Differs by"]) == ("1,207 runs", "kind = ?")
    assert page.texts("#panel button.variant") == ["revenue_2"], "the page leads only to what it carries"
    assert facts["Variants"] == "revenue_2gone.metric"


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_what_changes_is_listed_by_what_is_chosen_and_a_link_keeps_the_choice(
    orchard: ServedPage, size: tuple[int, int]
) -> None:
    start = f"t=1.1.{name('pickings')}&days=0&o={name('pickings')}%0Akilos"
    page = orchard.show(start, None, size)
    page.until(lambda: page.texts("#impact tbody tr"), "the list")
    every = len(page.texts("#impact tbody tr"))
    page.js("document.querySelector('#impact-filter summary').focus()")
    page.press(ENTER)
    counts = dict(zip(page.texts(".facets .choice-name"), page.texts(".facets .count"), strict=True))
    assert counts["1 step"] == "2" and counts["Orchard.Secret"] == "1" and counts["farm.farm.core"]
    assert int(counts["1 step"]) + int(counts["2 steps"]) + int(counts["3 steps or more"]) == every
    page.js("document.querySelector('[data-choice=\"degree:1\"]').focus()")
    page.press(" ")
    page.until(lambda: len(page.texts("#impact tbody tr")) == 2, "what is one step away")
    assert page.js("return document.activeElement.dataset.choice") == "degree:1"
    page.click(page.driver.find_element(By.CSS_SELECTOR, "[data-choice='tag:Orchard.Secret']"))
    page.until(lambda: len(page.texts("#impact tbody tr")) == 1, "of these what is tagged")
    assert page.texts(".chosen") == ["Steps away: 1 step ×", "Tag: Orchard.Secret ×"]
    assert page.js(WIDER) == [] and page.js(NAMELESS) == []
    if size == DESK:
        page.button("impact-csv")
        saved = page.saved("impact of pickings.kilos.csv").splitlines()
        assert [line.split(",")[2] for line in saved] == ["column", "kilos"]
    assert page.state().count("i=") == 2
    page.driver.refresh()
    page.until(lambda: len(page.texts("#impact tbody tr")) == 1, "the same after a reload")
    page.click(page.driver.find_element(By.CSS_SELECTOR, ".chosen"))
    page.until(lambda: page.texts(".chosen") == ["Tag: Orchard.Secret ×"], "a choice less")
    page.button("close-panel")
    assert "i=" not in page.state()


def test_a_selector_of_a_tag_opens_all_that_bear_it_with_what_is_around_them(orchard: ServedPage) -> None:
    page = orchard.show("", 0)
    page.search("tag:Orchard.Secret+1")
    offer = page.texts("#results [aria-selected=true]")
    assert offer == ["A picture of all of them, with 1 step of what is made of them"]
    page.press(ENTER)
    page.until(lambda: page.cards() == {"pickings", "weighed", "takings"}, "what bears the tag, and one step on")
    assert page.state().count("t=0.1.") == 2
    page.search("tag:Orchard.Secret")
    assert page.texts("#results [aria-selected=true]") != offer  # without a reach one of them is chosen
    page.press(ESCAPE)
