"""Why something is wrong, asked in the page: ranked suspects, the path of the chosen one lit, the whole as text."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from selenium.webdriver.common.by import By

from tests.support.broken_history import DAILY, NOON, SALES, fill
from tests.support.browser import COPIED, ENTER, NAMELESS, SMALL, WIDER, Page
from tests.support.http_client import Client
from tests.support.served_page import DESK, PHONE, ServedPage, served_page

pytestmark = pytest.mark.browser

VIEW = f"t=0.0.{DAILY}&asof={NOON}&days=0"


def fill_shop(client: Client) -> None:
    """The history below a service and a schema of its own."""
    client.made("/services/databaseServices", {"name": "shop", "serviceType": "Postgres"})
    client.made("/databases", {"name": "main", "service": "shop"})
    client.made("/databaseSchemas", {"name": "public", "database": "shop.main"})
    fill(client)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedPage]:
    with served_page(tmp_path_factory.mktemp("causes"), fill_shop) as shown:
        yield shown


@pytest.fixture
def history(served: ServedPage) -> Iterator[ServedPage]:
    yield served
    assert served.page.complaints() == []


def ask(page: Page) -> None:
    page.driver.find_element(By.XPATH, "//button[text()='Why is it wrong?']").click()
    page.until(lambda: page.texts(".suspect"), "the suspects")


@pytest.mark.parametrize("size", [DESK, PHONE])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_panel_ranks_suspects_and_lights_the_path_of_the_chosen_one(
    history: ServedPage, size: tuple[int, int], theme: str
) -> None:
    page = history.show(VIEW, 1, size)
    page.js("document.documentElement.dataset.theme = arguments[0]", theme)
    page.js("document.querySelector('.card.root').dispatchEvent(new MouseEvent('click', { bubbles: true }))")
    page.until(lambda: page.texts("#panel:not([hidden]) h2"), "the panel")
    ask(page)
    assert page.texts(".suspect") == ["public.sales"]
    assert f"likeliest: {SALES}" in page.text("#causes-verdict")
    assert "total -> net" in page.texts(".evidence li")[0] and "2026-11-20 01:00" in page.texts(".evidence time")[0]
    assert any("fails" in entry and "daily" in entry for entry in page.texts(".timeline li"))
    assert page.js(WIDER) == []
    assert page.js(SMALL, 16) == []
    assert page.js(NAMELESS) == []
    page.js("document.querySelector('.suspect').focus()")
    page.press(ENTER)
    page.until(lambda: page.tables == 2, "the table on the path is brought into the picture")
    page.until(lambda: {"sales.revenue", "daily.revenue"} <= page.lit(), "its path is lit")
    assert page.js("return document.querySelector('.suspect').ariaPressed") == "true"
    page.js("document.querySelector('.suspect').click()")
    page.until(lambda: page.lit() == set(), "no path")


def test_it_is_asked_of_another_moment_and_copied_as_text(history: ServedPage) -> None:
    page = history.show(f"t=1.0.{DAILY}&p={DAILY}%0Arevenue&asof={NOON}&days=0", 2)
    page.js(COPIED)
    page.driver.find_element(By.CSS_SELECTOR, ".card.root .column").click()
    if not page.texts("#panel:not([hidden]) h2"):
        page.driver.find_element(By.CSS_SELECTOR, ".card.root .column").click()
    page.until(lambda: page.texts("#panel:not([hidden]) h2"), "the panel")
    ask(page)
    page.button("causes-copy")
    page.until(lambda: page.js("return window.copied"), "the text")
    lines = page.js("return window.copied").splitlines()
    assert lines[0] == f"why {DAILY}.revenue is wrong at 2026-11-20 12:00"
    assert lines[3:5] == [f"1. {SALES}", f"   {SALES}.revenue -> {DAILY}.revenue"]
    page.js("""
        const input = document.getElementById('causes-at');
        input.value = '2026-11-19T12:00';
        input.dispatchEvent(new Event('change'));
    """)
    page.until(lambda: "asof=1795089600000" in page.state(), "the day before")
    page.until(lambda: page.texts("#causes-verdict"), "an answer")
    assert page.texts(".suspect") == []
    page.button("causes-back")
    page.until(lambda: page.texts("#panel h2") == ["revenue"], "the column again")
