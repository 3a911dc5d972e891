"""A catalog with its page, and a browser that looks at it: on a desk or on a phone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from connectors.catalog.http.server import CatalogConfig, running_catalog
from tests.support.browser import Page, browser
from tests.support.http_client import Client

DESK, PHONE = (1440, 900), (390, 844)


@dataclass(frozen=True, slots=True)
class ServedPage:
    """A served catalog, its file, and a browser that looks at it."""

    page: Page
    url: str
    file: Path

    @property
    def client(self) -> Client:
        return Client(f"{self.url}api")

    def show(self, view: str, tables: int | None, size: tuple[int, int] = DESK) -> Page:
        """Opens a view at a size and waits until so many tables are there."""
        resize(self.page, size)
        self.page.open(f"{self.url}#{view}", tables)
        return self.page


def resize(page: Page, size: tuple[int, int]) -> None:
    """Gives the window the size of a desk's or a phone's."""
    width, height = size
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


@contextmanager
def served_page(
    folder: Path, fill: Callable[[Client], object], replays: Mapping[str, Sequence[str]] | None = None
) -> Iterator[ServedPage]:
    """Serves a new catalog below `folder` that `fill` has filled; what the page saves goes there too."""
    file = folder / "catalog.db"
    with running_catalog(CatalogConfig(file, port=0, replays=replays or {})) as address, browser(folder) as page:
        fill(Client(address.url))
        yield ServedPage(page, address.url.removesuffix("api"), file)
