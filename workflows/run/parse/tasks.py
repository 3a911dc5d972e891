"""Templates: each distinct statement is parsed once, on Spark, in chunks, by killable parser processes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import ArrayType, BinaryType, BooleanType, StringType, StructField, StructType

from ingestion.analysis.analyzer import lineage_with_names
from ingestion.analysis.form import RelationalStatement
from ingestion.analysis.symbolic import dumps, loads
from ingestion.binding.external_tables import may_have_location, with_location
from ingestion.errors import ParseTimeout, Unparsable
from ingestion.model.isolation import Failure, FailureStage, Isolation, Probe, no_probe
from ingestion.model.lineage import StatementKind
from ingestion.parsing.parser_pool import ThreadedParser, kept_parser
from ingestion.parsing.sandbox.process import Limits
from ingestion.parsing.templates import ParsedTemplate, TemplateKey, tier_brought
from ingestion.parsing.tiers import ParseOutcome, Parser, ParseRequest, Tier
from ingestion.statements.masking import QueryMasker
from ingestion.statements.routines.inline_functions import as_function, function_as_view

_RESULT_SCHEMA = StructType(
    [
        *(StructField(name, StringType()) for name in ("fingerprint", "dialect", "tier", "masked", "dead")),
        StructField("symbolic", BinaryType()),
        StructField("timed_out", BooleanType()),
        StructField("other", ArrayType(StringType())),
    ]
)
_ARROW_SCHEMA = to_arrow_schema(_RESULT_SCHEMA)
_UNPARSED = {"timed_out": False, "other": None}
_TEMPLATES_A_TASK = 5000
"""In a round: some five seconds of work, which is what a run that is killed loses. Each round begins parser processes
of its own, and Spark goes through all templates for it.
"""
_FOR_ONE_TASK = 100
"""As many templates at most are parsed before another worker and its parser process are up, and need no shuffle."""
_BATCH = 500


# Templates: each distinct statement is parsed once, on Spark, in chunks, by killable parser processes.


@dataclass(frozen=True, slots=True)
class Parsing:
    """How templates are parsed: `threads` is the number of parser processes on a machine, over all of its tasks."""

    limits: Limits
    threads: int
    parser: Parser = Parser.AUTO
    probe: Probe = no_probe


def parse_templates(
    statements: DataFrame,
    parsing: Parsing,
    expected: int,
    known: Collection[TemplateKey] = (),
    texts: Mapping[TemplateKey, str] | None = None,
) -> Iterator[ParsedTemplate]:
    """The templates of all statements that have a fingerprint, in rounds; none of them is ever missing.

    All but those that are `known` already; `texts` are parsed for templates of which no statement is at hand. Of
    `expected`, about how many there are, the number of rounds depends.
    """
    spark = statements.sparkSession
    tasks = max(1, min(parsing.threads, spark.sparkContext.defaultParallelism))
    few = expected + len(texts or ()) <= _FOR_ONE_TASK
    if few:
        tasks, statements = 1, statements.coalesce(1)
    at = F.struct("file", "line", "position")
    distinct = (
        statements.where(F.col("fingerprint").isNotNull() & (F.col("text").isNotNull() | F.col("symbolic").isNotNull()))
        .groupBy("fingerprint", "dialect")
        .agg(F.min_by("text", at).alias("text"), F.min_by("symbolic", at).alias("symbolic"))
    )
    if texts:
        rows = [(*key, text, None) for key, text in sorted(texts.items())]
        distinct = distinct.unionByName(spark.createDataFrame(rows, distinct.schema))
    if known:
        distinct = _without(distinct, known)
    per_task = replace(parsing, threads=max(1, parsing.threads // tasks))
    for part in _rounds(distinct, expected // (_TEMPLATES_A_TASK * tasks) + 1):
        # By fingerprint, so that the statements that are slow in one log are not all in one task.
        spread = part.repartition(tasks, "fingerprint") if tasks > 1 else part.coalesce(1)
        parsed = spread.mapInArrow(_parser_task(per_task, are_few=few), _RESULT_SCHEMA)
        # All at once: an iterator has Spark work on one partition after the other.
        for row in parsed.collect():
            yield template_of(row.asDict())


def _without(templates: DataFrame, known: Collection[TemplateKey]) -> DataFrame:
    """The templates but those that are known: a few stand in the query itself, more are a table that Spark looks in."""
    if len(known) <= _FOR_ONE_TASK:
        key = F.concat_ws(" ", "dialect", "fingerprint")
        return templates.where(~key.isin([f"{dialect} {fingerprint}" for fingerprint, dialect in known]))
    looked_up = templates.sparkSession.createDataFrame(sorted(known), "fingerprint string, dialect string")
    return templates.join(F.broadcast(looked_up), ["fingerprint", "dialect"], "left_anti")


def _rounds(templates: DataFrame, rounds: int) -> Iterator[DataFrame]:
    """The templates in so many rounds, each of which is kept before the next is begun."""
    if rounds == 1:
        yield templates
        return
    kept = templates.persist(StorageLevel.DISK_ONLY)
    try:
        for number in range(rounds):
            # Another hash than that of a repartition, which would put all of a round into one task.
            yield kept.where(F.pmod(F.xxhash64("fingerprint"), F.lit(rounds)) == number)
    finally:
        kept.unpersist()


def template_of(row: Mapping[str, Any]) -> ParsedTemplate:
    """The template in a row that a parser task gave."""
    symbolic = None if row["symbolic"] is None else bytes(row["symbolic"])
    return ParsedTemplate(
        sys.intern(row["fingerprint"]),  # of each template its stages keep it several times
        sys.intern(row["dialect"]),
        row["tier"] or "",
        symbolic,
        row["masked"] or "",
        row["dead"],
        row["timed_out"],
        tuple(row["other"] or ()),
    )


def _parser_task(
    parsing: Parsing, *, are_few: bool = False
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What a task does. Where templates `are_few`, a parser process takes longer to start than to parse them: the one
    that a later run in this session finds is worth its memory, which after many templates others need.
    """
    begun = kept_parser if are_few else ThreadedParser

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        task = _ParserTask(parsing)
        with begun(parsing.threads, parsing.limits, parsing.parser) as parser:
            rows = []
            for outcome in parser.parse(task.requests(batches)):
                rows.append(task.row(outcome))
                if len(rows) == _BATCH:
                    yield pa.RecordBatch.from_pylist(rows, schema=_ARROW_SCHEMA)
                    rows = []
            rows.extend(task.others())
            yield pa.RecordBatch.from_pylist(rows, schema=_ARROW_SCHEMA)

    return run


