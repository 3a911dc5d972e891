"""What the catalog has under a name: search, one table or column with its columns, what tests say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from sqlalchemy import Connection, select

from connectors.catalog.answer.pages import Answer, Row, fact
from connectors.catalog.answer.writing import Name, quoted_text, text_lines
from connectors.catalog.picture import cards
from connectors.catalog.search import names as name_search
from connectors.catalog.store.entities.entities import EntityRow, any_rows_of
from connectors.catalog.store.entities.tests import tests_of
from connectors.catalog.store.lineage import reads
from connectors.catalog.store.lineage.window import Window
from connectors.catalog.store.schema import entities
from ingestion.model.lineage import Json

_MOST_HITS = 300
_PASSED = "Success"


def search(connection: Connection, words: str) -> Answer:
    """Tables and columns whose names have these words, the best first; without a word every table, by name."""
    if not words.strip():
        listed = select(entities.c.type, entities.c.fqn).where(
            entities.c.type.in_(("table", "container")), entities.c.deleted.is_(False)
        )
        rows = [_hit(row.type, row.fqn) for row in connection.execute(listed.order_by(entities.c.fqn))]
        return Answer("tables", (fact(f"{len(rows)} tables in the catalog"),), tuple(rows))
    found = name_search.find(connection, words, _MOST_HITS)
    rows = [_hit("column" if hit["kind"] == "column" else hit["entity"]["type"], _name_of(hit)) for hit in found]
    more = f"more than {_MOST_HITS} names match: the best are here, give more words" if len(found) >= _MOST_HITS else ""
    return Answer("names", (fact(f"{len(rows)} names match"),), tuple(rows), (more,) if more else ())


def _name_of(hit: Json) -> str:
    return str(hit["column"] if hit["kind"] == "column" else hit["entity"]["fullyQualifiedName"])


def _hit(kind: str, name: str) -> Row:
    return Row((f"{kind} ", Name(name)), (kind, Name(name)))


def describe(connection: Connection, row: EntityRow, path: str | None, span: Window) -> Answer:
    """A table's columns, neighbours, tests and what is written of it; of the column at `path`, its own."""
    document = cards.explore(connection, [row], cards.Reach(0, 0, 1), span)
    (card,) = document["nodes"]
    neighbours = {
        side: sorted(_neighbours(connection, row, span, upstream=side == "upstream"))
        for side in ("upstream", "downstream")
    }
    columns = [one for one in card["columns"] if path in (None, one["path"])]
    kind = card.get("tableType") or card["type"]
    name = row.fqn if path is None else f"{row.fqn}.{path}"
    facts = [fact(Name(name), f": {'column of a ' if path else ''}{kind}{', dropped' if row.deleted else ''}")]
    if path is None:
        sides = ", ".join(f"{len(found)} {side}" for side, found in neighbours.items())
        facts.append(fact(f"{len(columns)} columns; tables next to it: {sides}; read {card['usage']['reads']} times"))
    facts += [fact(f"{key}: {value}") for key, value in _attributes(card) if path is None]
    rows = [*_column_rows(columns)]
    if path is None:
        rows += _text_rows("description", card.get("description"))
        rows += [
            Row((f"{side} ", Name(other)), (side, Name(other))) for side in neighbours for other in neighbours[side]
        ]
    for column in columns:
        rows += _text_rows(f"{column['name']}: description", column.get("description"))
    tests = [test for test in card.get("tests", ()) if path in (None, test.get("column"))]
    rows += [_test_row(row.fqn, test) for test in tests]
    return Answer("rows", tuple(facts), tuple(rows))


def _neighbours(connection: Connection, row: EntityRow, span: Window, *, upstream: bool) -> set[str]:
    edges = reads.neighbours(connection, {row.id}, upstream=upstream, moment=span.moment)
    others = any_rows_of(connection, {edge[0 if upstream else 1] for edge in edges})
    return {other.fqn for other in others.values()}


def _attributes(card: Json) -> Iterator[tuple[str, str]]:
    if card.get("owners"):
        yield "owners", ", ".join(quoted_text(str(one.get("name", one.get("id", "")))) for one in card["owners"])
    if card.get("tags"):
        yield "tags", ", ".join(quoted_text(str(tag)) for tag in card["tags"])


def _column_rows(columns: Iterable[Json]) -> Iterator[Row]:
    for column in columns:
        type_ = quoted_text(str(column.get("dataTypeDisplay") or column.get("dataType") or ""))[1:-1].lower()
        tags = ", ".join(quoted_text(str(tag)) for tag in column.get("tags", ()))
        shown = f" {type_}" if type_ else ""
        yield Row(
            ("column ", Name(column["path"]), shown, f" tags {tags}" if tags else ""),
            ("column", Name(column["path"]), type_, tags),
        )


def _text_rows(title: str, text: str | None) -> Iterator[Row]:
    for line in text_lines(text) if text else ():
        yield Row((f"{quoted_text(title)[1:-1]}| {line}",), ("description", title, line))


def quality(connection: Connection, row: EntityRow | None, span: Window) -> Answer:
    """The tests of the table of a `row` and of all upstream of it (None: of the catalog), those that fail first."""
    tables = _upstream(connection, row.id, span) if row is not None else _tables(connection)
    tests = tests_of(connection, tables, span.moment.as_of)
    names = any_rows_of(connection, set(tests))
    found = [(names[table].fqn, test) for table, listed in tests.items() for test in listed]
    found.sort(key=lambda one: (one[1].get("status") in (None, _PASSED), one[0], one[1]["name"]))
    failing = sum(test.get("status") not in (None, _PASSED) for _, test in found)
    where = (Name(row.fqn), f" and {len(tables) - 1} tables upstream: ") if row is not None else ("the catalog: ",)
    without = len(set(tables) - tests.keys())
    facts = (fact(*where, f"{len(found)} tests, {failing} do not pass; {without} tables have none"),)
    return Answer("tests", facts, tuple(_test_row(name, test) for name, test in found))


def _tables(connection: Connection) -> list[str]:
    listed = select(entities.c.id).where(entities.c.type == "table", entities.c.deleted.is_(False))
    return list(connection.scalars(listed.order_by(entities.c.fqn)))


def _upstream(connection: Connection, start: str, span: Window) -> list[str]:
    seen, frontier = {start: None}, {start}
    while frontier:
        edges = reads.neighbours(connection, frontier, upstream=True, moment=span.moment)
        frontier = {edge[0] for edge in edges} - seen.keys()
        seen |= dict.fromkeys(sorted(frontier))
    return list(seen)


def _test_row(table: str, test: Json) -> Row:
    name = f"{table}.{test['column']}" if test.get("column") else table
    status = quoted_text(str(test.get("status") or "no result yet"))[1:-1].lower()
    at = datetime.fromtimestamp(test["at"] / 1000, UTC).isoformat(timespec="seconds") if "at" in test else ""
    rows = f", {int(test['failedRows'])} rows" if test.get("failedRows") is not None else ""
    return Row(
        (f"test {quoted_text(test['name'])} of ", Name(name), f": {status}{rows}{f' at {at}' if at else ''}"),
        ("test", test["name"], Name(name), status, at),
    )
