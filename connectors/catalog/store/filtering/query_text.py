"""What people type into a search: words of names, and filters such as `tag:PII owner:ann used:>100 stale:30d`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from connectors.catalog.contract.errors import bad_request

LABELS = ("tag", "owner", "producer", "service")
COUNTS = ("used", "readers")
AGES = ("new", "stale")
ORDERS = ("used", "readers", "new", "stale", "name")
_FIELDS = "|".join((*LABELS, *COUNTS, *AGES, "sort"))
_FILTER = re.compile(rf'(?<!\S)(?P<no>-?)(?P<field>{_FIELDS}):(?:"(?P<quoted>[^"]*)"?|(?P<bare>\S*))', re.IGNORECASE)
_COUNT = re.compile(r"(?P<sign>>=|<=|>|<|)(?P<number>\d{1,15})")
_RANGE = re.compile(r"(?P<low>\d{1,15})\.\.(?P<high>\d{1,15})")
_AGE = re.compile(r"(?P<number>\d{1,5})(?P<unit>[hdwmy])", re.IGNORECASE)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_HOUR = 3_600_000
_UNITS = {"h": _HOUR, "d": 24 * _HOUR, "w": 7 * 24 * _HOUR, "m": 30 * 24 * _HOUR, "y": 365 * 24 * _HOUR}
_UNFINISHED = frozenset({"", ">", "<", ">=", "<="})
MAX_FILTERS = 20


@dataclass(frozen=True, slots=True)
class SearchFilter:
    """A condition on tables: `field` as it was typed in lower case, its `value`, whether it is to be false."""

    field: str
    value: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class SearchText:
    """A search taken apart: words of names, conditions, and the order of what is found (one of ORDERS, or None)."""

    words: str
    filters: tuple[SearchFilter, ...] = ()
    order: str | None = None


def parse_search(text: str) -> SearchText:
    """Takes a search apart; filters that are still being typed are left out.

    Raises ApiError (400) for an order that there is not, or more than MAX_FILTERS filters.
    """
    filters: list[SearchFilter] = []
    order = None
    for found in _FILTER.finditer(text):
        field = found["field"].lower()
        value = found["quoted"] if found["quoted"] is not None else found["bare"]
        if value in _UNFINISHED:
            continue
        if field == "sort":
            order = _order(value)
        else:
            filters.append(SearchFilter(field, value, bool(found["no"])))
    if len(filters) > MAX_FILTERS:
        raise bad_request(f"a search may have {MAX_FILTERS} filters")
    return SearchText(" ".join(_FILTER.sub(" ", text).split()), tuple(filters), order)


def _order(value: str) -> str:
    if value.lower() not in ORDERS:
        raise bad_request(f"sort:{value}: there is {', '.join(ORDERS)}")
    return value.lower()


def count_range(given: SearchFilter) -> tuple[int, int | None]:
    """The least and the most that `>100`, `<=5`, `10..20` or `100` (at least that) allow. Raises ApiError (400)."""
    if found := _RANGE.fullmatch(given.value):
        return int(found["low"]), int(found["high"])
    found = _COUNT.fullmatch(given.value)
    if found is None:
        raise bad_request(f"{given.field}:{given.value}: give a number as in >100, <5 or 10..20")
    number = int(found["number"])
    return {
        ">": (number + 1, None),
        "<": (0, number - 1),
        "<=": (0, number),
        ">=": (number, None),
        "": (number, None),
    }[found["sign"]]


@dataclass(frozen=True, slots=True)
class Age:
    """So long ago, in milliseconds, or since a moment (milliseconds since the epoch)."""

    ago: int | None
    moment: int | None

    def before(self, now: int) -> int:
        """The moment that it means, seen from `now`."""
        if self.moment is not None:
            return self.moment
        assert self.ago is not None
        return now - self.ago


def age(given: SearchFilter) -> Age:
    """What `30d`, `4w`, `6m`, `1y` or `2026-10-01` (UTC) mean. Raises ApiError (400)."""
    if found := _AGE.fullmatch(given.value.lstrip("<>=")):
        return Age(int(found["number"]) * _UNITS[found["unit"].lower()], None)
    if _DATE.fullmatch(given.value):
        try:
            return Age(None, int(datetime.fromisoformat(given.value).replace(tzinfo=UTC).timestamp() * 1000))
        except ValueError:
            pass
    raise bad_request(
        f"{given.field}:{given.value}: give an age as in 12h, 30d, 4w, 6m, 1y, or a date as in 2026-10-01"
    )
