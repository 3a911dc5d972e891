"""The connections of services, as far as the catalog keeps them: it opens none, so it keeps no secret."""

from __future__ import annotations

import re
from typing import Any

from connectors.catalog.contract.errors import bad_request
from ingestion.model import Json

_SECRET_KEY = re.compile(r"passw|secret|token|private.?key|credential|access.?key|api.?key|passphrase", re.IGNORECASE)
_REDACTED = "*********"


def connection_without_secrets(document: Json) -> Json:
    """The connection of a service's request, as it is answered. Raises ApiError (400) for one that is none."""
    config = document["connection"].get("config") or {}
    if not isinstance(config, dict):
        raise bad_request("connection.config must be an object")
    # clients pick the connection's class by `type` and send none: without it the first class of a union wins
    return {"config": {"type": document["serviceType"], **_redact(config)}}


def _redact(value: Any) -> Any:
    """Secrets stay with the client: the catalog opens no connection, so it keeps none."""
    if isinstance(value, dict):
        return {
            key: _REDACTED if isinstance(item, str) and _SECRET_KEY.search(key) else _redact(item)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_redact(item) for item in value]
    return value
