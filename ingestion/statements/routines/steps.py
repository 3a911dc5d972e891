"""What a routine's body comes to: statements in order, calls of other routines, values of its variables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeAlias

from ingestion.dialects import Dialect, dialect_of
from ingestion.dialects.cursor import Code
from ingestion.dialects.definition import DollarQuotes, Separator, keywords
from ingestion.dialects.keywords import ADMINISTRATIVE_PROCEDURES, SHOWING_PACKAGES
from ingestion.dialects.lexing import CLOSING, DOLLAR, NAME, STRING, WORD, tokens
from ingestion.dialects.relations import relation_at
from ingestion.model.outcomes import Outcome
from ingestion.statements.routines._variable_items import VariableItems

_PREFIXES = frozenset({"n", "e", "r", "q", "nq"})

TRIGGER_ROWS = ("new", "old")
"""What a trigger calls the row that is written, after and before."""
_CALL_HEAD = 40
_CALL_VERBS = frozenset({"call", "exec", "execute", "select", "perform"})
_NO_ROUTINES = frozenset({"sp_executesql", "sp_rename", "immediate"})

_OF_ITEM = frozenset({("as", "("), ("as", "materialized"), ("as", "not")})
"""Behind the name of a query in WITH, which is no variable: `WITH v AS (SELECT …)`."""
_NAMED_AFTER = frozenset({".", "as", "@"})
_BEFORE_RELATION = frozenset({"from", "join", "using", "update", "merge"})
_MODES = frozenset({"in", "out", "inout"})
_ENDS_SET = frozenset({"from", "where", ";", "when"})
_AT = frozenset({"at"})
_OF_THIS_DATABASE = 2
"""Parts of a name, which may have a schema."""
_LONGEST_QUERY = 4_000
"""Characters of a variable's query and those that it reads: variables made of variables grow without end."""
_INTO_TABLE = keywords("insert merge overwrite ignore")
_QUERY_STARTS = keywords("select sel with from")
_IN_PARENTHESES = _QUERY_STARTS | {"("}
_BEFORE_COLUMN = keywords("select distinct all ,")
_BEHIND_COLUMN = keywords(", from ) ;")
_ENDS_LIST = keywords("select from where by having set values on using when insert ( ;")
_LISTED_AFTER = frozenset({"into", "update", "conflict"})
_ALL_FIELDS = re.compile(r"(?<!\w)([A-Za-z_]\w*+)\s*+\.\s*+\*")
_VALUES_OF_RECORD = re.compile(r"\bvalues\s*\(\s*(\w+\s*\.\s*\*)\s*\)\s*\Z", re.IGNORECASE)
_FOR_UPDATE = re.compile(r"\bfor\s+(?:update|share)\b[\s\S]*\Z", re.IGNORECASE)
_FROM = re.compile(r"\b(?:from|union)\b", re.IGNORECASE)
_NAMES = keywords("sysname")
_LONGEST_NAME = 128
_LONG_TEXTS = keywords("text ntext")
_PADDED = keywords("char nchar")
_TEXTS = _PADDED | keywords("varchar nvarchar")
_UNLIMITED = 2**31 - 1
_LENGTHS = frozenset(map(str, range(1, 8_001)))
_SQL_STARTS = keywords("select with insert update delete merge create replace copy truncate call")


@dataclass(frozen=True, slots=True)
class RoutineStep:
    """One thing that a body does: runs a statement (`text`), calls a routine (`calls`), or what `problem` says.

    In `text` the routine's variables are parameters (`:name`), or items of WITH that have the queries that filled them.
    `straight`: the body has no branch, loop or handler by which it may be left out, run again or taken back.
    """

    text: str = ""
    calls: tuple[str, ...] = ()
    problem: str = ""
    straight: bool = field(default=False, compare=False)


