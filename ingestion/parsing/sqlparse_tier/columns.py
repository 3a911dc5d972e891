"""The output columns of a token stream's query, where its list is plain and stands over tables alone."""

from __future__ import annotations

from dataclasses import dataclass

from ingestion.dialects import Dialect, fold_column
from ingestion.dialects.functions import GENERATORS
from ingestion.model import Problem, ProblemKind, StatementKind
from ingestion.parsing.sqlparse_tier.names import column_parts, name_at, qualifier
from ingestion.parsing.sqlparse_tier.sources import SourceScan
from ingestion.parsing.sqlparse_tier.stream import TokenKind, TokenStream
from ingestion.parsing.sqlparse_tier.targets import TargetAt, items_between
from ingestion.parsing.sqlparse_tier.words import NO_COLUMN, SET_OPERATIONS
from ingestion.relational.form import Projection, Star
from ingestion.relational.partial import COLUMNS_NOT_FOLLOWED, opaque_column, plain_column

_HAS_QUERY = frozenset(
    {
        StatementKind.SELECT,
        StatementKind.INSERT,
        StatementKind.CREATE_TABLE_AS,
        StatementKind.CREATE_VIEW,
    }
)


@dataclass(frozen=True, slots=True)
class Columns:
    """Outputs in order, over the tables that stand `depth` parentheses deep; none when they were not followed."""

    projections: tuple[Projection | Star, ...] = ()
    depth: int = -1
    problems: tuple[Problem, ...] = (COLUMNS_NOT_FOLLOWED,)


def find_columns(stream: TokenStream, dialect: Dialect, writes: TargetAt, sources: SourceScan) -> Columns:
    """The outputs of the statement's one SELECT; a Problem names each that is more than a column.

    `sources` is what the statement reads. Of `INSERT INTO t SELECT s.a, f(s.b) AS x FROM s`, the outputs are s.a and
    an unknown x, and the Problem names x.
    """
    if writes.kind not in _HAS_QUERY:
        return Columns()
    inside, depth = _query(stream, writes)
    if depth in sources.derived:
        return Columns()
    span = _list(stream, inside)
    if span is None:
        return Columns()
    projections: list[Projection | Star] = []
    problems: list[Problem] = []
    for number, item in enumerate(items_between(stream, span), start=1):
        projection = _star(stream, item, dialect) or _plain(stream, item, dialect)
        if projection is None and any(stream.word(position) == "*" for position in item[:3]):
            return Columns()  # a star with exceptions, or a product: how many columns it gives is not sure
        if projection is None and dialect.row_generators and stream.word(item.start) in GENERATORS:
            return Columns()  # several columns, and how many is not sure
        if projection is None:
            name = _alias(stream, item, dialect)
            projection = opaque_column(name)
            problems.append(Problem(ProblemKind.UNSUPPORTED, name or f"column {number}"))
        projections.append(projection)
    return Columns(tuple(projections), depth, tuple(problems))


def _query(stream: TokenStream, writes: TargetAt) -> tuple[range, int]:
    """The positions of the statement's query, out of the parentheses around all of it, and how many those are."""
    into = writes.kind is StatementKind.CREATE_TABLE_AS and stream.word(writes.span.start) == "INTO"
    start, stop, depth = (0 if into else writes.span.stop), len(stream), 0
    while stream.word(start) == "(" and stream.partner[start] == stop - 1:
        start, stop, depth = start + 1, stop - 1, depth + 1
    return range(start, stop), depth


def _list(stream: TokenStream, query: range) -> range | None:
    """The positions of the select list; None unless there is exactly one SELECT, and it has a FROM."""
    selects: list[int] = []
    ends: list[int] = []
    position = query.start
    while position < query.stop:
        word = stream.word(position)
        if word in SET_OPERATIONS:
            return None
        if word in ("SELECT", "SEL"):
            selects.append(position)
        elif word in ("FROM", "INTO") and selects:
            ends.append(position)
        position = stream.after(position)
    if len(selects) != 1 or not ends:
        return None
    start = selects[0] + 1
    while stream.word(start) in ("DISTINCT", "ALL"):
        start += 1
    return None if stream.word(start) in ("TOP", "ON", "AS") else range(start, ends[0])


def _star(stream: TokenStream, item: range, dialect: Dialect) -> Star | None:
    if not item or stream.word(item[-1]) != "*":
        return None
    if len(item) == 1:
        return Star()
    if stream.word(item[-2]) != ".":
        return None
    named = name_at(stream, item.start, dialect, stop=item[-2])
    return None if named is None else Star(qualifier(named.parts, dialect))


def _plain(stream: TokenStream, item: range, dialect: Dialect) -> Projection | None:
    named = name_at(stream, item.start, dialect, stop=item.stop)
    if named is None or (len(named.parts) == 1 and named.parts[0].word in NO_COLUMN):
        return None
    parts = column_parts(named.parts, dialect)
    rest = range(named.end, item.stop)
    if not rest:
        return plain_column(parts, parts[-1])
    alias = _alias(stream, item, dialect)
    expected = 2 if stream.word(rest.start) == "AS" else 1
    return plain_column(parts, alias) if alias and len(rest) == expected else None


def _alias(stream: TokenStream, item: range, dialect: Dialect) -> str:
    """The name that AS gives, or a name right behind a column or a parenthesis."""
    if len(item) < 2:
        return ""
    token = stream.tokens[item[-1]]
    named = name_at(stream, item.start, dialect)
    behind_value = stream.word(item[-2]) in ("AS", ")") or (named is not None and named.end == item[-1])
    if token.kind not in (TokenKind.WORD, TokenKind.QUOTED) or not behind_value or token.word in ("END", *NO_COLUMN):
        return ""
    return fold_column(token.text, dialect, quoted=token.kind is TokenKind.QUOTED)
