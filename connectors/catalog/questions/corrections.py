"""Corrections by hand in a catalog's file, for people who name things as they do: by a name or the end of one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import Connection

from connectors.catalog.contract.errors import ApiError
from connectors.catalog.contract.models import MOST_AUTHOR, MOST_REASON, Author, Reason
from connectors.catalog.questions.answer import Answer
from connectors.catalog.questions.file import existing_database, named_node, open_catalog
from connectors.catalog.store.lineage import corrections
from ingestion.errors import ConfigError
from ingestion.model.lineage import Json

_REASON, _AUTHOR = TypeAdapter[str](Reason), TypeAdapter[str](Author)


@dataclass(frozen=True, slots=True)
class Justification:
    """Why somebody corrects, and who does."""

    reason: str
    author: str


def correct(file: Path, verdict: str, ends: tuple[str, str], why: Justification) -> Json:
    """Files the `verdict` (added, confirmed, rejected) on the edge between two tables or columns and answers it.

    Raises ConfigError for names that are not there, and for what cannot be corrected so.
    """
    given = _check(why)
    with _open_for_writing(file) as connection:
        source, target = (_edge_end(connection, name) for name in ends)
        return corrections.file(connection, corrections.Correction(verdict, source, target, given.reason, given.author))


def undo(file: Path, identifier: int, why: Justification) -> Json:
    """Takes the correction `identifier` back and answers it. Raises ConfigError where there is none any more."""
    given = _check(why)
    with _open_for_writing(file) as connection:
        return corrections.undo(connection, identifier, given.reason, given.author)


def list_corrections(file: Path, name: str | None, limit: int) -> Answer[tuple[Json, ...]]:
    """The corrections of a table's edges, or (None) of all, newest first. Raises ConfigError for an unknown name."""
    with open_catalog(file) as connection:
        row = named_node(connection, name)[0] if name is not None else None
        found = corrections.listing(connection, row, limit + 1)
    more = (f"there are older ones: --limit above {limit}",) if len(found) > limit else ()
    return Answer(tuple(found[:limit]), more)


def _check(why: Justification) -> Justification:
    """The same without spaces around."""
    try:
        return Justification(_REASON.validate_python(why.reason), _AUTHOR.validate_python(why.author))
    except ValidationError as error:
        message = f"a correction needs a reason (at most {MOST_REASON} letters) and an author (at most {MOST_AUTHOR})"
        raise ConfigError(message) from error


def _edge_end(connection: Connection, name: str) -> corrections.EdgeEnd:
    row, path = named_node(connection, name)
    return corrections.EdgeEnd(row, path or "")


@contextmanager
def _open_for_writing(file: Path) -> Iterator[Connection]:
    try:
        with closing(existing_database(file)) as database, database.write() as connection:
            yield connection
    except ApiError as error:
        raise ConfigError(error.message) from error
