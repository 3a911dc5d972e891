"""How far a workflow has read, and what its published lineage depended on."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from sqlalchemy import Connection, delete, insert, select

import ingestion
from workflows.state.schema import positions


@dataclass(frozen=True, slots=True)
class Watermark:
    """`newest` and `source_id`: the newest record that was read. Times are seconds since the epoch.

    `complete_since`: the journal has every record that was read with a time from then on; None: every record at all.
    `version` and `settings` say what lineage depended on; `unsettled` counts the names and edges to try again.
    """

    newest: float | None = None
    source_id: str = ""
    complete_since: float | None = None
    version: str = ""
    settings: str = ""
    unsettled: int = 0


def position_of(connection: Connection, workflow: str) -> Watermark | None:
    """The position of a workflow; None before its first run came to its end."""
    row = connection.execute(select(positions).where(positions.c.workflow == workflow)).one_or_none()
    if row is None:
        return None
    return Watermark(row.newest, row.source_id, row.complete_since, row.version, row.settings, row.unsettled)


def store_position(connection: Connection, workflow: str, position: Watermark) -> None:
    """Keeps the position in place of the one before."""
    connection.execute(delete(positions).where(positions.c.workflow == workflow))
    connection.execute(insert(positions).values(workflow=workflow, **asdict(position)))


_SHOWS_ONLY = "explorer"
_PARSERS = ("sqlglot", "sqlfluff", "sqlparse")


@cache
def parsing_version() -> str:
    """Changes whenever a statement may be read or parsed differently: our own code, or a parser's release."""
    parsers = ", ".join(f"{name} {_release(name)}" for name in _PARSERS)
    return f"headwater {_own_code()}, {parsers}"


def _own_code() -> str:
    """A digest of the code that makes lineage of text, so that no release can forget to say that it changed."""
    root = Path(ingestion.__file__).parent
    digest = hashlib.blake2b(digest_size=8)
    for source in sorted(root.rglob("*.py")):
        name = source.relative_to(root)
        if name.parts[0] != _SHOWS_ONLY:
            digest.update(name.as_posix().encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()


def _release(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"
