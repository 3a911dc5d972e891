"""A stage of a run that only those have who ask for it: who reads which columns without writing, as the SELECTs of the
log tell, of which stretch of the log that is known, and what the runs took that filled tables.

Statements that write are lineage, which says what they read. What they write into something that has no entity (a
temporary table, a file that is not known) ends there: for its sources that is a reader like any other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import NamedTuple

from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from connectors.openmetadata.client import READS, file_reads, file_runs
from ingestion.analysis.analyzer import analyze, without_schema
from ingestion.dialects import dialect_of
from ingestion.dialects.cursor import Code
from ingestion.model.digests import digest
from ingestion.model.entities import TableEntity
from ingestion.model.isolation import Failure, FailureStage, Isolation, Probe, in_parts
from ingestion.model.lineage import Column, Json, NameKind, StatementLineage, TableName
from ingestion.model.namespaces import Namespace, NamespaceDefaults
from ingestion.model.outcomes import Outcome, ProblemKind, code_of
from ingestion.model.uses import ColumnUseKind
from ingestion.parsing.templates import ParsedTemplate
from ingestion.parsing.token_names import relation_name
from ingestion.resolution import Ambiguous, Resolution, Resolved, Resolver
from ingestion.statements.inner_queries import HOLD_QUERIES
from workflows.config import RunConfig
from workflows.config.namespaces import SourceSettings
from workflows.counts import loss_warnings
from workflows.run.group.runs import OF_SESSION, with_session_namespaces
from workflows.run.read.reader import Statements
from workflows.state.journal import SECONDS_A_DAY, ReadState
from workflows.target import RunTarget

SELECTS, READ, UNREAD, UNDATED, MAY_READ = "selects", "read", "unread", "undated", "mayRead"
"""What statements of a span are counted as."""
_UNFOLLOWED = frozenset({ProblemKind.UNSUPPORTED, ProblemKind.INCOMPLETE})
_BEFORE_RELATION = frozenset({"from", "join", ",", "table", "using", "export", "handler"})
_MAY_READ = frozenset(
    {
        Outcome.CALL,
        Outcome.COPY_STDIO,
        Outcome.CURSOR,
        Outcome.DYNAMIC_SQL,
        Outcome.FILTERED,
        Outcome.PREPARE,
    }
)
"""Skipped statements that may read a table for somebody, whatever else they do."""
_HOLD_READS = HOLD_QUERIES | {Outcome.NO_WRITE}
"""Skipped statements that hold a query, and records of an engine that tell what one read, count as SELECTs."""
_CHANGES_ROWS = frozenset({"update", "delete", "merge"})
_OLD_ROWS = frozenset({"deleted", "inserted"})
_LEFT_OUT = (str(Outcome.OUTSIDE_WINDOW), str(Outcome.OVER_LIMIT))
_FILED_AT_ONCE = 5_000
_TAKEN = {"duration": "seconds", "bytes": "bytes", "credits": "credits"}
"""What a record tells that its statement took, and how the catalog calls it."""
_LONGEST = 256
"""Characters of a user's or a job's name that are kept."""
_Entities = Mapping[TableName, Sequence[TableEntity]]
_InSession = Callable[[DataFrame], DataFrame]
"""Adds to statements (with OF_SESSION) where their sessions looked for names."""
Template = tuple[str, str, Namespace]
"""Fingerprint, dialect, and where its names are looked for."""


def keeps_reads(target: RunTarget) -> bool:
    """Whether the catalog keeps readers, and may be written to."""
    return target.writes and READS in target.platform.capabilities


# What one statement reads.


class ColumnUse(NamedTuple):
    """A column that a statement reads (None: the table alone), and how."""

    entity: TableEntity
    column: str | None
    how: str


def columns_read(statement: StatementLineage, named: StatementLineage, entities: _Entities) -> Iterator[ColumnUse]:
    """What a statement reads of `entities`: all that its lineage has of them, what it names and uses for nothing too.

    `named` is what it says without any schema. `SELECT count(*) FROM t` reads the rows of t and no column; of a name
    that several tables may have, each is read, and any column of all where some were not followed: who says "nobody"
    must be right.
    """
    written = {(table, column.casefold()) for table, column in _references(named)}
    seen = set[TableName]()
    for table, column in _references(statement):
        seen.add(table)
        how = ColumnUseKind.NAMED if (table, column.casefold()) in written and column != "*" else ColumnUseKind.STAR
        yield from (_use(entity, column, how) for entity in entities.get(table, ()))
    for reference in (one for flow in named.flows for one in flow.references() if one.certain):
        table, column = reference.sources[0].table, reference.sources[0].column
        seen.add(table)
        for entity in entities.get(table, ()):
            if (
                column != "*" and entity.column_fqns[column] is None
            ):  # it had that column then, under another name or not
                yield ColumnUse(entity, None, ColumnUseKind.UNKNOWN)
    unfollowed = any(problem.kind in _UNFOLLOWED for problem in statement.problems)
    for table in (*statement.sources, *named.sources):
        if table not in seen or unfollowed:
            how = ColumnUseKind.UNKNOWN if unfollowed else ColumnUseKind.ROWS
            yield from (ColumnUse(entity, None, how) for entity in entities.get(table, ()))


def _use(entity: TableEntity, column: str, how: str) -> ColumnUse:
    if column == "*":
        return ColumnUse(entity, None, how)
    known = entity.column_fqns[column]
    path = known[len(entity.fully_qualified_name) + 1 :] if known else None
    return ColumnUse(entity, path, how if path is not None else ColumnUseKind.UNKNOWN)


def _references(statement: StatementLineage) -> Iterator[tuple[TableName, str]]:
    for flow in statement.flows:
        for reference in flow.references():
            yield from ((source.table, source.column) for source in reference.sources)
        yield from ((output.star.table, "*") for output in flow.outputs if output.star is not None)
    yield from ((column.table, column.column) for column in statement.unused)


# The runs of statements, gathered by Spark: what comes to the driver grows with templates and readers.


class Reader(NamedTuple):
    """Who ran a template: when last (seconds; None: never with a time), and how often, with a time and without."""

    name: str
    last: float | None
    dated: int
    undated: int


def _runs_of(placed: DataFrame, defaults: NamespaceDefaults) -> dict[Template, list[Reader]]:
    """Who ran each template; `placed` are statements with a `template`, and where their sessions looked for names."""
    timed = F.col("time") > 0
    found = placed.groupBy("template", "dialect", "namespace_database", "namespace_path", "user").agg(
        F.max(F.when(timed, F.col("time"))).alias("last"),
        F.count(F.when(timed, 1)).alias("dated"),
        F.count(F.when(~timed, 1)).alias("undated"),
    )
    runs: dict[Template, list[Reader]] = {}
    for row in found.collect():
        key = row["template"], row["dialect"], _namespace(row, defaults)
        reader = Reader((row["user"] or "")[:_LONGEST], row["last"], row["dated"], row["undated"])
        runs.setdefault(key, []).append(reader)
    return runs


def _namespace(row: Row, defaults: NamespaceDefaults) -> Namespace:
    return defaults.namespace(row["namespace_database"] or "", tuple(row["namespace_path"] or ()))


def _is_counted() -> SparkColumn:
    """Whether a row is of the log's records that this run is to read."""
    return F.col("digest").isNotNull() & ~F.coalesce(F.col("skipped").isin(*_LEFT_OUT), F.lit(False))


