"""Parts of entities that are kept, and answered, apart from them: joins, rows, the tests of a selection."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta

from sqlalchemy import Connection, delete, select
from sqlalchemy.dialects.sqlite import insert as upsert

from connectors.catalog.store.database import dumps, loads
from connectors.catalog.store.entities import columns as columns_of
from connectors.catalog.store.entities import usage
from connectors.catalog.store.entities.entities import any_rows_of, find, reference_of
from connectors.catalog.store.entities.tests import suite_document
from connectors.catalog.store.schema import attachments, entities
from ingestion.model.lineage import Json

JOINS = "joins"
_DAYS = 30
"""How long the contract has it that a join counts."""

ROWS = "sampleData"
TESTS = "tests"

Reader = Callable[[Connection, Json], object]


# Which columns of a table are joined with which others, by day.


def with_joins(kept: Json | None, given: Json) -> Json:
    """What is known of joins with what is `given` of one day: a count of that day takes the place of an earlier one."""
    days: Json = dict(kept or {})
    of_day: Json = dict(days.get(given["startDate"]) or {})
    pairs = [("", one) for one in given.get("directTableJoins") or ()]
    pairs += [(join["columnName"], one) for join in given.get("columnJoins") or () for one in join["joinedWith"]]
    for column, other in pairs:
        of_day[column] = {**of_day.get(column, {}), other["fullyQualifiedName"]: other["joinCount"]}
    days[given["startDate"]] = of_day
    return {day: days[day] for day in sorted(days) if day > _first_day()}


def recent_joins(kept: Json) -> Json:
    """The joins of the last days as a client reads them, the most frequent first."""
    counts: dict[str, dict[str, int]] = {}
    days = [day for day in sorted(kept) if day > _first_day()]
    for day in days:
        for column, others in kept[day].items():
            for name, times in others.items():
                of_column = counts.setdefault(column, {})
                of_column[name] = of_column.get(name, 0) + times
    lists = {
        column: [
            {"fullyQualifiedName": name, "joinCount": times}
            for name, times in sorted(others.items(), key=lambda item: (-item[1], item[0]))
        ]
        for column, others in sorted(counts.items())
    }
    direct = lists.pop("", [])
    columns = [{"columnName": column, "joinedWith": others} for column, others in lists.items()]
    first = days[0] if days else date.today().isoformat()
    return {"startDate": first, "dayCount": _DAYS, "columnJoins": columns, "directTableJoins": direct}


def _first_day() -> str:
    return (date.today() - timedelta(days=_DAYS)).isoformat()


# The parts, each with what keeps and what answers it.


def file_part(connection: Connection, identifier: str, part: str, document: Json) -> None:
    """Keeps a part of an entity instead of what was kept of it."""
    filed = upsert(attachments).values(entity_id=identifier, part=part, document=dumps(document))
    connection.execute(filed.on_conflict_do_update(set_={"document": filed.excluded.document}))


def part(connection: Connection, identifier: str, name: str) -> Json | None:
    """The part of an entity with this `name`, None when there is none."""
    where = (attachments.c.entity_id == identifier, attachments.c.part == name)
    text = connection.scalar(select(attachments.c.document).where(*where))
    return None if text is None else loads(text)


def remove_part(connection: Connection, identifier: str, name: str) -> None:
    """Keeps the part of an entity with this `name` no longer."""
    where = (attachments.c.entity_id == identifier, attachments.c.part == name)
    connection.execute(delete(attachments).where(*where))


def attach(connection: Connection, type_: str, documents: Sequence[Json], fields: str) -> list[Json]:
    """The answers of entities of a type with the parts that `fields` (names with commas, `*`: all) asks for."""
    wanted = {one.strip() for one in fields.split(",")}
    readers = {name: read for name, read in _PARTS.get(type_, {}).items() if wanted & {name, "*"}}
    answers = [_with_tags(one) for one in documents] if wanted & {"tags", "*"} else documents
    return [{**one, **_read(connection, one, readers)} for one in answers]


def _with_tags(document: Json) -> Json:
    """With an empty list on each column that bears no tag: clients add to the list that they find."""
    columns = columns_of.of_document(document)
    return columns_of.with_columns(document, [_column_with_tags(one) for one in columns]) if columns else document


def _column_with_tags(column: Json) -> Json:
    children = {"children": [_column_with_tags(one) for one in column["children"]]} if column.get("children") else {}
    return {"tags": [], **column, **children}


def _read(connection: Connection, document: Json, readers: Mapping[str, Reader]) -> Json:
    found = {name: read(connection, document) for name, read in readers.items()}
    return {name: value for name, value in found.items() if value is not None}


def _usage(connection: Connection, document: Json) -> object:
    return usage.summary(connection, any_rows_of(connection, {document["id"]})[document["id"]])


def _joins(connection: Connection, document: Json) -> object:
    kept = part(connection, document["id"], JOINS)
    return None if kept is None else recent_joins(kept)


def _suite(connection: Connection, document: Json) -> object:
    row = find(connection, "testSuite", suite_document(document["fullyQualifiedName"])["fullyQualifiedName"])
    return None if row is None else reference_of(row)


def _tests(connection: Connection, document: Json) -> object:
    tested = document.get("basicEntityReference")
    if tested is not None:
        where = (entities.c.parent_id == tested["id"], entities.c.type == "testCase", entities.c.deleted.is_(False))
        rows = connection.execute(select(entities).where(*where).order_by(entities.c.fqn)).all()
        return [reference_of(row) for row in rows]
    chosen = (part(connection, document["id"], TESTS) or {}).get("ids", [])
    rows_by_id = any_rows_of(connection, set(chosen))
    return [reference_of(rows_by_id[one]) for one in chosen if one in rows_by_id and not rows_by_id[one].deleted]


def _children(connection: Connection, document: Json) -> object:
    where = (entities.c.parent_id == document["id"], entities.c.deleted.is_(False))
    rows = connection.execute(select(entities).where(*where).order_by(entities.c.fqn)).all()
    return [reference_of(row) for row in rows]


_PARTS: Mapping[str, Mapping[str, Reader]] = {
    **{kind: {"usageSummary": _usage} for kind in (*usage.COUNTED, *usage.SUMMED)},
    "table": {"usageSummary": _usage, "joins": _joins, "testSuite": _suite},
    "testSuite": {TESTS: _tests},
    "container": {"children": _children},
    "tag": {"children": _children},
    "domain": {"children": _children},
}
"""What is answered besides an entity's document where a client asks for it; rows have a call of their own."""
