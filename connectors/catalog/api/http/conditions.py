"""ETags: which state of an entity an answer shows, and that a write is meant for no other."""

from __future__ import annotations

import hashlib
from typing import Annotated

from fastapi import Depends, Header, Request
from fastapi.responses import Response

from connectors.catalog.api.http.context import reply
from connectors.catalog.contract.errors import ApiError, bad_request
from connectors.catalog.store.database import dumps
from connectors.catalog.store.entities import entities
from connectors.catalog.store.entities.entities import EntityRow
from ingestion.model import Json

IfMatch = Annotated[str | None, Header(alias="If-Match", max_length=10_000)]


def etag(document: Json) -> str:
    """The ETag of what a client reads."""
    return f'"{hashlib.blake2b(dumps(document).encode(), digest_size=16).hexdigest()}"'


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
