"""SQL files as people keep them: one statement, a script, routines, or a lone query that stands for a model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ingestion.dialects import Dialect
from ingestion.errors import Templated, Unparsable
from ingestion.lexing.templates import template_in_code, template_in_quotes
from ingestion.parsing.parser_pool import ParseOutcome, ParseRequest
from ingestion.parsing.sandbox.protocol import ILL_FORMED
from ingestion.parsing.shared_pool import warm_parser
from ingestion.routines import RoutineStep, block_steps, routines_in
from ingestion.routines.definition import quote_name
from ingestion.scripts.dbt_templates import without_templates
from ingestion.statements import SkipReason, StatementText, classify, split
from ingestion.statements.skip_reasons import BLOCKS

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OPENED_IN = re.compile(r"(opened in line )(\d+)")
_WITHOUT_LINEAGE = frozenset(
    {
        SkipReason.COMMENT,
        SkipReason.CURSOR,
        SkipReason.DDL_OTHER,
        SkipReason.EMPTY,
        SkipReason.FILE_TRANSFER,
        SkipReason.GRANT,
        SkipReason.INDEX,
        SkipReason.LOCK,
        SkipReason.MAINTENANCE,
        SkipReason.SESSION_SETTING,
        SkipReason.SESSION_STATE,
        SkipReason.SHOW,
        SkipReason.TRANSACTION,
        SkipReason.TRUNCATE,
        SkipReason.VARIABLE,
    }
)
"""What a parser need not understand: such a statement neither moves data nor makes a relation."""
_LONE_QUERY = re.compile(r"[\s(]*+(select|with|from|values)\b", re.IGNORECASE)


def lone_query_as_view(text: str, name: str, dialect: Dialect) -> str:
    """A lone query as the definition of the view `name`, on the same lines; any other text as it is.

    Of a dbt model the references are names (`ingestion.scripts.dbt_templates`).
    """
    text = without_templates(text, name)
    statements = split(text, dialect.name)
    if len(statements) != 1 or not _LONE_QUERY.match(statements[0].text):
        return text
    view = name if _PLAIN_NAME.fullmatch(name) else quote_name(name, dialect)
    above = "\n" * (statements[0].line - 1)
    return f"{above}CREATE VIEW {view} AS {statements[0].text}"


@dataclass(frozen=True, slots=True)
class Piece:
    """A statement to parse and the line (from 1) it begins on; without a text, `problem` says why it has none.

    `column` (from 1) is where in that line the very text stands, 0 where the script does not have it like that.
    """

    line: int
    text: str = ""
    problem: str = ""
    column: int = 0


def pieces(script: str, dialect: Dialect) -> Iterator[Piece]:
    """The statements of a script; of a block, a script with control flow or a routine's definition those in it."""
    end = 0
    for statement in split(script, dialect.name):
        start = script.find(statement.text, end)
        column = start - script.rfind("\n", 0, start) if start >= 0 else 0
        end = max(end, start + len(statement.text))
        try:
            steps = tuple(_steps(statement.text, dialect))
        except Exception as error:  # noqa: BLE001 the statement's boundary: what it fails on costs it alone
            yield Piece(statement.line, problem=f"internal_error:{type(error).__name__}")
            continue
        for step in steps:
            if step.problem or step.text:
                piece = _piece(statement, step, dialect)
                yield replace(piece, column=column) if step.text == statement.text else piece


def _piece(statement: StatementText, step: RoutineStep, dialect: Dialect) -> Piece:
    template = template_in_code(step.text, dialect)
    if template is None or _is_without_lineage(step.text, dialect):
        return Piece(statement.line, step.text, step.problem)
    below = template.line - 1 if step.text == statement.text else 0  # a step's own lines are not the script's
    return Piece(statement.line + below, problem=f"{Templated.code}: {template.expression}")


def parse_pieces(found: Sequence[Piece], dialect: Dialect, timeout_seconds: float) -> list[ParseOutcome]:
    """What became of each piece; `timeout_seconds` is for each parser on one piece.

    One without lineage that no parser takes is not dead: there is nothing to miss.
    """
    requests = [ParseRequest(str(number), piece.text, dialect.name) for number, piece in enumerate(found) if piece.text]
    outcomes = {outcome.key: outcome for outcome in warm_parser(timeout_seconds).parse(requests)}
    return [_outcome(piece, outcomes.get(str(number)), dialect) for number, piece in enumerate(found)]


def _outcome(piece: Piece, parsed: ParseOutcome | None, dialect: Dialect) -> ParseOutcome:
    if parsed is None:
        return ParseOutcome("", None, None, dead_reason=piece.problem)
    if parsed.dead_reason == Templated.code and (template := template_in_quotes(piece.text, dialect)) is not None:
        return replace(parsed, dead_reason=f"{Templated.code}: {template.expression}")
    if parsed.dead_reason and _is_without_lineage(piece.text, dialect):
        return replace(parsed, dead_reason=None)
    return parsed


def failure_text(piece: Piece, reason: str, outcome: ParseOutcome) -> str:
    """Where and why a piece could not be read: `line 2, column 31: unparsable: sqlglot: expecting ) at SELECT`.

    The place is where the parser stopped, as far as it is known; the words are the first parser's, without a literal.
    """
    if reason.startswith(ILL_FORMED):
        # what is wrong is told by the line of the statement, not of the script
        return f"line {piece.line}: {_OPENED_IN.sub(lambda at: f'{at[1]}{int(at[2]) + piece.line - 1}', reason)}"
    first = next(iter(outcome.attempts), None)
    if reason != Unparsable.code or first is None or not first.detail or first.reason != Unparsable.code:
        return f"line {piece.line}: {reason}"
    words = f"{reason}: {first.tier}: {first.detail}"
    if not (first.line and piece.column):
        return f"line {piece.line}: {words}"
    column = first.column + (piece.column - 1 if first.line == 1 else 0)
    return f"line {piece.line + first.line - 1}, column {column}: {words}"


def _is_without_lineage(text: str, dialect: Dialect) -> bool:
    return classify(text, dialect).skip_reason in _WITHOUT_LINEAGE


def _steps(text: str, dialect: Dialect) -> Iterator[RoutineStep]:
    reason = classify(text, dialect).skip_reason
    if reason in BLOCKS:
        yield from block_steps(text, dialect)
        return
    routines = routines_in(text, dialect) if reason is SkipReason.ROUTINE_DEFINITION else ()
    if not routines:
        yield RoutineStep(text)
    for routine in routines:
        yield from (step for step in routine.steps if classify(step.text, dialect).skip_reason is not SkipReason.SELECT)
