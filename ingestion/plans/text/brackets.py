"""Brackets in a plan's expressions: the role of what stands in one, and the text in and behind it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ingestion.dialects.functions import ArgumentUse
from ingestion.model import Subtype
from ingestion.plans.text.relation import AttributeLineage

_BRACKET = re.compile(r"[()\[\]]")
_ROLES = {ArgumentUse.CONDITION: Subtype.CONDITIONAL, ArgumentUse.ORDER: Subtype.SORT}


@dataclass(slots=True)
class OpenBracket:
    """A bracket or a CASE that is open: the role of what stands in it."""

    role: Subtype | None  # None: the value itself
    aggregated: bool
    masking: bool
    case: bool = False
    outer_role: Subtype | None = None
    uses_before: int = 0
    arguments: tuple[ArgumentUse, ...] = ()
    argument: int = -1
    tested: bool = False

    def next_argument(self) -> None:
        """Where a function does not do the same with each of its arguments, what it does with the one that begins."""
        self.argument += 1
        if self.argument < len(self.arguments):
            use = self.arguments[self.argument]
            self.role = self.outer_role or _ROLES.get(use)
            self.tested = use is ArgumentUse.BOTH


def field_behind(value: AttributeLineage, text: str, end: int) -> tuple[AttributeLineage, int]:
    """The field of a struct that the text behind a value names, and where its name ends: `r#5.z`."""
    for name, part in sorted((value.fields or {}).items(), key=lambda item: -len(item[0])):
        if text.startswith(f".{name}", end):
            return part, end + 1 + len(name)
    return value, end


def text_inside(text: str, opening: int) -> str:
    """What stands in the brackets that open at `opening`."""
    depth = 0
    for bracket in _BRACKET.finditer(text, opening):
        depth += 1 if bracket.group() in "([" else -1
        if depth == 0:
            return text[opening + 1 : bracket.start()]
    return text[opening + 1 :]
