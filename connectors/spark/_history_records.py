"""Statements of event logs as records: text and plan beside each other, in the session's defaults."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from cachetools import LRUCache

from connectors.records import UNSUPPORTED
from connectors.spark._application_log import Environment, ExecutedStatement
from ingestion.analysis.analyzer import analyze
from ingestion.analysis.symbolic import dumps, loads
from ingestion.dialects import PLAIN_DIALECTS
from ingestion.errors import ParserUnavailable, Unparsable
from ingestion.model.lineage import (
    ColumnRef,
    Flow,
    LineageType,
    NameKind,
    Output,
    Problem,
    Reference,
    StatementKind,
    StatementLineage,
    Subtype,
    TableName,
    Target,
    WriteMode,
)
from ingestion.model.outcomes import Outcome, ProblemKind
from ingestion.parsing.sandbox.process import Limits, Sandbox
from ingestion.plans.cache import PlanCache, canonical
from ingestion.plans.lineage import Application
from ingestion.plans.names import QUALIFIED, SESSION_CATALOG, NameMapping
from ingestion.plans.writes import clone_lineage, name_changes, unread_write

DEFAULT_NAMESPACE = "default"

_SET_NAMESPACE = re.compile(
    r"SetCatalogAndNamespace.*?\nArguments: \S*?CatalogManager\S*, (?:(?P<catalog>[\w-]+), )?"
    r"(?:(?:List|ArraySeq|ArrayBuffer|Vector|WrappedArray)\()?(?P<namespace>[\w.-]+)",
    re.DOTALL,
)
_SET_COMMAND = re.compile(r"(?:SetNamespaceCommand|SetCatalogCommand)[^\n]{0,80}\nArguments: \[?(?P<name>[^\],\n]+)")
_USE = re.compile(
    r"^\s*USE\s+(?:(?:NAMESPACE|DATABASE|SCHEMA)\s+)?(?P<name>(?:`[^`]+`|[\w-]+)(?:\.(?:`[^`]+`|[\w-]+))*)\s*+(?:;\s*+)?+$",
    re.IGNORECASE,
)

TEXT_PARSER = "ingestion.parsing.sqlglot.tier"
TEXT_LIMITS = Limits(seconds=5.0, max_bytes=200_000)
"""A text is only compared with its plan: what takes longer is not worth it."""

TEXTS_KEPT = 500

Resolve = Callable[[TableName], TableName]

DIALECT = "spark"
STATEMENT = re.compile(r"\s*(?:--|/\*|(?:INSERT|CREATE|REPLACE|MERGE|UPDATE|DELETE|WITH|FROM)\s)", re.IGNORECASE)
"""How a description begins that may be a statement that writes."""

FILE_SINK = re.compile(r"^(?:FileSink|DeltaSink)\[(.*)\]$")

Row = dict[str, Any]


# The current catalog and namespace of each session, followed through its USE statements.


class SessionDefaults:
    """What an unqualified name means in each session of an application."""

    def __init__(self, names: NameMapping) -> None:
        self._names = names
        self._current: dict[str, tuple[str, str]] = {}

    def of(self, session: str) -> tuple[str | None, str | None]:
        """The session's database and schema, in the names of the catalog that lineage is published to."""
        catalog, namespace = self._current.get(session, (SESSION_CATALOG, DEFAULT_NAMESPACE))
        mapped = self._names.table((catalog, namespace, "_")).parts
        return (mapped[-3] if len(mapped) >= QUALIFIED else None), (mapped[-2] if len(mapped) > 1 else None)

    def current(self, session: str) -> tuple[str, str]:
        """The session's catalog and namespace as Spark names them."""
        return self._current.get(session, (SESSION_CATALOG, DEFAULT_NAMESPACE))

    def follow(self, statement: ExecutedStatement) -> None:
        """Note what a USE statement set, told by its text or by its plan."""
        text = _USE.match(statement.text) if statement.text else None
        if text:
            parts = [part.strip("`") for part in re.findall(r"`[^`]+`|[\w-]+", text.group("name"))]
            self._set(statement.spark_session, parts)
            return
        for plan in statement.plans:
            command = _SET_NAMESPACE.search(plan)
            if command:
                namespace = command.group("namespace")
                self._set(statement.spark_session, [part for part in (command.group("catalog"), namespace) if part])
                return
            simple = _SET_COMMAND.search(plan)
            if simple:
                self._set(statement.spark_session, [simple.group("name").strip("` ")])
                return

    def _set(self, session: str, parts: list[str]) -> None:
        catalog, _ = self._current.get(session, (SESSION_CATALOG, DEFAULT_NAMESPACE))
        self._current[session] = (parts[0] if len(parts) > 1 else catalog, parts[-1])


