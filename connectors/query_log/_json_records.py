"""JSON as records: one object a line, or a document that holds many, fields of fields under their joined names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice
from typing import Any

from connectors.platforms.generic import GENERIC
from connectors.query_log._columns import plain_name
from connectors.query_log._interpreter import Malformed, Records
from connectors.query_log._streams import CUT_LINE_TEXT, TOO_LARGE

LARGEST_DOCUMENT = 64 << 20
"""Characters of a document that is no lines: one task reads it whole."""

DOCUMENT_TOO_LARGE = (
    f"a JSON document of more than {LARGEST_DOCUMENT >> 20} MiB: write one object a line, which is read in parts"
)
NOT_JSON, NO_OBJECT = "not valid JSON", "JSON that is no object"

_BEGIN = re.compile(r'\s*(?:\{\s*["}]|\[\s*[\[{\]])')
_DECODER = json.JSONDecoder()
_BETWEEN = re.compile(r"[\s,\]]*\[?[\s,\[]*")
_WRAPPER = re.compile(r'\{\s*"[^"]*"\s*:\s*(?=[\[{])')

_LISTS = ("results", "data", "jobs", "items", "rows", "records", "events", "entries", "queries", "res")
"""What documents call the list of their records."""
_LIST_BEGIN = re.compile(rf'"(?:{"|".join(_LISTS)})"\s*:\s*(?=\[\s*\{{)', re.IGNORECASE)
_TEXT_NAMES = frozenset(GENERIC.columns["text"])

Object = dict[str, Any]

_PAGE = re.compile(r"(?:\w+_)?(?:page|token|kind|etag|total|count|size|limit|offset|next|more|status_code)")


def is_json(text: str) -> bool:
    """Whether a file that begins so holds JSON."""
    return _BEGIN.match(text) is not None


def is_json_lines(text: str) -> bool:
    """Whether the first line is a record by itself."""
    try:
        first = json.loads(text.lstrip().partition("\n")[0])
        return isinstance(first, dict) and len(list(_unwrap(first))) == 1
    except (ValueError, RecursionError):
        return False


def sample_objects(head: str, most: int) -> list[Object]:
    """The first objects of a file, of which `head` is the beginning, cut anywhere."""
    return list(islice((unwrapped for value in _values(head) for unwrapped in _unwrap(value)), most))


def line_records(lines: Sequence[str], first_line: int, names: Sequence[str]) -> Records:
    """The values of `names` (`plain_name`s) for the object of each line."""
    found = Records()
    for number, line in enumerate(lines, first_line):
        if line.endswith(CUT_LINE_TEXT):
            found.malformed.append(Malformed(number, TOO_LARGE))
        elif line.strip():
            _add(line, number, names, found)
    return found


def document_records(text: str, names: Sequence[str]) -> Records:
    """As `line_records`, for the objects of a document; their numbers stand for lines."""
    found = Records()
    objects = (unwrapped for value in _values(text, found) for unwrapped in _unwrap(value))
    for number, record in enumerate(objects, 1):
        found.rows.append(values_of(record, names))
        found.lines.append(number)
    return found


def is_cut(lines: Sequence[str]) -> bool:
    """Whether one of the lines was too long to be read."""
    return any(line.endswith(CUT_LINE_TEXT) for line in lines)


def names_of(objects: Sequence[Object]) -> list[str]:
    """All `plain_name`s of the objects' fields, and of the fields in them, in the order met."""
    return list(dict.fromkeys(name for record in objects for name, _value in _fields(record, "")))


def values_of(record: Object, names: Sequence[str]) -> list[str]:
    """What the object has for each of these names, as text: nothing for null and for what is not there."""
    wanted = frozenset(names)
    values: dict[str, str] = {}
    for name, value in _fields(record, ""):
        if name in wanted and name not in values:
            values[name] = _text(value)
    return [values.get(name, "") for name in names]


def _add(line: str, number: int, names: Sequence[str], found: Records) -> None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        found.malformed.append(Malformed(number, NOT_JSON))
        return
    records = list(_unwrap(value))
    if not records:
        found.malformed.append(Malformed(number, NO_OBJECT))
    for record in records:
        found.rows.append(values_of(record, names))
        found.lines.append(number)


def _values(text: str, found: Records | None = None) -> Iterator[Any]:
    """The values that stand one after the other, in a list or in an object around it, up to one that is broken."""
    at, count = 0, 0
    while match := _BETWEEN.match(text, at):
        at = match.end()
        if at >= len(text) or text[at] == "}":
            return
        try:
            value, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            inside = (_LIST_BEGIN.search(text, at) or _WRAPPER.match(text, at)) if found is None else None
            if inside is None:
                if found is not None:
                    found.malformed.append(Malformed(count + 1, NOT_JSON))
                return
            at = inside.end()
            continue
        count += 1
        yield value


def _unwrap(value: Any, *, outermost: bool = True) -> Iterator[Object]:
    """The records in a value: those of a list, and what alone is in an object, which then says nothing itself.

    An outermost object that has a list under a name such as `results` is a document about that list.
    """
    if isinstance(value, list):
        yield from chain.from_iterable(_unwrap(one, outermost=False) for one in value)
    elif isinstance(value, dict) and outermost and (listed := _list_of(value)) is not None:
        yield from chain.from_iterable(_unwrap(one, outermost=False) for one in listed)
    elif isinstance(value, dict):
        inner = [part for name, part in value.items() if part not in ([], None) and not _of_a_page(name, part)]
        if len(inner) == 1 and (isinstance(inner[0], dict) or _is_list_of_objects(inner[0])):
            yield from _unwrap(inner[0], outermost=False)
        else:
            yield value


def _list_of(document: Object) -> list[Object] | None:
    """The objects of a document's list; rows that are lists get the names that its `meta` has for their columns."""
    plain = {_plain(key): value for key, value in document.items()}
    if not plain.keys().isdisjoint(_TEXT_NAMES):
        return None
    for name in _LISTS:
        rows = plain.get(name)
        if not isinstance(rows, list) or not rows:
            continue
        if _is_list_of_objects(rows):
            return rows
        meta = plain.get("meta")
        if all(isinstance(row, list) for row in rows) and isinstance(meta, list) and _is_list_of_objects(meta):
            columns = [str(column.get("name", "")) for column in meta]
            return [dict(zip(columns, row, strict=False)) for row in rows]
    return None


def _of_a_page(name: str, value: Any) -> bool:
    """Whether this is what an API says of a page of records beside the records."""
    return not isinstance(value, dict | list) and _PAGE.fullmatch(_plain(name)) is not None


def _is_list_of_objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(part, dict) for part in value)


def _fields(record: Object, above: str) -> Iterator[tuple[str, Any]]:
    for key, value in record.items():
        name = f"{above}_{_plain(key)}" if above else _plain(key)
        yield name, value
        if isinstance(value, dict):
            yield from _fields(value, name)


@lru_cache(maxsize=10_000)
def _plain(key: str) -> str:
    return plain_name(key)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None or value == {} or value == []:
        return ""
    return json.dumps(value, ensure_ascii=False)