# The stage.


Uses = dict[ColumnUse, list[Reader]]


class _Lost(NamedTuple):
    """How many runs were of SELECTs that were not understood, and of other statements, by the reason."""

    queries: Counter[str]
    writes: Counter[str]


@dataclass(frozen=True, slots=True)
class LogReads:
    """Takes the statements of a run, and files who reads what, once all tables are in the catalog.

    `parse` gives the templates of statements that have a fingerprint and a text. Of what was read before `past` knows.
    """

    config: RunConfig
    settings: SourceSettings
    target: RunTarget
    past: ReadState
    probe: Probe
    parse: Callable[[DataFrame], Mapping[str, ParsedTemplate]]

    def file(
        self, statements: Statements, written: Mapping[str, ParsedTemplate], resolver: Resolver
    ) -> tuple[str, ...]:
        """What to warn of; `written` are the templates that have lineage. Raises TargetDown and SparkLost."""
        # In one partition nothing is to be shuffled.
        frame = statements.frame.coalesce(1) if statements.are_few else statements.frame
        logged = frame.where(_is_counted())
        in_session = partial(
            with_session_namespaces,
            whole=statements.whole if statements.session_changes else None,
            are_few=statements.are_few,
        )
        selects = logged.where(F.col("query").isNotNull())
        asked = self._runs(selects.withColumn("template", F.col("query")), in_session)
        templates = self.parse(selects.withColumn("fingerprint", F.col("query"))) if asked else {}
        writes = logged.where(F.col("fingerprint").isNotNull()).withColumn("template", F.col("fingerprint"))
        readers = _ReadersOfTemplates(resolver, self.probe)
        uses, unread = readers.uses(asked, templates)
        writers = self._runs(writes, in_session)
        beside, given_up = readers.uses(_readers_beside_edges(writers, written, resolver), written)
        for use, others in beside.items():
            uses.setdefault(use, []).extend(others)
        span = self._span(logged, statements, asked, _Lost(unread, given_up))
        failed = [*self._file_uses(uses, span), *self._file_runs(logged, in_session, written, resolver)]
        return loss_warnings("readers or runs of the log could not be filed", failed)

    def _runs(self, rows: DataFrame, in_session: _InSession) -> dict[Template, list[Reader]]:
        return _runs_of(in_session(rows.select(*OF_SESSION, "dialect", "template")), self.settings.defaults)

    # What is told of the readers, and of which stretch of the log.

    def _file_uses(self, uses: Uses, span: Json | None) -> Iterator[Failure]:
        http, source = self.target.platform.http, self.config.workflow
        bodies = [_read_body(use, reader, readers) for use, of in uses.items() for reader, readers in _by_name(of)]
        for start in range(0, len(bodies), _FILED_AT_ONCE):
            some = bodies[start : start + _FILED_AT_ONCE]
            failed = in_parts(some, lambda part: file_reads(http, source, part), FailureStage.LOADS, self.probe)
            yield from (failure for _body, failure in failed)
        if span is not None:  # last: what a span tells of is all there
            file_reads(http, source, [], span, whole=self._is_whole)

    @property
    def _is_whole(self) -> bool:
        """Whether all of the log that is left is read in this run."""
        return not self.past.known

    def _span(
        self,
        logged: DataFrame,
        statements: Statements,
        asked: Mapping[Template, Sequence[Reader]],
        lost: _Lost,
    ) -> Json | None:
        """The stretch that this run read; None where it read some of a stretch again, which is told already."""
        if self.past.rereads and not self._is_whole:
            return None
        timed = F.when(F.col("time") > 0, F.col("time"))
        day = F.floor(timed / SECONDS_A_DAY)
        measures = (F.min(timed).alias("first"), F.max(timed).alias("last"), F.collect_set(day).alias("days"))
        query = F.col("query").isNotNull()
        held = (F.count(F.when(query & (F.col("skipped") == why), 1)).alias(why) for why in _HOLD_READS)
        found = logged.agg(*measures, F.count(F.when(F.col("time") <= 0, 1)).alias("undated"), *held).first()
        assert found is not None
        if found["first"] is None and not found["undated"]:
            return None
        runs = [reader for readers in asked.values() for reader in readers]
        given = sum(one.dated + one.undated for one in runs)
        counts = statements.counts
        selects = counts.skipped.get(Outcome.SELECT, 0) + sum(found[why] for why in _HOLD_READS)
        counted = Counter({SELECTS: selects, READ: given - lost.queries.total(), UNDATED: found["undated"]})
        counted.update({f"{UNREAD}:{reason}": count for reason, count in lost.queries.items()})
        counted[f"{UNREAD}:{Outcome.ILL_FORMED}"] += max(0, selects - given)
        others = {why: count - (found[why] if why in _HOLD_READS else 0) for why, count in counts.skipped.items()}
        counted.update({f"{MAY_READ}:{code_of(why)}": count for why, count in others.items() if why in _MAY_READ})
        dead = (*counts.dead.items(), *lost.writes.items())
        for reason, count in dead:
            counted[f"{MAY_READ}:{code_of(reason)}"] += count
        return {
            "part": f"whole {_part(self.past)}" if self._is_whole else _part(self.past),
            "service": self.config.source.service_name,
            "counts": {kind: count for kind, count in counted.items() if count},
            "days": sorted(found["days"]),
            **{name: round(found[name] * 1000) for name in ("first", "last") if found[name] is not None},
        }

    # What the runs took that filled tables.

    def _file_runs(
        self,
        logged: DataFrame,
        in_session: _InSession,
        written: Mapping[str, ParsedTemplate],
        resolver: Resolver,
    ) -> Iterator[Failure]:
        bodies = self._run_bodies(logged, in_session, written, resolver.without_columns())
        http = self.target.platform.http
        while some := list(islice(bodies, _FILED_AT_ONCE)):
            failed = in_parts(some, lambda part: file_runs(http, part), FailureStage.LOADS, self.probe)
            yield from (failure for _body, failure in failed)

    def _run_bodies(
        self,
        logged: DataFrame,
        in_session: _InSession,
        written: Mapping[str, ParsedTemplate],
        resolver: Resolver,
    ) -> Iterator[Json]:
        """A record with one statement that fills one table is a run of it; of others it is not told what took how long.

        A record is known by its digest however often it is read, so that a run counts once.
        """
        alone = logged.groupBy("digest").agg(F.count(F.lit(1)).alias("statements")).where("statements = 1")
        taken = map(F.col, ("dialect", "digest", "job", *_TAKEN))
        columns = (*map(F.col, OF_SESSION), *taken, F.col("fingerprint").alias("template"))
        rows = logged.where(F.col("fingerprint").isNotNull() & (F.col("time") > 0)).select(*columns)
        targets: dict[Template, TableEntity | None] = {}
        single = in_session(rows.join(alone.select("digest"), "digest", "left_semi"))
        for row in single.toLocalIterator():
            key = row["template"], row["dialect"], _namespace(row, self.settings.defaults)
            if key not in targets:
                targets[key] = _single_target(written.get(key[0]), key[2], resolver)
            entity = targets[key]
            if entity is not None:
                yield _run_body(row, entity)


