"""A catalog's lineage as a document of its own, at one moment or two: what the explorer carries when it stands in
one file.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Connection, select

from connectors.catalog.answer.changes import DIFF
from connectors.catalog.answer.rendering import document
from connectors.catalog.contract.entity_types import LINEAGE_TYPES
from connectors.catalog.contract.errors import ApiError
from connectors.catalog.picture.cards import MAX_CARDS
from connectors.catalog.picture.neighbourhood import NeighbourhoodStep, difference, graph_document, picture
from connectors.catalog.questions.answer import When
from connectors.catalog.questions.diff import diff
from connectors.catalog.questions.file import asked_window, left_out, open_catalog
from connectors.catalog.store.database import now_millis
from connectors.catalog.store.lineage.window import Window, window
from connectors.catalog.store.schema import entities
from connectors.edge_rows import ColumnWord, EdgeRow, producer_text, rows_of, table_text
from ingestion.errors import ConfigError
from ingestion.model.fqn import split_fqn
from ingestion.model.lineage import Json, LineageType
from ingestion.model.moments import minute_text
from ingestion.model.topics import topic_path

_LISTED = frozenset({"table", "container", "topic"})


# One moment.


@dataclass(frozen=True, slots=True)
class ExportScope:
    """What to export: the neighbourhoods of `steps` (none: everything), as they are `when`."""

    steps: tuple[NeighbourhoodStep, ...] = ()
    when: When = field(default_factory=When)


def catalog_document(file: Path, scope: ExportScope) -> Json:
    """The lineage of a catalog's file, as its graph call answers it.

    Raises ConfigError when there is no such file, it is no catalog, or a step names nothing in it.
    """
    with open_catalog(file) as connection:
        span = asked_window(connection, scope.when)
        note = left_out(connection, span, "`ingest export --days 0`")
        return _document(connection, scope, span) | ({"leftOut": note} if note else {})


def _document(connection: Connection, scope: ExportScope, span: Window) -> Json:
    if not scope.steps:
        everything = select(entities.c.id).where(entities.c.type.in_(LINEAGE_TYPES), entities.c.deleted.is_(False))
        return {**graph_document(connection, list(connection.scalars(everything)), span), "roots": []}
    with _asked_by_name(scope):
        return picture(connection, scope.steps, MAX_CARDS, span)


@contextmanager
def _asked_by_name(scope: ExportScope) -> Iterator[None]:
    """What follows from the steps; a name that is not there is the fault of who gave it."""
    try:
        yield
    except ApiError as error:
        names = ", ".join(step.entity for step in scope.steps)
        raise ConfigError(f"{names}: not in this catalog; give the name with service, database and schema") from error


# As a list of edges.


def edge_rows(document: Json) -> Iterator[EdgeRow]:
    """What a document of a catalog says of tables and of files, row by row; other entities no list has."""
    names = {node["id"]: _name(node) for node in document["nodes"] if node["type"] in _LISTED}
    for edge in document["edges"]:
        if edge["from"] in names and edge["to"] in names:
            source, target = names[edge["from"]], names[edge["to"]]
            for one in edge["contributions"]:
                witness = producer_text(one["producer"]["kind"], one["producer"].get("key") or "")
                columns = (_column_word(column, source.fqn, target.fqn) for column in one.get("columns") or ())
                confidence = one.get("confidence")
                yield from rows_of(
                    (source.text, target.text), witness, columns, 1.0 if confidence is None else confidence
                )


class _Name(NamedTuple):
    fqn: str
    text: str


def _name(node: Json) -> _Name:
    fqn = node["fullyQualifiedName"]
    path = topic_path(*split_fqn(fqn)[:2]) if node["type"] == "topic" else node.get("fullPath")
    return _Name(fqn, path or table_text(fqn))


def _column_word(column: Json, source: str, target: str) -> ColumnWord:
    return ColumnWord(
        [name.removeprefix(f"{source}.") for name in column["from"]],
        (column.get("to") or "").removeprefix(f"{target}."),
        column.get("subtype") or "",
        bool(column.get("masking")),
        column.get("expression") or "",
        column.get("certain") is not False,
        column.get("type") != LineageType.INDIRECT,
    )


# Two moments.


def compared_document(file: Path, scope: ExportScope, base: int) -> Json:
    """The lineage of a catalog's file as of the scope's moment, with that of `base` (milliseconds) as `before`.

    Observations of any age count, as for every difference. Raises ConfigError where there is no such catalog, a step
    names nothing in it, or `base` is later than the scope's moment.
    """
    as_of = scope.when.as_of
    end = as_of if as_of is not None else now_millis()
    if base > end:
        raise ConfigError("the moment to compare with is after the one that is shown: give an earlier one")
    end_text = "now" if as_of is None else minute_text(as_of)
    with open_catalog(file) as connection:
        both = _both(connection, scope, base)
        changes = document(diff(connection, base, end), DIFF)
    compared = f"{minute_text(base)} compared with {end_text}"
    return {**both["after"], "before": both["before"], "changes": changes, "compared": compared}


def _both(connection: Connection, scope: ExportScope, base: int) -> Json:
    moments = (window(connection, moment, 0) for moment in (base, scope.when.as_of))
    before, after = (one.of_witnesses(scope.when.witnesses) for one in moments)
    if not scope.steps:
        everything = list(connection.scalars(select(entities.c.id).where(entities.c.type.in_(LINEAGE_TYPES))))
        documents = (graph_document(connection, everything, one) | {"roots": []} for one in (before, after))
        return dict(zip(("before", "after"), documents, strict=True))
    with _asked_by_name(scope):
        return difference(connection, scope.steps, (MAX_CARDS, None), (before, after))
