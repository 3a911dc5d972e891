"""Assets as the records of a source: the definition of each, as that of a view."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import SparkSession

from connectors.assets import Asset, AssetQuery, Assets
from connectors.records import RECORD_SCHEMA
from connectors.source import FrameOfRecords, OpenSource, RecordsWanted
from ingestion.errors import ConfigError


def source_of(assets: Assets, path: str | None = None) -> OpenSource:
    """The source that has these assets. Raises ConfigError where nothing of the tool is in the files at a `path`."""
    if path is not None and not (assets.items or assets.unread):
        raise ConfigError(f"{path} holds nothing of {assets.tool}: is it what that exported, and unpacked?")

    def records(spark: SparkSession, _wanted: RecordsWanted) -> FrameOfRecords:
        names = RECORD_SCHEMA.fieldNames()
        rows = [tuple(row.get(name) for name in names) for row in _rows(assets)]
        size = sum(len(one.query.text) for one in assets.items if one.query is not None)
        return FrameOfRecords(spark.createDataFrame(rows, RECORD_SCHEMA), size=size, exporters={assets.tool: 1})

    return OpenSource(records=records, assets=lambda: assets)


def _rows(assets: Assets) -> Iterator[dict[str, object]]:
    for one in assets.items:
        row: dict[str, object] = {"source_id": one.location, "status": one.end or None}
        if one.query is not None:
            row |= {"text": _definition(one, one.query), "dialect": one.query.dialect}
            row |= {"database": one.query.database or None, "schema": one.query.schema or None}
        yield row
    for unread in assets.unread:
        yield {"source_id": unread.location, "problem": unread.problem}


def _definition(asset: Asset, query: AssetQuery) -> str:
    """`CREATE VIEW "dashboards"."chart"."c12" AS SELECT …`."""
    return f"CREATE VIEW {asset.relation_text(query.dialect)} AS {query.text}"
