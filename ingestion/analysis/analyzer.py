"""The one analyzer: the relational form and the schemas that are known give the lineage of a statement, and its
names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count
from typing import NamedTuple

from ingestion.analysis._columns import ROLE_MASK, ColumnValue, Entry, QueryColumns, SchemaLookup, UnexpandedStar
from ingestion.analysis._queries import QueryAnalysis
from ingestion.analysis.form import RelationalStatement, Select, SetOperation, WriteForm
from ingestion.analysis.roles import IDENTITY
from ingestion.analysis.symbolic import with_names
from ingestion.dialects import Dialect
from ingestion.errors import TooManyColumns
from ingestion.model.function_parameters import PARAMETERS, parameter_in
from ingestion.model.isolation import FailureStage, Isolation
from ingestion.model.lineage import (
    ColumnRef,
    CreateMode,
    Flow,
    FunctionBody,
    LineageType,
    NameKind,
    Output,
    ParameterUse,
    Reference,
    StarOutput,
    StatementKind,
    StatementLineage,
    Subtype,
    TableChange,
    TableName,
    TableUsageNames,
    Target,
    Transformation,
    WriteMode,
)
from ingestion.model.outcomes import ProblemKind
from ingestion.model.steps import MOST_COLUMNS, take_steps

_IDENTITY = Transformation(Subtype.IDENTITY)

CREATING_KINDS = frozenset(
    {
        StatementKind.CREATE_TABLE,
        StatementKind.CREATE_TABLE_AS,
        StatementKind.CREATE_VIEW,
        StatementKind.CREATE_TABLE_LIKE,
    }
)

_MOST_TO_NAME = 1 << 18
"""Bytes of lineage of which the names are read off here: more is for who has no limits of time and memory."""


# Binding of lineage that needs no relational form (it came from a plan): stars and candidates, as schemas allow.


def _bind_lineage(lineage: StatementLineage, schema_of: SchemaLookup) -> StatementLineage:
    """The lineage with its stars expanded and its candidates narrowed where schemas are known."""
    flows = tuple(_bind(flow, schema_of) for flow in lineage.flows)
    _check_columns(flows, lineage.changes)
    return lineage if flows == lineage.flows else replace(lineage, flows=flows)


def _bind(flow: Flow, schema_of: SchemaLookup) -> Flow:
    outputs = tuple(bound for output in flow.outputs for bound in _bound_outputs(output, schema_of))
    outputs = _by_position(flow, outputs, schema_of)
    indirect = tuple(bound for reference in flow.indirect for bound in _references(reference, schema_of))
    if outputs == flow.outputs and indirect == flow.indirect:
        return flow
    return replace(flow, outputs=outputs, indirect=indirect)


def _bound_outputs(output: Output, schema_of: SchemaLookup) -> Iterator[Output]:
    star = output.star
    if star is None:
        references = tuple(bound for reference in output.references for bound in _references(reference, schema_of))
        yield output if references == output.references else replace(output, references=references)
        return
    schema = schema_of(star.table)
    if not schema:
        yield output
        return
    yield from (
        Output(
            name,
            (Reference((ColumnRef(star.table, column),), _IDENTITY),),
            type_,
            None,
            output.name_assumed,
        )
        for name, column, type_ in _expand(star, schema_of)
    )


def _expand(star: StarOutput, schema_of: SchemaLookup) -> Iterator[tuple[str, str, str]]:
    renamed = dict(star.renamed)
    for column in schema_of(star.table) or ():
        if column.name not in star.excluded and not column.hidden:
            yield renamed.get(column.name, column.name), column.name, column.type


def _references(reference: Reference, schema_of: SchemaLookup) -> Iterator[Reference]:
    """The uses of what schemas know by now: a star becomes each column, candidates those tables that have the column.

    Of `SELECT a FROM t, u` t.a and u.a are candidates; once u is known to have no a, t.a alone is left.
    """
    sources = reference.sources
    if len(sources) == 1 and sources[0].column == "*":
        schema = schema_of(sources[0].table)
        for column in schema or ():
            yield replace(reference, sources=(ColumnRef(sources[0].table, column.name),))
        if not schema:
            yield reference
        return
    if len(sources) <= 1:
        yield reference
        return
    left = []
    for source in sources:
        schema = schema_of(source.table)
        if not schema:
            left.append((source, False))
        elif any(column.name == source.column for column in schema):
            left.append((source, True))
    sure = [source for source, known in left if known]
    kept = tuple(sure) if sure else tuple(source for source, _ in left)
    if kept:
        yield reference if kept == sources else replace(reference, sources=kept)


def _by_position(flow: Flow, outputs: tuple[Output, ...], schema_of: SchemaLookup) -> tuple[Output, ...]:
    """Outputs whose place was a guess, at the place that the target's schema gives them."""
    target = flow.target
    if target is None or target.by_name or not any(output.name_assumed for output in outputs):
        return outputs
    if any(output.star is not None for output in outputs):
        return outputs
    columns = target.columns or tuple(column.name for column in schema_of(target.name) or () if not column.hidden)
    if not columns:
        return outputs
    return tuple(
        replace(output, name=columns[number], name_assumed=False) if number < len(columns) else output
        for number, output in enumerate(outputs)
    )


