"""What the stages of a run count, as parts of the run's counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from ingestion.lineage_request import AddLineageRequest
from workflows.lineage.outcomes import StatementOutcome, StatementStatus
from workflows.lineage.table_entities import GIVEN_UP, EntityStatus, RelationEntities
from workflows.publishing.agreement import compared_columns, compared_edges
from workflows.report.counts import RunCounts
from workflows.templates.parsing import ParsedTemplate


def parse_counts(templates: Mapping[str, ParsedTemplate], met: Collection[str], parsed: Collection[str]) -> RunCounts:
    """Of the templates that this run's statements have (`met`) and those that it had to parse, by fingerprint."""
    new = [templates[fingerprint] for fingerprint in parsed]
    return RunCounts(
        templates=len(met),
        templates_known=len(set(met) - set(parsed)),
        parsed_by_tier=dict(Counter(template.tier for template in new if template.symbolic is not None)),
        timed_out=sum(template.timed_out for template in new),
    )


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


def name_counts(entities: RelationEntities, registered: int) -> RunCounts:
    """Of the names by what they resolved to."""
    by_status = Counter(entities.statuses.values())
    unresolved = [EntityStatus.UNRESOLVED, EntityStatus.UNPLACED, *sorted(GIVEN_UP)]
    return RunCounts(
        resolved=by_status[EntityStatus.RESOLVED],
        unresolved=sum(by_status[status] for status in unresolved),
        ambiguous=by_status[EntityStatus.AMBIGUOUS],
        unresolved_names=dict(sum((Counter(entities.names.get(status, {})) for status in unresolved), start=Counter())),
        ambiguous_names=dict(entities.names.get(EntityStatus.AMBIGUOUS, {})),
        tables_registered=registered,
    )
