"""Pipe syntax, `FROM t |> WHERE a > 1 |> SET b = a`, of BigQuery and of Spark 4, as what sqlglot has for it.

It has no SET, RENAME, DROP, CALL, OFFSET nor SORT BY, takes the pipe of `SELECT a FROM t |> …` for one behind t, and
puts the rows that a pipe changes into a query without a name, so that `t.a` behind it would be a field of a column t.
It refuses few of the texts that it takes wrong, and so is given none of them as it is. Each text is gone through once:
where SQL is generated, hundreds of pipes follow each other.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate, groupby

from ingestion.dialects.cursor import Code, Edit, with_edits
from ingestion.dialects.definition import keywords
from ingestion.dialects.keywords import BEFORE_RELATIONS, QUERY_STARTS
from ingestion.dialects.relations import relation_at
from ingestion.parsing.sqlglot.repairs.edits import Repair

PIPING = frozenset({"bigquery", "databricks", "spark"})
_SPARK = frozenset({"databricks", "spark"})
"""There the second b of `SET a = b, b = a` is what the first has set, and `FROM t |> SELECT a |> WHERE t.a > 1` is no
mistake, as the engine shows; BigQuery sets both at once, and knows no t behind SELECT."""
_BEGINS = keywords("select from")
_BEGINS_BEHIND = keywords("table values")
_BEFORE_QUERY = keywords("as ( )") | {""}
_STARS = {"set": "REPLACE", "rename": "RENAME", "drop": "EXCEPT"}
_EXTENDS = keywords("extend window")
_WITH_WINDOWS = keywords("select extend")
_UNIONS = keywords("union intersect except minus")
_UNION_KINDS = keywords("all distinct by name")
_SORTS = keywords("sort cluster")
_MOVES_NO_VALUE = keywords("offset distribute")
_SELECTS = _UNIONS | keywords("select aggregate distinct pivot unpivot")
_BEFORE_OUTPUT = keywords("select distinct all extend ,")
_GROUPINGS = keywords("rollup cube")
_NAMES = keywords("call as")
_BEFORE_RELATION = keywords("from join ,")
_UNKNOWN_COLUMN = "(SELECT original.unknown FROM (SELECT NULL AS known) AS original)"
"""A column that no relation in scope has: it comes from nowhere, and is told as unknown."""


@dataclass(frozen=True)
class _Pipe:
    """One `|> verb …`: where its sign stands, and where what it does to the rows ends."""

    sign: int
    end: int


@dataclass(frozen=True)
class _PipedQuery:
    """The pipes that follow each other in the same parentheses, and where what stands before them begins."""

    first: int
    pipes: tuple[_Pipe, ...]


def _piped_queries(code: Code) -> Iterator[_PipedQuery]:
    opened: list[tuple[int, list[int]]] = [(0, [])]
    for number in range(len(code)):
        word = code.word(number)
        if word == "(":
            opened.append((number + 1, []))
        elif word == "|" and code.word(number + 1) == ">" and code.end_of(number) == code.start_of(number + 1):
            opened[-1][1].append(number)
        elif word == ";" or (word == ")" and len(opened) > 1):
            yield from _piped_query(*opened.pop(), number)
            if word == ";":
                opened.append((number + 1, []))
    for first, signs in opened:
        yield from _piped_query(first, signs, len(code))


def _piped_query(first: int, signs: list[int], end: int) -> Iterator[_PipedQuery]:
    if signs:
        yield _PipedQuery(first, tuple(map(_Pipe, signs, (*signs[1:], end))))


def _begins_rows(code: Code, number: int) -> bool:
    """Whether the query begins here whose rows are piped: INSERT INTO t, CREATE VIEW v AS and WITH stand before it."""
    word = code.word(number)
    return word in _BEGINS or (word in _BEGINS_BEHIND and code.word(number - 1) in _BEFORE_QUERY)


# What the rows are called.


def _name(code: Code, number: int) -> str:
    """A name of rows, whose case does not count in pipes, as it counts for tables of BigQuery's."""
    return code.name(number).lower()


def _relation_name(code: Code, number: int) -> str:
    return relation_at(code, number).name(code).lower()


