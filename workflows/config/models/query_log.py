"""The keys of `headwater` that say where a query log is, if in no file, and what its columns mean."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field

from connectors.fields import Model, OrEmpty, Positive, Secret, Text, TimeZone


class ColumnModel(Model):
    model_config = ConfigDict(json_schema_extra={"type": ["object", "string"]})

    column: Text | None = Field(default=None, description="The column's name; a field of a field is a.b.")
    value: Text | None = Field(default=None, description="In place of a column: what all records have.")
    unit: Literal["s", "ms", "us", "ns", "ps", "min", "h"] | None = Field(
        default=None, description="Of its numbers: since 1970, for a time."
    )
    zone: TimeZone | None = Field(default=None, description="Of times that name no zone.")


def _column_alone(value: Any) -> Any:
    """A column may be given as nothing but its name."""
    return {"column": value} if isinstance(value, str) else value


Column = Annotated[ColumnModel, BeforeValidator(_column_alone)]


class QueryLogColumns(Model):
    """`headwater.queryLogColumns`: a column's name, or {column, unit, zone}, or {value} that all records have."""

    text: Column | None = Field(default=None, description="The statement.")
    time: Column | None = Field(default=None, description="When it started, or was logged.")
    end_time: Column | None = Field(default=None, description="When it ended.")
    duration: Column | None = Field(default=None, description="How long it took: {column: ms_taken, unit: ms}.")
    user: Column | None = Field(default=None, description="Who ran it.")
    session: Column | None = Field(default=None, description="The session it ran in.")
    database: Column | None = Field(default=None, description="Where its names are looked up: {value: shop}, if all.")
    schema_: Column | None = Field(default=None, alias="schema", description="The same, below the database.")
    status: Column | None = Field(default=None, description="What became of it: success, FAILED, running, ...")
    error: Column | None = Field(default=None, description="Empty, false or 0 where it succeeded.")
    type: Column | None = Field(default=None, description="What kind of statement it is.")
    job: Column | None = Field(default=None, description="A tag or label that names the job that ran it.")


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
