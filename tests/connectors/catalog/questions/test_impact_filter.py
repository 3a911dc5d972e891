"""What of everything downstream is asked for, and how many there are of each value."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from connectors.catalog.mcp.answers import CatalogAnswers
from connectors.catalog.questions.answer import When
from connectors.catalog.questions.impact import Impact, impact_in_file
from connectors.catalog.questions.impact_filter import Facet, ImpactFilter, Labelled, facet_counts, fits
from ingestion.errors import ConfigError
from tests.support.made_catalog import MadeCatalog

PII = {"tagFQN": "PII.Sensitive", "source": "Classification", "labelType": "Manual", "state": "Confirmed"}
GOLD = {**PII, "tagFQN": "Tier.Gold"}
WAY = ("shop.main.raw.a", "shop.main.core.b", "shop.main.mart.c", "bank.main.mart.d")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """a -> b -> c -> d by their column v: ann owns b and c, bob d; c is of the tier gold, d is tagged."""
    made = MadeCatalog(tmp_path_factory.mktemp("choices") / "catalog.db")
    labels = {WAY[1]: ("ann", []), WAY[2]: ("ann", [GOLD]), WAY[3]: ("bob", [PII])}
    for table in WAY:
        owner, tags = labels.get(table, ("", []))
        owners = [{"id": f"0b9c5d1e-7a53-4a41-9d0e-0d6b1a2c3d{len(owner):02}", "type": "team", "name": owner}]
        made.add_tables({table: ("v",)}, owners=owners if owner else [], tags=tags)
    made.add_edges(
        (source, target, {"producer": {"kind": "query", "key": target}, "columns": [column(source, target)]})
        for source, target in pairwise(WAY)
    )
    made.close()
    yield made.file


def column(source: str, target: str) -> dict[str, object]:
    return {"from": [f"{source}.v"], "to": f"{target}.v", "type": "DIRECT"}


def asked(file: Path, *words: str) -> Impact:
    return impact_in_file(file, "raw.a.v", When(days=0)).content.only(ImpactFilter.of(only=words))


def tables(found: Impact) -> str:
    return "".join(one.table[-1] for one in found.reached)


@pytest.mark.parametrize(
    ("words", "left"),
    [
        ((), "bcd"),
        (("degree:1",), "b"),
        (("degree:1", "degree:3+"), "bd"),
        (("owner:ANN",), "bc"),
        (("owner:ann", "degree:2"), "c"),
        (("tag:PII.Sensitive",), "d"),
        (("tag:pii",), "d"),
        (("tier:gold",), "c"),
        (("type:table", "how:direct"), "bcd"),
        (("type:dashboard",), ""),
        (("service:bank",), "d"),
        (("schema:mart",), "cd"),
        (("schema:shop.main.mart",), "c"),
        (("schema:art",), ""),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, tuple) else words,
)
def test_only_what_is_asked_for_is_left(file: Path, words: tuple[str, ...], left: str) -> None:
    found = asked(file, *words)
    assert tables(found) == left
    assert found.left_out == 3 - len(left)


def test_the_counts_of_a_facet_are_of_what_all_others_let_through(file: Path) -> None:
    facets = asked(file, "owner:ann", "degree:1").facets
    assert facets[Facet.OWNER] == {"ann": 1}
    assert facets[Facet.DEGREE] == {"1": 1, "2": 1}
    assert facets[Facet.TIER] == {}
    assert asked(file, "owner:bob").facets[Facet.OWNER] == {"ann": 2, "bob": 1}
    assert asked(file).facets[Facet.SCHEMA] == dict.fromkeys(("bank.main.mart", "shop.main.core", "shop.main.mart"), 1)


def test_a_table_has_a_tag_once_however_often_it_and_its_column_bear_it() -> None:
    twice = Labelled("s.d.p.t", "table", 1, "direct", (), ("PII", "PII"))
    assert facet_counts([twice], ImpactFilter())[Facet.TAG] == {"PII": 1}
    assert not fits(twice, ImpactFilter(depth=1, only=((Facet.OWNER, frozenset({"ann"})),)))
    assert facet_counts([twice], ImpactFilter(direct=True, depth=1))[Facet.DEGREE] == {"1": 1}


def test_json_has_the_counts_and_a_part_of_the_list(file: Path) -> None:
    found = asked(file, "owner:ann")
    part = found.page(1, 1)
    assert [one["entity"]["fullyQualifiedName"] for one in part["impacted"]] == [WAY[2]]
    assert (part["total"], part["leftOut"], part["impacted"][0]["entityTags"]) == (2, 1, ["Tier.Gold"])
    assert part["facets"]["owner"] == [{"value": "ann", "count": 2}, {"value": "bob", "count": 1}]


@pytest.mark.parametrize("word", ["", "ann", "owner:", "colour:red", "degree:4", "degree:x"])
def test_a_word_that_asks_for_nothing_is_refused(word: str) -> None:
    with pytest.raises(ConfigError, match="degree"):
        ImpactFilter.of(only=[word])


def test_an_answer_in_rows_tells_what_was_asked_for(file: Path) -> None:
    with CatalogAnswers(file, When(days=0)) as answers:
        text = answers.impact("raw.a.v", asked=ImpactFilter.of(only=["owner:bob"])).page().text
    assert "1 downstream in 1 table" in text
    assert '2 are left out: only "owner:bob" was asked for' in text
