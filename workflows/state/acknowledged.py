"""What a sink has acknowledged: a repeated run sends only what it has not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import astuple, dataclass

from sqlalchemy import Connection, delete, insert, select

from workflows.state.schema import acknowledged


@dataclass(frozen=True, slots=True, order=True)
class Speaker:
    """Who says something of a target, and from which kind of source."""

    kind: str
    key: str
    source: str


@dataclass(frozen=True, slots=True)
class Word:
    """What a speaker says now, as a digest, and from when to when it ever spoke (seconds since the epoch).

    "" for nothing any more. None where a record had no time.
    """

    digest: str
    first_seen: float | None
    last_seen: float | None

    def widened(self, earlier: Word) -> Word:
        """The same word, of a speaker that has spoken before."""
        first = [time for time in (self.first_seen, earlier.first_seen) if time is not None]
        last = [time for time in (self.last_seen, earlier.last_seen) if time is not None]
        return Word(self.digest, min(first) if len(first) == 2 else None, max(last) if len(last) == 2 else None)


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """Everything that was said of one target, as a digest, and each speaker's word. `kind` is the target's type."""

    kind: str
    digest: str
    words: Mapping[Speaker, Word]


def acknowledgements(connection: Connection, workflow: str, sink: str) -> dict[str, Acknowledgement]:
    """What `sink` has acknowledged, by the id of the target."""
    where = acknowledged.c.workflow == workflow, acknowledged.c.sink == sink
    return {
        row.target: Acknowledgement(
            row.kind, row.digest, {Speaker(*entry[:3]): Word(*entry[3:]) for entry in json.loads(row.words)}
        )
        for row in connection.execute(select(acknowledged).where(*where))
    }


def acknowledge(connection: Connection, workflow: str, sink: str, done: Mapping[str, Acknowledgement]) -> None:
    """Keeps what was acknowledged of each target."""
    for target, acknowledgement in sorted(done.items()):
        where = acknowledged.c.workflow == workflow, acknowledged.c.sink == sink, acknowledged.c.target == target
        connection.execute(delete(acknowledged).where(*where))
        words = [[*astuple(speaker), *astuple(word)] for speaker, word in acknowledgement.words.items()]
        values = {"kind": acknowledgement.kind, "digest": acknowledgement.digest, "words": json.dumps(words)}
        connection.execute(insert(acknowledged).values(workflow=workflow, sink=sink, target=target, **values))
