"""T-SQL's `EXEC (@sql)` in a script, with the text that its statements have given the variable."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter

from ingestion.dialects import Dialect, dialect_of
from ingestion.dialects.cursor import Code, Edit, with_edits
from ingestion.dialects.definition import Separator
from ingestion.statements._splitting import StatementText
from ingestion.statements.routines._reader import TransactReader, most_of_texts, transact_statements
from ingestion.statements.routines._signature import object_at

_RUNS = re.compile(r"\bexec(?:ute)?\b", re.IGNORECASE)
_GOTO = re.compile(r"\bgoto\b", re.IGNORECASE)


def with_executed_texts(statements: Iterable[StatementText], dialect: str) -> Iterator[StatementText]:
    """The statements of a script with the texts that they run, where these are made of constants.

    A variable lives to the end of its batch, and one of its name in the next batch is declared again. A routine has
    variables of its own.
    """
    rules, script = dialect_of(dialect), tuple(statements)
    if rules.separator is not Separator.GO or not any("@" in one.text and _RUNS.search(one.text) for one in script):
        yield from script
        return
    room = most_of_texts(sum(len(one.text) for one in script))
    for _number, batch in groupby(script, key=attrgetter("batch")):
        reader = TransactReader(Code.of("", rules), room=room)
        yield from _with_texts(tuple(batch), reader, rules)
        room = reader.room


def _with_texts(batch: Sequence[StatementText], reader: TransactReader, rules: Dialect) -> Iterator[StatementText]:
    reader.variables.jumps = any(_GOTO.search(one.text) for one in batch)
    for one in batch:
        reader.code = Code.of(one.text, rules)
        edits = [] if object_at(reader.code) is not None else list(_text_edits(reader))
        yield replace(one, text=with_edits(one.text, edits)) if edits else one


def _text_edits(reader: TransactReader) -> Iterator[Edit]:
    for first, last in transact_statements(reader.code):
        run = reader.run_text(first, last)
        if run is not None:
            yield reader.code.edit(run.first, run.last - 1, run.literal)
        reader.fill(first, last)
