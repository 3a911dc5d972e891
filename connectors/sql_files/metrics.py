"""The metrics of SQL files: what their statements measure, taken apart at once and without Spark."""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from connectors.sql_files.dbt_models import dbt_project, schema_of
from connectors.sql_files.lineage import DEFAULT_DIALECT, located_failure, schema_from_json
from connectors.sql_files.scripts import Script, project_script, read_script
from ingestion.analysis.analyzer import names_in, without_schema
from ingestion.analysis.form import RelationalStatement
from ingestion.analysis.symbolic import loads
from ingestion.dialects import Dialect, dialect_of
from ingestion.metrics.collection import MetricCollection, QueryUse
from ingestion.metrics.process import MetricsProcess, MetricsReply, MetricsRequest, TableColumns, TemporaryChange
from ingestion.metrics.report import MetricReport, reportable_metrics
from ingestion.model.digests import KEY_BYTES
from ingestion.model.lineage import NameKind, StatementKind, TableName
from ingestion.model.namespaces import Namespace, candidates, may_be_temporary, readable
from ingestion.parsing.sandbox.process import Limits
from ingestion.parsing.tiers import ParseOutcome
from ingestion.scripts.statements import ScriptStatement, failure_text, parse_script_statements, script_statements

_QUERIES = frozenset(
    {StatementKind.SELECT, StatementKind.CREATE_TABLE_AS, StatementKind.CREATE_VIEW, StatementKind.INSERT}
)
_WORD = re.compile(r"[\w$#]+")
WRITTEN_LATER = "a temporary table that is written to after it was made"
MADE_ELSEWHERE = "a temporary table that was made where names mean other tables"


def file_metrics(sql: str, dialect: str | None, schema: Path | None, timeout_seconds: float) -> MetricReport:
    """The metrics of a file, a directory, a dbt project or standard input (`-`).

    `schema` is DDL, or JSON with the columns of tables. Raises ConfigError for what cannot be read.
    """
    known: Mapping[str, TableColumns] = {}
    before = schema
    if schema is not None and schema.suffix == ".json":
        known, before = schema_from_json(schema), None
    project = dbt_project(sql, dialect, timeout_seconds)
    if project is not None:
        dialect, known = project.dialect, {**schema_of(project), **known}
    rules = dialect_of(dialect or DEFAULT_DIALECT)
    script = read_script(sql, rules, before) if project is None else project_script(project, before)
    with MetricsProcess(Limits(seconds=timeout_seconds)) as process:
        reading = _Reading(script, rules, process, timeout_seconds, dict(known))
        reading.read()
    notes = () if project is None else (*map(str, project.failures), *project.notes)
    found = reading.found
    metrics, failures = reportable_metrics(found.metrics())
    failures = (*script.unread, *reading.failures, *failures)
    complete = not (failures or reading.unread or (project is not None and project.failures))
    return MetricReport(
        metrics,
        found.refused,
        reading.without_query,
        failures,
        notes,
        complete,
        tuple(found.tables.values()),
        found.without_measure,
    )


