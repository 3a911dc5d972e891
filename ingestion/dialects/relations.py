"""What stands behind FROM and JOIN in a list of tokens: the name of a relation, or a call, and its alias."""

from __future__ import annotations

from dataclasses import dataclass

from ingestion.dialects.cursor import Code
from ingestion.dialects.keywords import AFTER_RELATION


@dataclass(frozen=True)
class WrittenRelation:
    """A relation as a text has it: `d.t FOR SYSTEM_TIME AS OF x AS y (a, b)`, `f(1) y`, `(SELECT …) y`."""

    parts: tuple[str, ...]
    is_call: bool
    end: int
    """Behind its name and the brackets of its arguments."""
    moment_end: int
    """Behind FOR SYSTEM_TIME AS OF, which of its states is read."""
    alias: int | None
    """Where its alias stands."""
    behind: int
    """Behind its alias, and what that calls its columns."""

    def name(self, code: Code) -> str:
        """What its columns are qualified by; "" where it has no name."""
        if self.alias is not None:
            return code.name(self.alias)
        return self.parts[-1] if self.parts else ""


def relation_at(code: Code, number: int) -> WrittenRelation:
    """The relation that begins at a token; one of no parts that ends where it begins where none does."""
    parts, named = code.dotted_name(number)
    end = _behind_brackets(code, named)
    moment = end
    if code.stands(end, "for", "system_time", "as", "of"):
        moment = _behind_brackets(code, max(code.dotted_name(end + 4)[1], end + 5))
    alias = alias_at(code, moment)
    behind = moment if alias is None else _behind_brackets(code, alias + 1)
    return WrittenRelation(parts, bool(parts) and end > named, end, moment, alias, behind)


def alias_at(code: Code, number: int) -> int | None:
    """Where the alias of a relation stands that ends before a token."""
    alias = number + (code.word(number) == "as")
    named = code.is_name(alias) and (code.is_quoted(alias) or code.word(alias) not in AFTER_RELATION)
    return alias if named else None


def _behind_brackets(code: Code, number: int) -> int:
    return code.after(number) if code.word(number) == "(" else number
