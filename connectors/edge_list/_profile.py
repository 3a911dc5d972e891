"""What the columns of a list of edges are called, and what a row of it says."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

from connectors.edge_rows import CERTAIN, POSSIBLE, column_name, is_path, table_parts, without_margins, without_mark
from connectors.platforms.profile import EngineLineage, ExportProfile, MalformedLineage
from ingestion.errors import Unparsable
from ingestion.model.lineage import (
    DIRECT_SUBTYPES,
    MOST_EXPRESSION,
    ColumnRef,
    Flow,
    LineageType,
    Output,
    Reference,
    StatementKind,
    StatementLineage,
    Subtype,
    TableName,
    Target,
    Transformation,
    WriteMode,
)
from ingestion.model.storage_paths import location
from ingestion.statements.masking import QueryMasker

NAMES: Mapping[str, tuple[str, ...]] = {
    "source": ("source", "source_table", "source_name", "source_object", "source_dataset", "from", "from_table",
               "upstream", "upstream_table", "input", "input_table"),
    "source_service": ("source_service",),
    "source_database": ("source_database", "source_catalog", "source_db", "from_database"),
    "source_schema": ("source_schema", "from_schema"),
    "source_column": ("source_column", "source_column_name", "source_field", "from_column", "upstream_column",
                      "input_column", "source_columns", "from_columns"),
    "target": ("target", "target_table", "target_name", "target_object", "target_dataset", "to", "to_table",
               "downstream", "downstream_table", "output", "output_table", "destination", "destination_table"),
    "target_service": ("target_service",),
    "target_database": ("target_database", "target_catalog", "target_db", "to_database"),
    "target_schema": ("target_schema", "to_schema"),
    "target_column": ("target_column", "target_column_name", "target_field", "to_column", "downstream_column",
                      "output_column", "destination_column"),
    "kind": ("kind", "edge_kind", "edge_type", "lineage_kind", "lineage_type"),
    "transformation": ("transformation", "transformation_type", "transform"),
    "masking": ("masking", "masked"),
    "expression": ("expression", "formula", "rule", "logic", "transformation_expression", "transformation_logic",
                   "transformation_rule", "mapping_rule"),
    "certainty": ("certainty", "certain", "confidence"),
    "witness": ("witness", "said_by", "who", "who_says_so", "says", "author", "documented_by"),
}  # fmt: skip
"""What a cell says, by the names that its column may have, words joined by `_`; of several the first counts that holds
something.
"""

NOBODY = "edge list"
"""Who says so where the list does not."""

_COLUMNS = tuple(name for names in NAMES.values() for name in names)
_LISTS = frozenset({"source_columns", "from_columns"})
_SEVERAL = re.compile(r"[,;\n|]")
_YES = frozenset({"yes", "y", "true", "t", "1", "x", "wahr", "ja", "vrai", "oui", "verdadero", "sí", "si", "vero"})
_NO = frozenset({"", "no", "n", "false", "f", "0", "falsch", "nein", "faux", "non", "falso"})
"""As spreadsheets write them in other languages, too."""
_HEADINGS = frozenset({"table", "name", "object", "dataset", "entity", "column", "field", "schema", "database"})
"""What stands below a head of two cells' width: where a header has two rows, its second is no edge."""
_SURE = _YES | {CERTAIN, "sure", "high", "confirmed", "100%", ""}
_UNSURE = (_NO - {""}) | {POSSIBLE, "uncertain", "unsure", "maybe", "probable", "likely", "low", "medium", "unknown"}
_UNKNOWN_TEXT = "?"
"""In place of an expression of which it cannot be told where its literals end."""


def edge_profile(service: str, dialect: str) -> ExportProfile:
    """How such lists are read; names that begin with `service` are those of the source itself."""
    marks = tuple(frozenset(pair) for pair in product(NAMES["source"], NAMES["target"]))
    reader = _RowReader(service, dialect)
    return ExportProfile("a list of edges", marks, {}, lineage=EngineLineage(_COLUMNS, reader.read, verbatim=True))