# The lineage that a statement's text tells, parsed in a process that can be killed.


class TextReader:
    """Parses the texts of statements for comparison; one process, from the first text until it is closed."""

    def __init__(self, dialect: str) -> None:
        self._dialect = dialect
        self._sandbox: Sandbox | None = None
        self._known: LRUCache[tuple[str, str], StatementLineage | None] = LRUCache(TEXTS_KEPT)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def lineage(self, text: str) -> StatementLineage | None:
        """What the text says without any schema; None where it cannot be parsed within the limits."""
        return self._read(text, self._dialect)

    def remote_query(self, text: str) -> StatementLineage | None:
        """What a query says that Spark sent to a database over JDBC, whose system a plan does not tell."""
        return next((found for dialect in PLAIN_DIALECTS if (found := self._read(text, dialect)) is not None), None)

    def _read(self, text: str, dialect: str) -> StatementLineage | None:
        if (text, dialect) not in self._known:
            self._known[text, dialect] = self._parse(text, dialect)
        return self._known[text, dialect]

    def close(self) -> None:
        """End the process."""
        if self._sandbox is not None:
            self._sandbox.close()
            self._sandbox = None

    def _parse(self, text: str, dialect: str) -> StatementLineage | None:
        if len(text) > TEXT_LIMITS.max_bytes:
            return None
        if self._sandbox is None:
            self._sandbox = Sandbox(TEXT_LIMITS)
        try:
            (answer,) = self._sandbox.parse(TEXT_PARSER, [(text, dialect)])
            if answer.symbolic is None:
                return None
            return analyze(loads(answer.symbolic), lambda _name: None)
        except (Unparsable, ParserUnavailable):
            return None


# A statement's text and its plan together: the plan decides columns and full names, the text gives view names.
#
# A physical plan reads base tables where the statement named a stored view; the text knows the view. Where text and
# plan tell different things, the plan's lineage is kept and the difference is a problem of the statement.
#
# Without a text (an INSERT by `spark.sql` or a DataFrame) nothing knows the view: Spark puts its query in its place
# before it plans, and no node, argument or id of it is left. That the same tables, columns and filter are read proves
# nothing: who writes out what the view says has the same plan. So the edge comes from the base tables, which is
# right, if further away. The view is kept by CREATE TABLE AS and saveAsTable, whose plan is logical, and by
# `spark.sql.ui.explainMode=extended`, whose analyzed plan has a View node: `operators.view` reads both.


@dataclass(slots=True)
class KnownViews:
    """The views that an application created: stored ones with their columns' origin, temporary ones by name."""

    stored: dict[TableName, Mapping[str, ColumnRef]] = field(default_factory=dict)
    bases: dict[TableName, frozenset[TableName]] = field(default_factory=dict)
    temporary: set[str] = field(default_factory=set)

    def note(self, lineage: StatementLineage) -> None:
        """Remember the views that a statement creates."""
        for flow in lineage.flows:
            if flow.target is None or not flow.target.view:
                continue
            if flow.target.temporary:
                self.temporary.add(flow.target.name.table.casefold())
                continue
            self.stored[flow.target.name] = {
                output.name: output.references[0].sources[0] for output in flow.outputs if _is_identity(output)
            }
            self.bases[flow.target.name] = frozenset(flow.sources)


def _is_identity(output: Output) -> bool:
    return (
        len(output.references) == 1
        and output.references[0].certain
        and output.references[0].transformation.subtype is Subtype.IDENTITY
    )


