"""Connecting to PostgreSQL: the keys of OpenMetadata's connection, and errors that say what to do and no secret."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ingestion.errors import ConfigError, TargetDown

if TYPE_CHECKING:
    from psycopg import Connection

CONNECT_SECONDS = 10
STATEMENT_SECONDS = 300
_DEFAULT_PORT = 5432
_WHERE = "source.serviceConnection.config"

# What libpq says of a connection that will not come about however often it is tried.
_REFUSALS = {
    "password authentication failed": f"wrong user name or password: check {_WHERE}.username and authType.password",
    "no password supplied": f"a password is wanted: set {_WHERE}.authType.password",
    "no pg_hba.conf entry": "the server lets nobody in from here: see its pg_hba.conf",
    "does not support SSL": f"the server speaks no TLS: set {_WHERE}.sslMode to disable or prefer",
    "certificate verify failed": f"its certificate is not trusted: set {_WHERE}.sslConfig.caCertificate",
    "role": f"there is no such role: check {_WHERE}.username",
    "database": f"there is no such database: check {_WHERE}.database",
    "could not translate host name": f"there is no such host: check {_WHERE}.hostPort",
    "Name or service not known": f"there is no such host: check {_WHERE}.hostPort",
}


@dataclass(frozen=True, slots=True)
class PostgresOptions:
    """Where a database is and how to get in. A `host` that begins with a slash is the directory of a socket."""

    host: str = "localhost"
    port: int = _DEFAULT_PORT
    database: str = "postgres"
    user: str = "postgres"
    password: str = field(default="", repr=False)
    ssl_mode: str = ""
    ca_certificate: str = ""

    @property
    def address(self) -> str:
        """What an error may call it."""
        return f"PostgreSQL at {self.host}:{self.port}"

    @classmethod
    def of(cls, keys: Mapping[str, Any]) -> PostgresOptions:
        """From the keys of OpenMetadata's Postgres connection; those that it has beside these change nothing here.

        Raises ConfigError.
        """
        host, _colon, port = str(keys.get("hostPort") or "localhost").partition(":")
        if port and not port.isdigit():
            raise ConfigError(f"{_WHERE}.hostPort: expected host:port, as in localhost:5432")
        auth = keys.get("authType")
        password = auth.get("password") if isinstance(auth, Mapping) else None
        tls = keys.get("sslConfig")
        return cls(
            host=host or "localhost",
            port=int(port or _DEFAULT_PORT),
            database=str(keys.get("database") or "postgres"),
            user=str(keys.get("username") or "postgres"),
            password=str(password or keys.get("password") or ""),
            ssl_mode=str(keys.get("sslMode") or ""),
            ca_certificate=str(tls.get("caCertificate") or "") if isinstance(tls, Mapping) else "",
        )


@contextmanager
def connect(options: PostgresOptions) -> Iterator[Connection[tuple[Any, ...]]]:
    """A read-only session that looks for no bare name anywhere, so that the server writes every name in full.

    Raises ConfigError (psycopg is missing, the server lets nobody in) and TargetDown (nobody answers).
    """
    try:
        import psycopg
    except ImportError as error:
        raise ConfigError("a live PostgreSQL is read with psycopg: pip install 'headwater[postgres]'") from error
    try:
        connection = psycopg.connect(**_arguments(options), autocommit=True)
    except psycopg.OperationalError as error:
        failure = _failure(options, str(error))
    else:
        with connection:
            connection.execute("SELECT pg_catalog.set_config('search_path', '', false)")
            connection.execute("SET default_transaction_read_only = on")
            yield connection
        return
    raise failure


def _arguments(options: PostgresOptions) -> dict[str, Any]:
    given: dict[str, Any] = {
        "host": options.host,
        "port": options.port,
        "dbname": options.database,
        "user": options.user,
        "password": options.password,
        "sslmode": options.ssl_mode,
        "sslrootcert": options.ca_certificate,
    }
    return {
        **{key: value for key, value in given.items() if value},
        "connect_timeout": CONNECT_SECONDS,
        "application_name": "headwater",
        "options": f"-c statement_timeout={STATEMENT_SECONDS * 1000}",
    }


def _failure(options: PostgresOptions, message: str) -> ConfigError | TargetDown:
    for part, advice in _REFUSALS.items():
        if part in message and (part not in ("role", "database") or f'{part} "' in message):
            return ConfigError(f"{options.address}: {advice}")
    return TargetDown(f"{options.address} does not answer; is it running, and is {_WHERE}.hostPort right?")