@dataclass(frozen=True)
class _Step:
    """What a pipe does, or one of the assignments that it makes one behind the other."""

    verb: str
    first: int
    end: int
    pipe: _Pipe

    @property
    def alias(self) -> str:
        """What the rows behind it are called where their own names would be lost."""
        return f"piped_rows_{self.first}"


@dataclass(frozen=True)
class _Reference:
    """`t.a` behind a pipe: where it stands, in which step, and behind which one the rows are called t."""

    number: int
    step: int
    named: int


@dataclass(frozen=True)
class _ChangedColumn:
    """That a step has set, dropped or renamed a column, which nobody finds by its old name behind it."""

    step: int
    text: str
    column: str


@dataclass(frozen=True)
class _TextNames:
    """The names of a whole text, which is gone through once for all its queries."""

    read: frozenset[str]
    qualified: _QualifiedNames


@dataclass
class _RowNames:
    """What the columns are called that a query names by their relations, and what has to keep those names."""

    columns: dict[int, str] = field(default_factory=dict)
    """How `t.a`, whose t stands at a token, is to be written."""
    aliased: set[int] = field(default_factory=set)
    """The first tokens of the steps behind which the rows have a name of their own."""
    kept: frozenset[int] = frozenset()
    """The signs of the pipes behind which the relations are named yet."""


def _steps(code: Code, query: _PipedQuery) -> list[_Step]:
    found: list[_Step] = []
    for pipe in query.pipes:
        verb, first = code.word(pipe.sign + 2), pipe.sign + 3
        if verb == "set" and code.dialect.name in _SPARK:
            found += (_Step(verb, begin, until, pipe) for begin, until in code.items(first, pipe.end))
        else:
            found.append(_Step(verb, first, pipe.end, pipe))
    return found


def _row_names(code: Code, query: _PipedQuery, steps: list[_Step], texts: _TextNames) -> _RowNames:
    """How each `t.a` is to be written, in one walk over the steps.

    Behind SET, DROP or RENAME the rows have a name of their own, as a bare `a` could be another relation's that is
    joined later. It is still the column of t: of one that SET or DROP has changed, no query behind it tells.
    """
    hiding = {
        number for number, step in enumerate(steps) if step.verb == "as" and _name(code, step.first) in texts.read
    }
    found = _RowNames(aliased={steps[number].first for number in hiding})
    grouped = {span for step in steps if step.verb == "aggregate" for span in _grouped_items(code, step)}
    changes, extended = _changes(code, steps), _extended_columns(code, steps)
    unnamed = _STARS.keys() | _SELECTS
    stars = [number for number, step in enumerate(steps) if step.verb in unnamed]
    over = [0] * (len(steps) + 1)
    reached: dict[_ChangedColumn, _ChangedColumn] = {}
    for reference in _references(code, query, steps, texts.qualified):
        over[reference.named + 1] += 1
        over[reference.step] -= 1
        before = bisect_left(stars, reference.step) - 1
        number = max(stars[before] if before >= 0 else -1, reference.named if reference.named in hiding else -1)
        if number < 0 or number < reference.named:
            continue
        if code.word(reference.number + 2) == "*":  # which columns it had is not told
            found.columns[reference.number] = f"{_UNKNOWN_COLUMN}.*"
            continue
        column = _column_behind(code, reference, changes, reached)
        hidden = extended.get(code.column(reference.number + 2), [])
        later = bisect_right(hidden, reference.named)
        if column == _UNKNOWN_COLUMN or (later < len(hidden) and hidden[later] < number):
            found.columns[reference.number] = f"{_UNKNOWN_COLUMN}{_own_name(code, reference, steps, grouped)}"
        else:
            renamed = column != code.between(reference.number + 2, reference.number + 3)
            alias = _own_name(code, reference, steps, grouped) if renamed else ""
            found.columns[reference.number] = f"{steps[number].alias}.{column}{alias}"
            found.aliased.add(steps[number].first)
    found.kept = frozenset(step.pipe.sign for step, count in zip(steps, accumulate(over), strict=False) if count)
    return found


def _own_name(code: Code, reference: _Reference, steps: list[_Step], grouped: set[tuple[int, int]]) -> str:
    """The name that `t.a` gives an output by itself, AS a; "" where it is a part of a value, or has an alias."""
    number, step = reference.number, steps[reference.step]
    alone = code.word(number - 1) in _BEFORE_OUTPUT and (code.word(number + 3) == "," or number + 3 == step.end)
    own = (step.verb in _WITH_WINDOWS and alone) or (number, number + 3) in grouped
    return f" AS {code.between(number + 2, number + 3)}" if own else ""


