"""What the variables of a session stand for in the statements of a text: the queries, and the texts, that filled them.

MySQL's `SET @day = (SELECT max(d) FROM s); INSERT INTO t SELECT a, @day FROM u` writes what it has read of s; so do
Snowflake's `$day` and DuckDB's `getvariable('day')`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ingestion.dialects import Dialect, dialect_of, fold
from ingestion.dialects.cursor import Code, Edit, with_edits
from ingestion.dialects.definition import keywords
from ingestion.dialects.functions import FUNCTIONS_OF_VALUES
from ingestion.model.lineage import StatementKind
from ingestion.model.outcomes import Outcome
from ingestion.statements._splitting import StatementText
from ingestion.statements.classification import BLOCKS, classify
from ingestion.statements.routines.executed_texts import with_executed_texts
from ingestion.statements.routines.steps import column_queries, with_its_name
from ingestion.statements.script_variables import with_own_variables

_READING = frozenset(
    {
        StatementKind.CREATE_TABLE_AS,
        StatementKind.DELETE,
        StatementKind.INSERT,
        StatementKind.MERGE,
        StatementKind.SELECT,
        StatementKind.UPDATE,
    }
)
_KEEPING = keywords("begin commit start truncate")
"""Behind these all means what it did. Behind any other statement a query may mean other tables than it read (CREATE
TEMPORARY TABLE s hides s), or a variable may hold something else: LOAD DATA and a routine that is called fill them."""
_NAMING = keywords("identifier table")
_BEHIND_TARGETS = keywords("from where group order limit for ;")
_SIGNS = frozenset("(,=<>+-*/%!|&")
_KINDS = keywords("variable var")
"""Between SET and the name."""

_RELATIONS_AFTER = keywords("from join table lateral apply using")
_VALUES_AFTER = _SIGNS | keywords("select distinct all and or not when then else case between like values is in")
"""Behind these a variable is a value: LIMIT and SAMPLE take no query."""
_NO_VALUES_BEFORE = keywords(". [ (")
_MOST_READ = 8
_MOST_ADDED = 16_000
"""Characters that a statement grows by: a thousand rows of a variable would be a thousand queries."""

_ALIAS = "session_variable"
"""What the relation is called in a variable's query, so that none of its columns can be the statement's around it."""
_CLAUSES = keywords("where order limit")
_BETWEEN_COLUMNS = _CLAUSES | keywords(
    "select distinct all and or not is null like between in by asc desc true false ( ) , = < > + - * / % ! |"
)
_ENDING_COLUMN = _BETWEEN_COLUMNS - {"("} | {"from"}
_BEFORE_ALL = keywords("select distinct all ,")
_NO_COLUMNS = keywords(
    "current_date current_time current_timestamp current_user current_role current_catalog current_schema user"
    " current_database session_user system_user localtime localtimestamp utc_date utc_time utc_timestamp sysdate"
    " systimestamp rownum rowid level default"
)
"""Words that are read like a column, without parentheses, and are none."""


def with_variables(statements: Sequence[StatementText], dialect: str) -> Iterator[StatementText]:
    """The statements of a text, each with what the variables in it stand for, as far as those before it tell."""
    own = with_own_variables(statements, dialect)
    return with_executed_texts(_with_queries(own, dialect_of(dialect)), dialect)


def _with_queries(statements: Iterable[StatementText], rules: Dialect) -> Iterator[StatementText]:
    script, mark = tuple(statements), rules.session_variables
    if not mark or len(script) == 1 or not any(mark in one.text.lower() for one in script):
        yield from script
        return
    values = _Values(rules)
    for one in script:
        text = values.read(one.text)
        yield one if text == one.text else replace(one, text=text)


@dataclass(frozen=True, slots=True)
class _FilledBy:
    """A query of one relation that filled a variable: the relation's name, and the query with its columns qualified."""

    relation: tuple[str, ...]
    query: str


