"""Stars of sqlglot's tree with their clauses: `*`, `t.* EXCEPT (a)`, `* ILIKE '%_id'`."""

from __future__ import annotations

import re

from sqlglot import exp

from ingestion.analysis.form import Projection, Star
from ingestion.parsing.sqlglot.expressions.writer import QueryContext


def star_of(queries: QueryContext, node: exp.Expr, qualifier: tuple[str, ...]) -> Star:
    """The star of a node, behind the names that qualify it."""
    args = node.args
    ilike = args.get("ilike")  # Snowflake: * ILIKE 'pattern'
    pattern = rf"\A(?i:{like_pattern(ilike.name)})\Z" if ilike is not None else None
    if not (args.get("except_") or args.get("replace") or args.get("rename")):
        return Star(qualifier, pattern=pattern)
    excluded = [
        queries.names.column_parts(c) if type(c) is exp.Column else (queries.names.column(c),)
        for c in args.get("except_") or ()
    ]
    replaced = tuple(
        Projection(queries.names.column(c.args["alias"]), queries.expression(c.this)) for c in args.get("replace") or ()
    )
    renamed = [
        (queries.names.column_parts(c.this), queries.names.column(c.args["alias"])) for c in args.get("rename") or ()
    ]
    changed = [*((parts, "") for parts in excluded), *renamed]
    if qualifier:  # of b.* EXCEPT (b.v) the relation is said already
        changed = [(parts[-1:], name) for parts, name in changed]
    plain = [(parts[0], name) for parts, name in changed if len(parts) == 1]
    return Star(
        qualifier,
        tuple(old for old, new in plain if not new),
        replaced,
        tuple((old, new) for old, new in plain if new),
        pattern,
        changed_of=tuple((parts, name) for parts, name in changed if len(parts) > 1),
    )


def like_pattern(text: str) -> str:
    """The regular expression of a LIKE pattern."""
    return "".join({"%": ".*", "_": "."}.get(letter) or re.escape(letter) for letter in text)
