"""JDBC URLs: which database they lead to, without user, password or other parameters."""

from __future__ import annotations

import re
from dataclasses import dataclass

TWO_LEVEL = frozenset({"mysql", "mariadb", "clickhouse", "hive2"})
"""JDBC's names of platforms without schemas below databases: their database stands where others have a schema."""

_SUB_PROTOCOL = re.compile(r"^(?:jdbc:)?([a-z][a-z0-9+]*):", re.IGNORECASE)
_PLACE = re.compile(
    r"^(?://)?(?P<host>\[[0-9A-Fa-f:.]+\]|[\w.-]+)(?:\\[\w$]+)?(?::(?P<port>\d+))?(?:,[^/]*)?(?:[/:](?P<database>[^/:@]*))?/?$"
)
_DATABASE_PARAMETER = re.compile(r"[;?&](?:database|databaseName)=([^;&]+)", re.IGNORECASE)
_EMBEDDED = frozenset({"derby", "h2", "sqlite", "hsqldb", "duckdb"})
_ORACLE_DRIVER = re.compile(r"^(?:thin|oci\d?):", re.IGNORECASE)
_PARAMETERS = re.compile(r"[;?&]")


@dataclass(frozen=True, slots=True)
class JdbcUrl:
    """The place that a JDBC URL names: `kind` is its sub-protocol (postgresql); "" and None for what it leaves out."""

    kind: str
    host: str
    port: int | None = None
    database: str = ""

    def leads_to(self, other: JdbcUrl) -> bool:
        """Whether `other` is a place of this one, which may leave out its kind, its port and its database."""
        return (
            self.host.casefold() == other.host.casefold()
            and self.kind in ("", other.kind)
            and self.port in (None, other.port)
            and self.database.casefold() in ("", other.database.casefold())
        )


def jdbc_url(written: str) -> JdbcUrl | None:
    """The place that a URL names, with or without `jdbc:` and its kind; None where that cannot be told."""
    match = _SUB_PROTOCOL.match(written)
    if match is None or _is_host(written, match):
        kind, rest = "", written
    else:
        kind, rest = match.group(1).lower(), _ORACLE_DRIVER.sub("", written[match.end() :])
    address, *parameters = _PARAMETERS.split(rest)
    if kind in _EMBEDDED:
        return JdbcUrl(kind, "", None, address)
    if any("@" in parameter.partition("=")[0] for parameter in parameters):
        return None  # a password cut in two
    place = _PLACE.match(address.rpartition("@")[2])
    if place is None:
        return None
    named = _DATABASE_PARAMETER.search(rest)
    port, database = place.group("port"), named.group(1) if named else place.group("database") or ""
    return JdbcUrl(kind, place.group("host"), int(port) if port else None, database)


def _is_host(written: str, match: re.Match[str]) -> bool:
    """Whether what looks like a kind is a host before its port."""
    return not written.lower().startswith("jdbc:") and written[match.end() : match.end() + 1].isdigit()
