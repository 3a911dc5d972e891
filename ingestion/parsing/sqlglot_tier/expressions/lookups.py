"""ClickHouse's lookups of values in relations that they name: dictGet(…), joinGet(…)."""

from __future__ import annotations

import re

from sqlglot import exp

from ingestion.parsing.sqlglot_tier.expressions.writer import ExpressionWriter
from ingestion.parsing.sqlglot_tier.names.function_tables import named_table
from ingestion.relational.form import Expression, Projection, QuerySlot, RelationSource, Select, Slot, Star
from ingestion.relational.roles import ATOM, COMPOSED, FILTER, IDENTITY, TRANSFORMED

_VALUES = re.compile(r"DICTGET(?!HIERARCHY|CHILDREN|DESCENDANTS)[A-Z0-9]*|JOINGET(?:ORNULL)?")
_ROWS = re.compile(r"DICT(?:HAS|ISIN|GETHIERARCHY|GETCHILDREN|GETDESCENDANTS)")


def write_lookup(w: ExpressionWriter, node: exp.Expr, name: str, role: int) -> bool:
    """Append what dictGet, joinGet and their kin give: columns of the relation named first, chosen by the keys.

    False, with nothing written, where the function is none of them or its relation's name is not constant.
    """
    if not w.names.dialect.relations_in_functions or not (_VALUES.fullmatch(name) or _ROWS.fullmatch(name)):
        return False
    arguments = node.expressions
    table = named_table(arguments[0], w.names) if arguments else None
    if table is None:
        return False
    relation = (RelationSource(w.names.table(table)),)
    w.parts.append(name + "(")
    if _ROWS.fullmatch(name):
        w.slots.append(QuerySlot(Select((), relation), COMPOSED[role][FILTER], 0, exists=True))
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
