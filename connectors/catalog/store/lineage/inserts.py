"""Filing contributions: thousands together, a few statements each step, nothing stored twice."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Table, func, select, text

from connectors.catalog.store.database import dumps
from connectors.catalog.store.indexes import JOBS_OF, Statement, add_statement_runs
from connectors.catalog.store.lineage.rewritten import file_slots, versions_beside
from connectors.catalog.store.rows import IDS, bind_ids, insert_new_rows, insert_rows, thousands_of
from connectors.catalog.store.schema import (
    contribution_jobs,
    contributions,
    records,
    sightings,
    statement_texts,
    versions,
)
from ingestion.model.job_slots import JobSlot
from ingestion.model.lineage import Json

Edge = tuple[str, str]
_Key = tuple[str, str, str, str, str]
_KEY = ("from_id", "to_id", "kind", "key", "source")
_VERSION = ("id", "contribution_id", "digest", "pipeline_id", "column_edges", "content")
_SIGHTING = ("version_id", "batch", "first_seen", "last_seen", "count")

# built once: building them costs as much as carrying them out
_CONTRIBUTIONS_INTO = select(contributions.c.id, *(contributions.c[name] for name in _KEY)).where(
    contributions.c.to_id.in_(IDS)
)
_VERSIONS_OF = select(versions.c.id, versions.c.contribution_id, versions.c.digest).where(
    versions.c.contribution_id.in_(IDS)
)
_GIVEN = "given"
_KNOWN_RECORDS = text(
    # each record is sought by its key, in this order: what is known of a contribution may be a thousand times as much
    f"select known.contribution_id, known.digest from json_each(:{_GIVEN}) one cross join json_each(one.value) digest "
    f"cross join {records.name} known "
    "where known.contribution_id = cast(one.key as integer) and known.digest = digest.value"
)
_SPANS_OF = (
    select(sightings.c.version_id, sightings.c.first_seen, sightings.c.last_seen)
    .where(sightings.c.version_id.in_(IDS))
    .distinct()
)


@dataclass(frozen=True, slots=True)
class Content:
    """What is said of an edge (columns, parser, confidence, pipeline, description, temporary tables), as JSON.

    `column_edges` counts its pairs of source and target column. `text` is that of the statement, which the JSON names
    by its digest.
    """

    document: str
    column_edges: int
    pipeline_id: str | None = None
    text: StoredText | None = None

    @classmethod
    def of(cls, content: Json, text: StoredText | None = None) -> Content:
        """The same of what is no JSON yet, with its `text` or its `sql`. Raises ApiError (400) for what JSON cannot
        carry.
        """
        column_edges = sum(len(column["from"]) for column in content.get("columns") or ())
        rest = {key: value for key, value in content.items() if key != "sql"}
        if text is None and content.get("sql") is not None:
            text = StoredText.of(content["sql"])
        if text is not None:
            rest["text"] = text.digest
        return cls(dumps(rest), column_edges, (content.get("pipeline") or {}).get("id"), text)


@dataclass(frozen=True, slots=True)
class StoredText:
    """A masked text, and the digest by which the contents of its edges name it."""

    digest: str
    text: str

    @classmethod
    def of(cls, text: str) -> StoredText:
        """With its digest, which takes time in proportion to the text: to be made once for all edges. Raises ApiError
        (400) for what cannot be stored.
        """
        return cls(hashlib.sha256(dumps(text).encode()).hexdigest()[:32], text)


@dataclass(frozen=True, slots=True)
class ContributionRow:
    """What one producer says about one edge.

    `records` are digests of the log records that say so, None where only `count` is known; `jobs` are the names of what
    ran it, `slots` tell when who did.
    """

    from_id: str
    to_id: str
    kind: str
    key: str
    source: str
    content: Content
    first: int
    last: int
    count: int = 1
    records: tuple[int, ...] | None = None
    jobs: tuple[str, ...] = ()
    slots: tuple[JobSlot, ...] = ()

    @property
    def edge(self) -> Edge:
        return self.from_id, self.to_id

    @property
    def identity(self) -> _Key:
        return self.from_id, self.to_id, self.kind, self.key, self.source


@dataclass(frozen=True, slots=True)
class Filed:
    """The edges about which something new was said, and the versions that were seen, or stand beside others now."""

    news: frozenset[Edge]
    touched: set[int]


def file(connection: Connection, batch: str, given: Sequence[ContributionRow], scopes: frozenset[str | None]) -> Filed:
    """Files contributions; those into a scope are marked as seen even when they say nothing new."""
    _file_texts(connection, given)
    identities = _contribution_ids(connection, given)
    numbered = [(identities[one.identity], one) for one in given]
    known_versions = _version_ids(connection, numbered)
    counts = _file_records(connection, numbered)
    newly_run = _file_jobs(connection, numbered)
    seen = _spans(connection, {version for version, _ in known_versions})
    rows: dict[tuple[int, int, int], int] = defaultdict(int)
    news: set[Edge] = set()
    for (version, is_new), (identifier, one) in zip(known_versions, numbered, strict=True):
        count = one.count if one.records is None else counts.pop(identifier, 0)
        covered = any(first <= one.first and last >= one.last for first, last in seen[version])
        new = is_new or count > 0 or not covered or identifier in newly_run
        if new:
            news.add(one.edge)
        if new or one.to_id in scopes or None in scopes:
            rows[version, one.first, one.last] += count
            seen[version].append((one.first, one.last))
    values = [(version, batch, first, last, count) for (version, first, last), count in rows.items()]
    insert_new_rows(connection, sightings, _SIGHTING, values)
    slots = ((version, one.slots) for (version, _), (_, one) in zip(known_versions, numbered, strict=True))
    changed = file_slots(connection, slots)
    touched = changed | versions_beside(connection, changed)
    return Filed(frozenset(news), touched | {version for version, _, _ in rows})


def record_digest(record: str) -> int:
    """A log record's digest (hexadecimal) as the store keeps it."""
    # 63 bits tell a million records of one edge apart with a chance of error below 1 in 10 million
    return int.from_bytes(hashlib.blake2b(record.lower().encode(), digest_size=8).digest()) >> 1


