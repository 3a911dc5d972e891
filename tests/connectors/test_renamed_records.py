"""The records of a log by the names of the source beside it."""

from __future__ import annotations

import pyarrow as pa

from connectors.renamed_records import renamed_records, renaming
from connectors.source import FrameOfRecords


def names(text: str) -> tuple[str, str | None]:
    return text.replace("physical", "model"), "definition" if text.startswith("view") else None


def test_a_statement_is_renamed_and_what_had_a_status_keeps_it() -> None:
    given = {"text": ["physical", "view", None, "view"], "status": [None, None, "failed", "failed"], "user": ["a"] * 4}
    schema = pa.schema([("text", pa.string()), ("status", pa.string()), ("user", pa.string())])
    (batch,) = renaming(names)(iter([pa.RecordBatch.from_pydict(given, schema)]))
    assert batch.column("text").to_pylist() == ["model", "view", None, "view"]
    assert batch.column("status").to_pylist() == [None, "definition", "failed", "failed"]
    assert batch.schema == schema


def test_a_source_without_names_of_its_own_leaves_a_log_as_it_is() -> None:
    def records(_spark: object, _wanted: object) -> FrameOfRecords | None:
        return None

    assert renamed_records(records, None) is records
    assert renamed_records(None, names) is None