def constant(code: Code, first: int, last: int) -> str | None:
    """The text that string literals from `first` to `last` make, joined by || or +; None where it is not constant."""
    texts: list[str] = []
    for index in range(first, last):
        token = code.tokens[index]
        if token.kind in (STRING, DOLLAR):
            freely = code.dialect.q_quotes and code.word(index - 1) in ("q", "nq")
            texts.append(token.text[2:-2] if freely else code.without_quotes(index))
        elif token.kind == WORD and token.text.lower() in _PREFIXES and index + 1 < last:
            continue
        elif token.text not in ("|", "+", "(", ")"):
            return None
    return "".join(texts) if texts else None


def without_repetition(steps: Sequence[RoutineStep]) -> tuple[RoutineStep, ...]:
    """Steps that say the same twice in a row (both branches of an IF) once."""
    kept: list[RoutineStep] = []
    for step in steps:
        if not kept or kept[-1] != step:
            kept.append(step)
    return tuple(kept)


def called_routine(text: str, dialect: Dialect | str) -> tuple[str, ...]:
    """The name of the routine that a statement runs, folded as the dialect folds; empty where it runs none."""
    rules = dialect_of(dialect) if isinstance(dialect, str) else dialect
    code = Code(text, tuple(islice(tokens(text, rules), _CALL_HEAD)), rules)
    if rules.separator is Separator.GO and code.word(0) not in _CALL_VERBS:  # T-SQL runs what a batch begins with
        return _executed_name(code, 0)
    return routine_called_at(code, 0)


def may_move_rows(called: Sequence[str], dialect: Dialect | str) -> bool:
    """Whether rows of tables may come of a call of this name; what is known to show or to set something moves none.

    Of SQL Server's own procedures only there: another engine's of such a name are its users'.
    """
    rules = dialect_of(dialect) if isinstance(dialect, str) else dialect
    is_administrative = rules.separator is Separator.GO and called[-1].lower() in ADMINISTRATIVE_PROCEDURES
    return called[0].lower() not in SHOWING_PACKAGES and not is_administrative


def routine_called_at(code: Code, index: int) -> tuple[str, ...]:
    """The routine that the statement starting at a token runs."""
    verb = code.word(index)
    if verb == "call":
        return code.dotted_name(index + 1)[0]
    if verb in ("exec", "execute"):
        return _executed_name(code, index + 1)
    if verb in ("select", "perform"):
        return _selected_name(code, index + 1)
    return ()


def runs_elsewhere(code: Code, first: int, last: int) -> bool:
    """T-SQL: whether the EXEC from `first` to `last` runs a text whose names are another server's or database's.

    EXEC ('text') AT server; EXEC db.sys.sp_executesql N'text', which runs as though `USE db` had been said.
    """
    name_at = first + 1 + 2 * (code.word(first + 2) == "=")
    return code.find(first, _AT, last) < last or len(code.dotted_name(name_at)[0]) > _OF_THIS_DATABASE


def _executed_name(code: Code, index: int) -> tuple[str, ...]:
    """T-SQL's EXEC [@status =] name; Snowflake's EXECUTE TASK name, EXECUTE ALERT name; Oracle's EXEC name."""
    if code.word(index) in ("task", "alert", "procedure"):
        index += 1
    if code.word(index).startswith("@") and code.word(index + 1) == "=":
        index += 2
    if code.word(index)[:1] in ("@", "("):
        return ()
    name, after = code.dotted_name(index)
    return () if not name or name[-1].lower() in _NO_ROUTINES or code.word(after) == "=" else name


def _selected_name(code: Code, index: int) -> tuple[str, ...]:
    """SELECT f(...) with nothing else: how PostgreSQL runs a function for what it does."""
    if code.dialect.dollar_quotes is not DollarQuotes.TAGGED:
        return ()
    if code.words(index, 2) == ("*", "from"):
        index += 2
    name, after = code.dotted_name(index)
    if not name or code.word(after) != "(":
        return ()
    closing = code.closing(after)
    return name if code.word(closing + 1) in ("", ";") and closing < len(code.tokens) else ()


