"""What a catalog has under a name, edges of columns, what a text of SQL reads: in rows, for language models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from connectors.catalog.answer.pages import AnswerRows, NumberedTexts, Row, fact
from connectors.catalog.answer.writing import Name, how_text, quoted_text, text_lines, visible_text, with_verdict
from connectors.catalog.questions.answer import moment_text
from ingestion.model.moments import Unseen, latest_unseen
from ingestion.model.witnesses import Verdict
from ingestion.walk import DIRECT

if TYPE_CHECKING:  # slow to load: who writes one answer needs the question of no other
    from connectors.catalog.questions.entities import (
        EntityDescription,
        SearchHits,
        TableContext,
        TestResult,
        TestResults,
    )
    from connectors.catalog.questions.lineage import CatalogEdge, LineageEdges, Paths, SeenEdge
    from connectors.catalog.questions.sql import ReadEdge, ReadTable, SqlReading, UnresolvedName

# Names, tables and columns, tests.


def search_rows(found: SearchHits) -> AnswerRows:
    """Names, the best first."""
    rows = tuple(Row((f"{one.kind} ", Name(one.name)), (one.kind, Name(one.name))) for one in found.hits)
    if not found.words:
        return AnswerRows("tables", (fact(f"{len(rows)} tables in the catalog"),), rows)
    return AnswerRows("names", (fact(f"{len(rows)} names match"),), rows)


def description_rows(found: EntityDescription) -> AnswerRows:
    """A table's columns, what is written of it, its neighbours and tests; of a column its own."""
    around = found.around
    dropped = ", dropped" if found.dropped else ""
    facts = [fact(Name(found.name), f": {'' if around else 'column of a '}{found.kind}{dropped}")]
    if around is not None:
        facts += _table_facts(found, around)
    rows = list(_column_rows(found))
    if around is not None:
        rows += _text_rows("description", around.description)
        for side, names in (("upstream", around.upstream), ("downstream", around.downstream)):
            rows += [Row((f"{side} ", Name(other)), (side, Name(other))) for other in names]
    for column in found.columns:
        rows += _text_rows(f"{column.name}: description", column.description)
    return AnswerRows("rows", tuple(facts), (*rows, *map(_test_row, found.tests)))


def _table_facts(found: EntityDescription, around: TableContext) -> Iterator[Row]:
    sides = f"{len(around.upstream)} upstream, {len(around.downstream)} downstream"
    often = f"more than {around.reads}" if around.reads_more else around.reads
    yield fact(f"{len(found.columns)} columns; tables next to it: {sides}; read {often} times")
    for title, words in (("owners", around.owners), ("tags", around.tags)):
        if words:
            yield fact(f"{title}: {', '.join(map(quoted_text, words))}")


def _column_rows(found: EntityDescription) -> Iterator[Row]:
    for column in found.columns:
        type_ = quoted_text(column.type)[1:-1].lower()
        tags = ", ".join(map(quoted_text, column.tags))
        yield Row(
            ("column ", Name(column.path), f" {type_}" if type_ else "", f" tags {tags}" if tags else ""),
            ("column", Name(column.path), type_, tags),
        )


def _text_rows(title: str, text: str) -> Iterator[Row]:
    for line in text_lines(text) if text else ():
        yield Row((f"{quoted_text(title)[1:-1]}| {line}",), ("description", title, line))


def quality_rows(found: TestResults) -> AnswerRows:
    """The results of tests, those that do not pass first."""
    failing = sum(not one.passed for one in found.results)
    where = (Name(found.table), f" and {found.tables - 1} tables upstream: ") if found.table else ("the catalog: ",)
    counts = f"{len(found.results)} tests, {failing} do not pass; {found.untested} tables have none"
    return AnswerRows("tests", (fact(*where, counts),), tuple(map(_test_row, found.results)))


def _test_row(test: TestResult) -> Row:
    status = quoted_text(test.status or "no result yet")[1:-1].lower()
    at = "" if test.at is None else moment_text(test.at)
    rows = "" if test.failed_rows is None else f", {test.failed_rows} rows"
    return Row(
        (f"test {quoted_text(test.name)} of ", Name(test.of), f": {status}{rows}{f' at {at}' if at else ''}"),
        ("test", test.name, Name(test.of), status, at),
    )


# Column edges, a line each, with how and by which statements.


