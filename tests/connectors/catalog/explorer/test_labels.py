"""Tags on cards and columns, those told apart that came along lineage, and what a metric measures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from selenium.webdriver.common.by import By

from tests.support.browser import NAMELESS, WIDER
from tests.support.http_client import Client, ref
from tests.support.sample_catalog import fill as fill_orchard
from tests.support.sample_catalog import name
from tests.support.served_page import DESK, PHONE, ServedPage, served_page

pytestmark = pytest.mark.browser

PATH = f"Lineage policy: {name('pickings', 'kilos')} -> {name('weighed', 'kilos')}"


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
    metric = client.made("/metrics", {"name": "revenue", "metricExpression": expression, "dimensions": split})
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


def test_a_metric_shows_how_it_is_computed(orchard: ServedPage) -> None:
    page = orchard.show(f"t=0.1.{name('takings')}&days=0", None)
    page.until(lambda: "revenue" in page.text(".card .name"), "the metric")
    metric = page.js("return [...document.querySelectorAll('.card')].find((e) => e.ariaLabel.startsWith('metric'))")
    page.js("arguments[0].querySelector('.name').dispatchEvent(new MouseEvent('click', {bubbles: true}))", metric)
    page.until(lambda: page.texts("#panel .expression"), "the panel")
    assert page.texts("#panel .expression") == ["SUM(cents) / 100"]
    facts = dict(zip(page.texts("#panel .facts dt"), page.texts("#panel .facts dd"), strict=True))
    assert facts["Dimensions"] == "kind"
