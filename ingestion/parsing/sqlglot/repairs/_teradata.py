"""What sqlglot does not know of Teradata's statements and values, written as what it does: the lineage is the same."""

from __future__ import annotations

from collections.abc import Iterator

from ingestion.dialects.cursor import Code, Edit
from ingestion.dialects.definition import keywords
from ingestion.dialects.keywords import NO_VALUE
from ingestion.parsing.sqlglot.repairs._clauses import at_zone
from ingestion.parsing.sqlglot.repairs.edits import Repair

_LOCKED = keywords("select sel with insert ins update upd delete del merge create replace")
_PHASES = keywords("group having qualify order sample union intersect minus except expand with ;")
_QUERY_ENDS = keywords("select sel union intersect minus except expand ;")
_ORDERED = keywords("hash partition local order dimension using")
_CLAUSES = keywords(
    "where group having qualify sample union intersect minus except join left right inner full cross on ;"
)
_PERIOD_ENDS = keywords("by for qualify order ;")
_PHRASES = keywords("named title format casespecific cs uppercase compress")
# The types that a value is converted to by their names in brackets behind it; each is a reserved word.
_CONVERSIONS = keywords(
    "byteint smallint integer int bigint decimal dec numeric number float real double char character varchar clob "
    "date time timestamp interval period byte varbyte blob"
)
_UNITS = keywords("year month day hour minute second")
_TIMES = keywords("current sequenced nonsequenced")
_BEFORE_TIMES = keywords("( as access union all except minus intersect ;") | {""}
_STATEMENTS = keywords("select sel insert ins update upd delete del merge with create")


def _locking(code: Code) -> Iterator[Edit]:
    """LOCKING TABLE t FOR ACCESS MERGE …, LOCK ROW ACCESS DELETE …: the statement that comes behind the locks."""
    if code.word(0) in ("lock", "locking"):
        verb = next((n for n in code.outside(1) if code.word(n) in _LOCKED), None)
        if verb is not None:
            yield code.edit(0, verb - 1, "")


def _rows_alone(code: Code) -> Iterator[Edit]:
    """INSERT INTO t (1, DATE '2020-01-01'): a row without VALUES."""
    name = 1 + code.stands(1, "into")
    opening = code.dotted_name(name)[1]
    last = len(code) - 1 - (code.word(len(code) - 1) == ";")
    if code.word(0) in ("insert", "ins") and code.word(opening) == "(" and code.closing(opening) == last:
        yield code.start_of(opening), code.start_of(opening), "VALUES "


def _numbered_ranges(code: Code) -> Iterator[Edit]:
    """RANGE_N(d BETWEEN … EACH …, NO RANGE) is a number made of d; CASE_N(c, …, NO CASE OR UNKNOWN) of its conditions.

    The ranges are constants by the manual; sqlglot has RANGE_N for a partition's one range alone.
    """
    for number in range(len(code) - 3):
        if code.stands(number, "range_n", "("):
            closing = code.closing(number + 1)
            between = next((n for n in code.outside(number + 2, closing) if code.word(n) == "between"), None)
            if between is not None:
                yield code.edit(number, number, "RANGE_NUMBER")
                yield code.edit(between, closing - 1, "")
        elif code.stands(number, "case_n", "("):
            closing = code.closing(number + 1)
            rest = (first for first, _ in code.items(number + 2, closing) if code.word(first) in ("no", "unknown"))
            first = next(rest, None)
            if first is not None:
                yield code.edit(first - 1, closing - 1, "")


def _conditions_first(code: Code) -> Iterator[Edit]:
    """SELECT a WHERE a > 1 FROM t: Teradata takes the clauses of a query in any order."""
    for where in range(1, len(code)):
        if code.word(where) != "where":
            continue
        from_ = next(
            (n for n in code.outside(where + 1) if code.word(n) in _QUERY_ENDS or code.word(n) == "from"), None
        )
        if from_ is None or code.word(from_) != "from":
            continue
        if any(code.word(n) in ("delete", "update") for n in range(where)):
            continue
        end = next((n for n in code.outside(from_ + 1) if code.word(n) in _PHASES), None)
        last = end if end is not None else code.end_around(from_)
        yield code.start_of(where), code.start_of(where), f"{code.between(from_, last)} "
        yield code.edit(from_, last - 1)