def lineage_rows(found: LineageEdges) -> AnswerRows:
    """Tables first, then every column edge, the nearest first; statements follow."""
    texts = NumberedTexts()
    rows = _edge_rows(found.seen, texts)
    distinct = {one.edge: one.tables[::-1] for one in found.seen}
    rows = [*table_rows((tables, edge.type == DIRECT) for edge, tables in distinct.items()), *rows]
    facts = (
        fact(Name(found.name), f": {len(distinct)} edges {found.direction} within {found.hops} hops"),
        fact(f"{found.tables} other tables, {texts.statement_count} statements (their text follows the edges)"),
    )
    return AnswerRows("rows", facts, (*rows, *texts.rows()))


def paths_rows(found: Paths) -> AnswerRows:
    """The edges of the shortest way, then those that lie on any other; statements follow."""
    title = (Name(found.source), " -> ", Name(found.target))
    if not found.hops:
        return AnswerRows("rows", (fact(*title, ": no way is known"),), ())
    texts = NumberedTexts()
    rows = _edge_rows((*found.shortest, *found.others), texts)
    on_shortest = len({one.edge for one in found.shortest})
    facts = (
        fact(*title, f": {found.hops} hops {'of values' if found.strength == DIRECT else 'not all of values'}"),
        fact(f"the first {on_shortest} edges are the shortest way; {len(rows)} edges lie on any"),
    )
    return AnswerRows("rows", facts, (*rows, *texts.rows()))


def table_rows(edges: Iterable[tuple[tuple[str, str], bool]]) -> Iterator[Row]:
    """A row for each pair of a target's table and a source's: of so many edges of columns values flow along some."""
    counts: dict[tuple[str, str], Counter[bool]] = {}
    for tables, direct in edges:
        counts.setdefault(tables, Counter())[direct] += 1
    for (target, source), count in counts.items():
        ends = Name(target), Name(source)
        yield Row(
            ("table ", ends[0], " <- ", ends[1], f": {count[True]} direct, {count[False]} indirect"),
            ("table", *ends, count[True], count[False]),
        )


def _edge_rows(seen: Iterable[SeenEdge], texts: NumberedTexts) -> list[Row]:
    """A row an edge, in the order given; what several statements tell is told once, with all of their numbers."""
    numbers: dict[CatalogEdge, dict[str, None]] = {}
    unseen: dict[CatalogEdge, list[Unseen | None]] = {}
    verdicts: dict[CatalogEdge, Verdict | None] = {}
    for one in seen:
        text = one.view.content.get("sql") or ""
        number = texts.statement(text, one.view.kind, one.view.jobs, one.view.last_seen)
        numbers.setdefault(one.edge, {})[number] = None
        unseen.setdefault(one.edge, []).append(one.unseen)
        verdicts.setdefault(one.edge, one.verdict)
    rows = []
    for edge, seen_in in numbers.items():
        latest = latest_unseen(unseen[edge])
        how = how_text(edge.type, edge.subtype, masking=edge.masking, certain=edge.certain, unseen=latest)
        how = with_verdict(how, verdicts[edge])
        rows.append(texts.edge((edge.target, edge.source), how, edge.expression, " ".join(seen_in)))
    return rows


# A text of SQL beside what the catalog knows of it.


def sql_rows(found: SqlReading) -> AnswerRows:
    """Tables read and written, then the edges of columns, then what is unresolved or not read."""
    texts = NumberedTexts()
    rows = [
        *map(_table_row, found.tables),
        *(_read_edge_row(edge, texts) for edge in found.edges),
        *map(_unresolved_row, found.unresolved),
        *(Row((f"not read: {visible_text(failure)}",), ("not read", failure)) for failure in found.failures),
    ]
    unknown = len({table.name for table in found.tables if table.unknown})
    facts = (
        fact(f"{found.count('reads')} tables read, {found.count('writes')} written, {len(found.edges)} edges"),
        fact(
            f"{unknown} tables are not in the catalog, {len(found.unresolved)} names unresolved, "
            f"{len(found.failures)} statements not read"
        ),
    )
    return AnswerRows("rows", facts, (*rows, *texts.rows()))


def _table_row(table: ReadTable) -> Row:
    why = visible_text(table.unknown)
    return Row((f"{table.role} ", Name(table.name), f" ({why})" if why else ""), (table.role, Name(table.name), why))


def _read_edge_row(edge: ReadEdge, texts: NumberedTexts) -> Row:
    made = edge.made
    how = how_text(made.type, made.subtype, masking=made.masking, certain=made.certain)
    return texts.edge((edge.target, edge.source), how, made.expression)


def _unresolved_row(one: UnresolvedName) -> Row:
    near = ", ".join(one.near)
    hint = visible_text(f"; did you mean {near}?") if near else ""
    return Row((f"unresolved {quoted_text(one.problem)}{hint}",), ("unresolved", one.problem, near))
