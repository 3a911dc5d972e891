"""By what a template's lineage is known, where no parser had to read it."""

from __future__ import annotations

PLAN_TIER = "plan"
"""The tier of what a connector brought parsed already."""

ENGINE_TIER = "engine"
"""The tier of what the engine itself recorded, of which there is no text."""

REPORTED = f"{ENGINE_TIER}-"
"""How the fingerprint of what an engine recorded begins: who says so is not who says the same of a plan."""


def tier_brought(fingerprint: str) -> str:
    """The tier of lineage that a connector brought."""
    return ENGINE_TIER if fingerprint.startswith(REPORTED) else PLAN_TIER