def reconcile(text: StatementLineage, plan: StatementLineage, views: KnownViews, resolve: Resolve) -> StatementLineage:
    """The plan's lineage with the view names of the text, and a problem for each difference between the two.

    `resolve` gives the full name of a name as the text has it.
    """
    named = {_fold_name(resolve(name)): resolve(name) for name in text.sources if name.kind is NameKind.TABLE}
    named = {key: name for key, name in named.items() if name.table.casefold() not in views.temporary}
    read = {_fold_name(name): name for name in plan.sources if name.kind is NameKind.TABLE}
    only_text = [name for key, name in named.items() if key not in read]
    only_plan = [name for key, name in read.items() if key not in named]
    stored = {_fold_name(name): name for name in views.stored}
    viewed = [stored[_fold_name(name)] for name in only_text if _fold_name(name) in stored]
    behind = {base for view in viewed for base in views.bases[view]}
    if len(viewed) == len(only_text) and all(name in behind for name in only_plan):
        plan = _through_views(plan, viewed, only_plan, views)
        return plan if viewed else _with_problems(plan, _column_differences(text, plan, resolve))
    differing = [*only_text] if not views.temporary else [name for name in only_text if name not in viewed]
    differing += [name for name in only_plan if name not in behind and not views.temporary]
    return _with_problems(plan, (Problem(ProblemKind.DISAGREEMENT, name.dotted) for name in differing))


def _fold_name(name: TableName) -> tuple[str, ...]:
    return tuple(part.casefold() for part in name.parts)


def _with_problems(lineage: StatementLineage, problems: Iterable[Problem]) -> StatementLineage:
    return replace(lineage, problems=tuple(dict.fromkeys([*lineage.problems, *problems])))


# Names of views.


def _through_views(
    plan: StatementLineage, viewed: list[TableName], hidden: list[TableName], views: KnownViews
) -> StatementLineage:
    """The plan's lineage with columns of base tables that only views read as the columns of those views."""
    view_columns: dict[ColumnRef, ColumnRef | None] = {}
    for view in viewed:
        for column, base in views.stored[view].items():
            if base.table in hidden:
                view_columns[base] = None if base in view_columns else ColumnRef(view, column)
    known = {base: column for base, column in view_columns.items() if column is not None}
    if not known:
        return plan
    return replace(plan, flows=tuple(_move(flow, known) for flow in plan.flows))


def _move(flow: Flow, view_columns: Mapping[ColumnRef, ColumnRef]) -> Flow:
    outputs = tuple(
        replace(output, references=tuple(_moved_reference(item, view_columns) for item in output.references))
        for output in flow.outputs
    )
    indirect = tuple(_moved_reference(item, view_columns) for item in flow.indirect)
    used = [r for output in outputs for r in output.references] + list(indirect)
    tables = {column.table: None for reference in used for column in reference.sources}
    left = [table for table in flow.sources if table in tables or not any(base.table == table for base in view_columns)]
    return replace(flow, outputs=outputs, indirect=indirect, sources=tuple(dict.fromkeys([*left, *tables])))


def _moved_reference(reference: Reference, view_columns: Mapping[ColumnRef, ColumnRef]) -> Reference:
    return replace(reference, sources=tuple(view_columns.get(column, column) for column in reference.sources))


# Columns.


def _column_differences(text: StatementLineage, plan: StatementLineage, resolve: Resolve) -> list[Problem]:
    """The columns whose direct sources text and plan tell differently; what the text leaves open is no difference."""
    if len(text.flows) != len(plan.flows):
        return []
    found: list[Problem] = []
    for written, planned in zip(text.flows, plan.flows, strict=True):
        if len(written.outputs) != len(planned.outputs) or any(output.star for output in written.outputs):
            continue
        for mine, theirs in zip(written.outputs, planned.outputs, strict=True):
            if _differs(mine, theirs, resolve):
                found.append(Problem(ProblemKind.DISAGREEMENT, theirs.name))
    return found


