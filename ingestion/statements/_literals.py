"""What each literal of a statement is for: a value like any other, part of the statement's shape, or a name of data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple

from ingestion.dialects import Dialect
from ingestion.dialects.definition import keywords
from ingestion.dialects.functions import (
    ALSO_WORDS,
    CONVERTERS,
    FILE_READERS,
    FROM_IN_ARGUMENTS,
    NAMED_IN_TEXTS,
    ON_OTHER_MACHINES,
    REMOTE_QUERIES,
)
from ingestion.dialects.keywords import QUERIES, QUERY_STARTS, TRANSFERS
from ingestion.dialects.lexing import COMMENT, DOLLAR, HINT, NAME, NUMBER, OPEN, STRING, Lexicon, unterminated_error

# What the words around a literal tell of it: the rules by which it is a value, a part of the shape, or a name.

NAME_MARK, STRING_MARK, NUMBER_MARK, PREFIXED_MARK = "\x01", "\x02", "\x03", "\x04"
MARKS = frozenset((NAME_MARK, STRING_MARK, NUMBER_MARK, PREFIXED_MARK))


class Role(Enum):
    """What a quoted name, or a literal that is no mere value, stands for.

    What of it stays where a text is stored, and why, is in `ingestion.statements.masking.KEPT`.
    """

    IDENTIFIER = "identifier"
    STRUCTURE = "structure"  # a type's length, a position in GROUP BY or ORDER BY, whether tables are swapped
    NAME = "name"  # a path, a field, a column to be, SQL to be run
    ALIAS = "alias"  # AS 'x' in the list of a SELECT


# Words and characters after which an expression starts.
_EXPRESSION_AFTER = (
    keywords("= < > ! + - * / | & ^ % ( , ~ ; ? {")
    | MARKS - {NAME_MARK}
    | keywords("and or not in like ilike rlike regexp glob similar between then else case when select distinct all any")
    | keywords("some where having on by return values is limit offset top")
)
# After these a string is a value; after any other word it may name something.
_VALUE_AFTER = _EXPRESSION_AFTER | keywords(
    ": interval date time timestamp timestamptz datetime timestamp_ntz timestamp_ltz timestamp_tz json jsonb zone"
    " escape uescape of separator default collate binary null"
)
# COPY … CREDENTIALS '…', SECRET 'key': a string behind these is never a path or a name.
_SECRETS = keywords(
    "credentials password passwd pwd secret key token access_key_id secret_access_key session_token iam_role"
    " master_symmetric_key identified authorization"
)
_DATA_FUNCTIONS = frozenset(
    name.lower() for name in FILE_READERS | ON_OTHER_MACHINES | REMOTE_QUERIES | NAMED_IN_TEXTS | ALSO_WORDS
)
# ClickHouse has a dictGet of each type: dictGetUInt64OrDefault('d', 'a', id, 0)
_LOOKED_UP = keywords(
    "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 date datetime uuid string ipv4 ipv6"
)
_DICTIONARY_LOOKUPS = frozenset(
    f"dictget{type_}{otherwise}" for type_ in ("", *_LOOKED_UP) for otherwise in ("", "ordefault")
)
# Their texts are statements: two that differ in them do different things.
RUNS_TEXT = keywords("exec execute immediate sp_executesql")
_DATA_OPTIONS = keywords("location url uri uris path file files external_location stage data_source dbtable query")
_DEFINES = TRANSFERS - {"bulk"} | keywords("create alter replace")
_BY = keywords("group order partition sort cluster distribute")
_BY_LIST_ENDS = keywords(
    "; having order limit window qualify union except intersect minus select fetch offset rows range groups insert from"
    " where for separator with into"
)
_GROUPINGS = keywords("rollup cube sets")
_SELECT_LIST_ENDS = keywords(
    "; from into where having group order sort cluster distribute limit offset fetch window qualify union except"
    " intersect minus connect start for option with values set using on create copy unload insert"
)
_OPERATORS = keywords("+ - * / % | < > = ! : ( [ .")
_TYPES = keywords(
    "char varchar nvarchar nchar varchar2 nvarchar2 character varying decimal numeric number dec float double time"
    " timestamp timestamptz datetime datetime2 datetime64 datetimeoffset smalldatetime timestamp_ltz timestamp_ntz"
    " timestamp_tz binary varbinary bit varbit bpchar string int integer bigint smallint tinyint mediumint year text"
    " decimal32 decimal64 decimal128 decimal256 fixedstring raw blob clob bignumeric vector identity"
)
_OPENINGS, _CLOSINGS = frozenset("(["), frozenset(")]")
_OFFSETS = keywords("offset ordinal safe_offset safe_ordinal")
_LISTS = keywords("array array_construct list_value list_pack")
_COLLECTIONS = keywords("array map struct row nullable lowcardinality tuple list")

# Words: FROM 'a.csv', 'b.csv' is looked for behind a comma no further back, or long lists would cost the square.
_LONGEST_FROM = 60
_STRINGS = frozenset((STRING_MARK, PREFIXED_MARK))
NAMING = _DATA_FUNCTIONS | _DICTIONARY_LOOKUPS
"""Functions, and clauses like PIVOT, whose literals may name data."""


def _opens_names(words: Sequence[str], index: int) -> bool:
    """Whether the function at `index`, one of NAMING, is called here with literals that name data."""
    if words[index + 1 : index + 2] != ["("]:
        return False
    return words[index].upper() not in ALSO_WORDS or (index + 2 < len(words) and words[index + 2] in _STRINGS)


def _closing(words: Sequence[str], opening: int) -> int:
    """The place of the parenthesis that closes the one at `opening`, or the end."""
    depth = 0
    for index in range(opening, len(words)):
        if words[index] == "(":
            depth += 1
        elif words[index] == ")":
            depth -= 1
            if depth == 0:
                return index
    return len(words)


def _string_role(words: Sequence[str], index: int, dialect: Dialect) -> Role | None:
    """What the string at `index` is for; None for a value."""
    if _is_option_of_files(words, index):
        return Role.NAME
    if words[0] == "alter" and _tells_of_replacing(words, index):
        return Role.STRUCTURE
    if words[index] == PREFIXED_MARK:  # E'...', N'...': what stands before the prefix counts
        index -= 1
    before = words[index - 1] if index else ";"
    earlier = words[index - 2] if index > 1 else ""
    if before in _VALUE_AFTER:
        return Role.NAME if _names_after_operator(words, index, dialect) else None
    if before == "[":
        return _subscript(words, index)
    if before in _SECRETS or (before == "to" and earlier == "similar"):
        return None
    if before == "from" and (earlier == "distinct" or _function_around(words, index).upper() in FROM_IN_ARGUMENTS):
        return None
    return Role.NAME


def _is_option_of_files(words: Sequence[str], index: int) -> bool:
    """Whether the string at `index` is an option of what a statement reads or writes: one of them is the path."""
    for at in range(index - 1, max(0, index - _LONGEST_FROM), -1):
        if words[at] in ("(", ")", "select"):
            options = words[at] == "(" and words[at - 1] == "options"
            return options and (words[0] == "create" or "directory" in words[max(0, at - 10) : at])
    return False


def _tells_of_replacing(words: Sequence[str], index: int) -> bool:
    """Whether the string at `index` is a property of Doris's REPLACE WITH TABLE: it says whether tables are swapped."""
    head = words[: min(index, _LONGEST_FROM)]
    return "properties" in head and any(head[at : at + 3] == ["replace", "with", "table"] for at in range(len(head)))


