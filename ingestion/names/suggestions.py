"""The right name that a wrong one was probably meant to be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path

_LISTED = 12


def nearest_name(name: str, known: Iterable[str], likeness: float = 0.6) -> str | None:
    """The known name that `name` was probably meant to be; how words are joined and cased does not count."""
    plain = {_plain(candidate): candidate for candidate in known}
    close = get_close_matches(_plain(name), plain, n=1, cutoff=likeness)
    return plain[close[0]] if close else None


def nearest_file(wanted: Path) -> str:
    """`; did you mean f?` for a file of a similar name in the same directory, or nothing."""
    try:
        names = [entry.name for entry in wanted.parent.iterdir()]
    except OSError:
        return ""
    near = nearest_name(wanted.name, names, likeness=0.75)  # suffixes alone make names alike
    return f"; did you mean {wanted.with_name(near)}?" if near else ""


def listing(names: Sequence[str]) -> str:
    """The first dozen of the names, for a message."""
    return ", ".join(names[:_LISTED]) + (", …" if len(names) > _LISTED else "")


def suggestion(name: str, known: Iterable[str]) -> str:
    """`; did you mean x?`, or nothing where no known name is near."""
    near = nearest_name(name, known)
    return f"; did you mean {near}?" if near else ""


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()