def _run_body(row: Row, entity: TableEntity) -> Json:
    body: Json = {
        "entity": {"id": entity.id, "type": entity.type},
        "run": f"{row['digest'] & (1 << 64) - 1:016x}",
        "at": round(row["time"] * 1000),
        "statement": row["template"][:_LONGEST],
        "writer": (row["user"] or "")[:_LONGEST],
        "job": (row["job"] or "")[:_LONGEST],
    }
    return body | {name: max(0, row[column]) for column, name in _TAKEN.items() if row[column] is not None}


def _part(past: ReadState) -> str:
    """What had been read before: the same for a run that a kill made another one do again."""
    return digest(repr(past.newest), str(sum(segment.statements for segment in past.journal)))


def _by_name(readers: Iterable[Reader]) -> Iterator[tuple[str, list[Reader]]]:
    by_name: dict[str, list[Reader]] = {}
    for reader in readers:
        by_name.setdefault(reader.name, []).append(reader)
    yield from by_name.items()


def _read_body(use: ColumnUse, reader: str, runs: Sequence[Reader]) -> Json:
    last = max((one.last for one in runs if one.last is not None), default=None)
    body: Json = {
        "entity": {"id": use.entity.id, "type": use.entity.type},
        "how": use.how,
        "reader": reader,
        "undated": any(one.undated for one in runs),
    }
    body |= {} if use.column is None else {"column": use.column}
    return body if last is None else body | {"last": round(last * 1000)}


