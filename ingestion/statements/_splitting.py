"""A script's statements, ended where the script's dialect ends them: blocks, T-SQL's missing separators, SQL*Plus."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice

from ingestion.dialects import dialect_of
from ingestion.dialects.definition import Dialect, DollarQuotes, Separator, keywords
from ingestion.dialects.keywords import BEGUN_TRANSACTIONS, CONTROL_FLOW, CONVERSATIONS, NO_BLOCKS
from ingestion.dialects.lexing import NAME, WORD, lexicon_of, tokens
from ingestion.dialects.unfilled_templates import without_template_comments
from ingestion.statements._chains import may_be_chain, without_chains
from ingestion.statements.cleaning import (
    EDGE,
    clean,
    unescape_line_ends,
    unwrap_executable_comments,
    with_compiled_branches,
    without_client_commands,
    without_values_beside,
)

# Which semicolons stand inside a block (BEGIN...END, a routine's body, a script's IF or LOOP) and end nothing.

_TRANSACTION = BEGUN_TRANSACTIONS | CONVERSATIONS | {""}
_ROUTINE = keywords("procedure proc function trigger package event task alert")
_REPLACED = keywords("procedure macro")
_LISTING = keywords("macro rule")
"""Teradata's REPLACE makes these; elsewhere it is an INSERT."""
_BEFORE_CURSOR = keywords("declare ref ; ( ,")
_SCOPES = keywords("global local")
_BEFORE_ROUTINE = keywords("; is as declare member static constructor")
_NOT_ROUTINE = keywords(
    "table view index schema database user role login sequence synonym stage stream pipe warehouse policy"
)
# After these a word is a column's name even where it is spelled BEGIN or END.
_BEFORE_COLUMN = keywords(", . = < ( select and or by on where not")


def _statement_ends(text: str, blocks: _OpenBlocks, start: int, end: int) -> Iterator[int]:
    """The positions, between `start` and `end`, of the semicolons that end a statement; `blocks` is told all tokens."""
    before, word, position = "", "", start
    for token in tokens(text, blocks.dialect, start, end):
        after = token.text.lower() if token.kind != NAME else '"'
        if word and blocks.see(before, word, after):
            yield position
            before = ""
        elif word:
            before = word
        word, position = after, token.start
    if word and blocks.see(before, word, ""):
        yield position


