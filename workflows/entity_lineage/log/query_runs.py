"""Who ran which SELECT how often, counted by Spark: nothing that grows with the runs is collected."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ingestion.masking.seen_queries import MOST_LITERALS
from ingestion.names.namespaces import NamespaceDefaults
from workflows.journal.record_digests import Digests, are_known
from workflows.journal.segments import digests_of_queries
from workflows.reading.reader import Statements
from workflows.state.log_queries import ANY_LITERAL, QueryKey, Runs
from workflows.state.watermark import ReadState
from workflows.templates.session_namespaces import OF_SESSION, with_session_namespaces

QueryTemplate = tuple[str, str]
"""Fingerprint and dialect."""
_TEXTS = ("query", "dialect", "literals", "text")


@dataclass(frozen=True, slots=True)
class QueryRuns:
    """The runs of SELECTs that no run before has counted, by user; `passed` are templates whose literals are values.

    `statements` have their texts: all SELECTs that were read, for a text stands where it was first met, counted or not.
    """

    statements: DataFrame
    runs: Mapping[QueryKey, Mapping[str, Runs]] = field(default_factory=dict)
    passed: frozenset[QueryTemplate] = frozenset()

    def texts(self, wanted: Collection[QueryKey]) -> dict[QueryKey, str]:
        """A text for each of those queries."""
        if not wanted:
            return {}
        literals = F.when(self._has_passed(), ANY_LITERAL).otherwise(F.col("literals"))
        found = self.statements.where(F.col("text").isNotNull()).withColumn("literals", literals)
        chosen = sorted({(key.query, key.dialect, key.literals) for key in wanted})
        looked_up = found.sparkSession.createDataFrame(chosen, "query string, dialect string, literals string")
        left = found.select(*_TEXTS).join(F.broadcast(looked_up), ["query", "dialect", "literals"], "left_semi")
        rows = left.groupBy("query", "dialect", "literals").agg(F.min("text").alias("text")).collect()
        texts = {(row["query"], row["dialect"], row["literals"]): row["text"] for row in rows}
        return {key: texts[key[:3]] for key in wanted if key[:3] in texts}

    def _has_passed(self) -> Column:
        return _is_among(self.passed)


def query_runs(
    statements: Statements, past: ReadState, defaults: NamespaceDefaults, passed: Collection[QueryTemplate]
) -> QueryRuns:
    """The runs of the SELECTs that this run read; of the templates that have `passed` literals are values."""
    read = statements.frame.where(F.col("query").isNotNull())
    queries = _not_counted(read, past)
    many = queries.groupBy("query", "dialect").agg(F.count_distinct("literals").alias("literals"))
    found = many.where(F.col("literals") > MOST_LITERALS).collect()
    values = frozenset(passed).union((row["query"], row["dialect"]) for row in found)
    whole = statements.whole if statements.session_changes else None
    placed = with_session_namespaces(queries.select(*OF_SESSION, "query", "dialect", "literals"), whole)
    literals = F.when(_is_among(values), ANY_LITERAL).otherwise(F.col("literals")).alias("literals")
    place = (F.col("namespace_database"), F.col("namespace_path"))
    counted = (
        placed.select("query", "dialect", literals, *place, F.col("user"), F.col("time"))
        .groupBy("query", "dialect", "literals", "namespace_database", "namespace_path", "user")
        .agg(F.count(F.lit(1)).alias("runs"), F.max(F.when(F.col("time") > 0, F.col("time"))).alias("last"))
    )
    runs: dict[QueryKey, dict[str, Runs]] = {}
    for row in counted.collect():
        space = defaults.namespace(row["namespace_database"] or "", tuple(row["namespace_path"] or ()))
        key = QueryKey(row["query"], row["dialect"], row["literals"], space.database, space.search_path)
        add_runs(runs.setdefault(key, {}), row["user"] or "", Runs(row["runs"], row["last"]))
    return QueryRuns(read, runs, values)


def add_runs(runs: dict[str, Runs], user: str, more: Runs) -> None:
    """Counts more runs of a user."""
    known = runs.get(user)
    runs[user] = more if known is None else known.with_more(more)


def _not_counted(queries: DataFrame, past: ReadState) -> DataFrame:
    """Those that no run before has counted: where records are read again, the journal tells."""
    if not past.rereads:
        return queries
    counted = digests_of_queries(past.journal)
    if not counted.size:
        return queries
    left = queries.mapInArrow(_without(counted), queries.schema)
    if past.complete_since is None:
        return left
    return left.where((F.col("time") <= 0) | (F.col("time") >= past.complete_since))


def _without(counted: Digests) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            known = are_known(batch.column("digest").to_numpy(zero_copy_only=False), counted)
            yield batch.filter(pa.array(~known))

    return run


def _is_among(templates: Collection[QueryTemplate]) -> Column:
    found = F.lit(False)
    for dialect in sorted({dialect for _, dialect in templates}):
        queries = sorted(query for query, of in templates if of == dialect)
        found |= (F.col("dialect") == dialect) & F.col("query").isin(queries)
    return found
