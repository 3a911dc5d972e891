"""What stands in the messages of a topic, as far as configurations tell: columns of a table, renamed, left out, made.

Of a Debezium change event it is the row that counts (`after`), whether the event is unwrapped or not: that is what
Flink's formats and the sinks read of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from ingestion.model.lineage import (
    ColumnRef,
    Output,
    Reference,
    StarOutput,
    Subtype,
    TableName,
    Transformation,
)

_AS_IT_IS = Transformation(Subtype.IDENTITY)


@dataclass(frozen=True, slots=True)
class FieldOrigin:
    """The column that a field is made of, None where it is none, and what becomes of its value."""

    column: str | None
    transformation: Transformation = _AS_IT_IS


@dataclass(frozen=True, slots=True)
class MessageFields:
    """The fields of a message: those that are `named`, and with `open_ended` all other columns but the `excluded`.

    `followed` False: some transform has made of them what nobody here knows.
    """

    named: Mapping[str, FieldOrigin] = field(default_factory=dict)
    open_ended: bool = True
    excluded: frozenset[str] = frozenset()
    followed: bool = True

    def without(self, names: Iterable[str]) -> MessageFields:
        """Without these fields."""
        gone = frozenset(names)
        return replace(
            self,
            named={name: one for name, one in self.named.items() if name not in gone},
            excluded=self.excluded | gone if self.open_ended else self.excluded,
        )

    def only(self, names: Iterable[str]) -> MessageFields:
        """With these fields alone."""
        kept = {name: one for name in names if (one := self._origin(name)) is not None}
        return replace(self, named=kept, open_ended=False, excluded=frozenset())

    def rename(self, pairs: Mapping[str, str]) -> MessageFields:
        """With other names, all given at once."""
        origins = {new: one for old, new in pairs.items() if (one := self._origin(old)) is not None}
        return replace(rest := self.without(pairs), named={**rest.named, **origins})

    def change(self, names: Iterable[str], transformation: Transformation) -> MessageFields:
        """With other values in these fields."""
        changed = {}
        for name in names:
            one = self._origin(name)
            if one is not None and one.column is not None:
                masked = transformation.masking or one.transformation.masking
                changed[name] = FieldOrigin(one.column, Transformation(transformation.subtype, masked))
        return replace(rest := self.without(changed), named={**rest.named, **changed})

    def add(self, names: Iterable[str]) -> MessageFields:
        """With fields that are made of no column."""
        return replace(self, named={**self.named, **{name: FieldOrigin(None) for name in names if name}})

    def leave_unfollowed(self) -> MessageFields:
        """Of which nothing is known any more but where they come from."""
        return replace(self, named={}, open_ended=True, excluded=frozenset(), followed=False)

    def outputs(self, source: TableName) -> tuple[Output, ...]:
        """What a flow out of `source` gives; nothing where only the whole is known."""
        if not self.followed:
            return ()
        given = [
            Output(name, (Reference((ColumnRef(source, one.column),), one.transformation),))
            for name, one in self.named.items()
            if one.column is not None
        ]
        if self.open_ended:
            # What is made of no column, or bears the name of another, hides the column of its name.
            hidden = tuple(sorted(self.excluded | self.named.keys()))
            given.append(Output("*", (), "", StarOutput(source, hidden)))
        return tuple(given)

    def _origin(self, name: str) -> FieldOrigin | None:
        if name in self.named:
            return self.named[name]
        return FieldOrigin(name) if self.open_ended and name not in self.excluded else None
