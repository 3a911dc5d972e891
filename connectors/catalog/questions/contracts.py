"""What changes do to what contracts promise: of a column, its type, its nulls, the primary key, the rules on it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from connectors.catalog.questions.tables import CatalogTable, LocalTables
from connectors.odcs.contract import Contract, ContractColumn, Contracts, ContractTable
from connectors.odcs.logical_types import logical_type
from connectors.odcs.reading import read_contracts
from ingestion.arguments import listing
from ingestion.dialects.types import standard_type
from ingestion.model import fqn
from ingestion.model.lineage import Json

_MOST_NAMED = 3


class Promise(StrEnum):
    """What of a contract a change breaks."""

    TABLE = "table"
    COLUMN = "column"
    TYPE = "type"
    NULLS = "nullability"
    KEY = "primary key"
    RULE = "quality rule"


class Happening(StrEnum):
    """What a change does to a table or a column."""

    GONE = "gone"
    RETYPED = "retyped"
    NULLABLE = "nullable"
    KEYLESS = "keyless"


@dataclass(frozen=True, slots=True)
class ChangedName:
    """A table, or by its full name a column, to which something happens; `certain` False: it may.

    `type` is the new one of a column that is retyped, "" where it is not known. `why` tells it to people.
    """

    name: str
    happening: Happening
    why: str
    certain: bool = True
    type: str = ""


@dataclass(frozen=True, slots=True)
class ContractBreak:
    """A promise that a change breaks, or (`certain` False) may break, with the contract, its owners, file and line."""

    contract: str
    version: str
    status: str
    owners: tuple[str, ...]
    file: str
    line: int
    promise: Promise
    name: str
    why: str
    certain: bool
    binding: bool
    rule: str = ""

    @property
    def breaks(self) -> bool:
        """Whether that is sure, and somebody has agreed to the contract."""
        return self.certain and self.binding

    @property
    def location(self) -> str:
        return f"{self.file}:{self.line}"

    def to_json(self) -> Json:
        """The same as JSON."""
        written: Json = {
            "contract": self.contract,
            "version": self.version,
            "status": self.status,
            "owners": list(self.owners),
            "file": self.file,
            "line": self.line,
            "promise": str(self.promise),
            "name": self.name,
            "why": self.why,
            "certain": self.certain,
            "breaking": self.breaks,
        }
        return written | ({"rule": self.rule} if self.rule else {})


@dataclass(frozen=True, slots=True)
class PromisedName:
    """A table or a column by its full name that a contract promises."""

    name: str
    contract: str
    owners: tuple[str, ...]
    location: str

    def to_json(self) -> Json:
        """The same as JSON."""
        return {
            "name": self.name,
            "contract": self.contract,
            "owners": list(self.owners),
            "location": self.location,
        }


def _promised_name(name: str, contract: Contract, line: int) -> PromisedName:
    called = f"{contract.name} {contract.version}".strip()
    return PromisedName(name, called, contract.owners, f"{contract.file}:{line}")


@dataclass(frozen=True, slots=True)
class ContractReport:
    """What a change does to contracts: `breaks`, the surest first; `tables` of the catalog are under some contract.

    `unread` are files that could not be read, `notes` what of contracts is not about this catalog, or not for certain.
    """

    breaks: tuple[ContractBreak, ...] = ()
    tables: int = 0
    unread: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def breaking(self) -> bool:
        return any(one.breaks for one in self.breaks)

    @property
    def complete(self) -> bool:
        """Whether all contracts were read, and what becomes of each promise is known."""
        return not self.unread and not any(one.binding and not one.certain for one in self.breaks)

    def to_json(self) -> Json:
        """The same as JSON."""
        return {
            "breaking": self.breaking,
            "complete": self.complete,
            "tables": self.tables,
            "breaks": [one.to_json() for one in self.breaks],
            "unread": list(self.unread),
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class _Held:
    """A table of the catalog that a contract is about."""

    contract: Contract
    table: ContractTable
    fqn: str
    known: CatalogTable
    columns: dict[str, ContractColumn] = field(default_factory=dict)

    def column_name(self, column: ContractColumn) -> str:
        """The full name of a column, as the catalog has it where it does."""
        known = self.known.column(column.path[0])
        first = known.path if known is not None else fqn.quote(fqn.encode_name(column.path[0]))
        return ".".join((self.fqn, first, *(fqn.quote(fqn.encode_name(part)) for part in column.path[1:])))


class BoundContracts:
    """The contracts of a file or a folder, and the tables of a catalog that they are about."""

    def __init__(self, contracts: Contracts, tables: LocalTables) -> None:
        self._contracts = contracts
        self._by_table: defaultdict[str, list[_Held]] = defaultdict(list)
        self._not_there: list[tuple[Contract, ContractTable]] = []
        self._notes: list[str] = list(contracts.others)
        self._doubts: defaultdict[str, list[str]] = defaultdict(list)
        for contract in contracts.contracts:
            for table in contract.tables:
                self._bind(contract, table, tables)

    @classmethod
    def of(cls, path: Path, tables: LocalTables) -> BoundContracts:
        """Those of a path. Raises ConfigError where there is no contract to read."""
        return cls(read_contracts(path), tables)

    def _bind(self, contract: Contract, table: ContractTable, tables: LocalTables) -> None:
        where = f"{contract.file}:{table.line}: {'.'.join(table.parts)}"
        if not table.is_table:
            self._notes.append(f"{where} is a {table.kind.lower()}, and no table")
            return
        found = _table_of(contract, table, tables)
        if len(found) != 1:
            names = listing([one.fqn for one in found[:_MOST_NAMED]])
            self._notes.append(f"{where} may be {names}" if found else f"{where} is not in this catalog")
            if not found:
                self._not_there.append((contract, table))
            for one in found:
                self._doubts[one.fqn.casefold()].append(self._notes[-1])
            return
        held = _Held(contract, table, found[0].fqn, found[0])
        held.columns.update({held.column_name(one).casefold(): one for one in table.columns})
        self._by_table[found[0].fqn.casefold()].append(held)
        if found[0].complete:
            missing = [one.name for one in table.columns if found[0].column(one.path[0]) is None]
            if missing:
                self._notes.append(f"{where}: {found[0].fqn} has no column {listing(missing)}")

    @property
    def unread(self) -> tuple[str, ...]:
        """The files that could not be read, each with the reason."""
        return self._contracts.unread

    def report(self, changes: Iterable[ChangedName]) -> ContractReport:
        """What changes do to the promises, each told once: the surest of what happens to it."""
        found: dict[tuple[object, ...], ContractBreak] = {}
        for change in sorted(changes, key=lambda one: not one.certain):
            for one in self._breaks(change):
                found.setdefault((one.file, one.line, one.promise, one.name, one.rule), one)
        ordered = sorted(found.values(), key=lambda one: (not one.breaks, not one.certain, one.file, one.line))
        tables = len(self._by_table)
        return ContractReport(tuple(ordered), tables, self.unread, tuple(self._notes))

    def promised_names(self, names: Iterable[str]) -> Iterator[PromisedName]:
        """Of tables and columns by their full names those that contracts promise."""
        for name in names:
            for held in self._by_table.get(name.casefold(), ()):
                yield _promised_name(name, held.contract, held.table.line)
            for held, column in self._columns(name):
                yield _promised_name(name, held.contract, column.line)

    def doubts(self, tables: Iterable[str]) -> Iterator[str]:
        """Which contracts may be about these tables by their full names, each told once."""
        yield from dict.fromkeys(note for name in tables for note in self._doubts.get(name.casefold(), ()))

    def _columns(self, name: str) -> Iterator[tuple[_Held, ContractColumn]]:
        folded = name.casefold()
        for several in self._by_table.values():
            for held in several:
                column = held.columns.get(folded) if folded.startswith(f"{held.fqn.casefold()}.") else None
                if column is not None:
                    yield held, column

    def _breaks(self, change: ChangedName) -> Iterator[ContractBreak]:
        for held in self._by_table.get(change.name.casefold(), ()):
            if change.happening is Happening.GONE:
                yield _break(held.contract, change, Promise.TABLE, held.table.line)
            elif change.happening is Happening.KEYLESS:
                keys = [one for one in held.table.columns if one.primary_key]
                yield from (_break(held.contract, change, Promise.KEY, one.line) for one in keys[:1])
        for contract, table in self._not_there:  # it went with the change
            if change.happening is Happening.GONE and _is_called(change.name, contract, table):
                yield _break(contract, change, Promise.TABLE, table.line)
        for held, column in self._columns(change.name):
            yield from _column_breaks(held, column, change)


def _table_of(contract: Contract, table: ContractTable, tables: LocalTables) -> tuple[CatalogTable, ...]:
    """The tables that are meant, by as much of the name as is known: where the servers are, else wherever it is."""
    homes = [home for home in contract.homes if home]
    for depth in (2, 1, 0):
        for home in homes if depth else [()]:
            parts = (*home[len(home) - depth :], *table.parts) if depth <= len(home) else ()
            found = tables.tables_named(parts) if parts else ()
            if found:
                return found
    return ()


def _is_called(name: str, contract: Contract, table: ContractTable) -> bool:
    """Whether a full name is that of a contract's table, in one of the homes that the contract has."""
    parts = [fqn.decode_name(part).casefold() for part in fqn.split(name)]
    own = [part.casefold() for part in table.parts]
    above = parts[: -len(own)]
    homes = [[part.casefold() for part in home] for home in contract.homes if home]
    return parts[-len(own) :] == own and (not homes or any(above[-1:] == home[-1:] for home in homes))


