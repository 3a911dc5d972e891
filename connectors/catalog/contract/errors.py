"""What a client is told when a call fails: always JSON with `code` and `message`.

The official client tells a missing entity from a broken server by `code` alone.
"""

from __future__ import annotations


class ApiError(Exception):
    """A call that cannot be answered; `status` is both the HTTP status and the body's `code`."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(status, message)
        self.status = status
        self.message = message


def not_found(kind: str, name: str) -> ApiError:
    """404 for an entity of type `kind`."""
    return ApiError(404, f"{kind} instance for {name} not found")


def bad_request(message: str) -> ApiError:
    """400: the call can never succeed as it is."""
    return ApiError(400, message)
