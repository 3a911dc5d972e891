"""A list of edges as people keep it in a spreadsheet: a row for each column edge, or for an edge of whole tables.

How rows are written, and what the text of a cell means, stands here; who writes and reads them is elsewhere.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from typing import TextIO

from ingestion.model.contributions import DOUBTFUL, ProducerKind
from ingestion.model.entities import EntityReference
from ingestion.model.fqn import split_fqn
from ingestion.model.lineage import LineageType, Subtype
from ingestion.model.topics import topic_path

CERTAIN, POSSIBLE = "certain", "possible"
YES = "yes"

STORAGE_SCHEMES = frozenset({"s3", "gs", "abfs", "abfss", "wasb", "wasbs", "hdfs", "dbfs", "file"})
"""What a storage service is called that was made of a path."""

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
"""How a cell begins that a spreadsheet runs as a formula; a quote before it makes it a text, and is no part of it."""
_PATH = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/|/")
_UNSEEN = "\u200b\u200c\u200d\u2060\ufeff"
"""Characters of no width that come along when a cell is copied from a page."""
_TEXT_FORMULA = re.compile(r'="((?:[^"]|"")*)"\Z')
"""How a spreadsheet is told that what looks like a number or a formula is a text."""
_NEEDS_QUOTES = re.compile(rf"[.\":/]|\A[\s{_UNSEEN}\[`]|[\s{_UNSEEN}]\Z|\A\Z")
_PART = re.compile(
    r"""\s*(?:"(?P<plain>(?:[^"]|"")*)"|\[(?P<square>(?:[^\]]|\]\])*)\]|`(?P<back>(?:[^`]|``)*)`)\s*(?=\.|\Z)|(?P<bare>[^.]*)"""
)
_QUOTES = {"plain": '"', "square": "]", "back": "`"}


@dataclass(frozen=True, slots=True, order=True)
class EdgeRow:
    """One row, cell by cell; "" is what it does not say. The header has these names.

    `source` and `target` are tables by their whole names, or storage paths. Without `target_column` a source column
    has a say in every column; without either the row is of whole tables. `kind` is direct or indirect,
    `transformation` what becomes of the value; `expression` has no literals. `certainty` is certain or possible.
    """

    source: str
    source_column: str
    target: str
    target_column: str
    kind: str
    transformation: str
    masking: str
    expression: str
    certainty: str
    witness: str

    @property
    def edge(self) -> tuple[str, str, str]:
        """Of which edge it is, and who says so."""
        return self.source, self.target, self.witness

    @property
    def cells(self) -> tuple[str, ...]:
        """In the order of the header."""
        return astuple(self)


HEADER = tuple(one.name for one in fields(EdgeRow))


@dataclass(frozen=True, slots=True)
class ColumnWord:
    """What a contribution says of columns, by their paths within their tables; no `to` is every column."""

    sources: Sequence[str]
    to: str
    subtype: str
    masking: bool
    expression: str
    certain: bool
    direct: bool


def rows_of(ends: tuple[str, str], witness: str, columns: Iterable[ColumnWord], confidence: float) -> Iterator[EdgeRow]:
    """The rows of what one producer says of an edge between these `ends`, as cells have them."""
    source, target = ends
    there = False
    for one in columns:
        there = True
        kind = LineageType.DIRECT if one.direct else LineageType.INDIRECT
        assumed = Subtype.TRANSFORMATION if one.direct else Subtype.FILTER
        for column in one.sources:
            yield EdgeRow(
                source,
                column_text(column),
                target,
                column_text(one.to),
                kind.lower(),
                (one.subtype or assumed).lower(),
                YES if one.masking else "",
                one.expression.strip(),
                CERTAIN if one.certain else POSSIBLE,
                witness,
            )
    if not there:
        certainty = POSSIBLE if confidence <= DOUBTFUL else CERTAIN
        yield EdgeRow(source, "", target, "", "", "", "", "", certainty, witness)


def producer_text(kind: str, key: str) -> str:
    """Who says so: what a list said is said by whom the list names, all others by their kind and key."""
    return key.strip() if kind == ProducerKind.EDGE_LIST else f"{kind} {key}".strip()


# Rows as CSV.


def write_rows(rows: Iterable[EdgeRow], out: TextIO) -> int:
    """Writes the header and the rows, each once and in order; how many they are."""
    distinct = sorted(set(rows))
    with_columns = {row.edge for row in distinct if row.source_column}
    kept = [row for row in distinct if row.source_column or row.edge not in with_columns]
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows([map(as_text, row.cells) for row in kept])
    return len(kept)


def read_rows(given: Iterable[str]) -> Iterator[EdgeRow]:
    """The rows of what `write_rows` wrote. Raises ValueError for anything else."""
    lines = csv.reader(given)
    if tuple(next(lines, ())) != HEADER:
        raise ValueError("no header of a list of edges")
    for cells in lines:
        if len(cells) != len(HEADER):
            raise ValueError("a row of another width")
        yield EdgeRow(*map(without_mark, cells))


def as_text(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if _FORMULA.match(cell) else cell


def without_mark(cell: str) -> str:
    """A cell as it was before `as_text`; of a formula that is a text, and no more, the text."""
    if (formula := _TEXT_FORMULA.match(cell)) is not None:
        return formula[1].replace('""', '"')
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def without_margins(cell: str) -> str:
    """A cell without what nobody sees at its ends."""
    return cell.strip().strip(_UNSEEN).strip()


# Names in cells.


def table_text(fqn: str) -> str:
    """A table's stored full name as a cell has it: a part in double quotes where it must be, in it they are doubled."""
    return name_text(split_fqn(fqn))


def entity_text(entity: EntityReference) -> str:
    """A table, a topic or a container of files as a cell has it.

    Of a container it is the path, where its service tells the scheme.
    """
    fqn = entity.fully_qualified_name or entity.id
    if entity.type == "topic":
        return topic_path(*split_fqn(fqn)[:2])
    if entity.type != "container":
        return table_text(fqn)
    service, *_folders, name = split_fqn(fqn)
    if name.startswith("/"):
        return name
    return f"{service}://{name}" if service in STORAGE_SCHEMES else table_text(fqn)


def name_text(parts: Iterable[str]) -> str:
    """The parts of a table's name as a cell has them."""
    return ".".join(map(_part_text, parts))


def column_text(path: str) -> str:
    """A column's stored path within its table as a cell has it: the name as it is, in quotes where it must be."""
    name = ".".join(split_fqn(path)) if path else ""
    return _in_quotes(name) if name and (name.startswith('"') or name != name.strip()) else name


def column_name(cell: str) -> str:
    """The column that a cell names."""
    name = cell.strip()
    if len(name) > 1 and name[0] == name[-1] == '"':
        return name[1:-1].replace('""', '"')
    return name


def table_parts(cell: str) -> tuple[str, ...]:
    """The parts of the table's name in a cell; ValueError where one of them is empty."""
    parts: list[str] = []
    position = 0
    while (match := _PART.match(cell, position)) is not None:
        kind = match.lastgroup or "bare"
        part = match[kind].replace(2 * _QUOTES[kind], _QUOTES[kind]) if kind in _QUOTES else match[kind].strip()
        if not part:
            raise ValueError("a part of the name is empty")
        parts.append(part)
        position = match.end() + 1
        if position > len(cell):
            break
    return tuple(parts)


def is_path(cell: str) -> bool:
    """Whether a cell names a storage path, and no table."""
    return _PATH.match(cell) is not None


def _part_text(part: str) -> str:
    return _in_quotes(part) if _NEEDS_QUOTES.search(part) else part


def _in_quotes(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'
