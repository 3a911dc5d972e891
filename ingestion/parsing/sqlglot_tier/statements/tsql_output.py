"""Rows beside a statement: T-SQL's OUTPUT gives those that it changes, INSERT … EXEC takes those that a text gives."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from sqlglot.tokenizer_core import Token, TokenType

from ingestion.dialects import Dialect
from ingestion.dialects.definition import keywords
from ingestion.model import Problem, ProblemKind, TableName
from ingestion.parsing.sqlglot_tier.repairs.edits import at_depth_zero, matching, words
from ingestion.relational.form import (
    CommonTable,
    Projection,
    Query,
    RelationalStatement,
    RelationSource,
    Select,
    Slot,
    Star,
    WriteForm,
)
from ingestion.relational.slots import all_slots

CHANGED_ROWS = "changed rows"
_CHANGES = keywords("INSERT UPDATE DELETE MERGE")
_STATEMENTS = keywords("INSERT UPDATE DELETE MERGE WITH")
_CHANGED_ROWS = keywords("INSERTED DELETED $ACTION")
_AFTER_FILE = keywords("FROM UNION")
_WORD = re.compile(r"\b(?:output|exec(?:ute)?)\b", re.IGNORECASE)
_AFTER = keywords("FROM WHERE SELECT VALUES EXEC EXECUTE WITH OPTION DEFAULT OUTPUT ;")


def has_rows_beside(text: str, dialect: Dialect) -> bool:
    """Whether it is worth looking for the clause, or for an execution."""
    return dialect.output_clause and _WORD.search(text) is not None


def without_output(text: str, tokens: list[Token]) -> tuple[str, str] | None:
    """The statement without the first of its OUTPUT clauses, and an INSERT of what it gives INTO a table ("" if none).

    `tokens` are those of the text; None where there is no such clause.
    """
    if not tokens or tokens[0].text.upper() not in _STATEMENTS:
        return None
    clause = _clause(tokens)
    if clause is None:
        return None
    first, last = clause
    into = next((n for n in at_depth_zero(tokens, first + 1) if n <= last and tokens[n].text.upper() == "INTO"), None)
    columns = tokens[first + 1 : into if into is not None else last + 1]
    if not columns or (into is None and not any(token.text.upper() in _CHANGED_ROWS for token in columns)):
        return None
    if into is not None and into < last:
        last = _end_of_target(tokens, into + 1)
    plain = text[: tokens[first].start] + text[tokens[last].end + 1 :]
    if into is None:
        return plain, ""
    target = text[tokens[into + 1].start : tokens[last].end + 1]
    return plain, f"INSERT INTO {target} SELECT {''.join(_texts(text, columns))}"


def _clause(tokens: list[Token]) -> tuple[int, int] | None:
    """The first and the last token of the first OUTPUT clause, without the table behind its INTO."""
    clauses = (n for n in at_depth_zero(tokens, 1) if tokens[n].text.upper() == "OUTPUT")
    first = next((n for n in clauses if n + 1 < len(tokens) and tokens[n + 1].text not in ("=", ",", ".")), None)
    if first is None:
        return None
    ends = (n for n in at_depth_zero(tokens, first + 1) if tokens[n].text.upper() in _AFTER)
    return first, next(ends, len(tokens)) - 1


def nested_change(text: str, tokens: list[Token]) -> tuple[str, str] | None:
    """INSERT … SELECT … FROM (DELETE … OUTPUT …) x as an INSERT from the changed rows, and the change that keeps them.

    `tokens` are those of the text; None where it has no such rows.
    """
    for opening in range(2, len(tokens) - 2):
        if tokens[opening].text != "(" or tokens[opening + 1].text.upper() not in _CHANGES:
            continue
        closing = matching(tokens, opening)
        inner = tokens[opening + 1 : closing]
        clause = _clause(inner)
        if clause is not None:
            start, kept = inner[0].start, inner[clause[1]].end + 1
            change = f"{text[start:kept]} INTO [{CHANGED_ROWS}] {text[kept : tokens[closing].start]}"
            return f"{text[: tokens[opening].start]}[{CHANGED_ROWS}]{text[tokens[closing].end + 1 :]}", change
    return None


def with_changed_rows(statement: RelationalStatement, change: RelationalStatement) -> RelationalStatement:
    """The statement over the rows that the change gives, and the change itself."""
    rows = next((write.query for write in change.writes if _keeps_rows(write)), None)
    writes = tuple(write for write in change.writes if not _keeps_rows(write))
    writes += tuple(
        replace(write, query=_over(write.query, rows)) if isinstance(write.query, Select) else write
        for write in statement.writes
    )
    problems = dict.fromkeys((*statement.problems, *change.problems))
    return replace(statement, writes=writes, aliases=statement.aliases + change.aliases, problems=tuple(problems))


def _keeps_rows(write: WriteForm) -> bool:
    return write.target is not None and write.target.name.parts == (CHANGED_ROWS,)


def _over(query: Select, rows: Query | None) -> Select:
    """The query with the changed rows where it reads them."""
    relations = tuple(
        replace(relation, source=rows)
        if rows is not None and isinstance(relation.source, TableName) and relation.source.parts == (CHANGED_ROWS,)
        else relation
        for relation in query.relations
    )
    return replace(query, relations=relations)


def _end_of_target(tokens: list[Token], start: int) -> int:
    """The last token of a table's name and its column list."""
    end = start
    while end + 1 < len(tokens) and (tokens[end].text in (".", "@", "#") or tokens[end + 1].text == "."):
        end += 1
    listed = end + 2 < len(tokens) and tokens[end + 1].token_type is TokenType.L_PAREN
    if listed and tokens[end + 2].text.upper() not in ("SELECT", "WITH", "("):
        end = matching(tokens, end + 1)
    return end


