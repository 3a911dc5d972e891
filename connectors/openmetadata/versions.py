"""Which versions of OpenMetadata are spoken to, and what each cannot hold or is asked for in another way.

All of them take edges by the ids of their ends; what is here is the rest, by minor version, and read once from the
answer to `system/version`.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from connectors.sink import EdgeCounts
from ingestion.errors import ConfigError
from ingestion.model.lineage import Json
from ingestion.model.requests import EdgeSource, EntitiesEdge

Minor = tuple[int, int]

OLDEST: Minor = (1, 5)
NEWEST: Minor = (2, 1)
"""The newest that is known: a newer one is spoken to as this one."""

_NUMBERS = re.compile(r"\s*v?(\d{1,4})\.(\d{1,4})(?!\d)")
_LONGEST = 40
"""Of a version's text that is told of."""

_OTHER_DATABASE = "CustomDatabase"
_SERVICE_TYPES: Mapping[str, Minor] = MappingProxyType(
    {"Cockroach": (1, 7), "Informix": (1, 12), "MicrosoftFabric": (1, 12), "StarRocks": (1, 12)}
)
"""Types of database services, by the first version that has them; all others are as old as the oldest."""
_MEASURES = frozenset({"dimensions", "measures"})
_YOUNG_METRICS, _OTHER_METRIC = frozenset({"CONVERSION", "CUMULATIVE", "DERIVED", "SIMPLE"}), "OTHER"
"""Types of metrics that came with their measures, and what stands for them before."""
_TOOLS_IN_LOWER_CASE: Minor = (1, 11)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class VersionFeatures:
    """What a minor version has of what not all have.

    `processed`: views and procedures can be marked as done. `queries_by_checksum`: filed queries are found by it;
    `queries_in_bulk`: many are filed in one call, where the patch is late enough. `metrics`: there are any;
    `measures`: with measures and dimensions of their own. `tests`: they can be filed without a suite of them.
    """

    minor: Minor
    processed: bool
    cross_database: bool
    temporary_tables: bool
    queries_in_bulk: bool
    queries_by_checksum: bool
    metrics: bool
    measures: bool
    tests: bool

    @property
    def name(self) -> str:
        return _name(self.minor)

    def service_type(self, wanted: str) -> str:
        """The type that a database service is made with."""
        return wanted if self.minor >= _SERVICE_TYPES.get(wanted, OLDEST) else _OTHER_DATABASE

    def fit_metric(self, request: Json) -> Json:
        """The request for a metric without what the version cannot hold."""
        if self.measures:
            return request
        kept = {key: value for key, value in request.items() if key not in _MEASURES}
        return {**kept, "metricType": _OTHER_METRIC} if kept.get("metricType") in _YOUNG_METRICS else kept

    def metric_losses(self, metrics: Iterable[Json]) -> Iterator[str]:
        """What the version cannot hold of these metrics, in one line; nothing where it holds all."""
        requests = list(metrics)
        if not self.metrics and requests:
            yield f"OpenMetadata {self.name} has no metrics: {len(requests):,} are left out"
        elif lost := sum(not self.measures and not _MEASURES.isdisjoint(one) for one in requests):
            yield f"OpenMetadata {self.name} has no measures and dimensions of metrics: {lost:,} metrics without them"

    def test_losses(self, tests: int) -> Iterator[str]:
        """That so many tests could not be filed; nothing where they can."""
        if tests and not self.tests:
            yield f"OpenMetadata {self.name} takes tests in suites alone: {tests:,} tests are left out"

    def test_platform(self, name: str) -> str:
        """How the tool is called whose tests they are."""
        return name if self.minor >= _TOOLS_IN_LOWER_CASE else name.upper()

    def fit(self, edge: EntitiesEdge) -> tuple[EntitiesEdge, EdgeCounts]:
        """The edge without what the version cannot hold, and what that is."""
        details = edge.lineage_details
        hops = bool(details.temp_lineage_tables) and not self.temporary_tables
        source = details.source == EdgeSource.CROSS_DATABASE and not self.cross_database
        if hops:
            details = replace(details, temp_lineage_tables=())
        if source:
            details = replace(details, source=EdgeSource.QUERY)
        return replace(edge, lineage_details=details), EdgeCounts(without_hops=int(hops), other_source=int(source))

    def losses(self, counts: EdgeCounts) -> Iterator[str]:
        """What the version could not hold of what was sent, in one line; nothing where it held all."""
        lost = (
            (counts.without_hops, "it has no temporary-table lineage", "edges without it"),
            (counts.other_source, f"it has no {EdgeSource.CROSS_DATABASE}", f"edges as {EdgeSource.QUERY}"),
            (counts.refused_columns, "it does not know some columns", "column edges left out"),
            (counts.unmarked, "it marks no view or procedure as processed", "to be read again by the next run"),
        )
        parts = [f"{what} ({number:,} {how})" for number, what, how in lost if number]
        if parts:
            yield f"OpenMetadata {self.name} cannot hold all: {'; '.join(parts)}"


def features_of(version: str) -> VersionFeatures:
    """Of a version as a server tells it, `1.6.0-SNAPSHOT` too; of one that is no number, those of the newest."""
    minor = min(_minor(version) or NEWEST, NEWEST)
    return VersionFeatures(
        minor,
        processed=minor >= (1, 6),
        cross_database=minor >= (1, 7),
        temporary_tables=minor >= (1, 13),
        queries_in_bulk=minor >= (1, 11),
        queries_by_checksum=minor >= (2, 0),
        metrics=minor >= (1, 6),
        measures=minor >= (2, 0),
        tests=minor >= (1, 8),
    )


def check_version(version: str, *, strict: bool = True) -> None:
    """Warns of a version that is newer than what is known.

    Raises ConfigError for one that is older; where this is not `strict`, it warns.
    """
    minor, text = _minor(version), version[:_LONGEST]
    if minor is None or minor > NEWEST:
        logger.warning("the platform is version %s, which is not known here: spoken to as %s", text, _name(NEWEST))
    elif minor < OLDEST:
        message = f"the platform is version {text}, and {_name(OLDEST)} is the oldest that works"
        if strict:
            raise ConfigError(f"{message}: upgrade it, or set enableVersionValidation: false to try all the same")
        logger.warning("%s; going on, since enableVersionValidation is false", message)


def _minor(version: str) -> Minor | None:
    found = _NUMBERS.match(version)
    return (int(found[1]), int(found[2])) if found else None


def _name(minor: Minor) -> str:
    return ".".join(map(str, minor))
