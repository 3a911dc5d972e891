"""Relations that ClickHouse's functions name in their arguments: cluster(…), remote(…), dictGet(…), joinGet(…)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.errors import SqlglotError

from ingestion.model import TableName
from ingestion.parsing.sqlglot_tier.names.identifiers import Names
from ingestion.parsing.sqlglot_tier.names.paths import function_name
from ingestion.relational.form import Expression, Projection, QuerySlot, RelationSource, Select, Slot, Star
from ingestion.relational.roles import ATOM, COMPOSED, FILTER, IDENTITY, TRANSFORMED

if TYPE_CHECKING:
    from ingestion.parsing.sqlglot_tier.expressions.writer import ExpressionWriter

_ELSEWHERE = frozenset({"CLUSTER", "CLUSTERALLREPLICAS", "REMOTE", "REMOTESECURE"})
"""Functions that read or write a table on other machines: (where, db.table | db, table, …)."""
_VALUES = re.compile(r"DICTGET(?!HIERARCHY|CHILDREN|DESCENDANTS)[A-Z0-9]*|JOINGET(?:ORNULL)?")
_ROWS = re.compile(r"DICT(?:HAS|ISIN|GETHIERARCHY|GETCHILDREN|GETDESCENDANTS)")
_PAIRS = (exp.EQ, exp.PropertyEQ)


def table_elsewhere(function: exp.Expr, names: Names) -> TableName | None:
    """The table that cluster(…) or remote(…) names; None where it is another function, or its name is not constant."""
    if names.dialect.name != "clickhouse" or function_name(function) not in _ELSEWHERE:
        return None
    pairs = {str(item.this.name).lower(): item.expression for item in function.expressions if isinstance(item, _PAIRS)}
    if pairs:  # a named collection
        return _joined([pairs[key] for key in ("database", "table") if key in pairs], names)
    places = function.expressions[1:3]
    if places and _is_own_database(places[0]):
        return _joined(places[1:], names)
    if places and not _is_whole(places[0]):
        return _joined(places, names)
    return _joined(places[:1], names)


def function_elsewhere(function: exp.Expr, names: Names) -> exp.Expr | None:
    """The table function or query that cluster(…) or remote(…) runs on other machines."""
    if names.dialect.name != "clickhouse" or function_name(function) not in _ELSEWHERE:
        return None
    inner = function.expressions[1] if len(function.expressions) > 1 else None
    return inner if isinstance(inner, exp.Func) and not _is_own_database(inner) else None


def query_of_view(function: exp.Expr, names: Names) -> exp.Expr | None:
    """The query of view(SELECT …)."""
    if names.dialect.name != "clickhouse" or function_name(function) != "VIEW" or len(function.expressions) != 1:
        return None
    return function.expressions[0] if isinstance(function.expressions[0], exp.Query) else None


def _is_own_database(node: exp.Expr) -> bool:
    return isinstance(node, exp.Func) and function_name(node).replace("_", "") in ("CURRENTDATABASE", "DATABASE")


def _is_whole(node: exp.Expr) -> bool:
    return bool(node.args.get("table")) or (type(node) is exp.Literal and "." in node.name)


def _joined(places: list[exp.Expr], names: Names) -> TableName | None:
    tables = [_table(place, names) for place in places]
    if not tables or any(table is None for table in tables):
        return None
    table = tables[-1]
    if len(tables) == 2 and table is not None and tables[0] is not None:
        table.set("db", tables[0].this)
    return names.table(table) if table is not None else None


def _table(node: exp.Expr, names: Names) -> exp.Table | None:
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


def write_lookup(w: ExpressionWriter, node: exp.Expr, name: str, role: int) -> bool:
    """Append what dictGet, joinGet and their kin give: columns of the relation named first, chosen by the keys.

    False, with nothing written, where the function is none of them or its relation's name is not constant.
    """
    if w.names.dialect.name != "clickhouse" or not (_VALUES.fullmatch(name) or _ROWS.fullmatch(name)):
        return False
    arguments = node.expressions
    table = _table(arguments[0], w.names) if arguments else None
    if table is None:
        return False
    relation = (RelationSource(w.names.table(table)),)
    w.parts.append(name + "(")
    if _ROWS.fullmatch(name):
        w.slots.append(QuerySlot(Select((), relation), COMPOSED[role][FILTER], 0, True))
        w.parts.append(f"{relation[0].source}, ")
        w.join(arguments[1:], TRANSFORMED[role])
    else:
        number = len(w.slots)
        w.slots.append(QuerySlot(Select(_attributes(arguments[1:2]), relation), TRANSFORMED[role]))
        w.parts.extend((number, ", "))
        w.join(arguments[2:3], COMPOSED[role][FILTER])
        if len(arguments) > 3:
            w.parts.append(", ")
            w.join(arguments[3:], TRANSFORMED[role] if "ORDEFAULT" in name else COMPOSED[role][FILTER])
    w.parts.append(")")
    return True


def _attributes(nodes: list[exp.Expr]) -> tuple[Projection | Star, ...]:
    """The columns that a text or a tuple of texts names; any of them where they are not constant."""
    items = nodes[0].expressions if nodes and type(nodes[0]) is exp.Tuple else nodes
    if not items or any(type(item) is not exp.Literal or not item.args.get("is_string") for item in items):
        return (Star(),)
    return tuple(Projection(item.name, Expression((0,), (Slot((item.name,), IDENTITY),), ATOM, 0)) for item in items)
