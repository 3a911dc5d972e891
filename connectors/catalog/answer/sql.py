"""What a text of SQL reads and makes, as language models read it."""

from __future__ import annotations

from connectors.catalog.answer.pages import AnswerRows, NumberedTexts, Row, fact
from connectors.catalog.answer.writing import Name, how_text, quoted_text, visible_text
from connectors.catalog.questions.sql import ReadEdge, ReadTable, SqlReading, UnresolvedName


def sql_rows(found: SqlReading) -> AnswerRows:
    """Tables read and written, then the edges of columns, then what is unresolved or not read."""
    texts = NumberedTexts()
    rows = [
        *map(_table_row, found.tables),
        *(_edge_row(edge, texts) for edge in found.edges),
        *map(_unresolved_row, found.unresolved),
        *(Row((f"not read: {visible_text(failure)}",), ("not read", failure)) for failure in found.failures),
    ]
    unknown = len({table.name for table in found.tables if table.unknown})
    facts = (
        fact(f"{found.count('reads')} tables read, {found.count('writes')} written, {len(found.edges)} edges"),
        fact(
            f"{unknown} tables are not in the catalog, {len(found.unresolved)} names unresolved, "
            f"{len(found.failures)} statements not read"
        ),
    )
    return AnswerRows("rows", facts, (*rows, *texts.rows()))


def _table_row(table: ReadTable) -> Row:
    why = visible_text(table.unknown)
    return Row((f"{table.role} ", Name(table.name), f" ({why})" if why else ""), (table.role, Name(table.name), why))


def _edge_row(edge: ReadEdge, texts: NumberedTexts) -> Row:
    made = edge.made
    how = how_text(made.type, made.subtype, masking=made.masking, certain=made.certain)
    return texts.edge((edge.target, edge.source), how, made.expression)


def _unresolved_row(one: UnresolvedName) -> Row:
    near = ", ".join(one.near)
    hint = visible_text(f"; did you mean {near}?") if near else ""
    return Row((f"unresolved {quoted_text(one.problem)}{hint}",), ("unresolved", one.problem, near))
