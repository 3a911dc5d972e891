"""`lineage_graph`: the lineage of a few statements, a file or a directory as a picture, made for notebooks."""

from __future__ import annotations

import html
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ingestion.arguments import kind_of, require_schema, require_seconds, require_text
from ingestion.binding.relations import Relation
from ingestion.binding.restored_names import Order
from ingestion.binding.temporary_tables import bind_and_fold, is_transient
from ingestion.binding.timeline import Occurrence
from ingestion.dialects import Dialect, dialect_of
from ingestion.errors import ConfigError, Unparsable
from ingestion.explorer import self_contained_page
from ingestion.isolation import Isolation
from ingestion.masking import template
from ingestion.model import Column
from ingestion.names.namespaces import Namespace
from ingestion.parsing.parser_pool import ParseOutcome
from ingestion.scripts.graph_document import EdgeEvidence, columns_of, graph_document
from ingestion.scripts.lineage_parser import TableSchema, given_schemas
from ingestion.scripts.pieces import Piece, failure_text, lone_query_as_view, parse_pieces, pieces
from ingestion.symbolic import loads

_FRAME_HEIGHT = 640


@dataclass(frozen=True, slots=True)
class LineageGraph:
    """Tables and column edges of some SQL. In a notebook it shows itself: the explorer, offline, in a frame.

    `failures` names the statements that could not be read, by place and reason.
    """

    document: Mapping[str, Any] = field(repr=False)
    failures: tuple[str, ...] = ()

    @property
    def tables(self) -> dict[str, tuple[Column, ...]]:
        """Every table that is read or written, with the columns that are known."""
        return columns_of(self.document)

    def to_json(self) -> dict[str, Any]:
        """The graph as the catalog's graph call answers it, with `failures`."""
        return {**self.document, "failures": list(self.failures)}

    def to_html(self, title: str = "Lineage") -> str:
        """The explorer with this graph in one page that needs no network."""
        return self_contained_page(self.to_json(), title)

    def _repr_html_(self) -> str:
        # A frame of its own origin: neither the page nor a name in it can reach the notebook.
        page = html.escape(self.to_html(), quote=True)
        return (
            f'<iframe title="Lineage" sandbox="allow-scripts allow-downloads" srcdoc="{page}" '
            f'width="100%" height="{_FRAME_HEIGHT}" style="border:0"></iframe>'
        )


def lineage_graph(
    source: str | os.PathLike[str] | Sequence[str],
    dialect: str = "ansi",
    schema: Mapping[str, TableSchema] | None = None,
    timeout_seconds: float = 30,
    *,
    keep_temporary: bool = False,
) -> LineageGraph:
    """The lineage of a list of statements, of a file, or of all *.sql files below a directory.

    A lone query is a view: named after its file, or query_1, query_2 ... after its place in the list. What one
    statement creates, the next ones know.

    Args:
        source: a path, or a list of texts with one or more statements each.
        dialect: sqlglot's name of the dialect, or "ansi", or a connection type ("Redshift").
        schema: {"schema.table": {"column": "type"}}; of other tables only the columns that are used are known.
        timeout_seconds: for each parser on one statement.
        keep_temporary: show temporary tables as tables, instead of what they were filled from.

    Raises:
        ConfigError: the dialect is unknown, or the path cannot be read.
        TypeError: an argument is of another type; nothing was parsed.
    """
    language = _checked_dialect(dialect, schema, timeout_seconds)
    statements = _statements(source, language)
    outcomes = parse_pieces([piece for _, piece in statements], language, timeout_seconds)
    occurrences: list[Occurrence] = []
    evidence: dict[str, EdgeEvidence] = {}
    reasons = {number: outcome.dead_reason for number, outcome in enumerate(outcomes) if outcome.dead_reason}
    for number, ((_name, piece), outcome) in enumerate(zip(statements, outcomes, strict=True)):
        if outcome.symbolic is None:
            continue
        occurrences.append(Occurrence(str(number), loads(outcome.symbolic), Namespace(), (0.0, number), "script"))
        evidence[str(number)] = _evidence(piece.text, language, outcome)
    isolation, folds = Isolation[Order](), _no_relation if keep_temporary else is_transient
    log, flows = bind_and_fold(occurrences, given_schemas(schema or {}), folds, isolation)
    document = graph_document(log, flows, evidence, isolation)
    reasons |= {number: f"{failure.reason}: {failure.place}" for (_, number), failure in isolation.failures.items()}
    return LineageGraph(document, _failures(statements, outcomes, reasons))


def _checked_dialect(dialect: str, schema: Mapping[str, TableSchema] | None, timeout_seconds: float) -> Dialect:
    require_schema({} if schema is None else schema, "schema")
    require_seconds(timeout_seconds, "timeout_seconds")
    return dialect_of(dialect)


def _statements(source: str | os.PathLike[str] | Sequence[str], dialect: Dialect) -> list[tuple[str, Piece]]:
    """Every statement with the part of the source that it is of."""
    return [(place, piece) for place, view, text in _texts(source) for piece in _view_pieces(text, view, dialect)]


def _failures(
    statements: Sequence[tuple[str, Piece]], outcomes: Sequence[ParseOutcome], reasons: Mapping[int, str]
) -> tuple[str, ...]:
    return tuple(
        f"{statements[number][0]}{failure_text(statements[number][1], reasons[number], outcomes[number])}"
        for number in sorted(reasons)
    )


def _no_relation(_relation: Relation) -> bool:
    return False


def _evidence(text: str, dialect: Dialect, outcome: ParseOutcome) -> EdgeEvidence:
    try:
        known = template(text, dialect)
    except Unparsable:
        # read by a parser, but not safe to show
        return EdgeEvidence("", f"statement {outcome.key}", outcome.tier or "")
    return EdgeEvidence(known.masked, known.fingerprint, outcome.tier or "")


def _view_pieces(text: str, view: str, dialect: Dialect) -> Iterator[Piece]:
    """The statements of a text, a lone query as a view; columns of a line are told of a text that is left as it is."""
    script = lone_query_as_view(text, view, dialect)
    for piece in pieces(script, dialect):
        yield piece if script == text else replace(piece, column=0)


def _texts(source: str | os.PathLike[str] | Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """(Where it stands, its view's name, text) of all parts of the source. The one place here that reads files."""
    if not isinstance(source, (str, os.PathLike)):
        if not isinstance(source, Iterable) or isinstance(source, bytes | bytearray):
            raise TypeError(f"source is {kind_of(source)}: give a path, or a list of texts")
        for number, text in enumerate(source):
            require_text(text, f"source[{number}]")
            yield f"[{number}] ", f"query_{number + 1}", text
        return
    path = Path(source)
    try:
        for file in sorted(path.rglob("*.sql")) if path.is_dir() else [path]:
            yield f"{file}:", file.stem, file.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: not UTF-8 text") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        message = f"{_short(path)} cannot be read ({reason}): give a path, or SQL in a list of texts"
        raise ConfigError(message) from None


def _short(path: Path) -> str:
    """The path, unless it is SQL that was taken for one: its text is nothing to show."""
    text = str(path)
    return text if len(text.split()) < len(["a", "b", "c"]) else "the text"
