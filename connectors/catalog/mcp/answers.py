"""What a catalog's file answers: each question gives an Answer, whose pages are of a size that the asker chooses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Self

from cachetools import LRUCache
from sqlalchemy import Connection

from connectors.catalog.answer.pages import Answer
from connectors.catalog.graph import CatalogGraph
from connectors.catalog.picture.cards import MAX_CARDS
from connectors.catalog.picture.neighbourhood import graph_document
from connectors.catalog.questions import diff, entities, lineage, row_answers, sql
from connectors.catalog.questions import impact as impact_queries
from connectors.catalog.questions.file import When, existing_database, named_node
from connectors.catalog.questions.lineage import ColumnGraph
from connectors.catalog.questions.proposed_change.question import ChangeOptions, change_report
from connectors.catalog.questions.proposed_change.report import change_answer
from connectors.catalog.questions.why.report import causes_answer
from connectors.catalog.questions.why.search import causes
from connectors.catalog.store.lineage.window import Window, window
from ingestion.errors import ConfigError
from ingestion.scripts.explanation import explain

_MOST_SQL = 1_000_000
"""Characters of a text: nobody sends a model more."""
_SECONDS = 10.0
"""For the parser, of one statement that is proposed."""
_KEPT = 8
"""Answers whose next page is asked for while others are."""
_Question = tuple[tuple[int, ...], tuple[object, ...]]


class CatalogAnswers:
    """The questions to one catalog's file, which stays open and is only read.

    A name is a full one, or as much of its end as tells. Raises ConfigError where there is no such catalog; each
    question does for a name that is not there or not just one, and names the nearest.
    """

    def __init__(self, file: Path, when: When | None = None) -> None:
        self._database = existing_database(file)
        self._file = file
        self._when = when or When()
        self._known: LRUCache[_Question, Answer] = LRUCache(_KEPT)
        self._lock = Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file."""
        self._database.close()

    def _answer(self, question: tuple[object, ...], find: Callable[[], Answer]) -> Answer:
        """What `find` gives; the pages of one answer are of one look at the catalog, as long as that is not written."""
        key = _state(self._file), question
        with self._lock:
            known = self._known.get(key)
        if known is None:
            known = find()
            with self._lock:
                self._known[key] = known
        return known

    @contextmanager
    def _read(self) -> Iterator[tuple[Connection, Window]]:
        with self._database.read() as connection:
            connection.exec_driver_sql("pragma query_only = on")
            yield connection, window(connection, self._when.as_of, self._when.days)

    def search(self, words: str) -> Answer:
        """Tables and columns by words of their names; without one every table."""
        return self._answer(("search", words), lambda: self._search(words))

    def _search(self, words: str) -> Answer:
        with self._read() as (connection, _):
            return entities.search(connection, words)

    def describe(self, name: str) -> Answer:
        """A table with its columns, neighbours and tests, or one column."""
        return self._answer(("describe", name), lambda: self._describe(name))

    def _describe(self, name: str) -> Answer:
        with self._read() as (connection, span):
            return entities.describe(connection, *named_node(connection, name), span)

    def lineage(self, name: str, direction: str = lineage.UP, depth: int = 1) -> Answer:
        """The column edges `upstream` or `downstream` of a table or a column, within `depth` hops (0: all of them)."""
        if direction not in (lineage.UP, lineage.DOWN):
            raise ConfigError(f"the direction is {lineage.UP} or {lineage.DOWN}")
        if depth < 0:
            raise ConfigError("depth is a number of hops; 0 is all of them")
        return self._answer(("lineage", name, direction, depth), lambda: self._lineage(name, direction, depth))

    def _lineage(self, name: str, direction: str, depth: int) -> Answer:
        with self._read() as (connection, span):
            row, path = named_node(connection, name)
            graph = ColumnGraph(connection, span.moment)
            graph.learn([row.id])
            return lineage.lineage(graph, (row.id, path), direction, depth)

    def paths(self, source: str, target: str) -> Answer:
        """How values or decisions get from one table or column down to another."""
        return self._answer(("paths", source, target), lambda: self._paths(source, target))

    def _paths(self, source: str, target: str) -> Answer:
        with self._read() as (connection, span):
            ends = [named_node(connection, name) for name in (source, target)]
            graph = ColumnGraph(connection, span.moment)
            graph.learn(row.id for row, _ in ends)
            (start, first), (end, last) = ends
            return lineage.paths(graph, (start.id, first), (end.id, last))

    def explain(self, column: str) -> Answer:
        """Where a column comes from: base columns, the chain of expressions, the statements."""
        return self._answer(("explain", column), lambda: self._explain(column))

    def _explain(self, column: str) -> Answer:
        with self._read() as (connection, span):
            row, path = named_node(connection, column)
            if path is None:
                raise ConfigError(f"{row.fqn} is a table: name one of its columns, which `describe` lists")
            identifiers, cut = CatalogGraph(connection, span.moment).entities_behind((row.id, path), MAX_CARDS)
            document = graph_document(connection, identifiers, span)
            return row_answers.explanation_answer(explain(document, f"{row.fqn}.{path}"), complete=not cut)

    def impact(self, name: str) -> Answer:
        """Everything downstream of a table or a column."""
        return self._answer(("impact", name), lambda: self._impact(name))

    def _impact(self, name: str) -> Answer:
        with self._read() as (connection, span):
            row, path = named_node(connection, name)
            return row_answers.impact(impact_queries.impact(connection, (row.id, path), span.moment))

    def parse_sql(self, text: str, dialect: str = "ansi") -> Answer:
        """What SQL that is not in the catalog reads and makes, and what of it the catalog does not know."""
        if len(text) > _MOST_SQL:
            raise ConfigError(f"the text has more than {_MOST_SQL} characters: give less of it")
        return self._answer(("sql", text, dialect), lambda: self._parse_sql(text, dialect))

    def _parse_sql(self, text: str, dialect: str) -> Answer:
        with self._read() as (connection, _):
            return sql.parse_sql(connection, text, dialect)

    def proposed_change(self, text: str, dialect: str | None = None, default_schema: str = "") -> Answer:
        """What SQL or DDL would change, were it run, and what that does downstream; `dialect` None: the catalog's."""
        if len(text) > _MOST_SQL:
            raise ConfigError(f"the text has more than {_MOST_SQL} characters: give less of it")
        options = ChangeOptions(ddl=text, dialect=dialect, default_schema=default_schema, timeout_seconds=_SECONDS)
        return self._answer(("change", text, dialect, default_schema), lambda: self._proposed_change(options))

    def _proposed_change(self, options: ChangeOptions) -> Answer:
        with self._read() as (connection, span):
            return change_answer(change_report(connection, options, span.moment))

    def changes(self, start: datetime, end: datetime | None = None) -> Answer:
        """What changed in schemas and lineage between two moments (the second: now), what breaks first."""
        return self._answer(("changes", start, end), lambda: self._changes(start, end))

    def _changes(self, start: datetime, end: datetime | None) -> Answer:
        with self._read() as (connection, _):
            found = diff.diff(connection, _millis(start), _millis(end or datetime.now(UTC)))
            return row_answers.changes(found if end is not None else {**found, "to": None})

    def quality(self, name: str | None = None) -> Answer:
        """The tests of a table and of all that it comes from, or of the catalog; what does not pass comes first."""
        return self._answer(("quality", name), lambda: self._quality(name))

    def _quality(self, name: str | None) -> Answer:
        with self._read() as (connection, span):
            row = named_node(connection, name)[0] if name else None
            return entities.quality(connection, row, span)

    def why(self, name: str, at: datetime | None = None) -> Answer:
        """What upstream may have made a table or a column wrong at a moment (None: now)."""
        return self._answer(("why", name, at), lambda: self._why(name, at))

    def _why(self, name: str, at: datetime | None) -> Answer:
        with self._read() as (connection, _):
            moment = _millis(at) if at is not None else self._when.as_of
            return causes_answer(causes(connection, name, When(moment, self._when.days)))


def _state(file: Path) -> tuple[int, ...]:
    """What tells one state of the file from another."""
    parts = [file, file.with_name(f"{file.name}-wal")]
    return tuple(part.stat().st_mtime_ns if part.exists() else 0 for part in parts)


def _millis(moment: datetime) -> int:
    """Milliseconds since the epoch; a moment without a zone is in UTC."""
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
