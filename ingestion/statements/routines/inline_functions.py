"""Functions whose body is known: views with parameters, through which lineage passes like through any view.

One that gives rows is the view of its query; one that gives a value is a view of one row, whose conditions act on that
value alone. So is one that reads no table: what its body does with its arguments is what they are to its value.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ingestion.analysis.form import RelationalStatement, WriteForm
from ingestion.analysis.symbolic import Symbolic
from ingestion.dialects import Dialect, dialect_of
from ingestion.dialects.cursor import Code
from ingestion.dialects.definition import DollarQuotes, keywords
from ingestion.model.function_parameters import placeholder, plain_name
from ingestion.model.lineage import NameKind, TableName
from ingestion.statements.routines._reader import read_body
from ingestion.statements.routines._signature import MACRO, Header, read_header
from ingestion.statements.routines.definition import quote_name
from ingestion.statements.routines.steps import Variables, with_parameters

_DEFINES_FUNCTION = re.compile(r"\s*(?:create|alter)\b(?:\s+(?!with\b)\w+){0,5}?\s+(?:function|macro)\b", re.IGNORECASE)
_QUERIES = keywords("select with values")
_STATEMENTS = keywords("begin declare return if set insert update delete merge call")
_READS = re.compile(r"\bfrom\b", re.IGNORECASE)
_NUMBERED = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|\$(?P<number>\d+)\b")
_ROWS = keywords("select (")
_INSERT = frozenset({"insert"})
_ENDS = frozenset({";", ","})
_RESULT = "result"
"""The column under which a function's value is read."""


@dataclass(frozen=True, slots=True)
class FunctionView:
    """A function as a view: `text` creates it, `given` are its parameters where the text has a placeholder for each.

    `reads` is whether the body may read tables; of one that reads none, nothing is lost where it is not understood.
    """

    text: str
    given: tuple[str, ...] | None
    reads: bool


def function_as_view(text: str, dialect: str) -> FunctionView | None:
    """CREATE VIEW under the function's name with the query that it comes to; None where it is more than a query.

    A function that gives a value gives it as the column `result`. One that reads no table is a view only where its
    body says what becomes of each argument: else all of them make its value, as with a function that nobody knows.
    """
    if not _DEFINES_FUNCTION.match(text):
        return None
    rules = dialect_of(dialect)
    header = read_header(text, rules)
    if header is None or header.kind not in ("function", MACRO) or not header.readable or header.returns_trigger:
        return None
    if header.kind == MACRO and not (rules.untyped_parameters or rules.expression_macros):  # Teradata's is a script
        return None
    given = _known_parameters(header, rules)
    variables = _parameters(header, known_again=given is not None)
    reads = header.returns_table or _READS.search(header.body) is not None
    if header.rows:
        queries: tuple[str, ...] = _filling_queries(header, rules, variables)
    elif header.returns_table:
        query = _only_query(header.body, rules, variables)
        queries = _returned_queries(header, rules, variables) if query is None else (query,)
        if not all(_is_named(query, header, rules) for query in queries):
            return None
    elif reads:
        queries = _values_of(header, rules, variables)
    else:
        queries = (_computed_value(header, rules, variables),) if given else ()
    if not any(queries):
        return None
    shown = [_by_number(query, header, rules) for query in queries]
    if given is not None and not _shows_all(header, shown, rules):
        given = None
    if not reads and given is None:
        return None
    text = _with_tables(" UNION ALL ".join(shown), header, rules)
    name = ".".join(quote_name(part, rules) for part in header.name)
    columns = ", ".join(quote_name(column, rules) for column in header.columns)
    return FunctionView(f"CREATE VIEW {name} {f'({columns}) ' if columns else ''}AS {text}", given, reads)


def _with_tables(query: str, header: Header, dialect: Dialect) -> str:
    """A query with its function's parameters that are tables: they have columns, and are no tables of anybody's."""
    if not header.tables:
        return query
    made = []
    for name, columns in header.tables:
        listed = ", ".join(f"NULL AS {quote_name(column, dialect)}" for column in columns)
        rows = f"SELECT {listed}" if columns else "SELECT q.* FROM (SELECT NULL AS q) AS p"
        made.append(f"{quote_name(name, dialect)} AS ({rows})")
    return f"WITH {', '.join(made)} SELECT * FROM ({query})"


