"""The query of a write whose plan does not show it: another execution of the same statement ran it.

Delta Lake and other V1 writers behind Spark's V2 interface print one line of the query, its root; the query itself is
the plan of an execution with the same root execution id. Delta reads its own log, and the files that it is about to
rewrite, in executions of that id too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ingestion.plans.assembly import EvaluatedWrite
from ingestion.plans.operators.evaluation import kind_of
from ingestion.plans.operators.row_operations import delta_merge, without_own
from ingestion.plans.text.attributes import attribute_list
from ingestion.plans.text.relation import Attribute, PlanRelation
from ingestion.plans.text.tree import PlanNode, PlanText

LOG_COLUMNS = (
    frozenset(("txn", "add", "remove", "metaData", "protocol")),
    frozenset(("path", "partitionValues", "modificationTime", "dataChange")),
    frozenset(("add", "remove", "index", "shouldSkip")),
)
"""Columns by which a leaf is known that gives the entries of a Delta table's log, not its rows."""

_LOG_READ = re.compile(r"\bDeltaLogFileIndex\b|/_delta_log(?:/|\b)|^Delta (?:Table State|Source Snapshot)\b")
_REWRITTEN_FILES = "TahoeBatchFileIndex"
"""What lists the files that a command of Delta's chose itself: to rewrite them, or as a stream's batch."""


@dataclass(frozen=True, slots=True)
class Read:
    """What a plan that writes nothing reads; `place` is its execution's among the statement's.

    `rewritten` marks a read of files that a command of Delta's chose itself.
    """

    place: int
    relation: PlanRelation
    rewritten: bool = False


@dataclass(frozen=True, slots=True)
class Placed:
    """An evaluated write and its execution's place among the statement's."""

    place: int
    item: EvaluatedWrite


def reads_delta_log(text: PlanText) -> bool:
    """Whether a plan reads the log of a Delta table: that is no data of the table's."""
    return any(_is_log_read(leaf) for leaf in _leaves(text))


def reads_rewritten_files(text: PlanText) -> bool:
    """Whether all files that a plan reads were chosen by a command of Delta's."""
    places = [place for leaf in _leaves(text) if (place := _location_of(leaf))]
    return bool(places) and all(place.startswith(_REWRITTEN_FILES) for place in places)


def _leaves(text: PlanText) -> Iterable[PlanNode]:
    trees = (text.physical, text.analyzed, *text.subqueries.values())
    return (node for tree in trees if tree is not None for node in tree.walk() if not node.children)


def _location_of(leaf: PlanNode) -> str:
    """Which files a scan reads, as its plan prints that; "" where it prints none."""
    return leaf.fields.get("Location") or leaf.args.partition("Location: ")[2]


def _is_log_read(leaf: PlanNode) -> bool:
    kind = kind_of(leaf)
    if kind.startswith(("Scan", "FileScan")):
        if _LOG_READ.search(_location_of(leaf)) or _LOG_READ.search(leaf.name.removeprefix("Scan ExistingRDD ")):
            return True
    elif kind not in ("LogicalRDD", "LocalTableScan", "LocalRelation"):
        return False
    text = leaf.fields.get("Output") or leaf.name + leaf.args
    listed = text[text.find("[") : text.find("]") + 1]
    columns = {item.name for item in attribute_list(listed, ", " if ", " in listed else ",")}
    return any(known <= columns for known in LOG_COLUMNS)


def with_queries(found: Sequence[Placed], reads: Sequence[Read], made: Mapping[int, Attribute]) -> list[EvaluatedWrite]:
    """The writes, each with its query: that of an execution beside it, or Delta's MERGE from the scans beside it.

    `found` and `reads` are the writes and the scans of all executions; `made` has each attribute by its expression id.
    """
    return [_complete(write, _reads_of(write, found, reads), made) for write in found]


def _reads_of(write: Placed, found: Sequence[Placed], reads: Sequence[Read]) -> list[Read]:
    """The reads that may be a write's query: they follow it, and precede the next write of another target."""
    name = write.item.write.name
    others = (
        other.place
        for other in found
        if other.place > write.place and not other.item.write.partial and other.item.write.name not in (None, name)
    )
    end = min(others, default=math.inf)
    return [read for read in reads if write.place < read.place < end]


def _complete(placed: Placed, reads: Sequence[Read], made: Mapping[int, Attribute]) -> EvaluatedWrite:
    item = placed.item
    write = item.write
    if item.relation is not None:
        return item
    relation: PlanRelation | None = None
    if write.merge is not None:
        relation = delta_merge(write.merge, made)
    elif write.outputs:
        relation = _query_beside(write.outputs, reads)
    if relation is not None and write.row_operation and write.name is not None:
        relation = without_own(relation, write.name)
    return EvaluatedWrite(write, relation, item.logical)


def _query_beside(root: str, reads: Sequence[Read]) -> PlanRelation | None:
    """The relation of the read that is a write's query, of which the write has the line of the root.

    The read whose columns stand in that line, by id or by name, is surest; a root without a list of columns (a filter,
    a sort, a union, a copy) names some or none of them. Columns that the line leaves out are the table's others, which
    get nulls.
    """
    likely = [read.relation for read in reads if not read.rewritten and read.relation.attributes]
    by_id = [r for r in likely if all(f"{a.name}#{a.id}" in root for a in r.attributes)]
    by_name = [r for r in likely if all(f" {a.name}#" in root or not a.lineage.columns for a in r.attributes)]
    by_some_id = [r for r in likely if any(re.search(rf"#{a.id}\b", root) for a in r.attributes)]
    return next(reversed(by_id or by_name or by_some_id or likely), None)