@dataclass(frozen=True)
class _RowReader:
    service: str
    dialect: str

    def read(self, values: Sequence[str]) -> StatementLineage | None:
        """What a row says, None where all its cells are empty. Raises MalformedLineage, which names the column."""
        cells = _cells(values)
        if not any(cells.values()):
            return None
        if cells["source"].casefold() == cells["target"].casefold() and cells["source"].casefold() in _HEADINGS:
            raise MalformedLineage("it is a second row of the header, and what it says of columns is not read")
        source, target = self._table(cells, "source"), self._table(cells, "target")
        columns, to = _columns(values, cells), _column(cells["target_column"])
        certain = _is_certain(cells["certainty"])
        witness = cells["witness"] or NOBODY
        flow = Flow(Target(target, WriteMode.APPEND), (), (), (source,))
        if not columns:
            if to:
                raise MalformedLineage("source_column is missing, and target_column is given")
            return StatementLineage(StatementKind.INSERT, (flow,), witness=witness, doubted=not certain)
        how, expression = self._how(cells, to)
        references = tuple(
            Reference((ColumnRef(source, column),), how, expression, opaque=not certain) for column in columns
        )
        flow = replace(flow, outputs=(Output(to, references),)) if to else replace(flow, indirect=references)
        return StatementLineage(StatementKind.INSERT, (flow,), witness=witness)

    def _table(self, cells: Mapping[str, str], end: str) -> TableName:
        cell = cells[end]
        if not cell:
            raise MalformedLineage(f"{end} is missing")
        if is_path(cell):
            return location(cell)
        if "://" in cell:  # jdbc:…, and what stands in it
            raise MalformedLineage(f"{end} is neither a table nor a path of files")
        try:
            parts = table_parts(cell)
        except ValueError:
            raise MalformedLineage(f"{end} is no name: a part of it is empty") from None
        if len(parts) == 1:
            above = (cells[f"{end}_{level}"] for level in ("service", "database", "schema"))
            parts = (*(part for part in above if part), *parts)
        if len(parts) > _WHOLE_NAME:
            raise MalformedLineage(f"{end} has more parts than service, database, schema and table")
        return TableName(parts[1:] if len(parts) == _WHOLE_NAME and parts[0] == self.service else parts)

    def _how(self, cells: Mapping[str, str], to: str) -> tuple[Transformation, str]:
        """What becomes of the value, and the expression without its literals."""
        kind, how, text = cells["kind"].lower(), cells["transformation"], cells["expression"]
        if kind not in ("", *(one.lower() for one in LineageType)):
            raise MalformedLineage("kind is neither direct nor indirect")
        subtype = _subtype(how)
        if subtype is None:
            text = text or how
            indirect = kind == LineageType.INDIRECT.lower() or not (kind or to)
            subtype = Subtype.FILTER if indirect else Subtype.TRANSFORMATION
        direct = subtype in DIRECT_SUBTYPES
        if kind and direct != (kind == LineageType.DIRECT.lower()):
            raise MalformedLineage("kind and transformation contradict each other")
        if direct and not to:
            raise MalformedLineage("target_column is missing, and kind is direct")
        masking = cells["masking"].lower()
        if masking not in _YES | _NO:
            raise MalformedLineage("masking is neither yes nor no")
        return Transformation(subtype, masking in _YES), self._without_literals(text)

    def _without_literals(self, text: str) -> str:
        try:
            return self._masker.mask(text)[:MOST_EXPRESSION] if text else ""
        except Unparsable:
            return _UNKNOWN_TEXT

    @cached_property
    def _masker(self) -> QueryMasker:
        return QueryMasker(self.dialect)


_WHOLE_NAME = 4
"""Parts of a name that begins with its service."""
_ALL = "*"


def _cells(values: Sequence[str]) -> dict[str, str]:
    by_column = dict(zip(_COLUMNS, values, strict=True))
    found = {}
    for cell, names in NAMES.items():
        texts = (without_margins(without_mark(by_column[name])) for name in names)
        found[cell] = next((text for text in texts if text), "")
    return found


def _columns(values: Sequence[str], cells: Mapping[str, str]) -> list[str]:
    """The source's: one, or those of a column of the list that may name several."""
    by_column = dict(zip(_COLUMNS, values, strict=True))
    cell = cells["source_column"]
    one = next((name for name in NAMES["source_column"] if by_column[name].strip()), "")
    texts = _SEVERAL.split(cell) if one in _LISTS else [cell]
    return [name for text in texts if (name := _column(text))]


def _column(cell: str) -> str:
    """The column that a cell names, "" where it names none, or all of them."""
    return "" if cell == _ALL else column_name(cell)


def _subtype(words: str) -> Subtype | None:
    """The transformation of this name, None where it is none: then it is a text of its own."""
    name = re.sub(r"[\s-]+", "_", words.upper())
    return Subtype(name) if name in set(Subtype) else None


def _is_certain(cell: str) -> bool:
    word = cell.lower()
    if word in _SURE:
        return True
    if word in _UNSURE:
        return False
    try:
        number = float(word.rstrip("% ").replace(",", "."))
        return number / (100 if word.endswith("%") else 1) >= 1
    except ValueError:
        raise MalformedLineage("certainty is neither certain nor possible, nor a number") from None
