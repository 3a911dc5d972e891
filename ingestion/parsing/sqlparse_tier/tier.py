"""The last tier: lineage from sqlparse's ungrouped tokens, where no tree can be had.

sqlparse's grouping refuses beyond 10,000 tokens; its tokens do not. Tables are those behind FROM, JOIN, INTO, UPDATE
and USING; columns are followed only through a plain list of columns over tables.
"""

from __future__ import annotations

from dataclasses import replace

from ingestion.dialects import Dialect, dialect_of
from ingestion.errors import Unparsable
from ingestion.model import Problem, ProblemKind, StatementKind
from ingestion.parsing.sqlparse_tier.columns import Columns, find_columns
from ingestion.parsing.sqlparse_tier.names import alias_at, name_at, qualifier
from ingestion.parsing.sqlparse_tier.sources import SourceAt, SourceScan, find_sources
from ingestion.parsing.sqlparse_tier.stream import TokenStream, read_tokens
from ingestion.parsing.sqlparse_tier.targets import TargetAt, find_target
from ingestion.parsing.sqlparse_tier.words import CONDITIONS
from ingestion.relational.form import RelationalStatement, RelationSource, WriteForm
from ingestion.relational.partial import tables_only_select
from ingestion.statements.spellings import plainly_spelled


def parse(text: str, dialect: str) -> RelationalStatement:
    """The lineage of one statement, as far as its tokens show it; a Problem marks columns that were not followed.

    Raises Unparsable when the text has no source, no shape that carries lineage, or tokens that may be misread.
    """
    known_dialect = dialect_of(dialect)
    stream = read_tokens(plainly_spelled(text, known_dialect), known_dialect)
    if any(_changes_rows(stream, position) for position in range(len(stream))):
        raise Unparsable("the text reads the rows that a statement inside it changes")
    writes = find_target(stream, known_dialect)
    sources = find_sources(stream, known_dialect, writes.span, merge=writes.kind is StatementKind.MERGE)
    if writes.kind is StatementKind.UPDATE:
        writes, sources = _update(stream, known_dialect, writes, sources)
    if not sources.tables:
        raise Unparsable("no table is read")
    columns = find_columns(stream, known_dialect, writes, sources)
    return RelationalStatement(
        writes.kind,
        known_dialect.name,
        (_write(writes, sources, columns),),
        aliases=tuple((table.alias, str(table.name)) for table in sources.tables if table.alias),
        problems=(*columns.problems, *_unread(stream)),
    )


def _unread(stream: TokenStream) -> tuple[Problem, ...]:
    """What chooses, groups or sorts the rows is not read in this tier."""
    found = any(stream.word(position) in CONDITIONS for position in range(len(stream)))
    return (Problem(ProblemKind.UNSUPPORTED, "conditions"),) if found else ()


def _changes_rows(stream: TokenStream, position: int) -> bool:
    """Whether `(DELETE FROM …` or the like stands at `position`, and no function or name of that spelling."""
    inside = stream.word(position) == "(" and stream.word(position + 1) in ("DELETE", "INSERT", "MERGE", "UPDATE")
    return inside and stream.word(position + 2) not in ("(", ")", ",", ".")


def _write(writes: TargetAt, sources: SourceScan, columns: Columns) -> WriteForm:
    """The flow over the tables of the query whose columns are followed; other tables are read beside them."""
    near = [table for table in sources.tables if table.depth == columns.depth]
    far = [table.name for table in sources.tables if table.depth != columns.depth]
    relations = [RelationSource(table.name, table.alias) for table in near]
    return WriteForm(writes.target, tables_only_select(columns.projections, relations, far), writes.fixed)


def _update(
    stream: TokenStream, dialect: Dialect, writes: TargetAt, sources: SourceScan
) -> tuple[TargetAt, SourceScan]:
    """The table that UPDATE means, which may be called by an alias of its FROM, or named by SET's first column."""
    target = writes.target
    assert target is not None
    alias, end = alias_at(stream, writes.span.stop, dialect)
    first = SourceAt(target.name, alias, 0, writes.span.start)
    called = target.name.dotted
    position = _set_position(stream, end)
    assigned = name_at(stream, position + 1, dialect) if position else None
    if assigned is not None and len(assigned.parts) > 1:
        called = ".".join(qualifier(assigned.parts[:-1], dialect))
    if called in (alias, target.name.dotted, target.name.table) and called not in _aliases(sources):
        return writes, sources
    meant = next((table for table in sources.tables if called in (table.alias, table.name.dotted)), None)
    if meant is None:
        return writes, sources
    others = tuple(table for table in sources.tables if table is not meant)
    if first.name.dotted not in _aliases(sources):  # UPDATE a JOIN b SET b.x = a.y: what comes first is read
        others = (first, *others)
    return replace(writes, target=replace(target, name=meant.name)), replace(sources, tables=others)


def _aliases(sources: SourceScan) -> set[str]:
    return {table.alias for table in sources.tables if table.alias}


def _set_position(stream: TokenStream, position: int) -> int | None:
    while position < len(stream):
        if stream.word(position) == "SET":
            return position
        position = stream.after(position)
    return None
