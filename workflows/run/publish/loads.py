"""What a log tells of loads beyond that they ran: which failed, and how many rows the others wrote."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pyspark.sql import Column, DataFrame, Row, Window
from pyspark.sql import functions as F

from connectors.openmetadata.client import LOADS, file_loads
from ingestion.analysis.symbolic import Symbolic
from ingestion.arguments import listing
from ingestion.model.entities import TableEntity
from ingestion.model.isolation import FailureStage, Probe, in_parts
from ingestion.model.lineage import Json, StatementKind, StatementLineage, TableName
from ingestion.model.namespaces import Mention, Namespace, NamespaceDefaults, may_be_temporary
from ingestion.model.table_commits import COMMITTED, commit_run
from ingestion.parsing.templates import REPORTED, ParsedTemplate
from ingestion.resolution import Resolved, Resolver
from workflows.config import RunConfig
from workflows.config.namespaces import SourceSettings
from workflows.counts import loss_warnings
from workflows.run.group.names import temporary_names
from workflows.run.group.runs import OF_SESSION, with_session_namespaces
from workflows.run.read.reader import Statements
from workflows.run.read.statements import ORDER
from workflows.run.resolve.entities import is_allowed, is_guess
from workflows.target import RunTarget

_HOUR = 3600
_MOST = 20_000
"""Loads of a kind that a run files, the newest first."""
_MOST_OF_ONE = 750
"""Of a statement: an hour each, for a month."""
_OF_STATEMENT = ("template", "dialect", "namespace_database", "namespace_path")
_MOMENT = ("time", "digest", "rows", "line")
_AT_ONCE = 5_000
_CHANGING = (StatementKind.UPDATE, StatementKind.DELETE)


# The loads of a log that failed and those with a number of rows, gathered by Spark.
#
# What comes to the driver grows with templates and hours, and with nothing else.


@dataclass(frozen=True, slots=True)
class LoadMoment:
    """A run at a time (seconds since the epoch); `record` tells it from others, `rows` is None where it is not told."""

    time: float
    record: str
    rows: int | None = None


@dataclass(frozen=True, slots=True)
class LoadTemplate:
    """What runs of one statement have in common: its fingerprint and dialect, and where its names are looked for."""

    fingerprint: str
    dialect: str
    namespace: Namespace


@dataclass(frozen=True, slots=True)
class FailedLoad:
    """A statement that was to write `targets` (by the parts of their names) and failed.

    `code` is that of its error, "" where none is known; `came` is its first run after that which did not fail.
    """

    template: LoadTemplate
    targets: tuple[tuple[str, ...], ...]
    failed: LoadMoment
    code: str
    job: str
    came: LoadMoment | None


@dataclass(frozen=True, slots=True)
class MeasuredLoad:
    """A run of a statement that wrote so many rows."""

    template: LoadTemplate
    done: LoadMoment
    job: str


@dataclass(frozen=True, slots=True)
class GatheredLoads:
    """Both kinds, the newest first; `cut`: there were more than a run files."""

    failed: tuple[FailedLoad, ...]
    measured: tuple[MeasuredLoad, ...]
    cut: bool


def gather_loads(statements: Statements, defaults: NamespaceDefaults) -> GatheredLoads:
    """The loads of the statements that this run read; those without a time tell nothing."""
    statistics = statements.statistics
    if not statistics.failed_loads and not statistics.measured_loads:
        return GatheredLoads((), (), cut=False)
    # In one partition nothing is to be shuffled.
    frame = statements.frame.coalesce(1) if statements.are_few else statements.frame
    rows = _LoadRows(
        frame.where("time > 0"), statements.whole if statements.session_changes else None, statements.are_few
    )
    failed = _newest(rows.failures()) if statistics.failed_loads else []
    measured = _newest(rows.sizes()) if statistics.measured_loads else []
    cut = len(failed) > _MOST or len(measured) > _MOST
    return GatheredLoads(
        tuple(load for row in failed[:_MOST] for load in _failed_loads(row, defaults)),
        tuple(_measured_load(row, defaults) for row in measured[:_MOST]),
        cut,
    )


def _newest(found: DataFrame) -> list[Row]:
    return found.orderBy(F.col("hour").desc(), *_OF_STATEMENT).limit(_MOST + 1).collect()


@dataclass(frozen=True, slots=True)
class _LoadRows:
    """The statements that have a time, and of the `whole` what sessions set; None where they set nothing."""

    timed: DataFrame
    whole: DataFrame | None
    are_few: bool

    def failures(self) -> DataFrame:
        """The first and the last failure in each hour of a statement, each with the run after it that did not fail."""
        columns = (*OF_SESSION, "dialect", "digest", "rows", "job", "error_code")
        failure = (F.col("failure.template").alias("template"), F.col("failure.targets").alias("targets"))
        # What names the schema of all that it writes is the same wherever it runs.
        is_local = F.exists("failure.targets", lambda parts: F.size(parts) < 2).alias("is_local")
        failed = self.timed.where("failure is not null").select(*columns, *failure, is_local)
        ran = self.timed.where("fingerprint is not null").select(*columns, F.col("fingerprint").alias("template"))
        if self.are_few:
            of_template = Window.partitionBy("template", "dialect")
            rows = failed.unionByName(ran, allowMissingColumns=True)
            both = self._with_namespace(rows).withColumn("is_local", F.max("is_local").over(of_template))
        else:
            templates = failed.select("template", "dialect", "is_local").distinct()
            again = ran.join(templates, ["template", "dialect"])
            both = self._with_namespace(failed.unionByName(again, allowMissingColumns=True))
        namespace = ("namespace_database", F.when(F.col("is_local"), F.col("namespace_path")))
        later = Window.partitionBy("template", "dialect", *namespace).orderBy(*(F.col(name).desc() for name in ORDER))
        succeeded = F.when(F.col("targets").isNull(), F.struct(*_MOMENT))
        before = later.rowsBetween(Window.unboundedPreceding, -1)
        marked = both.withColumn("came", F.last(succeeded, ignorenulls=True).over(before)).where("targets is not null")
        moment = F.struct(*_MOMENT, "came", F.col("error_code").alias("code"), "job")
        return marked.groupBy(*_OF_STATEMENT, "targets", _hour()).agg(
            F.min(moment).alias("first"), F.max(moment).alias("last")
        )

    def sizes(self) -> DataFrame:
        """The last run in each hour of a statement that a number of rows is told of, and of each kind of commits."""
        fingerprint = F.col("fingerprint")
        sized = self.timed.where(
            (F.col("rows").isNotNull() & ~fingerprint.startswith(REPORTED)) | fingerprint.startswith(COMMITTED)
        )
        columns = (*OF_SESSION, "dialect", "digest", "rows", "job", fingerprint.alias("template"))
        with_namespaces = self._with_namespace(sized.select(*columns))
        # Of commits each who is kept: one that nobody made before is what went wrong.
        committer = F.when(F.col("template").startswith(COMMITTED), F.col("job")).alias("committer")
        last = F.max(F.struct(*_MOMENT, "job")).alias("last")
        hours = with_namespaces.groupBy(*_OF_STATEMENT, _hour(), committer).agg(last)
        newest = Window.partitionBy(*_OF_STATEMENT).orderBy(F.col("hour").desc())
        return hours.withColumn("number", F.row_number().over(newest)).where(F.col("number") <= _MOST_OF_ONE)

    def _with_namespace(self, rows: DataFrame) -> DataFrame:
        return with_session_namespaces(rows.coalesce(1) if self.are_few else rows, self.whole, are_few=self.are_few)


def _hour() -> Column:
    return F.floor(F.col("time") / _HOUR).alias("hour")


def _failed_loads(row: Row, defaults: NamespaceDefaults) -> list[FailedLoad]:
    template = _template(row, defaults)
    targets = tuple(map(tuple, row["targets"]))
    moments = {one["digest"]: one for one in (row["first"], row["last"])}
    return [
        FailedLoad(
            template,
            targets,
            _moment(one),
            one["code"] or "",
            one["job"] or "",
            _moment(one["came"]) if one["came"] is not None else None,
        )
        for one in moments.values()
    ]


def _template(row: Row, defaults: NamespaceDefaults) -> LoadTemplate:
    namespace = defaults.namespace(row["namespace_database"] or "", tuple(row["namespace_path"] or ()))
    return LoadTemplate(row["template"], row["dialect"], namespace)


def _measured_load(row: Row, defaults: NamespaceDefaults) -> MeasuredLoad:
    """A run that ended well; what tells a commit from others is its version, in place of its line."""
    last, template = row["last"], _template(row, defaults)
    done = _moment(last)
    if template.fingerprint.startswith(COMMITTED):
        done = replace(done, record=commit_run(last["line"]))
    return MeasuredLoad(template, done, last["job"] or "")


def _moment(row: Row) -> LoadMoment:
    return LoadMoment(row["time"], f"{(row['digest'] or 0) & (1 << 64) - 1:016x}", row["rows"])


# The stage of a run that files them where the catalog keeps loads.


def keeps_loads(target: RunTarget) -> bool:
    """Whether the catalog keeps loads, and may be written to."""
    return target.writes and LOADS in target.platform.capabilities


@dataclass(frozen=True, slots=True)
class LogLoads:
    """Takes the statements of a run and their templates, and files what is told of the loads of known tables."""

    config: RunConfig
    settings: SourceSettings
    target: RunTarget
    probe: Probe
    symbolic: Callable[[], Iterable[Symbolic]]
    """All that is known of what statements do, of earlier runs too: which names are those of temporary tables."""

    def file(
        self, gathered: GatheredLoads, templates: Mapping[str, ParsedTemplate], resolver: Resolver
    ) -> tuple[str, ...]:
        """What to warn of; `templates` are those of the run, by fingerprint. Raises TargetDown."""
        loads = self._with_entities(gathered, templates, resolver)
        bodies = list(_bodies(loads))
        platform, failed = self.target.platform, []
        for start in range(0, len(bodies), _AT_ONCE):
            some = bodies[start : start + _AT_ONCE]
            failed += in_parts(some, lambda part: file_loads(platform.http, part), FailureStage.LOADS, self.probe)
        warnings = loss_warnings("loads could not be filed", (failure for _body, failure in failed))
        if gathered.cut:
            warnings += ("the log tells of more loads than are kept of one run: the oldest are left out",)
        unknown = _unknown_tables(loads)
        if unknown:
            of_tables = "a table that the catalog has not" if len(unknown) == 1 else "tables that the catalog has not"
            warnings += (f"commits are left out of {of_tables}: {listing(unknown)}",)
        return warnings

    def _with_entities(
        self, gathered: GatheredLoads, templates: Mapping[str, ParsedTemplate], resolver: Resolver
    ) -> list[_NamedLoad]:
        measured = _with_targets(gathered.measured, templates)
        named: list[tuple[FailedLoad | MeasuredLoad, TableName]] = [
            *((load, TableName(parts)) for load in gathered.failed for parts in load.targets),
            *((load, name) for load, names in measured for name in names),
        ]
        any_doubtful = any(may_be_temporary(name) for _load, name in named)
        temporary = temporary_names(self.symbolic()) if any_doubtful else frozenset[str]()
        kept = [(load, name) for load, name in named if not (may_be_temporary(name) and name.table in temporary)]
        found = self._entities(((name, load.template.namespace) for load, name in kept), resolver)
        return [_NamedLoad(load, name, found.get((name, load.template.namespace))) for load, name in kept]

    def _entities(self, mentions: Iterable[Mention], resolver: Resolver) -> dict[Mention, TableEntity]:
        """The tables that are meant for certain, of those that the run's filters allow."""
        wanted = list(dict.fromkeys(mentions))
        registers = self.config.registers_tables
        return {
            mention: resolution.entity
            for mention, resolution in zip(wanted, resolver.resolve_all(wanted), strict=True)
            if isinstance(resolution, Resolved)
            and is_allowed(resolution.entity, self.config.lineage)
            and not (registers and is_guess(resolution))
        }