def _start_of_groups(code: Code, step: _Step) -> int:
    """Behind GROUP BY, GROUP AND ORDER BY; the step's end where there is none."""
    group = next((n for n in code.outside(step.first, step.end) if code.word(n) == "group"), step.end)
    return min(next((n + 1 for n in range(group, step.end) if code.word(n) == "by"), step.end), step.end)


def _grouped_items(code: Code, step: _Step) -> Iterator[tuple[int, int]]:
    """What an AGGREGATE groups by, each an output in its order: a, b and c of GROUP BY a, ROLLUP(b, (a, c))."""
    waiting = [(span, False) for span in code.items(_start_of_groups(code, step), step.end)][::-1]
    while waiting:
        (first, until), inside = waiting.pop()
        opening = first + (1 if code.word(first) in _GROUPINGS else 2 if code.stands(first, "grouping", "sets") else 0)
        if code.word(opening) == "(" and (inside or opening > first) and code.closing(opening) == until - 1:
            waiting += [(span, True) for span in code.items(opening + 1, until - 1)][::-1]
        elif first < until:
            yield first, until


def _references(code: Code, query: _PipedQuery, steps: list[_Step], qualified: _QualifiedNames) -> Iterator[_Reference]:
    """Where a column is named by its relation, as long as the relations have their names."""
    names = dict.fromkeys(_names_before(code, query), -1)
    for number, step in enumerate(steps):
        if names and step.verb != "as":
            inside = range(step.first, step.end - 2)
            used = names.keys() if len(names) < len(inside) else names.keys() & {_name(code, n) for n in inside}
            for name in used:
                positions = qualified.within(name, step.first, step.end - 2)
                yield from (_Reference(position, number, names[name]) for position in positions)
        if step.verb in _NAMES or (step.verb in _SELECTS and code.dialect.name not in _SPARK):
            names.clear()
        if step.verb == "as":
            names[_name(code, step.first)] = number
        elif step.verb not in _SELECTS:
            for at in code.outside(step.first - 1, step.end):
                if code.word(at) == "join":
                    names.setdefault(_relation_name(code, at + 1), number)


def _names_before(code: Code, query: _PipedQuery) -> list[str]:
    """The names of FROM and JOIN before the first pipe."""
    found: list[str] = []
    for number in code.outside(query.first, query.pipes[0].sign):
        if code.word(number) in ("from", "join") or (code.word(number) == "," and found):
            found.append(_relation_name(code, number + 1))
    return [name for name in found if name]


def _changes(code: Code, steps: list[_Step]) -> dict[str, list[_ChangedColumn]]:
    found: dict[str, list[_ChangedColumn]] = defaultdict(list)
    for number, step in enumerate(steps):
        for first, until in code.items(step.first, step.end) if step.verb in _STARS else ():
            renames = step.verb == "rename"
            text = code.between(until - 1, until) if renames else _UNKNOWN_COLUMN
            found[code.column(first)].append(_ChangedColumn(number, text, code.column(until - 1) if renames else ""))
        given = [until - 1 for _, until in code.items(step.first, step.end)] if step.verb == "select" else []
        for column, count in Counter(code.column(last) for last in given if code.is_name(last)).items():
            if count > 1:  # t.a and u.a: whose a is meant behind it is not told
                found[column].append(_ChangedColumn(number, _UNKNOWN_COLUMN, ""))
    return found


def _extended_columns(code: Code, steps: list[_Step]) -> dict[str, list[int]]:
    """The columns that EXTEND adds: behind SET, DROP or RENAME they cannot be told from those of their name."""
    found: dict[str, list[int]] = defaultdict(list)
    for number, step in enumerate(steps):
        for _, until in code.items(step.first, step.end) if step.verb in _EXTENDS else ():
            if code.is_name(until - 1):
                found[code.column(until - 1)].append(number)
    return found