@dataclass(slots=True)
class _OpenBlocks:
    """What is open at a point of a script; `see` is told each token with its neighbours."""

    dialect: Dialect
    open: list[str] = field(default_factory=list)
    parentheses: int = 0
    creating: bool = False
    routine: bool = False
    body_awaited: bool = False  # an IS or AS will open a routine's declarations
    label: str = ""  # what stands before the colon of `name: BEGIN`
    listing: bool = False  # Teradata's macro and trigger, PostgreSQL's rule: its parentheses hold statements
    whole_batch: bool = False  # T-SQL: a routine reaches to the end of its batch
    named: bool = False  # Oracle: <<name>> stands before the block
    in_query: bool = False  # Oracle: WITH FUNCTION f … END; SELECT f(a) …: the routines of a query end nothing
    last: str = ""  # the token that was seen last

    @property
    def _transact(self) -> bool:
        return self.dialect.separator is Separator.GO

    def see(self, before: str, word: str, after: str) -> bool:
        """Takes one token; True when it is a semicolon that ends the statement."""
        self.last = word
        # OPENROWSET('provider', 'place'; 'user'; 'password'): semicolons between arguments end nothing. The one before
        # ELSE ends what an IF runs, and not the IF.
        goes_on = self._transact and (after[:1] == "'" or after == "else")
        if word == ";" and (goes_on or (self.listing and self.parentheses > 0)):
            return False
        if word == ";":
            self.body_awaited = False
            if self.open or self.whole_batch:
                return False
            if self.in_query:
                self.in_query = after in _ROUTINE
                return False
            self._reset()
            return True
        if word in "()":
            self.parentheses += 1 if word == "(" else -1
        elif not before:
            self.label = word if after == ":" else ""
            self.named = word == after == "<"
            self._first(word, after)
        elif self.named and before == ">" != word:
            self.named = False
            self._first(word, after)
        elif before == ":" and self.label:
            self.label = ""
            self._first(word, after)
        elif before != "." and after != ".":
            self._next(before, word, after)
        return False

    def _reset(self) -> None:
        self.parentheses = 0
        self.creating = self.routine = self.body_awaited = self.listing = self.named = False

    def _first(self, word: str, after: str) -> None:
        if word in ("create", "alter") or (word == "replace" and after in _REPLACED):
            self.creating = True
        elif word == "begin":
            # PostgreSQL's BEGIN is a transaction's: its blocks are the strings of DO and of CREATE FUNCTION.
            if self.dialect.dollar_quotes is not DollarQuotes.TAGGED and after not in _TRANSACTION:
                self.open.append("begin")
        elif (word == "declare" and self.dialect.declare_opens_block) or (
            word in CONTROL_FLOW and self.dialect.control_opens_block
        ):
            self.open.append(word)

    def _next(self, before: str, word: str, after: str) -> None:
        if self.open == ["declare"] and self._stands_alone(before, word):
            self.open.clear()
        elif self.creating and word in _NOT_ROUTINE:
            self.creating = False
        elif self.creating and word in _LISTING:
            self.creating, self.listing = False, True
        elif (word in _ROUTINE or (before, word) == ("type", "body")) and (
            self.creating or self._in_declarations(before) or before == "with" or self.in_query
        ):
            self.creating, self.routine = False, True
            self.listing = word == "trigger"
            self.body_awaited = self.dialect.declarations_after_is and word != "trigger"
            self.in_query = self.in_query or (before == "with" and self.body_awaited and after not in ("as", "("))
            # T-SQL wants CREATE PROCEDURE alone in its batch: its body goes to the next GO, with or without END.
            self.whole_batch = self._transact
        elif self.body_awaited and word in ("is", "as") and not self.parentheses:
            self.body_awaited = False
            # Oracle: AS LANGUAGE JAVA NAME '…' only says where the body is, and declares nothing.
            if after not in ("language", "external", "mle"):
                self.open.append("declare")
        elif not self.open:
            opening = ("begin", "declare", "compound") if self.routine else ("begin",) if self._transact else ()
            if word in opening and before not in _BEFORE_COLUMN and after not in _TRANSACTION:
                self.open.append(word)
        elif word == "case" or before not in _BEFORE_COLUMN:
            self._inside(before, word, after)

    def _stands_alone(self, before: str, word: str) -> bool:
        """DECLARE GLOBAL TEMPORARY TABLE is a statement of its own, by the standard.

        So is Db2's DECLARE c CURSOR FOR query, from which a LOAD may come, where a block has CURSOR c IS query.
        """
        if word == "cursor":
            return bool(self.dialect.command_procedure) and before not in _BEFORE_CURSOR
        return word == "temporary" and before in _SCOPES

    def _in_declarations(self, before: str) -> bool:
        return bool(self.open) and self.open[-1] == "declare" and before in _BEFORE_ROUTINE

    def _inside(self, before: str, word: str, after: str) -> None:
        top = self.open[-1]
        if word == "begin":
            if top == "declare":
                self.open[-1] = "begin"
            elif after not in _TRANSACTION:
                self.open.append("begin")
        elif word == "case" and before != "end":
            self.open.append("case")
        elif word == "end" and not (self._transact and after in CONVERSATIONS):
            # END IF and END LOOP close what they name; what END alone closes is the innermost.
            if after not in CONTROL_FLOW or after == top:
                self.open.pop()
        elif word == self.open[0] and word in CONTROL_FLOW and before in (";", "then", "else", "do", "loop", "begin"):
            self.open.append(word)


# Where T-SQL's statements begin: its semicolons are optional, and most logs have none.

