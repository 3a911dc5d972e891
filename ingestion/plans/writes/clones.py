"""Clones of Delta tables: the plan of the command names the target, and reading the source's log tells the source."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ingestion.model import (
    Flow,
    Output,
    StarOutput,
    StatementKind,
    StatementLineage,
    TableName,
    Target,
    WriteMode,
)
from ingestion.plans.operators.evaluation import kind_of
from ingestion.plans.text.name_mapping import NameMapping, clean_location, quoted_parts
from ingestion.plans.text.tree import PlanNode, parse_plan_text

CLONE = "CloneTableCommand"
_HINT = re.compile(rf"\b{CLONE}\b")
_SHOWN = 8000
"""Characters of a plan in which the command stands: it is the root."""

_PLACE = re.compile(r", (?P<place>[^,\s\[\]]++), (?:Create|Replace|CreateOrReplace), (?:true|false), \[")
_WORD = re.compile(r"[^\s,\[\]]++")
_SCHEME = re.compile(r"\w++:/")


def clone_lineage(descriptions: Sequence[str], names: NameMapping) -> StatementLineage | None:
    """The lineage of a statement whose executions printed these plans, where it clones a table.

    None where it is no clone, and where the executions do not read exactly one other table's log.
    """
    for description in descriptions:
        if not _HINT.search(description, 0, _SHOWN):
            continue
        node = _clone_node(description)
        place = _PLACE.search(node.args) if node is not None else None
        if node is None or place is None:
            continue
        own = clean_location(place["place"])
        read = {clean_location(place) for each in descriptions for place in _logs_in(each)} - {own}
        target = _target(quoted_parts(node.args), names)
        if target is None or len(read) != 1:
            return None
        source = names.path(read.pop())
        write = Target(target, WriteMode.CREATE, by_name=True)
        flow = Flow(write, (Output("*", star=StarOutput(source)),), sources=(source,))
        return StatementLineage(StatementKind.CREATE_TABLE_AS, (flow,))
    return None


def is_clone(node: PlanNode) -> bool:
    """Whether a node is the command that clones a table."""
    return kind_of(node) == CLONE or (kind_of(node) == "CreateDeltaTableCommand" and f" {CLONE} " in node.args)


def _clone_node(description: str) -> PlanNode | None:
    text = parse_plan_text(description)
    trees = [tree for tree in (text.analyzed, text.physical) if tree is not None]
    return next((node for tree in trees for node in tree.walk() if is_clone(node)), None)


def _logs_in(description: str) -> Iterator[str]:
    """The places of the tables whose logs a plan reads."""
    for word in _WORD.findall(description):
        place, log, _ = word.partition("/_delta_log")
        if log and _SCHEME.match(place):
            yield place


def _target(parts: tuple[str, ...], names: NameMapping) -> TableName | None:
    if not parts:
        return None
    return names.path(parts[1]) if parts[0] == "delta" and "/" in parts[-1] else names.table(parts)
