"""Writes of which nothing could be told: a node that is not known here, or one whose target the plan does not name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ingestion.plans.operators.evaluation import OPERATORS, kind_of
from ingestion.plans.text.tree import PlanNode, parse_plan_text
from ingestion.plans.writes.clones import CLONE, is_clone
from ingestion.plans.writes.v1 import is_write

_WRITES = (
    r"\w*Insert\w*|\w*Writ(?:e|er|ing)\w*|Append(?!Columns)\w*|Overwrite\w*|\w*Replace\w*|\w*AsSelect\w*|"
    r"\w*MergeInto\w*|Update\w*|Delete\w*|Upsert\w*|Save\w*|LoadData\w*|CopyInto\w*|\w*Clone\w*|Restore\w*"
)
_WRITE = re.compile(f"(?:Atomic|Gpu|Photon)?(?:{_WRITES})")
_HINT = re.compile(rf"^[ :+\-*~]*(?:\*\(\d+\) )?(?:Execute |{_WRITE.pattern}\b)", re.MULTILINE)
_ADMINISTRATIVE = re.compile(
    r"(?:Add|Alter|Analyze|Cache|Clear|Comment|Convert|Declare|Describe|Drop|Explain|Fetch|Generate|Get|Grant|List|Msck|"
    r"Optimize|Rename|Reorg|Repair|Refresh|Reset|Revoke|Set|Show|StreamingExplain|Truncate|Uncache|Unset|Use|Vacuum|"
    r"ExternalCommand)\w*"
)
"""Commands that move no rows between tables, whatever stands below them."""

_HARMLESS = re.compile(
    r"WriteFiles|(?:Atomic)?ReplaceTable|UpdateEventTime\w*|CacheTableAsSelect|Delete\w*|RestoreTable\w*"
)
"""Nodes that are named like writes: steps of others, definitions without rows, and what has no source to lose.

RESTORE puts a table back to rows that it had before.
"""

_KIND = re.compile(r"[A-Z]\w{1,80}")
_NOWHERE = re.compile(r"noop-table", re.IGNORECASE)
_LASTING = re.compile(r"(?!.*(?:Console|Memory|Foreach|Noop))(?:[\w.]*[.$])?(?P<kind>[A-Z]\w*)")
"""The description of a streaming query's sink that keeps rows, by its class."""


def unread_write(descriptions: Sequence[str], sink: str | None = None) -> str | None:
    """The kind of the write in plans, or into a stream's sink, of which no lineage was found; None of what only reads.

    A kind is the name of a class: it has no words of the user's in it.
    """
    if sink is not None:
        lasting = _LASTING.match(sink)
        return lasting.group("kind") if lasting else None
    for description in descriptions:
        if _HINT.search(description):
            text = parse_plan_text(description)
            trees = [tree for tree in (text.analyzed, text.physical) if tree is not None]
            found = next((kind for tree in trees for kind in _write_kinds(tree)), None)
            if found is not None:
                return found
    return None


def _write_kinds(root: PlanNode) -> Iterator[str]:
    """The kinds of a tree's outermost nodes that write."""
    pending = [root]
    while pending:
        node = pending.pop()
        kind = kind_of(node)
        bare = kind.removeprefix("Execute ")
        below = [*node.inner, *node.children]
        if is_clone(node):
            yield CLONE
            continue
        if is_write(node) or (_KIND.fullmatch(bare) and _writes_rows(kind, bare, below)):
            if not _HARMLESS.fullmatch(bare) and not _NOWHERE.search(node.name):
                yield from _shown_kind(node, bare)
        elif kind != "CommandResult" and (kind == "Union" or kind not in OPERATORS):
            pending.extend(reversed(below))


def _shown_kind(node: PlanNode, bare: str) -> Iterator[str]:
    """The kind as it is told: for a stream's batch that of its sink, and nothing for a sink that keeps no rows."""
    if bare.startswith("WriteToMicroBatch"):
        lasting = _LASTING.match(node.args)
        if lasting is not None:
            yield lasting.group("kind")
    else:
        yield node.name.removeprefix("Execute ").partition(" ")[0]


def _writes_rows(kind: str, bare: str, below: Sequence[PlanNode]) -> bool:
    """Whether a node that is not known here writes, by its name and by whether it has a query."""
    if any(kind_of(node) == bare for node in below):
        return False  # the command itself stands below its execution
    if kind != bare and not _ADMINISTRATIVE.fullmatch(bare):
        return bool(below) or not bare.startswith("Create")
    return _WRITE.fullmatch(bare) is not None
