"""What is told of tables beside lineage: descriptions, tags, owners, what reads them, tests, queries."""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from connectors.openmetadata import client
from connectors.openmetadata.client import Platform
from connectors.openmetadata.edges import delete_edge, graph
from connectors.openmetadata.entities import (
    Collection,
    QueryRecord,
    delete_each,
    find_reference,
    get_by_name,
    pages,
    put,
)
from connectors.openmetadata.http import Call, Http, NotAllowed, NotFound, Params, path_of
from ingestion.chunks import chunks_within
from ingestion.model.entities import EntityReference
from ingestion.model.fqn import build_fqn, decode_name, encode_name
from ingestion.model.lineage import Json
from ingestion.model.requests import ColumnLineage, EdgeSource, EntitiesEdge, LineageDetails

_TEST_RESULTS = f"{Collection.TEST_CASES}/testCaseResults"

_QUERY_INDEX = "query_search_index"
_QUERIES_AT_ONCE = 100
_QUERIES_AT_ONCE_IN_BULK = 2_000
"""Of a catalog with bulk calls: it writes a page of its indexes once for all of them, and waits for the disk once."""
_CHECKSUMS_AT_ONCE = 150
"""Checksums in the URL of a search: with more of them it is longer than the 8 KiB that usual proxies take."""
_OWNERS_SHOWN = 5
_QUERY_FIELDS = ["checksum", "queryUsedIn", "usedBy", "processedLineage", "duration"]


# What people say of tables and columns: descriptions and tags, put beside what the platform has or in its place.


@dataclass(frozen=True, slots=True)
class Attributes:
    """A description ("": none is told) and the tags of one classification."""

    description: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TableAttributes:
    """Those of a table (by its FQN), who owns it, and those of its columns (by name, whose case does not matter)."""

    fqn: str
    own: Attributes = Attributes()
    columns: Mapping[str, Attributes] = field(default_factory=dict)
    owner: EntityReference | None = None


@dataclass(frozen=True, slots=True)
class Overwriting:
    """What takes the place of what the platform has; what does not is put only where nothing is."""

    descriptions: bool = False
    owners: bool = False


def register_tags(platform: Platform, classification: str, tags: Sequence[str]) -> None:
    """Makes a classification and its tags, which an OpenMetadata wants before it takes a label of them."""
    if client.TABLES in platform.capabilities or not tags:
        return
    purpose = "What dbt's models are tagged with."
    platform.http.send(Call("PUT", "classifications", body={"name": classification, "description": purpose}))
    for tag in tags:
        platform.http.send(
            Call("PUT", "tags", body={"name": tag, "classification": classification, "description": purpose})
        )


def describe(platform: Platform, described: TableAttributes, classification: str, overwriting: Overwriting) -> bool:
    """Puts descriptions, tags and an owner on a table that is there; whether anything was new.

    `overwriting` says what takes the place of what is there. Tags are added and none taken away.
    """
    table = get_by_name(platform.http, Collection.TABLES, described.fqn, ("tags", "columns", "owners"))
    if table is None:
        return False
    overwrite = overwriting.descriptions
    operations = list(_operations(table, "", described.own, classification, overwrite=overwrite))
    owners = [str(owner["id"]) for owner in table.get("owners") or ()]
    if described.owner is not None and owners != [described.owner.id] and (overwriting.owners or not owners):
        operations.append({"op": "add", "path": "/owners", "value": [described.owner.to_json()]})
    columns = {name.lower(): attributes for name, attributes in described.columns.items()}
    for number, column in enumerate(table.get("columns") or ()):
        attributes = columns.get(decode_name(str(column["name"])).lower())
        if attributes is not None:
            path = f"/columns/{number}"
            operations += _operations(column, path, attributes, classification, overwrite=overwrite)
    if operations:
        path = f"{Collection.TABLES}/{path_of(str(table['id']))}"
        platform.http.send(Call("PATCH", path, body=operations, answered=False))
    return bool(operations)


def _operations(
    stored: Json, path: str, described: Attributes, classification: str, *, overwrite: bool
) -> Iterator[dict[str, object]]:
    known = stored.get("description") or ""
    if described.description and described.description != known and (overwrite or not known):
        yield {"op": "add", "path": f"{path}/description", "value": described.description}
    labels = stored.get("tags") or []
    there = {str(label.get("tagFQN")) for label in labels}
    new = [tag for tag in described.tags if build_fqn(classification, tag) not in there]
    if new:
        added = [label_of(build_fqn(classification, tag)) for tag in new]
        yield {"op": "add", "path": f"{path}/tags", "value": [*labels, *added]}


def label_of(fqn: str) -> Json:
    """The label of a tag that a tool put on."""
    return {"tagFQN": fqn, "source": "Classification", "labelType": "Automated", "state": "Confirmed"}


# Owners by the names that other tools have for them: a team or a user of the platform.