_VERBS = keywords(
    "select insert update delete merge truncate create alter drop declare set exec execute print use if while begin"
    " commit rollback return grant revoke deny raiserror throw waitfor open close deallocate bulk"
)
_VERBS_AS_BYTES = {verb.encode(): verb for verb in _VERBS}
_BARE_WORDS = re.sub(rb"\W", b" ", bytes(range(256)))
"""Leaves of a text its words alone, for bytes.translate."""
_PLAIN_CHANGE = re.compile(
    r"\s*+(?:insert\b(?:[^devs]++|(?!\b(?:select|values|exec(?:ute)?|default)\b)[devs])*+select\b|update\b[^;]*?\bset\b)"
)
"""In lower case."""
_WITHIN_LINE = _VERBS - keywords("bulk close deallocate deny grant open raiserror revoke throw waitfor")
"""Verbs that begin a statement wherever the one before can end; the others have to begin a line, too."""
_UNFINISHED_BEHIND = keywords(
    "< > + - * / % select distinct top by from join into table view where having is in like between over case inner"
    " left right outer before insert delete merge drop create alter declare exec execute set use do try"
)
"""Behind these in its line a verb begins nothing. KEY, FULL and UPDATE are none of them: PRIMARY KEY, RECOVERY FULL and
FOR UPDATE end a statement."""
# After these a verb goes on with the statement that it stands in.
_GOES_ON_AFTER = keywords(
    ", ( = . then for on of after as union all except intersect else when and or not with grant revoke deny instead"
)
_GOES_ON_WITH = frozenset({("full", "merge"), ("update", "set")})
"""FULL MERGE JOIN, ON UPDATE SET NULL."""
_NEVER_BEHIND = frozenset(("", *"(,.=@#$["))
"""Behind these on its line a word is no verb."""
_COMPOUND = keywords("union except intersect")
_OF_BLOCKS = keywords("case begin end") | NO_BLOCKS
_BODIES = keywords("if while")
_ROUTINES = keywords("procedure proc function trigger")


def _unseparated_starts(text: str, dialect: Dialect, start: int, end: int) -> Iterator[int]:
    """The positions of the verbs that begin a statement, after the first; none in a routine."""
    if not _may_hold_several(text, start, end):
        return
    reading = _SeparatorReading()
    after = start
    for token in tokens(text, dialect, start, end):
        word = token.text.lower() if token.kind in (WORD, "punctuation") else '"'
        if reading.verb in ("create", "alter") and word in _ROUTINES:
            return
        begins_line = "\n" in text[after : token.start]
        if reading.begins(word, begins_line=begins_line):
            yield token.start
        after = token.start + len(token.text)


@lru_cache(maxsize=1)
def _starts_of_statements(text: str, dialect: str, start: int, end: int) -> tuple[int, ...]:
    """The same, kept for the text that was asked for last: whether it is one statement is asked before it is split."""
    return tuple(_unseparated_starts(text, dialect_of(dialect), start, end))


def _may_hold_several(text: str, start: int, end: int) -> bool:
    """Whether another statement may begin in a text, told without looking at quotes.

    Which verbs are in it is told by its words at once: a pattern of all verbs, tried at each character, takes ten times
    as long, and most texts have one or two.
    """
    text = text[start:end].lower()
    words = text.encode(errors="replace").translate(_BARE_WORDS).split()
    verbs = [_VERBS_AS_BYTES[word] for word in _VERBS_AS_BYTES.keys() & words]
    behind = list(islice((end for verb in verbs for end in _ends_of_verbs(text, verb)), 2))
    return len(behind) > 1 or (len(behind) == 1 and _PLAIN_CHANGE.match(text, 0, behind[0]) is None)


def _ends_of_verbs(text: str, verb: str) -> Iterator[int]:
    """Where a verb ends that stands behind a word or what may end a statement."""
    start = text.find(verb)
    while start >= 0:
        end = start + len(verb)
        if not _is_of_word(text[end : end + 1]) and _may_begin(text, start):
            yield end
        start = text.find(verb, end)