def _column_breaks(held: _Held, column: ContractColumn, change: ChangedName) -> Iterator[ContractBreak]:
    if change.happening is Happening.GONE:
        yield _break(held.contract, change, Promise.COLUMN, column.line)
        if column.primary_key:
            yield _break(held.contract, change, Promise.KEY, column.line)
        yield from _rules_on(held, column, change)
    elif change.happening is Happening.RETYPED:
        fits = _fits(column, change.type)
        if fits is not True:
            sure = change if fits is False and change.certain else _in_doubt(change)
            yield _break(held.contract, sure, Promise.TYPE, column.line)
    elif change.happening is Happening.NULLABLE:
        if column.required or column.primary_key:
            yield _break(held.contract, change, Promise.NULLS, column.line)
        for rule in column.rules:
            if rule.no_nulls:  # nulls may come now, and none need
                yield _break(held.contract, _in_doubt(change), Promise.RULE, rule.line, rule.name)


def _rules_on(held: _Held, column: ContractColumn, change: ChangedName) -> Iterator[ContractBreak]:
    """The rules on a column, and the queries on its table that name it."""
    for rule in column.rules:
        yield _break(held.contract, change, Promise.RULE, rule.line, rule.name)
    word = re.compile(rf"(?<![\w$]){re.escape(column.path[-1])}(?![\w$])", re.IGNORECASE)
    others = (rule for one in held.table.columns if one is not column for rule in one.rules)
    for rule in (*held.table.rules, *others):
        if rule.query and word.search(rule.query):
            yield _break(held.contract, change, Promise.RULE, rule.line, rule.name)


def _break(contract: Contract, change: ChangedName, promise: Promise, line: int, rule: str = "") -> ContractBreak:
    return ContractBreak(
        contract.name,
        contract.version,
        contract.status,
        contract.owners,
        contract.file,
        line,
        promise,
        change.name,
        change.why,
        change.certain,
        contract.is_binding,
        rule,
    )


def _in_doubt(change: ChangedName) -> ChangedName:
    return ChangedName(change.name, change.happening, change.why, certain=False, type=change.type)


def _fits(column: ContractColumn, to: str) -> bool | None:
    """Whether a type is the one that is promised, None where that is not known; True where none is promised."""
    if not (column.physical_type or column.logical_type):
        return True
    if column.physical_type:
        promised, new = standard_type(column.physical_type), standard_type(to)
        if to and column.physical_type.casefold() == to.casefold():
            return True
        return promised == new if promised and new else None
    new_kind = logical_type(to)
    if not new_kind:
        return None
    return new_kind == column.logical_type or (column.logical_type, new_kind) == ("number", "integer")
