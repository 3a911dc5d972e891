"""What stands behind FROM and JOIN in a list of tokens: the name of a relation, or a call, and its alias."""

from __future__ import annotations

from dataclasses import dataclass

from ingestion.dialects.cursor import Code
from ingestion.dialects.keywords import AFTER_RELATION


@dataclass(frozen=True)
class WrittenRelation:
    """A relation as a text has it: `d.t AS x`, `f(1) x`, `(SELECT …) x`."""

    parts: tuple[str, ...]
    end: int
    """Behind its name and the brackets of its arguments."""
    alias: int | None
    """Where its alias stands."""
    behind: int
    """Behind its alias."""

    def name(self, code: Code) -> str:
        """What its columns are qualified by; "" where it has no name."""
        if self.alias is not None:
            return code.name(self.alias)
        return self.parts[-1] if self.parts else ""


def relation_at(code: Code, number: int) -> WrittenRelation:
    """The relation that begins at a token; one of no parts and no alias where none does."""
    parts, end = code.dotted_name(number)
    end = code.after(end) if code.word(end) == "(" else end
    alias = end + (code.word(end) == "as")
    if code.is_name(alias) and (code.is_quoted(alias) or code.word(alias) not in AFTER_RELATION):
        return WrittenRelation(parts, end, alias, alias + 1)
    return WrittenRelation(parts, end, None, end)