@dataclass(frozen=True, slots=True)
class _NamedLoad:
    """A load, the table that it was of by its name, and which one that is; None where that is not known."""

    load: FailedLoad | MeasuredLoad
    name: TableName
    entity: TableEntity | None


def _bodies(loads: Iterable[_NamedLoad]) -> Iterator[Json]:
    filed: dict[tuple[str, str, int], Json] = {}
    for one in loads:
        for body in _load_bodies(one.load, one.entity) if one.entity is not None else ():
            key = (body["entity"]["id"], body["run"], body["at"])
            if key not in filed or "rows" in body:
                filed[key] = body
    yield from filed.values()


def _unknown_tables(loads: Iterable[_NamedLoad]) -> list[str]:
    """The tables of which nothing but their commits is known."""
    unknown = (one for one in loads if one.entity is None and one.load.template.fingerprint.startswith(COMMITTED))
    return sorted({str(one.name) for one in unknown})


def _with_targets(
    loads: Sequence[MeasuredLoad], templates: Mapping[str, ParsedTemplate]
) -> Iterator[tuple[MeasuredLoad, tuple[TableName, ...]]]:
    """The loads with what their statements write: of several tables it is not told which the rows are in."""
    known: dict[LoadTemplate, tuple[TableName, ...]] = {}
    for load in loads:
        if load.template not in known:
            template = templates.get(load.template.fingerprint)
            targets = _targets(template.statement()) if template is not None and template.symbolic is not None else ()
            known[load.template] = targets if len(targets) == 1 else ()
        yield load, known[load.template]