# Templates with the entities that their names mean.


@dataclass(frozen=True, slots=True)
class _ReadersOfTemplates:
    """Tells who reads what, by who ran which template."""

    resolver: Resolver
    probe: Probe

    def uses(
        self, runs: Mapping[Template, Sequence[Reader]], templates: Mapping[str, ParsedTemplate]
    ) -> tuple[Uses, Counter[str]]:
        """Who reads what, and how many runs are of statements that are not understood, by the reason.

        Of these each table counts that stands where one is read, as read nobody knows how.
        """
        found: Uses = {}
        unread: Counter[str] = Counter()
        isolation = Isolation[str](self.probe)
        for (fingerprint, _dialect, namespace), readers in runs.items():
            template = templates.get(fingerprint)
            if template is None:
                unread[str(Outcome.ILL_FORMED)] += _times(readers)
                continue
            uses: set[ColumnUse] = set()
            with isolation.around(FailureStage.ANALYSIS, fingerprint):
                uses = self._uses_of(template, namespace)
            if template.symbolic is None or fingerprint in isolation.failures:
                unread[code_of(template.dead or str(Outcome.ANALYSIS_FAILED))] += _times(readers)
            for use in uses:
                found.setdefault(use, []).extend(readers)
        return found, unread

    def _uses_of(self, template: ParsedTemplate, namespace: Namespace) -> set[ColumnUse]:
        if template.symbolic is None:
            return self._unknown_uses(_names_in_text(template), namespace)
        if _gives_rows_back(template):
            used = template.names()
            return self._unknown_uses((*used.read, *(name for name, *_how in used.written)), namespace)
        statement = template.statement()
        named = without_schema(statement)
        if not (named.flows or named.changes or named.functions):  # nothing of it was understood
            return self._unknown_uses(_names_in_text(template), namespace)
        entities = _entities((*named.sources, *named.functions), namespace, self.resolver)

        def schema_of(name: TableName) -> tuple[Column, ...] | None:
            found = entities.get(name, ())
            return found[0].columns if len(found) == 1 and found[0].columns_complete else None

        return set(columns_read(analyze(statement, schema_of), named, entities))

    def _unknown_uses(self, names: Iterable[TableName], namespace: Namespace) -> set[ColumnUse]:
        """What is read nobody knows how."""
        entities = _entities(names, namespace, self.resolver)
        return {ColumnUse(entity, None, ColumnUseKind.UNKNOWN) for found in entities.values() for entity in found}


