"""Routes of bulk calls: bodies of megabytes, which are read into their model at once and off the event loop."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import HTTPException, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response
from fastapi.routing import APIRoute
from pydantic import TypeAdapter, ValidationError
from starlette.requests import ClientDisconnect

from connectors.catalog.store.database import Database


class BulkRoute(APIRoute):
    """A route of a function of the store and a body, called with these alone where the body is plain and right.

    All else (other content types and encodings, conditions, bodies to refuse) goes FastAPI's own way, which has a
    body's values made and then looked at, in the thread that all clients share.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        usual = super().get_route_handler()
        if self.body_field is None:
            return usual
        model: Any = self.body_field.field_info.annotation
        adapter: TypeAdapter[Any] = TypeAdapter(model)

        def call(database: Database, body: bytes) -> Response | None:
            try:
                given = adapter.validate_json(body)
            except ValidationError:
                return None
            answer: Response = self.endpoint(database, given)
            return answer

        async def handle(request: Request) -> Response:
            headers = request.headers
            if headers.get("content-type") != "application/json" or "if-match" in headers:
                return await usual(request)
            try:
                body = await request.body()
            except ClientDisconnect as error:
                raise HTTPException(400, "the body ended too early") from error
            answer = await run_in_threadpool(call, request.app.state.database, body)
            return await usual(request) if answer is None else answer

        return handle