def _names_after_operator(words: Sequence[str], index: int, dialect: Dialect) -> bool:
    """Whether a string that stands where a value does names something all the same."""
    before, earlier = words[index - 1], words[index - 2] if index > 1 else ""
    if before == ">":
        return earlier in ("-", ">", "#")  # -> ->> #>>
    if before == "=":
        return earlier in _DATA_OPTIONS and words[0] in _DEFINES and "select" not in words[:index]
    if before in ("(", ",", "{"):
        key = words[index + 1 : index + 2] == [":"] and words[index + 2 : index + 3] != [":"] and before != "("
        return words[0] in TRANSFERS or key or (before == "," and _in_from(words, index, dialect))
    return before in ("ilike", "like") and earlier == "*"  # SELECT * ILIKE picks columns


def _in_from(words: Sequence[str], index: int, dialect: Dialect) -> bool:
    """Whether a string after a comma is a relation, as DuckDB has it: FROM 'a.csv', 'b.csv'."""
    if not dialect.strings_in_from:
        return False
    depth = 0
    for word in reversed(words[max(0, index - _LONGEST_FROM) : index]):
        if word == ")":
            depth += 1
        elif word == "(":
            if not depth:
                return False
            depth -= 1
        elif not depth and word in ("from", "join"):
            return True
        elif not depth and word in ("=", "<", ">", "select", "where", "by", "set", "values"):
            return False
    return False