def _may_begin(text: str, start: int) -> bool:
    behind = start
    while behind and text[behind - 1].isspace():
        behind -= 1
    before = text[behind - 1 : behind]
    if behind == start:
        return before not in _NEVER_BEHIND and before != '"' and not _is_of_word(before)
    return before not in _NEVER_BEHIND or (behind > 0 and "\n" in text[behind:start])


def _is_of_word(character: str) -> bool:
    return character.isalnum() or character == "_"


@dataclass(slots=True)
class _SeparatorReading:
    """How far a batch is read: the statement's verb, what it still waits for, and what is open."""

    verb: str = ""
    before: str = ""
    query_due: bool = False  # INSERT INTO t ..., WITH x AS (...) and a cursor wait for their SELECT
    body_due: bool = False  # IF and WHILE wait for a statement
    parentheses: int = 0
    blocks: int = 0
    set_due: bool = False  # UPDATE waits for its SET
    closed: bool = False  # the last END has closed a block

    def begins(self, word: str, *, begins_line: bool) -> bool:
        """Takes one token; True when it begins another statement."""
        before, self.before = self.before, word
        if word in "()":
            self.parentheses += 1 if word == "(" else -1
        elif self.parentheses or before == ".":
            return False
        elif word in _OF_BLOCKS:
            return self._block(word, before, begins_line=begins_line)
        elif self.blocks:
            return False
        elif word == "else":
            self.body_due = True
        elif word == "with" and (before in ("", "as") or self.verb == "declare"):
            begins_query = self.verb == "declare"
            self.verb = word if begins_query else self.verb or word
            self.query_due = True
            return begins_query
        elif word == "values":
            self.query_due = False
        elif word in _COMPOUND:
            self.query_due = True
        elif word == "cursor" and self.verb == "declare" and not before.startswith("@") and before != "as":
            self.verb, self.query_due = word, True
        elif word in _VERBS:
            return self._verb(word, before, begins_line=begins_line)
        return False

    def _block(self, word: str, before: str, *, begins_line: bool) -> bool:
        if word == "end":
            self.closed = self.blocks > 0
            self.blocks -= self.closed
            return False
        if word in NO_BLOCKS:
            self.blocks += (before == "end" and self.closed and word in CONVERSATIONS) - (before == "begin")
            return False
        begins = word == "begin" and not self.blocks and self._verb(word, before, begins_line=begins_line)
        self.blocks += 1
        return begins

    def _verb(self, word: str, before: str, *, begins_line: bool) -> bool:
        goes_on = before in _GOES_ON_AFTER and not (self.verb == "set" and before == "on")  # SET NOCOUNT ON
        goes_on |= (before, word) in _GOES_ON_WITH
        if self.verb and (self._goes_on(word) or goes_on or (self.verb == before == "bulk")):
            self.query_due = self.query_due or (goes_on and word == "insert")  # CREATE TASK k AS INSERT …
            return False
        begins = bool(self.verb) and (begins_line or (word in _WITHIN_LINE and before not in _UNFINISHED_BEHIND))
        if begins or not self.verb:
            self._start(word)
        elif word == "insert":
            self.query_due = True
        return begins

    def _start(self, verb: str) -> None:
        self.verb = verb
        self.query_due, self.set_due, self.body_due = verb == "insert", verb == "update", verb in _BODIES

    def _goes_on(self, word: str) -> bool:
        """Whether the statement so far waits for this verb; what it waited for is then there."""
        if self.body_due:
            self._start(word)
            return True
        if self.query_due and word in ("select", "exec", "execute"):
            self.query_due = False
            self.verb = word if self.verb == "with" else self.verb
            return True
        if self.verb == "with" and word in ("insert", "update", "delete", "merge"):
            self._start(word)
            return True
        if word == "set" and self.set_due:
            self.set_due = False
            return True
        return (
            (word == "set" and self.verb in ("merge", "alter"))
            or (word in ("alter", "drop") and self.verb == "alter")
            or (word == "if" and self.verb in ("drop", "create", "alter"))
        )


