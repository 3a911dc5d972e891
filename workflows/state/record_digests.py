"""What makes a record of a log the same record when it is met again, in the same file or in another."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ingestion.plans.rendering import plan_fingerprint

Digests = npt.NDArray[np.int64]
"""Record digests, sorted, each once."""

_COLUMNS = ["source_id", "session", "user", "database", "start_time", "end_time", "text", "symbolic", "edges"]


def none_known() -> Digests:
    """No records at all."""
    return np.empty(0, np.int64)


def session_of(record: Mapping[str, object]) -> str:
    """The session that a record belongs to; where the log names none, all of one user in one database are one."""
    return str(record["session"] or f"{record['user'] or ''}@{record['database'] or ''}")


def time_of(record: Mapping[str, object]) -> float | None:
    """When a record began, or ended where only that is known."""
    time = record["start_time"] if record["start_time"] is not None else record["end_time"]
    return time if isinstance(time, float) else None


def digest_of(record: Mapping[str, object]) -> int:
    """The same number for the same session, time and content, wherever it is logged; without content for the place."""
    hashed = hashlib.blake2b(digest_size=8)
    hashed.update(f"{session_of(record)}\0{time_of(record)}\0".encode("utf-8", "surrogatepass"))
    encoded = record["symbolic"] or record.get("edges")
    planned = plan_fingerprint(encoded) if isinstance(encoded, bytes) and encoded and not record["text"] else None
    content = record["text"] or planned or f"\0{record['source_id']}"
    hashed.update(str(content).encode("utf-8", "surrogatepass"))
    return int(struct.unpack("<q", hashed.digest())[0])


def unread_of(batch: pa.RecordBatch, known: Digests) -> pa.RecordBatch:
    """The records of a batch that are not among the known ones."""
    if not known.size or not batch.num_rows:
        return batch
    digests = np.fromiter(map(digest_of, batch.select(_COLUMNS).to_pylist()), np.int64, batch.num_rows)
    places = np.minimum(np.searchsorted(known, digests), known.size - 1)
    return batch.filter(pa.array(known[places] != digests))
