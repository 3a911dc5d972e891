"""A platform that was found to be there: its search, and what Headwater's own catalog offers beyond OpenMetadata."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from connectors.openmetadata.connection import Connection
from connectors.openmetadata.entities import PAGE, Collection, get_by_name, table_entity
from connectors.openmetadata.http import BadRequest, Call, Http, NotOpenMetadata, Params, RetryPolicy, Timing
from connectors.openmetadata.versions import VersionFeatures, check_version, features_of
from connectors.sink import EdgeCounts
from ingestion.errors import ConfigError, Rejected, RetryableError, TargetDown
from ingestion.model.digests import digest
from ingestion.model.entities import TableEntity
from ingestion.model.fqn import build_fqn, search_pattern, split_fqn
from ingestion.model.lineage import Json
from ingestion.model.storage_paths import normal_path, spellings
from ingestion.model.topics import cluster_of, split_topic
from ingestion.resolution import Hits, PartialName

# what a server says that it offers beyond the contract
LINEAGE = "bulkLineage"
LOOKUP = "bulkLookup"
TABLES = "bulkTables"
LOADS = "loads"
READS = "reads"
NAMES = "names"
TYPES = "types"
CORRECTIONS = "corrections"
WORKFLOW_RUNS = "workflowRuns"

MOST_CHARACTERS = 8_000_000
"""Of the statements in one call: a catalog takes bodies of 64 MB, and counts the commas in them."""
TABLE_INDEX = "table_search_index"
CONTAINER_INDEX = "container_search_index"
TOPIC_INDEX = "topic_search_index"
# a real server ignores `size` in field searches and shows so many
FIELD_SEARCH_SIZE = 10
_VIEW_FIELDS = ["schemaDefinition", "fullyQualifiedName", "tableType", "processedLineage", "updatedAt", "extension"]

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Platform:
    """The platform behind `http`; `capabilities` is what it offers beyond OpenMetadata's contract.

    `store` tells its data from those of another that takes its place; "" where it does not say.
    """

    http: Http
    version: str
    capabilities: frozenset[str] = frozenset()
    store: str = ""

    @property
    def features(self) -> VersionFeatures:
        """What its version has of what not all have."""
        return features_of(self.version)

    def close(self) -> None:
        self.http.close()


# Headwater's own catalog offers more than OpenMetadata: bulk look-up, bulk registration, bulk lineage.


@dataclass(frozen=True, slots=True)
class _ServerCapabilities:
    """What a server offers beyond the contract, nothing where it is an OpenMetadata; `store` tells its data apart."""

    capabilities: frozenset[str] = frozenset()
    store: str = ""


def _server_capabilities(http: Http) -> _ServerCapabilities:
    """What the server says of itself."""

    def ask() -> Any:
        try:
            return http.attempt(Call("GET", "headwater"))
        except (Rejected, NotOpenMetadata):
            return None

    answer = http.retrying(ask)
    if not isinstance(answer, dict):
        return _ServerCapabilities()
    return _ServerCapabilities(frozenset(map(str, answer.get("capabilities") or ())), str(answer.get("store") or ""))


def look_up(http: Http, service: str, names: Sequence[PartialName], *, columns: bool = True) -> list[list[TableEntity]]:
    """For each name every table of the service that it can mean, case ignored; without `columns` by name alone."""
    wanted = [{"database": name.database, "schema": name.schema, "table": name.table} for name in names]
    return _look_up(http, service, wanted, columns=columns)


def _look_up_path(http: Http, path: str) -> list[TableEntity]:
    """The containers and external tables at a storage path."""
    return _look_up(http, "-", [{"path": path}])[0]


def register(http: Http, entities: Mapping[str, Sequence[Json]], at: float | None = None) -> Json:
    """Registers many entities at once, all or nothing, parents first.

    `entities` has OpenMetadata's create requests under services, databases, schemas, tables; known columns are kept
    beside new ones. `at` is when the definitions held (seconds since the epoch).
    """
    body: Json = {group: list(requests) for group, requests in entities.items()}
    if at is not None:
        body["at"] = round(at * 1000)
    answer: Json = http.send(Call("POST", "headwater/tables", body=body))
    return answer


@dataclass(frozen=True, slots=True)
class LineageCall:
    """Contributions that are sent together, and the `replace` orders of them: all or nothing, once per `name`.

    `edges` are JSON objects already, which name their texts by the place among `texts`.
    """

    name: str
    texts: Sequence[str]
    edges: Iterable[str]
    replace: Sequence[Json]


def add_lineage(http: Http, call: LineageCall) -> EdgeCounts:
    """Merges contributions into their edges, once per name and content of a `call`, however often it is sent."""
    texts, replace = json.dumps(list(call.texts)), json.dumps(list(call.replace))
    content = f'{{"sqlQueries": {texts}, "edges": [{", ".join(call.edges)}], "replace": {replace}}}'
    batch_id = digest(call.name, content, size=32)
    # The content is most of the body: it is made once for both.
    body = f'{{"batchId": "{batch_id}", {content[1:]}'.encode()
    answer = http.send(Call("POST", "headwater/lineage", body=body))
    return EdgeCounts(
        new=int(answer.get("new", 0)),
        merged=int(answer.get("merged", 0)),
        unchanged=int(answer.get("unchanged", 0)),
        replaced=int(answer.get("replaced", 0)),
        column_edges=int(answer.get("columnEdges", 0)),
    )


def file_name_events(http: Http, events: Sequence[Json]) -> None:
    """Files what happened to names (created, dropped, renamed, swapped), in any order and as often as one likes."""
    http.send(Call("POST", "headwater/names", body={"events": list(events)}))


def file_loads(http: Http, loads: Sequence[Json]) -> None:
    """Files what became of loads of tables, in any order and as often as one likes."""
    http.send(Call("POST", "headwater/loads", body={"loads": list(loads)}))


def file_reads(
    http: Http, source: str, reads: Sequence[Json], span: Json | None = None, *, whole: bool = False
) -> None:
    """Files what the log of a workflow tells of readers, as often as one likes, and the span of it that was read."""
    body = {"source": source, "reads": list(reads), "whole": whole, **({"span": span} if span is not None else {})}
    http.send(Call("POST", "headwater/reads", body=body))


def file_runs(http: Http, runs: Sequence[Json]) -> None:
    """Files the runs that filled tables, in any order and as often as one likes."""
    http.send(Call("POST", "headwater/runs", body={"runs": list(runs)}))


def file_workflow_run(http: Http, run: Json) -> None:
    """Files how a workflow's run is going, or how it ended."""
    http.send(Call("POST", "headwater/workflow-runs", body=run))


