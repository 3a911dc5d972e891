"""The keys of `headwater` that say where a query log is, if in no file, and what its columns mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, model_validator

from connectors.fields import MisfitCollector, Model, OrEmpty, Positive, Secret, Text, TimeZone
from connectors.query_log.log_columns import KEYS, SECONDS_PER_UNIT, LogColumn

_FIELDS = {key: name for name, key in KEYS.items()}
_MEASURED = frozenset({"time", "end_time", "duration"})
_WITH_CONSTANT = frozenset({"user", "session", "database", "schema_", "type", "job"})


class ColumnModel(Model):
    model_config = ConfigDict(json_schema_extra={"type": ["object", "string"]})

    column: Text | None = Field(default=None, description="The column's name; a field of a field is a.b.")
    value: Text | None = Field(default=None, description="In place of a column: what all records have.")
    unit: Literal["s", "ms", "us", "ns", "ps", "min", "h"] | None = Field(
        default=None, description="Of its numbers: since 1970, for a time."
    )
    zone: TimeZone | None = Field(default=None, description="Of times that name no zone.")

    @property
    def as_read(self) -> LogColumn:
        """The column as a log is read by it."""
        unit = SECONDS_PER_UNIT[self.unit] if self.unit is not None else None
        return LogColumn(self.column, self.value, unit, ZoneInfo(self.zone) if self.zone is not None else None)


def _column_alone(value: Any) -> Any:
    """A column may be given as nothing but its name."""
    return {"column": value} if isinstance(value, str) else value


def _none_if_empty(given: ColumnModel | None) -> ColumnModel | None:
    return None if given == ColumnModel() else given


Column = Annotated[ColumnModel | None, BeforeValidator(_column_alone), AfterValidator(_none_if_empty)]


class QueryLogColumns(Model):
    """`headwater.queryLogColumns`: a column's name, or {column, unit, zone}, or {value} that all records have."""

    text: Column = Field(default=None, description="The statement.")
    time: Column = Field(default=None, description="When it started, or was logged.")
    end_time: Column = Field(default=None, description="When it ended.")
    duration: Column = Field(default=None, description="How long it took: {column: ms_taken, unit: ms}.")
    user: Column = Field(default=None, description="Who ran it.")
    session: Column = Field(default=None, description="The session it ran in.")
    database: Column = Field(default=None, description="Where its names are looked up: {value: shop}, if all.")
    schema_: Column = Field(default=None, alias="schema", description="The same, below the database.")
    status: Column = Field(default=None, description="What became of it: success, FAILED, running, ...")
    error: Column = Field(default=None, description="Empty, false or 0 where it succeeded.")
    type: Column = Field(default=None, description="What kind of statement it is.")
    job: Column = Field(default=None, description="A tag or label that names the job that ran it.")

    @model_validator(mode="after")
    def _mean_something(self) -> Self:
        misfits = MisfitCollector()
        for name, key, given in self._columns():
            if (given.column is None) == (given.value is None):
                misfits.add("give a column's name, or {value: ...} for what all records have", key)
            elif given.value is not None and name not in _WITH_CONSTANT:
                misfits.add("differs from record to record: give a column's name", key)
            elif given.unit is not None and name not in _MEASURED:
                misfits.add("only times and durations have one", key, "unit")
        misfits.check()
        return self

    @property
    def by_field(self) -> Mapping[str, LogColumn]:
        """The columns that are given, by the field of a record that they have."""
        return {_FIELDS.get(key, key): given.as_read for _name, key, given in self._columns()}

    def _columns(self) -> list[tuple[str, str, ColumnModel]]:
        columns = ((name, key, getattr(self, name)) for name, key in self.yaml_keys())
        return [(name, key, given) for name, key, given in columns if given is not None]


class QueryLogJdbc(Model):
    """`headwater.queryLogJdbc`: a log that is read where it is, through Spark's JDBC source."""

    url: Text | None = Field(default=None, description="jdbc:postgresql://host:5432/database; left out, none is read.")
    table: Text | None = Field(default=None, description="The table or view with the log. This or query.")
    query: Text | None = Field(default=None, description="A SELECT that gives the log.")
    user: Text | None = Field(default=None, description="Whom to connect as.")
    password: Secret | None = Field(default=None, description="The password: ${VAR} or ${file:/run/secrets/password}.")
    driver: Text | None = Field(default=None, description="The driver's class; its jar is one of spark.jars.")
    partition_column: Text | None = Field(
        default=None, description="A column of numbers or times by which several tasks share a table."
    )
    lower_bound: Text | None = Field(default=None, description="The least value of partitionColumn, about.")
    upper_bound: Text | None = Field(default=None, description="The greatest value of partitionColumn, about.")
    num_partitions: Positive | None = Field(default=None, description="How many tasks share the table.")
    options: Annotated[dict[str, str], OrEmpty] = Field(
        default_factory=dict, description="More options of Spark's JDBC source: {fetchsize: 1000}."
    )

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        if not self.is_given:
            return self
        misfits = MisfitCollector()
        if self.url is None:
            misfits.add("needed by the others, and not given", "url")
        if (self.table is None) == (self.query is None):
            misfits.add("give one of table and query")
        split = (self.partition_column, self.lower_bound, self.upper_bound, self.num_partitions)
        if any(part is not None for part in split) and (None in split or self.table is None):
            misfits.add("partitionColumn, lowerBound, upperBound and numPartitions are for a table, all four")
        misfits.check()
        return self

    @property
    def is_given(self) -> bool:
        """Whether a log is to be read so."""
        return self != type(self).model_construct()

    @property
    def spark_options(self) -> Mapping[str, str]:
        """What Spark's JDBC source calls it, secrets in clear; nothing where none is to be read so."""
        if not self.is_given:
            return {}
        given = {
            "url": self.url,
            "dbtable": self.table,
            "query": self.query,
            "user": self.user,
            "password": self.password.get_secret_value() if self.password is not None else None,
            "driver": self.driver,
            "partitionColumn": self.partition_column,
            "lowerBound": self.lower_bound,
            "upperBound": self.upper_bound,
            "numPartitions": str(self.num_partitions) if self.num_partitions is not None else None,
        }
        return {**self.options, **{name: value for name, value in given.items() if value is not None}}
