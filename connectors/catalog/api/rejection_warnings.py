"""The warning to who writes what a person has rejected: it is stored, and nobody reads it."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi.responses import Response

from ingestion.model import Json

_MOST_NAMED = 20


def with_warning(answer: Response, rejected: Sequence[Json]) -> Response:
    """The answer with a warning of what is `rejected`, edges and pairs of columns (`from` and `to`), if anything is."""
    if rejected:
        pairs = [f"{one['from']} -> {one['to']}" for one in rejected[:_MOST_NAMED]]
        more = f" and {len(rejected) - _MOST_NAMED} more" if len(rejected) > _MOST_NAMED else ""
        named = f"{', '.join(pairs)}{more}"
        text = f"stored, but nobody reads {named}: a person rejected it (headwater/corrections)"
        answer.headers["warning"] = f'299 - "{_quotable(text)}"'
    return answer


def _quotable(text: str) -> str:
    """The text as a quoted string of a header holds it: names may have quotes, line ends and letters beyond ASCII."""
    letters = text.replace("\\", "\\\\").replace('"', '\\"')
    return "".join(
        letter if letter.isascii() and letter.isprintable() else f"<U+{ord(letter):04X}>" for letter in letters
    )
