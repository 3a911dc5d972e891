"""Writes what stands now as a list of edges: the whole file, each time, so that none is ever half written."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from connectors.edge_file.settings import EdgeFileSettings
from connectors.edge_rows import ColumnWord, EdgeRow, entity_text, producer_text, read_rows, rows_of, write_rows
from connectors.private_files import exclusive, private_folder, replaced_text
from connectors.sink import EdgeCounts, SinkRun, TargetBatch, WriteReport, WriteResult
from ingestion.errors import ConfigError
from ingestion.model.contributions import Contribution
from ingestion.model.digests import digest
from ingestion.model.lineage import LineageType
from ingestion.model.outcomes import WriteOutcome
from ingestion.model.requests import AddLineageRequest


@contextmanager
def open_sink(settings: EdgeFileSettings, _run: SinkRun[object]) -> Iterator[EdgeFile]:
    """The file, with the rows that are in it. Raises ConfigError where it is none of ours, or cannot be read."""
    found = EdgeFile(settings.path)
    found.read()
    yield found


def _rows_in(file: Path) -> dict[str, EdgeRow]:
    try:
        with file.open(encoding="utf-8", newline="") as given:
            return {_key(row): row for row in read_rows(given)}
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(f"{file} cannot be read ({error.strerror})") from None
    except (ValueError, csv.Error):
        raise ConfigError(f"{file} is no list of edges as it is written here: name another") from None


@dataclass
class EdgeFile:
    """The rows of one file, by their keys; `_seen` tells the file that they were in from what others wrote since."""

    file: Path
    rows: dict[str, EdgeRow] = field(default_factory=dict)
    _seen: _Version | None = None

    def keys(self, request: AddLineageRequest, contribution: Contribution) -> Iterable[str]:
        """A digest of each row: the row itself is in the file."""
        return [_key(row) for row in _rows_of(request, contribution)]

    def missing_keys(self, written: frozenset[str]) -> frozenset[str]:
        """Those of rows that are not in the file, as where it was deleted by hand."""
        return written - self.rows.keys()

    def read(self) -> None:
        """Takes the rows that are in the file. Raises ConfigError."""
        seen = _version_of(self.file)
        if seen is None or seen != self._seen:
            self.rows, self._seen = _rows_in(self.file), seen

    def write(self, batches: Sequence[TargetBatch]) -> WriteReport:
        """The file with what the batches say, and without what they end. Raises ConfigError."""
        try:
            private_folder(self.file.parent)
            with exclusive(self.file.parent):
                self.read()
                return self._write(batches)
        except OSError as error:
            raise ConfigError(f"{self.file} cannot be written ({error.strerror})") from None

    def _write(self, batches: Sequence[TargetBatch]) -> WriteReport:
        rows = dict(self.rows)
        results: list[WriteResult] = []
        ended = columns = 0
        for batch in batches:
            ended += sum(rows.pop(key, None) is not None for key in batch.ended)
            for request in batch.requests:
                found = {_key(row): row for one in request.contributions for row in _rows_of(request, one)}
                wanted = {key: row for key, row in found.items() if key not in batch.superseded}
                stored = WriteOutcome.STORED if wanted.keys() - rows.keys() else WriteOutcome.UNCHANGED
                rows |= wanted
                columns += sum(bool(row.source_column) for row in wanted.values())
                results.append(WriteResult(request, stored))
        if rows != self.rows or self._seen is None:
            with replaced_text(self.file) as out:
                write_rows(rows.values(), out)
            self.rows, self._seen = rows, _version_of(self.file)
        new = sum(result.outcome is WriteOutcome.STORED for result in results)
        counts = EdgeCounts(new=new, unchanged=len(results) - new, replaced=ended, column_edges=columns)
        return WriteReport(tuple(results), counts)


_Version: TypeAlias = tuple[int, int, int]


def _version_of(file: Path) -> _Version | None:
    """What is another after each time that the file was written; None where there is none."""
    try:
        found = file.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(f"{file} cannot be read ({error.strerror})") from None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _key(row: EdgeRow) -> str:
    return digest(*row.cells)[:32]


def _rows_of(request: AddLineageRequest, contribution: Contribution) -> Iterator[EdgeRow]:
    source, target = request.from_entity, request.to_entity
    columns = (
        ColumnWord(
            [name.removeprefix(f"{source.fully_qualified_name}.") for name in one.from_columns],
            one.to_column.removeprefix(f"{target.fully_qualified_name}."),
            one.transformation.subtype,
            one.transformation.masking,
            one.expression,
            one.certain,
            one.transformation.type is LineageType.DIRECT,
        )
        for one in contribution.columns
        if one.from_columns
    )
    witness = producer_text(contribution.producer.kind, contribution.producer.key)
    yield from rows_of((entity_text(source), entity_text(target)), witness, columns, contribution.confidence)
