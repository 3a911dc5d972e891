"""What a text of SQL reads and makes, beside what the catalog knows of it; nothing of the text is run or kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from sqlalchemy import Connection

from connectors.catalog.answer.pages import Answer, NumberedTexts, Row, fact
from connectors.catalog.answer.writing import Name, quoted_text, visible_text
from connectors.catalog.questions.file import entities_named, near_name
from connectors.catalog.questions.lineage import how_text
from connectors.catalog.store.database import loads
from connectors.catalog.store.entities import columns as columns_of
from ingestion.model import fqn
from ingestion.model.lineage import Problem, TableName
from ingestion.model.outcomes import ProblemKind
from ingestion.parser import LineageParser, problem_text

_SECONDS = 10.0
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class _Known:
    """Tables of the text that are exactly one of the catalog's: its full name and columns; of the others, why not."""

    names: dict[TableName, str]
    columns: dict[TableName, dict[str, str]]
    unknown: dict[TableName, str]


def parse_sql(connection: Connection, text: str, dialect: str) -> Answer:
    """Tables read and written, each with its name in the catalog, then the edges of columns, then what is unresolved.

    Raises ConfigError for an unknown `dialect`, and RecordError, without a literal, for a text that nothing can read.
    """
    first = LineageParser(text, dialect, timeout_seconds=_SECONDS)
    known = _known_tables(connection, (*first.source_tables, *first.intermediate_tables, *first.target_tables))
    schema = {str(table): columns for table, columns in known.columns.items()}
    parser = LineageParser(text, dialect, schema, _SECONDS) if schema else first
    texts = NumberedTexts()
    rows = [
        *(_table_row("reads", table, known) for table in parser.source_tables),
        *(_table_row("makes and reads", table, known) for table in parser.intermediate_tables),
        *(_table_row("writes", table, known) for table in parser.target_tables),
        *_edge_rows(parser, known, texts),
        *(_problem_row(problem, known) for problem in dict.fromkeys(parser.problems)),
        *(Row((f"not read: {visible_text(failure)}",), ("not read", failure)) for failure in parser.failures),
    ]
    unresolved = len(set(parser.problems))
    facts = (
        fact(
            f"{len(parser.source_tables)} tables read, {len(parser.target_tables)} written, {len(parser.edges)} edges"
        ),
        fact(
            f"{len(known.unknown)} tables are not in the catalog, {unresolved} names unresolved, "
            f"{len(parser.failures)} statements not read"
        ),
    )
    return Answer("rows", facts, (*rows, *texts.rows()))


def _known_tables(connection: Connection, tables: tuple[TableName, ...]) -> _Known:
    known = _Known({}, {}, {})
    for table in dict.fromkeys(tables):
        found = entities_named(connection, ".".join(fqn.quote(part) for part in table.parts))
        if len(found) == 1:
            known.names[table] = found[0].fqn
            columns = columns_of.of_document(loads(found[0].document))
            known.columns[table] = {one["name"]: str(one.get("dataTypeDisplay") or one["dataType"]) for one in columns}
        elif found:
            some = ", ".join(row.fqn for row in found[:_MOST_NAMED])
            known.unknown[table] = f"may be one of {len(found)}: {some}"
        else:
            known.unknown[table] = f"not in the catalog{near_name(connection, table.dotted)}"
    return known


def _table_row(role: str, table: TableName, known: _Known) -> Row:
    if table in known.names:
        return Row((f"{role} ", Name(known.names[table])), (role, Name(known.names[table]), ""))
    why = visible_text(known.unknown.get(table, ""))
    return Row((f"{role} ", Name(str(table)), f" ({why})"), (role, Name(str(table)), why))


def _edge_rows(parser: LineageParser, known: _Known, texts: NumberedTexts) -> Iterator[Row]:
    for edge in parser.edges:
        source = f"{known.names.get(edge.source.table, edge.source.table)}.{edge.source.column}"
        table = edge.target.table
        target = edge.target.column if table is None else f"{known.names.get(table, table)}.{edge.target.column}"
        how = how_text(edge.type, edge.subtype, masking=edge.masking, certain=edge.certain)
        expression = texts.expression(edge.expression)
        shown = f" {expression}" if expression else ""
        yield Row(
            (Name(target), " <- ", Name(source), f" [{how}]{shown}"),
            ("edge", Name(target), Name(source), how, expression),
        )


def _problem_row(problem: Problem, known: _Known) -> Row:
    near: list[str] = []
    if problem.kind is ProblemKind.UNKNOWN_COLUMN:
        columns = {f"{known.names[table]}.{name}": name for table, found in known.columns.items() for name in found}
        wanted = problem.subject.rpartition(".")[2].casefold()
        close = get_close_matches(wanted, {name.casefold() for name in columns.values()}, 1)
        near = [full for full, name in columns.items() if close and name.casefold() == close[0]][:_MOST_NAMED]
    hint = f"; did you mean {', '.join(near)}?" if near else ""
    shown = f"{quoted_text(problem_text(problem))}{visible_text(hint)}"
    return Row((f"unresolved {shown}",), ("unresolved", problem_text(problem), ", ".join(near)))
