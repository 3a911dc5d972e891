"""A real Chromium, without a screen, and the explorer in it as a person uses it: by pointer and by key."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import ActionChains, Chrome
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

_SECONDS = 10.0
# the name of the table that an element belongs to: a card is labelled "table service.database.schema.name, ..."
_TABLE = """
    const table = (e) => e.closest('.card').getAttribute('aria-label').split(' ')[1].slice(0, -1).split('.').pop();
    const path = (e) => e.getAttribute('data-key').split('\\n')[1];
"""
WIDER = """
    const wide = document.documentElement.clientWidth;
    const scrolls = (e) => /auto|scroll/.test(getComputedStyle(e).overflowX) && e.scrollWidth > e.clientWidth + 1;
    const beyond = (e) => {
      const box = e.getBoundingClientRect();
      return box.width > 0 && (box.right > wide + 1 || box.left < -1);
    };
    return [...document.querySelectorAll('body *:not(svg *, .unseen, .skip, #layer, #layer *)')]
      .filter((e) => e.checkVisibility() && (beyond(e) || scrolls(e)))
      .map((e) => `${e.tagName} ${e.id || e.className} ${e.textContent.slice(0, 20)}`);
"""
"""What is wider than the window, or is scrolled sideways within itself; but for the picture, which the camera moves."""

SMALL = """
    return [...document.querySelectorAll('input, button, summary, select')]
      .filter((e) => e.checkVisibility())
      .map((e) => [e.id || e.className || e.textContent, e.getBoundingClientRect()])
      .filter(([, box]) => box.height < (arguments[0]) || box.width < 16)
      .map(([name, box]) => `${name} ${box.width}x${box.height}`);
"""

NAMELESS = """
    const named = (e) => e.getAttribute('aria-label') || e.closest('label')?.textContent.trim()
      || e.textContent.trim() || e.getAttribute('aria-labelledby');
    const wanting = 'button, input, select, summary, meter, dialog, [role=button], [role=application], [role=group]';
    return [...document.querySelectorAll(wanting)].filter((e) => !named(e)).map((e) => e.outerHTML.slice(0, 80))
      .concat([...document.querySelectorAll('span[aria-label]:not([role])')].map((e) => e.outerHTML.slice(0, 80)));
"""
COPIED = """
    const writeText = async (text) => (window.copied = text);
    Object.defineProperty(navigator, 'clipboard', { value: { writeText } });
