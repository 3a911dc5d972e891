"""LineageParser: the lineage of a text in one object, with the names that OpenMetadata's users know, and its
exports.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Self

from ingestion.analysis.analyzer import names_in, without_schema
from ingestion.analysis.symbolic import loads
from ingestion.arguments import kind_of, require_schema, require_seconds, require_text
from ingestion.binding.binder import bind, under_last_tables
from ingestion.binding.relations import Order
from ingestion.binding.schema_changes import occurrences_of_tables
from ingestion.binding.session_names import doubted_relations, with_session_names
from ingestion.binding.timeline import Occurrence, SchemaProvider
from ingestion.dialects import Dialect, dialect_of
from ingestion.errors import (
    ConfigError,
    ParseCrash,
    ParseMemory,
    ParseTimeout,
    RecordError,
    Templated,
    TooLarge,
    Unparsable,
)
from ingestion.model.isolation import FailureStage, Isolation
from ingestion.model.lineage import (
    Column,
    ColumnRef,
    Flow,
    Json,
    LineageType,
    NameKind,
    Output,
    Problem,
    StatementLineage,
    Subtype,
    TableName,
)
from ingestion.model.namespaces import Namespace, RelationKey, candidates, created_key, readable
from ingestion.model.outcomes import code_of
from ingestion.parsing.tiers import ParseOutcome
from ingestion.scripts.statements import (
    ONE_TEXT,
    ScriptStatement,
    TextParts,
    failure_text,
    parse_script_statements,
    parse_scripts,
    script_statements,
)
from ingestion.statements.sessions import written_schemas

if TYPE_CHECKING:
    import networkx
    import pandas


JSON_VERSION = 1

_HOW = ("type", "subtype", "masking", "expression", "certain")

TableSchema = Mapping[str, str]
"""Column name -> type as the source spells it, in the order of the table's columns."""
_TABLES_SHOWN = 3
"""Tables that a parser is shown with."""


# The edges of columns in one flow, as values that print as the query has them.


@dataclass(frozen=True, slots=True)
class TargetColumn:
    """A column that a statement makes; `table` is None for a bare SELECT, whose columns print bare."""

    table: TableName | None
    column: str

    def __str__(self) -> str:
        return self.column if self.table is None else f"{self.table}.{self.column}"


@dataclass(frozen=True, slots=True)
class ColumnEdge:
    """One source column's part in one target column.

    `certain` is False where a name is ambiguous, or where the target's column is taken to be named as the source's is
    (an INSERT by position into a table of unknown schema); `expression` is masked, "" where the column is taken as is.
    """

    source: ColumnRef
    target: TargetColumn
    type: LineageType
    subtype: Subtype
    masking: bool
    expression: str
    certain: bool

    def to_dict(self) -> Json:
        """The edge for JSON, each name as the query has it."""
        return {
            "source": str(self.source),
            "target": str(self.target),
            "type": self.type.value,
            "subtype": self.subtype.value,
            "masking": self.masking,
            "expression": self.expression,
            "certain": self.certain,
        }


def _edges_of(flow: Flow, doubted: Collection[TableName]) -> Iterator[ColumnEdge]:
    """Every column edge of a flow; an indirect one of the whole row goes to each column of the target.

    Where these are not known, all of them are `*`: those behind a star, and those of the rows that a DELETE leaves.
    None of a table that is `doubted` is certain. A query that gives no rows, `SELECT @v = a FROM s WHERE b = 1`, has no
    columns that anything could lead to.
    """
    if flow.target is None and not flow.outputs:
        return
    table = flow.target.name if flow.target is not None else None
    known = table not in doubted
    for output in flow.outputs or (Output("*"),):
        target = TargetColumn(table, "*" if output.star is not None else output.name)
        if output.star is not None:
            source = ColumnRef(output.star.table, "*")
            certain = known and source.table not in doubted
            yield ColumnEdge(
                source, target, LineageType.DIRECT, Subtype.IDENTITY, masking=False, expression="", certain=certain
            )
        for reference in (*output.references, *flow.indirect):
            how = reference.transformation
            sure = known and reference.certain and (output.star is not None or not output.name_assumed)
            for source in reference.sources:
                certain = sure and source.table not in doubted
                yield ColumnEdge(
                    source, target, how.type, how.subtype, how.masking, reference.expression, certain=certain
                )