@dataclass(slots=True)
class _Values:
    """What queries have given the variables, by their names."""

    rules: Dialect
    known: dict[str, _FilledBy] = field(default_factory=dict)

    def read(self, text: str) -> str:
        """The statement with the variables that it reads replaced; those that it fills are known behind it."""
        found = classify(text, self.rules)
        code = Code.of(text, self.rules)
        moves = found.skip_reason in BLOCKS or found.skip_reason is Outcome.SESSION_STATE
        if moves or (code.word(0) != "set" and found.kind not in _READING):
            if moves or code.word(0) not in _KEEPING:
                self.known.clear()
            return text
        changed: set[str] = set()
        if code.word(0) != "set":
            targets = set(_targets(code))
            changed = {name for first, _last, name in self._variables(code) if first in targets}
            text = self._with_queries(code, changed)
        self._fill(code, changed)
        if code.word(0) == "create":
            self.known.clear()
        return text

    def _with_queries(self, code: Code, changed: set[str]) -> str:
        """The text with the queries of those variables that it only reads; as it is where that would make it long."""
        read = [
            (first, last, self.known[name])
            for first, last, name in self._variables(code)
            if name in self.known and name not in changed
        ]
        if len(read) > _MOST_READ or sum(len(value.query) for _first, _last, value in read) > _MOST_ADDED:
            return code.text
        taking = [(first, last, value) for first, last, value in read if _takes(code, first, last, value)]
        return with_edits(
            code.text, [code.edit(first, last, self._put(code, (first, last), value)) for first, last, value in taking]
        )

    def _put(self, code: Code, span: tuple[int, int], value: _FilledBy) -> str:
        """What stands for a variable: its query, under the name that the engine gives the column."""
        first, last = span
        name = f"@{code.without_quotes(last)}" if code.word(first) == "@" else code.between(first, last + 1)
        name = fold(name, self.rules, quoted=False) if code.word(first).startswith("$") else name
        return with_its_name(code, span, f"({value.query})", name)

    def _variables(self, code: Code) -> Iterator[tuple[int, int, str]]:
        """The first and the last token of each variable, and its name."""
        mark = self.rules.session_variables
        for number in range(len(code)):
            word = code.word(number)
            if mark == "@" and word == mark and _is_marked(code, number):
                yield number, number + 1, code.without_quotes(number + 1).lower()
            elif mark == "$" and word[:1] == mark and code.word(number - 1) != ".":
                if code.word(number - 1) != "(" or code.word(number - 2) not in _NAMING:
                    yield number, number, word[1:]
            elif word == mark and code.word(number + 1) == "(" and code.is_string(number + 2):
                yield number, number + 3, code.without_quotes(number + 2).lower()

    def _fill(self, code: Code, changed: Iterable[str]) -> None:
        """Takes what a statement gives its variables."""
        given = dict(_given_by_set(code, self.known) if code.word(0) == "set" else _given_by_select(code))
        for name in (*changed, *given):
            self.known.pop(name, None)
        values = {name: _value_of(query, code) for name, query in given.items() if query}
        self.known |= {name: value for name, value in values.items() if value is not None}


def _takes(code: Code, first: int, last: int, value: _FilledBy) -> bool:
    """Whether a query can stand in the place of a variable, and means the same there.

    A name of WITH hides a table, and an alias may be taken for the schema that a table is named in.
    """
    before, behind = code.word(first - 1), code.word(last + 1)
    named = before == ">" and code.word(first - 2) == "="
    if before not in _VALUES_AFTER or named or behind in _NO_VALUES_BEFORE or _is_in_relation(code, first):
        return False
    if behind == ":" and code.word(last + 2) != ":":
        return False
    hides = len(value.relation) > 1 or any(code.word(number) == "with" for number in range(len(code)))
    head = value.relation[0].casefold()
    return not hides or not any(
        code.is_name(number) and code.without_quotes(number).casefold() == head and code.word(number + 1) != "."
        for number in range(len(code))
    )


def _is_in_relation(code: Code, number: int) -> bool:
    """Whether a token stands among the arguments of what may be a relation: FROM f(…)."""
    for opening in range(number):
        if code.word(opening) == "(" and code.closing(opening) > number:
            name = opening - 1
            while code.word(name - 1) == ".":
                name -= 2
            if code.is_name(name) and code.word(name - 1) in _RELATIONS_AFTER:
                return True
    return False


def _is_marked(code: Code, number: int) -> bool:
    """Whether the @ at a token marks a variable: not that of @@setting, nor of user@host."""
    touches = number > 0 and code.end_of(number - 1) == code.start_of(number) and code.word(number - 1) not in _SIGNS
    return not touches and code.is_name(number + 1) and code.end_of(number) == code.start_of(number + 1)


def _targets(code: Code) -> Iterator[int]:
    """The first tokens of the variables that a query fills: SELECT 1 INTO @a, @a := 1."""
    into = code.find(0, frozenset({"into"}))
    if code.word(into + 1) == "@":
        yield from (first for first, _last in code.items(into + 1, code.find(into, _BEHIND_TARGETS)))
    yield from (n for n in range(len(code)) if code.word(n) == "@" and code.words(n + 2, 2) == (":", "="))


