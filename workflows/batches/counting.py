"""What the stages of a run count, as parts of the run's counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from ingestion.lineage_request import AddLineageRequest
from workflows.lineage.outcomes import StatementOutcome, StatementStatus
from workflows.lineage.table_entities import GIVEN_UP, EntityStatus
from workflows.publishing.agreement import compared_columns, compared_edges
from workflows.report.counts import RunCounts
from workflows.templates.stage import Templates


def parse_counts(templates: Templates, met: Collection[str]) -> RunCounts:
    """Of the templates (by fingerprint) that this run's statements have, and those that it had to parse."""
    known = len(set(met) - templates.parsed)
    return RunCounts(templates=len(met), templates_known=known) + templates.counts


def statement_counts(outcomes: Iterable[StatementOutcome]) -> RunCounts:
    """Of the statements that this run read."""
    skipped: Counter[str] = Counter()
    dead: Counter[str] = Counter()
    published = 0
    for outcome in outcomes:
        fresh = outcome.group.fresh
        if outcome.status is StatementStatus.PUBLISHED:
            published += fresh
        elif fresh:
            (dead if outcome.status is StatementStatus.DEAD else skipped)[outcome.reason] += fresh
    return RunCounts(published=published, skipped=dict(skipped), dead=dict(dead))


def agreement_counts(requests: Collection[AddLineageRequest]) -> RunCounts:
    """Of the edges that an engine recorded itself, beside those of the log."""
    return RunCounts(engine_edges=compared_edges(requests), engine_columns=compared_columns(requests))


def name_counts(names: Mapping[EntityStatus, Mapping[str, int]], statuses: Iterable[EntityStatus]) -> RunCounts:
    """Of the names by what they resolved to; `statuses` are those of the relations that were not counted before.

    `names` tells how often each name of a status was met.
    """
    by_status = Counter(statuses)
    unresolved = [EntityStatus.UNRESOLVED, EntityStatus.UNPLACED, *sorted(GIVEN_UP)]
    return RunCounts(
        resolved=by_status[EntityStatus.RESOLVED],
        unresolved=sum(by_status[status] for status in unresolved),
        ambiguous=by_status[EntityStatus.AMBIGUOUS],
        unresolved_names=dict(sum((Counter(names.get(status, {})) for status in unresolved), start=Counter())),
        ambiguous_names=dict(names.get(EntityStatus.AMBIGUOUS, {})),
    )