def problem_text(problem: Problem) -> str:
    """A problem as people read it: `ambiguous column: a`."""
    return f"{problem.kind.value.replace('_', ' ')}: {problem.subject}"


def _how(edge: ColumnEdge) -> dict[str, Any]:
    known = edge.to_dict()
    return {key: known[key] for key in _HOW}


def _library(name: str, method: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError:
        raise ConfigError(f"{method} needs {name}, which is not installed: pip install {name}") from None


_NOTHING_KNOWN = SchemaProvider(lambda _key: None)


def given_schemas(schema: Mapping[str, TableSchema]) -> SchemaProvider:
    """What stands before a script begins: the one given table that a name is a suffix of (or the other way round)."""
    tables = {tuple(name.lower().split(".")): columns for name, columns in schema.items()}
    if not tables:
        return _NOTHING_KNOWN

    def known_columns(key: RelationKey) -> Sequence[Column] | None:
        wanted = tuple(part.lower() for part in readable(key.parts))
        found = [columns for name, columns in tables.items() if name[-len(wanted) :] == wanted[-len(name) :]]
        return tuple(Column(name, type_) for name, type_ in found[0].items()) if len(found) == 1 else None

    return SchemaProvider(known_columns)


def _error_of(reason: str) -> type[RecordError]:
    known = (ParseTimeout, ParseMemory, ParseCrash, Templated, TooLarge)
    return next((error for error in known if code_of(reason) == error.code), Unparsable)


def _occurrences(found: Sequence[ScriptStatement], outcomes: Sequence[ParseOutcome]) -> list[Occurrence]:
    read = [
        Occurrence(str(number), loads(outcome.symbolic, stored=False), statement.namespace, (0.0, number), "script")
        for number, (statement, outcome) in enumerate(zip(found, outcomes, strict=True))
        if outcome.symbolic is not None
    ]
    return occurrences_of_tables(read)


def _with_given(
    before: SchemaProvider, found: Sequence[ScriptStatement], occurrences: Iterable[Occurrence], parts: TextParts
) -> SchemaProvider:
    """What stood before a text, with the tables that the first of its parts makes for the others.

    After `USE shop; CREATE TABLE orders (id int)` in a file of DDL `SELECT * FROM orders` in another file reads
    shop.orders, if that is the only one of its name.
    """
    if not parts.given:
        return before
    until = parts.begins[1] if len(parts.begins) > 1 else 0
    made = {
        created_key(name, one.namespace, None)
        for one in occurrences
        if found[int(one.order[1])].line < until
        for name, temporary in names_in(without_schema(one.symbolic)).created
        if not temporary
    }
    known = {readable(key.parts): key for key in made}

    def elsewhere(name: TableName, namespace: Namespace) -> RelationKey | None:
        wanted = readable(candidates(name, namespace)[0].parts)
        ends = [key for parts, key in known.items() if parts[-len(wanted) :] == wanted]
        return ends[0] if len(ends) == 1 and name.kind is NameKind.TABLE else None

    return SchemaProvider(before.schema, elsewhere)


def _checked_arguments(
    dialect: str, schema: Mapping[str, TableSchema] | None, timeout_seconds: float
) -> tuple[Dialect, SchemaProvider]:
    require_schema({} if schema is None else schema, "schema")
    require_seconds(timeout_seconds, "timeout_seconds")
    return dialect_of(dialect), given_schemas(schema or {})


def _names_of(tables: Sequence[TableName]) -> str:
    more = f" and {len(tables) - _TABLES_SHOWN} more" if len(tables) > _TABLES_SHOWN else ""
    return ", ".join(str(name) for name in tables[:_TABLES_SHOWN]) + more


def _split(query: str, dialect: Dialect) -> tuple[ScriptStatement, ...] | RecordError:
    require_text(query, "one of queries")
    try:
        return tuple(script_statements(query, dialect))
    except RecordError as error:
        return error


@dataclass(frozen=True, slots=True)
class _Text:
    """What is known of a text beside its statements."""

    dialect: Dialect
    parts: TextParts = ONE_TEXT


@dataclass(frozen=True, slots=True)
class _Bound:
    """The lineage of the statements of a text that could be read, and why others could not be.

    `doubted`: the tables of which it is not certain that the text means them.
    """

    statements: tuple[StatementLineage, ...]
    failures: tuple[str, ...]
    doubted: frozenset[TableName] = frozenset()


def _lineage_alone(
    occurrences: Sequence[Occurrence], before: SchemaProvider, isolation: Isolation[Order]
) -> StatementLineage | None:
    """What the only statement of a text says whose names mean what they say, and None of every other text.

    No schema is known, no session has changed and it moves no name: to bind it costs as much as to analyse it, and
    leaves it as it is.
    """
    if before is not _NOTHING_KNOWN or len(occurrences) != 1 or occurrences[0].symbolic.changes:
        return None
    (occurrence,) = occurrences
    with isolation.around(FailureStage.ANALYSIS, occurrence.order):
        return without_schema(occurrence.symbolic)
    return None


def _bind(
    found: Sequence[ScriptStatement], outcomes: Sequence[ParseOutcome], before: SchemaProvider, text: _Text
) -> _Bound:
    """What a text tells. Raises RecordError where none of its statements could be read."""
    reasons = {number: outcome.dead_reason for number, outcome in enumerate(outcomes) if outcome.dead_reason}
    occurrences = _occurrences(found, outcomes)
    isolation = Isolation[Order]()
    as_written = all(one.namespace == Namespace() for one in found)
    if as_written and not reasons and (alone := _lineage_alone(occurrences, before, isolation)) is not None:
        return _Bound((alone,), ())
    before = _with_given(before, found, occurrences, text.parts)
    log = bind(occurrences, before, isolation)
    from_failures = {number: f"{failure.reason}: {failure.location}" for (_, number), failure in log.failures.items()}
    failed = {**reasons, **from_failures}
    failures = tuple(failure_text(found[number], failed[number], outcomes[number]) for number in sorted(failed))
    if failed and not log.statements:
        error = _error_of(next(iter(reasons.values()))) if reasons else RecordError
        raise error("; ".join(failures))
    in_order = {(0.0, number) for number, one in enumerate(found) if one.in_order}
    if as_written:
        emptied = {(0.0, number): one.empties for number, one in enumerate(found) if one.empties}
        return _Bound(under_last_tables(log, {}, in_order, emptied), failures)
    spelled: dict[str, str] = {}
    for one in found:
        spelled |= written_schemas(one.text, text.dialect)
    mentions = [(one.occurrence, one.meaning) for one in log.statements]
    relations = doubted_relations(log.relations, mentions, before)
    doubted = {
        with_session_names(name, log.relations[number].born, spelled)
        for _, meaning in mentions
        for name, number in meaning.items()
        if number in relations
    }
    return _Bound(under_last_tables(log, spelled, in_order, {}), failures, frozenset(doubted))


def _unread_calls(found: Sequence[ScriptStatement]) -> tuple[str, ...]:
    return tuple(f"line {one.line}: {one.unread_call}" for one in found if one.calls)


class LineageParser:
    """The lineage of `query` (one statement or a script), bound to `schema` as far as it goes.

    Args:
        query: the text.
        dialect: sqlglot's name of the dialect, or "ansi", or a connection type ("Redshift").
        schema: {"schema.table": {"column": "type"}}; tables that are not in it keep their stars symbolic.
        timeout_seconds: for each parser of the cascade, enforced by killing its process.
        parts: where files begin, in a text that is put together of several.

    A name has what USE, SET search_path and their kin say of it: after `USE SCHEMA prod.core` t is prod.core.t.

    Raises:
        ConfigError: the dialect is unknown, or the time limit is no positive number.
        TypeError: an argument is of another type; nothing was parsed.
        RecordError: no statement of the text could be read (ParseTimeout, ParseMemory, ParseCrash, Unparsable,
            Templated, TooLarge say why). Where some could be, `failures` names the others. `unread_calls` names those
            that were read, and run a routine that the text does not define.
    """

    def __init__(
        self,
        query: str,
        dialect: str = "ansi",
        schema: Mapping[str, TableSchema] | None = None,
        timeout_seconds: float = 30,
        parts: TextParts = ONE_TEXT,
    ) -> None:
        require_text(query, "query")
        self._dialect, before = _checked_arguments(dialect, schema, timeout_seconds)
        found = tuple(script_statements(query, self._dialect, parts=parts))
        outcomes = parse_script_statements(found, self._dialect, timeout_seconds)
        bound = _bind(found, outcomes, before, _Text(self._dialect, parts))
        self._statements, self.failures, self._doubted = bound.statements, bound.failures, bound.doubted
        self.unread_calls = _unread_calls(found)

    @classmethod
    def of_each(
        cls,
        queries: Iterable[str],
        dialect: str = "ansi",
        schema: Mapping[str, TableSchema] | None = None,
        timeout_seconds: float = 30,
    ) -> Iterator[Self | RecordError]:
        """For each of `queries` its LineageParser, in order, or the error that it would raise.

        Each is a script of its own; they are parsed together, which is quicker than one after the other, and taken
        some chunks of 200 ahead of what is given. Raises ConfigError and TypeError like LineageParser, before the first
        is parsed where all of them suffer from it, else behind those that come before.
        """
        if isinstance(queries, str) or not isinstance(queries, Iterable):
            raise TypeError(f"queries is {kind_of(queries)}: give a list of texts; LineageParser(query) takes one")
        known, before = _checked_arguments(dialect, schema, timeout_seconds)
        return cls._of_scripts(iter(queries), known, before, timeout_seconds)

    @classmethod
    def _of_scripts(
        cls, waiting: Iterator[str], known: Dialect, before: SchemaProvider, timeout_seconds: float
    ) -> Iterator[Self | RecordError]:
        unsplit: dict[int, RecordError] = {}

        def scripts() -> Iterator[tuple[ScriptStatement, ...]]:
            for number, query in enumerate(waiting):
                script = _split(query, known)
                if isinstance(script, RecordError):
                    unsplit[number] = script
                yield () if isinstance(script, RecordError) else script

        for number, (script, outcomes) in enumerate(parse_scripts(scripts(), known, timeout_seconds)):
            yield unsplit.pop(number) if number in unsplit else cls._of_outcomes(script, outcomes, before, known)

    @classmethod
    def _of_outcomes(
        cls,
        found: Sequence[ScriptStatement],
        outcomes: Sequence[ParseOutcome],
        before: SchemaProvider,
        dialect: Dialect,
    ) -> Self | RecordError:
        parser = cls.__new__(cls)
        parser._dialect = dialect
        try:
            bound = _bind(found, outcomes, before, _Text(dialect))
            parser._statements, parser.failures, parser._doubted = bound.statements, bound.failures, bound.doubted
            parser.unread_calls = _unread_calls(found)
        except RecordError as error:
            return error
        return parser

    def __repr__(self) -> str:
        to = _names_of(self.target_tables) or "(query)"
        counts = [(len(self.edges), "column edge"), (len(self.problems), "problem"), (len(self.failures), "failure")]
        shown = ", ".join(f"{n} {what}{'' if n == 1 else 's'}" for n, what in counts if n or what == "column edge")
        return f"<LineageParser {self._dialect.name}: {_names_of(self.source_tables) or '(nothing)'} -> {to}; {shown}>"

    def to_dict(self) -> Json:
        """The lineage for JSON, with the keys that `ingest lineage --format json` has."""
        return {
            "version": JSON_VERSION,
            "source_tables": [str(name) for name in self.source_tables],
            "target_tables": [str(name) for name in self.target_tables],
            "intermediate_tables": [str(name) for name in self.intermediate_tables],
            "column_lineage": [edge.to_dict() for edge in self.edges],
            "table_lineage": [{"source": str(source), "target": str(target)} for source, target in self.table_lineage],
            "problems": [problem_text(problem) for problem in self.problems],
            "failures": list(self.failures),
        }

    def to_networkx(self) -> networkx.MultiDiGraph[str]:
        """A graph of columns, named as the query has them, with an edge for each way that one takes part in another.

        A table spelled in two ways is one. Nodes know their `table` (None for a column of a bare SELECT) and `column`,
        edges what ColumnEdge does. Raises ConfigError where networkx is not installed.
        """
        graph: networkx.MultiDiGraph[str] = _library("networkx", "to_networkx").MultiDiGraph()
        labels: dict[tuple[TableName | None, str], str] = {}
        for edge in self.edges:
            ends = []
            for end in (edge.source, edge.target):
                label = labels.setdefault((end.table, end.column), str(end))
                if label not in graph:
                    graph.add_node(label, table=None if end.table is None else str(end.table), column=end.column)
                ends.append(label)
            graph.add_edge(*ends, **_how(edge))
        return graph

    def to_pandas(self) -> pandas.DataFrame:
        """A row a column edge: both columns, each with its table (None for a bare SELECT's), and how it comes to be.

        Raises ConfigError where pandas is not installed.
        """
        rows = [
            {
                "source_table": str(edge.source.table),
                "source_column": edge.source.column,
                "target_table": None if edge.target.table is None else str(edge.target.table),
                "target_column": edge.target.column,
                **_how(edge),
            }
            for edge in self.edges
        ]
        columns = ("source_table", "source_column", "target_table", "target_column", *_HOW)
        return _library("pandas", "to_pandas").DataFrame(rows, columns=columns)

    @cached_property
    def _flows(self) -> tuple[Flow, ...]:
        return tuple(flow for statement in self._statements for flow in statement.flows)

    @cached_property
    def _read(self) -> tuple[TableName, ...]:
        return tuple(dict.fromkeys(name for flow in self._flows for name in flow.sources))

    @cached_property
    def _written(self) -> tuple[TableName, ...]:
        return tuple(dict.fromkeys(flow.target.name for flow in self._flows if flow.target is not None))

    @property
    def source_tables(self) -> tuple[TableName, ...]:
        """Tables that are read and not written by an earlier statement of the text, in order of appearance."""
        between = frozenset(self.intermediate_tables)
        return tuple(name for name in self._read if name not in between)

    @property
    def target_tables(self) -> tuple[TableName, ...]:
        """Tables that are written and not read by a later statement, in order of appearance."""
        between = frozenset(self.intermediate_tables)
        return tuple(name for name in self._written if name not in between)

    @cached_property
    def intermediate_tables(self) -> tuple[TableName, ...]:
        """Tables that one statement of the text writes and another one reads."""
        readers = Counter(name for statement in self._statements for name in statement.sources)
        found: list[TableName] = []
        for statement in self._statements:
            own = frozenset(statement.sources)
            found.extend(name for name in statement.targets if readers[name] > (name in own))
        return tuple(dict.fromkeys(found))

    @cached_property
    def table_lineage(self) -> tuple[tuple[TableName, TableName], ...]:
        """Pairs of a table that a statement reads and the table that it fills with it."""
        return tuple(
            dict.fromkeys(
                (source, flow.target.name) for flow in self._flows if flow.target is not None for source in flow.sources
            )
        )

    @cached_property
    def whole_columns(self) -> dict[TableName, tuple[str, ...]]:
        """The columns of each table that the text makes, where all of them are known."""
        found: dict[TableName, tuple[str, ...]] = {}
        for flow in self._flows:
            if flow.target is not None and flow.target.name not in found:
                names = tuple(output.name for output in flow.outputs)
                if names and all(output.star is None and output.name not in ("", "*") for output in flow.outputs):
                    found[flow.target.name] = names
        return found

    @property
    def table_aliases(self) -> dict[str, str]:
        """Alias -> table name as written, over all statements."""
        return {alias: table for statement in self._statements for alias, table in statement.aliases}

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What stays unresolved: unknown and ambiguous columns, constructs that were not followed."""
        return tuple(problem for statement in self._statements for problem in statement.problems)

    @cached_property
    def edges(self) -> tuple[ColumnEdge, ...]:
        """Every column edge, direct and indirect; an indirect one of the whole row goes to each target column."""
        return tuple(dict.fromkeys(edge for flow in self._flows for edge in _edges_of(flow, self._doubted)))

    @cached_property
    def referenced_columns(self) -> tuple[ColumnRef, ...]:
        """Every source column that the text cannot do without: those of all edges, and those that it names in vain.

        A column that a WITH item selects and nobody reads makes no edge, but the statement fails without it.
        """
        unused = (column for statement in self._statements for column in statement.unused)
        return tuple(dict.fromkeys((*(edge.source for edge in self.edges), *unused)))

    @property
    def column_lineage(self) -> tuple[tuple[ColumnRef, TargetColumn], ...]:
        """Pairs of source and target column: direct ones, and the columns in a CASE's conditions."""
        return tuple(
            dict.fromkeys(
                (edge.source, edge.target)
                for edge in self.edges
                if edge.type is LineageType.DIRECT or edge.subtype is Subtype.CONDITIONAL
            )
        )