def _column_behind(
    code: Code,
    reference: _Reference,
    changes: dict[str, list[_ChangedColumn]],
    reached: dict[_ChangedColumn, _ChangedColumn],
) -> str:
    """How the column of a reference is named where it stands.

    `reached` leads on from what references of earlier steps went through, so that a chain is followed once.
    """
    column = code.column(reference.number + 2)
    change = _ChangedColumn(reference.named, code.between(reference.number + 2, reference.number + 3), column)
    passed: list[_ChangedColumn] = []
    while change.text != _UNKNOWN_COLUMN:
        following = reached.get(change)
        if following is None:
            found = changes.get(change.column, [])
            number = bisect_right(found, change.step, key=lambda one: one.step)
            if number == len(found) or found[number].step >= reference.step:
                break
            following = found[number]
        passed.append(change)
        change = following
    reached.update(dict.fromkeys(passed, change))
    return change.text


@dataclass(frozen=True)
class _QualifiedNames:
    """Where columns are named by their relations, in the whole text."""

    positions: dict[str, list[int]]
    """Of each name, as of t in `t.a`."""
    hiding: dict[int, int]
    """The parenthesis around one whose query has a relation of that name: x in `(SELECT MAX(x.a) FROM u AS x)`."""

    def within(self, name: str, first: int, last: int) -> Iterator[int]:
        """Where a name is used between two tokens and no query between them has a relation of its own that it means."""
        found = self.positions.get(name, [])
        for position in found[bisect_left(found, first) : bisect_left(found, last)]:
            if self.hiding.get(position, -1) < first:
                yield position


def _qualified_names(code: Code) -> _QualifiedNames:
    own = _own_relations(code)
    opened: list[int] = []
    meant: dict[str, list[int]] = defaultdict(list)
    found = _QualifiedNames(defaultdict(list), {})
    for number in range(len(code)):
        word = code.word(number)
        if word == "(":
            opened.append(number)
            for name in own.get(number, ()):
                meant[name].append(number)
        elif word == ")" and opened:
            for name in own.get(opened.pop(), ()):
                meant[name].pop()
        elif code.word(number + 1) == "." != code.word(number - 1) and code.is_name(number):
            name = _name(code, number)
            found.positions[name].append(number)
            if meant[name]:
                found.hiding[number] = meant[name][-1]
    return found


def _own_relations(code: Code) -> dict[int, set[str]]:
    """The names of the relations that each query in parentheses reads, under where it opens."""
    found: dict[int, set[str]] = {}
    around: list[int] = [-1]
    for number in range(len(code)):
        word = code.word(number)
        if word == "(":
            begins = code.word(number + 1) in QUERY_STARTS
            around.append(number if begins else around[-1])
            if begins:
                found[number] = set()
        elif word == ")" and len(around) > 1:
            around.pop()
        elif word in _BEFORE_RELATION and around[-1] >= 0:
            found[around[-1]].add(_relation_name(code, number + 1))
    return found


# What each pipe is written as.


def _piped_steps(code: Code) -> Iterator[Edit]:
    """|> SET, RENAME, DROP, WINDOW, CALL, OFFSET, SORT BY, UNION ALL TABLE t, SELECT … WINDOW: as what sqlglot has."""
    texts: _TextNames | None = None
    for query in _piped_queries(code):
        texts = texts or _TextNames(_read_names(code), _qualified_names(code))
        steps = _steps(code, query)
        names = _row_names(code, query, steps, texts)
        covered: set[int] = set()
        for pipe, made in groupby(steps, key=lambda step: step.pipe):
            yield from _pipe_edits(code, query, list(made), names)
            if code.word(pipe.sign + 2) in _STARS:
                covered.update(range(pipe.sign, pipe.end))
        yield from (code.edit(at, at + 2, name) for at, name in names.columns.items() if at not in covered)


def _read_names(code: Code) -> frozenset[str]:
    """The relations that the text reads by names of one part, as `FROM s |> AS t |> JOIN t AS u` reads t."""
    starts = (n + 1 for n in range(len(code)) if code.word(n) in BEFORE_RELATIONS or code.word(n) == "table")
    return frozenset(_name(code, n) for n in starts if code.word(n + 1) not in (".", "(")) - {""}


