"""What every route is given: the store, and names as the path carried them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated
from urllib.parse import unquote

from fastapi import Depends, Path, Query, Request
from fastapi.responses import Response

from connectors.catalog.store.database import Database, dumps
from connectors.catalog.store.entities.entities import Page
from ingestion.model import Json

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
PathText = Annotated[str, Path(min_length=1, max_length=20_000)]
Include = Annotated[str, Query(pattern="^(all|deleted|non-deleted)$")]


def reply(value: object, status: int = 200) -> Response:
    """A JSON answer in one piece."""
    return Response(dumps(value), status, media_type="application/json")


def empty_response() -> Response:
    """An answer without a body, as the contract's lineage writes give it."""
    return Response(b"", 200, media_type="application/json")
