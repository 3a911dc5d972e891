"""Oracle's package bodies: the procedures and functions in them, each a routine of its own."""

from __future__ import annotations

from collections.abc import Iterator

from ingestion.lexing import keywords
from ingestion.routines.steps import Code

_MEMBERS = keywords("procedure function")
_OPENS = keywords("begin case if loop")
_ENDS_HEAD = keywords("is as ;")


def read_package(code: Code, at: int) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """A package's name, and (name, definition) of each of its members; `at` is the token PACKAGE.

    A package's head, which only declares, has none.
    """
    if code.word(at + 1) != "body":
        return (), ()
    name, place = code.dotted(at + 2)
    return name, tuple(_members(code, place + 1))


def _members(code: Code, place: int) -> Iterator[tuple[str, str]]:
    while place < len(code.tokens):
        word = code.word(place)
        if word in _MEMBERS:
            begin, name = place, code.name(place + 1)
            place = code.find(place, _ENDS_HEAD)
            if code.word(place) != ";":
                place = _end_of_body(code, place + 1)
                yield name, f"CREATE {code.between(begin, min(place + 1, len(code.tokens)))}"
        elif word == "begin":  # what the package does when it is loaded
            return
        place += 1


def _end_of_body(code: Code, place: int) -> int:
    """The semicolon that ends a member: its declarations may hold members too."""
    if code.word(place) in ("language", "external", "mle"):
        return code.find(place, frozenset({";"}))
    depth = 0
    while place < len(code.tokens):
        word = code.word(place)
        if not depth and word in _MEMBERS:
            head = code.find(place, _ENDS_HEAD)
            place = head if code.word(head) == ";" else _end_of_body(code, head + 1)
        elif word == "end":
            depth -= 1
            if code.word(place + 1) in _OPENS:  # END IF, END LOOP
                place += 1
            if depth <= 0:
                return code.find(place + 1, frozenset({";"}))
        elif word in _OPENS:
            depth += 1
        place += 1
    return place