# Scripts of Oracle's SQL*Plus: its own commands end with their line, and none begins inside a statement.

_COMMAND = re.compile(
    r"[ \t]*+(?:@|!|set\s++(?!role\b|transaction\b|constraints?\b)\w"
    r"|(?:rem(?:ark)?|pro(?:mpt)?|col(?:umn)?|spo(?:ol)?|def(?:ine)?|undef(?:ine)?|acc(?:ept)?|var(?:iable)?|print"
    r"|exit|quit|pau(?:se)?|cl(?:ear)?|ttitle|btitle|repheader|repfooter|bre(?:ak)?|comp(?:ute)?|ho(?:st)?|sta(?:rt)?"
    r"|desc(?:ribe)?|sho(?:w)?|timi(?:ng)?|disc(?:onnect)?|conn(?:ect)?|whenever\s++(?:sql|os)error)"
    r"(?![\w.$#]))",
    re.IGNORECASE,
)
_CALL = re.compile(r"[ \t]*+exec(?:ute)?\s++(?!immediate\b)\S", re.IGNORECASE)
_BLOCK = re.compile(
    r"[ \t]*+(?:declare|begin|<<|create\s++(?:or\s++replace\s++)?+(?:(?:non)?editionable\s++)?+"
    r"(?:procedure|function|package|trigger|type|library))\b",
    re.IGNORECASE,
)
_TO_END_OF_COMMENTS = re.compile(r"(?:[^*]|\*(?!/))*+\*/(?:\s*+/\*(?:[^*]|\*(?!/))*+\*/)*+\s*+")
"""The rest of a comment, and others behind it."""
_SQLPLUS = re.compile(rf"^(?:{_COMMAND.pattern}|{_CALL.pattern})", re.IGNORECASE | re.MULTILINE)


def _without_sqlplus_commands(text: str) -> str:
    """The script without the client's commands, each statement on the line where it was; EXECUTE's lines are ended.

    A statement begins with the first line that is no command, and ends with a line that ends in a semicolon, or that
    is a slash; a block ends with the slash alone.
    """
    if _SQLPLUS.search(text) is None:
        return text
    reading = _ScriptReading()
    return "\n".join(reading.read(line) for line in text.split("\n"))


@dataclass(slots=True)
class _ScriptReading:
    """What the script is in: a statement, a block, a comment, or a command that goes on in the next line."""

    statement: bool = False
    block: bool = False
    comment: bool = False
    command: bool = False
    call: bool = False

    def read(self, line: str) -> str:
        """The line, or "" where it is the client's."""
        plain = line.strip()
        if self.call:
            return self._call_line(line)
        if plain == "." and not self.comment:  # what was typed so far is not run
            self.statement = False
            return "/"
        if self.statement:
            self.statement = plain != "/" and (self.block or not plain.endswith(";"))
        elif self.comment or plain.startswith("/*"):
            return self._comment_line(line)
        elif self.command or _COMMAND.match(line) is not None:
            self.command = plain.endswith("-")
            return ""
        elif _CALL.match(line) is not None:
            return self._call_line(line)
        elif plain and plain != "/" and not plain.startswith("--"):
            self.block = _BLOCK.match(line) is not None
            self.statement = self.block or not plain.endswith(";")
        return line

    def _comment_line(self, line: str) -> str:
        """A line of a comment; behind it a statement may begin, whose next lines are no commands: `/* all */ BEGIN`."""
        comments = _TO_END_OF_COMMENTS.match(line)
        self.comment = comments is None
        if comments is None or comments.end() == len(line):
            return line
        return comments.group() + self.read(line[comments.end() :])

    def _call_line(self, line: str) -> str:
        """A line of EXECUTE, which goes on in the next one behind a dash."""
        plain = line.rstrip()
        self.call = plain.endswith("-")
        if self.call:
            return plain[:-1]
        return plain if plain.endswith(";") else f"{plain};"


# The statements of a script.

