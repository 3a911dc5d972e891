"""What makes a record of a log the same record when it is met again, in the same file or in another."""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ingestion.errors import Unparsable
from ingestion.plans.rendering import plan_fingerprint

Digests = npt.NDArray[np.int64]
"""Record digests."""

_CONTENTS = ("text", "symbolic", "edges", "source_id")
_LITTLE_ENDIAN = np.dtype("<i8")


def none_known() -> Digests:
    """No records at all."""
    return np.empty(0, np.int64)


def sessions_of(records: pa.RecordBatch) -> pa.Array:
    """The session of each record; where the log names none, all of one user in one database are one."""
    user, database = (pc.coalesce(records.column(name), "") for name in ("user", "database"))
    session = pc.coalesce(records.column("session"), "")
    return pc.if_else(pc.equal(session, ""), pc.binary_join_element_wise(user, database, "@"), session)


def times_of(records: pa.RecordBatch) -> pa.Array:
    """When each record began, or ended where only that is known; null where neither is."""
    return pc.coalesce(records.column("start_time"), records.column("end_time"))


def record_digests(records: pa.RecordBatch) -> Digests:
    """The same number for the same session, time and content, wherever it is logged; without content for the place."""
    contents = map(_content, *(records.column(name).to_pylist() for name in _CONTENTS))
    when = (column.to_pylist() for column in (sessions_of(records), times_of(records)))
    return np.frombuffer(b"".join(map(_digest, *when, contents)), _LITTLE_ENDIAN).astype(np.int64, copy=False)


def are_known(digests: Digests, known: Digests) -> npt.NDArray[np.bool_]:
    """Which of the digests are among the `known` ones, which are sorted."""
    if not known.size:
        return np.zeros(digests.size, np.bool_)
    places = np.minimum(np.searchsorted(known, digests), known.size - 1)
    return np.asarray(known[places] == digests)


def _digest(session: str, time: float | None, content: str) -> bytes:
    return hashlib.blake2b(f"{session}\0{time}\0{content}".encode(), digest_size=8).digest()


def _content(text: str | None, symbolic: bytes | None, edges: bytes | None, source_id: str) -> str:
    return text or _plan_content(symbolic or edges) or f"\0{source_id}"


def _plan_content(encoded: bytes | None) -> str | None:
    try:
        return plan_fingerprint(encoded) if encoded else None
    except (Unparsable, TypeError):  # what cannot be read is told where the record is
        return None
