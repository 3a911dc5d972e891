"""The page as text: what it may do, what it carries, what it never says."""

from __future__ import annotations

import base64
import hashlib
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.catalog.page.html import ASSETS, POLICY, asset, hosted_page, self_contained_page

EMPTY = {"roots": [], "window": {}, "nodes": [], "edges": [], "truncated": False}


def carried(page: str) -> dict[str, object]:
    """The document that a page carries, as a browser reads it."""
    found = re.search(r'<script type="application/json" id="lineage-data">(.*?)</script', page, re.DOTALL)
    assert found is not None
    document: dict[str, object] = json.loads(found[1])
    return document


def test_the_hosted_page_loads_nothing_but_its_own_files() -> None:
    page = hosted_page("explorer")
    assert set(re.findall(r'(?:src|href)="(?!#|data:)([^"]+)"', page)) == {"explorer/explorer.css", "explorer/page.js"}
    assert "'unsafe" not in POLICY and "default-src 'none'" in POLICY


def test_the_policy_of_a_page_of_its_own_allows_its_script_and_style_and_nothing_else() -> None:
    page = self_contained_page(EMPTY, "x")
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None
    for kind, tag in (("script", r'<script type="module">(.*?)</script>'), ("style", r"<style>(.*?)</style>")):
        found = re.search(tag, page, re.DOTALL)
        assert found is not None
        digest = base64.b64encode(hashlib.sha256(found[1].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy[1]
    assert "connect-src" not in policy[1] and "unsafe" not in policy[1]


def test_no_page_asks_anybody_else_for_anything() -> None:
    for text in (*map(asset, ASSETS), self_contained_page(EMPTY, "x"), hosted_page("explorer")):
        addresses = set(re.findall(r"https?://[^\s\"'`)]+", text))
        assert addresses <= {"http://www.w3.org/2000/svg"}


def test_the_page_speaks_the_words_of_those_who_use_it() -> None:
    texts = re.sub(r"<[^>]*>", " ", hosted_page("explorer"))
    assert not re.search(r"\b(narrow|hops?|edges?|witness(es)?|producers?|folded)\b", texts, re.IGNORECASE)


def test_no_module_builds_markup_out_of_text() -> None:
    for name in ASSETS:
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", asset(name)
        ), name


@given(st.text(), st.text())
def test_whatever_a_name_holds_it_comes_out_of_the_page_as_it_was(name: str, title: str) -> None:
    node = {"id": "1", "name": name, "fullyQualifiedName": name, "columns": []}
    page = self_contained_page({**EMPTY, "nodes": [node]}, title.replace("\r", " "))
    nodes = carried(page)["nodes"]
    assert isinstance(nodes, list) and nodes[0]["name"] == name
    assert page.count("</script") == self_contained_page(EMPTY, "").count("</script")


def test_a_text_that_many_edges_share_is_carried_once() -> None:
    sql = "SELECT a FROM b"
    said = {"producer": {"kind": "query", "key": "1"}, "sqlQuery": sql, "columns": [{"from": [], "expression": sql}]}
    page = self_contained_page({**EMPTY, "edges": [{"from": "1", "to": "2", "contributions": [said, said]}]}, "x")
    assert page.count(sql) == 1


def test_only_the_pages_files_are_assets() -> None:
    assert {name.rpartition(".")[2] for name in ASSETS} == {"css", "mjs"}
    for name in ("page.html", "../pages.py", "nothing.mjs"):
        with pytest.raises(KeyError):
            asset(name)
