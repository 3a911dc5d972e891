"""Times, durations and states as query logs write them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from email.utils import parsedate_to_datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pyarrow as pa
import pyarrow.compute as pc

from connectors.query_log.log_columns import SECONDS_PER_UNIT
from ingestion.model.outcomes import Outcome

NULLS = frozenset({"", "\\N", "NULL", "null", "None"})
"""What exports write where there is no value."""

_LOWER_NULLS = frozenset(map(str.lower, NULLS))
_EPOCH = re.compile(r"[+-]?\d+(?:\.\d*)?(?:[eE]\+?\d+)?")
_COMPACT_DATES = {8: "%Y%m%d", 14: "%Y%m%d%H%M%S"}
_ZONED = re.compile(
    r"(\d{4})[-/](\d\d?)[-/](\d\d?)[T ]+(\d\d?:\d\d(?::\d\d)?)(?:[.,](\d+))?"
    r"\s*([A-Za-z]{1,5}|[+-]\d\d(?::?\d\d)?|[A-Za-z_]+(?:/[A-Za-z_-]+)+)?"
)
_ORACLE_DATE = re.compile(
    r"(\d\d?)-([A-Za-z]{3})-(\d\d|\d{4})(?: (\d\d?)[.:](\d\d)[.:](\d\d)(?:[.,](\d+))?(?: ([AP]M))?)?\s*([+-]\d\d:\d\d)?"
)
_DOTTED_DATE = re.compile(r"(\d\d?)\.(\d\d?)\.(\d{4}),? (\d\d?:\d\d(?::\d\d)?)(?:[.,](\d+))?")
_SERVER_LOG_DATE = re.compile(r"(\d\d)/([A-Za-z]{3})/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d{4})")
_DB2_TIME = re.compile(r"(\d{4}-\d\d-\d\d)-(\d\d)\.(\d\d)\.(\d\d)((?:\.\d+)?)")
_US_DATE = re.compile(r"(\d\d?)/(\d\d?)/(\d{4}),? (\d\d?):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?\s*([AP]M)", re.IGNORECASE)
_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_INTERVAL = re.compile(r"(?:(\d+) days? )?(\d+):(\d\d):(\d\d(?:\.\d+)?)")
_AMOUNT = re.compile(r"(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)\s*([a-zµ]*)")

_YEAR_2500 = 16_725_225_600.0
_YEAR_1980 = 315_532_800.0
"""No query log is as old as that: a smaller number is a day of a spreadsheet, or no time at all."""
_SERIAL_DAYS = range(29_221, 73_050)
"""The days from 1980 to 2099 as spreadsheets number them, from the end of 1899 on."""
_SERIAL_OF_1970 = 25_569
_NO_TIME = "no time"

# hours east of UTC, as PostgreSQL's "Default" set of abbreviations has them
_ABBREVIATIONS = {
    "UTC": 0.0, "GMT": 0.0, "Z": 0.0, "UT": 0.0, "WET": 0.0, "WEST": 1.0, "BST": 1.0, "CET": 1.0, "CEST": 2.0,
    "EET": 2.0, "EEST": 3.0, "MSK": 3.0, "IST": 2.0, "PKT": 5.0, "SGT": 8.0, "HKT": 8.0, "AWST": 8.0, "JST": 9.0,
    "KST": 9.0, "AEST": 10.0, "AEDT": 11.0, "NZST": 12.0, "NZDT": 13.0, "BRT": -3.0, "ART": -3.0, "AST": -4.0,
    "ADT": -3.0, "EST": -5.0, "EDT": -4.0, "CST": -6.0, "CDT": -5.0, "MST": -7.0, "MDT": -6.0, "PST": -8.0,
    "PDT": -7.0, "AKST": -9.0, "HST": -10.0,
}  # fmt: skip

_RAN = re.compile(r"succ|^ok$|^s$|complet|finish|^done\b|execut(?:ed|ion_?ok)|closed|^t(?:rue)?$|^yes$|^ran$")
_FAILED = re.compile(
    r"^un|^not\b|^in(?:complete|valid)|fail|err|except|terminat|interrupt|stopped|crash|"
    r"abort|cancel|time_?d?_?out|kill|denied|reject|incident|roll|^f(?:alse)?$|^no$"
)
_NOES = frozenset({"f", "false", "n", "no", "0", "0.0"})
_YESES = frozenset({"t", "true", "y", "yes", "1", "1.0"})
_NO_ERRORS = frozenset({"[]", "{}", "ok", "success", "no error"})
_NO_FLAGS = _LOWER_NULLS | _NOES | _NO_ERRORS
_NUMBER = re.compile(r"[-+]?\d+(?:\.0*)?")
_SUCCESS = re.compile(r"(?:^|_)(?:succe\w*|ok|passed)(?:_|$)")
"""In the name of a column: it says of what ran that it did."""
_FAILURES = frozenset({"aborted", "error", "errors", "exception", "failed", "failure", "failures"})
_CODES = frozenset({"code", "status", "state"})
_SQL_STATES = frozenset({"sqlstate"})
_SQL_CODES = frozenset({"sqlcode"})
_NO_FAILURES = frozenset({"00", "01", "02"})
"""Classes of SQLSTATE (ISO 9075-2): successful completion, warning, no data."""
_ROWS_OR_CODES = frozenset({"result", "outcome"})
_HTTP, _HTTP_SUCCESS = frozenset({"status", "code"}), 200
RAN = "ran"
"""What a column says of a statement that ran."""
_UNFINISHED = re.compile(r"run|queue|pend|start|progress|block|wait|resum|compil|init|submit|executing|planning")


def parse_time(value: str, zone: tzinfo) -> float | None:
    """Seconds since the epoch, UTC; None for an empty value; ValueError for what is no time.

    Understood: ISO 8601 with or without zone (`zone` where there is none), PostgreSQL's own form with its zone
    abbreviation, a zone by its name (Europe/Berlin), Oracle's (20-NOV-26), US spreadsheets' (11/20/2026 8:24 AM), with
    dots (20.11.2026 8:24), web servers' (20/Nov/2026:08:24:58 +0000), RFC 2822, and numbers: epoch seconds, milli-,
    micro- or nanoseconds, or the days of a spreadsheet, by size.
    """
    try:
        moment = datetime.fromisoformat(value[:-4] if value.endswith(" UTC") else value)
    except ValueError:
        return None if value.strip() in NULLS else _parse_unusual(value.strip(), zone)
    if moment.tzinfo is None:
        if value.isdigit():
            return _parse_unusual(value, zone)
        moment = moment.replace(tzinfo=UTC if value.endswith("C") else zone)
    return moment.timestamp()


def parse_times(
    values: Sequence[str], zone: tzinfo, unit_seconds: float | None = None
) -> tuple[list[float | None], list[int]]:
    """`parse_time` of each value, and the positions of those that are no times (None there).

    Numbers count in `unit_seconds` since the epoch where that is given. A time up to 1970 stands for none (1900-01-01,
    0001-01-01): no log is as old, and no catalog takes it.
    """
    if unit_seconds is not None:
        values = [_in_seconds(value, unit_seconds) for value in values]
    times, wrong = _parse(values, zone)
    return [None if time is not None and time <= 0 else time for time in times], wrong


def _in_seconds(value: str, unit_seconds: float) -> str:
    """A number as epoch seconds; a small one is no time then, where without a unit it may be a spreadsheet's day."""
    if not _EPOCH.fullmatch(value.strip()):
        return value
    seconds = float(value) * unit_seconds
    return _NO_TIME if 0 < seconds < _YEAR_1980 else repr(seconds)


