# ruff: noqa: N815 — the names are the wire's
"""OpenLineage's run events, as far as lineage needs them; everything else in an event is left alone."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, AwareDatetime, Field

from connectors.catalog.contract.models import Count, Fqn, Many, Model, Name, Text, Word
from ingestion.model.storage_paths import location, without_query

_VALUE = re.compile(r"'[^']*+'?")
_LITERAL = re.compile(r"'[^']*+'?|\"[^\"]*+\"?|(?<![\w.])\d[\d.]*(?!\w)")


def _without_login(namespace: str) -> str:
    """Of s3://key:secret@bucket and jdbc:postgresql://host/db?password=secret the place, and not how to enter it."""
    return location(namespace).dotted if "://" in namespace else namespace


def _without_signature(name: str) -> str:
    return location(name).dotted if "://" in name else without_query(name)


def _type_without_values(text: str) -> str:
    """The type enum('a', 'b') without its values; a name in it may stand in double quotes."""
    return _VALUE.sub("?", text)


def _test_without_values(text: str) -> str:
    return _LITERAL.sub("?", text)


Namespace = Annotated[Name, AfterValidator(_without_login)]
DatasetName = Annotated[Fqn, AfterValidator(_without_signature)]


class Transformation(Model):
    """How an input field takes part."""

    type: Word = "DIRECT"
    subtype: Word | None = None
    masking: bool | None = None


class InputField(Model):
    """A field of a dataset that a field of the output is made from, or was influenced by."""

    namespace: Namespace
    name: DatasetName
    field: Name
    transformations: Many[Transformation] | None = None


class OutputField(Model):
    """The input fields of one field of the output."""

    inputFields: Many[InputField] = []


class ColumnLineage(Model):
    """The column-lineage facet: by field, and for the dataset as a whole."""

    fields: dict[str, OutputField] = {}
    dataset: Many[InputField] | None = None


class LineageInput(Model):
    """What feeds a dataset, or one of its fields: of a dataset all where it names no `field`; a job is none."""

    namespace: Namespace
    name: DatasetName
    type: Word
    field: Name | None = None
    transformations: Many[Transformation] | None = None


class LineageField(Model):
    """What feeds one field."""

    inputs: Many[LineageInput] = []


class Lineage(Model):
    """The lineage facet of a dataset, which is younger than that of columns alone: what it is made of, and its fields.

    `inputs` that are given are all that there are.
    """

    inputs: Many[LineageInput] | None = None
    fields: dict[str, LineageField] = {}


class LineageEntry(Lineage):
    """The same, told by a job or a run of one that it names."""

    namespace: Namespace
    name: DatasetName
    type: Word


class LineageEntries(Model):
    """The lineage facet of a job, and of a run."""

    lineage: Many[LineageEntry] = []


class SchemaField(Model):
    """A field of a dataset."""

    name: Name
    type: Annotated[Text, AfterValidator(_type_without_values)] | None = None
    description: Text | None = None


class Schema(Model):
    """The schema facet."""

    fields: Many[SchemaField] | None = None


class Identifier(Model):
    """Another name of a dataset."""

    namespace: Namespace
    name: DatasetName
    type: Word | None = None


class Symlinks(Model):
    """The symlinks facet."""

    identifiers: Many[Identifier] | None = None


class Assertion(Model):
    """A test of a dataset, or of one of its columns, and whether it held."""

    assertion: Annotated[Word, AfterValidator(_test_without_values)]
    success: bool
    column: Name | None = None


class DataQualityAssertions(Model):
    """The facet of tests."""

    assertions: Many[Assertion] = []


class OutputStatistics(Model):
    """How much a run wrote."""

    rowCount: Count | None = None


class DatasetFacets(Model):
    """The facets of a dataset that lineage needs."""

    schema_: Annotated[Schema | None, Field(alias="schema")] = None
    columnLineage: ColumnLineage | None = None
    lineage: Lineage | None = None
    symlinks: Symlinks | None = None
    dataQualityAssertions: DataQualityAssertions | None = None


class RunDatasetFacets(Model):
    """The facets that an input or output has of one run alone."""

    dataQualityAssertions: DataQualityAssertions | None = None
    outputStatistics: OutputStatistics | None = None


class Dataset(Model):
    """An input or output of a run."""

    namespace: Namespace
    name: DatasetName
    facets: DatasetFacets | None = None
    inputFacets: RunDatasetFacets | None = None
    outputFacets: RunDatasetFacets | None = None

    @property
    def assertions(self) -> list[Assertion]:
        """The tests of it that are told, whichever facets they stand in."""
        holders = (self.facets, self.inputFacets, self.outputFacets)
        facets = [one.dataQualityAssertions for one in holders if one is not None]
        return [assertion for facet in facets if facet is not None for assertion in facet.assertions]


class Sql(Model):
    """The SQL facet of a job."""

    query: Text
    dialect: Word | None = None


class JobType(Model):
    """Whose job it is."""

    integration: Word | None = None


class JobFacets(Model):
    """The facets of a job that lineage needs."""

    jobType: JobType | None = None
    sql: Sql | None = None
    lineage: LineageEntries | None = None


class Job(Model):
    """What ran."""

    namespace: Namespace
    name: Annotated[Fqn, AfterValidator(_without_login)]
    facets: JobFacets | None = None


class RunFacets(Model):
    """The facets of a run that lineage needs."""

    lineage: LineageEntries | None = None


class Run(Model):
    """Which run it was."""

    runId: Word
    facets: RunFacets | None = None


class RunEvent(Model):
    """Something a run reported; a failed or aborted run wrote nothing."""

    eventTime: AwareDatetime | datetime
    eventType: Literal["START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER"] | None = None
    run: Run
    job: Job
    inputs: Annotated[Many[Dataset], Field(max_length=10_000)] = []
    outputs: Annotated[Many[Dataset], Field(max_length=10_000)] = []


class JobEvent(Model):
    """What a job reads and writes, told without a run of it."""

    eventTime: AwareDatetime | datetime
    job: Job
    inputs: Annotated[Many[Dataset], Field(max_length=10_000)] = []
    outputs: Annotated[Many[Dataset], Field(max_length=10_000)] = []


class DatasetEvent(Model):
    """What a dataset is like, told without a job."""

    eventTime: AwareDatetime | datetime
    dataset: Dataset


Event = RunEvent | JobEvent | DatasetEvent


def event_model(document: object) -> type[RunEvent | JobEvent | DatasetEvent]:
    """Which event a body is, by what only that has; what is none of them is read as the event of a run."""
    keys = document.keys() if isinstance(document, dict) else ()
    if "run" in keys:
        return RunEvent
    return DatasetEvent if "dataset" in keys else JobEvent if "job" in keys else RunEvent
