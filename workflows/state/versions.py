"""What reads and parses here: lineage that another version parsed is parsed again."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import ingestion

_SHOWS_ONLY = "explorer"
_PARSERS = ("sqlglot", "sqlfluff", "sqlparse")


@cache
def parsing_version() -> str:
    """Changes whenever a statement may be read or parsed differently: our own code, or a parser's release."""
    parsers = ", ".join(f"{name} {_release(name)}" for name in _PARSERS)
    return f"headwater {_own_code()}, {parsers}"


def _own_code() -> str:
    """A digest of the code that makes lineage of text, so that no release can forget to say that it changed."""
    root = Path(ingestion.__file__).parent
    digest = hashlib.blake2b(digest_size=8)
    for source in sorted(root.rglob("*.py")):
        name = source.relative_to(root)
        if name.parts[0] != _SHOWS_ONLY:
            digest.update(name.as_posix().encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()


def _release(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"