# The lineage of a statement from its relational form.


class _OutputName(NamedTuple):
    """The target's name for an output (None: its own), whether that is a guess, and whether it goes nowhere."""

    name: str | None
    assumed: bool = False
    surplus: bool = False


def _output_names(
    entries: Sequence[Entry], write: WriteForm, schema_of: SchemaLookup
) -> tuple[list[_OutputName], bool]:
    """How the target calls each output, and whether there are more or fewer outputs than columns.

    Columns are met by position, never by name, unless the statement says BY NAME. With a run of unknown columns, what
    stands after it is counted from the end.
    """
    target = write.target
    assert target is not None
    if target.by_name:  # of Delta Lake's UPDATE SET * it takes what it has, or is given a column: who knows which
        known = {column.name.lower() for column in schema_of(target.name) or ()}
        unsaid = (isinstance(entry, UnexpandedStar) or not known or entry[0].lower() in known for entry in entries)
        return [_OutputName(None, assumed=not each) for each in unsaid], False
    columns = target.columns
    if columns is None:
        if target.mode is WriteMode.CREATE:
            return [_OutputName(None) for _ in entries], False
        columns = _known_columns(write, schema_of)
        if columns is None:
            return _names_where_unknown(entries, write.chosen), False
    stars = [number for number, entry in enumerate(entries) if isinstance(entry, UnexpandedStar)]
    if not stars:
        kept = target.mode is WriteMode.CREATE  # PostgreSQL: behind a shorter list, columns keep the query's names
        names = [
            _OutputName(columns[n]) if n < len(columns) else _OutputName(None, assumed=not kept, surplus=not kept)
            for n in range(len(entries))
        ]
        may_differ = kept if len(entries) > len(columns) else target.columns is None
        return names, len(entries) != len(columns) and not may_differ
    names = []
    after = len(entries) - stars[-1] - 1
    for number in range(len(entries)):
        if number < stars[0] and number < len(columns):
            names.append(_OutputName(columns[number]))
        elif number > stars[-1] and len(entries) - number <= len(columns) and len(columns) >= after + stars[0]:
            names.append(_OutputName(columns[number - len(entries)]))
        else:
            names.append(_OutputName(None, assumed=True))
    return names, False


def _names_where_unknown(entries: Sequence[Entry], chosen: tuple[str, ...]) -> list[_OutputName]:
    """Of `INSERT INTO t PARTITION (day) SELECT a, b FROM s` the last is t.day, whatever columns t has."""
    first = len(entries) - len(chosen)
    if first < 0 or any(isinstance(entry, UnexpandedStar) for entry in entries[first:]):
        chosen, first = (), len(entries)
    return [_OutputName(None, assumed=True)] * first + [_OutputName(name) for name in chosen]


def _target_spelling(write: WriteForm, schema_of: SchemaLookup) -> Callable[[str], str]:
    """How the target itself spells a column's name: another case of it is the same column."""
    schema = (schema_of(write.target.name) if write.target is not None else None) or ()
    exact = {column.name for column in schema}
    folded: dict[str, str | None] = {}
    for name in exact:
        folded[name.lower()] = None if name.lower() in folded else name
    return lambda name: name if name in exact else folded.get(name.lower()) or name


def _known_columns(write: WriteForm, schema_of: SchemaLookup) -> tuple[str, ...] | None:
    """The target's columns that positions mean: a static partition sets its own."""
    assert write.target is not None
    schema = schema_of(write.target.name)
    if not schema:
        return None
    fixed = {name.lower() for name in write.fixed}
    return tuple(column.name for column in schema if column.name.lower() not in fixed and not column.hidden)


