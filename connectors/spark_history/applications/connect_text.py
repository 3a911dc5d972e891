"""The SQL in the text of a Spark Connect operation, which is a protobuf message printed as text."""

from __future__ import annotations

import re

TRUNCATED = "[truncated(size="
"""How Spark marks a field that it cut at 65,535 characters."""

_QUERY = re.compile(r'\bsql \{\s*query: "((?:[^"\\]|\\.)*)"', re.DOTALL)
_ESCAPE = re.compile(rb'\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|([abfnrtv\\\'"?]))')
_SIMPLE = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}


def connect_sql(message: str) -> str | None:
    """The statement that a client sent as SQL; None for DataFrame operations and for text that Spark cut.

    A query over other frames (`with_relations`) is no statement by itself: its plan says more.
    """
    if "with_relations" in message or "write_operation" in message:
        return None
    head = message.lstrip()
    if not head.startswith(("sql_command {", "root {")):
        return None
    found = _QUERY.findall(message)
    if len(found) != 1 or (head.startswith("root {") and not _sql_is_root(head)):
        return None
    text = _unescape(found[0])
    return None if TRUNCATED in text else text


def _sql_is_root(message: str) -> bool:
    """Whether a relation is a SQL query and nothing around it."""
    return re.match(r"root \{\s*(?:common \{(?:[^{}]|\{[^{}]*\})*\}\s*)?sql \{", message) is not None


def _unescape(text: str) -> str:
    """Protobuf's text escapes undone; bytes outside of ASCII stand as octal."""

    def byte(match: re.Match[bytes]) -> bytes:
        octal, hexadecimal, simple = match.groups()
        if octal:
            return bytes([int(octal, 8) & 0xFF])
        if hexadecimal:
            return bytes([int(hexadecimal, 16)])
        return _SIMPLE.get(simple, simple)

    return _ESCAPE.sub(byte, text.encode()).decode("utf-8", "replace")
