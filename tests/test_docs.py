"""Every command in the pages of docs/ works as it stands there, and every YAML is accepted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from pyspark.sql import SparkSession

from tests.support.served_runs import carry_out
from tests.support.shown_yaml import REPOSITORY, example_for, merged

ALL_PAGES = sorted((REPOSITORY / "docs").glob("*.md"))
OWN_TEST = ("dbt.md",)
"""Their commands need a project: `test_dbt_docs`."""

PAGES = [page for page in ALL_PAGES if page.name not in OWN_TEST]


def blocks(language: str) -> Iterator[tuple[str, str]]:
    """Each block of a language, with the page that it is on."""
    for page in PAGES:
        for block in re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            yield page.name, block


def test_the_readme_leads_to_every_page() -> None:
    """By itself, or by way of a page that it leads to."""
    texts = {page.name: page.read_text(encoding="utf-8") for page in ALL_PAGES}
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    led = {name for name in texts if f"docs/{name}" in readme}
    while more := {name for name in texts if any(f"({name})" in texts[page] for page in led)} - led:
        led |= more
    assert sorted(texts.keys() - led) == []


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="module")
def printed() -> dict[str, str]:
    """What the commands of a page have printed so far."""
    return {}


@pytest.mark.spark
@pytest.mark.parametrize(("page", "block"), list(blocks("sh")))
def test_commands_of_a_page_work(
    spark: SparkSession, page: str, block: str, folder: Path, printed: dict[str, str]
) -> None:
    printed[page] = printed.get(page, "") + " ".join(carry_out(block, folder).split())


@pytest.mark.spark
@pytest.mark.parametrize("page", [page.name for page in PAGES])
def test_a_page_quotes_what_its_commands_print(page: str, printed: dict[str, str]) -> None:
    quoted = re.findall(r"^> (.+)$", (REPOSITORY / "docs" / page).read_text(encoding="utf-8"), re.MULTILINE)
    assert [line for line in quoted if line not in printed.get(page, "")] == []


@pytest.mark.parametrize(("page", "block"), list(blocks("yaml")))
def test_yaml_of_a_page_is_accepted(page: str, block: str, tmp_path: Path) -> None:
    from workflows.config import load_config

    shown = yaml.safe_load(block)
    content = example_for(shown, tmp_path)
    ours = shown.get("headwater", {})
    shown.get("source", {}).get("sourceConfig", {}).get("config", {}).pop("queryLogFilePath", None)
    if not {"queryLogTable", "queryLogJdbc"}.isdisjoint(ours):
        del content["source"]["sourceConfig"]["config"]["queryLogFilePath"]
    for file in ours.get("schemaFiles", ()):
        (tmp_path / file["path"]).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file["path"]).write_text("CREATE TABLE orders (oid int);")
        file["path"] = str(tmp_path / file["path"])
    given = shown.get("source", {}).get("sourceConfig", {}).get("config", {})
    for key in {"connectorPath", "scriptPath"} & given.keys():
        (tmp_path / given[key]).mkdir()
        given[key] = str(tmp_path / given[key])
    (tmp_path / "page.yaml").write_text(yaml.safe_dump(merged(content, shown)))
    load_config(tmp_path / "page.yaml", (), dict.fromkeys(re.findall(r"\$\{(\w+)\}", block), "given"))
