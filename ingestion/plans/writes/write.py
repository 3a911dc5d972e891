"""One write of a plan, as its node tells it."""

from __future__ import annotations

from dataclasses import dataclass

from ingestion.model import StatementKind, TableName, WriteMode
from ingestion.plans.text.tree import PlanNode


@dataclass(frozen=True, slots=True)
class PlanWrite:
    """One write: `name` is None where the plan has no name for the target; `location` is where it puts the files.

    `query` is None where an execution beside this one has the query; then `outputs` is the line that names its
    columns. `columns` are the target's columns where the plan lists them in the query's order. `partial` marks a name
    without its catalog, `row_operation` a MERGE, UPDATE or DELETE; `merge` has the arguments of Delta's MERGE.
    """

    kind: StatementKind
    mode: WriteMode
    name: TableName | None
    query: PlanNode | None
    location: TableName | None = None
    columns: tuple[str, ...] | None = None
    view: bool = False
    temporary: bool = False
    text: str | None = None
    partial: bool = False
    outputs: str = ""
    row_operation: bool = False
    merge: str | None = None


def query_of(node: PlanNode) -> PlanNode | None:
    """The plan of what a node writes: its child, or the plan printed below it.

    Beside a child, the plan of a condition's subquery may be printed: that of a rewritten MERGE's.
    """
    below = node.children or node.inner
    return below[-1] if below else None