# A routine's variables: no columns, but what they were filled from may be read through them.


Texts: TypeAlias = tuple[dict[str, str | None], frozenset[str]]
"""The texts of variables, and the names of those that were given an empty one."""


@dataclass(frozen=True, slots=True)
class Held:
    """What a variable of T-SQL can hold of a text: so many characters, filled up with blanks where it `pads`."""

    longest: int
    pads: bool = False

    def keep(self, text: str) -> str | None:
        """What becomes of a text; None where the variable takes it only in part."""
        if len(text) > self.longest:
            return None
        return text.ljust(self.longest) if self.pads else text


def held_by(code: Code, index: int) -> Held:
    """What a variable of the type at an index holds; nothing of a text where that is not known to be a text's."""
    name, after = code.dotted_name(index)
    type_ = name[-1].lower() if name else ""
    if type_ in _NAMES:
        return Held(_LONGEST_NAME)
    if type_ in _LONG_TEXTS:
        return Held(_UNLIMITED)
    if type_ not in _TEXTS or code.word(after) == "varying":
        return Held(-1)
    length = code.tokens[after + 1].text.lower() if code.word(after) == "(" and after + 1 < len(code) else "1"
    longest = _UNLIMITED if length == "max" else int(length) if length in _LENGTHS else -1
    return Held(longest, pads=type_ in _PADDED)