def analyze(statement: RelationalStatement | StatementLineage, schema_of: SchemaLookup) -> StatementLineage:
    """The lineage of one statement, as far as `schema_of` (None: schema unknown) lets it be resolved.

    Stars over unknown tables stay stars, and unprefixed names that several of them may have keep their candidates
    (`SELECT a FROM t, u`: t.a and u.a), so that the same statement can be analysed again when more schemas are known.
    """
    if isinstance(statement, StatementLineage):
        return _bind_lineage(statement, schema_of)
    of_function = any(w.target is not None and w.target.name.kind is NameKind.FUNCTION for w in statement.writes)
    analysis = QueryAnalysis(statement.dialect, schema_of, of_function=of_function)
    flows = tuple(_flow(analysis, write, schema_of) for write in statement.writes)
    if of_function:
        flows = tuple(_with_body(*pair) for pair in zip(flows, statement.writes, strict=True))
    _check_columns(flows, statement.changes)
    return StatementLineage(
        statement.kind,
        flows,
        statement.changes,
        statement.aliases,
        statement.problems + analysis.problems,
        analysis.unused_columns(),
        tuple(analysis.functions),
    )


def _check_columns(flows: tuple[Flow, ...], changes: tuple[TableChange, ...]) -> None:
    """Raises TooManyColumns where more columns of one table are named than a catalog takes of one.

    Such a table would be refused there, and with it every other statement that reads or fills it.
    """
    if any(len(change.columns) > MOST_COLUMNS for change in changes):
        raise TooManyColumns("the statement makes too many columns")
    for flow in flows:
        if len(flow.outputs) > MOST_COLUMNS:
            raise TooManyColumns("the statement fills too many columns")
        named: dict[TableName, set[str]] = {}
        if sum(len(one.references) for one in flow.outputs) + len(flow.indirect) > MOST_COLUMNS:
            for source in (source for one in flow.references() for source in one.sources):
                named.setdefault(source.table, set()).add(source.column)
        if any(len(columns) > MOST_COLUMNS for columns in named.values()):
            raise TooManyColumns("the statement reads too many columns of a table")


def _analyze_tables(statement: RelationalStatement | StatementLineage) -> StatementLineage:
    """What `analyze` says of tables and functions where no schema is known, without a word of columns."""
    if isinstance(statement, StatementLineage):
        return statement
    analysis = QueryAnalysis(statement.dialect, _no_schema)
    flows = tuple(_tables(analysis, write) for write in statement.writes)
    return StatementLineage(statement.kind, flows, statement.changes, functions=tuple(analysis.functions))


def _no_schema(_name: TableName) -> None:
    return None


def _tables(analysis: QueryAnalysis, write: WriteForm) -> Flow:
    updates = write.target is not None and write.target.mode is WriteMode.UPDATE
    if write.query is None or updates or write.empty:  # whether an UPDATE reads its own table, its outputs tell
        return _flow(analysis, write, _no_schema)
    return Flow(write.target, (), (), tuple(analysis.query(write.query).tables))


def _flow(analysis: QueryAnalysis, write: WriteForm, schema_of: SchemaLookup) -> Flow:
    if write.query is None:
        return Flow(write.target, (), (), write.sources)
    rows = analysis.query(write.query)
    target = write.target
    sources = dict(rows.tables)
    outputs: tuple[Output, ...] = ()
    if not write.deletes:
        outputs = _outputs(analysis, rows, write, schema_of)
        if target is not None and target.mode is WriteMode.UPDATE:
            _keep_own_values(outputs, target, sources)
    if write.empty:
        return _without_rows(Flow(target, outputs, (), tuple(sources)))
    indirect = tuple(analysis.reference(key, _text_of(value)) for key, value in rows.indirect.items())
    return Flow(target, outputs, indirect, tuple(sources))


def _without_rows(flow: Flow) -> Flow:
    """What `CREATE TABLE a AS SELECT x FROM s WITH NO DATA` tells, as of LIKE: a comes from s, and no column of it.

    Of a temporary table that would be told of whatever is made of its rows, and is not. A star says of no column by
    itself what it is called.
    """
    named = all(output.star is None for output in flow.outputs)
    outputs = tuple(replace(output, references=()) for output in flow.outputs) if named else ()
    return replace(flow, outputs=outputs, sources=() if flow.target and flow.target.temporary else flow.sources)


