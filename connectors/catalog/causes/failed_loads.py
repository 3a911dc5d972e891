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
    """The failures of one table's `loads`, and whether what loads it ran after them, by the end of the `window`.

    Attempts that failed one after the other are one, those before and those in the window.
    """
    failures: dict[tuple[str, tuple[int, IncidentKind] | None, bool], list[StoredLoad]] = defaultdict(list)
    runs = _Runs(loads, writes)
    for one in loads:
        if one.failed:
            failures[one.producer, runs.after(one, window.end), one.at > window.start].append(one)
    for (_producer, came, _within), attempts in failures.items():
        first = attempts[0]
        about = [part for part in (first.job, f"error {first.error}" if first.error else "") if part]
        if len(attempts) > 1:
            about.append(f"{len(attempts)} attempts")
        kind = IncidentKind.LOAD_FAILED if came is None else came[1]
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

    def after(self, failed: StoredLoad, until: int) -> tuple[int, IncidentKind] | None:
        """When a load that failed came after that, by `until`, and how; None where it is not known to have come.

        By the same statement, whose values may be others, or by the only one that writes the table; else by one that
        nobody ran before: a statement that is mended is another one, but so is one that has nothing to do with it.
        """
        others = [moments for producer, moments in self._moments.items() if producer != failed.producer and moments]
        only = [moments for moments in others if self._alone]
        new = [moments for moments in others if min(moments) > failed.at]
        for kind, candidates in (
            (IncidentKind.LOAD_REPEATED, [self._moments[failed.producer], *only]),
            (IncidentKind.LOAD_REPLACED, new),
        ):
            came = min((at for moments in candidates for at in moments if failed.at < at <= until), default=None)
            if came is not None:
                return came, kind
        return None
