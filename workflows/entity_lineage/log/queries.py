"""The queries of a log: what earlier runs know of them, and what this one adds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from pyspark.sql import SparkSession

from ingestion.decomposition.decompose import NO_MEASURE
from ingestion.decomposition.folding.scopes import AMBIGUOUS
from ingestion.decomposition.process import DecompositionReply, DecompositionRequest
from ingestion.masking.seen_queries import MOST_LITERALS
from ingestion.model import TableName
from ingestion.names.namespaces import Namespace, may_be_temporary
from ingestion.parsing.parser_pool import Limits
from workflows.entity_lineage.log.query_runs import QueryRuns, QueryTemplate, add_runs
from workflows.entity_lineage.log.table_places import TablePlaces
from workflows.entity_lineage.log.taking_apart import decompose_all
from workflows.state.log_queries import ANY_LITERAL, LogQuery, QueryKey, Runs
from workflows.state.reading_code import code_version

TEMPORARY = "a temporary table"
NO_TEXT = "a query without a text"
_CODE = ("ingestion.decomposition", "ingestion.parsing.sqlglot_tier", "ingestion.dialects")


@cache
def _decomposition_version() -> str:
    """Changes whenever a query may be taken apart differently."""
    return code_version(_CODE)


@dataclass(frozen=True, slots=True)
class Decomposing:
    """What queries are taken apart with: `literal_key` is the secret under which their literals are compared."""

    spark: SparkSession
    literal_key: bytes = field(repr=False)
    limits: Limits
    threads: int
    places: TablePlaces
    temporary: frozenset[str]


def merged_runs(
    known: Mapping[QueryKey, LogQuery], found: QueryRuns
) -> tuple[dict[QueryKey, dict[str, Runs]], QueryRuns]:
    """The runs of queries that this run met, with all that were counted before; and what was found, in these terms.

    Templates with more literals than are told apart are one query from now on, and so are those without a measure.
    """
    met = {key[:2] for key in found.runs}
    literals: dict[QueryTemplate, set[str]] = {template: set() for template in met}
    without_measure = {key[:2] for key, query in known.items() if query.reason == NO_MEASURE}
    for key in (*known, *found.runs):
        if key[:2] in met:
            literals[key[:2]].add(key.literals)
    passed = {template for template, of in literals.items() if ANY_LITERAL in of or len(of) > MOST_LITERALS}
    found = replace(found, passed=frozenset(passed | (without_measure & met)))
    changed = {_with_any(key, found.passed) for key in (*found.runs, *replaced_keys(known, found.passed))}
    merged: dict[QueryKey, dict[str, Runs]] = {}
    for key, by_user in _all_runs(known, found):
        own = _with_any(key, found.passed)
        if own in changed:
            for user, runs in by_user.items():
                add_runs(merged.setdefault(own, {}), user, runs)
    return merged, found


def _all_runs(known: Mapping[QueryKey, LogQuery], found: QueryRuns) -> Iterator[tuple[QueryKey, Mapping[str, Runs]]]:
    yield from ((key, query.runs) for key, query in known.items())
    yield from found.runs.items()


def _with_any(key: QueryKey, passed: frozenset[QueryTemplate]) -> QueryKey:
    return key._replace(literals=ANY_LITERAL) if key[:2] in passed else key


def replaced_keys(known: Iterable[QueryKey], passed: frozenset[QueryTemplate]) -> list[QueryKey]:
    """Those whose literals are values from now on: another query stands for them."""
    return [key for key in known if key.literals != ANY_LITERAL and key[:2] in passed]


def queries_now(
    known: Mapping[QueryKey, LogQuery],
    merged: Mapping[QueryKey, Mapping[str, Runs]],
    found: QueryRuns,
    decomposing: Decomposing,
) -> list[LogQuery]:
    """The queries that this run met, with all of their runs (`merged`).

    Those that are not `known` are taken apart, by the texts of what was `found`.
    """
    version = _decomposition_version()
    kept = {key for key in merged if key in known and _has_final_result(known[key], version)}
    texts = found.texts([key for key in merged if key not in kept])
    fresh = _taken_apart(texts, decomposing, version)
    queries = []
    for key, runs in merged.items():
        before = known.get(key)
        query = before if key in kept else fresh.get(key, before)
        query = query if query is not None else LogQuery(key, "", reason=NO_TEXT)
        queries.append(replace(query, runs=runs))
    return queries


def _has_final_result(query: LogQuery, version: str) -> bool:
    """Whether nothing would come out differently now; the columns of tables may have become known since."""
    return query.version == version and query.reason != AMBIGUOUS


def _taken_apart(texts: Mapping[QueryKey, str], decomposing: Decomposing, version: str) -> dict[QueryKey, LogQuery]:
    """The queries by their texts: first one of each template, for its tables, then those of the others that measure."""
    of_template: dict[QueryTemplate, list[QueryKey]] = {}
    for key in texts:
        of_template.setdefault(key[:2], []).append(key)
    first = [keys[0] for keys in of_template.values()]
    replies = _replies([_request(key, texts[key], decomposing) for key in first], decomposing)
    found: dict[QueryKey, LogQuery] = {}
    measuring: list[tuple[QueryKey, Sequence[tuple[str, ...]]]] = []
    for keys, reply in zip(of_template.values(), replies, strict=True):
        reason = _final_reason(reply, decomposing.temporary)
        if reason:
            found.update({key: LogQuery(key, version, reason=reason) for key in keys})
        else:
            measuring += [(key, reply.tables) for key in keys]
    for key, names in measuring:
        decomposing.places.expect(names, _namespace(key))
    requests = [_placed_request(key, texts[key], names, decomposing) for key, names in measuring]
    for (key, _names), request, reply in zip(measuring, requests, _replies(requests, decomposing), strict=True):
        tables = tuple(dict.fromkeys(request.places.values()))
        found[key] = LogQuery(key, version, reply.decomposition, reply.reason, tables)
    return found


def _final_reason(reply: DecompositionReply, temporary: frozenset[str]) -> str:
    """Why no query of a template is taken apart, whatever its tables are; "" where they may tell."""
    if reply.decomposition is not None and not reply.decomposition.measures:
        return NO_MEASURE
    if reply.unreadable or reply.reason == NO_MEASURE or not (reply.tables or reply.decomposition):
        return reply.reason
    doubtful = any(name[-1] in temporary and may_be_temporary(TableName(name)) for name in reply.tables)
    return TEMPORARY if doubtful else ""


def _replies(requests: Sequence[DecompositionRequest], decomposing: Decomposing) -> list[DecompositionReply]:
    return decompose_all(decomposing.spark, requests, decomposing.limits, decomposing.threads)


def _request(key: QueryKey, text: str, decomposing: Decomposing) -> DecompositionRequest:
    any_literal = key.literals == ANY_LITERAL
    return DecompositionRequest(text, key.dialect, decomposing.literal_key, any_literal=any_literal)


def _placed_request(
    key: QueryKey, text: str, names: Sequence[tuple[str, ...]], decomposing: Decomposing
) -> DecompositionRequest:
    placed = {name: decomposing.places.place(name, _namespace(key)) for name in names}
    known = {".".join(place): columns for place, columns in placed.values() if columns is not None}
    places = {name: place for name, (place, _columns) in placed.items()}
    return replace(_request(key, text, decomposing), known=known, places=places)


def _namespace(key: QueryKey) -> Namespace:
    return Namespace(key.database, key.search_path)
