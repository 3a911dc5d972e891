"""What a policy changes: the tags that are missing, and those whose path is gone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum

from ingestion.model import fqn
from ingestion.model.lineage import Json
from ingestion.policies import (
    Declassification,
    Dependency,
    Path,
    Policy,
    Review,
    TaggedColumns,
    propagate,
)
from ingestion.walk import ColumnNode, node_name

_REASON = "Lineage policy: "
"""What the reason of each label begins with that a policy put on."""

LABEL_TYPE = "Propagated"


@dataclass(frozen=True, slots=True)
class TagLabel:
    """A tag on a column: `path` is that of a derived one, None for what a person or another tool has set."""

    tag: str
    path: Path | None = None


@dataclass(frozen=True, slots=True)
class CatalogColumns:
    """Every column with its labels, the kind of each table (Regular, View, …), and what is said between columns."""

    labels: Mapping[ColumnNode, tuple[TagLabel, ...]]
    table_types: Mapping[str, str]
    dependencies: tuple[Dependency, ...] = field(repr=False)

    def tagged_columns(self) -> TaggedColumns:
        """The columns with the tags that were not derived."""
        columns: dict[str, list[str]] = {}
        for table, path in self.labels:
            columns.setdefault(table, []).append(path or "")
        tags = {
            column: frozenset(label.tag for label in labels if label.path is None)
            for column, labels in self.labels.items()
        }
        by_hand = {column: found for column, found in tags.items() if found}
        return TaggedColumns(by_hand, {table: tuple(paths) for table, paths in columns.items()}, self.dependencies)


class TagAction(StrEnum):
    """What is done about a label. MOVE: it stays, and its path is another."""

    ADD = "add"
    WITHDRAW = "withdraw"
    MOVE = "move"


@dataclass(frozen=True, slots=True)
class TagChange:
    """One label to put on, take off, or give another path."""

    action: TagAction
    column: ColumnNode
    tag: str
    path: Path


@dataclass(frozen=True, slots=True)
class PolicyPlan:
    """All changes, what a person has to decide, and the exceptions that have ended; `kept` labels stay as they are."""

    changes: tuple[TagChange, ...]
    kept: int
    review: tuple[Review, ...]
    ended: tuple[Declassification, ...]

    @property
    def untagged(self) -> tuple[TagChange, ...]:
        """The columns that hold tagged data, and lack the tag."""
        return tuple(change for change in self.changes if change.action is TagAction.ADD)

    def to_json(self) -> Json:
        """The same as JSON."""
        return {
            "version": 1,
            "changes": [
                {"action": str(one.action), "column": node_name(one.column), "tag": one.tag, "path": list(one.path)}
                for one in self.changes
            ],
            "kept": self.kept,
            "review": [
                {"column": one.column, "tag": one.tag, "path": list(one.path), "why": one.why} for one in self.review
            ],
            "ended": [
                {"columns": list(one.columns), "reason": one.reason, "until": one.until.isoformat()}
                for one in self.ended
            ],
        }


def catalog_columns(documents: Iterable[Json], dependencies: Iterable[Dependency]) -> CatalogColumns:
    """The columns of tables as a platform answers them, the nested ones too, and what is said between them."""
    labels: dict[ColumnNode, tuple[TagLabel, ...]] = {}
    table_types = {}
    for document in documents:
        table = str(document["fullyQualifiedName"])
        table_types[table] = str(document.get("tableType") or "Regular")
        for path, column in _columns_below(document.get("columns") or (), ""):
            stored = column.get("tags") or ()
            labels[table, path] = tuple(TagLabel(str(label["tagFQN"]), path_in(label)) for label in stored)
    return CatalogColumns(labels, table_types, tuple(dependencies))


def _columns_below(columns: Iterable[Json], parent: str) -> Iterator[tuple[str, Json]]:
    for column in columns:
        path = fqn.join(parent, str(column["name"]))
        yield path, column
        yield from _columns_below(column.get("children") or (), path)


def policy_plan(catalog: CatalogColumns, policy: Policy, today: date) -> PolicyPlan:
    """What `policy` changes in the catalog. A label that a person or another tool has set is never withdrawn."""
    found = propagate(catalog.tagged_columns(), policy.in_force(today))
    changes: list[TagChange] = []
    kept = 0
    for column in sorted({*catalog.labels, *found.derived}, key=node_name):
        if column not in catalog.labels:
            continue
        there = {label.tag: label.path for label in catalog.labels[column] if label.path is not None}
        wanted = found.derived.get(column, {})
        for tag, path in sorted(wanted.items()):
            if tag not in there:
                changes.append(TagChange(TagAction.ADD, column, tag, path))
            elif there[tag] != path:
                changes.append(TagChange(TagAction.MOVE, column, tag, path))
            else:
                kept += 1
        gone = sorted(there.keys() - wanted.keys())
        changes += [TagChange(TagAction.WITHDRAW, column, tag, there[tag] or ()) for tag in gone]
    return PolicyPlan(tuple(changes), kept, found.review, policy.ended_exceptions(today))


def reason_of(path: Path) -> str:
    """What a label says of its path."""
    return _REASON + " -> ".join(path)


def path_in(label: Json) -> Path | None:
    """The path of a stored label, None for what no policy has put on."""
    reason = str(label.get("reason") or "")
    if label.get("labelType") != LABEL_TYPE or not reason.startswith(_REASON):
        return None
    return tuple(reason.removeprefix(_REASON).split(" -> "))
