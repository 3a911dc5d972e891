"""What the store remembers of one entity or edge, and how much it holds."""

from __future__ import annotations

import json

from sqlalchemy import Connection, and_, func, or_, select

from connectors.catalog.contract.entity_types import KINDS
from connectors.catalog.picture import cards
from connectors.catalog.store.entities import attributes
from connectors.catalog.store.entities.entities import EntityRow
from connectors.catalog.store.lineage import corrections, reads
from connectors.catalog.store.lineage.reads import ContributionView
from connectors.catalog.store.lineage.window import Window
from connectors.catalog.store.schema import (
    contributions,
    dated_contributions,
    entities,
    intervals,
    name_events,
    versions,
)
from ingestion.model.lineage import Json

_CORRECTIONS = 1_000


def of_entity(connection: Connection, row: EntityRow) -> Json:
    """Every change of an entity's attributes, what happened to its name, oldest first, and what people corrected."""
    changes = attributes.history(connection, row.id)
    for change in changes:
        change["value"] = None if change["value"] is None else json.loads(change["value"])
    touching = or_(name_events.c.entity_id == row.id, name_events.c.other_id == row.id)
    events = connection.execute(select(name_events).where(touching).order_by(name_events.c.at)).all()
    named = {event.other_id for event in events} | {event.entity_id for event in events}
    fqns = {one.id: one.fqn for one in connection.execute(select(entities).where(entities.c.id.in_(sorted(named))))}
    return {
        "entity": {"id": row.id, "type": row.type, "fullyQualifiedName": row.fqn, "deleted": bool(row.deleted)},
        "changes": changes,
        "names": [{"kind": e.kind, "entity": fqns[e.entity_id], "other": fqns[e.other_id], "at": e.at} for e in events],
        "corrections": corrections.listing(connection, row, _CORRECTIONS),
    }


def of_edge(connection: Connection, ends: tuple[EntityRow, EntityRow]) -> Json:
    """Every version of every contribution to an edge, with its intervals, and what people corrected of it."""
    names = ends[0].fqn, ends[1].fqn
    where = and_(intervals.c.from_id == ends[0].id, intervals.c.to_id == ends[1].id)
    rows = connection.execute(
        select(
            versions.c.id,
            versions.c.contribution_id,
            contributions.c.kind,
            contributions.c.key,
            contributions.c.source,
            versions.c.content,
            intervals.c.start,
            intervals.c.end,
            intervals.c.last_seen,
            reads.JOBS,
        )
        .select_from(dated_contributions)
        .where(where)
        .order_by(intervals.c.start, versions.c.id)
    ).all()
    times = reads.sights_of(connection, sorted({row.contribution_id for row in rows}))
    answers = []
    contents = reads.contents_of(connection, [row.content for row in rows])
    for row, content in zip(rows, contents, strict=True):
        one = ContributionView(
            row.id, row.contribution_id, ends[0].id, ends[1].id, row.kind, row.key, row.source,
            content, row.start, row.last_seen, reads.jobs_in(row[9]),
        )  # fmt: skip
        answers.append({**cards.contribution(one, names, times), "until": row.end})
    corrected = corrections.listing(connection, ends[1], _CORRECTIONS)
    corrected = [one for one in corrected if (one["from"]["entity"], one["to"]["entity"]) == names]
    return {"from": names[0], "to": names[1], "contributions": answers, "corrections": corrected}


def overview(connection: Connection, span: Window) -> Json:
    """Counts of entities by type, of edges and column edges in force, of producers, and the window of reads."""
    counted = select(entities.c.type, func.count()).where(entities.c.deleted.is_(False)).group_by(entities.c.type)
    by_type = {row[0]: row[1] for row in connection.execute(counted)}
    holds = span.moment.holds()
    pairs = select(intervals.c.from_id, intervals.c.to_id).where(holds).distinct().subquery()
    producers = select(intervals.c.kind, func.count(), func.sum(intervals.c.column_edges)).where(holds)
    producers = producers.group_by(intervals.c.kind)
    rows = connection.execute(producers).all()
    return {
        "window": span.answer(),
        "entities": {kind.type: by_type.get(kind.type, 0) for kind in KINDS},
        "edges": connection.scalar(select(func.count()).select_from(pairs)) or 0,
        "columnEdges": sum(row[2] for row in rows),
        "contributions": {row[0]: row[1] for row in rows},
    }
