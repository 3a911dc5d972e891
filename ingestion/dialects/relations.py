"""What stands behind FROM and JOIN in a list of tokens: the name of a relation, or a call, and its alias."""

from __future__ import annotations

from dataclasses import dataclass

from ingestion.dialects.cursor import Code
from ingestion.dialects.definition import keywords
from ingestion.dialects.keywords import AFTER_RELATION

_STATES = keywords("system_time system_version timestamp version")
"""What AS OF stands behind where a table's former state is read; Spark needs no FOR before them."""


@dataclass(frozen=True)
class WrittenRelation:
    """A relation as a text has it: `d.t FOR SYSTEM_TIME AS OF x AS y (a, b)`, `f(1) y`, `(SELECT …) y`."""

    parts: tuple[str, ...]
    is_call: bool
    end: int
    """Behind its name and the brackets of its arguments."""
    moment_end: int
    """Behind FOR SYSTEM_TIME AS OF x, VERSION AS OF 3 and TIMESTAMP AS OF '2024-01-01', which of its states is read."""
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
    kind = end + (code.word(end) == "for")
    states = code.word(kind) in _STATES and code.stands(kind + 1, "as", "of")
    moment = _behind_moment(code, kind + 3) if states else end
    alias = alias_at(code, moment)
    behind = moment if alias is None else _behind_brackets(code, alias + 1)
    return WrittenRelation(parts, bool(parts) and end > named, end, moment, alias, behind)


def alias_at(code: Code, number: int) -> int | None:
    """Where the alias of a relation stands that ends before a token."""
    alias = number + (code.word(number) == "as")
    named = code.is_name(alias) and (code.is_quoted(alias) or code.word(alias) not in AFTER_RELATION)
    return alias if named else None


def _behind_moment(code: Code, number: int) -> int:
    """Behind `o.at`, `3`, `TIMESTAMP '2024-01-01'`, `f(x)` and `now() - INTERVAL 1 DAY`."""
    while True:
        interval = code.word(number) == "interval"
        first = number + interval
        behind = code.after(first) if code.word(first) == "(" else max(code.dotted_name(first)[1], first + 1)
        behind = _behind_brackets(code, behind)
        if interval or code.is_string(behind):  # the unit; the text of a type's value
            behind += 1
        if code.word(behind) not in ("+", "-"):
            return behind
        number = behind + 1


def _behind_brackets(code: Code, number: int) -> int:
    return code.after(number) if code.word(number) == "(" else number
