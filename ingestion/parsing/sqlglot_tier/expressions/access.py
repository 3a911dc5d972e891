"""Parts of values in sqlglot's tree: elements of arrays, fields by a name in a string, paths into JSON."""

from __future__ import annotations

from sqlglot import exp

from ingestion.parsing.sqlglot_tier.expressions.writer import ExpressionWriter, Handler
from ingestion.relational.form import POSITION, TypeRule
from ingestion.relational.roles import ATOM, TRANSFORMED


def _bracket(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    this, inside = node.args["this"], node.args.get("expressions") or []
    path = _path_of(w, inside[0]) if len(inside) == 1 else ()
    if not path and isinstance(this, exp.Struct | exp.Tuple):
        path = (POSITION,)
    inner = TRANSFORMED[role]
    rule = w.field(this, path, inner, ATOM, shown=False) if path else w.write(this, inner, ATOM)
    w.parts.append("[")
    w.join(inside, TRANSFORMED[role])
    w.parts.append("]")
    return ("element", rule)


def _path_of(w: ExpressionWriter, node: exp.Expr | None) -> tuple[str, ...]:
    """The names in a constant path, as far as it has them: elements of arrays go by the names of their arrays."""
    if type(node) is exp.Literal and node.args.get("is_string"):
        return (w.queries.field_in_string(str(node.name)),)
    path: list[str] = []
    for part in node.expressions if type(node) is exp.JSONPath else ():
        if isinstance(part, exp.JSONPathKey) and isinstance(part.this, str):
            path.append(w.queries.field_in_string(part.this))
        elif not isinstance(part, exp.JSONPathRoot | exp.JSONPathSubscript):
            break
    return tuple(path)


def _extract(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    """STRUCT_EXTRACT(struct, 'field'), GET(object, 'field')."""
    key = node.args["expression"]
    path = _path_of(w, key)
    w.parts.append("GET(" if type(node) is exp.GetExtract else "STRUCT_EXTRACT(")
    if path:
        w.field(node.args["this"], path, TRANSFORMED[role], 0, shown=False)
    else:
        w.write(node.args["this"], TRANSFORMED[role])
    w.parts.append(", ")
    w.write(key, TRANSFORMED[role])
    w.parts.append(")")
    return None


def _json_field(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    w.parts.append("JSON_EXTRACT(")
    path = node.args.get("expression")
    names = _path_of(w, path)
    if names:
        w.field(node.args["this"], names, TRANSFORMED[role], 0, shown=False)
    else:
        w.write(node.args["this"], TRANSFORMED[role])
    w.parts.append(", ")
    if path is None or type(path) is exp.JSONPath:
        w.parts.append("?")
    else:
        w.write(path, TRANSFORMED[role])
    w.parts.append(")")
    return "STRING" if isinstance(node, exp.JSONExtractScalar | exp.JSONBExtractScalar) else "JSON"


HANDLERS: dict[type[exp.Expr], Handler] = {
    exp.Bracket: _bracket,
    exp.StructExtract: _extract,
    exp.GetExtract: _extract,
    exp.JSONExtract: _json_field,
    exp.JSONExtractScalar: _json_field,
    exp.JSONBExtract: _json_field,
    exp.JSONBExtractScalar: _json_field,
}
