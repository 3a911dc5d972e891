"""Who said what about an edge: the evidence that OpenMetadata's own details have no room for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from json import JSONEncoder
from json.encoder import encode_basestring_ascii as quoted
from operator import attrgetter
from typing import Any, NamedTuple

from ingestion.model.entities import EntityReference
from ingestion.model.job_slots import JobSlot, join_slots
from ingestion.model.lineage import DIRECT_SUBTYPES, Json, LineageType, Transformation
from ingestion.model.pickling import with_fields

JOBS_KEPT = 20
"""Names of jobs that a contribution carries at most."""

DOUBTFUL = 0.4
"""The confidence of what only tokens were read of: at it or below, an edge is no more than possible."""

_ENCODER = JSONEncoder(sort_keys=True)
_INDIRECT = f', "type": "{LineageType.INDIRECT}"'


class ProducerKind(StrEnum):
    """What speaks for an edge."""

    QUERY = "query"
    VIEW = "view"
    DBT = "dbt"
    PROCEDURE = "procedure"
    EXTERNAL_TABLE = "external_table"
    PLAN = "plan"
    ENGINE = "engine"
    EDGE_LIST = "edge_list"
    MANUAL = "manual"


OBSERVED: tuple[str, ...] = (ProducerKind.QUERY, ProducerKind.PLAN, ProducerKind.ENGINE, "openlineage")
"""Kinds of producers whose word is an observation that ages; others state what holds until it is taken back."""


@dataclass(frozen=True, slots=True, order=True)
class Producer:
    """`key` tells producers of a kind apart: a query's fingerprint, a view's FQN, a job's name. Never a literal."""

    kind: ProducerKind
    key: str

    def to_json(self) -> Json:
        return {"kind": str(self.kind), "key": self.key}


