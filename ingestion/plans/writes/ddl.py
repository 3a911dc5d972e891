"""DDL in plans: tables and views that were renamed or dropped, columns that were added, renamed or dropped."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ingestion.model import Column, StatementKind, StatementLineage, TableChange, TableName
from ingestion.plans.operators.evaluation import kind_of
from ingestion.plans.text.name_mapping import QUALIFIED, NameMapping, quoted_parts
from ingestion.plans.text.tree import PlanNode, parse_plan_text
from ingestion.plans.writes.v2 import catalog_names

DDL = re.compile(r"\b(?:AlterTableRenameCommand|DropTableCommand|DropTable|DropView|RenameTable|AlterTable)\b")
V2_KINDS = ("DropTable", "DropView", "RenameTable", "AlterTable")
_CHANGES = re.compile(r", \[(?:(?P<changes>.*)\]|.*)", re.DOTALL)
_NEXT_CHANGE = re.compile(r", (?=(?:ADD|DROP|RENAME|ALTER) COLUMN )")
_ADDED = re.compile(r"ADD COLUMN (?P<name>[^.\s]+) (?P<type>.+)", re.DOTALL)
_DROPPED = re.compile(r"DROP COLUMN (?P<name>[^.]+)")
_RENAMED = re.compile(r"RENAME COLUMN (?P<old>(?:(?! TO )[^.])+) TO (?P<new>(?:(?! TO ).)+)", re.DOTALL)
_BEHIND_NAME = re.compile(r"(?:`(?:[^`]|``)++`\.?+)++, ")


def name_changes(descriptions: Sequence[str], names: NameMapping) -> StatementLineage | None:
    """What a statement's plans say became of a name; None where they say nothing of the kind."""
    for description in descriptions:
        if not DDL.search(description[:400]):
            continue
        root = parse_plan_text(description).physical
        for node in root.walk() if root is not None else ():
            change = _change_of(node, names)
            if change is not None:
                return StatementLineage(change.kind, (), (change,))
    return None


def _change_of(node: PlanNode, names: NameMapping) -> TableChange | None:
    """A node's change; temporary views and catalogs that the plan does not name have none."""
    kind = kind_of(node)
    if kind in V2_KINDS:
        found = catalog_names(node.args, names)
        return _v2_change(kind, node.args, *found) if found is not None else None
    old = quoted_parts(node.args)
    if len(old) < QUALIFIED - 1:
        return None
    if kind == "DropTableCommand":
        return TableChange(StatementKind.DROP, names.table(old))
    if kind == "AlterTableRenameCommand":
        new = _new_name(node.args, old)
        return TableChange(StatementKind.RENAME, names.table(old), other=names.table(new)) if new else None
    return None


def _v2_change(kind: str, args: str, name: TableName, other: TableName | None) -> TableChange | None:
    """What a command of a V2 catalog changes."""
    if kind == "RenameTable":
        return TableChange(StatementKind.RENAME, name, other=other) if other is not None else None
    return _column_changes(args, name) if kind == "AlterTable" else TableChange(StatementKind.DROP, name)


def _column_changes(args: str, table: TableName) -> TableChange | None:
    """The columns that an ALTER TABLE of a V2 catalog adds, drops and renames; None where it says nothing of any.

    A path with a dot is a field inside a column, or a name that cannot be told from one: that changes no column. Spark
    4.0 and older print the changes as objects without content.
    """
    listed = _CHANGES.search(args)
    items = _NEXT_CHANGE.split(listed["changes"]) if listed and listed["changes"] is not None else []
    added = [Column(found["name"], found["type"].lower()) for item in items if (found := _ADDED.fullmatch(item))]
    dropped = [found["name"] for item in items if (found := _DROPPED.fullmatch(item))]
    renamed = [(found["old"], found["new"]) for item in items if (found := _RENAMED.fullmatch(item))]
    if not (added or dropped or renamed):
        return None
    change = TableChange(StatementKind.ALTER_TABLE, table, tuple(added))
    return replace(change, dropped_columns=tuple(dropped), renamed_columns=tuple(renamed))


def _new_name(args: str, old: tuple[str, ...]) -> tuple[str, ...]:
    """The new name, which leaves out what it has in common with the old one."""
    behind = _BEHIND_NAME.match(args)
    new = quoted_parts(args[behind.end() :]) if behind else ()
    return (*old[: len(old) - len(new)], *new) if new else ()
