"""What declarations, assignments and SELECT … INTO make of a routine's variables."""

from __future__ import annotations

from ingestion.lexing.cursor import Code
from ingestion.routines.steps import constant
from ingestion.routines.variables import Variables, column_queries, with_parameters

_QUERY = frozenset({"select", "with"})


def query_between(code: Code, first: int, last: int, variables: Variables) -> str | None:
    """A query from `first` to `last`, in parentheses or not, or the one of a cursor that is named there."""
    while code.word(first) == "(" and code.closing(first) == last - 1:
        first, last = first + 1, last - 1
    if code.word(first) in _QUERY:
        return with_parameters(code, first, last, variables)
    named = code.name(first)
    return variables.query_of(named) if named else None


def declare(code: Code, first: int, until: int, variables: Variables) -> None:
    """One declaration, from `first` to its semicolon: names with a type and a value, or a cursor with its query."""
    if code.word(first) == "pragma":
        return
    if "cursor" in code.words(first, 5):
        named = code.name(first + 1 if code.word(first) == "cursor" else first)
        start = code.find(first, _QUERY)
        if start < until:
            variables.record(named, code.between(start, until), replaces=True)
        return
    value = next((place for place in range(first, until) if code.word(place) in ("=", "default")), until)
    for begin, _end in code.items(first, value):
        variables.declare(code.name(begin))
    if value < until:
        assign(code, code.name(first), (value + 1, until), variables)


def assign(code: Code, name: str, value: tuple[int, int], variables: Variables) -> None:
    """`name := value`, the tokens of a query, a cursor's name, or perhaps a constant text."""
    query = query_between(code, *value, variables)
    if query is not None:
        variables.fill(name, query)
        variables.record(name, query)
    else:
        variables.set_constant(name, constant(code, *value))


def select_into(code: Code, places: tuple[int, int, int], variables: Variables) -> None:
    """`SELECT a, b INTO x, y FROM t`; `places` are those of SELECT, of INTO and of the statement's end."""
    select, into, until = places
    first = into + 2 if code.word(into + 1) == "strict" else into + 1
    rest = code.find(first, frozenset({"from", "where", ";"}))
    head = with_parameters(code, select, into, variables)
    tail = with_parameters(code, rest, until, variables) if rest < until else ""
    fill_names(code, (first, min(rest, until)), f"{head} {tail}".strip(), variables)


def fill_names(code: Code, listed: tuple[int, int], query: str, variables: Variables) -> None:
    """Fills the variables `listed` with the columns of a query by position; one alone may be a record of it."""
    names = [code.name(end - 1) for _begin, end in code.items(*listed)]
    found = column_queries(query, names, code)
    for name in names:
        if name in found:
            variables.fill(name, found[name])
        elif len(names) == 1:
            variables.record(name, query)
        else:
            variables.declare(name)