class ColumnEvidence(NamedTuple):
    """How source columns (by FQN, sorted) take part in a target column.

    An empty `to_column` means every column of the target (a filter). `certain` False: one of `from_columns`, it
    is not known which, or none of them. `expression` is masked; "" where the column is taken as it is.
    A tuple, as there are dozens for each statement.
    """

    from_columns: tuple[str, ...]
    to_column: str
    transformation: Transformation
    expression: str = ""
    certain: bool = True

    @property
    def publishable(self) -> bool:
        """Whether OpenMetadata's columnsLineage may carry it: certain, DIRECT, from columns to a column."""
        direct = self.transformation.subtype in DIRECT_SUBTYPES
        return self.certain and direct and bool(self.from_columns) and bool(self.to_column)

    def json_text(self) -> str:
        """Its JSON object with sorted keys, without what is plain: there are dozens of them for each statement."""
        how = self.transformation
        certain = "" if self.certain else '"certain": false, '
        expression = f'"expression": {quoted(self.expression)}, ' if self.expression else ""
        masking = '"masking": true, ' if how.masking else ""
        to = f', "to": {quoted(self.to_column)}' if self.to_column else ""
        kind = "" if how.subtype in DIRECT_SUBTYPES else _INDIRECT
        read = ", ".join(map(quoted, self.from_columns))
        return f'{{{certain}{expression}"from": [{read}], {masking}"subtype": "{how.subtype}"{to}{kind}}}'


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one producer says of one edge. Times are seconds since the epoch, UTC; `confidence` is 0 to 1.

    `records` are digests (hexadecimal, 8 digits or more) of the distinct log records that said so, so that a
    repeated log counts nothing twice. `jobs` are the names of what ran it, the same in every run: of more than
    JOBS_KEPT the first. `slots` tell when who ran it, where a newer word of theirs is to supersede it: what a producer
    with slots says otherwise, such as the same INSERT out of another temporary table, stands beside it. `columns_at`:
    when the columns had the names that they have here, where that is not when it was seen.
    """

    producer: Producer
    source: str
    sql_query: str = ""
    columns: tuple[ColumnEvidence, ...] = ()
    parser: str = ""
    confidence: float = 1.0
    first_seen: float | None = None
    last_seen: float | None = None
    records: tuple[str, ...] = ()
    pipeline: EntityReference | None = None
    temp_lineage_tables: tuple[tuple[str, str], ...] = ()
    jobs: tuple[str, ...] = ()
    slots: tuple[JobSlot, ...] = ()
    columns_at: float | None = None

    def __post_init__(self) -> None:
        # Most have one of each, and there are several for each statement.
        if len(self.columns) > 1:
            object.__setattr__(self, "columns", _distinct(self.columns))
        if len(self.records) > 1:
            object.__setattr__(self, "records", tuple(sorted(set(self.records))))
        if len(self.temp_lineage_tables) > 1:
            object.__setattr__(self, "temp_lineage_tables", tuple(sorted(set(self.temp_lineage_tables))))
        if len(self.jobs) > 1:
            object.__setattr__(self, "jobs", tuple(sorted(set(self.jobs))[:JOBS_KEPT]))
        if self.slots:
            object.__setattr__(self, "slots", join_slots(self.slots))

    def __reduce__(self) -> tuple[Callable[..., Contribution], tuple[object, ...]]:
        """Its columns are written as plain tuples: values of a class, dozens a statement, take four times as long."""
        return _contribution_of, (tuple(map(tuple, self.columns)), _BESIDE_COLUMNS(self))

    @property
    def key(self) -> tuple[Producer, str]:
        """What replaces what: the same producer speaking again from the same kind of source."""
        return self.producer, str(self.source)

    @property
    def count(self) -> int:
        """How many distinct records said so."""
        return len(self.records)

    @property
    def recency(self) -> tuple[float, str]:
        """Order by which the text that stands for several is chosen: the one seen last, then by the text."""
        return float("-inf") if self.last_seen is None else self.last_seen, self.sql_query

    def json_text(self, query: Json) -> str:
        """Its JSON object, with what `query` has in place of the text."""
        return f"{self.meaning_text(query)[:-1]}, {self.sightings_text()[1:]}"

    def meaning_text(self, query: Json) -> str:
        """The part of its JSON object that tells what it says, as an object with sorted keys.

        `query` stands for the text, which is not repeated for each of the thousands of edges that it may have.
        """
        columns = ", ".join([column.json_text() for column in self.columns])
        others = {
            **({} if self.columns_at is None else {"columnsAt": _millis(self.columns_at)}),
            "confidence": self.confidence,
            "parser": self.parser or None,
            "pipeline": self.pipeline.to_json() if self.pipeline else None,
            "producer": self.producer.to_json(),
            "source": str(self.source),
            **query,
            "tempLineageTables": [
                {"fromEntity": source, "toEntity": target} for source, target in self.temp_lineage_tables
            ],
        }
        return f'{{"columns": [{columns}], {_ENCODER.encode(others)[1:]}'

    def sightings_text(self) -> str:
        """The part of its JSON object that tells how often, when and in which jobs, as an object with sorted keys."""
        sightings = {
            "count": self.count,
            "firstSeen": _millis(self.first_seen),
            "jobs": self.jobs,
            "lastSeen": _millis(self.last_seen),
            "records": self.records,
            "slots": [slot.to_json() for slot in self.slots],
        }
        return _ENCODER.encode(sightings)


_FIELDS = [one.name for one in fields(Contribution)]
_BESIDE_COLUMNS = attrgetter(*(name for name in _FIELDS if name != "columns"))
_COLUMNS_AT = _FIELDS.index("columns")


def _contribution_of(columns: Iterable[tuple[Any, ...]], others: tuple[object, ...]) -> Contribution:
    """What was written, given its columns and its other fields: they are in order since it was made."""
    made = tuple([ColumnEvidence(*one) for one in columns])
    return with_fields(Contribution, (*others[:_COLUMNS_AT], made, *others[_COLUMNS_AT:]))


def certain_pairs(contributions: Iterable[Contribution]) -> dict[tuple[str, str], str]:
    """Of what each target column is certainly made, by pairs, with the expression: of several the shortest.

    "" where the column is taken as it is.
    """
    found: dict[tuple[str, str], str] = {}
    for contribution in contributions:
        for evidence in contribution.columns:
            if evidence.publishable:
                for column in evidence.from_columns:
                    pair, expression = (evidence.to_column, column), evidence.expression
                    known = found.setdefault(pair, expression)
                    if known != expression:
                        found[pair] = min(filter(None, (known, expression)), key=lambda text: (len(text), text))
    return found


def description_of_jobs(jobs: Iterable[str]) -> str | None:
    """What ran something, as a sentence in Markdown; None where nobody told."""
    names = sorted(set(jobs))[:JOBS_KEPT]
    return f"Run by {', '.join(f'`{name}`' for name in names)}" if names else None


def _millis(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1000)


def _distinct(columns: Iterable[ColumnEvidence]) -> tuple[ColumnEvidence, ...]:
    """Each once, in their order: by keys that are compared without a call, as there are thousands of them."""
    found = {_order_of(one): one for one in columns}
    return tuple([found[order] for order in sorted(found)])


def _order_of(one: ColumnEvidence) -> tuple[tuple[str, ...], str, str, bool, str, bool]:
    how = one.transformation
    return one.from_columns, one.to_column, how.subtype, how.masking, one.expression, one.certain


def merge_contributions(contributions: Iterable[Contribution]) -> tuple[Contribution, ...]:
    """One contribution per producer and source, in a fixed order: commutative, associative, idempotent.

    Of those with slots one for each thing that is said: which of them is the newest, only they tell apart. Columns,
    hops, records, jobs and slots are united, times widened, the surest confidence is kept; the text is the one seen
    last.
    """
    given = tuple(contributions)
    if len(given) < 2:
        return given
    groups: dict[tuple[tuple[Producer, str], tuple[object, ...]], list[Contribution]] = {}
    for one in given:
        content = (tuple(map(_order_of, one.columns)), one.temp_lineage_tables) if one.slots else ()
        groups.setdefault((one.key, content), []).append(one)
    return tuple(join_contributions(groups[key]) for key in sorted(groups))


def join_contributions(group: Sequence[Contribution]) -> Contribution:
    """All that one producer says of one edge, as one contribution."""
    if len(group) == 1:
        return group[0]
    latest = max(group, key=lambda item: item.recency)
    surest = max(group, key=lambda item: (item.confidence, item.parser))
    pipelines = [item.pipeline for item in group if item.pipeline is not None]
    return Contribution(
        producer=latest.producer,
        source=latest.source,
        sql_query=latest.sql_query,
        columns=tuple(column for item in group for column in item.columns),
        parser=surest.parser,
        confidence=surest.confidence,
        first_seen=min((item.first_seen for item in group if item.first_seen is not None), default=None),
        last_seen=max((item.last_seen for item in group if item.last_seen is not None), default=None),
        records=tuple(record for item in group for record in item.records),
        pipeline=min(pipelines, key=lambda item: item.rank) if pipelines else None,
        temp_lineage_tables=tuple(hop for item in group for hop in item.temp_lineage_tables),
        jobs=tuple(job for item in group for job in item.jobs),
        slots=tuple(slot for item in group for slot in item.slots),
        columns_at=max((item.columns_at for item in group if item.columns_at is not None), default=None),
    )