@dataclass(slots=True)
class Variables:
    """What a body's names stand for, as far as its text has been read.

    `queries` has the query of each record and cursor, `values` the query of a variable that was filled once,
    `texts` its constant text, `emptied` the names that were given an empty one, `fields` the queries of a record's
    fields that were filled by themselves, `rows` the names that were declared as rows, `blocks` those of blocks,
    `row_types` the columns' names by a type of rows, and by a variable of it with a dot behind. A variable that is
    filled twice stands for neither.
    `unmarked`: names stand for them without a mark in a dialect that has marks too, as the parameters of Snowflake's
    functions do. `placeholders` has, of a parameter that is to be known again in the text, what stands for it. `table`
    is the one whose rows a trigger may change before they are written, under the names of `changeable`; "" where none
    is. `jumps`: the body has a GOTO, and what it gives variables is in no order. `items` are the queries that stand in
    their places.
    """

    unmarked: bool = False
    declared: set[str] = field(default_factory=set)
    queries: dict[str, str] = field(default_factory=dict)
    values: dict[str, str | None] = field(default_factory=dict)
    texts: dict[str, str | None] = field(default_factory=dict)
    emptied: set[str] = field(default_factory=set)
    fields: dict[str, dict[str, str | None]] = field(default_factory=dict)
    rows: set[str] = field(default_factory=set)
    blocks: set[str] = field(default_factory=set)
    row_types: dict[str, tuple[str, ...]] = field(default_factory=dict)
    table: str = ""
    changeable: frozenset[str] = frozenset()
    placeholders: Mapping[str, str] = field(default_factory=dict)
    jumps: bool = False
    items: VariableItems = field(default_factory=VariableItems)

    def is_changeable(self, name: str) -> bool:
        """Whether a name is the row that a trigger may change: NEW of `NEW.total := NEW.price * NEW.qty`."""
        return name.casefold() in self.changeable

    def change(self, column: str, value: str | None, dialect: Dialect) -> RoutineStep:
        """What a trigger does that gives a column of its row a value; None for all columns, which no text lists."""
        if value is None:
            return RoutineStep(problem=Outcome.WHOLE_ROWS)
        return RoutineStep(self.items.complete(f"UPDATE {self.table} SET {column} = {value}", dialect))

    def declare_row(self, name: str) -> None:
        """A name that is a row, whatever it is filled from."""
        self.rows.add(name.casefold())

    def name_block(self, name: str) -> None:
        """A name that may stand before a variable, as `m` of `m.x` does."""
        self.blocks.add(name.casefold())

    def describe_rows(self, type_: str, fields: list[str]) -> None:
        """A type of rows, and what it calls their columns."""
        self.row_types[type_.casefold()] = tuple(fields)

    def give_type(self, name: str, type_: str) -> None:
        """A variable of a type, whose fields are known where it is one of rows."""
        fields = self.row_types.get(type_.casefold())
        if fields is not None:
            self.row_types[f"{name.casefold()}."] = fields

    def fields_of(self, name: str) -> tuple[str, ...]:
        """What the columns of a row are called, by the type of its variable; () where that says nothing."""
        return self.row_types.get(f"{name.casefold()}.", ())

    def is_row(self, name: str) -> bool:
        """Whether a name was declared as a row."""
        return name.casefold() in self.rows

    def fill_field(self, record: str, name: str, query: str) -> None:
        """A field of a record takes the value of a query."""
        known = self.fields.setdefault(record.casefold(), {})
        same = known.get(name, query) == query and self.items.length_of(query) <= _LONGEST_QUERY
        known[name] = query if same else None

    def declare(self, name: str) -> None:
        """A name that is a variable from here on."""
        if name:
            self.declared.add(name.casefold())

    def fill(self, name: str, query: str) -> None:
        """A variable takes the value of a query."""
        key = name.casefold()
        self.declared.add(key)
        known = self.values.get(key, query)
        is_short = self.items.length_of(query) <= _LONGEST_QUERY
        if known is not None and self.items.reads(query, known):  # x := f(x), which is made of what x was made of
            self.values[key] = query if is_short else known
            return
        self.values[key] = query if known == query and is_short else None

    def record(self, name: str, query: str, *, replaces: bool = False) -> None:
        """A record or cursor stands for the rows of a query: of the first one, or `replaces` of this one."""
        self.declare(name)
        if replaces:
            self.queries.pop(name.casefold(), None)
        if self.items.length_of(query) <= _LONGEST_QUERY:
            self.queries.setdefault(name.casefold(), query)

    def set_constant(self, name: str, text: str | None, *, replaces: bool = False) -> None:
        """A variable takes a text; None where that is not constant. An empty one is only what others come to.

        `replaces`: it does so in any case, and has this text from here on, whatever it had before.
        """
        key = name.casefold()
        self.declared.add(key)
        if replaces and not self.jumps:
            self.emptied.discard(key)
            self.texts[key] = text
            return
        if text == "":
            self.emptied.add(key)
            return
        self.texts[key] = None if key in self.texts and self.texts[key] != text else text

    def forget_texts(self) -> None:
        """No variable has a text any more that is known."""
        self.texts = dict.fromkeys(self.texts)

    def forget_text(self, name: str) -> None:
        """A variable has a text no more that is known."""
        self.texts[name.casefold()] = None

    def known_texts(self) -> Texts:
        """The texts of all variables at this point of a body."""
        return dict(self.texts), frozenset(self.emptied)

    def join_texts(self, before: Texts) -> None:
        """Behind what may have been passed over since `before` a variable has a text only if it had the same."""
        texts, emptied = before
        self.emptied |= emptied
        for key, text in texts.items():
            now = self.texts[key]
            if now == text:
                continue
            self.texts[key] = None
            if text is not None and now is not None and "" in (text, now):
                self.emptied.add(key)
                self.texts[key] = text or now

    def text_of(self, name: str) -> str | None:
        """The one constant text of a variable."""
        return self.texts.get(name.casefold())

    def part_of(self, name: str) -> str | None:
        """The same where it is a part of another text, which an empty one would make another statement."""
        return None if name.casefold() in self.emptied else self.text_of(name)

    def query_of(self, name: str) -> str | None:
        """The query behind a record or cursor."""
        return self.queries.get(name.casefold())


