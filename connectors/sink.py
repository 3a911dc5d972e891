"""What a sink is opened with, what it takes, and what it tells of it.

A sink is a room: its `settings` has a model as `SETTINGS`, its `sink` a context manager `open_sink(settings, run)`, and
`connectors.sinks` a line with its name.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import ClassVar, Generic, Protocol, TypeVar, runtime_checkable

from pydantic import ConfigDict, Field

from connectors.fields import Model, Positive
from ingestion.model.contributions import Contribution
from ingestion.model.entities import EntityReference
from ingestion.model.outcomes import WriteOutcome
from ingestion.model.requests import AddLineageRequest, Replacement

Catalog = TypeVar("Catalog", covariant=True)

UNANSWERED = "?"
"""In place of a digest or a receipt of what was sent and not answered for: none is the same."""

NOT_OURS = "-"
"""In place of a receipt: the edge holds words of others, so that it is never taken back."""


@dataclass(frozen=True, slots=True)
class TargetBatch:
    """All requests into one target, and what they replace there: sent together, the replacements last.

    `receipts`: of edges that earlier runs wrote, by the id of their source, how the sink left them; UNANSWERED for one
    that was sent and never answered for, NOT_OURS for one that others speak of too.

    For a sink with keys: `ended` are those of what it wrote before and is to take away, `superseded` those of what the
    requests say and is not true any more.
    """

    target: EntityReference
    requests: tuple[AddLineageRequest, ...] = ()
    replacements: tuple[Replacement, ...] = ()
    receipts: Mapping[str, str] = field(default_factory=dict)
    ended: frozenset[str] = frozenset()
    superseded: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The target's, for messages: its fully qualified name where it has one, else its id."""
        return self.target.fully_qualified_name or self.target.id

    @property
    def size(self) -> int:
        """Contributions."""
        return sum(len(request.contributions) for request in self.requests)

    @property
    def columns(self) -> int:
        """What the contributions say of columns."""
        return sum(len(one.columns) for request in self.requests for one in request.contributions)

    @property
    def records(self) -> int:
        """Digests of the records that its contributions were seen in."""
        return sum(len(one.records) for request in self.requests for one in request.contributions)

    @property
    def characters(self) -> int:
        """Of its statements, each once."""
        return sum(map(len, {one.sql_query or "" for request in self.requests for one in request.contributions}))


@dataclass(frozen=True, slots=True)
class WriteResult:
    """The outcome of one request; `reason` when it was rejected, `refused_columns` when some were not taken.

    `receipt`: how the sink left an edge that holds its own words alone, NOT_OURS where others speak of it too; "" where
    the target tells them apart.
    """

    request: AddLineageRequest
    outcome: WriteOutcome
    reason: str = ""
    refused_columns: int = 0
    receipt: str = ""

    @property
    def refusal(self) -> str:
        """What a statement ends as whose edge was refused: the code, and why."""
        return f"{self.outcome}: {self.reason}" if self.reason else self.outcome

    @property
    def accepted(self) -> bool:
        return self.outcome is not WriteOutcome.REJECTED


@dataclass(frozen=True, slots=True)
class EdgeCounts:
    """Edges by outcome; `replaced` counts what ended, `removed` edges of which nothing is said any more; `column_edges`
    is what the accepted requests hold.

    Those after `column_edges` count what the target cannot hold: edges whose hops through temporary tables are left
    out, or that are said to be read from something else; column edges; views and procedures that cannot be marked as
    done; column edges that only decide, or are one of several candidates; targets of more than is shown there; edges
    that it records itself, and those neither of whose ends it has.
    """

    new: int = 0
    merged: int = 0
    unchanged: int = 0
    replaced: int = 0
    rejected: int = 0
    removed: int = 0
    column_edges: int = 0
    without_hops: int = 0
    other_source: int = 0
    refused_columns: int = 0
    unmarked: int = 0
    influences: int = 0
    candidates: int = 0
    wide_targets: int = 0
    recorded_there: int = 0
    outside: int = 0

    def __add__(self, other: EdgeCounts) -> EdgeCounts:
        return EdgeCounts(*map(sum, zip(astuple(self), astuple(other), strict=True)))

    @classmethod
    def lost_of(cls, request: AddLineageRequest) -> EdgeCounts:
        """What of an edge has no place in a target of columns that flow for certain, with nothing on the way."""
        columns = [one for given in request.contributions for one in given.columns if not one.publishable]
        candidates = sum(not one.certain for one in columns)
        hops = any(given.temp_lineage_tables for given in request.contributions)
        return cls(without_hops=int(hops), influences=int(len(columns) > candidates), candidates=candidates)


@dataclass(frozen=True, slots=True)
class WriteReport:
    """One result for each request, in their order, and the sums. `a + b` is the report of both, one after the other."""

    results: tuple[WriteResult, ...] = ()
    counts: EdgeCounts = field(default_factory=EdgeCounts)

    def __add__(self, other: WriteReport) -> WriteReport:
        return WriteReport(self.results + other.results, self.counts + other.counts)