_OPENS_BLOCK = re.compile(
    r"\b(?:begin|declare|proc(?:edure)?|function|trigger|package|event|task|alert|macro|rule)\b"
    r"|(?:\A|;)\s*+(?:\w++\s*+:\s*+)?+(?:if|while|loop|for|repeat)\b",
    re.IGNORECASE,
)
_FILLS_VARIABLES = re.compile(
    r"\bfetch\b[^;]{0,200}?\binto\s++@|\bselect\s++(?:top\b[^@;]{0,20})?@\w++\s*+=[^;]{0,2000}?\bfrom\b"
    r"|@\w++[^;@=]{0,60}=\s*+\(\s*+select\b",
    re.IGNORECASE,
)
"""How T-SQL takes a row of a cursor, or what a query gives, into variables."""
WRITES = re.compile(r"\b(?:insert|update|delete|merge|into)\b", re.IGNORECASE)
"""What a script may do with them."""
_OTHER_LANGUAGE = re.compile(r"\s*+%(?!sql\b)\w")
"""How a notebook's cell begins that is not SQL."""
_SEPARATOR_LINES = {
    Separator.GO: re.compile(r"^[ \t]*+GO(?:[ \t]++[0-9]++)?+[ \t]*+;?[ \t\r]*+$", re.IGNORECASE | re.MULTILINE),
    Separator.CELL: re.compile(r"^--[ \t]*+COMMAND[ \t]++-++[ \t\r]*+$", re.MULTILINE),
    Separator.SLASH: re.compile(r"^[ \t]*+/[ \t\r]*+$", re.MULTILINE),
    Separator.AT: re.compile(r"@[ \t\r]*+$", re.MULTILINE),
    Separator.DELIMITER: re.compile(r"^[ \t]*+DELIMITER[ \t]++(\S++)[ \t\r]*+$", re.IGNORECASE | re.MULTILINE),
}


_GOES_ON = {Separator.GO: r"(?!(?:\s++|--[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/)*+(?:'|else\b))"}
"""No statement begins with a text, as T-SQL's OPENROWSET parts its arguments with semicolons, nor with ELSE."""


@dataclass(frozen=True, slots=True)
class StatementText:
    """One statement, cleaned, and the line of the text (from 1) where it begins; the `batch` (from 0) that it is of."""

    text: str
    line: int
    batch: int = field(default=0, compare=False)


def split(text: str, dialect: Dialect | str) -> tuple[StatementText, ...]:
    """The statements of a script in order; empty when it holds none.

    Semicolons end statements, except inside strings, comments and dollar quotes and in a routine's or a script's
    block; so do T-SQL's `GO`, Oracle's `/`, Db2's `@` at a line's end, the line between two cells of a notebook and
    whatever MySQL's `DELIMITER` named. A block that never ends keeps the rest of the text together, and so does a
    BigQuery script that declares variables.
    """
    dialect = dialect_of(dialect) if isinstance(dialect, str) else dialect
    text = without_values_beside(without_template_comments(text.removeprefix("\ufeff"), dialect), dialect)
    if is_single(text, dialect):
        cleaned = clean(text, dialect)
        return (StatementText(cleaned, 1 + _lines_before(text, cleaned, dialect)),) if cleaned else ()
    text = _prepare(text, dialect)
    found = []
    line, counted = 1, 0
    for start, end, batch in _spans(text, dialect):
        first = next(tokens(text, dialect, start, end), None)
        cleaned = clean(text[first.start : end], dialect) if first else ""
        if first and cleaned:
            line += text.count("\n", counted, first.start)
            counted = first.start
            found.append(StatementText(cleaned, line, batch))
    return tuple(found)


