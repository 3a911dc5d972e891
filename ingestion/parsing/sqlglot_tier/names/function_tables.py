"""Relations that ClickHouse's functions name in their arguments: cluster(…), remote(…), view(…)."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import SqlglotError

from ingestion.dialects.functions import ON_OTHER_MACHINES
from ingestion.model import TableName
from ingestion.parsing.sqlglot_tier.names.identifiers import Names
from ingestion.parsing.sqlglot_tier.names.paths import function_name

_PAIRS = (exp.EQ, exp.PropertyEQ)


def table_elsewhere(function: exp.Expr, names: Names) -> TableName | None:
    """The table that cluster(…) or remote(…) names; None where it is another function, or its name is not constant."""
    if not names.dialect.relations_in_functions or function_name(function) not in ON_OTHER_MACHINES:
        return None
    pairs = {str(item.this.name).lower(): item.expression for item in function.expressions if isinstance(item, _PAIRS)}
    if pairs:  # a named collection
        return _join([pairs[key] for key in ("database", "table") if key in pairs], names)
    places = function.expressions[1:3]
    if places and _is_own_database(places[0]):
        return _join(places[1:], names)
    if places and not _is_whole(places[0]):
        return _join(places, names)
    return _join(places[:1], names)


def function_elsewhere(function: exp.Expr, names: Names) -> exp.Expr | None:
    """The table function or query that cluster(…) or remote(…) runs on other machines."""
    if not names.dialect.relations_in_functions or function_name(function) not in ON_OTHER_MACHINES:
        return None
    inner = function.expressions[1] if len(function.expressions) > 1 else None
    return inner if isinstance(inner, exp.Func) and not _is_own_database(inner) else None


def query_of_view(function: exp.Expr, names: Names) -> exp.Expr | None:
    """The query of view(SELECT …)."""
    if not names.dialect.relations_in_functions or function_name(function) != "VIEW" or len(function.expressions) != 1:
        return None
    return function.expressions[0] if isinstance(function.expressions[0], exp.Query) else None


def _is_own_database(node: exp.Expr) -> bool:
    return isinstance(node, exp.Func) and function_name(node).replace("_", "") in ("CURRENTDATABASE", "DATABASE")


def _is_whole(node: exp.Expr) -> bool:
    return bool(node.args.get("table")) or (type(node) is exp.Literal and "." in node.name)


def _join(places: list[exp.Expr], names: Names) -> TableName | None:
    tables = [named_table(place, names) for place in places]
    if not tables or any(table is None for table in tables):
        return None
    table = tables[-1]
    if len(tables) == 2 and table is not None and tables[0] is not None:
        table.set("db", tables[0].this)
    return names.table(table) if table is not None else None


def named_table(node: exp.Expr, names: Names) -> exp.Table | None:
    """The relation that a text or a name as an argument means."""
    if type(node) is exp.Literal and node.args.get("is_string"):
        try:
            return exp.to_table(node.name, dialect=names.dialect.sqlglot)
        except SqlglotError:
            return None
    if type(node) is exp.Column and type(node.this) is exp.Identifier:
        parts = {"this": node.this, "db": node.args.get("table"), "catalog": node.args.get("db")}
        return exp.Table(**{key: part.copy() for key, part in parts.items() if part is not None})
    return None