def _times(readers: Sequence[Reader]) -> int:
    return sum(one.dated + one.undated for one in readers)


def _names_in_text(template: ParsedTemplate) -> Iterator[TableName]:
    """What stands where a statement may name a relation, of one that no parser reads."""
    code = Code.of(template.masked, dialect_of(template.dialect))
    for position in range(1, len(code)):
        if code.word(position - 1) in _BEFORE_RELATION:
            name, _end = relation_name(code, position)
            if name is not None:
                yield name


def _entities(
    names: Iterable[TableName], namespace: Namespace, resolver: Resolver
) -> dict[TableName, tuple[TableEntity, ...]]:
    """The entities that each name may mean: all of several."""
    wanted = [name for name in dict.fromkeys(names) if name.kind is not NameKind.FUNCTION]
    resolutions = resolver.resolve_all((name, namespace) for name in wanted)
    return {name: tuple(_possible(resolution, resolver)) for name, resolution in zip(wanted, resolutions, strict=True)}


def _possible(resolution: Resolution, resolver: Resolver) -> Iterator[TableEntity]:
    if isinstance(resolution, Resolved):
        yield resolution.entity
    elif isinstance(resolution, Ambiguous):
        yield from filter(None, map(resolver.entity, resolution.candidates))


def _gives_rows_back(template: ParsedTemplate) -> bool:
    """`DELETE FROM queue RETURNING *`, `UPDATE t SET … OUTPUT deleted.a`: who runs it gets rows that were there before.

    `INSERT … RETURNING id` gives back what it wrote.
    """
    text = template.masked.lower()
    if "returning" not in text and "output" not in text:
        return False
    code = Code.of(template.masked, dialect_of(template.dialect))
    words = [code.word(number) for number in range(len(code))]
    if words[:1] == ["insert"] or not _CHANGES_ROWS.intersection(words):
        return False
    return any(
        word == "returning" or (word == "output" and code.word(number + 1) in _OLD_ROWS)
        for number, word in enumerate(words)
    )


def _readers_beside_edges(
    runs: Mapping[Template, Sequence[Reader]], written: Mapping[str, ParsedTemplate], resolver: Resolver
) -> dict[Template, Sequence[Reader]]:
    """The runs of what writes into anything that no edge leads to, of what gives rows back too, and of what is not
    understood.
    """
    found: dict[Template, Sequence[Reader]] = {}
    bare = resolver.without_columns()
    for key, readers in runs.items():
        template = written.get(key[0])
        if template is None:
            continue
        if template.symbolic is None or _gives_rows_back(template):
            found[key] = readers
            continue
        names = template.names()
        ends = [name for name, temporary, _mode in names.written if not temporary]
        temporary = len(ends) < len(names.written)
        resolutions = bare.resolve_all((name, key[2]) for name in ends)
        known = bool(ends) and all(isinstance(one, Resolved) for one in resolutions)
        unfollowed = not (names.written or names.changes)  # of an export whose query or end was not understood
        if (names.read or unfollowed) and (temporary or not known):
            found[key] = readers
    return found


def _single_target(template: ParsedTemplate | None, namespace: Namespace, resolver: Resolver) -> TableEntity | None:
    """The entity that a template fills, where it is one and for certain."""
    if template is None or template.symbolic is None:
        return None
    names = dict.fromkeys(name for name, temporary, _mode in template.names().written if not temporary)
    if len(names) != 1:
        return None
    (resolution,) = resolver.resolve_all((name, namespace) for name in names)
    return resolution.entity if isinstance(resolution, Resolved) else None