def latest_workflow_run(http: Http, workflow: str) -> Json | None:
    """What the latest run of a workflow told of itself; None where none has."""
    answer = http.send(Call("GET", "headwater/workflow-runs", {"workflow": workflow, "limit": 1}))
    return next(iter(answer["runs"]), None)


def file_open_statements(http: Http, given: Json) -> None:
    """Files all statements of a workflow that are dead still, and the tables of which none tells a source."""
    http.send(Call("POST", "headwater/workflow-runs/open-statements", body=given))


def _look_up(http: Http, service: str, names: Sequence[Json], *, columns: bool = True) -> list[list[TableEntity]]:
    body = {"service": service, "names": list(names), "columns": columns}
    answer = http.send(Call("POST", "headwater/tables/lookup", body=body))
    return [[table_entity(entity, str(entity["type"])) for entity in match] for match in answer["matches"]]


# What people corrected by hand in Headwater's own catalog; a plain OpenMetadata keeps no rejections.


def rejected_edges(platform: Platform) -> frozenset[tuple[str, str]]:
    """The edges, by the ids of their ends, that nobody reads since a person rejected them. Raises TargetDown."""
    if CORRECTIONS not in platform.capabilities:
        return frozenset()
    answer: Json = platform.http.get("headwater/corrections", {"limit": 1}) or {"rejectedEdges": ()}
    return frozenset((str(edge["fromEntity"]), str(edge["toEntity"])) for edge in answer["rejectedEdges"])


# The platform's search: tables by name, containers by path, views and procedures that wait for their lineage.


def _field_search(http: Http, pattern: str, field: str = "fullyQualifiedName", index: str = TABLE_INDEX) -> Hits:
    """FQNs of what matches a wildcard pattern (`*`, `?`, case ignored), and whether these are all."""
    params: dict[str, str | int] = {
        "fieldName": field,
        "fieldValue": pattern,
        "from": 0,
        "size": FIELD_SEARCH_SIZE,
        "index": index,
        "deleted": "false",
    }
    answer = _hits(http.get("search/fieldQuery", params))
    found = tuple(str(hit["_source"]["fullyQualifiedName"]) for hit in answer.get("hits") or ())
    total = answer.get("total") or {}
    known = total.get("value", len(found)) if isinstance(total, dict) else int(total)
    return Hits(found, complete=known <= len(found) and len(found) < FIELD_SEARCH_SIZE)


def _containers_by_path(http: Http, path: str) -> Hits:
    """FQNs of containers whose fullPath is `path`, compared without case and with `*` and `?` as any character."""
    return _field_search(http, path.replace("*", "?"), "fullPath", CONTAINER_INDEX)


def views(http: Http, service: str) -> Iterator[Json]:
    """Every view of a service that has a definition: its name, definition, type, and when it was changed last."""
    must: list[Json] = [
        {"term": {"service.name.keyword": service}},
        {"exists": {"field": "schemaDefinition"}},
    ]
    cursor: dict[str, str] = {}
    while True:
        sorting = {"deleted": "false", "sort_field": "fullyQualifiedName", "sort_order": "desc", **cursor}
        hits = search(http, TABLE_INDEX, must, _VIEW_FIELDS, {"size": PAGE, **sorting})
        for hit in hits:
            yield hit["_source"]
        after = hits[-1].get("sort") if hits else None
        if not after or cursor.get("search_after") == str(after[0]):
            return
        cursor = {"search_after": str(after[0])}