def _parse(values: Sequence[str], zone: tzinfo) -> tuple[list[float | None], list[int]]:
    if (plain := _parse_plain(values, zone)) is not None:
        return plain, []
    times: list[float | None] = []
    wrong: list[int] = []
    for value in values:
        try:
            times.append(parse_time(value, zone))
        except (ValueError, OverflowError):
            wrong.append(len(times))
            times.append(None)
    return times, wrong


def _parse_plain(values: Sequence[str], zone: tzinfo) -> list[float | None] | None:
    """All at once, eight times as fast, where all are ISO 8601 and either all have a zone or none; None where not."""
    strings = pa.array([value or None for value in values], pa.string())
    zoned = pc.all(pc.ends_with(strings, " UTC")).as_py()
    if zoned:
        strings = pc.utf8_slice_codeunits(strings, 0, -4)
    if pc.any(pc.less_equal(pc.utf8_length(strings), len("20261120"))).as_py():
        return None
    types = [pa.timestamp("us", "UTC")]
    if zoned or zone.utcoffset(None) == timedelta():
        types.insert(0, pa.timestamp("us"))
    for timestamp in types:
        try:
            moments = strings.cast(timestamp).cast(pa.int64())
        except pa.ArrowInvalid:
            continue
        seconds: list[float | None] = pc.divide(moments.cast(pa.float64(), safe=False), 1e6).to_pylist()
        return seconds
    return None