def _targets(symbolic: Symbolic) -> tuple[TableName, ...]:
    """What a statement fills; the rows that it changes or deletes tell nothing of how many a table has."""
    if isinstance(symbolic, StatementLineage):
        targets = [flow.target for flow in symbolic.flows]
    elif symbolic.kind in _CHANGING:
        targets = []
    else:
        targets = [write.target for write in symbolic.writes]
    stored = (one for one in targets if one is not None and not one.temporary and not one.view)
    return tuple(dict.fromkeys(one.name for one in stored))


def _load_bodies(load: FailedLoad | MeasuredLoad, entity: TableEntity) -> Iterator[Json]:
    """What is told of a load of one table, as the catalog's call takes it; times in milliseconds."""
    of_load: Json = {
        "entity": {"id": entity.id, "type": entity.type},
        "statement": load.template.fingerprint,
        "job": load.job,
    }
    if isinstance(load, MeasuredLoad):
        yield of_load | _completion(load.done)
        return
    failed = {"at": round(load.failed.time * 1000), "run": load.failed.record, "status": "failed"}
    yield of_load | failed | ({"error": load.code} if load.code else {})
    if load.came is not None:
        yield of_load | _completion(load.came)


def _completion(moment: LoadMoment) -> Json:
    body: Json = {"at": round(moment.time * 1000), "run": moment.record, "status": "complete"}
    return body if moment.rows is None else body | {"rows": moment.rows}
