"""What a proposed change does: its changes of tables and columns, what each does downstream, what stays unknown."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from connectors.catalog.questions.contracts import ContractReport
from ingestion.model.lineage import Json


class ChangeKind(StrEnum):
    """What happens to a table or a column."""

    TABLE_ADDED = "table added"
    TABLE_DROPPED = "table dropped"
    TABLE_RENAMED = "table renamed"
    ROWS_REDEFINED = "rows redefined"
    COLUMN_ADDED = "column added"
    COLUMN_DROPPED = "column dropped"
    COLUMN_RENAMED = "column renamed"
    COLUMN_RETYPED = "column retyped"
    COLUMN_REDEFINED = "column redefined"
    COLUMN_FILLED = "column filled from elsewhere"
    COLUMN_SENSITIVE = "column gets sensitive values"


class EffectKind(StrEnum):
    """What a change does to something downstream. UNCERTAIN: it may break, and the catalog does not tell."""

    BREAKS = "breaks"
    TYPE = "type"
    MEANING = "meaning"
    SENSITIVITY = "sensitivity"
    UNCERTAIN = "may break"


@dataclass(frozen=True, slots=True)
class DownstreamEffect:
    """What happens to a column, or to a `whole` table, downstream; `path` leads to it from what is changed."""

    kind: EffectKind
    name: str
    owners: tuple[str, ...]
    path: tuple[str, ...]
    expressions: tuple[str, ...] = ()
    why: str = ""
    whole: bool = False


@dataclass(frozen=True, slots=True)
class ProposedChange:
    """A change of a table or column (by its full name), with what it does downstream, the worst first."""

    kind: ChangeKind
    name: str
    detail: str = ""
    effects: tuple[DownstreamEffect, ...] = ()

    @property
    def breaks(self) -> bool:
        return any(effect.kind is EffectKind.BREAKS for effect in self.effects)


@dataclass(frozen=True, slots=True)
class ChangeReport:
    """All that a proposed change does. `unknown` is what could not be understood: then nothing is said to be safe.

    `contracts`: what it does to them, None where none were given.
    """

    changes: tuple[ProposedChange, ...]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    unknown: tuple[str, ...] = ()
    contracts: ContractReport | None = None

    @property
    def breaks(self) -> bool:
        """Whether it breaks something downstream, or a contract."""
        broken = self.contracts is not None and self.contracts.breaking
        return broken or any(change.breaks for change in self.changes)

    @property
    def empty(self) -> bool:
        """Whether it is about nothing that a catalog has."""
        return not (self.changes or self.reads or self.writes or self.unknown)

    @property
    def complete(self) -> bool:
        """Whether all of it was understood, and all of its effects are known."""
        uncertain = (effect for change in self.changes for effect in change.effects)
        known = self.contracts is None or self.contracts.complete
        return known and not self.unknown and not any(effect.kind is EffectKind.UNCERTAIN for effect in uncertain)

    def count(self, kind: EffectKind) -> int:
        """How many columns and tables downstream one kind of effect has."""
        return len({e.name for change in self.changes for e in change.effects if e.kind is kind})

    def to_json(self) -> Json:
        """The same as JSON."""
        return {
            "version": 1,
            "breaking": self.breaks,
            "complete": self.complete,
            "reads": list(self.reads),
            "writes": list(self.writes),
            "changes": [
                {
                    "kind": str(change.kind),
                    "name": change.name,
                    "detail": change.detail,
                    "breaking": change.breaks,
                    "effects": [_effect_json(effect) for effect in change.effects],
                }
                for change in self.changes
            ],
            "unknown": list(self.unknown),
        } | ({"contracts": self.contracts.to_json()} if self.contracts is not None else {})


def _effect_json(effect: DownstreamEffect) -> Json:
    return {
        "kind": str(effect.kind),
        "name": effect.name,
        "owners": list(effect.owners),
        "path": list(effect.path),
        "expressions": list(effect.expressions),
        "why": effect.why,
    }
