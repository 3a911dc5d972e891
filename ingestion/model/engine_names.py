"""Where names of an engine over many sources belong: rules from its catalogs, JDBC URLs and paths to services."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from ingestion.model.storage_paths import canonical_path

# JDBC URLs: which database they lead to, without user, password or other parameters.

_TWO_LEVEL = frozenset({"mysql", "mariadb", "clickhouse", "hive2"})
"""JDBC's names of platforms without schemas below databases: their database stands where others have a schema."""

_SUB_PROTOCOL = re.compile(r"^(?:jdbc:)?([a-z][a-z0-9+]*):", re.IGNORECASE)
_SERVER = re.compile(
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
    server = _SERVER.match(address.rpartition("@")[2])
    if server is None:
        return None
    named = _DATABASE_PARAMETER.search(rest)
    port, database = server.group("port"), named.group(1) if named else server.group("database") or ""
    return JdbcUrl(kind, server.group("host"), int(port) if port else None, database)


def _is_host(written: str, match: re.Match[str]) -> bool:
    """Whether what looks like a kind is a host before its port."""
    return not written.lower().startswith("jdbc:") and written[match.end() : match.end() + 1].isdigit()


# Where names of an engine over many sources belong: rules from its catalogs, JDBC URLs and paths to services.

Parts = tuple[str, ...]
"""Names from the outside in: of a service, a database, a schema, a table."""

DATABASE, SCHEMA = 2, 3
"""How many parts name a database, a schema."""

_SCHEME_ALONE = re.compile(r"^[a-z][a-z0-9+.-]*:(?://)?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class JdbcRule:
    """Tables at `url` (None: at any) whose names match one of the patterns in `tables` (none: all) belong to `to`."""

    to: Parts
    url: JdbcUrl | None = None
    tables: tuple[str, ...] = ()

    def covers(self, name: Parts, url: JdbcUrl | None) -> bool:
        """Whether it speaks of the table; where its URL is not known, only a rule that asks for none does."""
        if self.url is not None and (url is None or not self.url.leads_to(url)):
            return False
        dotted = ".".join(name).casefold()
        return not self.tables or any(fnmatchcase(dotted, pattern.casefold()) for pattern in self.tables)


@dataclass(frozen=True, slots=True)
class PathRule:
    """What lies below `prefix` belongs to `to`: a storage service alone, or a database, where folders are tables.

    Below a schema's prefix each folder is a table, below a database's each is a schema with its tables.
    """

    prefix: str
    to: Parts

    @classmethod
    def of(cls, prefix: str, to: Parts) -> PathRule:
        """The rule for a prefix as people write it: `s3a://bucket/raw`, `/data/in`, or a scheme alone."""
        if _SCHEME_ALONE.match(prefix):
            return cls(canonical_path(prefix.rstrip("/:") + "://x")[:-1], to)
        written = f"file:{prefix}" if prefix.startswith("/") else re.sub(r"^file:/+", "file:/", prefix)
        return cls(canonical_path(written).rstrip("/") + "/", to)

    def below(self, path: str) -> str | None:
        """The rest of a canonical path behind the prefix; None where it lies elsewhere."""
        return f"{path}/"[len(self.prefix) :].rstrip("/") if f"{path}/".startswith(self.prefix) else None


@dataclass(frozen=True, slots=True)
class EngineNameRules:
    """The rules. `catalogs` has the first parts of a name and what stands for them; the longest wins.

    `service` is the source's own: names that belong to it carry no service. `any_service`: a name of four parts begins
    with its service, whether a rule speaks of that or not.
    """

    catalogs: Mapping[Parts, Parts] = field(default_factory=dict)
    jdbc: tuple[JdbcRule, ...] = ()
    paths: tuple[PathRule, ...] = ()
    service: str = ""
    any_service: bool = False

    def table(self, name: Parts) -> Parts | None:
        """The place of a table by its catalog, namespaces and own name; None without a rule for it."""
        for length in range(len(name) - 1, 0, -1):
            to = self.catalogs.get(name[:length])
            if to is None or (len(to) == SCHEMA and length < len(name) - 1):
                continue
            namespace = ".".join(name[length:-1]) or name[length - 1]
            return self._levels_of(to, (name[0], namespace, name[-1]))
        return None

    def over_jdbc(self, name: Parts, url: JdbcUrl | None) -> Parts | None:
        """The place of a table by its JDBC name: what the name and the URL leave out is the first fitting rule's."""
        rule = next((rule for rule in self.jdbc if rule.covers(name, url)), None)
        if rule is None:
            return None
        database, schema, table = ("", "", *name)[-3:]
        to_database, to_schema = (*rule.to, "", "")[1:SCHEMA]
        of_url = url.database if url is not None else ""
        if url is not None and url.kind in _TWO_LEVEL:
            return self._own((rule.to[0], database or to_database, schema or to_schema or of_url, table))
        return self._own((rule.to[0], database or to_database or of_url, schema or to_schema, table))

    def file_table(self, path: str) -> Parts | None:
        """The table whose files lie at a canonical path; None where they are no table of a database."""
        rule = self._rule_of(path)
        below = rule.below(path) if rule is not None else None
        if rule is None or not below or len(rule.to) < DATABASE:
            return None
        folders = below.split("/")
        if len(rule.to) == SCHEMA:
            return self._levels_of(rule.to, ("", "", folders[0]))
        return self._levels_of(rule.to, ("", folders[0].removesuffix(".db"), folders[1])) if len(folders) > 1 else None

    def storage_of(self, path: str) -> str | None:
        """The storage service that a canonical path belongs to; None without a rule for it."""
        rule = self._rule_of(path)
        return rule.to[0] if rule is not None and len(rule.to) == 1 else None

    @property
    def services(self) -> frozenset[str]:
        """The database services besides the source's own."""
        to = [*self.catalogs.values(), *(rule.to for rule in self.jdbc)]
        to += [rule.to for rule in self.paths if len(rule.to) > 1]
        return frozenset(parts[0] for parts in to) - {self.service}

    def names_service(self, part: str) -> bool:
        """Whether the first of four parts is the name of a service."""
        return bool(part) and (self.any_service or part in self.services)

    def _rule_of(self, path: str) -> PathRule | None:
        found = [rule for rule in self.paths if rule.below(path) is not None]
        return max(found, key=lambda rule: len(rule.prefix), default=None)

    def _levels_of(self, to: Parts, name: Parts) -> Parts:
        """The levels that `to` names, and those of (database, schema, table) that it does not."""
        return self._own((*to, *name[len(to) - 1 :]))

    def _own(self, parts: Parts) -> Parts:
        return parts[1:] if parts[0] == self.service else parts
