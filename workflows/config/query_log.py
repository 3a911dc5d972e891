"""Where the query log is, and what its columns mean, from the YAML's models to values."""

from __future__ import annotations

from collections.abc import Iterator
from zoneinfo import ZoneInfo

from connectors.log_columns import KEYS, SECONDS_PER_UNIT, LogColumn
from workflows.config.checks import Checks
from workflows.config.models.headwater import Headwater
from workflows.config.models.openmetadata import LineageConfig
from workflows.config.models.query_log import ColumnModel, QueryLogColumns, QueryLogJdbc
from workflows.config.values import QueryLog, Source, SourceKind

_PATH = ("source", "sourceConfig", "config", "queryLogFilePath")
_COLUMNS = ("headwater", "queryLogColumns")
_JDBC = ("headwater", "queryLogJdbc")
_FIELDS = {key: name for name, key in KEYS.items()}
_NOT_GIVEN = ColumnModel()
_MEASURED = frozenset({"time", "end_time", "duration"})
_WITH_CONSTANT = frozenset({"user", "session", "database", "schema_", "type", "job"})


def query_log_of(source: Source, lineage: LineageConfig, ours: Headwater, checks: Checks) -> QueryLog:
    """The log of the run; what does not hold is noted in `checks`."""
    jdbc = _jdbc(ours.query_log_jdbc, checks)
    places = [lineage.query_log_file_path is not None, ours.query_log_table is not None, bool(jdbc)]
    if source.kind is SourceKind.QUERY_LOG and not any(places):
        checks.fail(_PATH, "needed by the source type query-log-lineage, and not given")
    if sum(places) > 1:
        checks.fail(_PATH, "give one of queryLogFilePath, headwater.queryLogTable and headwater.queryLogJdbc")
    return QueryLog(
        path=checks.input(lineage.query_log_file_path, _PATH),
        days=lineage.query_log_duration,
        limit=lineage.result_limit,
        timezone=ours.query_log_timezone,
        columns=dict(_columns(ours.query_log_columns, checks)),
        table=ours.query_log_table,
        jdbc=jdbc,
    )


def _columns(model: QueryLogColumns, checks: Checks) -> Iterator[tuple[str, LogColumn]]:
    for name, info in QueryLogColumns.model_fields.items():
        given: ColumnModel | None = getattr(model, name)
        if given is None or given == _NOT_GIVEN:
            continue
        key = info.alias or name
        path = (*_COLUMNS, key)
        if (given.column is None) == (given.value is None):
            checks.fail(path, "give a column's name, or {value: ...} for what all records have")
        elif given.value is not None and name not in _WITH_CONSTANT:
            checks.fail(path, "differs from record to record: give a column's name")
        elif given.unit is not None and name not in _MEASURED:
            checks.fail((*path, "unit"), "only times and durations have one")
        unit = SECONDS_PER_UNIT[given.unit] if given.unit is not None else None
        zone = ZoneInfo(given.zone) if given.zone is not None else None
        yield _FIELDS.get(key, key), LogColumn(given.column, given.value, unit, zone)


def _jdbc(model: QueryLogJdbc, checks: Checks) -> dict[str, str]:
    """Spark's options; none where nothing is to be read so."""
    if model == QueryLogJdbc():
        return {}
    if model.url is None:
        checks.fail((*_JDBC, "url"), "needed by the others, and not given")
    if (model.table is None) == (model.query is None):
        checks.fail(_JDBC, "give one of table and query")
    split = (model.partition_column, model.lower_bound, model.upper_bound, model.num_partitions)
    if any(part is not None for part in split) and (None in split or model.table is None):
        checks.fail(_JDBC, "partitionColumn, lowerBound, upperBound and numPartitions are for a table, all four")
    password = model.password.get_secret_value() if model.password is not None else None
    given = {
        "url": model.url,
        "dbtable": model.table,
        "query": model.query,
        "user": model.user,
        "password": password,
        "driver": model.driver,
        "partitionColumn": model.partition_column,
        "lowerBound": model.lower_bound,
        "upperBound": model.upper_bound,
        "numPartitions": str(model.num_partitions) if model.num_partitions is not None else None,
    }
    return {**model.options, **{name: value for name, value in given.items() if value is not None}}