def _with_body(flow: Flow, write: WriteForm) -> Flow:
    """The flow into a function whose parameters are no columns that it reads, but what it does with its arguments."""
    of_rows = [use for reference in flow.indirect if (use := _parameter_use(reference, rows=True)) is not None]
    outputs = []
    for output in flow.outputs:
        uses = [use for reference in output.references if (use := _parameter_use(reference)) is not None]
        kept = tuple(reference for reference in output.references if _parameter_use(reference) is None)
        body = None
        if write.given is not None:
            body = FunctionBody(write.given, tuple(dict.fromkeys([*uses, *of_rows])), reads=bool(flow.sources))
        outputs.append(replace(output, references=kept, body=body))
    indirect = tuple(reference for reference in flow.indirect if _parameter_use(reference) is None)
    return replace(flow, outputs=tuple(outputs), indirect=indirect)


def _parameter_use(reference: Reference, *, rows: bool = False) -> ParameterUse | None:
    """What a reference says of a parameter; None where it is to a column of a table."""
    (column, *_) = reference.sources
    if column.table != PARAMETERS:
        return None
    return ParameterUse(*parameter_in(column), reference.transformation, rows)


def _text_of(value: ColumnValue) -> str:
    """The expression behind a value; "" where it is a column as it is."""
    keys = value.keys
    if value.expression is None and not value.branches and len(keys) == 1 and keys[0] & ROLE_MASK == IDENTITY:
        return ""
    return value.text()


def _keep_own_values(outputs: tuple[Output, ...], target: Target, sources: dict[TableName, None]) -> None:
    """UPDATE t SET a = a + 1 reads t: it is a source where its values are used."""
    if target.name in sources:
        return
    for output in outputs:
        for reference in output.references:
            if reference.transformation.type is LineageType.DIRECT and any(
                column.table == target.name for column in reference.sources
            ):
                sources[target.name] = None
                return


def _outputs(
    analysis: QueryAnalysis, rows: QueryColumns, write: WriteForm, schema_of: SchemaLookup
) -> tuple[Output, ...]:
    entries = _with_numbers(analysis.dialect, rows.entries)
    names = [_OutputName(None)] * len(entries)
    spell = _target_spelling(write, schema_of)
    if write.target is not None:
        names, miscounted = _output_names(entries, write, schema_of)
        if miscounted:
            analysis.problem(ProblemKind.COLUMN_COUNT, str(write.target.name))
        if analysis.dialect.repeated_names_numbered and write.target.mode is WriteMode.CREATE:
            names = list(_numbered_names(entries, names))
    bare = _bare_names(entries, write) if analysis.dialect.dotted_columns else {}
    return tuple(
        output
        for entry, given in zip(entries, names, strict=True)
        if not given.surplus
        for output in _entry_outputs(analysis, entry, given._replace(name=_assumed_name(entry, given, bare)), spell)
    )


def _with_numbers(dialect: Dialect, entries: Sequence[Entry]) -> list[Entry]:
    """The columns with the names that numbers give those without: a and _col1 of Trino's `SELECT a, b + 1`.

    BigQuery counts those alone: a and f0_.
    """
    found: list[Entry] = []
    unnamed = count()
    for position, entry in enumerate(entries):
        if isinstance(entry, tuple) and not entry[0] and dialect.numbered_output:
            number = next(unnamed) if dialect.unnamed_numbered_alone else position
            entry = dialect.numbered_output.format(number), entry[1]
        found.append(entry)
    return found


def _numbered_names(entries: Sequence[Entry], names: Sequence[_OutputName]) -> Iterator[_OutputName]:
    """DuckDB's names of what it makes of `SELECT a, a, b AS a`: a, a_1 and a_2, where nothing before is called so."""
    used: set[str] = set()
    for entry, given in zip(entries, names, strict=True):
        if given.name is not None or not isinstance(entry, tuple):
            yield given
            continue
        numbered = (f"{entry[0]}_{number}" for number in count(1))
        name = next(one for one in chain(entry[:1], numbered) if one.lower() not in used)
        used.add(name.lower())
        yield given if name == entry[0] else given._replace(name=name)


def _assumed_name(entry: Entry, given: _OutputName, bare: Mapping[str, str]) -> str | None:
    return bare.get(entry[0]) if given.assumed and given.name is None and isinstance(entry, tuple) else given.name