def _differs(written: Output, planned: Output, resolve: Resolve) -> bool:
    candidates = [
        {(_fold_name(resolve(column.table)), column.column.casefold()) for column in reference.sources}
        for reference in written.references
        if reference.transformation.type is LineageType.DIRECT
    ]
    read = {
        (_fold_name(column.table), column.column.casefold())
        for reference in planned.references
        if reference.transformation.type is LineageType.DIRECT
        for column in reference.sources
    }
    allowed = {item for each in candidates for item in each}
    return not read <= allowed or any(not each & read for each in candidates)


# Statements of event logs as rows of the records that every query-log connector gives.


@dataclass(frozen=True, slots=True)
class _Evaluated:
    """A statement's text and lineage, the latter also as it is stored (`content`).

    `unread` is the kind of a write that was not understood.
    """

    text: str | None
    lineage: StatementLineage | None = None
    content: bytes | None = None
    unread: str | None = None


@dataclass(slots=True)
class RecordWriter:
    """Makes the rows of one log, in the order of its statements: later ones refer to earlier ones."""

    log: str
    names: NameMapping
    application: Application
    defaults: SessionDefaults
    texts: TextReader
    views: KnownViews = field(default_factory=KnownViews)
    environment: Environment | None = None
    plans: PlanCache = field(default_factory=PlanCache)
    read_until: float | None = None

    @classmethod
    def of(cls, log: str, names: NameMapping, texts: TextReader) -> RecordWriter:
        """Of the file `log`, from its beginning; `texts` reads the SQL in it."""
        application = Application(names, query_lineage=texts.remote_query)
        return cls(log, names, application, SessionDefaults(names), texts)

    def rows(self, statement: ExecutedStatement) -> Iterator[Row]:
        """One row a statement: with its text, its lineage from the plan, or both; failures have no lineage.

        None for what had ended when the log was read before.
        """
        catalog, schema = self.defaults.of(statement.spark_session)
        read = self._evaluate(statement) if statement.error == "" else _Evaluated(statement.text)
        start, end, lineage = statement.start, statement.end, read.lineage
        if end is not None and self.read_until is not None and end < self.read_until:
            return
        yield {
            "source_id": f"{self.log}#{statement.key}",
            "text": read.text,
            "start_time": start,
            "end_time": end,
            "duration": end - start if start is not None and end is not None else None,
            "user": statement.user or None,
            "session": ":".join(part for part in (statement.application, statement.session) if part) or None,
            "database": catalog,
            "schema": schema,
            "dialect": DIALECT,
            "query_type": lineage.kind.value if lineage is not None else None,
            "status": UNSUPPORTED + read.unread if read.unread and read.text is None else _status_of(statement),
            "problem": None,
            "symbolic": read.content if lineage is not None else None,
            "rows": statement.rows if statement.error == "" else None,
        }

    def _evaluate(self, statement: ExecutedStatement) -> _Evaluated:
        """What a statement that ended well says; its session follows it."""
        before = self.defaults.current(statement.spark_session)
        self._locate(statement)
        planned, content = self.plans.lineage(statement.plans, self.application, stream=statement.stream)
        self.defaults.follow(statement)
        names, text, unread = self.application.names, statement.text, None
        lineage = planned or clone_lineage(statement.plans, names) or name_changes(statement.plans, names)
        if lineage is not None:
            lineage = _qualify(lineage, before, names)
        if lineage is not None and statement.sink is not None:
            lineage = _into_sink(lineage, statement.sink, names)
        if planned is not None and lineage is not None:
            text, lineage = self._reconcile(lineage, statement, before)
        if lineage is None or lineage.kind is StatementKind.SELECT:
            unread = unread_write(statement.plans, statement.sink)
            lineage = lineage if unread is None else None
        if lineage is None and text is None and unread is None:
            lineage = StatementLineage(StatementKind.OTHER)
        if lineage is not None and lineage is not planned:
            content = dumps(canonical(lineage))
        return _Evaluated(text, lineage, content, unread)

    def _reconcile(
        self, lineage: StatementLineage, statement: ExecutedStatement, defaults: tuple[str, str]
    ) -> tuple[str | None, StatementLineage]:
        """A statement's text, and its plan's lineage beside what that text says, where it has one.

        A job's description is its text where it is a whole statement that reads and writes what the plan does: Kyuubi
        and notebooks set it so. Any other is left out: it may be anybody's words, in which nothing can be masked for
        certain, or be left over from the job before.
        """
        text, described, names = statement.text, statement.described or "", self.application.names

        def resolve(name: TableName) -> TableName:
            return _full_name(name, defaults, names)

        if any(flow.target is not None for flow in lineage.flows) and (text or STATEMENT.match(described)):
            from_text = self.texts.lineage(text or described)
            both = reconcile(from_text, lineage, self.views, resolve) if from_text is not None else lineage
            if text is not None:
                lineage = both
            elif (
                from_text is not None
                and both.problems == lineage.problems
                and _same_tables(from_text, both, self.views, resolve)
            ):
                text, lineage = described, both
        self.views.note(lineage)
        return text, lineage

    def _locate(self, statement: ExecutedStatement) -> None:
        found = statement.environment
        if found is not self.environment:
            self.environment = found
            self.application.names = replace(
                self.names, warehouse=found.warehouse, catalogs=found.catalogs, urls=found.urls
            )


