"""A statement's lineage as bytes, with the names that follow from it alone beside it."""

from __future__ import annotations

from ingestion.analysis.analyzer import mentions
from ingestion.analysis.symbolic import Symbolic, with_names
from ingestion.model.isolation import FailureStage, Isolation

_MOST = 1 << 18
"""Bytes of lineage of which the names are read off here: more is for who has no limits of time and memory."""


def lineage_with_names(data: bytes, symbolic: Symbolic) -> bytes:
    """The bytes of `symbolic` (`ingestion.analysis.symbolic.dumps`) with its names, where these can be read off."""
    if len(data) > _MOST:
        return data
    # What fails here fails again where the statement is bound, and is told there.
    with Isolation[str]().around(FailureStage.ANALYSIS, "names"):
        return with_names(data, mentions(symbolic))
    return data