def _parse_unusual(value: str, zone: tzinfo) -> float:
    if db2_time := _DB2_TIME.fullmatch(value):
        day, hour, minute, second, fraction = db2_time.groups()
        return datetime.fromisoformat(f"{day} {hour}:{minute}:{second}{fraction[:7]}").replace(tzinfo=zone).timestamp()
    if us_date := _US_DATE.fullmatch(value):
        return _us_moment(us_date, zone)
    if _EPOCH.fullmatch(value):
        if value.isdigit() and len(value) in _COMPACT_DATES:
            return datetime.strptime(value, _COMPACT_DATES[len(value)]).replace(tzinfo=zone).timestamp()
        return _epoch_seconds(float(value), zone)
    if dotted := _DOTTED_DATE.fullmatch(value):
        day, month, year, clock, fraction = dotted.groups()
        return _parse_unusual(f"{year}-{month}-{day} {clock}.{fraction or 0}", zone)
    if server_log := _SERVER_LOG_DATE.fullmatch(value):
        day, name, year, clock, offset = server_log.groups()
        return _parse_oracle_date(f"{day}-{name}-{year} {clock} {offset[:3]}:{offset[3:]}", zone)
    match = _ZONED.fullmatch(value)
    if match is None:
        return _parse_oracle_date(value, zone) if _ORACLE_DATE.fullmatch(value) else _parse_rfc2822(value, zone)
    year, month, day, clock, fraction, offset = match.groups()
    hour, minute, *second = map(int, clock.split(":"))
    moment = datetime(int(year), int(month), int(day), hour, minute, second[0] if second else 0)
    moment += timedelta(seconds=float(f"0.{fraction}")) if fraction else timedelta()
    return moment.replace(tzinfo=_zone(offset, moment, zone)).timestamp()


def _us_moment(match: re.Match[str], zone: tzinfo) -> float:
    """`11/20/2026 10:00:00 AM`: the month is first where a clock has halves, as spreadsheets in the US write it."""
    month, day, year, hour, minute, second, fraction, half = match.groups()
    hours = int(hour) % 12 + 12 * (half.upper() == "PM")
    moment = datetime(int(year), int(month), int(day), hours, int(minute), int(second or 0))
    return (moment + timedelta(seconds=float(f"0.{fraction or 0}"))).replace(tzinfo=zone).timestamp()


def _epoch_seconds(number: float, zone: tzinfo) -> float:
    """The unit is told by the size: in days, seconds, milli-, micro- and nanoseconds real dates are far apart."""
    if number == 0:  # stands for none
        return number
    if int(number) in _SERIAL_DAYS:
        moment = datetime(1970, 1, 1) + timedelta(seconds=round((number - _SERIAL_OF_1970) * 86_400, 3))
        return moment.replace(tzinfo=zone).timestamp()
    for scale in (1.0, 1e3, 1e6, 1e9):
        if _YEAR_1980 <= number / scale < _YEAR_2500:
            return number / scale
    raise ValueError(_NO_TIME)


def _zone(offset: str | None, moment: datetime, zone: tzinfo) -> tzinfo:
    if not offset:
        return zone
    if offset[0] in "+-":
        minutes = int(offset[1:3]) * 60 + int(offset[3:].lstrip(":") or 0)
        return timezone(timedelta(minutes=-minutes if offset[0] == "-" else minutes))
    if moment.replace(tzinfo=zone).tzname() == offset:
        return zone
    if "/" in offset:
        try:
            return ZoneInfo(offset)
        except (ZoneInfoNotFoundError, OSError):  # America/Argentina is a folder of the zones' files
            raise ValueError("unknown zone") from None
    hours = _ABBREVIATIONS.get(offset.upper())
    if hours is None:
        raise ValueError("unknown zone")
    return timezone(timedelta(hours=hours))