def _pipe_edits(code: Code, query: _PipedQuery, steps: list[_Step], names: _RowNames) -> Iterator[Edit]:
    verb, pipe = steps[0].verb, steps[0].pipe
    at, last = pipe.sign + 2, pipe.end - 1
    if verb == "aggregate":
        yield from _grouped_once(code, steps[0], names)
    alias = f" |> AS {steps[0].alias}" if verb in _SELECTS and steps[0].first in names.aliased else ""
    if verb in _WITH_WINDOWS:
        yield from _without_windows(code, pipe, names)
    if verb in _EXTENDS and pipe.sign in names.kept:
        yield code.edit(at, at, "JOIN LATERAL (SELECT")
        yield code.end_of(last), code.end_of(last), f") AS extended_{pipe.sign} ON TRUE"
    elif verb == "window":
        yield code.edit(at, at, "EXTEND")
    elif verb == "call":
        yield from _called_function(code, query, pipe)
    elif verb in _STARS:
        yield code.edit(at, last, " |> ".join(_star(code, step, names) for step in steps))
    elif verb == "as" and steps[0].first in names.aliased:
        yield code.edit(steps[0].first, last, steps[0].alias)
    elif verb in _MOVES_NO_VALUE or (verb == "limit" and not _is_counted(code, steps[0])):
        yield code.edit(pipe.sign, last)
    elif verb in _SORTS:
        yield code.edit(at, at, "ORDER")
    elif verb in _UNIONS:
        yield from _operand_in_brackets(code, pipe, alias)
    elif alias:
        yield code.end_of(last), code.end_of(last), alias


def _grouped_once(code: Code, step: _Step, names: _RowNames) -> Iterator[Edit]:
    """GROUP BY ROLLUP(a, (b, c)), GROUPING SETS (a, (a, b), ()): each column once, as the rows have it."""
    first, items = _start_of_groups(code, step), list(_grouped_items(code, step))
    if first < step.end and items != list(code.items(first, step.end)):
        written = dict.fromkeys(_with_names(code, begin, until, names) for begin, until in items)
        yield code.edit(first, step.end - 1, ", ".join(written) or "()")


def _star(code: Code, step: _Step, names: _RowNames) -> str:
    """SELECT * REPLACE (b AS a) for SET a = b, with a name for its rows where columns are named by relations later."""
    items = ", ".join(_star_item(code, step, span, names) for span in code.items(step.first, step.end))
    alias = f" |> AS {step.alias}" if step.first in names.aliased else ""
    return f"SELECT * {_STARS[step.verb]} ({items}){alias}"


def _star_item(code: Code, step: _Step, span: tuple[int, int], names: _RowNames) -> str:
    first, until = span
    if step.verb == "set" and code.word(first + 1) == "=":
        return f"{_with_names(code, first + 2, until, names)} AS {code.between(first, first + 1)}"
    if step.verb == "rename" and until == first + 2:
        return f"{code.between(first, first + 1)} AS {code.between(first + 1, until)}"
    return code.between(first, until)


def _with_names(code: Code, first: int, until: int, names: _RowNames) -> str:
    start = code.start_of(first)
    written = ((at, names.columns.get(at)) for at in range(first, until))
    edits = [(code.start_of(at) - start, code.end_of(at + 2) - start, name) for at, name in written if name]
    return with_edits(code.between(first, until), edits)


def _is_counted(code: Code, step: _Step) -> bool:
    """Whether LIMIT has the numbers that sqlglot wants: LIMIT 9, LIMIT 9 OFFSET 3."""
    given = [code.is_number(n) or code.word(n) == "offset" for n in range(step.first, step.end)]
    return all(given) and len(given) in (1, 3)


def _without_windows(code: Code, pipe: _Pipe, names: _RowNames) -> Iterator[Edit]:
    """SELECT SUM(a) OVER w AS b WINDOW w AS (PARTITION BY c): each window where it is used, as the clause is lost."""
    first = pipe.sign + 3
    window = next(
        (n for n in code.outside(first, pipe.end) if code.stands(n, "window") and code.stands(n + 2, "as", "(")), None
    )
    if window is None:
        return
    defined: dict[str, str] = {}
    for begin, until in code.items(window + 1, pipe.end):
        based = defined.get(_name(code, begin + 3), "")
        text = _with_names(code, begin + 3 + bool(based), until - 1, names)
        defined[_name(code, begin)] = f"{based} {text}"
    yield code.edit(window, pipe.end - 1)
    for number in range(first, window - 1):
        if code.word(number) != "over":
            continue
        if _name(code, number + 1) in defined:
            yield code.edit(number + 1, number + 1, f"({defined[_name(code, number + 1)]})")
        elif code.word(number + 1) == "(" and _name(code, number + 2) in defined:
            yield code.edit(number + 2, number + 2, defined[_name(code, number + 2)])


