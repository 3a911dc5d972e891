"""The metadata server of a configuration, as the client wants it, and whether it answers."""

from __future__ import annotations

from connectors.openmetadata.connection import Connection
from connectors.openmetadata.http import Http
from connectors.openmetadata.retry import RetryPolicy
from ingestion.errors import RetryableError, TargetDown
from workflows.config.values import Server

_ONCE = RetryPolicy(attempts=1, total_seconds=15)


def connection_of(server: Server, threads: int = 1) -> Connection:
    """What the client needs to call `server` from so many threads."""
    tls = server.tls
    certificate = (str(tls.certificate), str(tls.key)) if tls.certificate and tls.key else None
    return Connection(
        host_port=server.url,
        jwt_token=server.token.get_secret_value(),
        verify=(str(tls.ca_certificate) if tls.ca_certificate else True) if tls.verify else False,
        client_certificate=certificate or (str(tls.certificate) if tls.certificate else None),
        extra_headers=server.headers,
        validate_version=server.check_version,
        connections=threads,
    )


def server_version(server: Server) -> str:
    """The server's version, asked once. Raises TargetDown and ConfigError, with what to do."""
    http = Http(connection_of(server), _ONCE)
    try:
        answer = http.get("system/version")
        # The version is open to all; a list is not.
        http.get("services/databaseServices", {"limit": 1})
    except RetryableError as error:
        raise TargetDown(str(error)) from None
    finally:
        http.close()
    if not isinstance(answer, dict) or "version" not in answer:
        raise TargetDown(f"{server.url} does not answer as an OpenMetadata: is hostPort right?")
    return str(answer["version"])
