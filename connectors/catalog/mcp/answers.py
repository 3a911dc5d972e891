"""A catalog's file that answers in rows: every question, in pages of a size that the asker chooses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Self, TypeVar

from cachetools import LRUCache
from sqlalchemy import Connection

from connectors.catalog.answer.changes import change_rows, diff_rows, impact_rows
from connectors.catalog.answer.coverage import coverage_rows
from connectors.catalog.answer.explanation import explanation_rows
from connectors.catalog.answer.freshness import freshness_rows
from connectors.catalog.answer.lookups import (
    description_rows,
    lineage_rows,
    paths_rows,
    quality_rows,
    search_rows,
    sql_rows,
)
from connectors.catalog.answer.pages import AnswerRows
from connectors.catalog.answer.rendering import in_rows
from connectors.catalog.answer.runs import run_list_rows, run_rows
from connectors.catalog.answer.unused import unused_rows
from connectors.catalog.answer.why import why_rows
from connectors.catalog.answer.witnesses import witness_rows
from connectors.catalog.questions import diff, entities, explain, impact, lineage, sql
from connectors.catalog.questions.answer import Answer, When
from connectors.catalog.questions.coverage import coverage_report
from connectors.catalog.questions.file import asked_window, existing_database, left_out, named_node
from connectors.catalog.questions.freshness import freshness_report
from connectors.catalog.questions.impact_filter import ImpactFilter
from connectors.catalog.questions.proposed_change.question import ChangeOptions, change_report
from connectors.catalog.questions.proposed_change.report import ChangeReport
from connectors.catalog.questions.runs import latest_runs, run_details
from connectors.catalog.questions.tables import TableListOptions
from connectors.catalog.questions.unused import UnusedOptions, unread_tables
from connectors.catalog.questions.unused import unused_report as unused_of
from connectors.catalog.questions.why.search import cause_report
from connectors.catalog.questions.witnesses import WitnessReport
from connectors.catalog.questions.witnesses import witnesses as witnesses_report
from connectors.catalog.store.database import now_millis
from connectors.catalog.store.lineage.window import Window
from ingestion.errors import ConfigError
from ingestion.model.witnesses import WitnessFilter

_MOST_SQL = 1_000_000
"""Characters of a text: nobody sends a model more."""
_KEPT = 8
"""Answers whose next page is asked for while others are."""
_Question = tuple[tuple[int, ...], tuple[object, ...]]
Content = TypeVar("Content")


class CatalogAnswers:
    """The questions to one catalog's file, which stays open and is only read.

    A name is a full one, or as much of its end as tells. Raises ConfigError where there is no such catalog; each
    question does for a name that is not there or not just one, and names the nearest.
    """

    def __init__(self, file: Path, when: When | None = None) -> None:
        self._database = existing_database(file)
        self._file = file
        self._when = when or When()
        self._known: LRUCache[_Question, AnswerRows] = LRUCache(_KEPT)
        self._left_out: LRUCache[tuple[tuple[int, ...], When], str] = LRUCache(_KEPT)
        self._lock = Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file."""
        self._database.close()

    def _ask(
        self,
        question: tuple[object, ...],
        rows: Callable[[Content], AnswerRows],
        find: Callable[[Connection], Answer[Content]],
    ) -> AnswerRows:
        """What `find` gives, in rows; the pages of one answer are of one look at the catalog until that is written."""
        key = _state(self._file), question
        with self._lock:
            known = self._known.get(key)
        if known is None:
            with self._read() as connection:
                known = in_rows(find(connection), rows)
            with self._lock:
                self._known[key] = known
        return known

    def _ask_of_window(
        self,
        question: tuple[object, ...],
        rows: Callable[[Content], AnswerRows],
        find: Callable[[Connection, Window], Answer[Content]],
    ) -> AnswerRows:
        """The same of a question that looks through the window: the answer tells what that hides."""

        def answer_with_note(connection: Connection) -> Answer[Content]:
            answer = find(connection, asked_window(connection, self._when))
            note = self._window_note(connection, self._when)
            return replace(answer, cut=(*answer.cut, note)) if note else answer

        return self._ask(question, rows, answer_with_note)

    def _window_note(self, connection: Connection, when: When) -> str:
        """What the window leaves out: it is counted over the whole catalog, so once until that is written."""
        key = _state(self._file), when
        with self._lock:
            known = self._left_out.get(key)
        if known is None:
            known = left_out(connection, asked_window(connection, when), "`ingest mcp --days 0`")
            with self._lock:
                self._left_out[key] = known
        return known

    @contextmanager
    def _read(self) -> Iterator[Connection]:
        with self._database.read() as connection:
            connection.exec_driver_sql("pragma query_only = on")
            yield connection

    def search(self, words: str) -> AnswerRows:
        """Tables and columns by words of their names and by filters; without any every table."""

        def find(connection: Connection) -> Answer[entities.SearchHits]:
            # a filter notes what it lets through in a temporary table, which a connection for reading alone refuses
            connection.exec_driver_sql("pragma query_only = off")
            return entities.search(connection, words, unread_tables)

        return self._ask(("search", words), search_rows, find)

    def describe(self, name: str) -> AnswerRows:
        """A table with its columns, neighbours and tests, or one column."""

        def find(connection: Connection, span: Window) -> Answer[entities.EntityDescription]:
            return entities.describe(connection, *named_node(connection, name), span)

        return self._ask_of_window(("describe", name), description_rows, find)

    def lineage(self, name: str, direction: str = lineage.UP, depth: int = 1, *, direct: bool = False) -> AnswerRows:
        """The column edges `upstream` or `downstream` of a table or a column, within `depth` hops (0: all of them)."""
        if direction not in (lineage.UP, lineage.DOWN):
            raise ConfigError(f"the direction is {lineage.UP} or {lineage.DOWN}")
        reach = lineage.LineageReach(direction, _depth(depth), direct)

        def find(connection: Connection, span: Window) -> Answer[lineage.LineageEdges]:
            row, path = named_node(connection, name)
            return lineage.lineage(connection, (row.id, path), span.moment, reach)

        return self._ask_of_window(("lineage", name, reach), lineage_rows, find)

    def paths(self, source: str, target: str) -> AnswerRows:
        """How values or decisions get from one table or column down to another."""

        def find(connection: Connection, span: Window) -> Answer[lineage.Paths]:
            (start, first), (end, last) = (named_node(connection, name) for name in (source, target))
            return lineage.paths(connection, (start.id, first), (end.id, last), span.moment)

        return self._ask_of_window(("paths", source, target), paths_rows, find)

    def explain(
        self, column: str, witness: tuple[str, ...] = (), depth: int = 0, *, direct: bool = False
    ) -> AnswerRows:
        """Where a column comes from: base columns, the chain of expressions, the statements."""
        return self._ask_of_window(
            ("explain", column, witness, _depth(depth), direct),
            lambda found: explanation_rows(found.within(depth, direct=direct)),
            lambda connection, span: explain.explain(connection, column, _of_witnesses(span, witness)),
        )

    def witnesses(self, name: str | None = None, witness: tuple[str, ...] = ()) -> AnswerRows:
        """Who tells of which column edges, and where they differ: of everything, or of a table or a column."""

        def find(connection: Connection, span: Window) -> Answer[WitnessReport]:
            row = named_node(connection, name) if name else None
            node = (row[0].id, row[1]) if row is not None else None
            return witnesses_report(connection, node, _of_witnesses(span, witness))

        return self._ask_of_window(("witnesses", name, witness), witness_rows, find)

    def impact(self, name: str, witness: tuple[str, ...] = (), asked: ImpactFilter | None = None) -> AnswerRows:
        """Everything downstream of a table or a column, or what of it is asked for."""
        wanted = asked or ImpactFilter()

        def find(connection: Connection, span: Window) -> Answer[impact.Impact]:
            row, path = named_node(connection, name)
            return impact.impact(connection, (row.id, path), _of_witnesses(span, witness))

        return self._ask_of_window(
            ("impact", name, witness, wanted), lambda found: impact_rows(found.only(wanted)), find
        )

    def parse_sql(self, text: str, dialect: str = "ansi") -> AnswerRows:
        """What SQL that is not in the catalog reads and makes, and what of it the catalog does not know."""
        _refuse_long(text)
        return self._ask(("sql", text, dialect), sql_rows, lambda connection: sql.parse_sql(connection, text, dialect))

    def proposed_change(self, text: str, dialect: str | None = None, default_schema: str = "") -> AnswerRows:
        """What SQL or DDL would change, were it run, and what that does downstream; `dialect` None: the catalog's."""
        _refuse_long(text)
        options = ChangeOptions(
            ddl=text, dialect=dialect, default_schema=default_schema, timeout_seconds=sql.PARSER_SECONDS
        )

        def find(connection: Connection, span: Window) -> Answer[ChangeReport]:
            found = change_report(connection, options, span.moment)
            if found.content.empty:
                raise ConfigError(
                    "the text changes nothing that a catalog knows: give DDL, or statements that fill tables"
                )
            return found

        return self._ask_of_window(("change", text, dialect, default_schema), change_rows, find)

    def changes(self, start: datetime, end: datetime | None = None) -> AnswerRows:
        """What changed in schemas and lineage between two moments (the second: now), what breaks first.

        Raises ConfigError where the second is before the first.
        """
        until = None if end is None else _millis(end)
        if (now_millis() if until is None else until) < _millis(start):
            raise ConfigError("start is in the future (UTC)" if until is None else "end is before start")
        return self._ask(
            ("changes", start, end),
            diff_rows,
            lambda connection: diff.diff(connection, _millis(start), until),
        )

    def quality(self, name: str | None = None) -> AnswerRows:
        """The tests of a table and of all that it comes from, or of the catalog; what does not pass comes first."""

        def find(connection: Connection, span: Window) -> Answer[entities.TestResults]:
            row = named_node(connection, name)[0] if name else None
            return entities.quality(connection, row, span)

        return self._ask_of_window(("quality", name), quality_rows, find)

    def why(self, name: str, at: datetime | None = None) -> AnswerRows:
        """What upstream may have made a table or a column wrong at a moment (None: now)."""
        when = When(_millis(at) if at is not None else self._when.as_of, self._when.days)
        return self._ask(
            ("why", name, at),
            why_rows,
            lambda connection: cause_report(connection, named_node(connection, name), when),
        )

    def coverage(self, name: str | None = None) -> AnswerRows:
        """Of which tables the source is known, and why not of the others; of everything or what lies below a name."""
        options = TableListOptions(self._when.as_of, name)
        question = ("coverage", name)
        return self._ask(question, coverage_rows, lambda connection: coverage_report(connection, options))

    def freshness(self, name: str | None = None) -> AnswerRows:
        """When tables were written last, how often they are, and which are late."""
        options = TableListOptions(self._when.as_of, name)
        question = ("freshness", name)
        return self._ask(question, freshness_rows, lambda connection: freshness_report(connection, options))

    def runs(self, run: str | None = None) -> AnswerRows:
        """The latest runs of workflows; of one (its id, or `latest`) its counts, what changed, what is dead still."""
        if run is None:
            return self._ask(("runs", run), run_list_rows, latest_runs)
        return self._ask(("runs", run), run_rows, lambda connection: run_details(connection, run))

    def unused_report(self, days: int, name: str | None = None, but_for: tuple[str, ...] = ()) -> AnswerRows:
        """What nobody read in so many days, of everything or of what lies below a name, the dearest first."""
        options = UnusedOptions(days, self._when.as_of, name, but_for)
        question = ("unused", days, name, but_for)
        return self._ask(question, unused_rows, lambda connection: unused_of(connection, options))


def _of_witnesses(span: Window, witness: tuple[str, ...]) -> Window:
    return span.of_witnesses(WitnessFilter.of(witness)) if witness else span


def _depth(depth: int) -> int:
    if depth < 0:
        raise ConfigError("depth is a number of hops; 0 is all of them")
    return depth


def _refuse_long(text: str) -> None:
    if len(text) > _MOST_SQL:
        raise ConfigError(f"the text has more than {_MOST_SQL} characters: give less of it")


def _state(file: Path) -> tuple[int, ...]:
    """What tells one state of the file from another."""
    parts = [file, file.with_name(f"{file.name}-wal")]
    return tuple(part.stat().st_mtime_ns if part.exists() else 0 for part in parts)


def _millis(moment: datetime) -> int:
    """Milliseconds since the epoch; a moment without a zone is in UTC."""
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
