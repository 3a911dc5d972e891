"""Looks at every view of the page with axe-core: on a desk and on a phone, light and dark.

Run: npm install axe-core (in any folder), then with that folder's node_modules/axe-core/axe.min.js
python -m tests.hunts.page_accessibility AXE.MIN.JS
Prints each kind of violation with where it is, and ends with 1 if there is any.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from selenium.webdriver.common.by import By

from tests.connectors.catalog.picture.test_runs import tell
from tests.support import mill_catalog, shop_history
from tests.support.browser import Page
from tests.support.http_client import Client, ref
from tests.support.lineage_statements import said, send
from tests.support.served_page import DESK, PHONE, ServedPage, served_page

_RUN = """
    const done = arguments[arguments.length - 1];
    axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => done(violations.map((one) => ({
      id: one.id, impact: one.impact, help: one.help,
      nodes: one.nodes.map((node) => `${node.target.join(' ')}: ${node.failureSummary.split('\\n')[1]?.trim()}`),
    }))), (error) => done(String(error)));
"""
_THEME = "document.documentElement.dataset.theme = arguments[0]"
_ORDERS, _REPORT = (f"{shop_history.SCHEMA}.{name}" for name in ("orders", "report"))
_DAILY = f"{shop_history.SCHEMA}.daily"
_LINK = f"t=1.1.{_DAILY}&days=0&e={shop_history.SCHEMA}.rates%0Arate%09{_DAILY}%0Atotal"
_HUB = f"t=1.1.{mill_catalog.HUB}"
_BOARD, _METRIC = "looker.2", "turnover"
View = tuple[str, bool, str, Callable[[Page], object]]  # its name, whether of the shop, its address, what to do there


def _click(selector: str) -> Callable[[Page], object]:
    return lambda page: page.driver.find_element(By.CSS_SELECTOR, selector).click()


def _wait(selector: str) -> Callable[[Page], object]:
    return lambda page: page.until(lambda: page.texts(selector), selector)


def _correction(page: Page) -> None:
    _wait("#panel .said")(page)
    _click("[data-verdict=rejected]")(page)


def _search(page: Page) -> None:
    page.search("flour")


def _column(page: Page) -> None:
    page.click(page.column("daily", "total"))
    _wait("#impact p, #impact tr")(page)


def _card(page: Page) -> None:
    page.until(lambda: page.texts(".card.root"), "the card")
    page.js("document.querySelector('.card.root').dispatchEvent(new MouseEvent('click', { bubbles: true }))")
    _wait("#impact p, #impact tr")(page)


def _why(page: Page) -> None:
    _card(page)
    page.driver.find_element(By.XPATH, "//button[text()='Why is it wrong?']").click()
    _wait("#causes-verdict")(page)


def _impact_filter(page: Page) -> None:
    _wait("#impact tbody tr")(page)
    _click("#impact-filter summary")(page)
    _click("[data-choice='degree:1']")(page)
    _wait(".chosen")(page)


def _way_end(page: Page) -> None:
    _wait("#panel .actions")(page)
    page.driver.find_element(By.XPATH, "//button[text()='Path to …']").click()
    page.driver.find_element(By.ID, "way-end").send_keys("orders")
    _wait("#way-found li")(page)


def _way(page: Page) -> None:
    _way_end(page)
    _click("#way-found button")(page)
    _wait("#way li")(page)


def _runs(*clicks: str) -> Callable[[Page], object]:
    def open_panel(page: Page) -> None:
        for selector in ("#start-runs", *clicks):
            _wait(selector)(page)
            _click(selector)(page)
        _wait("#panel h2")(page)

    return open_panel


def _disagreements(page: Page) -> None:
    _runs("#show-disagreements")(page)
    _wait("#disagreements li")(page)


def _fill_shop(client: Client) -> None:
    """The shop, with a dashboard of one chart and a metric that are made of `report`, two runs, and a disagreement."""
    tell(client)
    orders, daily = (client.get(f"/tables/name/{shop_history.SCHEMA}.{name}")[1] for name in ("orders", "daily"))
    send(client, said(orders, daily, "region>total", producer="engine:daily", firstSeen=shop_history.CHANGED))
    client.made("/services/dashboardServices", {"name": "looker", "serviceType": "Looker"})
    chart = client.made("/charts", {"name": "1", "displayName": "Sales by day", "service": "looker"})
    board = {"name": "2", "displayName": "Board of sales", "service": "looker", "charts": [chart["fullyQualifiedName"]]}
    measured = {"language": "SQL", "code": "SUM(total)"}
    made = {
        "dashboard": client.made("/dashboards", board),
        "metric": client.made("/metrics", {"name": "turnover", "metricExpression": measured}),
    }
    status, report = client.get(f"/tables/name/{shop_history.SCHEMA}.report")
    assert status == 200, report
    for kind, one in made.items():
        ends = {"fromEntity": ref(report), "toEntity": ref(one, kind)}
        assert client.put("/lineage", {"edge": ends})[0] == 200


_VIEWS: tuple[View, ...] = (
    ("start", False, "", _wait("#start-lists li")),
    ("results", False, "q=flour", _wait("#beginnings li")),
    ("search", False, "", _search),
    ("graph", False, _HUB, _wait(".card")),
    ("list", False, f"{_HUB}&list=1", _wait("#list tr")),
    ("panel of a link", True, _LINK, _wait("#panel .said")),
    ("panel of a column", True, f"t=1.1.{_DAILY}&days=0&columns=all", _column),
    ("correction", True, _LINK, _correction),
    ("time", True, f"t=1.1.{_DAILY}&days=0", _click("#time-toggle")),
    ("two moments", True, f"t=1.1.{_DAILY}&days=0&base={shop_history.CHANGED - 1}", _wait(".wires .change")),
    ("schemas", False, "a=schemas.", _wait(".card")),
    ("find", False, _HUB, _click("#find-toggle")),
    ("filters", False, _HUB, _click("#filters summary")),
    ("narrow", False, _HUB, _click("#narrow summary")),
    ("help", False, _HUB, _click("#help-toggle")),
    ("dashboard", True, f"t=1.1.{_BOARD}&days=0", _card),
    ("metric", True, f"t=1.1.{_METRIC}&days=0", _card),
    ("schemas with dashboards", True, "a=schemas.", _wait(".card")),
    ("why", True, f"t=1.1.{_DAILY}&days=0", _why),
    ("a hub at two moments", True, f"t=1.1.{_DAILY}&days=0&base={shop_history.CHANGED - 1}&list=1", _wait("#list tr")),
    ("impact, filtered", True, f"t=1.1.{_ORDERS}&days=0&o={_ORDERS}", _impact_filter),
    ("the end of a path", True, f"t=0.0.{_REPORT}&days=0&o={_REPORT}", _way_end),
    ("path", True, f"t=0.0.{_REPORT}&days=0&o={_REPORT}", _way),
    ("runs", True, "", _runs("#runs li")),
    ("a run", True, "", _runs("[data-run='2a2']")),
    ("coverage", True, "", _runs("#show-coverage")),
    ("freshness", True, "", _runs("#show-freshness")),
    ("disagreements", True, "", _disagreements),
    ("a selector's offers", False, "", lambda page: page.search("flour+")),
    ("missing", False, "t=1.1.mill.main.core.flour", _wait("#beginnings li")),
)


def main() -> None:
    """Serves two catalogs, looks at each view, prints what axe says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("axe", type=Path, help="axe.min.js")
    script = parser.parse_args().axe.read_text("utf-8")
    found: dict[tuple[str, str], set[str]] = {}
    count = 0
    with ExitStack() as stack:
        folders = [Path(stack.enter_context(tempfile.TemporaryDirectory())) for _ in range(2)]
        mill = stack.enter_context(served_page(folders[0], mill_catalog.fill))
        shop = stack.enter_context(served_page(folders[1], _fill_shop))
        for where, violation in _violations(mill, shop, script):
            count += 1
            for one in violation:
                kind = one["id"], f"{one['impact']}: {one['help']}"
                found.setdefault(kind, set()).update(f"{where}: {node}" for node in one["nodes"])
    for (identifier, text), nodes in sorted(found.items()):
        print(f"{identifier}, {text}, {len(nodes)} times")
        for node in sorted(nodes)[:12]:
            print(f"    {node}")
    print(f"{count} views, {len(found)} kinds of violation")
    raise SystemExit(1 if found else 0)


def _violations(mill: ServedPage, shop: ServedPage, script: str) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for name, of_shop, address, act in _VIEWS:
        for size, word in ((DESK, "desk"), (PHONE, "phone")):
            served = shop if of_shop else mill
            page = served.show(address, None, size)
            page.until(lambda page=page: page.tables >= 0, "the page")  # type: ignore[misc]
            act(page)
            page.js(script)
            for theme in ("light", "dark"):
                page.js(_THEME, theme)
                told = page.driver.execute_async_script(_RUN)
                assert isinstance(told, list), told
                yield f"{name}, {word}, {theme}", told


if __name__ == "__main__":
    main()