def _given_by_set(code: Code, known: Iterable[str]) -> Iterator[tuple[str, str]]:
    """What SET gives each variable; "" where no query is it. `SET (a, b) = (SELECT x, y FROM s)` by position.

    Of what is not understood, `SET VARIABLE v TO 3`, every name may be what is filled.
    """
    words = {code.without_quotes(number).lower() for number in range(len(code))}
    yield from ((name, "") for name in known if name in words)
    last = len(code) - (code.word(len(code) - 1) == ";")
    first = 1 + (code.word(1) in _KINDS and code.word(2) != "=")
    if code.word(first) == "(":
        closing = code.closing(first)
        names = [code.without_quotes(begin).lower() for begin, _end in code.items(first + 1, closing)]
        value = closing + 2
        yield from column_queries(_in_parentheses(code, value, last), names, code).items()
        return
    for begin, end in code.items(first, last):
        name = begin + (code.word(begin) == "@")
        equals = name + 1 + (code.word(name + 1) == ":")
        if code.word(equals) == "=":
            yield code.without_quotes(name).lower(), _in_parentheses(code, equals + 1, end)


def _in_parentheses(code: Code, first: int, last: int) -> str:
    """What stands in the parentheses that a stretch is; "" of any other."""
    return code.between(first + 1, last - 1) if code.word(first) == "(" and code.closing(first) == last - 1 else ""


def _given_by_select(code: Code) -> Iterator[tuple[str, str]]:
    """What `SELECT a, b INTO @x, @y FROM t` and `SELECT @x := a, @y := b FROM t` give their variables."""
    if code.word(0) != "select":
        return
    last = len(code) - (code.word(len(code) - 1) == ";")
    into, start = code.find(0, frozenset({"into"}), last), code.find(0, _BEHIND_TARGETS, last)
    if code.word(into + 1) == "@":
        until = code.find(into, _BEHIND_TARGETS, last)
        names = [code.without_quotes(begin + 1).lower() for begin, _end in code.items(into + 1, until)]
        query = f"{code.between(0, into)} {code.between(until, last)}"
    else:
        items = list(code.items(1, start))
        if not all(code.word(begin) == "@" and code.words(begin + 2, 2) == (":", "=") for begin, _end in items):
            return
        names = [code.without_quotes(begin + 1).lower() for begin, _end in items]
        values = ", ".join(code.between(begin + 4, end) for begin, end in items)
        query = f"SELECT {values} {code.between(start, last)}" if "@" not in values else ""
    yield from column_queries(query, names, code).items()


def _value_of(query: str, around: Code) -> _FilledBy | None:
    """The query of a variable where all of it is sure: it reads one relation, and each name in it is a column of that.

    Any other query could mean something of the statement that it is put in.
    """
    code = Code.of(query, around.dialect)
    last = len(code)
    start = code.find(0, frozenset({"from"}))
    relation, end = code.dotted_name(start + 1)
    if code.word(0) != "select" or not relation:
        return None
    behind = end
    called = relation[-1]
    if code.word(end) not in _CLAUSES and end < last:
        alias = end + (code.word(end) == "as")
        called, behind = code.name(alias), alias + 1
    if not called or (behind < last and code.word(behind) not in _CLAUSES):
        return None
    edits: list[Edit] = []
    for number in (*range(start), *range(behind, last)):
        if code.word(number - 1) != "." and code.word(number) != ".":
            edit = _column_edit(code, number, called)
            if edit is None:
                return None
            edits += edit
    edits.append((code.end_of(end - 1), code.end_of(behind - 1), f" AS {_ALIAS}"))
    return _FilledBy(relation, with_edits(query, sorted(edits)))


def _column_edit(code: Code, number: int, called: str) -> list[Edit] | None:
    """The edit that makes a token of the query a column of its one relation; None where it may be anything else."""
    word, behind = code.word(number), code.word(number + 1)
    if word == "*" and code.word(number - 1) in _BEFORE_ALL:
        return None
    if code.is_string(number) or code.is_number(number) or word in _BETWEEN_COLUMNS:
        return []
    if not code.is_name(number) or word in _NO_COLUMNS or word.startswith("$"):
        return None
    if behind == "(":
        return [] if word.upper() in FUNCTIONS_OF_VALUES else None
    last = number
    if behind == ".":
        last = number + 2
        if code.name(number) != called or not code.is_name(last):
            return None
    before, behind = code.word(number - 1), code.word(last + 1)
    if before not in _BETWEEN_COLUMNS or before == ")" or not (behind in _ENDING_COLUMN or last + 1 == len(code)):
        return None
    return [code.edit(number, last, f"{_ALIAS}.{code.between(last, last + 1)}")]