def _subscript(words: Sequence[str], index: int) -> Role | None:
    """`column['field']` names a field, `ARRAY['x']` and `= ['x']` hold values; an option's list names files."""
    before = words[index - 2] if index > 1 else ""
    if before == "=":
        return Role.NAME if index > 2 and words[index - 3] in _DATA_OPTIONS else None
    if before == "array" or words[index + 1 : index + 2] != ["]"]:
        return None
    return None if before in _VALUE_AFTER or before == "[" else Role.NAME


def _function_around(words: Sequence[str], index: int) -> str:
    for at in range(index - 1, max(0, index - 12), -1):
        if words[at] == "(":
            return words[at - 1]
    return ""


def _number_role(words: Sequence[str], index: int, positions: set[int]) -> Role | None:
    """What the number at `index` is for, given the places of list positions; None for a value."""
    before = words[index - 1] if index else ""
    if _picks_an_element(words, index):
        return Role.STRUCTURE
    if before == "(":
        opening = index - 1
    elif before == "," and index > 3 and words[index - 2] == NUMBER_MARK and words[index - 3] == "(":
        opening = index - 3
    else:
        return Role.STRUCTURE if index in positions else None
    if opening and words[opening - 1] in _TYPES and _is_type(words, opening - 1):
        return Role.STRUCTURE
    return Role.STRUCTURE if index in positions else None


def _picks_an_element(words: Sequence[str], index: int) -> bool:
    """Whether the number at `index` picks out of a list written there: `ARRAY(a, b)[0]`, `[a, b][OFFSET(1)]`.

    Another number is another column. Behind anything else than a written list it may be a key, which is a value.
    """
    bracket = index - 3 if index > 2 and words[index - 2] in _OFFSETS else index - 1
    if bracket < 2 or words[bracket] != "[" or words[bracket - 1] not in _CLOSINGS:
        return False
    depth = 0
    for at in range(bracket - 1, max(0, bracket - _LONGEST_LIST), -1):
        depth += (words[at] in _CLOSINGS) - (words[at] in _OPENINGS)
        if not depth:
            around = words[at] == "(" and (words[at + 1] in _LISTS or words[at + 1] == "[")
            return around or words[at - 1] in _LISTS or (words[at] == "[" and words[at - 1] in _EXPRESSION_AFTER)
    return False


def _is_type(words: Sequence[str], index: int) -> bool:
    """Whether the type's name at `index` is a type, or a function of that name: CHAR(5) or CHAR(65)."""
    before = words[index - 1] if index else ";"
    if before == ":":
        return True
    if before in ("(", "<", ","):
        for at in range(index - 1, max(0, index - 60), -1):
            if words[at] in ("(", "<"):
                return words[at - 1] in _COLLECTIONS or (words[at] == "(" and words[at - 1].upper() in CONVERTERS)
        return False
    return before not in _EXPRESSION_AFTER


def _list_positions(words: Sequence[str], start: int) -> Iterator[int]:
    """The places, from `start` on, of the numbers that are whole items of a GROUP BY or ORDER BY list."""
    outside, item_starts, within_item = range(3)
    state, around = outside, []
    for index in range(start, len(words)):
        word = words[index]
        if word == "by" and words[index - 1] in _BY:
            state = item_starts
        elif word == "(":
            around.append(state)
            grouping = state == item_starts or (state and words[index - 1] in _GROUPINGS)
            state = item_starts if grouping else outside
        elif word == ")":
            state = within_item if around and around.pop() else outside
        elif state and word == ",":
            state = item_starts
        elif state and word in _BY_LIST_ENDS:
            state = outside
        elif state:
            following = words[index + 1] if index + 1 < len(words) else ""
            if state == item_starts and word == NUMBER_MARK and following not in _OPERATORS:
                yield index
            state = within_item


def _aliases(words: Sequence[str]) -> set[int]:
    """The indexes of the strings that name columns of a query: they stand behind AS in the list of a SELECT.

    Behind AS stand values too, and secrets: UNPIVOT (v FOR k IN (a AS 'x')), ASSERT … AS 'message', TIMESERIES t AS
    '3 seconds', CREDENTIALS AS '…' in the next statement of a script.
    """
    found = set[int]()
    listed, around = False, list[bool]()
    for index, word in enumerate(words):
        if word == "select":
            listed = True
        elif word == "(":
            around.append(listed)
            listed = False
        elif word == ")":
            listed = bool(around) and around.pop()
        elif listed and word in _SELECT_LIST_ENDS:
            listed = False
        elif listed and word in _STRINGS and words[index - 1 - (word == PREFIXED_MARK)] == "as":
            found.add(index)
    return found


# Double quotes that a setting makes strings.

