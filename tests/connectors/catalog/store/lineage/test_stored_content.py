"""A part of a document that is read alone is what the whole document has of it, however its names are written."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.catalog.store.database import dumps, loads
from connectors.catalog.store.lineage.stored_content import (
    StoredContent,
    columns_about,
    has_columns,
    text_digest,
    with_columns,
)

DIGEST = "0f" * 16
TEXTS = {DIGEST: "SELECT 1"}
NAMES = ("a", "b", "from", "to", "{", "a{", "}],", ":1}", '"', '\\"a', "null", "sqlglot", "é", DIGEST)
names = st.sampled_from(NAMES)


@st.composite
def columns(draw: st.DrawFn) -> dict[str, Any]:
    column: dict[str, Any] = {"from": draw(st.lists(names, min_size=1, max_size=3)), "to": draw(st.none() | names)}
    return column | draw(st.fixed_dictionaries({}, optional={"expression": names, "subtype": names}))


contents = st.fixed_dictionaries(
    {},
    optional={
        "columns": st.lists(columns(), max_size=4),
        "author": names,
        "description": names,
        "parser": names,
        "pipeline": st.fixed_dictionaries({"name": names, "parts": st.lists(st.just({"from": ["a"], "to": "b"}))}),
        "temp": st.lists(st.fixed_dictionaries({"from": names, "to": names}), max_size=2),
        "text": st.just(DIGEST),
    },
)


@settings(max_examples=150, deadline=None)
@given(contents, st.lists(names, unique=True, max_size=2))
def test_a_part_is_what_the_whole_has(content: dict[str, Any], paths: list[str]) -> None:
    document = dumps(content)
    assert text_digest(document) == content.get("text")
    assert StoredContent(document).get("text") == content.get("text")
    whole = loads(document)
    if whole.pop("text", None):
        whole["sql"] = "SELECT 1"
    asked_often = StoredContent(document, TEXTS)
    for upstream in (True, False):
        for some in (paths, *([path] for path in paths), paths):
            about = columns_about(whole, some, upstream=upstream)
            assert columns_about(StoredContent(document, TEXTS), some, upstream=upstream) == about
            assert columns_about(asked_often, some, upstream=upstream) == about
    for key in ("author", "columns", "confidence", "description", "parser", "pipeline", "sql", "temp", "text"):
        assert StoredContent(document, TEXTS).get(key) == whole.get(key)
    kept = [{"from": ["c"], "to": "d"}]
    assert with_columns(StoredContent(document, TEXTS), kept) == {**whole, "columns": kept}
    assert has_columns(StoredContent(document)) == has_columns(whole)
    assert StoredContent(document, TEXTS) == whole


@pytest.mark.parametrize("upstream", [True, False])
def test_only_what_is_asked_for_is_taken_apart(upstream: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    given = [{"from": [f"a{number}"], "to": f"b{number}"} for number in range(50)]
    content = StoredContent(dumps({"columns": given, "parser": "sqlglot", "text": DIGEST}), TEXTS)
    whole: list[str] = []
    monkeypatch.setattr(
        "connectors.catalog.store.lineage.stored_content.loads", lambda text: whole.append(text) or loads(text)
    )
    assert content.columns_about(["b7" if upstream else "a7"], upstream=upstream) == [given[7]]
    assert content["parser"] == "sqlglot"
    assert content["sql"] == "SELECT 1"
    assert sum(map(len, whole)) < 100