def _texts(text: str, tokens: list[Token]) -> Iterator[str]:
    """The clause's columns; what was done to a row is no data of any table."""
    at = tokens[0].start
    for token in tokens:
        yield text[at : token.start]
        yield "NULL" if token.text.upper() == "$ACTION" else text[token.start : token.end + 1]
        at = token.end + 1


def without_file(text: str, tokens: list[Token]) -> tuple[str, str] | None:
    """The query without its INTO OUTFILE 'path' and what is said of the file, and the path."""
    for number in at_depth_zero(tokens, 0):
        if words(tokens, number, "INTO") and tokens[number + 1].text.upper() in ("OUTFILE", "DUMPFILE"):
            if number + 2 >= len(tokens) or tokens[number + 2].token_type is not TokenType.STRING:
                return None
            later = (n for n in at_depth_zero(tokens, number + 3) if tokens[n].text.upper() in _AFTER_FILE)
            rest = next((tokens[n].start for n in later), len(text))
            return f"{text[: tokens[number].start]} {text[rest:]}", tokens[number + 2].text
    return None


def inserted_execution(text: str, tokens: list[Token]) -> tuple[str, str] | None:
    """INSERT INTO t EXEC …, as an INSERT of a row and the EXEC; None where it is no such statement."""
    if not tokens or tokens[0].text.upper() != "INSERT":
        return None
    place = next((n for n in at_depth_zero(tokens, 1) if tokens[n].text.upper() in ("EXEC", "EXECUTE")), None)
    if place is None or any(token.text.upper() in ("SELECT", "VALUES") for token in tokens[:place]):
        return None
    start = tokens[place].start
    return f"{text[:start]} SELECT NULL", text[start:]


def with_execution(statement: RelationalStatement, executed: RelationalStatement) -> RelationalStatement:
    """The INSERT of what a text gives; of a procedure it is not known what that is."""
    query = next((write.query for write in executed.writes if write.target is None), None)
    problems = () if query is not None else (Problem(ProblemKind.UNSUPPORTED, "rows of a procedure"),)
    writes = tuple(replace(write, query=query) for write in statement.writes)
    return replace(statement, writes=writes, problems=statement.problems + problems)


def with_output(statement: RelationalStatement, into: RelationalStatement) -> RelationalStatement:
    """The statement with one more write: `into`, whose columns are those of the changed rows or of what it reads."""
    changed = next((write for write in statement.writes if write.target is not None), None)
    if changed is None or changed.target is None:
        return statement
    others: tuple[RelationSource, ...] = ()
    common_tables: tuple[CommonTable, ...] = ()
    if isinstance(changed.query, Select):
        others, common_tables = changed.query.relations, changed.query.common_tables
    seen = [replace(relation, join="", on=(), using=()) for relation in others if not relation.written]
    seen += [RelationSource(changed.target.name, alias) for alias in ("inserted", "deleted")]
    writes = [
        replace(write, query=replace(_reading(write.query, seen), common_tables=common_tables))
        for write in into.writes
        if write.target is not None and isinstance(write.query, Select)
    ]
    return replace(
        statement, writes=(*statement.writes, *writes), problems=tuple({*statement.problems, *into.problems})
    )


def _reading(query: Select, relations: list[RelationSource]) -> Select:
    """The query over those of the relations that it names."""
    named = {qualifier[-1] for qualifier in _qualifiers(query) if qualifier}
    return replace(query, relations=tuple(relation for relation in relations if _name(relation) in named))


def _name(relation: RelationSource) -> str:
    source = relation.source
    return relation.alias or (source.table if isinstance(source, TableName) else "")


def _qualifiers(query: Select) -> Iterator[tuple[str, ...]]:
    for item in query.projections:
        if isinstance(item, Star):
            yield item.qualifier
        elif isinstance(item, Projection):
            yield from (slot.parts[:-1] for slot in all_slots((item.expression,)) if isinstance(slot, Slot))
