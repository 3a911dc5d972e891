"""Loads that failed, and whether they came after that."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from connectors.catalog.causes.facts import Incident, IncidentKind, TimeRange
from connectors.catalog.store.evidence.load_history import StoredLoad
from connectors.catalog.store.evidence.writes import WrittenVersion


def failed_loads(
    table: str, loads: Sequence[StoredLoad], writes: Iterable[WrittenVersion], window: TimeRange
) -> Iterator[Incident]:
    """The failures of one table's `loads`; those after which the load came by the end of the `window` are no cause.

    Attempts that failed one after the other are one, those before and those in the window.
    """
    failures: dict[tuple[str, int | None, bool], list[StoredLoad]] = defaultdict(list)
    runs = _Runs(loads, writes)
    for one in loads:
        if one.failed:
            failures[one.producer, runs.after(one, window.end), one.at > window.start].append(one)
    for (_producer, came, _within), attempts in failures.items():
        first = attempts[0]
        about = [part for part in (first.job, f"error {first.error}" if first.error else "") if part]
        if len(attempts) > 1:
            about.append(f"{len(attempts)} attempts")
        kind = IncidentKind.LOAD_FAILED if came is None else IncidentKind.LOAD_REPEATED
        yield Incident(first.at, table, kind, (), ", ".join(about))


class _Runs:
    """When what loads a table is known to have run."""

    def __init__(self, loads: Iterable[StoredLoad], writes: Iterable[WrittenVersion]) -> None:
        self._moments: dict[str, set[int]] = defaultdict(set)
        for version in writes:
            if version.observed:
                self._moments[version.key].update(end for span in version.spans for end in (span.first, span.last))
        self._alone = len(self._moments) == 1
        for one in loads:
            if not one.failed:
                self._moments[one.producer].add(one.at)

    def after(self, failed: StoredLoad, until: int) -> int | None:
        """When a load that failed came after that, by `until`; None where it is not known to have come.

        By the same statement; by the only one that writes the table; or by one that nobody ran before, since a
        statement that is mended is another one.
        """
        same = self._moments[failed.producer]
        others = (moments for producer, moments in self._moments.items() if producer != failed.producer and moments)
        mended = {moment for moments in others if self._alone or min(moments) > failed.at for moment in moments}
        return min((moment for moment in same | mended if failed.at < moment <= until), default=None)
