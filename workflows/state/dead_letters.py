"""Statements and requests that were given up on, until a later run succeeds with them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, and_, delete, func, insert, select

from workflows.state.store import VALUES_AT_ONCE, dead_letters

StatementLocation = tuple[str, int, int]
"""Where a statement stands: source id, position in its record, step in its block."""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """`digest` is that of its record, `fingerprint` that of its template where it has one.

    `details`: masked text, dialect, tier, limits, versions, time.
    """

    location: StatementLocation
    reason: str
    run_id: str
    digest: int | None = None
    fingerprint: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def location_text(self) -> str:
        """Where it stands, as people are told: `log.csv:7`, or `log.csv:7, statement 2`."""
        source_id, position, _step = self.location
        return source_id if not position else f"{source_id}, statement {position + 1}"


def file_dead_letters(connection: Connection, workflow: str, found: Iterable[DeadLetter]) -> None:
    """Keeps what was found of a workflow, in place of what was kept of the same statements."""
    for letter in found:
        source_id, position, step = letter.location
        values = {"workflow": workflow, "source_id": source_id, "position": position, "step": step}
        connection.execute(
            delete(dead_letters).where(*(dead_letters.c[name] == value for name, value in values.items()))
        )
        connection.execute(
            insert(dead_letters).values(
                **values,
                digest=letter.digest,
                fingerprint=letter.fingerprint,
                run_id=letter.run_id,
                reason=letter.reason,
                letter=json.dumps(letter.details, ensure_ascii=False),
            )
        )


def dead_letters_of(connection: Connection, workflow: str) -> Iterator[DeadLetter]:
    """The letters of a workflow in the order of their locations."""
    order = dead_letters.c.source_id, dead_letters.c.position, dead_letters.c.step
    for row in connection.execute(select(dead_letters).where(dead_letters.c.workflow == workflow).order_by(*order)):
        location = row.source_id, row.position, row.step
        yield DeadLetter(location, row.reason, row.run_id, row.digest, row.fingerprint, json.loads(row.letter))


def dead_letters_by_workflow(connection: Connection) -> dict[str, int]:
    """How many letters each workflow has."""
    counted = select(dead_letters.c.workflow, func.count()).group_by(dead_letters.c.workflow)
    return {row[0]: row[1] for row in connection.execute(counted)}


def drop_resolved_dead_letters(
    connection: Connection, workflow: str, *, templates: Set[str] = frozenset(), source_ids: Set[str] = frozenset()
) -> None:
    """Drops the letters of templates that succeeded, and of records that were read again."""
    for column, values in ((dead_letters.c.fingerprint, templates), (dead_letters.c.source_id, source_ids)):
        ordered = sorted(values)
        for start in range(0, len(ordered), VALUES_AT_ONCE):
            chosen = column.in_(ordered[start : start + VALUES_AT_ONCE])
            connection.execute(delete(dead_letters).where(and_(dead_letters.c.workflow == workflow, chosen)))