def is_single(text: str, dialect: Dialect) -> bool:
    """Whether nothing in `text` ends a statement before its end; what only looks like it in quotes mostly does."""
    if ";" in text.rstrip(EDGE) or "\\" in text or (dialect.stage_names and "!" in text):
        return False
    if may_be_chain(text, dialect):
        return False
    if dialect.separator is Separator.GO and _starts_of_statements(text, dialect.name, 0, len(text)):
        return False
    if dialect.sqlplus_commands and "\n" in text:
        return False
    if dialect.sqlplus_commands and _COMMAND.match(text) is not None:
        return False
    line = _SEPARATOR_LINES.get(dialect.separator)
    return line is None or ("/*!" not in text and "/*M!" not in text and line.search(text) is None)


def _lines_before(text: str, cleaned: str, dialect: Dialect) -> int:
    if text.startswith(cleaned[:1]) and cleaned[0].isalpha():
        return 0
    return text.count("\n", 0, next(tokens(text, dialect)).start)


def _prepare(text: str, dialect: Dialect) -> str:
    if dialect.sqlplus_commands:
        text = with_compiled_branches(_without_sqlplus_commands(text), dialect)
    if "\\" in text or dialect.stage_names or dialect.prefixed_escapes:
        text = unescape_line_ends(without_client_commands(text, dialect), dialect)
    text = without_chains(text, dialect)
    return unwrap_executable_comments(text) if dialect.separator is Separator.DELIMITER else text


def _spans(text: str, dialect: Dialect) -> Iterator[tuple[int, int, int]]:
    """Where each statement begins and ends, and the number of its batch."""
    for number, (start, end, delimiter) in enumerate(_batches(text, dialect)):
        spans = _statement_spans(text, dialect, (start, end), delimiter)
        if dialect.separator is Separator.GO and _fills_variables(text, start, end):
            spans = _with_whole_scripts(text, dialect, [*spans])
        yield from ((*span, number) for span in spans)


def _fills_variables(text: str, start: int, end: int) -> bool:
    filled = _FILLS_VARIABLES.search(text, start, end)
    return filled is not None and WRITES.search(text, filled.end(), end) is not None


