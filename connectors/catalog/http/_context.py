"""What every route is given, and how it answers: the store, names as the path carried them, ETags, warnings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import unquote

from fastapi import Depends, Header, Path, Query, Request
from fastapi.responses import Response
from pydantic_core import to_json
from sqlalchemy import Connection

from connectors.catalog.contract.errors import ApiError, bad_request, not_found
from connectors.catalog.store.database import Database, dumps
from connectors.catalog.store.entities import entities
from connectors.catalog.store.entities.entities import EntityRow, Page
from ingestion.model.digests import digest
from ingestion.model.lineage import Json

_REFUSALS = {
    400: "Not valid",
    401: "No token",
    403: "Not allowed",
    404: "Not there",
    409: "There already",
    412: "Changed meanwhile",
    413: "Too large",
}
ERRORS: dict[int | str, Json] = {
    status: {
        "description": description,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "properties": {"code": {"type": "integer"}, "message": {"type": "string"}},
                    "required": ["code", "message"],
                }
            }
        },
    }
    for status, description in _REFUSALS.items()
}

PathText = Annotated[str, Path(min_length=1, max_length=20_000)]
Include = Annotated[str, Query(pattern="^(all|deleted|non-deleted)$")]

IfMatch = Annotated[str | None, Header(alias="If-Match", max_length=10_000)]

_MOST_NAMED = 20


# What every route is given: the store, and names as the path carried them.


def _database(request: Request) -> Database:
    database: Database = request.app.state.database
    return database


def unescape_name(value: str) -> str:
    """A name from a path, with the slashes and percent signs that the gate kept escaped."""
    return unquote(value)


@dataclass(frozen=True, slots=True)
class Paging:
    """The parameters of every list."""

    limit: Annotated[int, Query(ge=0, le=1_000_000)] = 10
    after: str | None = None
    before: str | None = None
    include: Annotated[str, Query(pattern="^(all|deleted|non-deleted)$")] = "non-deleted"
    fields: Annotated[str, Query(max_length=10_000)] = ""

    def page(self, under: str | None, identifiers: tuple[str, ...] | None = None) -> Page:
        """The page they ask for."""
        return Page(self.limit, self.after, self.before, self.include, under, identifiers)


Store = Annotated[Database, Depends(_database)]


def named_entity(connection: Connection, name: str) -> EntityRow:
    """The entity that lineage can touch with this full name, gone or not. Raises ApiError (404) for none."""
    row = entities.lineage_entity(connection, name)
    if row is None:
        raise not_found("entity", name)
    return row


def reply(value: object, status: int = 200) -> Response:
    """A JSON answer in one piece, its keys in whatever order: canonical JSON takes four times as long to write.

    What is stored has no number that JSON lacks; one would be told as null.
    """
    try:
        body: str | bytes = to_json(value, inf_nan_mode="null")
    except ValueError:  # values nested more deeply than it writes, or text that is none, which is told apart there
        body = dumps(value)
    return Response(body, status, media_type="application/json")


def empty_response() -> Response:
    """An answer without a body, as the contract's lineage writes give it."""
    return Response(b"", 200, media_type="application/json")


# ETags: which state of an entity an answer shows, and that a write is meant for no other.


def etag(document: Json) -> str:
    """The ETag of what a client reads."""
    return f'"{digest(dumps(document))}"'


def check(if_match: str | None, document: Json | None) -> None:
    """Raises ApiError (412) when a client means another state than `document`, or there is none (None).

    The contract's weak ETag of an entity is its version.
    """
    if if_match is None:
        return
    wanted = {one.strip() for one in if_match.split(",")}
    if document is None or not wanted & {"*", etag(document), f'W/"{document.get("version")}"'}:
        raise ApiError(412, "it was changed since the ETag in If-Match was read: read it again")


def check_row(if_match: str | None, row: EntityRow | None) -> None:
    """The same for a stored entity."""
    check(if_match, None if row is None or row.deleted else entities.answer(row))


def reply_tagged(document: Json, status: int = 200) -> Response:
    """An answer with its ETag."""
    answer = reply(document, status)
    answer.headers["etag"] = etag(document)
    return answer


def _refuse(request: Request, if_match: IfMatch = None) -> None:
    if if_match is not None and request.method != "GET":
        raise bad_request("If-Match means an entity or an edge: leave it out of this call")


NO_CONDITION = Depends(_refuse)
"""For calls of which no state has an ETag: a condition is refused there, not ignored."""


# The warning to who writes what a person has rejected: it is stored, and nobody reads it.


def with_warning(answer: Response, rejected: Sequence[Json]) -> Response:
    """The answer with a warning of what is `rejected`, edges and pairs of columns (`from` and `to`), if anything is."""
    if rejected:
        pairs = [f"{one['from']} -> {one['to']}" for one in rejected[:_MOST_NAMED]]
        more = f" and {len(rejected) - _MOST_NAMED} more" if len(rejected) > _MOST_NAMED else ""
        named = f"{', '.join(pairs)}{more}"
        text = f"stored, but nobody reads {named}: a person rejected it (headwater/corrections)"
        answer.headers["warning"] = f'299 - "{_quotable(text)}"'
    return answer


def _quotable(text: str) -> str:
    """The text as a quoted string of a header holds it: names may have quotes, line ends and letters beyond ASCII."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return "".join(
        letter if letter.isascii() and letter.isprintable() else f"<U+{ord(letter):04X}>" for letter in escaped
    )
