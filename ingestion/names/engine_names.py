"""Where names of an engine over many sources belong: rules from its catalogs, JDBC URLs and paths to services."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from ingestion.names.jdbc_urls import TWO_LEVEL, JdbcUrl
from ingestion.names.storage_paths import canonical_path

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

    `service` is the source's own: names that belong to it carry no service.
    """

    catalogs: Mapping[Parts, Parts] = field(default_factory=dict)
    jdbc: tuple[JdbcRule, ...] = ()
    paths: tuple[PathRule, ...] = ()
    service: str = ""

    def table(self, name: Parts) -> Parts | None:
        """The place of a table by its catalog, namespaces and own name; None without a rule for it."""
        for length in range(len(name) - 1, 0, -1):
            to = self.catalogs.get(name[:length])
            if to is None or (len(to) == SCHEMA and length < len(name) - 1):
                continue
            namespace = ".".join(name[length:-1]) or name[length - 1]
            return self._place(to, (name[0], namespace, name[-1]))
        return None

    def over_jdbc(self, name: Parts, url: JdbcUrl | None) -> Parts | None:
        """The place of a table by its JDBC name: what the name and the URL leave out is the first fitting rule's."""
        rule = next((rule for rule in self.jdbc if rule.covers(name, url)), None)
        if rule is None:
            return None
        database, schema, table = ("", "", *name)[-3:]
        to_database, to_schema = (*rule.to, "", "")[1:SCHEMA]
        of_url = url.database if url is not None else ""
        if url is not None and url.kind in TWO_LEVEL:
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
            return self._place(rule.to, ("", "", folders[0]))
        return self._place(rule.to, ("", folders[0].removesuffix(".db"), folders[1])) if len(folders) > 1 else None

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

    def _rule_of(self, path: str) -> PathRule | None:
        found = [rule for rule in self.paths if rule.below(path) is not None]
        return max(found, key=lambda rule: len(rule.prefix), default=None)

    def _place(self, to: Parts, name: Parts) -> Parts:
        """The levels that `to` names, and those of (database, schema, table) that it does not."""
        return self._own((*to, *name[len(to) - 1 :]))

    def _own(self, parts: Parts) -> Parts:
        return parts[1:] if parts[0] == self.service else parts
