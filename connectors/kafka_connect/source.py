"""Connectors as a source: a record for each table or topic that one carries somewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pyspark.sql import SparkSession

from connectors.dashboards.files import exported_files
from connectors.kafka_connect._carried import Link
from connectors.kafka_connect._documents import ENDINGS, ConnectorDocuments, documents_of_files, documents_of_worker
from connectors.kafka_connect._links import links_of
from connectors.kafka_connect._queries import filled_by
from connectors.kafka_connect.settings import KafkaConnectConfig
from connectors.records import RECORD_SCHEMA
from connectors.source import FrameOfRecords, OpenSource, RecordsWanted, SourceRun
from connectors.stream_names import StreamNames
from ingestion.analysis.symbolic import dumps
from ingestion.errors import ConfigError
from ingestion.model.lineage import Flow, Problem, StatementKind, StatementLineage, TableName, Target, WriteMode
from ingestion.model.outcomes import Outcome, ProblemKind
from ingestion.model.topics import split_topic


@contextmanager
def open_source(settings: KafkaConnectConfig, run: SourceRun) -> Iterator[OpenSource]:
    """The connectors. Raises ConfigError and TargetDown."""
    if settings.connector_path is None:
        documents = documents_of_worker(settings.connect_worker)
    else:
        documents = documents_of_files(exported_files(settings.path, ENDINGS))
    if not documents.connectors and not documents.unread:
        raise ConfigError(f"{settings.location} has no connector: nothing in it has a connector.class")
    rows = list(_rows(documents, StreamNames(run.names)))

    def records(spark: SparkSession, _wanted: RecordsWanted) -> FrameOfRecords:
        columns = RECORD_SCHEMA.fieldNames()
        frame = spark.createDataFrame([tuple(row.get(one) for one in columns) for row in rows], RECORD_SCHEMA)
        return FrameOfRecords(frame, size=len(rows), exporters={"Kafka Connect": len(documents.connectors)})

    yield OpenSource(records=records)


def _rows(documents: ConnectorDocuments, names: StreamNames) -> Iterator[dict[str, object]]:
    taken: dict[str, int] = {}
    links = list(links_of(documents.connectors, names))
    writers = Counter(link.target for link in links)
    for link in links:
        where = f"{link.connector.location}#{link.connector.name}"
        where = f"{where}/{link.subject}" if link.subject else where
        number = taken[where] = taken.get(where, 0) + 1
        yield {
            "source_id": where if number == 1 else f"{where}~{number}",
            "job": link.connector.name,
            **_content(link, writers),
        }
    for location in documents.foreign:
        yield {"source_id": location, "status": Outcome.NOT_A_STATEMENT}
    for unread in documents.unread:
        yield {"source_id": unread.location, "problem": unread.problem}


def _content(link: Link, writers: Mapping[TableName | None, int]) -> dict[str, object]:
    """What a record says of a link; a topic that only one fills has the fields that are put into it, and no others."""
    if link.end or link.source is None or link.target is None:
        return {"status": str(link.end or Outcome.NO_LINEAGE)}
    makes = split_topic(link.target.dotted) is not None and writers[link.target] == 1
    target = Target(link.target, WriteMode.CREATE) if makes else Target(link.target, WriteMode.APPEND)
    if link.query is not None:
        flows = filled_by(link.query, target, link.fields)
    else:
        flows = (Flow(target, link.fields.outputs(link.source), (), (link.source,)),)
    problems = tuple(Problem(ProblemKind.UNSUPPORTED, one) for one in link.problems)
    return {"edges": dumps(StatementLineage(StatementKind.INSERT, flows, problems=problems, doubted=link.doubted))}