def with_parameters(code: Code, first: int, last: int, variables: Variables) -> str:
    """The text from token to token with every variable replaced: by the item of its query, else by a parameter."""
    texts: list[str] = []
    written, done = code.start_of(first), first - 1
    marked = code.dialect.marked_variables and not variables.unmarked and _is_sql(code, first)
    relations = list(_relations(code, first, last))
    listed = {*_listed_names(code, first, last), *(alias for _name, alias in relations)}
    names = {name for name, _alias in relations}
    for index in range(first, last):
        token = code.tokens[index]
        value = variables.values.get(f"@{code.name(index).casefold()}") if code.word(index - 1) == "@" else None
        if value is not None and index > max(first, done + 1):
            named = f"@{code.without_quotes(index)}"
            put_value = with_its_name(code, (index - 1, index), variables.items.value_of(value), named)
            texts += [code.text[written : code.start_of(index - 1)], put_value]
            written, done = code.end_of(index), index
            continue
        if index <= done or token.kind not in (WORD, NAME) or index in listed or code.word(index - 1) in _NAMED_AFTER:
            continue
        find_rows = _ROWS_AFTER.get(code.word(index))
        put = find_rows(code, index, variables) if find_rows is not None else None
        put = put or _replacement(code, index, variables)
        if put is None and code.name(index).casefold() not in names:
            put = _field_of_value(code, index, variables)
        if put is None or _names_an_argument(code, index) or code.words(index + 1, 2) in _OF_ITEM:
            continue
        text, until = put
        is_marked = code.word(index - 1) == ":"
        if until == index and not is_marked and (marked or _names_relation(code, first, index)):
            continue
        start = index - 1 if is_marked and index > first else index
        named = code.name(until) or code.name(index)
        texts += [code.text[written : code.start_of(start)], with_its_name(code, (start, until), text, named)]
        written, done = code.end_of(until), until
    texts.append(code.text[written : code.end_of(last - 1)] if last > first else "")
    return "".join(texts)


def with_its_name(code: Code, span: tuple[int, int], text: str, name: str) -> str:
    """The query that stands for a variable, from token to token, as a column of its name where it is one by itself.

    As a query it would have a name that others have too.
    """
    first, last = span
    alone = code.word(first - 1) in _BEFORE_COLUMN and (code.word(last + 1) in _BEHIND_COLUMN or last + 1 == len(code))
    if not alone or not text.startswith("(") or not name:
        return text
    index = first - 1
    while index > 0 and code.word(index) not in _ENDS_LIST:
        index = (code.opening(index) if code.word(index) == ")" else index) - 1
    return f"{text} AS {_in_quotes(name, code.dialect)}" if code.word(index) == "select" else text


def _relations(code: Code, first: int, last: int) -> Iterator[tuple[str, int | None]]:
    """The names that columns have before them, of FROM t s, and where one is an alias: no variable is meant there."""
    for index in range(first, last):
        if code.word(index) not in _BEFORE_RELATION or code.word(index - 1) == ".":
            continue
        at = index + 1 + (code.stands(index, "merge", "into"))
        while at < last:
            found = relation_at(code, at)
            if found.end == at or code.word(at) in _MODES:
                break
            if found.parts:
                yield found.parts[-1].casefold(), None
            if found.alias is not None and found.alias < last:
                yield code.name(found.alias).casefold(), found.alias
            if code.word(found.behind) != ",":
                break
            at = found.behind + 1


def _field_of_value(code: Code, index: int, variables: Variables) -> tuple[str, int] | None:
    """What stands for a field of a variable that is a struct, as s.a is: a.b would be a field of a column else."""
    key, dialect = code.name(index).casefold(), code.dialect
    known = key in variables.rows or key in variables.blocks or variables.is_changeable(key)
    marked = dialect.marked_variables and not variables.unmarked
    if key not in variables.declared or known or marked or not dialect.struct_access or code.word(index + 1) != ".":
        return None
    if variables.query_of(key) is not None or key in variables.fields:
        return None
    _parts, end = code.dotted_name(index)
    return None if code.word(end) == "(" else (f"{dialect.parameter_mark}{key}", end - 1)


