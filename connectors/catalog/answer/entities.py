"""What the catalog has under a name, as language models read it."""

from __future__ import annotations

from collections.abc import Iterator

from connectors.catalog.answer.pages import AnswerRows, Row, fact
from connectors.catalog.answer.writing import Name, quoted_text, text_lines
from connectors.catalog.questions.answer import moment_text
from connectors.catalog.questions.entities import EntityDescription, SearchHits, TableContext, TestResult, TestResults


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
    yield fact(f"{len(found.columns)} columns; tables next to it: {sides}; read {around.reads} times")
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
