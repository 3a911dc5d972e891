"""The columns that a dashboard's native filters read: what they offer for a choice, and what decides the rows shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from connectors.dashboards.documents import Document, documents_in
from connectors.superset._charts import DatasetColumns, form_value

_TARGET = ("datasetUuid", "datasetId")
"""As an export has it, and as the API answers."""


@dataclass(frozen=True, slots=True)
class FilteredColumn:
    """A column of a dataset (its key), by the name that the dataset offers it under."""

    dataset: str
    column: str


def filtered_columns(
    dashboard: Document, offered: Mapping[str, DatasetColumns]
) -> tuple[tuple[FilteredColumn, ...], int]:
    """The columns, each once, and how many filters read more, which is not known: of no dataset here, or by SQL."""
    found: dict[FilteredColumn, None] = {}
    unread = 0
    for one in _filters(dashboard):
        lost = False
        for target in documents_in(one.get("targets")):
            # a filter of times names no dataset: it is for the columns that its charts filter by
            key = next((str(target[name]) for name in _TARGET if target.get(name)), "")
            dataset = offered.get(key)
            named = list(_names_of(one, target))
            columns = [_offered_name(name, dataset) for name in named] if dataset is not None else []
            found.update(dict.fromkeys(FilteredColumn(key, column) for column in columns if column))
            lost |= bool(key or named) and (dataset is None or not all(columns))
        unread += lost or any(map(_is_sql, documents_in(one.get("adhoc_filters"))))
    return tuple(found), unread


def _filters(dashboard: Document) -> Iterator[Document]:
    """The native filters: of an export's `metadata`, or of the API's `json_metadata`, which is text."""
    written = dashboard.get("metadata") or dashboard.get("json_metadata")
    metadata = form_value(written) if isinstance(written, str) else written
    if isinstance(metadata, dict):
        yield from documents_in(metadata.get("native_filter_configuration"))


def _names_of(one: Document, target: Document) -> Iterator[str]:
    """What a filter names of its dataset: its column, what it filters itself by, its time, what it sorts by."""
    column, values = target.get("column"), one.get("controlValues")
    given = [column.get("name") if isinstance(column, dict) else column, one.get("granularity_sqla")]
    given += [
        condition.get("subject") for condition in documents_in(one.get("adhoc_filters")) if not _is_sql(condition)
    ]
    given.append(values.get("sortMetric") if isinstance(values, dict) else None)
    given.append(one.get("sortMetric"))
    yield from (name for name in given if isinstance(name, str) and name)


def _is_sql(condition: Document) -> bool:
    return condition.get("expressionType") == "SQL"


def _offered_name(name: str, dataset: DatasetColumns) -> str:
    """The name under which a dataset offers a column or a metric, "" where it has none."""
    return name if name in dataset.columns else dataset.metrics.get(name, "")