def _owner_reference(platform: Platform, name: str) -> EntityReference | None:
    """The team or user with this name or e-mail address, None when there is none.

    Headwater's own catalog, which has no users, takes it for a team that is new.
    """
    fqn = build_fqn(name)
    team = find_reference(platform.http, Collection.TEAMS, fqn)
    if team is not None:
        return team
    if client.TABLES in platform.capabilities:
        return put(platform.http, Collection.TEAMS, {"name": name, "teamType": "Group"})
    return find_reference(platform.http, Collection.USERS, build_fqn(name.partition("@")[0]))


class Owners:
    """Owners by name, each asked for once."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._known: dict[str, EntityReference | None] = {}

    def of(self, name: str) -> EntityReference | None:
        """The owner of this name, None for "" and for one that the platform does not know."""
        if name and name not in self._known:
            self._known[name] = _owner_reference(self._platform, name)
        return self._known.get(name)

    def warning(self) -> str:
        """The line about owners that the platform does not know, "" where it knows all."""
        names = sorted(name for name, reference in self._known.items() if reference is None)
        shown = ", ".join(names[:_OWNERS_SHOWN])
        return f"{len(names)} owners are no team or user of the catalog: {shown}" if names else ""


# What reads tables beside other tables: dashboards, the models behind them, and metrics, with what they read.


@dataclass(frozen=True, slots=True)
class Consumer:
    """An entity of a collection by its create request, and the FQNs of what it reads: tables, or others of `read_from`.

    `columns`: for each of these, by its FQN, how its columns make those of the entity.
    """

    collection: Collection
    request: Json
    reads: tuple[str, ...]
    columns: Mapping[str, tuple[ColumnLineage, ...]] = field(default_factory=dict)
    read_from: Collection = Collection.TABLES


def file_consumer(http: Http, consumer: Consumer, source: EdgeSource) -> tuple[str, tuple[str, ...]]:
    """Files an entity and the edges into it that `source` tells; its FQN, and the tables that the platform lacks.

    What `source` said of it before and does not say any more goes.
    """
    entity = put(http, consumer.collection, consumer.request)
    tables = {name: find_reference(http, consumer.read_from, name) for name in consumer.reads}
    wanted = {table.id: table for table in tables.values() if table is not None}
    known = known_sources(http, entity, source)
    for gone in sorted(known.keys() - wanted.keys()):
        delete_edge(http, known[gone], entity)
    names = {table.id: name for name, table in tables.items() if table is not None}
    fqn = entity.fully_qualified_name or consumer.request["name"]
    for new in sorted(wanted.keys() if consumer.columns else wanted.keys() - known.keys()):
        columns = consumer.columns.get(names[new], ())
        edge = EntitiesEdge(wanted[new], entity, LineageDetails(source=source, columns_lineage=columns))
        http.send(Call("PUT", "lineage", body={"edge": edge.to_json()}, answered=False))
    missing = tuple(name for name, table in tables.items() if table is None)
    return fqn, missing


def known_sources(http: Http, entity: EntityReference, source: EdgeSource) -> dict[str, EntityReference]:
    """What `source` said that an entity reads, by id."""
    around = graph(http, entity, upstream=1, downstream=0)
    if around is None:
        return {}
    edges = (edge for edge in around.upstream if edge.to_id == entity.id and edge.details.source == source)
    return {edge.from_id: around.nodes.get(edge.from_id, EntityReference(edge.from_id, "table")) for edge in edges}


def delete_others(http: Http, collection: Collection, params: Params, kept: Container[str], mark: Json) -> int:
    """Deletes the entities of a listing (`params` as of `pages`) that carry the `mark` in their extension and are not
    `kept` (FQNs); how many there were.
    """
    others = [
        str(entity["id"])
        for entity in pages(http, collection, params)
        if entity["fullyQualifiedName"] not in kept and mark.items() <= (entity.get("extension") or {}).items()
    ]
    return delete_each(http, collection, others)


# Tests of tables and columns, and what became of them.


class TestStatus(StrEnum):
    """OpenMetadata's words: `ABORTED` is a test that could not be carried out."""

    SUCCESS = "Success"
    FAILED = "Failed"
    ABORTED = "Aborted"


@dataclass(frozen=True, slots=True)
class TestOutcome:
    """What became of a test `at` a moment (seconds since the epoch), with the figures that it found."""

    status: TestStatus
    at: float
    text: str = ""
    failed_rows: int | None = None
    values: tuple[tuple[str, str], ...] = ()

    def to_json(self) -> Json:
        json: Json = {"timestamp": round(self.at * 1000), "testCaseStatus": str(self.status)}
        if self.text:
            json["result"] = self.text
        if self.failed_rows is not None:
            json["failedRows"] = self.failed_rows
        if self.values:
            json["testResultValue"] = [{"name": name, "value": value} for name, value in self.values]
        return json


@dataclass(frozen=True, slots=True)
class TestCase:
    """A test of a table (FQN) or of its `column`, which is one of the kind `definition`; `name` is unique there."""

    table: str
    column: str
    name: str
    definition: str
    outcome: TestOutcome | None = None

    @property
    def link(self) -> str:
        column = f"::columns::{encode_name(self.column)}" if self.column else ""
        return f"<#E::table::{self.table}{column}>"

    @property
    def fqn(self) -> str:
        parts = (self.column, self.name) if self.column else (self.name,)
        return f"{self.table}.{build_fqn(*parts)}"


