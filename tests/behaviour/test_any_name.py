"""Any name that an engine takes leads from a log to a catalog, to its page and its events, and back to one table."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from urllib.parse import quote
from uuid import UUID

import pytest
import requests
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.catalog.questions.file import named_node
from connectors.catalog.questions.tables import LocalTables
from connectors.catalog.store.database import open_database
from connectors.catalog.store.lineage.reads import NOW
from connectors.openlineage.events import DatasetNames
from connectors.openmetadata.client import CatalogSearch, Platform
from connectors.openmetadata.entities import TableDefinition
from connectors.openmetadata.registration import register
from ingestion.model.fqn import build_fqn, encode_name
from ingestion.model.lineage import Column
from ingestion.resolution import PartialName
from tests.behaviour.harness import Warehouse, catalog_with, publish
from tests.support.catalog_contents import Catalog
from tests.support.examples import examples

SCHEMA = "svc.db.public"
# What a name is written with here and there, each of which is a sign elsewhere; the words that the catalog's own
# contract keeps for four of them are no names in it.
SIGNS = (
    '"',
    ">",
    "::",
    ":",
    "\n",
    "\r",
    "\t",
    ".",
    "`",
    "[",
    "]",
    "'",
    "\\",
    "/",
    "?",
    "*",
    "%",
    "_",
    "$",
    "é",
    "表",
    " ",
)
names = st.lists(st.sampled_from((*SIGNS, "a", "B", "7")), min_size=1, max_size=6).map("".join)
numbers = count()


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Platform, Catalog, str]]:
    file = tmp_path_factory.mktemp("names") / "catalog.db"
    with catalog_with(file, {f"{SCHEMA}.one": ["a"]}) as (platform, catalog):
        yield platform, catalog, str(file)


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def made(platform: Platform, name: str, column: str) -> str:
    """A table of this name, registered as a run does; its full name."""
    table = TableDefinition(SCHEMA, name, (Column(column, "INT"),))
    register(platform, {"tables": [table.to_json()]})
    return build_fqn("svc", "db", "public", name)


@settings(max_examples=examples(20), deadline=None)
@given(names, names)
def test_a_name_of_a_log_is_found_again_wherever_it_goes(
    opened: tuple[Platform, Catalog, str], name: str, column: str
) -> None:
    platform, catalog, _file = opened
    number = next(numbers)
    source, target = f"s{number}{name}t", f"t{number}{name}t"
    column = f"c{column}c"
    from_fqn, to_fqn = made(platform, source, column), made(platform, target, column)

    text = (
        f"INSERT INTO public.{quoted(target)} ({quoted(column)}) SELECT {quoted(column)} FROM public.{quoted(source)}"
    )
    outcome = publish(platform, [text], Warehouse(service="svc", database="db", schema="public"))
    assert outcome.outcomes == (("published", ""),)
    pair = (build_fqn("svc", "db", "public", source, column),), build_fqn("svc", "db", "public", target, column)
    (request,) = outcome.requests
    assert [one.key for one in request.edge.lineage_details.columns_lineage] == [pair]

    graph = catalog.get(f"lineage/table/name/{quote(to_fqn, safe='')}", upstreamDepth=1, downstreamDepth=0)
    assert [node["fullyQualifiedName"] for node in graph["nodes"]] == [from_fqn]
    (details,) = [edge["lineageDetails"] for edge in graph["upstreamEdges"]]
    assert [(tuple(one["fromColumns"]), one["toColumn"]) for one in details["columnsLineage"]] == [pair]

    for partial in (PartialName("db", "public", source), PartialName(None, None, source.upper())):
        (found,) = CatalogSearch(platform).bulk_lookup("svc", [partial]) or ()
        assert [(one.fully_qualified_name, one.name) for one in found] == [(from_fqn, source)]
        assert found[0].column_fqns[column] == pair[0][0]


def test_a_table_is_found_by_its_name_as_people_write_it(opened: tuple[Platform, Catalog, str]) -> None:
    platform, _catalog, file = opened
    database = open_database(Path(file))
    for number, sign in enumerate(SIGNS):
        name = f"p{number}{sign}q"
        fqn = made(platform, name, f"c{sign}c")
        with database.read() as connection:
            (table,) = LocalTables(connection, NOW).tables_named(("public", name))
            for written in (f"public.{quoted(name)}", fqn, *(() if "." in sign else (f"public.{name}",))):
                assert named_node(connection, written)[0].fqn == fqn
                row, path = named_node(connection, f"{written}.{quoted(f'c{sign}c')}")
                assert (row.fqn, path) == (fqn, build_fqn(f"c{sign}c"))
        assert (table.fqn, table.parts) == (fqn, ("db", "public", name))
        assert table.column(f"c{sign}c") is not None
        assert encode_name(name) in fqn
    database.close()


def test_an_event_of_openlineage_names_a_table_as_ours_do_and_means_that_one(
    opened: tuple[Platform, Catalog, str],
) -> None:
    platform, catalog, _file = opened
    search = CatalogSearch(platform)
    for number, sign in enumerate(SIGNS):
        column = f"c{sign}c"
        ends = [made(platform, f"{kind}{number}{sign}x", column) for kind in ("read", "made")]
        tables = [table for name in ends if (table := search.get_by_fqn(name)) is not None]
        read, written = ({"namespace": "svc", "name": DatasetNames().of(table)[1]} for table in tables)
        fields = {column: {"inputFields": [{**read, "field": column}]}}
        facets = {"columnLineage": {"_producer": "http://p", "_schemaURL": "http://p", "fields": fields}}
        event = {
            "eventType": "COMPLETE",
            "eventTime": "2026-11-20T10:00:00Z",
            "producer": "http://p",
            "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
            "run": {"runId": str(UUID(int=number))},
            "job": {"namespace": "jobs", "name": f"job {number}"},
            "inputs": [read],
            "outputs": [{**written, "facets": facets}],
        }
        requests.post(f"{catalog.url}/v1/openlineage/lineage", json=event, timeout=30).raise_for_status()
        graph = catalog.get(f"lineage/table/name/{quote(ends[1], safe='')}", upstreamDepth=1, downstreamDepth=0)
        (details,) = [edge["lineageDetails"] for edge in graph["upstreamEdges"]]
        told = [(*one["fromColumns"], one["toColumn"]) for one in details["columnsLineage"]]
        assert told == [tuple(f"{name}.{build_fqn(column)}" for name in ends)]
