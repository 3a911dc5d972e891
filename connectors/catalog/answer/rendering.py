"""How the answers to a question are written: as lines for people, JSON, Markdown, a table, or pages of a budget."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from connectors.catalog.answer.pages import DEFAULT_BUDGET, AnswerRows
from connectors.catalog.questions.answer import Answer
from ingestion.model.lineage import Json

Content = TypeVar("Content")


@dataclass(frozen=True, slots=True)
class Renderings(Generic[Content]):
    """What differs between questions: how the content of one answer becomes lines, JSON, rows.

    None are those that no command asks for. A `table` begins with the names of its columns. With `states_truncation`
    JSON has `truncated` also where nothing is missing.
    """

    lines: Callable[[Content], Iterable[str]]
    document: Callable[[Content], Json]
    rows: Callable[[Content], AnswerRows] | None = None
    markdown: Callable[[Content], str] | None = None
    table: Callable[[Content], Iterable[Sequence[str | int]]] | None = None
    states_truncation: bool = False


def render(answer: Answer[Content], how: Renderings[Content], form: str) -> str:
    """An answer as lines (`tree`, `text`), `json`, `markdown` or `csv`, with what is missing from it.

    A table has no room beside its rows: there it is told in rows of one cell.
    """
    if form == "json":
        return f"{json.dumps(document(answer, how), indent=2, ensure_ascii=False)}\n"
    notes = [f"note: {one}" for one in answer.cut]
    if form == "markdown" and how.markdown is not None:
        return how.markdown(answer.content) + "".join(f"\n{note}\n" for note in notes)
    if form == "csv" and how.table is not None:
        text = io.StringIO()
        csv.writer(text).writerows([*how.table(answer.content), *([note] for note in notes)])
        return text.getvalue()
    return "".join(f"{line}\n" for line in (*how.lines(answer.content), *notes))


def document(answer: Answer[Content], how: Renderings[Content]) -> Json:
    """An answer as JSON: `truncated` tells whether something is missing from it."""
    truncation = {"truncated": bool(answer.cut)} if answer.cut or how.states_truncation else {}
    return {**how.document(answer.content), **truncation}


def render_page(answer: Answer[Content], how: Renderings[Content], budget: int | None, cursor: str | None) -> str:
    """The page of an answer that begins at the cursor, in `budget` tokens (None: the usual number).

    Raises ConfigError for a budget in which nothing has room, and for a cursor of another answer.
    """
    assert how.rows is not None
    rows = in_rows(answer, how.rows)
    return rows.page(DEFAULT_BUDGET if budget is None else budget, cursor).text


def in_rows(answer: Answer[Content], rows: Callable[[Content], AnswerRows]) -> AnswerRows:
    """An answer in rows, for pages of a budget, with what is missing from it among the notes."""
    found = rows(answer.content)
    return replace(found, notes=(*found.notes, *answer.cut))