_VALUE_ONLY_AFTER = keywords("= < > like ilike then else between escape")
_VALUES = keywords("values value")
# What follows these up to the statement's end are values: EXEC p "x", "y"; RAISERROR ("x", 16, 1).
_TAKES_VALUES = keywords("exec execute raiserror throw values")
# Behind these a quoted text may name a column or a table again.
_MAY_NAME = keywords(
    "; select from join on where and or set into insert update delete merge create alter drop table as by having using"
    " with when then else case returning output conflict references declare if while begin end union except intersect"
)
# A list of a hundred thousand strings is looked back through no further: from each string it would be quadratic.
_LONGEST_LIST = 400


def only_a_value_stands(words: Sequence[str], index: int) -> bool:
    """Whether what stands in double quotes at `index` stands where a value does, and no name goes on from it."""
    return not _is_qualified(words, index) and (
        _is_compared(words, index) or _without_columns(words, index) or _list_around(words, index) in _VALUES
    )


def _stands_for_a_string(words: Sequence[str], index: int, dialect: Dialect) -> bool:
    """So, and for sure: VALUES may hold columns where it is a relation, or the rows of a MERGE."""
    return not _is_qualified(words, index) and (
        (dialect.compared_quotes and _is_compared(words, index)) or _without_columns(words, index)
    )


def _is_empty(literal: str, words: Sequence[str], index: int) -> bool:
    """Whether the text is `""`, which no column is called."""
    return literal == '""' and not _is_qualified(words, index)


def _is_qualified(words: Sequence[str], index: int) -> bool:
    return words[index + 1 : index + 2] == ["."] or (index > 0 and words[index - 1] == ".")


def _is_compared(words: Sequence[str], index: int) -> bool:
    """Whether the text at `index` stands behind an operator, or is an item of IN ("x", "y")."""
    return (index > 0 and words[index - 1] in _VALUE_ONLY_AFTER) or _list_around(words, index) == "in"


def _without_columns(words: Sequence[str], index: int) -> bool:
    """Whether no relation is there of which the text at `index` could be a column: EXEC p "x", VALUES (1, "x")."""
    before = words[index - 1] if index else ""
    if before in ("print", "return"):
        return True
    for at in range(index - 1, max(index - _LONGEST_LIST, -1), -1):
        word = words[at]
        if word in _TAKES_VALUES:
            # EXEC "p" names a procedure; a VALUES that is a relation, or a MERGE's, may hold columns.
            inserted = words[0] != "merge" and "select" not in words[:at]
            return inserted if word == "values" else at < index - 1
        if word in _MAY_NAME:
            break
    return False


def _list_around(words: Sequence[str], index: int) -> str:
    """The word before the list of literals that the text at `index` is an item of, "" where it is of none."""
    first = max(index - _LONGEST_LIST, 2)
    while index > first and words[index - 1] == "," and words[index - 2] in MARKS:
        index -= 2
    return words[index - 2] if index > 1 and words[index - 1] == "(" else ""


def with_plain_quotes(text: str, lexicon: Lexicon) -> str:
    """The text with strings in single quotes where it has them in double ones, which a parser would take for names.

    T-SQL's `EXEC p "x"`, `VALUES ("x")` and, where the dialect says so, `WHERE a = "x"`.
    """
    words = lexicon.words.findall(scan(text, lexicon).blanked.lower())
    marked = [index for index, word in enumerate(words) if word in MARKS]
    literals = [match for match in lexicon.literals.finditer(text) if match.lastgroup not in (COMMENT, HINT)]
    texts, written = list[str](), 0
    for match, index in zip(literals, marked, strict=False):
        if words[index] != NAME_MARK or match.group()[0] != '"':
            continue
        if _stands_for_a_string(words, index, lexicon.dialect) or _is_empty(match.group(), words, index):
            content = match.group()[1:-1].replace('""', '"').replace("'", "''")
            texts += [text[written : match.start()], f"'{content}'"]
            written = match.end()
    return "".join([*texts, text[written:]])


# What each literal of a statement is for: a value like any other, part of the statement's shape, or a name of data.
#
# A statement is given as words, as `scan` makes them: its words and single characters in order, with a mark for each
# quoted name, string and number. The rules err on the side of "a name": two statements taken for one give a wrong
# edge, one taken for two costs a second parse.