class SinkSettings(Model):
    """`sink.config`: the keys of every sink; a room adds its own. OpenMetadata writes them with underscores."""

    model_config = ConfigDict(alias_generator=None)

    written_to: ClassVar[str]
    """What it writes to, for a reader of the YAML."""

    writes_to_catalog: ClassVar[bool] = False
    """Whether it writes into the catalog that names are resolved in: a dry run shows it a copy, and others nothing."""

    one_writer: ClassVar[bool] = False
    """Whether only one process may write to it, as to a file: then no task of Spark does."""

    bulk_sink_batch_size: Positive | None = Field(
        default=None,
        description="Requests in one call, where the target takes several. Not set: 500, and 2,000 of Headwater's own "
        "catalog.",
    )

    def losses(self, _counts: EdgeCounts) -> Iterator[str]:
        """What it could not hold of what was sent, in one line; nothing where it held all, or its catalog tells."""
        return iter(())

    @property
    def location(self) -> str:
        """Where it writes, for a person; "" where that is the run's catalog."""
        return ""

    @abstractmethod
    def identity(self, catalog: str) -> str:
        """What tells where it writes from any other: under it is remembered what it acknowledged.

        `catalog` is that of the run's catalog.
        """


@dataclass(frozen=True, slots=True)
class SinkRun(Generic[Catalog]):
    """The run that a sink is opened for, with its `catalog`, open, in which the ends of all edges were found.

    `name`: what is sent again under the same name counts once. `threads`: how many targets may be written at a time.
    `service`: the source's own, and the type of its connection, "" where that is not known.
    """

    name: str
    threads: int
    catalog: Catalog
    service: str = ""
    service_type: str = ""


class Sink(Protocol):
    """Takes requests, one for each edge. Writing the same again changes nothing."""

    def write(self, batches: Sequence[TargetBatch]) -> WriteReport:
        """Writes all it can of the batches, each of another target.

        Raises TargetDown and ConfigError when nothing more can be written; what was written until then stays.
        """


@dataclass(frozen=True, slots=True)
class PresentEdge:
    """An edge that a sink made in an earlier run, and left as `receipt` tells.

    `is_ours`: it is as the sink left it, nobody else has changed it.
    """

    source: EntityReference
    target: EntityReference
    receipt: str
    is_ours: bool

    @property
    def name(self) -> str:
        """For messages."""
        names = (one.fully_qualified_name or one.id for one in (self.source, self.target))
        return " -> ".join(names)


@runtime_checkable
class EdgeRemover(Protocol):
    """A sink that can tell an edge that it made from all others, and take it back."""

    def present_edges(self, target: EntityReference, receipts: Mapping[str, str]) -> Sequence[PresentEdge]:
        """Those edges into `target` that are still there, of the `receipts` that it gave (by the id of the source).

        Raises Rejected and RetryableError where the target cannot tell now, TargetDown and ConfigError.
        """

    def remove_edge(self, edge: PresentEdge) -> str:
        """Takes an edge back that is still as the sink left it; why it stays, "" where it is gone.

        Raises TargetDown and ConfigError.
        """


@runtime_checkable
class KeyedSink(Sink, Protocol):
    """A sink whose target holds what stands now, and does not know what is not said any more: it is told by keys."""

    def keys(self, request: AddLineageRequest, contribution: Contribution) -> Iterable[str]:
        """By what each thing that it writes of a contribution is known again, so that it can be taken away."""

    def missing_keys(self, written: frozenset[str]) -> frozenset[str]:
        """Of the keys under which it has `written`, those of what somebody else has taken away; none where it cannot
        tell."""


class DryRunSink:
    """Sends nothing."""

    def write(self, batches: Sequence[TargetBatch]) -> WriteReport:
        """Every request counts as unchanged."""
        requests = [request for batch in batches for request in batch.requests]
        results = tuple(WriteResult(request, WriteOutcome.UNCHANGED) for request in requests)
        columns = sum(len(request.edge.lineage_details.columns_lineage) for request in requests)
        return WriteReport(results, EdgeCounts(unchanged=len(results), column_edges=columns))


def target_batches(
    requests: Iterable[AddLineageRequest], replacements: Iterable[Replacement] = ()
) -> list[TargetBatch]:
    """Requests and replacements by their target, in their order."""
    targets: dict[str, EntityReference] = {}
    by_target: dict[str, tuple[list[AddLineageRequest], list[Replacement]]] = {}
    for request in requests:
        target = targets.setdefault(request.to_entity.id, request.to_entity)
        by_target.setdefault(target.id, ([], []))[0].append(request)
    for replacement in replacements:
        target = targets.setdefault(replacement.to_entity.id, replacement.to_entity)
        by_target.setdefault(target.id, ([], []))[1].append(replacement)
    return [TargetBatch(targets[name], tuple(asked), tuple(ended)) for name, (asked, ended) in by_target.items()]