def _names_relation(code: Code, first: int, index: int) -> bool:
    """Whether a name stands where only a relation can, whatever variable is called the same."""
    before = code.word(index - 1)
    if code.tokens[index].text.startswith("@"):
        return False
    if before in ("update", "table") or (before == "into" and code.word(index - 2) in _INTO_TABLE):
        return True
    if before not in ("from", "join"):
        return False
    depth = 0
    for each in range(index - 1, first, -1):
        depth += {")": 1, "(": -1}.get(code.word(each), 0)
        if depth < 0:
            return code.word(each + 1) in _QUERY_STARTS  # and not EXTRACT(YEAR FROM v)
    return True


def _is_sql(code: Code, first: int) -> bool:
    """Whether the text from `first` on is a statement of SQL or a query, and not an expression of the script."""
    while code.word(first) == "(":
        first += 1
    return code.word(first) in _SQL_STARTS


def _names_an_argument(code: Code, index: int) -> bool:
    """Whether a name is that of a function's parameter: f(name => value)."""
    return code.words(index + 1, 2) == ("=", ">") and code.end_of(index + 1) == code.start_of(index + 2)


def _replacement(code: Code, index: int, variables: Variables) -> tuple[str, int] | None:
    """What stands for the name at `index`, and the last token that it stands for."""
    token = code.tokens[index]
    key = code.name(index).casefold()
    query, value = variables.query_of(key), variables.values.get(key)
    end = index
    if code.word(index + 1) == "(" and (query is not None or value is not None):  # an element of a collection
        end = code.closing(index + 1)
    follows = code.word(end + 1)
    own = variables.fields.get(key, {}).get(code.name(end + 2)) if follows == "." else None
    if own is not None:
        return variables.items.value_of(own), end + 2
    if query is not None and follows == ".":
        field_name = code.tokens[end + 2].text if end + 2 < len(code.tokens) else ""
        if field_name == "*":
            return None
        return f"(SELECT {token.text}.{field_name} FROM {variables.items.name_of(query)} {token.text})", end + 2
    if follows == "." and key in variables.blocks and (put := _replacement(code, index + 2, variables)) is not None:
        return put
    if key not in variables.declared or follows in (".", "("):
        return None
    if code.words(index - 2, 2) == ("as", "of"):  # FOR SYSTEM_TIME AS OF, which takes no query
        query = value = None
    elif code.word(index - 1) == "of":  # MEMBER OF a collection
        return f":{token.text}", index
    if value is not None:
        return variables.items.value_of(value), end
    if query is not None and key not in variables.values and code.dialect.dollar_quotes is DollarQuotes.TAGGED:
        return f"(SELECT {token.text} FROM {variables.items.name_of(query)} {token.text})", index  # the row as a value
    named = variables.placeholders.get(key, token.text.removeprefix("@"))
    return f"{'@' if token.text.startswith('@') else code.dialect.parameter_mark}{named}", index


def _rows_of_cursor(code: Code, index: int, variables: Variables) -> tuple[str, int] | None:
    """What stands for WHERE CURRENT OF c: that the cursor's query gives the row."""
    if code.words(index + 1, 2) != ("current", "of"):
        return None
    query = variables.query_of(code.name(index + 3) or code.word(index + 3))
    condition = "" if query is None else f"WHERE EXISTS {variables.items.value_of(_FOR_UPDATE.sub('', query))}"
    return condition, index + 3


def _rows_of_result(code: Code, index: int, variables: Variables) -> tuple[str, int] | None:
    """What stands for `TABLE(rs)`, rs a result set or a collection of records: the query of its rows."""
    if code.word(index + 1) != "(" or code.closing(index + 1) != index + 3:
        return None
    query = variables.query_of(code.name(index + 2))
    return None if query is None else (variables.items.name_of(query), index + 3)