"""
"""Makes the clipboard a value of the window."""

_BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def browser(downloads: Path, *, offline: bool = False) -> Iterator[Page]:
    """A fresh browser that saves to `downloads`. Skips where there is none, except in CI."""
    binary = next((found for name in _BROWSERS if (found := shutil.which(name))), None)
    service = shutil.which("chromedriver")
    if binary is None or service is None:
        message = "no Chromium with chromedriver here: apt-get install chromium chromium-driver"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    options = Options()
    options.binary_location = binary
    for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1400,900"):
        options.add_argument(flag)
    if offline:
        options.add_argument("--proxy-server=http://127.0.0.1:9")  # whatever is asked of a network fails
        options.add_argument("--proxy-bypass-list=<-loopback>")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    driver = Chrome(options=options, service=Service(service))
    try:
        driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(downloads)})
        yield Page(driver, downloads)
    finally:
        driver.quit()


class Page:
    """The explorer on the screen."""

    def __init__(self, driver: Chrome, downloads: Path) -> None:
        self.driver = driver
        self._downloads = downloads

    def open(self, url: str, tables: int | None = None) -> None:
        """Opens an address anew and waits until so many tables are there."""
        self.driver.get("about:blank")
        self.driver.get(url)
        if tables is not None:
            self.until(lambda: self.tables == tables, f"{tables} tables")

    def until(self, true: Callable[[], object], what: str) -> None:
        end = time.monotonic() + _SECONDS
        while not true():
            assert time.monotonic() < end, f"waited for {what}; {self.status!r}; {self.complaints()}"
            time.sleep(0.03)

    def js(self, script: str, *given: Any) -> Any:
        return self.driver.execute_script(script, *given)

    @property
    def tables(self) -> int:
        return int(self.js("return document.body.dataset.ready ?? -1"))

    @property
    def status(self) -> str:
        return str(self.js("return document.getElementById('status')?.textContent ?? ''"))

    def texts(self, selector: str) -> list[str]:
        found: list[str] = self.js(
            "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)", selector
        )
        return found

    def text(self, selector: str) -> str:
        return " ".join(self.texts(selector))

    def cards(self) -> set[str]:
        """The names of the cards in sight."""
        return set(self.js(_TABLE + "return [...document.querySelectorAll('.card')].map(table)"))

    def lit(self) -> set[str]:
        """The lit columns in sight, as table.column."""
        found = "[...document.querySelectorAll('.column.direct, .column.indirect')]"
        return set(self.js(_TABLE + f"return {found}.map((e) => table(e) + '.' + path(e))"))

    def column(self, name: str, column: str) -> Any:
        """The element of a column."""
        wanted = "(e) => table(e) === arguments[0] && path(e) === arguments[1]"
        script = f"return [...document.querySelectorAll('.card .column')].find({wanted})"
        found = self.js(_TABLE + script, name, column)
        assert found is not None, f"{name}.{column} is not shown"
        return found

    def hover(self, element: Any) -> None:
        ActionChains(self.driver, duration=0).move_to_element(element).perform()

    def click(self, element: Any) -> None:
        ActionChains(self.driver, duration=0).move_to_element(element).click().perform()

    def drag(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        """Moves the pointer from one point of the window to another with its button down."""
        pointer = ActionChains(self.driver, duration=50)
        action = pointer.w3c_actions.pointer_action
        action.move_to_location(*start).pointer_down().move_to_location(*end).pointer_up()
        pointer.perform()

    def press(self, *keys: str) -> None:
        ActionChains(self.driver).send_keys(*keys).perform()

    def button(self, identifier: str) -> None:
        self.driver.find_element(By.ID, identifier).click()

    def wires(self, kind: str = "") -> int:
        return len(self.driver.find_elements(By.CSS_SELECTOR, f".wires .wire{'.' + kind if kind else ''}"))

    def click_wire(self, kind: str, number: int = 0) -> None:
        """Clicks the middle of a wire's line, once the camera has come to rest."""
        at: list[float] = []

        def rests() -> bool:
            before = at[:]
            at[:] = self._middle_of_wire(kind, number)
            return before == at

        self.until(rests, "the camera to rest")
        pointer = ActionChains(self.driver, duration=0)
        pointer.w3c_actions.pointer_action.move_to_location(*map(round, at))
        pointer.click().perform()

    def _middle_of_wire(self, kind: str, number: int) -> list[float]:
        """Where on the screen it is, after two more frames."""
        script = """
            const [kind, number, done] = arguments;
            const middle = () => {
              const path = document.querySelectorAll('.wires path.wire.' + kind)[number];
              const at = path.getPointAtLength(path.getTotalLength() / 2);
              const on = path.getScreenCTM();
              return [at.x * on.a + on.e, at.y * on.d + on.f];
            };
            requestAnimationFrame(() => requestAnimationFrame(() => done(middle())));
        """
        found: list[float] = self.driver.execute_async_script(script, kind, number)
        return found

    def search(self, text: str) -> list[str]:
        """What the search box offers for a text."""
        box = self.driver.find_element(By.ID, "search")
        box.clear()
        box.send_keys(text)
        shown = "return document.querySelector('#results:not([hidden])')?.dataset.found"
        self.until(lambda: self.js(shown) == text, f"results for {text}")
        return self.texts("#results li .found")

    def saved(self, name: str) -> str:
        """The text of a file that the page saved."""
        return self.saved_bytes(name).decode("utf-8")

    def saved_bytes(self, name: str) -> bytes:
        """The same as it is."""
        file = self._downloads / name
        # Chromium holds the name by an empty file, and puts what it wrote beside it in its place once that is whole
        self.until(lambda: file.exists() and file.stat().st_size > 0, name)
        content = file.read_bytes()
        file.unlink()
        return content

    def state(self) -> str:
        return str(self.js("return decodeURIComponent(location.hash)"))

    def complaints(self) -> list[str]:
        """What the browser complained of: errors of scripts, and everything its content policy refused."""
        return [json.dumps(entry["message"]) for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]


ESCAPE, ENTER, DOWN, LEFT, RIGHT = Keys.ESCAPE, Keys.ENTER, Keys.ARROW_DOWN, Keys.ARROW_LEFT, Keys.ARROW_RIGHT