def _values_of(header: Header, dialect: Dialect, variables: Variables) -> tuple[str, ...]:
    """The queries of the values that a function gives, where they are read from tables and nothing is written."""
    query = _only_query(header.body, dialect, variables)
    if query is not None:
        return (f"SELECT ({query}) AS {_RESULT}",)
    steps, returned = read_body(header.body, dialect, variables)
    if steps:
        return ()
    if not returned and (expression := _only_expression(header.body, dialect, variables)):
        returned = (expression,)
    read = [expression for expression in dict.fromkeys(returned) if _READS.search(expression)]
    return tuple(f"SELECT ({expression}) AS {_RESULT}" for expression in read)


def _filling_queries(header: Header, dialect: Dialect, variables: Variables) -> tuple[str, ...]:
    """The queries whose rows T-SQL's `RETURNS @r TABLE (…)` gives; none where its body does more than INSERT them."""
    if not header.columns:
        return ()
    steps, _returned = read_body(header.body, dialect, variables)
    queries = tuple(_inserted_query(Code.of(step.text, dialect), header) for step in steps)
    return queries if all(queries) else ()


def _returned_queries(header: Header, dialect: Dialect, variables: Variables) -> tuple[str, ...]:
    """The queries whose rows PL/pgSQL's RETURN QUERY gives; none where its body does more than that."""
    steps, returned = read_body(header.body, dialect, variables)
    only_queries = all(Code.of(one, dialect, 1).word(0) in _QUERIES for one in returned)
    named = header.columns or header.row_type
    return returned if named and only_queries and not steps else ()


def _is_named(query: str, header: Header, dialect: Dialect) -> bool:
    """Whether the rows of a query have its columns' names: those of RETURNS SETOF t have t's, by their positions.

    They are the same of t's own rows. One value alone can be mistaken for no other, and a call names those of a record.
    """
    if header.columns or not header.row_type or header.row_type == ("record",):
        return True
    code = Code.of(query, dialect)
    select = code.find(0, frozenset({"select"})) + 1
    start = code.find(select, frozenset({"from"}))
    listed = list(code.items(select, start))
    if code.word(start - 1) != "*":
        return len(listed) == 1
    table, end = code.dotted_name(start + 1)
    alias = code.name(end + (code.word(end) == "as"))
    of_table = start - select == 1 or code.name(select) in (*table[-1:], alias)
    same = table[-len(header.row_type) :] == header.row_type[-len(table) :]
    return bool(table) and same and of_table and len(listed) == 1


def _inserted_query(code: Code, header: Header) -> str:
    """The query of an INSERT into the rows that a function gives, with all their columns; "" of other statements."""
    insert = code.find(0, _INSERT) if code.word(0) == "with" else 0
    target = insert + 1 + (code.word(insert + 1) == "into")
    if code.word(insert) != "insert" or code.word(target) != header.rows:
        return ""
    first, columns = target + 1, header.columns
    if code.word(first) == "(" and code.word(first + 1) not in _QUERIES:
        closing = code.closing(first)
        columns = tuple(code.name(begin) for begin, _end in code.items(first + 1, closing))
        first = closing + 1
    last = len(code) - (code.word(len(code) - 1) == ";")
    query = code.between(first, last)
    if code.word(first) == "values" and code.closing(first + 1) == last - 1:
        query = f"SELECT {code.between(first + 2, last - 1)}"
    elif code.word(first) not in _ROWS or header.rows in code.words(first, last - first):
        return ""
    given = ", ".join(quote_name(column, code.dialect) for column in columns)
    shown = (f"q.{quote_name(one, code.dialect)}" if one in columns else "NULL" for one in header.columns)
    return f"SELECT {', '.join(shown)} FROM ({code.between(0, insert)} {query}) AS q ({given})"


def _shows_all(header: Header, queries: Sequence[str], dialect: Dialect) -> bool:
    """Whether one of the queries names each parameter as often as the body does.

    In `IF y > 0 THEN RETURN 0; END IF; RETURN (SELECT max(v) FROM t);` y decides, and no query tells.
    """
    code = Code.of(header.body, dialect)
    named = Counter(code.name(index).casefold() for index in range(len(code.tokens)))
    numbered = Counter(match["number"] for match in _NUMBERED.finditer(header.body))
    for number, name in enumerate(header.given, 1):
        mark = re.compile(rf"\b{placeholder(number, name)}\b")
        mentions = named[name.casefold()] if name else 0
        if mentions + numbered[str(number)] > max(len(mark.findall(query)) for query in queries):
            return False
    return True


