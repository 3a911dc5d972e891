"""The encoding of a text that says nothing of it: told by a mark, by zeros, by what is no UTF-8."""

from __future__ import annotations

# a character may be cut at the end of what is looked at
_CUT_CHARACTER = 3
_NONE_OF_WINDOWS = frozenset("\udc81\udc8d\udc8f\udc90\udc9d")
"""Bytes that Windows has no character for."""
_MOST_ZEROS = 100
"""One zero in so many bytes is still text: a NUL within a literal is one of a file, and archives are a third zeros."""


def text_encoding(head: bytes, *, whole: bool = False) -> str | None:
    """The codec of a text that begins with `head`, or is it (`whole`); None where that is no text.

    UTF-16 by its mark or its zeros, Latin-1 where nothing beyond ASCII is UTF-8 (of Windows where there are characters
    that Latin-1 has none for), else UTF-8. A single NUL makes no
    binary file, unless it stands in the first line.
    """
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    if b"\0" in head:
        for encoding, zeros in (("utf-16-le", head[1:400:2]), ("utf-16-be", head[0:400:2])):
            if zeros and zeros.count(0) > len(zeros) * 0.8:
                return encoding
        first_line = head.partition(b"\n")[0]
        if b"\0" in first_line or head.count(0) * _MOST_ZEROS > len(head):
            return None
    text = head[: len(head) - (0 if whole else _CUT_CHARACTER)].decode("utf-8", "surrogateescape")
    beyond = {character for character in text if character > "\x7f"}
    if not beyond or not all("\udc80" <= character <= "\udcff" for character in beyond):
        return "utf-8"
    controls = {character for character in beyond if character < "\udca0"}
    return "cp1252" if controls and controls.isdisjoint(_NONE_OF_WINDOWS) else "latin-1"
