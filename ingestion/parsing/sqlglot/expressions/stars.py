"""Stars of sqlglot's tree with their clauses: `*`, `t.* EXCEPT (a)`, `* ILIKE '%_id'`, `COLUMNS('a.*')`."""

from __future__ import annotations

import fnmatch
import re

from sqlglot import exp

from ingestion.analysis.form import Projection, Star
from ingestion.parsing.sqlglot.expressions.writer import QueryContext

LIKENESS = (exp.Like, exp.ILike, exp.SimilarTo, exp.Glob)
_NO_NAME = r"(?!)"
_FINDS_NAMES = re.compile(r"\.[*+]|\)[?*+]")
"""What a pattern has, and no column's name."""
_ALL_BUT = re.compile(r"\((\w+(?:\|\w+)*)\)\?\+\.\+")


def star_of(queries: QueryContext, node: exp.Expr, qualifier: tuple[str, ...]) -> Star:
    """The star of a node, behind the names that qualify it."""
    args = node.args
    ilike = args.get("ilike")  # Snowflake: * ILIKE 'pattern'
    pattern = rf"\A(?i:{_like_pattern(ilike.name)})\Z" if ilike is not None else None
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


def star_of_quoted_pattern(queries: QueryContext, node: exp.Expr, qualifier: tuple[str, ...]) -> Star | None:
    """Hive: the columns that `` `k.*` `` finds, and all but ds and hr of `` `(ds|hr)?+.+` ``; None of a plain name.

    They are those of all relations where no `qualifier` names one.
    """
    text = str(node.name)
    if not (queries.names.dialect.patterns_in_quotes and node.args.get("quoted") and _FINDS_NAMES.search(text)):
        return None
    left_out = _ALL_BUT.fullmatch(text)
    if left_out is not None:  # told without the columns that there are
        return Star(qualifier, tuple(queries.names.column(exp.to_identifier(one)) for one in left_out[1].split("|")))
    return Star(qualifier, pattern=rf"\A(?:(?i:{text})|{re.escape(text)})\Z")


def _like_pattern(text: str) -> str:
    """The regular expression of a LIKE pattern."""
    return "".join({"%": ".*", "_": "."}.get(letter) or re.escape(letter) for letter in text)


def pattern_of_names(node: exp.Expr, *, negated: bool = False) -> str:
    """The regular expression of LIKE, ILIKE, GLOB and SIMILAR TO; "" where it is not constant."""
    literal = node.args["expression"]
    if type(literal) is not exp.Literal:
        return ""
    text = str(literal.name)
    if isinstance(node, exp.SimilarTo):
        found = text
    elif isinstance(node, exp.Glob):
        found = fnmatch.translate(text)
    else:
        found = _like_pattern(text)
    if isinstance(node, exp.ILike):
        found = f"(?i:{found})"
    return rf"\A(?!(?:{found})\Z)" if negated or node.args.get("negate") else rf"\A(?:{found})\Z"


def translate_columns(queries: QueryContext, node: exp.Expr) -> Star:
    """The star that COLUMNS(…) stands for: a pattern, a list of names, or a condition of them."""
    inner = node.this
    if type(inner) is exp.Star:
        return star_of(queries, inner, ())
    if type(inner) is exp.Column and queries.names.column_parts(inner)[-1] == "*":
        return star_of(queries, inner.this, queries.names.column_parts(inner)[:-1])
    if type(inner) is exp.Literal:
        return Star(pattern=inner.name)
    if type(inner) is exp.Array:
        pattern = _one_of_names(inner.expressions)
    elif type(inner) is exp.Column:  # ClickHouse: the column of that name
        return Star(pattern=rf"\A{re.escape(queries.names.column_parts(inner)[-1])}\Z")
    elif type(inner) is exp.Lambda:
        pattern = _condition_of_names(inner.this, {item.name for item in inner.expressions})
    else:  # c -> c LIKE 'a%' reads as (c -> c) LIKE 'a%'
        pattern = _condition_of_names(inner, {arrow.this.name for arrow in inner.find_all(exp.JSONExtract)})
    if pattern is None:
        queries.note_unsupported("COLUMNS")
    return Star(pattern=_NO_NAME if pattern is None else pattern)


def columns_of_relation(queries: QueryContext, node: exp.Expr) -> Star | None:
    """ClickHouse: the star that t.COLUMNS('a') stands for; None of what is not of this form."""
    call = node.expression if type(node) is exp.Dot and queries.names.dialect.columns_function else None
    if type(call) is not exp.Anonymous or call.name.lower() != "columns" or len(call.expressions) != 1:
        return None
    qualifier = tuple(queries.names.column(part) for part in list(node.flatten())[:-1])
    return translate_columns(queries, exp.Columns(this=call.expressions[0]))._replace(qualifier=qualifier)


def _one_of_names(nodes: list[exp.Expr]) -> str | None:
    """The pattern of `['a', 'b']`; None where one is not constant."""
    if not all(type(node) is exp.Literal for node in nodes):
        return None
    return rf"\A(?i:{'|'.join(re.escape(node.name) for node in nodes)})\Z"


def _condition_of_names(node: exp.Expr, variables: set[str]) -> str | None:
    """The pattern of `c LIKE 'a%' OR c = 'b'`, where c is the column's name; None where it is another condition."""
    while type(node) is exp.Paren or (type(node) is exp.JSONExtract and node.this.name in variables):
        node = node.this if type(node) is exp.Paren else node.expression
    if isinstance(node, exp.And | exp.Or):
        sides = [_condition_of_names(side, variables) for side in (node.this, node.expression)]
        if sides[0] is None or sides[1] is None:
            return None
        return (
            f"(?:{sides[0]})|(?:{sides[1]})"
            if isinstance(node, exp.Or)
            else f"(?s:(?=.*?(?:{sides[0]}))(?=.*?(?:{sides[1]})))"
        )
    if type(node) is exp.Not:
        inner = _condition_of_names(node.this, variables)
        return None if inner is None else rf"\A(?!.*?(?:{inner}))"
    subject = node.this.expression if type(node.this) is exp.JSONExtract else node.this
    if not isinstance(subject, exp.Expr) or subject.name not in variables:
        return None
    if type(node) is exp.In:
        return _one_of_names(node.expressions)
    if type(node.args.get("expression")) is not exp.Literal:
        return None
    if isinstance(node, exp.EQ | exp.NEQ):
        same = _one_of_names([node.expression])
        return same if isinstance(node, exp.EQ) else rf"\A(?!{same})"
    if isinstance(node, exp.StartsWith):
        return rf"\A{re.escape(node.expression.name)}"
    return pattern_of_names(node) if isinstance(node, LIKENESS) else None
