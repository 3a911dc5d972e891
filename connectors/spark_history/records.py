"""Statements of event logs as rows of the records that every query-log connector gives."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from connectors.base import UNSUPPORTED
from connectors.spark_history.applications.executions import Environment, ExecutedStatement
from connectors.spark_history.applications.reconciliation import KnownViews, Resolve, fold_name, reconcile
from connectors.spark_history.applications.session_state import SessionDefaults
from connectors.spark_history.applications.statement_text import TextReader
from ingestion.model import NameKind, StatementKind, StatementLineage, TableName, Target, WriteMode
from ingestion.plans.cache import PlanCache
from ingestion.plans.interning import canonical
from ingestion.plans.lineage import Application
from ingestion.plans.text.name_mapping import NameMapping
from ingestion.plans.writes.clones import clone_lineage
from ingestion.plans.writes.ddl import name_changes
from ingestion.plans.writes.unread_writes import unread_write
from ingestion.symbolic import dumps

DIALECT = "spark"
STATEMENT = re.compile(r"\s*(?:--|/\*|(?:INSERT|CREATE|REPLACE|MERGE|UPDATE|DELETE|WITH|FROM)\s)", re.IGNORECASE)
"""How a description begins that may be a statement that writes."""

FILE_SINK = re.compile(r"^(?:FileSink|DeltaSink)\[(.*)\]$")

UNFINISHED = "unfinished"
"""Status of a statement whose end the log does not have yet."""

NOT_A_LOG = "not_an_event_log"
"""Status of a file beside the event logs that is none."""

Row = dict[str, Any]


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
        return cls(log, names, Application(names), SessionDefaults(names), texts)

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
    return {"": None, None: UNFINISHED}.get(statement.error, statement.error)


def _same_tables(from_text: StatementLineage, planned: StatementLineage, views: KnownViews, resolve: Resolve) -> bool:
    """Whether a text reads and writes exactly the tables that a plan does, and what is behind the text's views."""
    targets, reads = (
        {fold_name(resolve(n)) for n in from_text.targets},
        {fold_name(resolve(n)) for n in from_text.sources},
    )
    behind = {fold_name(base) for view, bases in views.bases.items() if fold_name(view) in reads for base in bases}
    found = {fold_name(name) for name in planned.sources}
    return targets == {fold_name(name) for name in planned.targets} and reads <= found <= reads | behind


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
