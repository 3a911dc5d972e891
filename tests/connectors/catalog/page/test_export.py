"""The explorer in one file, opened from disk in a browser whose network leads nowhere; and in a notebook's frame."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from connectors.catalog.http.server import CatalogConfig, running_catalog
from ingestion import lineage_graph
from tests.support.browser import ENTER, Page, browser
from tests.support.http_client import Client
from tests.support.sample_catalog import fill, name
from workflows.cli import app

pytestmark = pytest.mark.browser

MARKUP = "<img src=x onerror=alert(1)>"
STATEMENTS = [
    f'CREATE TABLE "{MARKUP}" AS SELECT a AS "</script><script>alert(2)</script>", b FROM source WHERE c = \'secret\'',
    f'CREATE TEMPORARY TABLE scratch AS SELECT b FROM "{MARKUP}"',
    "CREATE TABLE target AS SELECT b FROM scratch",
]


@pytest.fixture(scope="module")
def offline(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(tmp_path_factory.mktemp("offline"), offline=True) as page:
        yield page


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("catalog") / "catalog.db"
    with running_catalog(CatalogConfig(file, port=0)) as address:
        fill(Client(address.url))
    return file


@pytest.fixture(scope="module")
def exported(catalog: Path) -> str:
    """The address of an exported file."""
    page = catalog.with_name("lineage.html")
    result = CliRunner().invoke(app, ["export", "--catalog", str(catalog), "--html", str(page), "--days", "0"])
    assert result.exit_code == 0, result.output
    assert "6 tables, 6 edges" in result.output
    return page.as_uri()


def test_an_exported_file_opens_from_disk_with_the_network_off(offline: Page, exported: str) -> None:
    offline.open(exported, 6)
    assert offline.cards() == {"trees", "pickings", "weighed", "prices", "takings", "report"}
    offline.hover(offline.column("report", "total"))
    offline.until(lambda: "pickings.kilos" in offline.lit(), "light")
    offline.open(f"{exported}#t=1.0.{name('takings')}", 4)
    assert offline.search("report.tot") == ["total"]
    offline.press(ENTER)
    offline.until(
        lambda: "panel-body" in offline.js("return document.querySelector('#panel:not([hidden]) > div')?.id ?? ''"),
        "the panel",
    )
    offline.button("zoom-fit")
    offline.driver.find_element("xpath", "//button[text()='Path to …']").click()
    offline.driver.find_element("id", "way-end").send_keys("pickings.kil")
    offline.until(lambda: offline.texts("#way-found b") == ["pickings.kilos"], "what is found")
    offline.driver.find_element("css selector", "#way-found button").click()
    offline.until(lambda: len(offline.texts("#way li")) == 4, "the way")
    assert offline.complaints() == []


def test_an_exported_file_knows_the_impact_that_the_catalog_knows(offline: Page, exported: str, catalog: Path) -> None:
    offline.open(exported, 6)
    offline.click(offline.column("pickings", "kilos"))
    offline.until(lambda: offline.texts("#impact tbody tr"), "the impact")
    offline.button("impact-csv")
    rows = [line.split(",")[1:5] for line in offline.saved("impact of pickings.kilos.csv").splitlines()[1:]]
    with running_catalog(CatalogConfig(catalog, port=0)) as address:
        status, answer = Client(address.url).get("/headwater/impact", entity=name("pickings"), column="kilos", days=0)
    assert status == 200
    of_catalog = {
        (one["entity"]["fullyQualifiedName"], (one["column"] or "").rpartition(".")[2], one["type"], str(one["depth"]))
        for one in answer["impacted"]
    }
    assert {tuple(row) for row in rows} == of_catalog


def test_names_that_hold_markup_are_text(offline: Page, tmp_path: Path) -> None:
    file = tmp_path / "markup.html"
    file.write_text(lineage_graph(STATEMENTS, "postgres").to_html(MARKUP), "utf-8")
    offline.open(file.as_uri(), 3)
    assert offline.driver.title == MARKUP
    assert MARKUP in offline.texts(".card > title")
    assert "</script><script>alert(2)</script>" in offline.texts(".column-name") + offline.texts(".column title")
    assert offline.driver.find_elements("css selector", "img") == []
    assert offline.complaints() == []


def test_a_graph_in_a_notebook_shows_itself_in_a_frame_of_its_own(offline: Page, tmp_path: Path) -> None:
    notebook = tmp_path / "notebook.html"
    notebook.write_text(f"<!doctype html><body>{lineage_graph(STATEMENTS, 'postgres')._repr_html_()}</body>", "utf-8")
    offline.driver.get(notebook.as_uri())
    frame = offline.driver.find_element("tag name", "iframe")
    assert frame.get_attribute("sandbox") == "allow-scripts allow-downloads"
    offline.driver.switch_to.frame(frame)
    offline.until(lambda: offline.tables == 3, "three tables")
    offline.click(offline.column("target", "b"))
    offline.until(lambda: "source.b" in offline.lit(), "light")
    assert offline.js("return window.origin") == "null"
    offline.driver.switch_to.default_content()
    assert offline.complaints() == []


def test_a_part_of_a_catalog_can_be_exported_and_as_json(catalog: Path) -> None:
    arguments = ["export", "--catalog", str(catalog), "--json", "-", "--table", name("takings"), "--upstream", "1"]
    result = CliRunner().invoke(app, [*arguments, "--downstream", "0"])
    assert result.exit_code == 0, result.output
    document = json.loads(result.output)
    assert {node["name"] for node in document["nodes"]} == {"takings", "weighed", "trees", "prices"}


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        (["--html", "x.html", "--catalog", "nothing.db"], "ingest run"),
        (["--html", "x.html", "--table", "nothing"], "service, database and schema"),
        ([], "--html FILE"),
        (["--html", "no/such/folder/x.html"], "cannot be written"),
    ],
)
def test_a_mistake_is_answered_with_what_to_do(catalog: Path, arguments: list[str], advice: str) -> None:
    result = CliRunner().invoke(app, ["export", "--catalog", str(catalog), *arguments])
    assert result.exit_code == 2
    assert advice in result.output