def _bare_names(entries: Sequence[Entry], write: WriteForm) -> dict[str, str]:
    """k for u.k, as ClickHouse calls a column that both sides of a join have, where nothing else is called k.

    So the column is assumed to be called that `INSERT INTO o SELECT u.k FROM t JOIN u ON t.k = u.k` fills.
    """
    query = write.query
    while isinstance(query, SetOperation):
        query = query.branches[0]
    relations = query.relations if isinstance(query, Select) else ()
    called = {one.alias or (one.source.table if isinstance(one.source, TableName) else "") for one in relations}
    names = {entry[0] for entry in entries if isinstance(entry, tuple)}
    parted = [(name, *name.partition(".")[::2]) for name in names]
    return {name: rest for name, relation, rest in parted if rest and relation in called and rest not in names}


def _entry_outputs(
    analysis: QueryAnalysis, entry: Entry, given: _OutputName, spell: Callable[[str], str]
) -> Iterator[Output]:
    if isinstance(entry, UnexpandedStar):
        if entry.value is not None:
            yield Output("*", _references_of(analysis, entry.whole(analysis.sources)), "", None, name_assumed=True)
        else:
            star = StarOutput(entry.table, tuple(sorted(entry.excluded)), entry.renamed)
            yield Output("*", (), "", star, given.assumed)
        for other in entry.others:  # the same positions in other branches, so under names of the first
            beside = other if isinstance(other, UnexpandedStar) else ("*", other)
            yield from _entry_outputs(analysis, beside, _OutputName(None, assumed=True), spell)
        return
    name = spell(entry[0] if given.name is None else given.name)
    yield Output(name, _references_of(analysis, entry[1]), entry[1].type(), None, given.assumed)


def _references_of(analysis: QueryAnalysis, value: ColumnValue) -> tuple[Reference, ...]:
    """The references of an output's value; those of a set operation's branches each with their own expression."""
    found: dict[int, Reference] = {}
    stack = [value]
    while stack:
        current = stack.pop()
        if current.branches:
            stack.extend(reversed(current.branches))
            continue
        take_steps(len(current.keys))
        for key in current.keys:
            if key not in found:
                role = key & ROLE_MASK
                origin = current.origins.get(key, current) if current.origins else current
                text = "" if role == IDENTITY else origin.text()
                found[key] = analysis.reference(key, text)
    return tuple(found.values())


# The names that a statement reads, writes and changes, from its symbolic lineage alone.


def mentions(symbolic: RelationalStatement | StatementLineage) -> TableUsageNames:
    """The names of one statement; which relation each means is the timeline's to say."""
    return names_in(_analyze_tables(symbolic))


def lineage_with_names(data: bytes, symbolic: RelationalStatement | StatementLineage) -> bytes:
    """The bytes of `symbolic` (`ingestion.analysis.symbolic.dumps`) with its names, where these can be read off."""
    if len(data) > _MOST_TO_NAME:
        return data
    # What fails here fails again where the statement is bound, and is told there.
    with Isolation[str]().around(FailureStage.ANALYSIS, "names"):
        return with_names(data, mentions(symbolic))
    return data


def names_in(lineage: StatementLineage) -> TableUsageNames:
    """The names of a statement that was analysed without any schema."""
    written = tuple(
        dict.fromkeys(
            (flow.target.name, flow.target.temporary, flow.target.mode)
            for flow in lineage.flows
            if flow.target is not None
        )
    )
    created = [(name, temporary) for name, temporary, mode in written if mode is WriteMode.CREATE]
    created += [(change.name, change.temporary) for change in lineage.changes if change.kind in CREATING_KINDS]
    # what a table makes of itself by its definition, it reads of nothing that stood under its name before
    defined = {change.name for change in lineage.changes if change.kind is StatementKind.CREATE_TABLE}
    read = tuple(name for name in dict.fromkeys((*lineage.sources, *lineage.functions)) if name not in defined)
    modes = [(flow.target.name, flow.target.create_mode) for flow in lineage.flows if flow.target is not None]
    modes += [(change.name, change.create_mode) for change in lineage.changes]
    others = tuple(dict.fromkeys(pair for pair in modes if pair[1] is not CreateMode.NEW))
    return TableUsageNames(read, tuple(dict.fromkeys(created)), written, lineage.changes, others)


def without_schema(symbolic: RelationalStatement | StatementLineage) -> StatementLineage:
    """What the statement says when no schema is known."""
    return analyze(symbolic, lambda _name: None)
