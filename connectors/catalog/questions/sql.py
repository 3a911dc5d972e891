"""What a text of SQL reads and makes, beside what the catalog knows of it; nothing of the text is run or kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from sqlalchemy import Connection

from connectors.catalog.questions.answer import Answer
from connectors.catalog.questions.file import entities_named, near_name
from connectors.catalog.store.database import loads
from connectors.catalog.store.entities import columns as columns_of
from ingestion.arguments import candidates_text
from ingestion.errors import ConfigError
from ingestion.model import fqn
from ingestion.model.lineage import Problem, TableName
from ingestion.model.outcomes import ProblemKind
from ingestion.parser import ColumnEdge, LineageParser, problem_text
from ingestion.statements import split

PARSER_SECONDS = 10.0
"""For each statement: who asks for an answer waits for it."""
_MOST_NEAR = 3


@dataclass(frozen=True, slots=True)
class ReadTable:
    """A table of the text: its name in the catalog, or as the text has it and why it is none of the catalog's."""

    role: str
    name: str
    unknown: str = ""


@dataclass(frozen=True, slots=True)
class ReadEdge:
    """A column edge of the text, by the names that the catalog has for its tables."""

    target: str
    source: str
    made: ColumnEdge


@dataclass(frozen=True, slots=True)
class UnresolvedName:
    """A name that is not known or not for certain, and columns of the catalog that are called nearly so."""

    problem: str
    near: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SqlReading:
    """What a text reads, makes and writes, column by column; `failures` are the statements that nothing can read."""

    tables: tuple[ReadTable, ...]
    edges: tuple[ReadEdge, ...]
    unresolved: tuple[UnresolvedName, ...]
    failures: tuple[str, ...]

    def count(self, role: str) -> int:
        """How many tables have a role."""
        return sum(table.role == role for table in self.tables)


@dataclass(frozen=True, slots=True)
class _Known:
    """Tables of the text that are exactly one of the catalog's: its full name and columns; of the others, why not."""

    names: dict[TableName, str]
    columns: dict[TableName, dict[str, str]]
    unknown: dict[TableName, str]


def parse_sql(connection: Connection, text: str, dialect: str) -> Answer[SqlReading]:
    """Tables read and written, each with its name in the catalog, then the edges of columns, then what is unresolved.

    Raises ConfigError for an unknown `dialect` and for a text without a statement, and RecordError, without a literal,
    for a text that nothing can read.
    """
    if not split(text, dialect):
        raise ConfigError("there is no statement in the text")
    first = LineageParser(text, dialect, timeout_seconds=PARSER_SECONDS)
    known = _known_tables(connection, (*first.source_tables, *first.intermediate_tables, *first.target_tables))
    schema = {table.dotted: columns for table, columns in known.columns.items()}
    parser = LineageParser(text, dialect, schema, PARSER_SECONDS) if schema else first
    tables = (
        *(_table("reads", table, known) for table in parser.source_tables),
        *(_table("makes and reads", table, known) for table in parser.intermediate_tables),
        *(_table("writes", table, known) for table in parser.target_tables),
    )
    unresolved = tuple(_unresolved_name(problem, known) for problem in dict.fromkeys(parser.problems))
    return Answer(
        SqlReading(tables, tuple(_edges(parser, known)), unresolved, (*parser.failures, *parser.unread_calls))
    )


def _known_tables(connection: Connection, tables: tuple[TableName, ...]) -> _Known:
    known = _Known({}, {}, {})
    for table in dict.fromkeys(tables):
        found = entities_named(connection, ".".join(fqn.quote(fqn.encode_name(part)) for part in table.parts))
        if len(found) == 1:
            known.names[table] = found[0].fqn
            columns = columns_of.of_document(loads(found[0].document))
            known.columns[table] = {one["name"]: str(one.get("dataTypeDisplay") or one["dataType"]) for one in columns}
        elif found:
            known.unknown[table] = candidates_text([row.fqn for row in found])
        else:
            known.unknown[table] = f"not in the catalog{near_name(connection, table.dotted)}"
    return known


def _table(role: str, table: TableName, known: _Known) -> ReadTable:
    if table in known.names:
        return ReadTable(role, known.names[table])
    return ReadTable(role, str(table), known.unknown.get(table, ""))


def _edges(parser: LineageParser, known: _Known) -> Iterator[ReadEdge]:
    for edge in parser.edges:
        source = f"{known.names.get(edge.source.table, edge.source.table)}.{edge.source.column}"
        table = edge.target.table
        target = edge.target.column if table is None else f"{known.names.get(table, table)}.{edge.target.column}"
        yield ReadEdge(target, source, edge)


def _unresolved_name(problem: Problem, known: _Known) -> UnresolvedName:
    near: list[str] = []
    if problem.kind is ProblemKind.UNKNOWN_COLUMN:
        columns = {f"{known.names[table]}.{name}": name for table, found in known.columns.items() for name in found}
        wanted = problem.subject.rpartition(".")[2].casefold()
        close = get_close_matches(wanted, {name.casefold() for name in columns.values()}, 1)
        near = [full for full, name in columns.items() if close and name.casefold() == close[0]][:_MOST_NEAR]
    return UnresolvedName(problem_text(problem), tuple(near))
