"""What a contract promises of tables and their columns, with the lines of its file where it does."""

from __future__ import annotations

from dataclasses import dataclass

FIRST_MAJOR = 3
LAST_VERSION = (3, 2)
"""Of the standard: the last whose files are known."""
NEW_VERSION = "v3.1.0"
"""The version in which contracts are written."""
DRAFTS = frozenset({"proposed", "draft"})
ENDED = frozenset({"retired"})
NO_TABLES = frozenset({"topic", "queue", "stream", "file", "document", "message"})
"""What `physicalType` calls that which no database has as a table, whatever its name."""


@dataclass(frozen=True, slots=True)
class QualityRule:
    """A rule on a table or a column: its name or its metric. `query` has the SQL of one that is a query.

    `no_nulls`: it allows none at all.
    """

    name: str
    line: int
    query: str = ""
    no_nulls: bool = False


@dataclass(frozen=True, slots=True)
class ContractColumn:
    """A column by its path in the table, as the database has it; types are "" where the contract names none."""

    path: tuple[str, ...]
    line: int
    physical_type: str = ""
    logical_type: str = ""
    required: bool = False
    primary_key: bool = False
    unique: bool = False
    rules: tuple[QualityRule, ...] = ()

    @property
    def name(self) -> str:
        return ".".join(self.path)


@dataclass(frozen=True, slots=True)
class ContractTable:
    """A table by the parts of its name, as the database has it; `kind` is the contract's word for it, "" for none."""

    parts: tuple[str, ...]
    line: int
    columns: tuple[ContractColumn, ...] = ()
    rules: tuple[QualityRule, ...] = ()
    kind: str = ""

    @property
    def is_table(self) -> bool:
        return self.kind.lower() not in NO_TABLES


@dataclass(frozen=True, slots=True)
class Contract:
    """A contract's file. `homes` are the databases and schemas of its servers, each outermost first."""

    file: str
    name: str
    version: str
    status: str
    owners: tuple[str, ...] = ()
    homes: tuple[tuple[str, ...], ...] = ()
    tables: tuple[ContractTable, ...] = ()

    @property
    def is_binding(self) -> bool:
        """Whether it holds: nobody has agreed to a draft yet."""
        return self.status.lower() not in DRAFTS


@dataclass(frozen=True, slots=True)
class Contracts:
    """The contracts of a file or a folder; `unread` are files that cannot be read as contracts, each with the reason.

    `others` are files of a folder that are no contracts, and contracts that have ended.
    """

    contracts: tuple[Contract, ...]
    unread: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
