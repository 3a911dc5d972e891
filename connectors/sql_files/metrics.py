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
from ingestion.analysis.form import RelationalStatement
from ingestion.analysis.symbolic import loads
from ingestion.dialects import Dialect, dialect_of
from ingestion.metrics.collection import MetricCollection, QueryUse
from ingestion.metrics.process import MetricsProcess, MetricsReply, MetricsRequest, TableColumns, TemporaryChange
from ingestion.metrics.report import MetricReport, reportable_metrics
from ingestion.model.digests import KEY_BYTES
from ingestion.model.lineage import StatementKind
from ingestion.parsing.sandbox.process import Limits
from ingestion.parsing.tiers import ParseOutcome
from ingestion.scripts.statements import ScriptStatement, failure_text, parse_script_statements, script_statements

_QUERIES = frozenset(
    {StatementKind.SELECT, StatementKind.CREATE_TABLE_AS, StatementKind.CREATE_VIEW, StatementKind.INSERT}
)
_WORD = re.compile(r"[\w$#]+")
WRITTEN_LATER = "a temporary table that is written to after it was made"


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
    _key: bytes = field(init=False, repr=False, default_factory=lambda: secrets.token_bytes(KEY_BYTES))

    def read(self) -> None:
        """Take every statement apart, in order."""
        found = script_statements(self.script.text, self.dialect)
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
            self._define(statement)
            self._change_temporary(statement, source)
            self.without_query += 1
            return
        request = MetricsRequest(source.text, self.dialect.name, self._key, self.known, tuple(self._temporary))
        (reply,) = self.process.take_apart([request])
        self._count(reply, QueryUse(locations=(self.script.location(source.line),)))
        self._write(statement, source, reply)

    def _count(self, reply: MetricsReply, use: QueryUse) -> None:
        if reply.metrics is not None:
            self.found.add(reply.metrics, use)
        else:
            self.found.refuse(reply.reason, use)
            self.unread += reply.unreadable

    def _define(self, statement: object) -> None:
        """The columns that a CREATE TABLE tells."""
        for change in statement.changes if isinstance(statement, RelationalStatement) else ():
            if change.kind is StatementKind.CREATE_TABLE and change.columns:
                self.known[change.name.dotted] = {column.name: column.type for column in change.columns}

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
                self.known[target.name.dotted] = reply.columns
