"""Writes what stands now as a list of edges: the whole file, each time, so that none is ever half written."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from connectors.edge_file.settings import EdgeFileSettings
from connectors.edge_rows import ColumnWord, EdgeRow, entity_text, producer_text, read_rows, rows_of, write_rows
from connectors.private_files import replaced_text
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
    yield EdgeFile(settings.path, _rows_in(settings.path), is_empty=not settings.path.exists())


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
    """The rows of one file, by their keys."""

    file: Path
    rows: dict[str, EdgeRow] = field(default_factory=dict)
    is_empty: bool = False

    def keys(self, request: AddLineageRequest, contribution: Contribution) -> Iterable[str]:
        """A digest of each row: the row itself is in the file."""
        return [_key(row) for row in _rows_of(request, contribution)]

    def write(self, batches: Sequence[TargetBatch]) -> WriteReport:
        """The file with what the batches say, and without what they end. Raises ConfigError."""
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
        if rows != self.rows or self.is_empty:
            self._replace(rows)
        new = sum(result.outcome is WriteOutcome.STORED for result in results)
        counts = EdgeCounts(new=new, unchanged=len(results) - new, replaced=ended, column_edges=columns)
        return WriteReport(tuple(results), counts)

    def _replace(self, rows: dict[str, EdgeRow]) -> None:
        try:
            with replaced_text(self.file) as out:
                write_rows(rows.values(), out)
        except OSError as error:
            raise ConfigError(f"{self.file} cannot be written ({error.strerror})") from None
        self.rows, self.is_empty = rows, False


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