def _upserts(code: Code) -> Iterator[Edit]:
    """UPDATE t SET … WHERE k = 1 ELSE INSERT INTO t VALUES (…): what is inserted are values by the manual."""
    if code.word(0) == "update":
        start = next((n for n in code.outside(1) if code.stands(n, "else", "insert")), None)
        if start is not None:
            yield code.edit(start, len(code) - 1)


def _table_operators(code: Code) -> Iterator[Edit]:
    """FROM f (ON (query) HASH BY a LOCAL ORDER BY b USING k('v')): a function of the rows of its inputs.

    Which rows go where by HASH BY decides nothing of what is in them. Also TABLE (f(…) RETURNS (…)) AS d HASH BY a.
    """
    for number in range(1, len(code) - 2):
        if code.stands(number, "(", "on") and code.is_name(number - 1):
            yield from _unpivoted_rows(code, number) if code.word(number - 1) == "td_unpivot" else _inputs(code, number)
        elif code.stands(number, "table", "("):
            yield from _table_function(code, number + 1)


def _table_function(code: Code, opening: int) -> Iterator[Edit]:
    """TABLE (f(s.a) RETURNS (b INTEGER)) AS d [(b)] HASH BY c LOCAL ORDER BY e."""
    closing = code.closing(opening)
    if code.word(opening + 1) == "strtok_split_to_table":  # sqlglot knows one of two arguments
        yield code.edit(opening + 1, opening + 1, "TD_STRTOK_SPLIT_TO_TABLE")
    returns = next((n for n in code.outside(opening + 1, closing) if code.word(n) == "returns"), None)
    if returns is not None:
        yield code.edit(returns, closing - 1)
        alias = closing + 1 + (code.word(closing + 1) == "as")
        if code.is_name(alias) and code.word(alias + 1) != "(":
            named = (code.between(first, first + 1) for first, _ in code.items(returns + 2, code.closing(returns + 1)))
            yield code.end_of(alias), code.end_of(alias), f" ({', '.join(named)})"
    for number in code.outside(closing + 1):
        if code.word(number) in _CLAUSES:
            return
        if code.stands(number, "hash", "by") or code.stands(number, "local", "order", "by"):
            last = next((n for n in code.outside(number) if code.word(n) in _CLAUSES), None)
            yield code.edit(number, (last or code.end_around(number)) - 1)
            return


def _inputs(code: Code, opening: int) -> Iterator[Edit]:
    closing = code.closing(opening)
    inputs: list[str] = []
    number = opening + 1
    while number < closing and code.word(number) == "on":
        end = next((n for n in code.outside(number + 1, closing) if code.word(n) in _ORDERED | {"on", "as"}), closing)
        rows = code.between(number + 1, end)
        inputs.append(rows if code.word(number + 1) == "(" else f"(SELECT * FROM {rows})")
        number = next((n for n in code.outside(end, closing) if code.word(n) in ("on", "using")), closing)
    yield code.edit(opening + 1, closing - 1, ", ".join(inputs))


def _unpivoted_rows(code: Code, opening: int) -> Iterator[Edit]:
    """TD_UNPIVOT(ON t USING VALUE_COLUMNS('v') UNPIVOT_COLUMN('m') COLUMN_LIST('a', 'b')) as UNPIVOT."""
    closing = code.closing(opening)
    using = next((n for n in code.outside(opening + 2, closing) if code.word(n) == "using"), None)
    given: dict[str, list[str]] = {}
    for number in range(using or closing, closing):
        if code.stands(number + 1, "("):
            inside = range(number + 2, code.closing(number + 1))
            given[code.word(number)] = [code.without_quotes(n) for n in inside if code.is_string(n)]
    values, names, listed = (given.get(key, []) for key in ("value_columns", "unpivot_column", "column_list"))
    if using is None or len(values) != 1 or len(names) != 1 or not listed or any("," in item for item in listed):
        yield from _inputs(code, opening)
        return
    rows = code.between(opening + 2, using)
    pivot = f"UNPIVOT ({values[0]} FOR {names[0]} IN ({', '.join(listed)}))"
    yield code.edit(opening - 1, closing, f"(SELECT * FROM {rows} {pivot})")