def _status_of(statement: ExecutedStatement) -> str | None:
    """None of what ended well."""
    return {"": None, None: Outcome.UNFINISHED}.get(statement.error, statement.error)


def _same_tables(from_text: StatementLineage, planned: StatementLineage, views: KnownViews, resolve: Resolve) -> bool:
    """Whether a text reads and writes exactly the tables that a plan does, and what is behind the text's views."""
    targets, reads = (
        {_fold_name(resolve(n)) for n in from_text.targets},
        {_fold_name(resolve(n)) for n in from_text.sources},
    )
    behind = {_fold_name(base) for view, bases in views.bases.items() if _fold_name(view) in reads for base in bases}
    found = {_fold_name(name) for name in planned.sources}
    return targets == {_fold_name(name) for name in planned.targets} and reads <= found <= reads | behind


def _full_name(name: TableName, defaults: tuple[str, str], names: NameMapping) -> TableName:
    """The full name of a table as a statement's text names it, by the session's defaults."""
    if name.kind is not NameKind.TABLE:
        return name
    missing = max(0, len(defaults) + 1 - len(name.parts))
    return names.table((*defaults[:missing], *name.parts))


def _qualify(lineage: StatementLineage, defaults: tuple[str, str], names: NameMapping) -> StatementLineage:
    """Lineage whose targets have full names: Spark 3.3 and older print those of the current schema without it."""
    flows = tuple(
        replace(flow, target=replace(flow.target, name=_full_name(flow.target.name, defaults, names)))
        if flow.target is not None and not flow.target.temporary and len(flow.target.name.parts) == 1
        else flow
        for flow in lineage.flows
    )
    return replace(lineage, flows=flows) if flows != lineage.flows else lineage


def problem_row(source_id: str, problem: str | None, status: str | None = None) -> Row:
    """The row of what could not be read: `problem` names no content; a `status` says that a later run may."""
    return {
        **dict.fromkeys(
            "text start_time end_time duration user session database schema query_type status symbolic".split()  # noqa: SIM905
        ),
        "source_id": source_id,
        "dialect": DIALECT,
        "status": status,
        "problem": problem,
    }


def _into_sink(lineage: StatementLineage, sink: str, names: NameMapping) -> StatementLineage:
    """A micro-batch whose plan names no target, written to the sink that the query's progress tells."""
    location = FILE_SINK.match(sink)
    if location is None or any(flow.target is not None for flow in lineage.flows):
        return lineage
    target = Target(names.path(location.group(1)), WriteMode.APPEND)
    flows = tuple(
        replace(flow, target=replace(target, columns=tuple(output.name for output in flow.outputs)))
        for flow in lineage.flows
    )
    return replace(lineage, kind=StatementKind.INSERT, flows=flows)