def _parse_oracle_date(value: str, zone: tzinfo) -> float:
    match = _ORACLE_DATE.fullmatch(value)
    if match is None or match[2].upper() not in _MONTHS:
        raise ValueError(_NO_TIME)
    day, month, year, hour, minute, second, fraction, half, offset = match.groups()
    hours = int(hour or 0) % 12 + 12 * (half == "PM") if half else int(hour or 0)
    moment = datetime(
        int(year) + (2000 if len(year) == 2 else 0), _MONTHS.index(month.upper()) + 1, int(day), hours,
        int(minute or 0), int(second or 0),
    ) + timedelta(seconds=float(f"0.{fraction or 0}"))  # fmt: skip
    return moment.replace(tzinfo=_zone(offset, moment, zone)).timestamp()


def _parse_rfc2822(value: str, zone: tzinfo) -> float:
    if not value[:3].isalpha():
        raise ValueError(_NO_TIME)
    moment = parsedate_to_datetime(value)
    return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).timestamp()


def parse_duration(value: str, unit_seconds: float) -> float | None:
    """Seconds; a bare number counts in `unit_seconds`; None where the value is empty or no duration."""
    value = value.strip().lower()
    if interval := _INTERVAL.fullmatch(value):
        days, hours, minutes, seconds = interval.groups()
        return int(days or 0) * 86400 + int(hours) * 3600 + int(minutes) * 60 + float(seconds)
    amount = _AMOUNT.fullmatch(value)
    if amount is None:
        return None
    number, unit = amount.groups()
    seconds_per_unit = SECONDS_PER_UNIT.get(unit) if unit else unit_seconds
    return None if seconds_per_unit is None else float(number) * seconds_per_unit


def parse_state(value: str, column: str = "status") -> str | None:
    """None where the value says nothing, RAN, or else `failed`, `unfinished` (may yet run) or `unknown_state`.

    The words are those of the systems that export such logs. What a number or a flag means follows from the column's
    name: 1 is what `succeeded` says of a statement that ran, and what `is_error` and `return_code` say of one that
    failed.
    """
    word = value.strip().lower()
    if word in _LOWER_NULLS:
        return None
    names = frozenset(column.split("_"))
    if _SUCCESS.search(column):
        return RAN if word in _YESES else Outcome.FAILED if word in _NOES else _state_of(word)
    if names & _FAILURES and not names & _CODES:
        return parse_flag(value) or RAN
    if names & _SQL_STATES:
        return RAN if word[:2] in _NO_FAILURES or not word.strip("0") else Outcome.FAILED
    if _NUMBER.fullmatch(word):
        return _state_of_number(float(word), names)
    return _state_of(word)


def _state_of_number(number: float, names: frozenset[str]) -> str:
    """What a return or error code says; of a `result` it may be a number of rows, and of HTTP's 200 is success."""
    if names & _SQL_CODES:  # of a warning or of no more rows it is positive
        return Outcome.FAILED if number < 0 else RAN
    if number == 0 or (names >= _HTTP and _HTTP_SUCCESS <= number < _HTTP_SUCCESS + 100):
        return RAN
    return Outcome.UNKNOWN_STATE if names <= _ROWS_OR_CODES else Outcome.FAILED


def _state_of(word: str) -> str:
    if word.replace("_", " ") in _NO_ERRORS:
        return RAN
    if _FAILED.search(word):
        return Outcome.FAILED
    if _RAN.search(word):
        return RAN
    return Outcome.UNFINISHED if _UNFINISHED.search(word) else Outcome.UNKNOWN_STATE


def joined_state(states: Iterable[str | None]) -> str | None:
    """What several columns say of one statement together: None where it ran, or where they say nothing."""
    given = set(states)
    if Outcome.FAILED in given:
        return Outcome.FAILED
    if Outcome.UNFINISHED in given:
        return Outcome.UNFINISHED
    return Outcome.UNKNOWN_STATE if Outcome.UNKNOWN_STATE in given and RAN not in given else None


def parse_flag(value: str) -> str | None:
    """`failed` where an `aborted` or `error` column says so by any other value than none, no, false or 0."""
    word = value.strip().lower()
    return None if word in _NO_FLAGS or not word.strip("0") else Outcome.FAILED