def _computed_value(header: Header, dialect: Dialect, variables: Variables) -> str:
    """The query of a value that is made of parameters alone: `a + 1`, `RETURN a + 1`, or a block with only that.

    "" where it is more than that.
    """
    query = _only_query(header.body, dialect, variables)
    if query is not None:
        return f"SELECT ({query}) AS {_RESULT}"
    code = Code.of(header.body, dialect)
    first, last = 0, len(code.tokens)
    if code.word(0) == "begin":
        first, last = 1, next((index for index in range(last - 1, 0, -1) if code.word(index) == "end"), last)
    returned = code.word(first) == "return"
    first += returned
    while last > first and code.word(last - 1) == ";":
        last -= 1
    starts = returned or code.word(first) not in _STATEMENTS or code.word(first + 1) == "("  # IF(a > 0, b, c)
    if not starts or code.word(first) in _QUERIES or code.find(first, _ENDS) < last or first == last:
        return ""
    return f"SELECT ({with_parameters(code, first, last, variables)}) AS {_RESULT}"


def _known_parameters(header: Header, dialect: Dialect) -> tuple[str, ...] | None:
    """The parameters that a call gives, as placeholders name them; None where the body may name them otherwise."""
    takes_several = bool(header.parameters) and not header.given
    if takes_several or header.tables or _names_otherwise(header, dialect):
        return None
    return tuple(plain_name(name) for name in header.given)


def _parameters(header: Header, *, known_again: bool = True) -> Variables:
    named = {name.casefold(): placeholder(number, name) for number, name in enumerate(header.given, 1) if name}
    variables = Variables(unmarked=True, placeholders=named if known_again else {})
    for parameter in header.parameters:
        if parameter not in header.columns or parameter in header.given:
            variables.declare(parameter)
    return variables


def _by_number(text: str, header: Header, dialect: Dialect) -> str:
    """The text with placeholders for parameters that it has by their numbers, as PostgreSQL's may: `WHERE k = $1`."""
    if dialect.dollar_quotes is not DollarQuotes.TAGGED:
        return text

    def placeholder_for(match: re.Match[str]) -> str:
        number = int(match["number"] or 0)
        return f":{placeholder(number, header.given[number - 1])}" if 0 < number <= len(header.given) else match[0]

    return _NUMBERED.sub(placeholder_for, text)


def _names_otherwise(header: Header, dialect: Dialect) -> bool:
    """Whether a body names a parameter where no value stands for it: `f.x` by the function's name, or a field of it."""
    code, names = Code.of(header.body, dialect), {name.casefold() for name in header.given if name}
    own = header.name[-1].casefold()
    for index in range(len(code.tokens)):
        if code.name(index).casefold() not in names:
            continue
        if code.word(index - 1) == ".":
            if index > 1 and code.name(index - 2).casefold() == own:
                return True
        elif code.word(index + 1) in (".", "("):
            return True
    return False


def _only_expression(body: str, dialect: Dialect, variables: Variables) -> str:
    """A body that is an expression, as BigQuery's and Snowflake's are; "" where it is more than that."""
    code = Code.of(body, dialect)
    last = len(code.tokens)
    while last and code.word(last - 1) == ";":
        last -= 1
    if code.word(0) in _STATEMENTS or code.find(0, frozenset({";"})) < last:
        return ""
    return with_parameters(code, 0, last, variables)


def as_function(symbolic: Symbolic, given: tuple[str, ...] | None) -> Symbolic:
    """The lineage of such a view, as that of a table function of the same name with these parameters."""
    if not isinstance(symbolic, RelationalStatement):
        return symbolic
    return replace(symbolic, writes=tuple(_rename(symbolic.writes, given)))


def _rename(writes: tuple[WriteForm, ...], given: tuple[str, ...] | None) -> Iterator[WriteForm]:
    for write in writes:
        if write.target is None:
            yield write
            continue
        name = write.target.name
        function = TableName((name.dotted.lower(),), str(name), NameKind.FUNCTION)
        yield replace(write, target=replace(write.target, name=function), given=given)


def _only_query(body: str, dialect: Dialect, variables: Variables) -> str | None:
    code = Code.of(body, dialect)
    first, last = 0, len(code.tokens)
    if code.word(first) == "begin" and code.words(first, 2) != ("begin", "atomic"):
        return None
    if code.words(first, 2) == ("begin", "atomic"):
        first, last = first + 2, next((p for p in range(last - 1, 0, -1) if code.word(p) == "end"), last)
    if code.word(first) == "return":
        first += 1
    while last > first and code.word(last - 1) == ";":
        last -= 1
    while code.word(first) == "(" and code.closing(first) == last - 1:
        first, last = first + 1, last - 1
    if code.word(first) not in _QUERIES or code.find(first, frozenset({";"})) < last:
        return None
    return with_parameters(code, first, last, variables)
