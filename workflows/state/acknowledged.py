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
    """What a speaker said, as a digest, and since when it was seen to (seconds since the epoch)."""

    digest: str
    first_seen: float | None

    def since(self, earlier: Word) -> Word:
        """The same word, said since an earlier one was."""
        times = (self.first_seen, earlier.first_seen)
        return Word(self.digest, None if None in times else min(time for time in times if time is not None))


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


def acknowledge(connection: Connection, workflow: str, sink: str, done: Mapping[str, Acknowledgement | None]) -> None:
    """Keeps what was acknowledged of each target; None: nothing is said of it any more."""
    for target, acknowledgement in sorted(done.items()):
        where = acknowledged.c.workflow == workflow, acknowledged.c.sink == sink, acknowledged.c.target == target
        connection.execute(delete(acknowledged).where(*where))
        if acknowledgement is not None:
            words = [[*astuple(speaker), *astuple(word)] for speaker, word in sorted(acknowledgement.words.items())]
            values = {"kind": acknowledgement.kind, "digest": acknowledgement.digest, "words": json.dumps(words)}
            connection.execute(insert(acknowledged).values(workflow=workflow, sink=sink, target=target, **values))


def forget_acknowledgements(connection: Connection, workflow: str, sink: str) -> None:
    """Everything is to be sent again."""
    where = acknowledged.c.workflow == workflow, acknowledged.c.sink == sink
    connection.execute(delete(acknowledged).where(*where))