def search(http: Http, index: str, must: Sequence[Json], fields: Sequence[str], params: Params) -> Sequence[Json]:
    """The hits of which all `must` hold, with these `fields` of each; `params` say which of them."""
    query: Params = {
        "q": "",
        "index": index,
        "query_filter": json.dumps({"query": {"bool": {"must": list(must)}}}),
        "include_source_fields": list(fields),
        **params,
    }
    found: Sequence[Json] = _hits(http.get("search/query", query)).get("hits") or ()
    return found


def _hits(answer: Any) -> Json:
    hits = answer.get("hits") if isinstance(answer, dict) else None
    return hits if isinstance(hits, dict) else {}


# A connection to a platform that was found to be there, to understand us, and to let us in.


def connect(connection: Connection, policy: RetryPolicy | None = None, timing: Timing | None = None) -> Platform:
    """The platform, asked for its version and what it offers. `policy` and `timing` are of its calls.

    Raises ConfigError (no platform at that URL, a version that is too old, a token that is refused) and
    TargetDown.
    """
    http = Http(connection, policy, timing)
    try:
        version = _version(http)
        check_version(version, strict=connection.validate_version)
        offer = _server_capabilities(http)
        return Platform(http, version, offer.capabilities, offer.store)
    except BaseException:
        http.close()
        raise


class CatalogSearch:
    """The platform as name resolution sees it (an EntitySearch). Raises TargetDown, never a retryable error."""

    def __init__(self, platform: Platform, *, columns: bool = True) -> None:
        self._platform = platform
        self._http = platform.http
        self._bulk = LOOKUP in platform.capabilities
        self._columns = columns
        self._definitions = True

    def without_columns(self) -> CatalogSearch:
        return CatalogSearch(self._platform, columns=False)

    def field_search(self, pattern: str) -> Hits:
        return _or_down(lambda: _field_search(self._http, pattern))

    def get_by_fqn(self, fqn: str) -> TableEntity | None:
        found = _or_down(lambda: self._table(fqn))
        return None if found is None else table_entity(found)

    def _table(self, fqn: str) -> Json | None:
        if self._definitions:
            try:
                return get_by_name(self._http, Collection.TABLES, fqn, ("columns", "schemaDefinition"))
            except BadRequest:
                # not every version takes it among the fields that are asked for; it is told of all the same
                self._definitions = False
        return get_by_name(self._http, Collection.TABLES, fqn, ("columns",))

    def bulk_lookup(self, service: str, names: Sequence[PartialName]) -> Sequence[Sequence[TableEntity]] | None:
        if not self._bulk:
            return None
        return _or_down(lambda: look_up(self._http, service, names, columns=self._columns))

    def path_lookup(self, path: str) -> Sequence[TableEntity]:
        if self._bulk:
            return _or_down(lambda: _look_up_path(self._http, path))
        topic = split_topic(path)
        return _or_down(lambda: self._containers(path) if topic is None else self._topics(*topic))

    def _topics(self, cluster: str, topic: str) -> list[TableEntity]:
        """Topics of a service of that name; else of those that tell the cluster's address among their brokers."""
        found = get_by_name(self._http, Collection.TOPICS, build_fqn(cluster, topic))
        if found is not None:
            return [table_entity(found, "topic")]
        hits = _field_search(self._http, search_pattern(None, topic), index=TOPIC_INDEX)
        services = (service for service, *name in map(split_fqn, hits.fqns) if name == [topic])
        named = [build_fqn(service, topic) for service in services if self._is_cluster(service, cluster)]
        stored = (get_by_name(self._http, Collection.TOPICS, fqn) for fqn in named)
        return [table_entity(json, "topic") for json in stored if json]

    def _is_cluster(self, service: str, address: str) -> bool:
        document = get_by_name(self._http, Collection.MESSAGING_SERVICES, build_fqn(service)) or {}
        config = (document.get("connection") or {}).get("config") or {}
        servers = str(config.get("bootstrapServers") or "").split(",")
        return address.lower() in map(cluster_of, servers)

    def _containers(self, path: str) -> list[TableEntity]:
        normal = normal_path(path)
        for spelling in spellings(normal):
            hits = _containers_by_path(self._http, spelling)
            found = [get_by_name(self._http, Collection.CONTAINERS, fqn, ("dataModel",)) for fqn in hits.fqns]
            here = [json for json in found if json and normal_path(str(json.get("fullPath") or "")) == normal]
            if here:
                return [table_entity(json, "container") for json in here]
        return []


def _version(http: Http) -> str:
    answer = http.get("system/version")
    if not isinstance(answer, dict) or "version" not in answer:
        raise ConfigError("hostPort does not lead to an OpenMetadata: it knows no /v1/system/version")
    return str(answer["version"])


def _or_down(action: Callable[[], Result]) -> Result:
    """Without an answer a name is neither there nor missing: the run cannot go on."""
    try:
        return action()
    except RetryableError as error:
        reason = f"{error.message}; given up on, run again later"
    raise TargetDown(reason)