def _operand_in_brackets(code: Code, pipe: _Pipe, alias: str) -> Iterator[Edit]:
    """Spark: |> UNION ALL TABLE t, |> EXCEPT SELECT a FROM t: the query that sqlglot wants in brackets."""
    first = pipe.sign + 3
    while code.word(first) in _UNION_KINDS:
        first += 1
    word = code.word(first)
    if word in QUERY_STARTS or word == "table":
        begin = {"table": "(SELECT * FROM", "from": "(SELECT * FROM"}.get(word, f"({code.between(first, first + 1)}")
        yield code.edit(first, first, begin)
        alias = f"){alias}"
    if alias:
        yield code.end_of(pipe.end - 1), code.end_of(pipe.end - 1), alias


def _called_function(code: Code, query: _PipedQuery, pipe: _Pipe) -> Iterator[Edit]:
    """|> CALL f(1) AS x: the rows of f, whose first argument are the rows before it: FROM f((query), 1) AS x."""
    opening = next((n for n in range(pipe.sign + 3, pipe.end) if code.word(n) == "("), None)
    begin = next((n for n in code.outside(query.first, pipe.sign) if code.word(n) in _BEGINS), None)
    if opening is None or begin is None:
        return
    given = code.between(opening + 1, code.closing(opening))
    rows = f"(SELECT * FROM ({code.between(begin, pipe.sign)}))"
    call = f"{code.between(pipe.sign + 3, opening)}({rows}{', ' if given else ''}{given})"
    yield code.edit(begin, pipe.end - 1, f"FROM {call} {code.between(code.after(opening), pipe.end)}")


def _rows_before_pipes(code: Code) -> Iterator[Edit]:
    """SELECT a FROM t |> …, TABLE t |> …: the rows of a query, or of a table, as FROM would give them.

    What |> WITH names among them stands before them.
    """
    for query in _piped_queries(code):
        sign = query.pipes[0].sign
        begin = next((n for n in code.outside(query.first, sign) if _begins_rows(code, n)), None)
        if begin is None:
            continue
        named = list(_named_later(code, query))
        before = _before_rows(code, query, begin, named)
        if code.word(begin) == "table":
            yield code.edit(begin, begin, f"{before}FROM")
        elif code.word(begin) != "from":
            yield code.start_of(begin), code.start_of(begin), f"{before}FROM ("
            yield code.end_of(sign - 1), code.end_of(sign - 1), ")"
        elif named:
            yield code.start_of(begin), code.start_of(begin), before
        yield from (code.edit(pipe.sign, pipe.end - 1) for pipe in named)


def _named_later(code: Code, query: _PipedQuery) -> Iterator[_Pipe]:
    """|> WITH k AS (…): none whose name a relation before it has, which it is not."""
    read = {_name(code, number) for number in range(query.first, query.pipes[0].sign)}
    done = query.pipes[0].sign
    for pipe in query.pipes:
        if code.word(pipe.sign + 2) == "with":
            read.update(_name(code, number) for number in range(done, pipe.sign))
            done = pipe.end
            items = code.items(pipe.sign + 3 + code.stands(pipe.sign + 3, "recursive"), pipe.end)
            if read.isdisjoint(_name(code, first) for first, _ in items):
                yield pipe


def _before_rows(code: Code, query: _PipedQuery, begin: int, named: list[_Pipe]) -> str:
    """WITH k AS (…), or what goes on with a WITH that is there."""
    if not named:
        return ""
    recursive = any(code.stands(pipe.sign + 3, "recursive") for pipe in named)
    firsts = (pipe.sign + 3 + code.stands(pipe.sign + 3, "recursive") for pipe in named)
    items = ", ".join(code.between(first, pipe.end) for first, pipe in zip(firsts, named, strict=True))
    goes_on = any(code.word(number) == "with" for number in code.outside(query.first, begin))
    return f"{',' if goes_on else 'WITH RECURSIVE' if recursive else 'WITH'} {items.rstrip().rstrip(',')} "


PIPE_REPAIRS: tuple[Repair, ...] = (_piped_steps, _rows_before_pipes)