def _expanded_periods(code: Code) -> Iterator[Edit]:
    """EXPAND ON validity AS p [BY …] [FOR …]: a row for each part p of the period."""
    for number in range(1, len(code) - 3):
        if not code.stands(number, "expand", "on"):
            continue
        named = next((n for n in code.outside(number + 2) if code.word(n) in _PERIOD_ENDS), len(code))
        as_ = next((n for n in code.outside(number + 2, named) if code.word(n) == "as"), named - 1)
        period, name = code.between(number + 2, as_), code.between(named - 1, named)
        last = next((n for n in code.outside(named) if code.word(n) in ("qualify", "order", ";")), None)
        yield code.edit(number, (last or code.end_around(number)) - 1)
        where = _clause_before(code, number)
        yield code.start_of(where), code.start_of(where), f" CROSS JOIN UNNEST({period}) AS expanded_rows({name}) "


def _clause_before(code: Code, number: int) -> int:
    """Where the clause behind FROM begins, of the query that a token stands in."""
    depth = 0
    found = number
    for index in range(number - 1, -1, -1):
        word = code.word(index)
        depth += (word == ")") - (word == "(")
        if depth < 0 or (not depth and word == "from"):
            break
        if not depth and word in ("where", "group", "having"):
            found = index
    return found


def _bounds(code: Code) -> Iterator[Edit]:
    """BEGIN(p) and END(p) of a period, whose names are keywords to sqlglot; CASE … END (NAMED a) has no period."""
    for number in range(1, len(code) - 1):
        word = code.word(number)
        if word in ("begin", "end") and code.word(number + 1) == "(" and not _has_phrases(code, number + 1):
            yield code.edit(number, number, f"PERIOD_{word.upper()}")


def _phrases(code: Code) -> Iterator[Edit]:
    """a (TITLE 'x') is a; a (NAMED b) is a AS b; a (INTEGER, FORMAT '99') is CAST(a AS INTEGER)."""
    for number in range(1, len(code) - 2):
        if not _has_phrases(code, number):
            continue
        end = code.closing(number)
        named = next((n for n in range(number + 1, end) if code.word(n) == "named"), None)
        name = "" if named is None else f" AS {code.between(named + 1, named + 2)}"
        if code.word(number + 1) in _CONVERSIONS:
            first = _operand(code, number - 1)
            last = number + 1 + code.stands(number + 1, "double", "precision")
            last = code.closing(last + 1) if code.word(last + 1) == "(" else last
            yield code.start_of(first), code.start_of(first), "CAST("
            yield code.edit(number, end, f" AS {code.between(number + 1, last + 1)}){name}")
        else:
            yield code.edit(number, end, name or " ")


def _has_phrases(code: Code, opening: int) -> bool:
    """Whether a type or other data attributes stand in these brackets, behind a value: no list of names, no literal."""
    if code.word(opening) != "(" or code.word(opening - 1) in NO_VALUE or code.word(opening - 1) == "period":
        return False
    end = code.closing(opening)
    word = code.word(opening + 1)
    if word in _PHRASES or (word == "not" and code.word(opening + 2) in ("casespecific", "cs")):
        return True
    if word not in _CONVERSIONS or code.word(end - 1) == "," or code.word(_operand(code, opening - 1) - 1) == "into":
        return False
    later = (code.word(begin) for begin, _ in list(code.items(opening + 1, end))[1:])
    inside = range(opening + 2, end)
    return all(first in _PHRASES for first in later) and not (
        code.is_string(opening + 2) or (word != "period" and any(code.word(n) in _CONVERSIONS for n in inside))
    )


