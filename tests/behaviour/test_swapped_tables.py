"""Tables that are built beside the one that stands and take its name, run after run, in a catalog that remembers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from uuid import uuid4

import pytest

from connectors.openmetadata.client import CatalogSearch
from connectors.openmetadata.registration import register_each
from connectors.openmetadata.sink import RestSink
from connectors.sink import target_batches
from connectors.source_settings import LineageConfig
from ingestion.model.isolation import Isolation, no_probe
from ingestion.resolution import Resolver, SearchScope
from tests.behaviour.conftest import Opened, Shop
from tests.behaviour.harness import Record, merged_groups, statement_rows, templates_of
from tests.support.catalog_contents import short
from workflows.run.bind.binding import bind_occurrences
from workflows.run.bind.schemas import StatedSchemas, catalog_schemas
from workflows.run.publish._ddl_events import publish_events_of_shards
from workflows.run.resolve.entities import relations_in, resolve_relations
from workflows.run.resolve.lineage import lineage_of
from workflows.run.resolve.resolution import Registrar
from workflows.target import RunTarget

NIGHT = 1000.0


def build(name: str, source: str, aside: str = "__dbt_backup", beside: str = "__dbt_tmp") -> list[str]:
    return [
        f"create table {name}{beside} as select a from {source}",
        f"alter table {name} rename to {name}{aside}",
        f"alter table {name}{beside} rename to {name}",
        f"drop table {name}{aside}",
    ]


def nights(count: int, *texts: str) -> list[Record]:
    return [
        Record(text, at=NIGHT * (night + 1) + number, schema="public")
        for night in range(count)
        for number, text in enumerate(texts)
    ]


def run(shop: Shop, log: Sequence[Record]) -> None:
    """As a run does it: runs that mean the same are one, what the catalog lacks is registered, names move last."""
    warehouse, platform = shop.warehouse, shop.platform
    rows = statement_rows(log, warehouse)
    templates = templates_of(rows)
    groups = merged_groups(rows, templates, warehouse.settings.defaults)

    def resolver() -> Resolver:
        return Resolver(CatalogSearch(platform), SearchScope(warehouse.service))

    before = catalog_schemas(StatedSchemas(), resolver(), registers=True)
    source = bind_occurrences(templates, groups, warehouse.settings, before)
    wanted = relations_in(source.flows)
    entities = resolve_relations(source.log, wanted, resolver(), LineageConfig(), registers=True)
    registrar = Registrar(warehouse.service, "Postgres", warehouse.database, warehouse.schema)
    facts = registrar.facts(source, entities)
    register_each(platform, registrar.requests_of(facts, Isolation()))
    lineage = lineage_of(source, resolve_relations(source.log, wanted, resolver(), LineageConfig(), registers=True))
    RestSink(platform, uuid4().hex).write(target_batches(lineage.requests, lineage.replacements))
    target = RunTarget(platform, CatalogSearch(platform), RestSink(platform, uuid4().hex), ())
    assert publish_events_of_shards(target, [source.log.ddl_events], resolver(), no_probe) == ()


def standing(shop: Shop, include: str = "non-deleted") -> set[str]:
    found = shop.catalog.get("tables", limit=1000, include=include)["data"]
    return {
        short(t["fullyQualifiedName"]).removeprefix("public.")
        for t in found
        if t["service"]["name"] == shop.warehouse.service
    }


def edges(shop: Shop) -> set[tuple[str, str]]:
    found = shop.catalog.edges(shop.warehouse.service)
    return {(source.removeprefix("public."), target.removeprefix("public.")) for source, target in found}


MODELS = [*build("stg", "raw"), *build("mart", "stg")]
TABLES = {f"public.{name}": ("a",) for name in ("raw", "stg", "mart")}
EDGES = {("raw", "stg"), ("stg", "mart")}


def parts(log: Sequence[Record], *cuts: int) -> list[Sequence[Record]]:
    return [log[start:end] for start, end in pairwise((0, *cuts, len(log)))]


@pytest.mark.parametrize("times", [2, 3])
@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("known", [True, False])
def test_tables_that_are_built_anew_stand_and_have_their_lineage(
    shop: Opened, times: int, apart: bool, known: bool
) -> None:
    made = shop(TABLES if known else {"public.raw": ("a",)})
    log = nights(times, *MODELS)
    for part in parts(log, *range(len(MODELS), len(log), len(MODELS)) if apart else ()):
        run(made, part)
    assert standing(made, "all") == {"raw", "stg", "mart"}
    assert edges(made) == EDGES


@pytest.mark.parametrize("cut", [1, 3, 9, 15])  # all but between the two renames of a table
def test_a_run_may_end_in_the_middle_of_a_build(shop: Opened, cut: int) -> None:
    made, log = shop(TABLES), nights(2, *MODELS)
    for part in (*parts(log, cut), log[cut:], log):
        run(made, part)
        assert {"raw", "stg", "mart"} <= standing(made)
    assert standing(made) == {"raw", "stg", "mart"}
    assert edges(made) == EDGES


def test_what_is_set_aside_and_kept_has_its_own_lineage_until_it_goes(shop: Opened) -> None:
    made = shop({**TABLES, "public.other": ("a",)})
    run(made, nights(1, "insert into stg select a from other"))
    log = [Record(text, at=5000.0 + number, schema="public") for number, text in enumerate(build("stg", "raw", "_was"))]
    run(made, log[:3])
    assert standing(made) == {"raw", "stg", "mart", "other", "stg_was"}
    assert edges(made) == {("raw", "stg"), ("other", "stg_was")}
    run(made, log[3:])
    assert standing(made) == {"raw", "stg", "mart", "other"}
    assert edges(made) == {("raw", "stg")}


@pytest.mark.parametrize("apart", [False, True])
def test_some_nights_rename_and_others_drop(shop: Opened, apart: bool) -> None:
    made = shop(TABLES)
    dropping = [
        "create table stg__dbt_tmp as select a from raw",
        "drop table stg",
        "alter table stg__dbt_tmp rename to stg",
    ]
    texts = [*MODELS, *dropping, *build("mart", "stg"), *MODELS]
    log = nights(1, *texts)
    for part in parts(log, *(8, 11, 15) if apart else ()):
        run(made, part)
    assert standing(made, "all") == {"raw", "stg", "mart"}
    assert edges(made) == EDGES


@pytest.mark.parametrize(
    ("last", "left"),
    [
        (["drop table mart"], {"raw", "stg"}),
        (["alter table mart rename to gone", "drop table gone"], {"raw", "stg"}),
        (["alter table mart rename to report"], {"raw", "stg", "report"}),
        (["alter table mart rename to passing", "alter table passing rename to report"], {"raw", "stg", "report"}),
    ],
)
def test_what_goes_in_the_end_is_gone_and_what_is_renamed_has_the_new_name(
    shop: Opened, last: list[str], left: set[str]
) -> None:
    made = shop(TABLES)
    log = nights(2, *MODELS)
    run(made, log)
    run(made, [Record(text, at=9000.0 + number, schema="public") for number, text in enumerate(last)])
    assert standing(made) == left
    assert standing(made, "all") == left | {"mart"}
    assert edges(made) == {("raw", "stg"), *((("stg", name)) for name in left - {"raw", "stg"})}