def register_definitions(platform: Platform, kinds: Iterable[tuple[str, bool]], tool: str) -> None:
    """Makes the kinds of test of a tool, each for columns or for tables."""
    for name, of_column in kinds:
        body = {
            "name": name,
            "description": f"A test of {tool}.",
            "entityType": "COLUMN" if of_column else "TABLE",
            "testPlatforms": [platform.features.test_platform(tool)],
        }
        platform.http.send(Call("PUT", str(Collection.TEST_DEFINITIONS), body=body))


def file_test(http: Http, test: TestCase) -> None:
    """Files a test and its outcome. Raises Rejected where its table, or its kind, is not there."""
    body = {"name": test.name, "entityLink": test.link, "testDefinition": test.definition}
    http.send(Call("PUT", str(Collection.TEST_CASES), body=body))
    if test.outcome is not None:
        http.send(Call("POST", f"{_TEST_RESULTS}/{path_of(test.fqn)}", body=test.outcome.to_json(), answered=False))


def delete_other_tests(http: Http, service: str, kept: Container[str], prefix: str) -> int:
    """Deletes the tests of a service's tables whose kind begins with `prefix` and that are not `kept` (FQNs)."""
    others = [
        str(test["id"])
        for test in pages(http, Collection.TEST_CASES, {"entityFQN": service})
        if test["fullyQualifiedName"] not in kept and str(test["testDefinition"].get("name", "")).startswith(prefix)
    ]
    return delete_each(http, Collection.TEST_CASES, others)


# Query entities: filed by their masked text, so that the same query is one entity however often a log has it.


def file_queries(platform: Platform, service: str, queries: Sequence[QueryRecord]) -> int:
    """Files queries that are new, or have new users or tables; how many. What is stored of a query is never lost."""
    filed = 0
    at_once = _QUERIES_AT_ONCE_IN_BULK if client.LOOKUP in platform.capabilities else _QUERIES_AT_ONCE
    find = _stored_queries if platform.features.queries_by_checksum else _queries_by_name
    in_bulk = platform.features.queries_in_bulk
    # of long ones fewer go together
    for batch in chunks_within(queries, lambda one: (1, len(one.query)), (at_once, client.MOST_CHARACTERS)):
        stored = find(platform.http, service, [_checksum(query.query) for query in batch])
        news = [query for query in (_with(query, stored.get(_checksum(query.query))) for query in batch) if query]
        in_bulk = in_bulk and _file_in_bulk(platform.http, news)
        if not in_bulk:
            for query in news:
                platform.http.send(Call("PUT", str(Collection.QUERIES), body=query.to_json()))
        filed += len(news)
    return filed


def _file_in_bulk(http: Http, queries: Sequence[QueryRecord]) -> bool:
    """Files the queries in one call; False where the platform has no such call."""
    if not queries:
        return True
    body = [query.to_json() for query in queries]
    params = {"async": "false", "overrideMetadata": "false"}
    try:
        http.send(Call("PUT", f"{Collection.QUERIES}/bulk", params, body))
    except (NotAllowed, NotFound):
        return False
    return True


def _checksum(text: str) -> str:
    """The platform's key of a query within its service."""
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def _with(query: QueryRecord, stored: Json | None) -> QueryRecord | None:
    """The query with what is stored of it; None where that is all there is."""
    if stored is None:
        return query
    known = {ref["id"]: EntityReference.from_json(ref) for ref in stored.get("queryUsedIn") or ()}
    used_in = {**known, **{entity.id: entity for entity in query.used_in}}
    users = {*(stored.get("usedBy") or ()), *query.users}
    whole = used_in.keys() == known.keys() and users == set(stored.get("usedBy") or ())
    if whole and stored.get("processedLineage"):
        return None
    return replace(query, used_in=tuple(used_in[key] for key in sorted(used_in)), users=tuple(sorted(users)))


def _queries_by_name(http: Http, service: str, checksums: Sequence[str]) -> Mapping[str, Json]:
    """As `_stored_queries`, where the index of queries has no checksums to look for: one by one."""
    named = (
        (key, get_by_name(http, Collection.QUERIES, build_fqn(service, key), ("queryUsedIn",))) for key in checksums
    )
    return {key: found for key, found in named if found is not None}


def _stored_queries(http: Http, service: str, checksums: Sequence[str]) -> Mapping[str, Json]:
    parts = (checksums[start : start + _CHECKSUMS_AT_ONCE] for start in range(0, len(checksums), _CHECKSUMS_AT_ONCE))
    hits = (hit for part in parts for hit in _hits(http, service, part))
    return {str(hit["checksum"]): hit for hit in hits if hit.get("checksum")}


def _hits(http: Http, service: str, checksums: Sequence[str]) -> Iterator[Json]:
    must: list[Json] = [
        {"term": {"service.name.keyword": service}},
        {"terms": {"checksum.keyword": list(checksums)}},
    ]
    for hit in client.search(http, _QUERY_INDEX, must, _QUERY_FIELDS, {"size": len(checksums)}):
        yield hit["_source"]
