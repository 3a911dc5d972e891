"""What the planner says a statement reads: it names the relation of every column, however the text leaves it open.

Nothing is run. What a statement needs and the database lacks is made first, without rows, in a transaction that is
undone; that alone needs the right to create. The rest needs SELECT on what the statement reads.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from connectors.postgres.database import PostgresDatabase
from connectors.source import Question, Reads
from ingestion.dialects.lexing import tokens
from ingestion.model.lineage import StatementKind
from ingestion.statements import classify

if TYPE_CHECKING:
    from psycopg import Connection

_DIALECT = "postgres"
_GENERIC_PLAN_SINCE = 160_000
_CREATES = frozenset({StatementKind.CREATE_TABLE, StatementKind.CREATE_TABLE_AS, StatementKind.CREATE_VIEW})
_EXPLAINED = frozenset(
    {
        StatementKind.SELECT,
        StatementKind.INSERT,
        StatementKind.UPDATE,
        StatementKind.DELETE,
        StatementKind.MERGE,
        StatementKind.CREATE_TABLE_AS,
        StatementKind.CREATE_VIEW,
    }
)
_WITH_DATA = re.compile(r"(?<!\s)\s++with\s++(?:no\s++)?data\s*+$", re.IGNORECASE)
_COLUMN = re.compile(r'(?<![\w$"])("(?:[^"]|"")++"|[A-Za-z_][\w$]*+)\.("(?:[^"]|"")++"|[A-Za-z_][\w$]*+)')
_PARAMETER = re.compile(r"\$\d+")


def columns_read(database: PostgresDatabase, question: Question) -> Reads | None:
    """The columns that the planner reads for a statement; None where it cannot plan it."""
    query = _query(question.statement)
    if query is None:
        return None
    with database.trial() as session:
        _look_in(session, question.search_path)
        _create(session, question.dependencies)
        plan = _plan(session, query)
    return None if plan is None else _reads(plan)


def _look_in(session: Connection[Any], path: Sequence[str]) -> None:
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in path)
    session.execute("SELECT pg_catalog.set_config('search_path', %s, true)", (names,))


def _create(session: Connection[Any], dependencies: Sequence[str]) -> None:
    """Makes what can be made; a log is not always in the order of dependency."""
    waiting = [text for text in map(_empty, dependencies) if text is not None]
    while waiting:
        left = [text for text in waiting if not _succeeds(session, text)]
        if len(left) == len(waiting):
            return
        waiting = left


def _succeeds(session: Connection[Any], text: str) -> bool:
    import psycopg

    session.execute("SAVEPOINT attempt")
    try:
        session.execute(text.encode())
    except psycopg.Error:
        session.execute("ROLLBACK TO SAVEPOINT attempt")
        return False
    return True


def _empty(text: str) -> str | None:
    """The statement that makes a relation without its rows; None for anything that is more than that."""
    found = classify(text, _DIALECT)
    if found.kind not in _CREATES or found.skip_reason is not None:
        return None
    words = [token.text.lower() for token in tokens(text, _DIALECT)]
    if words[:1] != ["create"] or ";" in words:
        return None
    if found.kind is StatementKind.CREATE_TABLE_AS:
        return f"{_WITH_DATA.sub('', text)} WITH NO DATA"
    return text


def _query(text: str) -> str | None:
    """What EXPLAIN takes: the statement, or the query of a definition."""
    found = classify(text, _DIALECT)
    if found.kind not in _EXPLAINED or any(token.text == ";" for token in tokens(text, _DIALECT)):
        return None
    if found.kind not in (StatementKind.CREATE_TABLE_AS, StatementKind.CREATE_VIEW):
        return text
    depth = 0
    for token in tokens(text, _DIALECT):
        depth += (token.text == "(") - (token.text == ")")
        if depth == 0 and token.text.lower() == "as":
            return _WITH_DATA.sub("", text[token.start + len("as") :])
    return None


def _plan(session: Connection[Any], query: str) -> dict[str, Any] | None:
    import psycopg

    options = "VERBOSE, FORMAT JSON"
    if any(_PARAMETER.fullmatch(token.text) for token in tokens(query, _DIALECT)):
        if session.info.server_version < _GENERIC_PLAN_SINCE:
            return None
        options += ", GENERIC_PLAN"
    try:
        row = session.execute(f"EXPLAIN ({options}) {query}".encode()).fetchone()
    except psycopg.Error:
        return None
    if row is None:
        return None
    plans = json.loads(row[0]) if isinstance(row[0], str) else row[0]
    plan: dict[str, Any] = plans[0]["Plan"]
    return plan


def _reads(plan: dict[str, Any]) -> Reads:
    nodes = list(_nodes(plan))
    relations = {
        str(node["Alias"]): (_schema(node), str(node.get("Relation Name") or node.get("Function Name")))
        for node in nodes
        if "Alias" in node and ("Relation Name" in node or "Function Name" in node)
    }
    found: dict[tuple[str, str], set[str]] = {relation: set() for relation in relations.values()}
    for node in nodes:
        for text in _texts(node):
            for alias, column in _COLUMN.findall(text):
                relation = relations.get(_unquote(alias))
                if relation is not None:
                    found[relation].add(_unquote(column))
    return {relation: frozenset(columns) for relation, columns in found.items()}


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for inner in plan.get("Plans") or ():
        yield from _nodes(inner)


def _texts(node: dict[str, Any]) -> Iterator[str]:
    """The expressions of a node."""
    for key, value in node.items():
        if key == "Plans":
            continue
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from (text for text in value if isinstance(text, str))


def _schema(node: dict[str, Any]) -> str:
    schema = str(node.get("Schema") or "")
    return "" if schema.startswith("pg_temp") else schema


def _unquote(name: str) -> str:
    return name[1:-1].replace('""', '"') if name.startswith('"') else name
