"""What the catalog has under a name: search, one table or column with its columns, what tests say."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, select

from connectors.catalog.graph import table_hops
from connectors.catalog.picture import cards
from connectors.catalog.questions.answer import Answer
from connectors.catalog.search import names as name_search
from connectors.catalog.search.filters import UnreadTables, no_readers
from connectors.catalog.store.entities.entities import EntityRow, any_rows_of
from connectors.catalog.store.entities.tests import tests_of
from connectors.catalog.store.lineage import reads
from connectors.catalog.store.lineage.window import Window
from connectors.catalog.store.schema import entities
from ingestion.model.lineage import Json
from ingestion.walk import Walk

_MOST_HITS = 300
_PASSED = "Success"


@dataclass(frozen=True, slots=True)
class Hit:
    """Something that bears a name; `kind` is column, or what sort of entity it is."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class SearchHits:
    """What bears the `words`, the best first; without a word every table, by name."""

    words: str
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class DescribedColumn:
    """A column by its path in its table; `type` "" where it is not known."""

    path: str
    name: str
    type: str
    tags: tuple[str, ...]
    description: str


@dataclass(frozen=True, slots=True)
class TestResult:
    """What a test of a table or column told last; `status` "" and `at` None where it never ran."""

    name: str
    of: str
    status: str
    at: int | None = None
    failed_rows: int | None = None

    __test__ = False

    @property
    def passed(self) -> bool:
        """Whether there is nothing to look after: it passed, or has told nothing yet."""
        return self.status in ("", _PASSED)


@dataclass(frozen=True, slots=True)
class TableContext:
    """What is told of a table as a whole; it has more `reads` than are counted where `reads_more`."""

    reads: int
    owners: tuple[str, ...]
    tags: tuple[str, ...]
    description: str
    upstream: tuple[str, ...]
    downstream: tuple[str, ...]
    reads_more: bool = False


@dataclass(frozen=True, slots=True)
class EntityDescription:
    """A table with its columns and tests, and what is `around` it; None of one column alone."""

    name: str
    kind: str
    dropped: bool
    columns: tuple[DescribedColumn, ...]
    tests: tuple[TestResult, ...]
    around: TableContext | None


@dataclass(frozen=True, slots=True)
class TestResults:
    """The tests of a table (None: of the catalog) and of all upstream of it, those that fail first."""

    table: str | None
    tables: int
    untested: int
    results: tuple[TestResult, ...]

    __test__ = False


def search(connection: Connection, words: str, unread: UnreadTables = no_readers) -> Answer[SearchHits]:
    """Tables and columns whose names have these words, or that filters (`tag:`, `owner:`, …) let through; without a
    word every table. `unread` finds the tables that nobody reads.

    Raises ApiError for a filter that cannot be read.
    """
    if not words.strip():
        listed = select(entities.c.type, entities.c.fqn).where(
            entities.c.type.in_(("table", "container", "topic")), entities.c.deleted.is_(False)
        )
        rows = connection.execute(listed.order_by(entities.c.fqn))
        return Answer(SearchHits("", tuple(Hit(row.type, row.fqn) for row in rows)))
    found = name_search.search(connection, words, _MOST_HITS, unread)["results"]
    more = f"more than {_MOST_HITS} names match: the best are here, give more words" if len(found) >= _MOST_HITS else ""
    return Answer(SearchHits(words, tuple(_hit(one) for one in found)), (more,) if more else ())


def _hit(found: Json) -> Hit:
    if found["kind"] == "column":
        return Hit("column", str(found["column"]))
    return Hit(found["entity"]["type"], str(found["entity"]["fullyQualifiedName"]))


def describe(connection: Connection, row: EntityRow, path: str | None, span: Window) -> Answer[EntityDescription]:
    """A table's columns, neighbours, tests and what is written of it; of the column at `path`, its own."""
    document = cards.explore(connection, [row], cards.Reach(0, 0, 1), span)
    (card,) = document["nodes"]
    columns = tuple(_column(one) for one in card["columns"] if path in (None, one["path"]))
    tests = tuple(_test(row.fqn, test) for test in card.get("tests", ()) if path in (None, test.get("column")))
    name = row.fqn if path is None else f"{row.fqn}.{path}"
    around = _table_context(connection, row, card, span) if path is None else None
    kind = str(card.get("tableType") or card["type"])
    return Answer(EntityDescription(name, kind, bool(row.deleted), columns, tests, around))


def _table_context(connection: Connection, row: EntityRow, card: Json, span: Window) -> TableContext:
    owners = tuple(str(one.get("name", one.get("id", ""))) for one in card.get("owners") or ())
    upstream, downstream = (_neighbours(connection, row, span, upstream=side) for side in (True, False))
    tags = tuple(map(str, card.get("tags") or ()))
    usage, description = card["usage"], card.get("description") or ""
    more = bool(usage.get("more"))
    return TableContext(usage["reads"], owners, tags, description, upstream, downstream, more)


def _neighbours(connection: Connection, row: EntityRow, span: Window, *, upstream: bool) -> tuple[str, ...]:
    edges = reads.neighbours(connection, {row.id}, upstream=upstream, moment=span.moment)
    others = any_rows_of(connection, {edge[0 if upstream else 1] for edge in edges})
    return tuple(sorted({other.fqn for other in others.values()}))


def _column(card: Json) -> DescribedColumn:
    type_ = str(card.get("dataTypeDisplay") or card.get("dataType") or "")
    tags = tuple(map(str, card.get("tags", ())))
    return DescribedColumn(card["path"], card["name"], type_, tags, card.get("description") or "")


def _test(table: str, test: Json) -> TestResult:
    rows = test.get("failedRows")
    of = f"{table}.{test['column']}" if test.get("column") else table
    return TestResult(
        test["name"], of, str(test.get("status") or ""), test.get("at"), None if rows is None else int(rows)
    )


def quality(connection: Connection, row: EntityRow | None, span: Window) -> Answer[TestResults]:
    """The tests of the table of a `row` and of all upstream of it (None: of the catalog), those that fail first."""
    tables = _upstream(connection, row.id, span) if row is not None else _tables(connection)
    tests = tests_of(connection, tables, span.moment.as_of)
    names = any_rows_of(connection, set(tests))
    found = [(names[table].fqn, test) for table, listed in tests.items() for test in listed]
    found.sort(key=lambda one: (_test(*one).passed, one[0], one[1]["name"]))
    untested = len(set(tables) - tests.keys())
    results = tuple(_test(table, test) for table, test in found)
    return Answer(TestResults(None if row is None else row.fqn, len(tables), untested, results))


def _tables(connection: Connection) -> list[str]:
    listed = select(entities.c.id).where(entities.c.type == "table", entities.c.deleted.is_(False))
    return list(connection.scalars(listed.order_by(entities.c.fqn)))


def _upstream(connection: Connection, start: str, span: Window) -> list[str]:
    return list(Walk((start,), table_hops(connection, span.moment, upstream=True)).finish().arrivals)
