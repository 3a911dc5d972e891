"""T-SQL's queries that another server answers: OPENQUERY(server, 'query'), OPENROWSET(provider, place, 'query').

What OPENQUERY's text reads is named as linked servers' tables are, in four parts, the server first. OPENROWSET has only
a connection's text, which is no name and may hold a password: its sources are not told.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect as SqlglotDialect

from ingestion.dialects import Dialect, fold
from ingestion.dialects.functions import REMOTE_QUERIES
from ingestion.model import NameKind, TableName
from ingestion.parsing.sqlglot_tier.expressions.context import QueryContext
from ingestion.parsing.sqlglot_tier.names.identifiers import Names
from ingestion.parsing.sqlglot_tier.names.paths import function_name
from ingestion.parsing.sqlglot_tier.repairs.edits import REFUSALS
from ingestion.relational.form import Query, RelationSource, Select, Star

_NAMED = "openquery"
_GRAMMARS = ("tsql", "", "mysql")
"""What the other server speaks is not known: a query that one of these takes is plain enough."""
_LEVELS = 3


class _RemoteNames(Names):
    """Names of a server's tables, but for those that the text itself gives with WITH."""

    __slots__ = ("_common", "_server")

    def __init__(self, dialect: Dialect, server: str, common: frozenset[str]) -> None:
        super().__init__(dialect)
        self._server = server
        self._common = common

    def table(self, node: exp.Expr) -> TableName:
        name = super().table(node)
        own = len(name.parts) == 1 and name.table in self._common
        if own or name.kind is not NameKind.TABLE or len(name.parts) > _LEVELS:
            return name
        unsaid = ("",) * (_LEVELS - len(name.parts))
        server = fold(self._server, self.dialect, quoted=False)
        return TableName((server, *unsaid, *name.parts), ".".join((self._server, *unsaid, str(name))))


def is_remote(function: exp.Expr, dialect: Dialect) -> bool:
    """Whether the function's rows come from another server."""
    return dialect.linked_servers and function_name(function) in REMOTE_QUERIES


def remote_relation(queries: QueryContext, function: exp.Expr, alias: str, columns: tuple[str, ...]) -> RelationSource:
    """The rows that the other server gives: those of the query, or a function whose sources are not known."""
    name = function_name(function).lower()
    query = _query(queries, name, list(function.expressions))
    if query is not None:
        return RelationSource(query, alias, columns)
    queries.note_unsupported(f"{name}: what its text reads")
    return RelationSource(TableName((name,), name, NameKind.FUNCTION), alias, columns)


def _query(queries: QueryContext, name: str, arguments: list[exp.Expr]) -> Query | None:
    """The query that the arguments of the function `name` hold; None where that is no plain query of a named server."""
    server, text = arguments if name == _NAMED and len(arguments) == 2 else (None, None)
    if not isinstance(server, exp.Expr) or type(text) is not exp.Literal or not text.args.get("is_string"):
        return None
    node = next(_trees(str(text.this)), None)
    if node is None:
        return None
    dialect = queries.names.dialect
    common = frozenset(fold(item.alias, dialect, quoted=False) for item in node.find_all(exp.CTE))
    inner = queries.with_names(_RemoteNames(dialect, server.name, common))
    query = inner.query(node)
    queries.problems += [problem for problem in inner.problems if problem not in queries.problems]
    return query


def _trees(text: str) -> Iterator[exp.Expr]:
    for grammar in _GRAMMARS:
        try:
            nodes = SqlglotDialect.get_or_raise(grammar).parse(text)
        except REFUSALS:
            continue
        if len(nodes) == 1 and isinstance(nodes[0], exp.Query):
            yield nodes[0]


def remote_target(queries: QueryContext, node: exp.Expr) -> tuple[TableName, tuple[str, ...] | None] | None:
    """The table and columns that INSERT OPENQUERY(server, 'SELECT columns FROM table') fills; None where it is none."""
    function = node.this.this if type(node.this) is exp.Table else None
    if not queries.names.dialect.linked_servers or type(function) is not exp.Identifier:
        return None
    name = function.name.lower()
    if name.upper() not in REMOTE_QUERIES or node.this.args.get("db") is not None:
        return None
    query = _query(queries, name, list(node.expressions))
    source = query.relations[0].source if isinstance(query, Select) and len(query.relations) == 1 else None
    if not isinstance(query, Select) or not isinstance(source, TableName):
        queries.note_unsupported(f"{name}: what its text reads")
        return TableName((name,), name, NameKind.FUNCTION), None
    if any(isinstance(item, Star) for item in query.projections):
        return source, None
    return source, tuple(item.name for item in query.projections if not isinstance(item, Star))