@dataclass(slots=True)
class _Reading:
    """A script on its way: what its statements define, the later ones know."""

    script: Script
    dialect: Dialect
    process: MetricsProcess
    seconds: float
    known: dict[str, TableColumns]
    found: MetricCollection = field(default_factory=MetricCollection)
    failures: list[str] = field(default_factory=list)
    without_query: int = 0
    unread: int = 0
    _temporary: list[TemporaryChange] = field(default_factory=list)
    _namespace: Namespace = field(default_factory=Namespace)
    _names: dict[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)  # in what temporary tables are made of
    _key: bytes = field(init=False, repr=False, default_factory=lambda: secrets.token_bytes(KEY_BYTES))

    def read(self) -> None:
        """Take every statement apart, in order."""
        found = script_statements(self.script.text, self.dialect, parts=self.script.parts)
        script = tuple(one for one in found if one.text or one.problem)
        outcomes = parse_script_statements(script, self.dialect, self.seconds)
        for source, outcome in zip(script, outcomes, strict=True):
            self._read(source, outcome)

    def _read(self, source: ScriptStatement, outcome: ParseOutcome) -> None:
        if outcome.dead_reason:
            self.failures.append(located_failure(failure_text(source, outcome.dead_reason, outcome), self.script))
            self._doubt_mentioned(source)
            return
        statement = loads(outcome.symbolic) if outcome.symbolic is not None else None
        if not isinstance(statement, RelationalStatement) or statement.kind not in _QUERIES:
            self._define(statement, source.namespace)
            self._change_temporary(statement, source)
            self.without_query += 1
            return
        if source.namespace != self._namespace:
            self._move(source.namespace)
        names = {**self._names, **self._full_names(statement, source.namespace)}
        request = MetricsRequest(source.text, self.dialect.name, self._key, self.known, tuple(self._temporary), names)
        (reply,) = self.process.take_apart([request])
        self._count(reply, QueryUse(locations=(self.script.location(source.line),)))
        self._write(statement, source, reply)
        if any(write.target is not None and write.target.temporary for write in statement.writes):
            self._names = names

    def _move(self, namespace: Namespace) -> None:
        """Names mean other tables from here on, those in what temporary tables are made of too."""
        self._temporary += [TemporaryChange(one.name, reason=MADE_ELSEWHERE) for one in self._temporary]
        self._namespace, self._names = namespace, {}

    def _count(self, reply: MetricsReply, use: QueryUse) -> None:
        if reply.metrics is not None:
            self.found.add(reply.metrics, use)
        else:
            self.found.refuse(reply.reason, use)
            self.unread += reply.unreadable

    def _full_names(
        self, statement: RelationalStatement, namespace: Namespace
    ) -> dict[tuple[str, ...], tuple[str, ...]]:
        """What the tables of a query are called where its session looks for them, by what it calls them."""
        if namespace == Namespace():
            return {}
        temporary = {change.name.casefold() for change in self._temporary}
        names = (name for name in names_in(without_schema(statement)).names() if name.kind is NameKind.TABLE)
        return {
            name.parts: self._full_name(name, namespace)
            for name in names
            if not (may_be_temporary(name) and name.table.casefold() in temporary)
        }

    def _full_name(self, name: TableName, namespace: Namespace) -> tuple[str, ...]:
        """Of several schemas the table is in the first that is known to have it, else in the first."""
        found = [readable(key.parts) for key in candidates(name, namespace)]
        return next((parts for parts in found if ".".join(parts) in self.known), found[0])

    def _define(self, statement: object, namespace: Namespace) -> None:
        """The columns that a CREATE TABLE tells."""
        for change in statement.changes if isinstance(statement, RelationalStatement) else ():
            if change.kind is StatementKind.CREATE_TABLE and change.columns:
                self.known[_made_name(change.name, namespace)] = {column.name: column.type for column in change.columns}

    def _change_temporary(self, statement: object, source: ScriptStatement) -> None:
        """What a statement without a query does to temporary tables; one that tells no table may write to any."""
        if not isinstance(statement, RelationalStatement) or not (statement.writes or statement.changes):
            self._doubt_mentioned(source)
            return
        for change in statement.changes:
            if change.kind is StatementKind.DROP:
                self._temporary.append(TemporaryChange(change.name.table))
            elif change.temporary:
                self._temporary.append(TemporaryChange(change.name.table, reason=WRITTEN_LATER))
            else:
                self._doubt({change.name.table})
        self._doubt({write.target.name.table for write in statement.writes if write.target is not None})

    def _doubt_mentioned(self, source: ScriptStatement) -> None:
        self._doubt(set(_WORD.findall(source.text)))

    def _doubt(self, names: Collection[str]) -> None:
        """Have what reads the temporary tables of those names from now on not be taken apart."""
        wanted = {name.casefold() for name in names}
        met = {change.name for change in self._temporary if change.name.casefold() in wanted}
        self._temporary += [TemporaryChange(name, reason=WRITTEN_LATER) for name in sorted(met)]

    def _write(self, statement: RelationalStatement, source: ScriptStatement, reply: MetricsReply) -> None:
        """What a statement makes: a temporary table is inlined into what reads it, of another its columns are known."""
        for write in statement.writes:
            target = write.target
            if target is None:
                continue
            if statement.kind is StatementKind.INSERT:
                self._doubt({target.name.table})
            elif target.temporary:
                self._temporary.append(TemporaryChange(target.name.table, source.text))
            elif reply.columns is not None and target.columns is None:
                self.known[_made_name(target.name, source.namespace)] = reply.columns


def _made_name(name: TableName, namespace: Namespace) -> str:
    """What a table is called that a session makes: of several schemas it is in the first."""
    return ".".join(readable(candidates(name, namespace)[0].parts))
