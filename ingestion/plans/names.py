"""Names as plans have them, mapped to the names of the catalog that lineage is published to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

from ingestion.model.engine_names import EngineNameRules, JdbcUrl
from ingestion.model.lineage import NameKind, TableName
from ingestion.model.storage_paths import canonical_path

SESSION_CATALOG = "spark_catalog"
JDBC = "jdbc"
"""First part of the name of a table that is read or written over JDBC and for which no rule says whose it is."""

QUALIFIED = 3
_MANAGED = "/spark-warehouse/"
"""The warehouse directory of an application that sets none."""

_DATA_FILE = re.compile(r"/part-\d{5}[^/]*$")
_PARTITIONS = re.compile(r"(?:/[^/=]+=[^/]*)+$")
VERSION = re.compile(r"(?:branch|tag)_.+|(?:at_timestamp|snapshot_id)_\d+", re.DOTALL)
"""The last part of an Iceberg table's name that picks one of its branches or snapshots."""

_QUOTED_NAME = re.compile(r"`((?:[^`]|``)+)`(?:\.(?=`))?")
_URL_USER = re.compile(r"^([a-z][a-z0-9+.-]*://)[^/@]*@", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NameMapping:
    """How plan names become catalog names.

    `rules` are those of the configuration; a name that none speaks of stays as Spark has it. A service is a name's
    first part where four are given. `warehouse` is the application's warehouse directory: a path in it is a table of
    the session catalog; `catalogs` the class of each catalog that the application configured, by which a plan may name
    it, and `urls` where those lead that are databases behind JDBC.
    """

    rules: EngineNameRules = field(default_factory=EngineNameRules)
    warehouse: str = ""
    catalogs: Mapping[str, str] = field(default_factory=dict)
    urls: Mapping[str, JdbcUrl] = field(default_factory=dict)

    def table(self, parts: tuple[str, ...]) -> TableName:
        """The name of a table by its parts; two parts are of Spark's session catalog, as Spark 3.3 prints them."""
        written = ".".join(parts)
        if len(parts) > QUALIFIED and VERSION.fullmatch(parts[-1]) and "iceberg" in self.catalogs.get(parts[0], ""):
            parts = parts[:-1]
        if len(parts) == QUALIFIED - 1:
            parts = (SESSION_CATALOG, *parts)
        placed = self.rules.table(parts)
        if placed is None and parts[0] in self.urls:
            placed = self.rules.over_jdbc(parts[1:], self.urls[parts[0]])
        return TableName(placed or _levels(parts), written)

    def jdbc(self, parts: tuple[str, ...], url: JdbcUrl | None = None) -> TableName:
        """The name of a table behind JDBC; plans seldom tell the URL."""
        placed = self.rules.over_jdbc(parts, url)
        return TableName(placed or _levels((JDBC, *parts)), ".".join(parts))

    def path(self, location: str) -> TableName:
        """The name of a storage location, without user or query; a table's place is the table."""
        cleaned = clean_location(location)
        table = self.rules.file_table(canonical_path(cleaned))
        if table is not None:
            return TableName(table, cleaned)
        managed = self._managed_table(cleaned)
        if managed:
            return self.table((SESSION_CATALOG, *managed))
        return TableName((cleaned,), cleaned, NameKind.PATH)

    def of_class(self, written: str) -> str | None:
        """The catalog that a plan names by its class (`….SparkCatalog@4413e5f8`); None if several have that class."""
        class_name = written.partition("@")[0]
        found = [name for name, each in self.catalogs.items() if each == class_name]
        if len(found) == 1:
            return found[0]
        return SESSION_CATALOG if not found and class_name.endswith(".DeltaCatalog") else None

    def _managed_table(self, location: str) -> tuple[str, str] | None:
        """The table that a warehouse's own directory holds: db.t is in `…/db.db/t`, a table of `default` in `…/t`."""
        warehouse = clean_location(self.warehouse) if self.warehouse else ""
        if warehouse and location.startswith(warehouse + "/"):
            inside = location.removeprefix(warehouse + "/")
        elif _MANAGED in location:
            inside = location.rpartition(_MANAGED)[2]
        else:
            return None
        database, _, table = inside.rpartition("/")
        if database and not database.endswith(".db"):
            return None
        return (database.removesuffix(".db") or "default", table)


def _levels(parts: tuple[str, ...]) -> tuple[str, ...]:
    """A name of at most three levels: namespaces inside each other are one schema, as their names are written."""
    if len(parts) <= QUALIFIED:
        return parts
    return (parts[0], ".".join(parts[1:-1]), parts[-1])


def clean_location(location: str) -> str:
    """A storage path that may leave the process: no user, no signature, one spelling, no partition or part file.

    `dbfs:/x`, `file:///x` and `file:/x` keep Hadoop's one-slash form; a bare path is taken for a local file's.
    """
    cleaned = _URL_USER.sub(r"\1", location.strip()).split("?", 1)[0].rstrip("/")
    cleaned = _PARTITIONS.sub("", _DATA_FILE.sub("", cleaned))
    if cleaned.startswith("/"):
        cleaned = "file:" + cleaned
    if re.match(r"^[a-z]+:///", cleaned):
        cleaned = cleaned.replace(":///", ":/", 1)
    return unquote(cleaned) if "%" in cleaned else cleaned


def quoted_parts(text: str) -> tuple[str, ...]:
    """The parts of a back-quoted name at the start of `text`; none when it does not start with one."""
    parts: list[str] = []
    position = 0
    while match := _QUOTED_NAME.match(text, position):
        parts.append(match.group(1).replace("``", "`"))
        position = match.end()
        if not match.group().endswith("."):
            break
    return tuple(parts)


def plain_parts(text: str) -> tuple[str, ...]:
    """The parts of a dotted name as leaf nodes print it: unquoted, or quoted where it must be."""
    if "`" not in text:
        return tuple(text.split("."))
    return tuple(
        quoted.replace("``", "`") if quoted else bare for quoted, bare in re.findall(r"`((?:[^`]|``)+)`|([^.`]+)", text)
    )
