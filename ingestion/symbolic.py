"""Symbolic lineage as bytes: how it crosses the borders of processes, of Spark, and of one run to the next."""

from __future__ import annotations

import io
import pickle
from functools import cache
from importlib import import_module

from ingestion import pickling
from ingestion.errors import Unparsable
from ingestion.model import StatementLineage
from ingestion.relational.form import RelationalStatement

Symbolic = RelationalStatement | StatementLineage
"""What a parse gives: a relational form to be analysed, or lineage that a plan had already resolved."""

_TRUSTED_MODULES = ("ingestion.model", "ingestion.relational.form")


class _SymbolicUnpickler(pickle.Unpickler):
    """Loads values of our own vocabulary only, so that a stored file cannot run code."""

    def find_class(self, module: str, name: str) -> type:
        return _trusted_class(module, name)


@cache
def _trusted_class(module: str, name: str) -> type:
    if module in _TRUSTED_MODULES and "." not in name:
        found = getattr(import_module(module), name)
        if isinstance(found, type) and found.__module__ == module:
            return found
    msg = f"stored lineage names {module}.{name}, which is no part of the lineage vocabulary"
    raise Unparsable(msg)


def dumps(symbolic: Symbolic) -> bytes:
    """The bytes of one statement's symbolic lineage; equal values of one version give equal lineage back."""
    return pickling.dumps(symbolic)


def loads(data: bytes | bytearray | memoryview) -> Symbolic:
    """The symbolic lineage that `dumps` wrote.

    Raises:
        Unparsable: the bytes are not symbolic lineage, or were written by an incompatible version.
    """
    try:
        loaded = _SymbolicUnpickler(io.BytesIO(data)).load()
    except (
        pickle.UnpicklingError,
        EOFError,
        AttributeError,
        TypeError,
        ValueError,
        IndexError,
        KeyError,
    ) as error:
        msg = "stored lineage is damaged or of another version: read the log again with --full"
        raise Unparsable(msg) from error
    if not isinstance(loaded, RelationalStatement | StatementLineage):
        msg = "stored lineage is of an unknown kind: read the log again with --full"
        raise Unparsable(msg)
    return loaded
