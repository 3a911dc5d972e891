"""What a version says, out of its stored document, which is taken apart only as far as somebody asks.

Of a table of a hundred columns each document tells of a hundred, and a walk meets one: to take apart a thousand whole
documents is most of what an answer would take.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from json.encoder import encode_basestring as quoted
from typing import Any

from connectors.catalog.store.database import loads
from ingestion.model.lineage import Json

_TEXT_AT_END = re.compile(r'"text":"([0-9a-f]+)"\}\Z')
_TEXT, _LONGEST_TEXT = '"text":"', 100
_COLUMNS, _COLUMN = '{"columns":[', '{"columns":[{'
_PIPELINE, _HOPS = '"pipeline":', '"temp":'
"""What comes after the columns and may have objects in it: temporary tables on the way have a `from` of their own."""
_PLAIN_END = re.compile(
    r'\}\](?=,"(?:columnsAt|confidence|parser)":)(?:,"columnsAt":\d+)?(?:,"confidence":[\d.e-]+)?'
    r'(?:,"parser":"[^"\\]*")?(?:,"text":"[0-9a-f]+")?\}\Z'
)
"""The columns' end in nearly every document: what statements say has nothing after it that is long, or has objects."""
_LONGEST_END = 250
_AFTER_COLUMNS, _OBJECT = '}],"', '{"'
_FEW = 8
"""Columns that are looked for one by one."""
_read_value = json.JSONDecoder().raw_decode


class StoredContent(Mapping[str, Any]):
    """A document as a mapping: with the text of its statement as `sql`, out of `texts`, or its digest as `text`."""

    __slots__ = ("_document", "_end", "_entries", "_rest", "_texts", "_whole")

    def __init__(self, document: str, texts: Mapping[str, str] | None = None) -> None:
        self._document = document
        self._texts = texts
        self._whole: Json | None = None
        self._rest: Json | None = None
        self._entries: _Entries | None = None
        self._end: int | None = None

    def __getitem__(self, key: str) -> Any:
        return (self._read() if key == "columns" else self._read_rest())[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())

    @property
    def has_columns(self) -> bool:
        """Whether it tells of columns, and not of the tables alone."""
        return self._document.startswith(_COLUMN) or bool(self._read().get("columns"))

    def with_columns(self, columns: Sequence[Json]) -> Json:
        """The same with other columns."""
        return {**self._read_rest(), "columns": columns}

    def columns_about(self, paths: Collection[str], *, upstream: bool) -> list[Json]:
        """The entries of some columns' part in others, or (upstream) of what they and all columns are made of."""
        found = None
        if self._whole is None and len(paths) <= _FEW and self._document.startswith(_COLUMNS):
            if self._entries is None:
                self._entries = _Entries(self._document, self._columns_end())
            found = self._entries.about(paths, upstream=upstream)
        if found is None:
            found = self._read().get("columns") or []
        return [column for column in found if _is_about(column, paths, upstream=upstream)] if found else []

    def _read(self) -> Json:
        if self._whole is None:
            self._whole = self._with_text(loads(self._document))
        return self._whole

    def _read_rest(self) -> Json:
        """What is beside the columns, and maybe the columns."""
        if self._whole is not None:
            return self._whole
        if self._rest is None:
            rest = _rest_of(self._document, self._columns_end())
            self._rest = self._read() if rest is None else self._with_text(rest)
        return self._rest

    def _columns_end(self) -> int:
        """Where the columns end, -1 where that is not seen at once."""
        if self._end is None:
            found = _PLAIN_END.search(self._document, max(0, len(self._document) - _LONGEST_END))
            self._end = found.start() + 1 if found is not None else -1
        return self._end

    def _with_text(self, content: Json) -> Json:
        if self._texts is None or "text" not in content:
            return content
        content["sql"] = self._texts.get(content.pop("text"))
        return content


def columns_about(content: Mapping[str, Any], paths: Collection[str], *, upstream: bool) -> list[Json]:
    """The entries of some columns' part in others, or (upstream) of what they and all columns are made of, in order."""
    if isinstance(content, StoredContent):
        return content.columns_about(paths, upstream=upstream)
    return [one for one in content.get("columns") or () if _is_about(one, paths, upstream=upstream)]


def has_columns(content: Mapping[str, Any]) -> bool:
    """Whether it tells of columns, and not of the tables alone."""
    return content.has_columns if isinstance(content, StoredContent) else bool(content.get("columns"))


def with_columns(content: Mapping[str, Any], columns: Sequence[Json]) -> Json:
    """The same content with other columns."""
    if isinstance(content, StoredContent):
        return content.with_columns(columns)
    return {**content, "columns": columns}


def text_digest(document: str) -> str | None:
    """The digest by which a document names the text of its statement; None where it names none."""
    found = _TEXT_AT_END.search(document, max(0, len(document) - _LONGEST_TEXT))
    if found is not None:
        return found[1]
    return loads(document).get("text") if _TEXT in document else None


def _is_about(column: Json, paths: Collection[str], *, upstream: bool) -> bool:
    if upstream:
        return column.get("to") is None or column["to"] in paths
    return any(path in paths for path in column["from"])


# Parts of a document that are read by themselves. Within a text each quote has a backslash before it, so that `{"`
# begins an object, or ends a text with a brace: what is read from there is no entry, and the whole document is.


class _Entries:
    """The entries of columns in a document, each read once: an answer tells of those that its walk has met."""

    __slots__ = ("_document", "_end", "_read")

    def __init__(self, document: str, end: int) -> None:
        self._document = document
        if end < 0:
            ends = [at for at in (document.find(_PIPELINE), document.find(_HOPS)) if at >= 0]
            end = min(ends, default=len(document))
        self._end = end
        self._read: dict[str, dict[int, Json]] = {}

    def about(self, paths: Iterable[str], *, upstream: bool) -> list[Json] | None:
        """Those that may be about some columns, in order; None where that takes a look at the whole document."""
        names = map(quoted, paths)
        found: dict[int, Json] = {}
        for wanted in (*(f'"to":{name}' for name in names), '"to":null') if upstream else names:
            some = self._read.get(wanted)
            if some is None:
                some = _entries_with(wanted, self._document, self._end)
                if some is None:
                    return None
                self._read[wanted] = some
            found |= some
        return [found[start] for start in sorted(found)] if found else []


def _entries_with(wanted: str, document: str, end: int) -> dict[int, Json] | None:
    """The entries that have a text, by where they begin; None where that takes a look at the whole document."""
    found: dict[int, Json] = {}
    at = document.find(wanted, 0, end)
    while at >= 0:
        start = document.rfind(_OBJECT, 0, at)
        try:
            entry, after = _read_value(document, start)
        except ValueError:
            return None
        if at >= after or "from" not in entry:
            return None
        found[start] = entry
        at = document.find(wanted, after, end)
    return found


def _rest_of(document: str, end: int) -> Json | None:
    """What comes after the columns, which end there if that is known; None where that takes a look at all of it."""
    if end < 0:
        end = document.rfind(_AFTER_COLUMNS) + 1
        if not end or _HOPS in document:
            return None
    if not document.startswith(_COLUMN):
        return None
    try:
        rest: Json = loads(f"{{{document[end + 2 :]}")
    except ValueError:
        return None
    return rest