def _operand(code: Code, last: int) -> int:
    """The first token of the value that ends at `last`: a name, a call, brackets, a literal with its phrases."""
    first = last
    while code.word(first) == ")":
        first = code.opening(first)
        if not _has_phrases(code, first):
            called = code.is_name(first - 1) and code.word(first - 1) not in NO_VALUE
            first -= called
            break
        first -= 1
    return code.start_of_name(first)


def _intervals(code: Code) -> Iterator[Edit]:
    """Teradata: (a - b) DAY(4) TO SECOND(2): how much time is between two moments, in these units."""
    for number in range(1, len(code) - 1):
        if code.word(number) not in _UNITS or code.word(number - 1) != ")":
            continue
        last = code.closing(number + 1) if code.word(number + 1) == "(" else number
        if code.word(last + 1) == "to" and code.word(last + 2) in _UNITS:
            last = code.closing(last + 3) if code.word(last + 3) == "(" else last + 2
        if last > number:
            yield code.edit(number, last)


def _objects_of_stores(code: Code) -> Iterator[Edit]:
    """Teradata: FROM (LOCATION = '/s3/bucket/path' …) AS d reads the objects there, where LOCATION would be a table."""
    for number in range(len(code) - 4):
        if code.stands(number, "from", "(", "location", "=") and code.is_string(number + 4):
            path = code.without_quotes(number + 4)
            if '"' not in path:
                yield code.edit(number + 1, code.closing(number + 1), f'"{path}"')


def _normalized_rows(code: Code) -> Iterator[Edit]:
    """Teradata: SELECT NORMALIZE ON MEETS OR OVERLAPS a, p: the rows of one a whose periods touch are one."""
    for number in range(1, len(code) - 1):
        if not code.stands(number - 1, "select", "normalize"):
            continue
        last = number
        if code.word(number + 1) == "on":
            last = number + (4 if code.word(number + 3) == "or" else 2)
        if code.is_name(last + 1) or code.word(last + 1) == "(":
            yield code.edit(number, last)


def _times_of_rows(code: Code) -> Iterator[Edit]:
    """Teradata: CURRENT VALIDTIME SELECT …, SEQUENCED VALIDTIME PERIOD (…) SELECT …: the rows of a time alone."""
    last = -1
    for number in range(len(code) - 1):
        if number <= last or code.word(number) not in ("validtime", "transactiontime"):
            continue
        statement = next((n for n in code.outside(number) if code.word(n) in _STATEMENTS), None)
        first = number - (code.word(number - 1) in _TIMES)
        if statement is not None and code.word(first - 1) in _BEFORE_TIMES:
            yield code.edit(first, statement - 1)
            last = statement


def _update_from(code: Code) -> Iterator[Edit]:
    """UPDATE t FROM s SET …: without an alias, s would take SET for one."""
    for number in range(3, len(code)):
        if code.word(number) != "set":
            continue
        if code.word(code.start_of_name(number - 1) - 1) in ("from", ","):
            yield code.start_of(number), code.start_of(number), f"AS {code.between(number - 1, number)} "
        return


def _statistics(code: Code) -> Iterator[Edit]:
    """Teradata: without whether statistics are copied too: CREATE TABLE … WITH [NO] DATA AND [NO] STATS."""
    for number in range(len(code) - 1, 0, -1):
        if code.word(number) in ("stats", "statistics"):
            first = number - 1 - (code.word(number - 1) == "no")
            if code.word(first) == "and":
                yield code.edit(first, number)


TERADATA_REPAIRS: tuple[Repair, ...] = (
    _locking,
    _rows_alone,
    _numbered_ranges,
    _conditions_first,
    _upserts,
    _table_operators,
    _expanded_periods,
    _bounds,
    _objects_of_stores,
    _phrases,
    _intervals,
    _normalized_rows,
    _times_of_rows,
    _update_from,
    _statistics,
    at_zone,
)