class _ParserTask:
    """The templates of one task, on their way to the parsers and back."""

    def __init__(self, parsing: Parsing) -> None:
        self._isolation = Isolation[str](parsing.probe)
        self._waiting: dict[str, dict[str, object]] = {}

    def requests(self, batches: Iterable[pa.RecordBatch]) -> Iterator[ParseRequest]:
        """What the parsers are asked of the templates that were not brought parsed."""
        for batch in batches:
            for row in batch.to_pylist():
                key = f"{row['dialect']} {row['fingerprint']}"
                self._waiting[key] = row
                if row["symbolic"] is None:
                    request = None
                    with self._isolation.around(FailureStage.PARSING, key):
                        self._isolation.probe(FailureStage.PARSING, row["text"])
                        request = parse_request(key, row)
                    if request is not None:
                        yield request

    def row(self, outcome: ParseOutcome) -> dict[str, object]:
        """What became of one that the parsers were asked for."""
        row = self._waiting.pop(outcome.key)
        with self._isolation.around(FailureStage.PARSING, outcome.key):
            return parsed_row(row, outcome)
        return _failed_row(row, self._isolation.failures[outcome.key])

    def others(self) -> Iterator[dict[str, object]]:
        """Those that the parsers were not asked for."""
        for key, row in self._waiting.items():
            found = None
            if key not in self._isolation.failures:
                with self._isolation.around(FailureStage.PARSING, key):
                    self._isolation.probe(FailureStage.PARSING, row["symbolic"])
                    found = _brought_row(row)
            yield found or _failed_row(row, self._isolation.failures[key])


