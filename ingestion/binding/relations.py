"""A relation of a log over its life: where it stood, what made it, how it ended."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from ingestion.binding.restored_names import Order
from ingestion.model import TableChange, TableName
from ingestion.names.namespaces import Namespace, RelationKey

RelationIdentity = tuple[RelationKey, Order | None]
"""What no two relations of a log have in common: where one first stood, and when it was made, None if before it."""


@dataclass(slots=True)
class Relation:
    """A relation over its life. Filled while the timeline is read, never after."""

    number: int
    key: RelationKey  # where it stands now; `born` is where it first stood
    born: RelationKey
    mention: tuple[TableName, Namespace]  # the name that first led to it, and where it was said
    creator: int | None = None  # the occurrence that created it; None: it was there before the log begins
    declared: TableChange | None = None
    like: int | None = None
    alterations: list[tuple[Order, TableChange]] = field(default_factory=list)
    created: Order | None = None
    dropped: Order | None = None
    left: RelationKey | None = None  # where it stood before it was renamed
    temporary: bool = False
    vacated: bool = False  # dropped, and nothing took its name again by the end of the log
    superseded: bool = False  # another relation was created under its name

    @property
    def identity(self) -> RelationIdentity:
        """What no other relation of the log has."""
        return self.born, self.created

    @property
    def replaced(self) -> bool:
        """Whether it was renamed away and dropped, and another stands in its place."""
        return self.key == self.left

    def end(self, stands: RelationKey | None, in_force: Collection[RelationKey]) -> None:
        """Where a relation that was dropped is in the end: in the place where it `stands` since it was made again, in
        that which it had left if another has it now, or nowhere.
        """
        if stands is not None:
            self.key = stands
        elif self.left is not None and self.left in in_force:
            self.key, self.superseded = self.left, True
        else:
            self.vacated = True