_CONTROL = str.maketrans(dict.fromkeys(MARKS, " "))
_BLANKS = {
    COMMENT: " ",
    HINT: " ",
    STRING: STRING_MARK,
    DOLLAR: STRING_MARK,
    NAME: NAME_MARK,
    NUMBER: NUMBER_MARK,
}
_LONGEST_LENGTH = 10
_PREFIX = re.compile(r"(?<![\w$])(?:[enbxrq]|nq|br|rb|_\w+)\Z", re.IGNORECASE)
_BEFORE_COLUMNS = keywords("insert ins into overwrite")
_LONGEST_TARGET = 12
"""Words of it: [INTO] [TABLE] "catalog" . "schema" . "t"."""
_NO_TARGETS = QUERY_STARTS | keywords("as function partition set")
_NO_COLUMNS = keywords("( = >") | {NUMBER_MARK}
_BEHIND_COLUMNS = QUERIES | keywords("( by default overriding")
_WATCHED = MARKS | {"by"} | RUNS_TEXT | NAMING | _BEFORE_COLUMNS


class UnchangedLiteral(NamedTuple):
    """A quoted name, or a literal that is no mere value: its mark's place among the words, and its own place."""

    position: int
    literal: int
    role: Role


class Scan(NamedTuple):
    """A text with a space for each comment and a mark for each literal and quoted name, and those in order."""

    blanked: str
    literals: list[str]


def prefix_before(text: str, start: int) -> re.Match[str] | None:
    """The prefix (E, N, X, r, _utf8...) that the string at `start` has."""
    before = text[start - 1 : start]
    if not (before.isalnum() or before == "_"):
        return None
    return _PREFIX.search(text, max(0, start - 20), start)


def scan(text: str, lexicon: Lexicon) -> Scan:
    """Takes the comments, literals and quoted names out of `text`; raises Unparsable where one never ends."""
    literals: list[str] = []
    keep = literals.append

    def mark(match: re.Match[str]) -> str:
        kind = match.lastgroup
        if kind == OPEN:
            raise unterminated_error(match)
        sign = _BLANKS[kind]  # type: ignore[index]
        if sign == " ":
            return sign
        keep(match.group())
        start = match.start()
        if sign == STRING_MARK and start and match.string[start - 1].isalpha() and prefix_before(match.string, start):
            return PREFIXED_MARK
        return sign

    for control in MARKS:
        if control in text:
            text = text.translate(_CONTROL)
    return Scan(lexicon.marks.sub(mark, text), literals)


def is_structure(literal: str) -> bool:
    """Whether a literal is a number that a type's length or a list's position can be, or a property's yes or no."""
    return (literal.isdigit() and len(literal) <= _LONGEST_LENGTH) or literal.strip("'\"").lower() in ("true", "false")


def _end_of_columns(words: Sequence[str], index: int) -> int:
    """Where the list of columns ends of the INSERT or INTO that stands at `index`; 0 where it has none.

    SQLite takes a string there for a name: INSERT INTO t ('a') SELECT …. Two that differ in it fill other columns.
    """
    target = words[index + 1 : index + 1 + _LONGEST_TARGET]
    if "(" not in target or target[0] in _BEFORE_COLUMNS:  # INSERT INTO: it is told at the INTO
        return 0
    opening = target.index("(")
    if not _NO_TARGETS.isdisjoint(target[:opening]):
        return 0
    first = index + 1 + opening
    last = _closing(words, first)
    behind = words[last + 1] if last + 1 < len(words) else ""
    return last if behind in _BEHIND_COLUMNS and _NO_COLUMNS.isdisjoint(words[first + 1 : last]) else 0


def kept_literals(words: Sequence[str], dialect: Dialect) -> list[UnchangedLiteral]:
    """The quoted names and the literals that are no mere values, in order, given a statement's words in lower case."""
    kept: list[UnchangedLiteral] = []
    literal = -1
    names_until = 0
    positions: set[int] = set()
    aliases: set[int] | None = None
    by_seen = False
    for index, word in enumerate(words):
        if word not in _WATCHED:
            continue
        if word in MARKS:
            literal += 1
            role: Role | None = Role.NAME
            if word == NAME_MARK:
                role = Role.IDENTIFIER
            elif index >= names_until:
                if word == NUMBER_MARK:
                    role = _number_role(words, index, positions)
                elif words[index - 1 - (word == PREFIXED_MARK)] == "as":
                    aliases = _aliases(words) if aliases is None else aliases
                    role = Role.ALIAS if index in aliases else Role.NAME
                else:
                    role = _string_role(words, index, dialect)
            if role is not None:
                kept.append(UnchangedLiteral(index, literal, role))
        elif word == "by":
            if not by_seen:
                positions.update(_list_positions(words, index))
            by_seen = True
        elif word in RUNS_TEXT:
            names_until = len(words)
        elif word in _BEFORE_COLUMNS:
            names_until = max(names_until, _end_of_columns(words, index))
        elif index >= names_until and _opens_names(words, index):
            names_until = _closing(words, index + 1)
    return kept
