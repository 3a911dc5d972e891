"""Names of jobs without what is another in every run: ids, moments, numbers of attempts, and whose they are."""

from __future__ import annotations

import re

LONGEST = 200
"""Characters of a name."""

_WORDS = 5
"""More make a sentence, which may say anything."""

_ALLOWED = re.compile(r"[\w .:/|@#()\[\]+*&~,-]+")
_UUID = r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}"
_DATE = r"(?:19|20)\d\d[-_/.]?(?:0[1-9]|1[0-2])[-_/.]?(?:0[1-9]|[12]\d|3[01])"
_CLOCK = r"(?:[01]\d|2[0-3])(?:[:_-]?[0-5]\d(?:[:_-]?[0-5]\d(?:[.,]\d+)?)?)?(?:Z|[+-]\d\d:?\d\d)?"
_MOMENT = rf"{_DATE}(?:[ T_-]?{_CLOCK})?"
_RUN_KIND = r"(?:scheduled|manual|backfill|dataset_triggered|asset_triggered|asset_materialization)__"
_COUNTED = r"(?:try(?:[_ -]?number)?|attempt|retry|(?:dag[_ -]?)?run(?:[_ -]?id)?|pid|invocation(?:[_ -]?id)?)"
_ADDRESS = r"[\w.+-]{1,99}+@[\w-]++\.[\w.-]++"
_KEY = r"(?=[A-Za-z]*+\d|\d++[A-Za-z])[A-Za-z0-9]{20,}+"
_HEX = r"(?=[a-f]*+\d|\d++[a-f])[0-9a-f]{8,}+"
_OF_A_RUN = rf"{_ADDRESS}|(?:{_RUN_KIND})?(?:{_UUID}|{_MOMENT})|{_COUNTED}[ _=:#-]*\d+|{_KEY}|{_HEX}"

_SEPARATORS = " _.:/|@#+*&~,()[]-"
_GAP = re.compile(r"[\s_.:/|@#+*&~,()\[\]\0-]+")
_LETTER = re.compile(r"[^\W\d_]")


def _number_pattern(numbers: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z0-9])(?:{_OF_A_RUN}|{numbers})(?![A-Za-z0-9])", re.IGNORECASE)


_FROM_NAMES = _number_pattern(r"\d{6,}")
_FROM_TEXT = _number_pattern(r"\d+")


def stable_name(name: str, *, declared: bool) -> str | None:
    """The part of a job's name that is the same in every run; None where none is left, or it is no name.

    `declared`: what gave it says that it is a name, so that short numbers are a part of it. E-mail addresses and what
    looks like a key are taken off too.
    """
    plain = name.strip()
    if not plain or len(plain) > LONGEST or not _ALLOWED.fullmatch(plain) or len(plain.split()) > _WORDS:
        return None
    marked = (_FROM_NAMES if declared else _FROM_TEXT).sub("\0", plain)
    if "\0" in marked:
        plain = _GAP.sub(_separator_in, marked).strip(_SEPARATORS)
    return plain if _LETTER.search(plain) else None


def _separator_in(gap: re.Match[str]) -> str:
    """What stands between two words when what stood there is taken off: one separator."""
    found = gap.group()
    return found if "\0" not in found else found[0].replace("\0", " ")