def _failed_row(row: Mapping[str, object], failure: Failure) -> dict[str, object]:
    """A template that was given up on beside the parsers. Its text may be what cannot be masked."""
    key = {"fingerprint": row["fingerprint"], "dialect": row["dialect"]}
    return {**key, "tier": None, "symbolic": None, "masked": None, "dead": failure.reason, **_UNPARSED}


def parse_request(key: str, row: Mapping[str, object]) -> ParseRequest:
    """What the parsers are asked of a statement: of a function that gives rows, what its query is."""
    text, dialect = str(row["text"]), str(row["dialect"])
    view = function_as_view(text, dialect)
    return ParseRequest(key, text if view is None else view.text, dialect)


def parsed_row(row: Mapping[str, object], outcome: ParseOutcome) -> dict[str, object]:
    """What a parser task gives of one template: its lineage and its masked text."""
    outcome = _without_loss(outcome, row)
    refused = outcome.other is not None and outcome.other.refused
    return {
        "fingerprint": row["fingerprint"],
        "dialect": row["dialect"],
        "tier": str(outcome.tier) if outcome.tier else None,
        "symbolic": _complete(outcome, row),
        # A dialect that cannot read a text does not know either where its strings are.
        "masked": None if refused else _mask(str(row["text"]), str(row["dialect"])),
        "dead": outcome.dead_reason,
        "timed_out": any(attempt.reason == ParseTimeout.code for attempt in outcome.attempts),
        "other": list(outcome.other.forms) if outcome.other is not None else None,
    }


def _without_loss(outcome: ParseOutcome, row: Mapping[str, object]) -> ParseOutcome:
    """What became of a template, of a function that reads no table nothing where its body could not be read."""
    if outcome.dead_reason is None:
        return outcome
    view = function_as_view(str(row["text"]), str(row["dialect"]))
    if view is None or view.reads:
        return outcome
    nothing = dumps(RelationalStatement(StatementKind.OTHER, str(row["dialect"])))
    return replace(outcome, symbolic=nothing, dead_reason=None)


def _complete(outcome: ParseOutcome, row: Mapping[str, object]) -> bytes | None:
    symbolic = outcome.symbolic
    text, dialect = str(row["text"]), str(row["dialect"])
    view = function_as_view(text, dialect)
    if symbolic is None or not (view is not None or may_have_location(text)):
        return symbolic
    parsed = loads(symbolic)
    given = view.given if view is not None and outcome.tier is Tier.SQLGLOT else None
    located = as_function(parsed, given) if view is not None else with_location(parsed, text, dialect)
    return symbolic if located is parsed else lineage_with_names(dumps(located), located)


def _brought_row(row: dict[str, Any]) -> dict[str, object]:
    """What a parser task gives of a template that a connector brought. Raises Unparsable."""
    text, brought = row["text"], bytes(row["symbolic"])
    return {
        "fingerprint": row["fingerprint"],
        "dialect": row["dialect"],
        "tier": tier_brought(str(row["fingerprint"])),
        "symbolic": lineage_with_names(brought, loads(brought)),
        "masked": _mask(str(text), str(row["dialect"])) if text else None,
        "dead": None,
        **_UNPARSED,
    }


def _mask(text: str, dialect: str) -> str | None:
    """The text that may be stored; None where it cannot be taken apart, since then it cannot be masked either."""
    try:
        return QueryMasker(dialect).mask(text)
    except Unparsable:
        return None
