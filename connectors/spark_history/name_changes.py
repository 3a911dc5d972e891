"""DDL in plans: tables and views that were renamed or dropped."""

from __future__ import annotations

import re
from collections.abc import Sequence

from connectors.spark_history.evaluation import kind_of
from connectors.spark_history.names import NameMapping, quoted_parts
from connectors.spark_history.plan_text import PlanNode, parse_plan_text
from connectors.spark_history.v2_writes import catalog_name
from ingestion.model import StatementKind, StatementLineage, TableChange

QUALIFIED = 3
DDL = re.compile(r"\b(?:AlterTableRenameCommand|DropTableCommand|DropTable|DropView)\b")
_BEHIND_NAME = re.compile(r"(?:`(?:[^`]|``)+`\.?)+, ")


def name_changes(descriptions: Sequence[str], names: NameMapping) -> StatementLineage | None:
    """What a statement's plans say became of a name; None where they say nothing of the kind."""
    for description in descriptions:
        if not DDL.search(description[:400]):
            continue
        root = parse_plan_text(description).physical
        for node in root.walk() if root is not None else ():
            change = change_of(node, names)
            if change is not None:
                return StatementLineage(change.kind, (), (change,))
    return None


def change_of(node: PlanNode, names: NameMapping) -> TableChange | None:
    """A node's change; temporary views and catalogs that the plan does not name have none."""
    kind = kind_of(node)
    if kind in ("DropTable", "DropView"):
        dropped = catalog_name(node.args, names)
        return TableChange(StatementKind.DROP, dropped) if dropped is not None else None
    old = quoted_parts(node.args)
    if len(old) < QUALIFIED - 1:
        return None
    if kind == "DropTableCommand":
        return TableChange(StatementKind.DROP, names.table(old))
    if kind == "AlterTableRenameCommand":
        new = renamed(node.args, old)
        return TableChange(StatementKind.RENAME, names.table(old), other=names.table(new)) if new else None
    return None


def renamed(args: str, old: tuple[str, ...]) -> tuple[str, ...]:
    """The new name, which leaves out what it has in common with the old one."""
    behind = _BEHIND_NAME.match(args)
    new = quoted_parts(args[behind.end() :]) if behind else ()
    return (*old[: len(old) - len(new)], *new) if new else ()