def _with_whole_scripts(text: str, dialect: Dialect, spans: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The spans of T-SQL's statements in a batch, all of them one from the first DECLARE on.

    What a cursor is fetched into is what the statements behind it write, and what `SELECT @v = a FROM t` gives. Behind
    a USE names mean others.
    """
    verbs = [next((token.text.lower() for token in tokens(text, dialect, *span)), "") for span in spans]
    first = verbs.index("declare") if "declare" in verbs else len(spans)
    if first == len(spans) or "use" in verbs[first:]:
        yield from spans
        return
    yield from spans[:first]
    yield spans[first][0], spans[-1][1]


def _statement_spans(text: str, dialect: Dialect, span: tuple[int, int], delimiter: str) -> Iterator[tuple[int, int]]:
    start, end = span
    if dialect.separator is Separator.CELL and _OTHER_LANGUAGE.match(text, start, end):
        yield start, end
        return
    begin = start
    for stop in _ends(text, dialect, (start, end), delimiter):
        yield from _unseparated_ranges(text, dialect, begin, stop)
        begin = stop + len(delimiter)
    yield from _unseparated_ranges(text, dialect, begin, end)


def _unseparated_ranges(text: str, dialect: Dialect, start: int, end: int) -> Iterator[tuple[int, int]]:
    if dialect.separator is Separator.GO:
        for begin in _starts_of_statements(text, dialect.name, start, end):
            yield start, begin
            start = begin
    yield start, end


def _batches(text: str, dialect: Dialect) -> Iterator[tuple[int, int, str]]:
    """The stretches between separator lines, each with what ends a statement in it."""
    line = _SEPARATOR_LINES.get(dialect.separator)
    start, delimiter = 0, ";"
    if line is not None and line.search(text):
        for match in _unquoted_pattern(line.pattern, dialect.name).finditer(text):
            if match.lastgroup == "found" and not _ends_nothing(text, dialect, start, match.start()):
                yield start, match.start(), delimiter
                start = match.end()
                if dialect.separator is Separator.DELIMITER:
                    delimiter = match.group().split()[1]
    yield start, len(text), delimiter


def _ends_nothing(text: str, dialect: Dialect, start: int, end: int) -> bool:
    """Whether what a separator looks like is part of the statement that it stands in."""
    if dialect.separator is Separator.AT:
        return _ends_name(text, dialect, start, end)
    return dialect.separator is Separator.SLASH and _divides(text, dialect, start, end)


_BEHIND_NAME = keywords(
    "where join inner left right full cross natural on using as from into add group order having union except intersect"
    " fetch limit offset and or not between in is like when then else end asc desc , ) . = < > + - * / | !"
)
"""What goes on with a statement behind a name and begins none."""
_BEHIND_NAME_OF = {
    "insert": ("into", keywords("select values with (")),
    "update": ("", keywords("set")),
    "alter": ("table", keywords("alter drop set")),
    "create": ("table", keywords("(")),
}
"""What stands between a verb and its table in Db2, and what goes on with its statement behind the table alone."""
_OPTIONS = keywords("ur cs rs rr check data no")


def _ends_name(text: str, dialect: Dialect, start: int, sign: int) -> bool:
    """Whether Db2's sign at a line's end is of a name: `FROM s@` and WHERE in the next line.

    Nothing else tells it from the one that ends a statement: what follows then begins none. Few names end so: what may
    begin a statement does.
    """
    touches = text[start:sign][-1:].isalnum() or text[start:sign].endswith(tuple(f"_{dialect.name_characters}"))
    behind = [token.text.lower().rstrip("@") for token in islice(tokens(text, dialect, sign + 1), 3)]
    if not behind or not touches:
        return False
    word, following, third = (*behind, "", "")[:3]
    if word in _BEHIND_NAME or (word, following) in (("connect", "by"), ("start", "with")):
        return True
    if word == "with" and following in _OPTIONS and third not in ("as", "("):
        return True
    first, *words = [token.text.lower() for token in islice(tokens(text, dialect, start, sign), 8)]
    between, later = _BEHIND_NAME_OF.get(first, ("", frozenset()))
    name = words[1:] if between and words[:1] == [between] else words
    return word in later and len(name) < 6 and all(dot == "." for dot in name[1::2])


def _divides(text: str, dialect: Dialect, start: int, end: int) -> bool:
    """Whether a slash on a line of its own stands inside a statement of a block: then it ends nothing.

    A block's words may as well stand in a comment (`-- begin of report`), be columns (`SELECT event FROM t`), or say
    what has no body here (`CREATE TYPE t AS OBJECT (MEMBER FUNCTION f RETURN NUMBER)`).
    """
    if text[start:end].rstrip().endswith(";") or not _OPENS_BLOCK.search(text, start, end):
        return False
    blocks = _OpenBlocks(dialect)
    for _ in _statement_ends(text, blocks, start, end):
        pass
    return bool(blocks.open) and blocks.last != ";"


def _ends(text: str, dialect: Dialect, span: tuple[int, int], delimiter: str) -> Iterator[int]:
    start, end = span
    if text.find(delimiter, start, end) < 0:
        return iter(())
    if dialect.declare_opens_script and _declares(text, dialect, start, end):
        return iter(())
    if delimiter == ";" and _OPENS_BLOCK.search(text, start, end):
        return _statement_ends(text, _OpenBlocks(dialect), start, end)
    pattern = _unquoted_pattern(re.escape(delimiter) + _GOES_ON.get(dialect.separator, ""), dialect.name)
    return (match.start() for match in pattern.finditer(text, start, end) if match.lastgroup == "found")


def _declares(text: str, dialect: Dialect, start: int, end: int) -> bool:
    first = next(tokens(text, dialect, start, end), None)
    return first is not None and first.text.lower() == "declare"


@lru_cache(maxsize=256)
def _unquoted_pattern(pattern: str, dialect: str) -> re.Pattern[str]:
    """Matches `pattern` as the group "found", and what is quoted as other groups."""
    return re.compile(f"(?P<found>(?im:{pattern}))|{lexicon_of(dialect).quoted.pattern}")
