"""What producers say of edges, as dependencies between columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from connectors.catalog.store.lineage.reads import ContributionView
from ingestion.model import Json
from ingestion.policies.values import ColumnNode


@dataclass(frozen=True, slots=True)
class ColumnDependency:
    """What one producer says of a source and a target; `type` is DIRECT, INDIRECT, or TABLE where no columns are known.

    `producer` is its kind (query, view, …), `sql` its masked text.
    """

    source: ColumnNode
    target: ColumnNode
    type: str
    subtype: str = ""
    masking: bool = False
    expression: str = ""
    certain: bool = True
    producer: str = ""
    sql: str = field(default="", repr=False)


def dependencies_of(
    view: ContributionView, source: str, target: str, columns: Iterable[Json] | None = None
) -> Iterator[ColumnDependency]:
    """What a contribution says of a source and a target; of these `columns` of its content alone, if given."""
    text = str(view.content.get("sql") or "")
    given = view.content.get("columns") or ()
    if not given:
        yield ColumnDependency((source, None), (target, None), "TABLE", producer=view.kind, sql=text)
        return
    for column in given if columns is None else columns:
        for path in column["from"]:
            yield ColumnDependency(
                (source, path),
                (target, column.get("to")),
                str(column.get("type") or "DIRECT"),
                str(column.get("subtype") or ""),
                bool(column.get("masking")),
                str(column.get("expression") or ""),
                column.get("certain", True) is not False,
                view.kind,
                text,
            )
