"""What a table format, or a stream, reads for itself: the log of a Delta table, files that it chose, and no rows."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ingestion.plans._relation import attribute_list, element_list
from ingestion.plans._scans import ROWS, is_empty
from ingestion.plans._tree import PlanNode, PlanText, kind_of

_LOG_COLUMNS = (
    frozenset(("txn", "add", "remove", "metaData", "protocol")),
    frozenset(("path", "partitionValues", "modificationTime", "dataChange")),
    frozenset(("add", "remove", "index", "shouldSkip")),
    frozenset(("metaData", "protocol", "commitInfo")),
)
"""Columns by which a leaf is known that gives the entries of a Delta table's log, not its rows."""

_LOG_READ = re.compile(r"\bDeltaLogFileIndex\b|/_delta_log(?:/|\b)|^Delta (?:Table State|Source Snapshot)\b")
_CHANGE_FEED = "Scan DeltaCDFRelation("
"""A scan of the rows that changed: its name has the whole snapshot in it, with the path of the table's log."""
_REWRITTEN_FILES = "TahoeBatchFileIndex"
"""What lists the files that a command of Delta's chose itself: to rewrite them, or as a stream's batch."""


def reads_delta_log(text: PlanText) -> bool:
    """Whether a plan reads the log of a Delta table: that is no data of the table's."""
    return any(_is_log_read(leaf) for leaf in _leaves(text)) or _gives_log_entries(text)


def reads_rewritten_files(text: PlanText) -> bool:
    """Whether all files that a plan reads were chosen by a command of Delta's."""
    locations = [location for leaf in _leaves(text) if (location := _location_of(leaf))]
    return bool(locations) and all(location.startswith(_REWRITTEN_FILES) for location in locations)


def reads_nothing(text: PlanText) -> bool:
    """Whether no leaf of a plan gives rows of anything stored: a stream's batch into which nothing new came.

    A plan whose leaf is the write itself prints no query: that says nothing of what it reads.
    """
    leaves = list(_leaves(text))
    return bool(leaves) and all(kind_of(leaf) in ROWS or is_empty(leaf) for leaf in leaves)


def _leaves(text: PlanText) -> Iterable[PlanNode]:
    trees = (text.physical, text.analyzed, *text.subqueries.values())
    return (node for tree in trees if tree is not None for node in tree.walk() if not node.children)


def _location_of(leaf: PlanNode) -> str:
    """Which files a scan reads, as its plan prints that; "" where it prints none."""
    return leaf.fields.get("Location") or leaf.args.partition("Location: ")[2]


def _is_log_read(leaf: PlanNode) -> bool:
    kind = kind_of(leaf)
    if leaf.name.startswith(_CHANGE_FEED):
        return False
    if kind.startswith(("Scan", "FileScan")):
        if _LOG_READ.search(_location_of(leaf)) or _LOG_READ.search(leaf.name.removeprefix("Scan ExistingRDD ")):
            return True
    elif kind not in ("LogicalRDD", "LocalTableScan", "LocalRelation"):
        return False
    text = leaf.fields.get("Output") or leaf.name + leaf.args
    listed = text[text.find("[") : text.find("]") + 1]
    return _has_log_columns({item.name for item in attribute_list(listed, ", " if ", " in listed else ",")})


def _gives_log_entries(text: PlanText) -> bool:
    """Whether the rows of a plan are such entries, made from objects: of those a leaf names no column."""
    root = text.physical
    if root is None or kind_of(root) != "Project":
        return False
    return _has_log_columns({item.name for item in element_list(root.fields.get("Output", root.args), {})})


def _has_log_columns(columns: set[str]) -> bool:
    return any(known <= columns for known in _LOG_COLUMNS)
