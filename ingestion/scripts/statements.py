"""SQL files as people keep them: one statement, a script, routines, a lone query that stands for a model, a dbt
model.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ingestion.analysis.form import RelationalStatement
from ingestion.analysis.symbolic import dumps, loads
from ingestion.dialects import Dialect
from ingestion.dialects.cursor import Code
from ingestion.dialects.unfilled_templates import template_in_quotes, template_in_script
from ingestion.errors import Templated, Unparsable
from ingestion.model.lineage import StatementKind
from ingestion.model.namespaces import Namespace
from ingestion.model.outcomes import Outcome
from ingestion.parsing.parser_pool import warm_parser
from ingestion.parsing.sandbox.protocol import ILL_FORMED
from ingestion.parsing.tiers import ParseOutcome, ParseRequest, Tier
from ingestion.scripts.connector_tables import with_locations
from ingestion.scripts.unfollowed_changes import defined_routines, is_misspelt_definition
from ingestion.statements import StatementText, classify, split
from ingestion.statements.classification import BLOCKS, Classification
from ingestion.statements.emptied_tables import emptied_table, is_straight
from ingestion.statements.inner_queries import prepared_text
from ingestion.statements.routines.bodies import (
    WrittenRows,
    block_steps,
    calling_triggers,
    routines_in,
    rows_of_triggers,
    steps_of_call,
    template_in_schedule,
    with_names_of_all,
)
from ingestion.statements.routines.definition import quote_name
from ingestion.statements.routines.inline_functions import FunctionView, as_function, function_as_view
from ingestion.statements.routines.session_variables import with_variables
from ingestion.statements.routines.steps import RoutineStep, called_routine, may_move_rows
from ingestion.statements.sessions import Session, may_change

_TEXT = r"(?:'([^'\\]*)'|\"([^\"\\]*)\")"
_OPEN, _CLOSE = r"\{\{-?\s*", r"\s*-?\}\}"
_REF = re.compile(
    rf"{_OPEN}ref\(\s*{_TEXT}(?:\s*,\s*{_TEXT})?(?:\s*,\s*v(?:ersion)?\s*=\s*['\"]?(\w+)['\"]?)?\s*\){_CLOSE}"
)
_SOURCE = re.compile(rf"{_OPEN}source\(\s*{_TEXT}\s*,\s*{_TEXT}\s*\){_CLOSE}")
_THIS = re.compile(rf"{_OPEN}this{_CLOSE}")
_CONFIG = re.compile(rf"{_OPEN}config\s*\((?:[^{{}}]|\{{[^{{}}]*\}})*\){_CLOSE}")
_COMMENT = re.compile(r"(?<![\"'`])\{#(?:[\s\S]*?#\}|(?P<open>[\s\S]*+))")
_CONDITION = re.compile(r"\{%-?\s*(?:if\s[^%]*|endif\s*-?)%\}")
_PLAIN = re.compile(r"[A-Za-z_]\w*")

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OPENED_IN = re.compile(r"(opened in line )(\d+)")
_WITHOUT_LINEAGE = frozenset(
    {
        Outcome.CALL,
        Outcome.COMMENT,
        Outcome.CURSOR,
        Outcome.DDL_OTHER,
        Outcome.EMPTY,
        Outcome.EXPLAIN,
        Outcome.FILE_TRANSFER,
        Outcome.GRANT,
        Outcome.INDEX,
        Outcome.LOCK,
        Outcome.MAINTENANCE,
        Outcome.SESSION_SETTING,
        Outcome.SESSION_STATE,
        Outcome.SHOW,
        Outcome.TRANSACTION,
        Outcome.TRUNCATE,
        Outcome.VARIABLE,
    }
)
"""What a parser need not understand: such a statement neither moves data nor makes a relation."""
_RUN_BY_THEMSELVES = frozenset({"task", "alert"})
"""What the engine runs on its own, so that no other statement need tell what it calls."""
NO_SESSION = Session()
"""One of which nothing is known yet: names are as they are written."""
_MAKING_OTHERS = ("drop", "replace", "truncate", "delete")
# T-SQL's SET ROWCOUNT 5 leaves all rows but five; FROM t AT (OFFSET => -60) reads what a table held before.
_ROWS_STAY = re.compile(r"\bset\s++rowcount\b|\b(?:at|before)\s*+\(|\bas\s++of\b", re.IGNORECASE)
_LONE_QUERY = re.compile(r"[\s(]*+(select|with|from|values)\b", re.IGNORECASE)


# dbt models as they are written: their references as names, without what only dbt reads.


def without_templates(text: str, model: str) -> str:
    """The text of the dbt model `model` with ref, source and this as names, on the same lines.

    config, comments and the tags of if go, what stands under an if stays. Other templates stay as they are, for what
    they would become is not known: a parser refuses the statement then.
    """
    if "{{" not in text and "{%" not in text and "{#" not in text:
        return text
    for gone in (_COMMENT, _CONFIG, _CONDITION):
        text = gone.sub(_line_ends, text)
    text = _REF.sub(_reference, text)
    text = _SOURCE.sub(lambda match: ".".join(_texts(match)) if _are_plain(match) else match.group(), text)
    return _THIS.sub(model, text) if _PLAIN.fullmatch(model) else text


def _line_ends(match: re.Match[str]) -> str:
    if match.lastgroup == "open":
        return match.group()
    return "\n" * match.group().count("\n") or " "


def _reference(match: re.Match[str]) -> str:
    if not _are_plain(match):
        return match.group()
    version = match.group(5)
    return _texts(match)[-1] + (f"_v{version}" if version else "")


def _texts(match: re.Match[str]) -> list[str]:
    return [text for text in match.groups()[:4] if text is not None]


def _are_plain(match: re.Match[str]) -> bool:
    return all(_PLAIN.fullmatch(text) for text in _texts(match))


# SQL files as people keep them: one statement, a script, routines, or a lone query that stands for a model.


def lone_query_as_view(text: str, name: str, dialect: Dialect) -> str:
    """A lone query as the definition of the view `name`, on the same lines; any other text as it is.

    Of a dbt model the references are names (`without_templates`).
    """
    text = without_templates(text, name)
    statements = split(text, dialect.name)
    if len(statements) != 1 or not _LONE_QUERY.match(statements[0].text):
        return text
    view = name if _PLAIN_NAME.fullmatch(name) else quote_name(name, dialect)
    above = "\n" * (statements[0].line - 1)
    return f"{above}CREATE VIEW {view} AS {statements[0].text}"


@dataclass(frozen=True, slots=True)
class ScriptStatement:
    """A statement to parse and the line (from 1) it begins on; without a text, `problem` says why it has none.

    `column` (from 1) is where in that line the very text stands, 0 where the script does not have it like that.
    `function`: the view as which a function is read, whose text it is. `calls`: the routine that it runs, and that the
    script does not define: what that does is not known. `namespace`: where its names are looked for. `found`: what its
    text does, kept as many are split before the first is parsed. `in_order`: it surely runs once, where it stands.
    `empties`: the name of the table that it leaves without a row.
    """

    line: int
    text: str = ""
    problem: str = ""
    column: int = 0
    function: FunctionView | None = None
    calls: tuple[str, ...] = ()
    namespace: Namespace = field(default_factory=Namespace)
    found: Classification | None = field(default=None, compare=False)
    in_order: bool = field(default=False, compare=False)
    empties: tuple[str, ...] = field(default=(), compare=False)

    @property
    def unread_call(self) -> str:
        """Why it is not known what it runs, "" where it runs nothing else."""
        if not self.calls:
            return ""
        verb = f"{self.text.split(None, 1)[0].upper()} runs" if self.text else "is called here"
        return f"what {verb} is not known"


@dataclass(frozen=True, slots=True)
class TextParts:
    """The lines (from 1) at which the files begin that a text was put together of, each with a session of its own.

    `given`: the first of them tells what stood before the others, which know its tables by any end of their names.
    """

    begins: tuple[int, ...] = ()
    given: bool = False


ONE_TEXT = TextParts()


def script_statements(
    script: str, dialect: Dialect, first: Session = NO_SESSION, parts: TextParts = ONE_TEXT
) -> Iterator[ScriptStatement]:
    """The statements of a script; of a block, a script with control flow or a routine's definition those in it.

    Its session is the `first`, and that of each of its parts begins so.
    """
    end, session, waiting = 0, first, deque(sorted(parts.begins))
    if dialect.connector_tables:
        script = with_locations(script, dialect)
    written = split(script, dialect.name)
    definitions = _Definitions.of(written, dialect)
    defined = defined_routines(script)
    straight = len(written) > 1 and _replaces_in_order(script)
    empties_all = straight and _ROWS_STAY.search(script) is None
    for as_written, statement in zip(written, with_variables(written, dialect.name), strict=True):
        start = script.find(as_written.text, end)
        column = start - script.rfind("\n", 0, start) if start >= 0 else 0
        end = max(end, start + len(as_written.text))
        while waiting and waiting[0] <= statement.line:
            waiting.popleft()
            session = first
        try:
            view = function_as_view(statement.text, dialect.name)
            steps = tuple(_steps(statement.text, dialect, definitions)) if view is None else (RoutineStep(view.text),)
            inner, session = _sessions(statement.text, steps, session, dialect)
        except Exception as error:  # noqa: BLE001 the statement's boundary: what it fails on costs it alone
            yield ScriptStatement(statement.line, problem=f"internal_error:{type(error).__name__}")
            continue
        for step, namespace in zip(steps, inner, strict=True):
            calls = _unknown_routine(step, dialect, defined)
            if step.problem or step.text or calls:
                line, text, problem = _readable(statement, step, dialect)
                at = column if step.text == statement.text else 0
                found, in_order = classify(text, dialect), straight and at > 0
                empties = emptied_table(text, dialect) if empties_all and in_order else ()
                yield ScriptStatement(line, text, problem, at, view, calls, namespace, found, in_order, empties)


def _replaces_in_order(script: str) -> bool:
    """Whether a script may make or fill anew what it made, which nobody asks of others, and in the order it has."""
    lowered = script.lower()
    return any(verb in lowered for verb in _MAKING_OTHERS) and is_straight(script)


def _sessions(
    text: str, steps: Sequence[RoutineStep], session: Session, dialect: Dialect
) -> tuple[list[Namespace], Session]:
    """Where the names of each step of a statement are looked for, and the session after the statement.

    Whether a USE in a block is reached is not known, nor before which of its steps: names are as they are written then,
    in the block and after it. What a routine has of that holds for its body alone. Where tables stand for what is
    elsewhere, `with_locations` has followed USE, and has put names in that no session is asked for.
    """
    if dialect.connector_tables:
        return [session.namespace] * len(steps), session
    inner, reason = session, classify(text, dialect).skip_reason
    if (reason in BLOCKS or reason is Outcome.ROUTINE_DEFINITION) and may_change(text, dialect):
        inner = session.into_unknown(f"{text} {session.namespace}", only_schemas=dialect.two_level)
    if reason not in BLOCKS:
        return [inner.namespace] * len(steps), session.after(text, dialect)
    return [inner.namespace] * len(steps), inner if may_change(text, dialect, after=True) else session


def _readable(statement: StatementText, step: RoutineStep, dialect: Dialect) -> tuple[int, str, str]:
    """The line of a step, its text, and why it has none: nobody has filled a template in it."""
    template = template_in_script(step.text, dialect)
    if template is None or _is_without_lineage(step.text, dialect):
        return statement.line, step.text, step.problem
    below = template.line - 1 if step.text == statement.text else 0  # a step's own lines are not the script's
    return statement.line + below, "", f"{Templated.code}: {template.expression}"


_Script = Sequence[ScriptStatement]


def parse_script_statements(found: _Script, dialect: Dialect, timeout_seconds: float) -> list[ParseOutcome]:
    """What became of each statement; `timeout_seconds` is for each parser on one statement.

    One without lineage that no parser takes is not dead: there is nothing to miss.
    """
    ((_, outcomes),) = parse_scripts((found,), dialect, timeout_seconds)
    return outcomes


def parse_scripts(
    scripts: Iterable[_Script], dialect: Dialect, timeout_seconds: float
) -> Iterator[tuple[_Script, list[ParseOutcome]]]:
    """Each script, in order, with what became of each of its statements, as of `parse_script_statements`.

    Scripts are taken some chunks ahead of what is given, which are parsed meanwhile.
    """
    ahead: deque[tuple[_Script, int]] = deque()
    parsed: list[ParseOutcome] = []
    raised: list[Exception] = []
    asked = _requests(_until_error(scripts, raised), dialect, ahead)
    for outcome in warm_parser(timeout_seconds).parse_in_order(asked):
        while len(parsed) == ahead[0][1]:  # of the ones that have no text too
            yield _parsed_script(ahead.popleft()[0], parsed, dialect)
            parsed = []
        parsed.append(outcome)
    for script, _ in ahead:
        yield _parsed_script(script, parsed, dialect)
        parsed = []
    if raised:
        raise raised[0]


def _until_error(scripts: Iterable[_Script], raised: list[Exception]) -> Iterator[_Script]:
    """The scripts that there are before whoever gives them fails, whose error is `raised` behind what they tell."""
    try:
        yield from scripts
    except Exception as error:  # noqa: BLE001 it is raised again
        raised.append(error)


def _requests(
    scripts: Iterable[_Script], dialect: Dialect, ahead: deque[tuple[_Script, int]]
) -> Iterator[ParseRequest]:
    """What the parsers are asked of scripts; each is put `ahead` of what it asks, with how much that is."""
    for script in scripts:
        asked = [
            ParseRequest(str(number), statement.text, dialect.name)
            for number, statement in enumerate(script)
            if statement.text
        ]
        ahead.append((script, len(asked)))
        yield from asked


def _parsed_script(
    script: _Script, parsed: Sequence[ParseOutcome], dialect: Dialect
) -> tuple[_Script, list[ParseOutcome]]:
    outcomes = {outcome.key: outcome for outcome in parsed}
    return script, [_outcome(one, outcomes.get(str(number)), dialect) for number, one in enumerate(script)]


def _outcome(statement: ScriptStatement, parsed: ParseOutcome | None, dialect: Dialect) -> ParseOutcome:
    if parsed is None:
        return ParseOutcome("", None, None, dead_reason=statement.problem)
    if statement.column and is_misspelt_definition(statement.text, dialect):
        return replace(parsed, symbolic=None, dead_reason=Outcome.UNKNOWN_VERB)
    found = statement.found or classify(statement.text, dialect)
    if _makes_no_relation(statement.text, dialect, found):
        return replace(parsed, symbolic=None, dead_reason=None)
    computes = statement.function is not None and not statement.function.reads
    if parsed.dead_reason and (computes or found.skip_reason in _WITHOUT_LINEAGE):
        return replace(parsed, dead_reason=None)
    if parsed.dead_reason == Templated.code and (template := template_in_quotes(statement.text, dialect)) is not None:
        return replace(parsed, dead_reason=f"{Templated.code}: {template.expression}")
    if statement.column and not parsed.dead_reason and _is_no_statement(found, parsed):
        return replace(parsed, symbolic=None, dead_reason=Outcome.UNKNOWN_VERB)
    if statement.function is not None and parsed.symbolic is not None:
        given = statement.function.given if parsed.tier is Tier.SQLGLOT else None
        return replace(parsed, symbolic=dumps(as_function(loads(parsed.symbolic), given)))
    return parsed


def _makes_no_relation(text: str, dialect: Dialect, found: Classification) -> bool:
    """Whether it makes something else, which parsers take for a table.

    CREATE BLOOMFILTER INDEX ON TABLE t makes no t, and CREATE DATABASE b CLONE a reads no table a.
    """
    reason = found.skip_reason
    return reason is Outcome.INDEX or (reason is Outcome.DDL_OTHER and Code.of(text, dialect).word(0) == "create")


def _is_no_statement(found: Classification, parsed: ParseOutcome) -> bool:
    """Whether a text begins with no verb that is known, and says nothing.

    To sqlglot `selec a` is a name with an alias. No engine has run a script that is only read, as it has what stands
    in a log: a mistyped word is likelier here than a statement of which no parser knows.
    """
    if found.kind is not StatementKind.OTHER or found.skip_reason is not None or parsed.symbolic is None:
        return False
    lineage = loads(parsed.symbolic)
    return isinstance(lineage, RelationalStatement) and not (lineage.writes or lineage.changes)


def failure_text(statement: ScriptStatement, reason: str, outcome: ParseOutcome) -> str:
    """Where and why a statement could not be read: `line 2, column 31: unparsable: sqlglot: expecting ) at SELECT`.

    The place is where the parser stopped, as far as it is known; the words are the first parser's, without a literal.
    """
    if reason.startswith(ILL_FORMED):
        # what is wrong is told by the line of the statement, not of the script
        return (
            f"line {statement.line}: {_OPENED_IN.sub(lambda at: f'{at[1]}{int(at[2]) + statement.line - 1}', reason)}"
        )
    first = next(iter(outcome.attempts), None)
    if reason != Unparsable.code or first is None or not first.detail or first.reason != Unparsable.code:
        return f"line {statement.line}: {reason}"
    words = f"{reason}: {first.tier}: {first.detail}"
    if not (first.line and statement.column):
        return f"line {statement.line}: {words}"
    column = first.column + (statement.column - 1 if first.line == 1 else 0)
    return f"line {statement.line + first.line - 1}, column {column}: {words}"


def _is_without_lineage(text: str, dialect: Dialect) -> bool:
    return classify(text, dialect).skip_reason in _WITHOUT_LINEAGE


@dataclass(frozen=True, slots=True)
class _Definitions:
    """The statements of a script, and by function the rows of the triggers among them that name all of them."""

    statements: Sequence[StatementText] = ()
    triggers: Mapping[str, tuple[WrittenRows, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, statements: Sequence[StatementText], dialect: Dialect) -> _Definitions:
        """The definitions of a script."""
        texts = (statement.text for statement in statements)
        return cls(statements, rows_of_triggers(calling_triggers(texts, dialect)))


def _steps(text: str, dialect: Dialect, script: _Definitions = _Definitions()) -> Iterator[RoutineStep]:
    reason = classify(text, dialect).skip_reason
    if reason in BLOCKS:
        steps = block_steps(text, dialect)
        for step in steps:
            yield from _steps_of_made(step, dialect)
        if reason is Outcome.DYNAMIC_SQL and not steps:
            yield RoutineStep(problem=reason)
        return
    if reason is Outcome.PREPARE and (prepared := prepared_text(text, dialect)) is not None:
        # it is read where it stands, as a routine is where it is defined: EXECUTE names it, and has no text
        yield RoutineStep(prepared) if prepared else RoutineStep(problem=Outcome.DYNAMIC_SQL)
        return
    if reason is Outcome.ROUTINE_DEFINITION and (left := template_in_schedule(text, dialect)) is not None:
        yield RoutineStep(problem=f"{Templated.code}: {left.expression}")
        return
    routines = routines_in(text, dialect) if reason is Outcome.ROUTINE_DEFINITION else ()
    if not routines:
        event = _function_of_event(text, dialect) if reason is Outcome.ROUTINE_DEFINITION else ()
        yield RoutineStep(calls=event) if event else RoutineStep(text)
    for routine in routines:
        for step in routine.steps:
            if step.calls and routine.kind in _RUN_BY_THEMSELVES:
                yield step
            elif step.calls:  # what a procedure calls is run where that is called, and what a trigger calls by itself
                yield from _steps_of_trigger(step, routine.of, dialect, script) if routine.of is not None else ()
            elif classify(step.text, dialect).skip_reason is not Outcome.SELECT:
                yield from _steps_of_made(step, dialect)


def _steps_of_trigger(
    step: RoutineStep, of: WrittenRows, dialect: Dialect, script: _Definitions
) -> Iterator[RoutineStep]:
    """What the function that a trigger runs does for its rows, by its last definition in the script; else the call."""
    of = with_names_of_all(of, script.triggers.get(step.calls[-1], ()), dialect)
    found = (steps_of_call(step.calls, statement.text, dialect, of) for statement in reversed(script.statements))
    done = next((steps for steps in found if steps is not None), (step,))
    for one in done:
        yield from _steps_of_made(one, dialect)


def _function_of_event(text: str, dialect: Dialect) -> tuple[str, ...]:
    """The function of CREATE EVENT TRIGGER e ON ddl_command_end EXECUTE FUNCTION f(), () of other definitions.

    It runs when something is defined, for no rows of a table: what it does is read where the function is defined.
    """
    code = Code.of(text, dialect)
    if code.words(0, 3) != ("create", "event", "trigger"):
        return ()
    index = code.find(3, frozenset({"execute"})) + 1
    return code.dotted_name(index + (code.word(index) in ("function", "procedure")))[0]


def _unknown_routine(step: RoutineStep, dialect: Dialect, defined: Collection[str]) -> tuple[str, ...]:
    """The routine that a step runs and the script does not define; of one that moves no rows, none."""
    called = step.calls
    if step.text and classify(step.text, dialect).skip_reason is Outcome.CALL:
        called = called_routine(step.text, dialect) or ("?",)
    if not called or called[-1].lower() in defined or not may_move_rows(called, dialect):
        return ()
    return called


def _steps_of_made(step: RoutineStep, dialect: Dialect) -> Iterator[RoutineStep]:
    """A step; of a routine that it makes, as EXECUTE IMMEDIATE 'CREATE PROCEDURE …' does, the steps of that."""
    made = bool(step.text) and classify(step.text, dialect).skip_reason is Outcome.ROUTINE_DEFINITION
    yield from _steps(step.text, dialect) if made else (step,)