def _contribution_ids(connection: Connection, given: Sequence[ContributionRow]) -> dict[_Key, int]:
    known: dict[_Key, int] = {}
    for some in thousands_of(sorted({one.to_id for one in given})):
        for row in connection.execute(_CONTRIBUTIONS_INTO, bind_ids(some)).all():
            known[row[1], row[2], row[3], row[4], row[5]] = row[0]
    following = _following(connection, contributions)
    rows: list[tuple[Any, ...]] = []
    for one in given:
        identity = one.identity
        if identity not in known:
            known[identity] = following + len(rows)
            rows.append((known[identity], *identity))
    insert_rows(connection, contributions, ("id", *_KEY), rows)
    return known


def _file_texts(connection: Connection, given: Sequence[ContributionRow]) -> None:
    texts = {one.content.text.digest: one.content.text.text for one in given if one.content.text is not None}
    insert_new_rows(connection, statement_texts, ("digest", "text"), list(texts.items()))


def _version_ids(connection: Connection, numbered: Sequence[tuple[int, ContributionRow]]) -> list[tuple[int, bool]]:
    """For each contribution the id of its version, and whether it was not known."""
    known: dict[tuple[int, str], int] = {}
    for some in thousands_of(sorted({identifier for identifier, _ in numbered})):
        for version, contribution, digest in connection.execute(_VERSIONS_OF, bind_ids(some)).all():
            known[contribution, digest] = version
    following = _following(connection, versions)
    rows: list[tuple[Any, ...]] = []
    found = []
    for identifier, one in numbered:
        content = one.content
        digest = hashlib.sha256(content.document.encode()).hexdigest()[:32]
        is_new = (identifier, digest) not in known
        if is_new:
            known[identifier, digest] = following + len(rows)
            values = content.pipeline_id, content.column_edges, content.document
            rows.append((known[identifier, digest], identifier, digest, *values))
        found.append((known[identifier, digest], is_new))
    insert_rows(connection, versions, _VERSION, rows)
    return found


def _file_records(connection: Connection, numbered: Sequence[tuple[int, ContributionRow]]) -> dict[int, int]:
    """How many records each contribution was not known to be in; they are known from now on, and counted as runs."""
    statements: dict[int, Statement] = {}
    new: dict[int, set[int]] = defaultdict(set)
    for identifier, one in numbered:
        if one.records:
            statements[identifier] = one.from_id, one.kind, one.key
            new[identifier].update(one.records)
    for identifier, digest in _known_records(connection, new):
        new[identifier].discard(digest)
    news = {identifier: (statements[identifier], digests) for identifier, digests in new.items() if digests}
    if news:
        add_statement_runs(connection, news)
    rows = [(identifier, digest) for identifier, (_, digests) in news.items() for digest in sorted(digests)]
    insert_rows(connection, records, ("contribution_id", "digest"), rows)
    return {identifier: len(digests) for identifier, (_, digests) in news.items()}


def _known_records(connection: Connection, given: Mapping[int, Collection[int]]) -> list[tuple[int, int]]:
    """Those of the `given` digests of records that these contributions, by their numbers, are known to be in."""
    if not given:
        return []
    bound = {_GIVEN: json.dumps({identifier: sorted(digests) for identifier, digests in given.items()})}
    return [(row[0], row[1]) for row in connection.execute(_KNOWN_RECORDS, bound).all()]


def _file_jobs(connection: Connection, numbered: Sequence[tuple[int, ContributionRow]]) -> set[int]:
    """The contributions that were not known to be run by all of their jobs; they are known from now on."""
    given = {(identifier, job) for identifier, one in numbered for job in one.jobs}
    known: set[tuple[int, str]] = set()
    for some in thousands_of(sorted({identifier for identifier, _ in given})):
        rows = connection.execute(JOBS_OF, bind_ids(some)).all()
        known.update((row[0], row[1]) for row in rows)
    added = sorted(given - known)
    insert_rows(connection, contribution_jobs, ("contribution_id", "job"), added)
    return {identifier for identifier, _ in added}


def _spans(connection: Connection, identifiers: Iterable[int]) -> dict[int, list[tuple[int, int]]]:
    """The times that are known of each version: one that lies within another tells nothing new."""
    found: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for some in thousands_of(sorted(identifiers)):
        for version, first, last in connection.execute(_SPANS_OF, bind_ids(some)).all():
            found[version].append((first, last))
    return found


def _following(connection: Connection, table: Table) -> int:
    return (connection.scalar(select(func.max(table.c.id))) or 0) + 1
