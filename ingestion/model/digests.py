"""The digest by which contents are compared, filed and named: equal parts give equal digits on every machine."""

from __future__ import annotations

from hashlib import blake2b

KEY_BYTES = 32
"""Of a secret to compare literals by, drawn at random: nobody finds it by trying."""


def digest(*parts: str | bytes, size: int = 16, key: bytes = b"") -> str:
    r"""Twice `size` hexadecimal digits of texts or bytes in order: `digest("a", "bc")` is not `digest("ab", "c")`.

    `key` is a secret: without it nobody can find a short content by trying, as literals of a log could be. Texts of
    logs may hold half of a surrogate pair, which UTF-8 has no bytes for: it is written as it stands.
    """
    encoded = [part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part for part in parts]
    return blake2b(b"\0".join(encoded), digest_size=size, key=key).hexdigest()