def _record_of_values(code: Code, index: int, variables: Variables) -> tuple[str, int] | None:
    """What stands for Oracle's `VALUES r`, r a record or an element of a collection of them: the query of its row."""
    name = code.name(index + 1)
    if not name:
        return None
    end = code.closing(index + 2) if code.word(index + 2) == "(" else index + 1
    if code.word(end + 1) not in ("", ";", "returning", "log"):
        return None
    own, query = variables.fields.get(name.casefold(), {}), variables.query_of(name)
    if query is None and own and all(value is not None for value in own.values()):
        columns = ", ".join(_in_quotes(column, code.dialect) for column in own)
        values = ", ".join(variables.items.value_of(value) for value in own.values() if value is not None)
        return f"({columns}) SELECT {values}", end
    if query is None or own:
        return None
    return f"SELECT * FROM {variables.items.name_of(query)} {code.tokens[index + 1].text}", end


_ROWS_AFTER: Mapping[str, Callable[[Code, int, Variables], tuple[str, int] | None]] = {
    "table": _rows_of_result,
    "values": _record_of_values,
    "where": _rows_of_cursor,
}
"""What reads the rows that a cursor, a result set or a record stands for, by the word that it stands behind."""


def _in_quotes(name: str, dialect: Dialect) -> str:
    opening = dialect.name_quotes[0]
    return f"{opening}{name}{CLOSING.get(opening, opening)}"


def with_whole_records(text: str, variables: Variables) -> str:
    """`INSERT INTO t SELECT r.*` and `INSERT INTO t VALUES (r.*)` with the query of the record r behind them."""
    found = _ALL_FIELDS.search(text)
    query = variables.query_of(found[1]) if found is not None else None
    # Those of a trigger are its table's, which is told where the trigger is read.
    if found is None or query is None or found[1].lower() in TRIGGER_ROWS or _FROM.search(text):
        return text
    listed = _VALUES_OF_RECORD.search(text)
    text = text if listed is None else f"{text[: listed.start()]}SELECT {listed[1]}"
    return f"{text} FROM {variables.items.name_of(query)} {found[1]}"


def _listed_names(code: Code, first: int, last: int) -> Iterator[int]:
    """The tokens that must be columns: INSERT's list, and what SET assigns to. A query in parentheses is no list."""
    index = first
    while index < last:
        word = code.word(index)
        if word in _LISTED_AFTER:
            _parts, after = code.dotted_name(index + 1)
            if code.word(after) == "(" and code.word(after + 1) not in _IN_PARENTHESES:
                closing = code.closing(after)
                yield from range(after, min(closing, last))
                index = closing
        elif word == "set":
            for begin, end in code.items(index + 1, code.find(index + 1, _ENDS_SET, last)):
                if code.word(begin + 1) in ("=", ".") and begin < last:
                    yield from range(begin, code.find(begin, frozenset({"="}), end))
        index += 1


def _projections(query: str, code: Code) -> tuple[Sequence[str], str, str]:
    """The output expressions of a plain SELECT, its WITH, and the text after them; nothing where it is not plain."""
    inner = Code.of(query, code.dialect)
    select = inner.find(0, frozenset({"select"})) if inner.word(0) == "with" else 0
    if inner.word(select) != "select":
        return (), "", ""
    start = select + 2 if inner.word(select + 1) in ("distinct", "all") else select + 1
    until = inner.find(start, frozenset({"from", "union", "intersect", "except", ";"}))
    if inner.word(until) not in ("from", ""):
        return (), "", ""
    listed = [inner.between(begin, end) for begin, end in inner.items(start, until)]
    rest = inner.text[inner.start_of(until) :] if until < len(inner.tokens) else ""
    return listed, inner.text[: inner.start_of(select)], rest


def column_queries(query: str, names: Sequence[str], code: Code) -> Mapping[str, str]:
    """For each variable that a query fills by position: the query of its value alone."""
    listed, common, rest = _projections(query, code)
    if len(listed) != len(names):
        return {}
    return {name: f"{common}SELECT {expression} {rest}".strip() for name, expression in zip(names, listed, strict=True)}
