"""The half of `ingestion.metrics.process` that runs in the parser process."""

from __future__ import annotations

import pickle
from dataclasses import replace

from sqlglot import exp

from ingestion.dialects import Dialect, dialect_of
from ingestion.dialects.unfilled_templates import template_in_code
from ingestion.errors import Templated, Unparsable
from ingestion.metrics._normalizer import Comparison
from ingestion.metrics.inlining import Refusal, Temporary, Value
from ingestion.metrics.process import (
    MetricsReply,
    MetricsRequest,
    NameParts,
    TableColumns,
    TemporaryChange,
    known_table,
)
from ingestion.metrics.query import Context, inliner_of, query_metrics, query_of
from ingestion.model.lineage import NameKind
from ingestion.parsing.sqlglot.expressions.names import Names
from ingestion.parsing.sqlglot.queries.table_functions import is_function
from ingestion.parsing.sqlglot.tier import syntax_tree
from ingestion.statements.cleaning import plainly_spelled

_NO_QUERY = "no query"
_UNREAD_DEFINITION = "a temporary table whose definition is not read"


def answer(text: str, dialect: str) -> bytes:
    """The reply to a request. Raises Unparsable and Templated, as a parser does."""
    rules = dialect_of(dialect)
    try:
        request = pickle.loads(bytes.fromhex(text))
    except ValueError:  # the statement that warms a parser up
        syntax_tree(text, rules)
        return b""
    assert isinstance(request, MetricsRequest)
    return pickle.dumps(_reply(request, rules))


def _reply(request: MetricsRequest, rules: Dialect) -> MetricsReply:
    known = request.known
    try:
        temporary = [Temporary(change.name, _definition(change, rules)) for change in request.temporary]
        query = query_of(_tree(request.text, rules))
        if query is None:
            return MetricsReply(reason=_NO_QUERY)
        context = Context(
            rules,
            Comparison(request.key, rules.text_addition, any_literal=request.any_literal),
            lambda table: known_table(known, table),
            temporary,
            request.full_names,
        )
    except Refusal as refusal:
        return MetricsReply(reason=refusal.reason)
    reply = MetricsReply(columns=_columns(query, context), tables=_tables(query, context))
    try:
        return replace(reply, metrics=query_metrics(query, context))
    except Refusal as refusal:
        return replace(reply, reason=refusal.reason)


def _tables(query: exp.Expr, context: Context) -> tuple[NameParts, ...]:
    names = Names(context.dialect)
    found = (names.table(node) for node in query.find_all(exp.Table) if not is_function(node))
    return tuple(dict.fromkeys(name.parts for name in found if name.kind is NameKind.TABLE))


def _tree(text: str, rules: Dialect) -> exp.Expr:
    if template_in_code(text, rules) is not None:
        raise Templated(Templated.code)
    return syntax_tree(plainly_spelled(text, rules), rules)


def _definition(change: TemporaryChange, rules: Dialect) -> Value | None:
    if change.reason:
        return Refusal(change.reason)
    if not change.definition:
        return None
    try:
        return query_of(_tree(change.definition, rules)) or Refusal(_UNREAD_DEFINITION)
    except Refusal as refusal:
        return refusal
    except Unparsable:
        return Refusal(_UNREAD_DEFINITION)


def _columns(query: exp.Expr, context: Context) -> TableColumns | None:
    """The columns that a query gives, None where they are not all known."""
    try:
        rows = inliner_of(context).inline(query, context.temporary)
    except Refusal:
        return None
    if rows.open or any(name.startswith("#") for name in rows.columns):
        return None
    return dict.fromkeys(rows.columns, "")
