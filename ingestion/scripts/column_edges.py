"""The edges of columns in one flow, as values that print as the query has them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ingestion.model import ColumnRef, Flow, Json, LineageType, Subtype, TableName


@dataclass(frozen=True, slots=True)
class TargetColumn:
    """A column that a statement makes; `table` is None for a bare SELECT, whose columns print bare."""

    table: TableName | None
    column: str

    def __str__(self) -> str:
        return self.column if self.table is None else f"{self.table}.{self.column}"


@dataclass(frozen=True, slots=True)
class ColumnEdge:
    """One source column's part in one target column.

    `certain` is False where a name is ambiguous, or where the target's column is taken to be named as the source's is
    (an INSERT by position into a table of unknown schema); `expression` is masked, "" where the column is taken as is.
    """

    source: ColumnRef
    target: TargetColumn
    type: LineageType
    subtype: Subtype
    masking: bool
    expression: str
    certain: bool

    def to_dict(self) -> Json:
        """The edge for JSON, each name as the query has it."""
        return {
            "source": str(self.source),
            "target": str(self.target),
            "type": self.type.value,
            "subtype": self.subtype.value,
            "masking": self.masking,
            "expression": self.expression,
            "certain": self.certain,
        }


def edges_of(flow: Flow) -> Iterator[ColumnEdge]:
    """Every column edge of a flow; an indirect one of the whole row goes to each column of the target."""
    table = flow.target.name if flow.target is not None else None
    for output in flow.outputs:
        if output.star is not None:
            source = ColumnRef(output.star.table, "*")
            to = TargetColumn(table, "*")
            yield ColumnEdge(
                source, to, LineageType.DIRECT, Subtype.IDENTITY, masking=False, expression="", certain=True
            )
            continue
        target = TargetColumn(table, output.name)
        for reference in (*output.references, *flow.indirect):
            how = reference.transformation
            certain = reference.certain and not output.name_assumed
            for source in reference.sources:
                yield ColumnEdge(
                    source, target, how.type, how.subtype, how.masking, reference.expression, certain=certain
                )
