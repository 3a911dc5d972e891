"""Which routine a statement runs: CALL, EXEC, EXECUTE TASK, PostgreSQL's SELECT of a function alone."""

from __future__ import annotations

from itertools import islice

from ingestion.dialect_rules import DollarQuotes, Separator
from ingestion.dialects import Dialect, dialect_of
from ingestion.lexing import tokens
from ingestion.routines.steps import Code

_HEAD = 40
_VERBS = frozenset({"call", "exec", "execute", "select", "perform"})
_NO_ROUTINES = frozenset({"sp_executesql", "sp_rename", "immediate"})


def called_routine(text: str, dialect: Dialect | str) -> tuple[str, ...]:
    """The name of the routine that a statement runs, folded as the dialect folds; empty where it runs none."""
    rules = dialect_of(dialect) if isinstance(dialect, str) else dialect
    code = Code(text, tuple(islice(tokens(text, rules), _HEAD)), rules)
    if rules.separator is Separator.GO and code.word(0) not in _VERBS:  # T-SQL runs what a batch begins with
        return _executed(code, 0)
    return routine_called_at(code, 0)


def routine_called_at(code: Code, place: int) -> tuple[str, ...]:
    """The routine that the statement starting at a token runs."""
    verb = code.word(place)
    if verb == "call":
        return code.dotted(place + 1)[0]
    if verb in ("exec", "execute"):
        return _executed(code, place + 1)
    if verb in ("select", "perform"):
        return _selected(code, place + 1)
    return ()


def _executed(code: Code, place: int) -> tuple[str, ...]:
    """T-SQL's EXEC [@status =] name; Snowflake's EXECUTE TASK name; Oracle's EXEC name."""
    if code.word(place) in ("task", "procedure"):
        place += 1
    if code.word(place).startswith("@") and code.word(place + 1) == "=":
        place += 2
    if code.word(place)[:1] in ("@", "("):
        return ()
    name, after = code.dotted(place)
    return () if not name or name[-1].lower() in _NO_ROUTINES or code.word(after) == "=" else name


def _selected(code: Code, place: int) -> tuple[str, ...]:
    """SELECT f(...) with nothing else: how PostgreSQL runs a function for what it does."""
    if code.dialect.dollar_quotes is not DollarQuotes.TAGGED:
        return ()
    if code.words(place, 2) == ("*", "from"):
        place += 2
    name, after = code.dotted(place)
    if not name or code.word(after) != "(":
        return ()
    closing = code.closing(after)
    return name if code.word(closing + 1) in ("", ";") and closing < len(code.tokens) else ()
