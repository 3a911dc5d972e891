"""A distinct statement as the parsers left it, and by what its lineage is known."""

from __future__ import annotations

from dataclasses import dataclass

from ingestion.analysis.analyzer import mentions
from ingestion.analysis.symbolic import Symbolic, loads, names_in_bytes
from ingestion.model.lineage import TableUsageNames
from ingestion.model.table_commits import COMMIT_TIER, COMMITTED

PLAN_TIER = "plan"
"""The tier of what a connector brought parsed already."""

ENGINE_TIER = "engine"
"""The tier of what the engine itself recorded, of which there is no text."""

REPORTED = f"{ENGINE_TIER}-"
"""How the fingerprint of what an engine recorded begins: who says so is not who says the same of a plan."""

LIST_TIER = "list"
"""The tier of what a list of edges says, in which somebody wrote it."""

LISTED = f"{LIST_TIER}-"
"""How the fingerprint of what a list says begins."""

TemplateKey = tuple[str, str]
"""Fingerprint and dialect."""


def tier_brought(fingerprint: str) -> str:
    """The tier of lineage that a connector brought."""
    tiers = {REPORTED: ENGINE_TIER, LISTED: LIST_TIER, COMMITTED: COMMIT_TIER}
    return next((tier for beginning, tier in tiers.items() if fingerprint.startswith(beginning)), PLAN_TIER)


@dataclass(frozen=True, slots=True)
class ParsedTemplate:
    """A distinct statement: its symbolic lineage, or why there is none. `masked` is "" where it cannot be shown.

    `other` are the codes of what shows that it is of another dialect, while it is newly parsed.
    `symbolic` is as the parser's process wrote it (`ingestion.analysis.symbolic.dumps`): it is read where it is bound.
    """

    fingerprint: str
    dialect: str
    tier: str
    symbolic: bytes | None
    masked: str
    dead: str | None
    timed_out: bool
    other: tuple[str, ...] = ()

    def statement(self) -> Symbolic:
        """The symbolic lineage. Raises Unparsable where its bytes are damaged, ValueError where there is none."""
        return loads(self._bytes())

    def names(self) -> TableUsageNames:
        """The names that the statement uses. Raises as `statement` does, and what an analysis raises."""
        return names_in_bytes(self._bytes()) or mentions(self.statement())

    def _bytes(self) -> bytes:
        if self.symbolic is None:
            raise ValueError("only parsed templates say anything")
        return self.symbolic
