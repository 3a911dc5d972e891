"""Clauses that sqlglot does not know of several dialects, written as those that it does: the lineage is the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from sqlglot.dialects.dialect import Dialect as SqlglotDialect
from sqlglot.tokenizer_core import TokenType

from ingestion.dialects.cursor import Code, Edit
from ingestion.dialects.definition import keywords
from ingestion.dialects.keywords import BEFORE_RESULT, BEFORE_VALUE, QUERIES, QUERY_STARTS
from ingestion.parsing.sqlglot.repairs.edits import Repair

_NO_TYPES = (TokenType.VAR, TokenType.OBJECT_IDENTIFIER, TokenType.SCHEMA)
_ENDS = keywords("order limit offset")
_SPECS = keywords("both leading trailing")
_CHANGE_COLUMNS = {
    "changes": ("VERSION", "CREATION_VERSION", "OPERATION", "COLUMNS", "CONTEXT"),
    "version": ("VERSION", "CONTEXT"),
}
_SEARCHED_COLUMNS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "containstable": (("[KEY]",), ("RANK",)),
    "freetexttable": (("[KEY]",), ("RANK",)),
    "semantickeyphrasetable": (("column_id", "document_key"), ("keyphrase", "score")),
    "semanticsimilaritydetailstable": ((), ("keyphrase", "score")),
    "semanticsimilaritytable": (("source_column_id", "matched_column_id", "matched_document_key"), ("score",)),
}
"""T-SQL's functions of (table, columns, …) that search texts: the columns that tell which row it is, and those that
are made of the texts."""
_ROUTINES = keywords("function procedure")
_SCRIPTED = keywords("map reduce transform")
_BEFORE_SCRIPTED = keywords("from select insert ( ;")
_BEHIND_SCRIPT = keywords("row recordreader from insert where group having cluster distribute sort order limit union ;")
_BLOCKS = keywords("begin case if loop")
_OF_VECTORS = keywords("to_vector vector vector_distance")
_SELECTED = keywords("distinct distinctrow all")
_WAYS_TO_SELECT = keywords(
    "high_priority straight_join sql_small_result sql_big_result sql_buffer_result sql_cache sql_no_cache"
    " sql_calc_found_rows"
)
_INTEGERS = keywords("int integer")
_SIGNS = keywords("signed unsigned")
_BEHIND_GROUPS = keywords("having order limit window union except intersect into for with procedure ) ;")
_BEFORE_ROWS = keywords("( union except intersect all distinct")
_BEFORE_LISTED = keywords("from join , lateral")
_BEHIND_LISTED = keywords("union intersect except order limit offset fetch")
_ESCAPES = {"d": "DATE", "fn": "", "oj": "(", "t": "TIME", "ts": "TIMESTAMP"}
_OPERATOR_SIGNS = frozenset("+-*/<>=~!@#%^&|`")
_NAMED_SIGNS = frozenset("~!@#%^&|`")
"""Those of which one allows an operator to end in + or -."""
_KNOWN_OPERATORS = keywords(
    "+ - * / % ^ < > = <= >= <> != ~ ~* !~ !~* ~~ ~~* !~~ !~~* || | & # << >> -> ->> #> #>> @> <@ && @@ <-> -|- ^@"
    " += -= *= /= %= &= |= ^= => <=> <#> <+> #- &< &> ~~~"
)
_BEFORE_OPERAND = BEFORE_VALUE | BEFORE_RESULT | keywords("as over filter & ~ # ^ @ !")
"""Besides the signs of PostgreSQL's operators, and what brackets of no value stand behind: OVER (…), AS (…)."""
_BEFORE_TEXT = keywords(
    "date time timestamp timestamptz timetz interval b e n u x escape collate uescape zone to for similar null true"
    " false"
)
_RECURSION_ENDS = QUERY_STARTS | {"set", "restrict"}
_VERSION = re.compile(r"v\d+|\d{17}", re.IGNORECASE)


def _is_cast(code: Code, number: int) -> bool:
    """Whether a token stands behind the type of a CAST."""
    opening = code.opening(number + 2)
    inside = code.outside(opening + 1, number)
    return code.word(opening - 1) == "cast" and any(code.word(n) == "as" for n in inside)


def at_zone(code: Code) -> Iterator[Edit]:
    """ts AT 'GMT', ts AT LOCAL, ts AT SOURCE TIME ZONE: without the word for a zone."""
    for number in range(1, len(code) - 1):
        if code.word(number) != "at":
            continue
        if code.word(number - 1) == ")" and code.word(number + 2) == ")" and _is_cast(code, number):
            yield code.edit(number, number + 1)  # CAST(ts AS TIMESTAMP(0) AT 'GMT')
        elif code.is_string(number + 1):
            yield code.edit(number, number, "AT TIME ZONE")
        elif code.word(number + 1) == "local":
            yield code.edit(number, number + 1, "AT TIME ZONE 'LOCAL'")
        elif code.stands(number, "at", "source", "time", "zone"):
            yield code.edit(number, number + 3, "AT TIME ZONE 'SOURCE'")


def _trimmed_text(code: Code) -> Iterator[Edit]:
    """PostgreSQL: TRIM(FROM x, y), TRIM(BOTH FROM x, y): what is taken off stands behind what it is taken off."""
    for number in range(len(code) - 4):
        if not code.stands(number, "trim", "("):
            continue
        from_ = number + 2 + (code.word(number + 2) in _SPECS)
        if code.stands(from_, "from"):
            yield code.edit(number + 2, from_)


def _named_joins(code: Code) -> Iterator[Edit]:
    """PostgreSQL: JOIN b USING (k) AS x, where x has the merged columns alone: `x.k` is k, `x.*` is k."""
    for number in range(1, len(code) - 4):
        if not code.stands(number, "using", "("):
            continue
        as_ = code.closing(number + 1) + 1
        if code.word(as_) != "as" or not code.is_name(as_ + 1) or code.word(as_ + 2) == "(":
            continue
        yield code.edit(as_, as_ + 1)
        merged = code.between(number + 2, as_ - 1)
        for index in range(len(code) - 2):
            if index != as_ + 1 and code.name(index) == code.name(as_ + 1) and code.word(index + 1) == ".":
                star = code.word(index + 2) == "*"
                yield code.edit(index, index + 2, merged if star else code.between(index + 2, index + 3))


def _ways_to_select(code: Code) -> Iterator[Edit]:
    """MySQL: SELECT SQL_CALC_FOUND_ROWS DISTINCT a: how rows are found may stand before which are given, and behind."""
    for number in range(len(code) - 2):
        if code.word(number) != "select":
            continue
        end = number + 1
        while code.word(end) in _WAYS_TO_SELECT:
            end += 1
        if end > number + 1 and code.word(end) in _SELECTED:
            yield code.edit(number + 1, end - 1)


def _signed_integers(code: Code) -> Iterator[Edit]:
    """MySQL: CAST(a AS SIGNED INTEGER), CONVERT(a, UNSIGNED INT): SIGNED and UNSIGNED are the types."""
    for number in range(4, len(code) - 1):
        typed = code.word(number) in _INTEGERS and code.word(number - 1) in _SIGNS and code.word(number + 1) == ")"
        if typed and code.word(number - 2) in ("as", ","):
            yield code.edit(number, number)


def _ordered_groups(code: Code) -> Iterator[Edit]:
    """MySQL before 8, MariaDB: GROUP BY a DESC, b: in which order the groups stand."""
    for number in range(1, len(code) - 3):
        if not code.stands(number, "group", "by"):
            continue
        end = code.find(number + 2, _BEHIND_GROUPS)
        for _, last in code.items(number + 2, end):
            if last - 1 > number + 2 and code.word(last - 1) in ("asc", "desc"):
                yield code.edit(last - 1, last - 1)


def _matched_columns(code: Code) -> Iterator[Edit]:
    """MySQL: MATCH a, b AGAINST ('x'): the columns need no parentheses."""
    for number in range(1, len(code) - 3):
        if code.word(number) != "match" or not code.is_name(number + 1):
            continue
        end = number + 1
        while (code.is_name(end) and code.word(end) != "against") or code.word(end) in (".", ","):
            end += 1
        if code.stands(end, "against", "("):
            yield code.edit(number, end - 1, f"MATCH ({code.between(number + 1, end)})")


def _escapes(code: Code) -> Iterator[Edit]:
    """MySQL, T-SQL: FROM {oj a LEFT JOIN b ON …}, {fn UCASE(a)}, {d '2024-01-01'}: as ODBC writes them."""
    opened: list[str] = []
    for number in range(len(code)):
        word = code.word(number)
        if word == "{":
            escape = code.word(number + 1)
            follows = code.is_name(number + 2) if escape == "fn" else code.is_string(number + 2)
            known = escape in _ESCAPES and (follows or (escape == "oj" and code.word(number + 2) != "}"))
            opened.append(escape if known else "")
            if known:
                yield code.edit(number, number + 1, f"{_ESCAPES[escape]} ")
        elif word == "}" and opened:
            escape = opened.pop()
            if escape:
                yield code.edit(number, number, ")" if escape == "oj" else " ")


def _rows_as_queries(code: Code) -> Iterator[Edit]:
    """MariaDB: (VALUES (1, a), (2, b) UNION …), WITH c (x, y) AS (VALUES (1, 2), (3, 4)): rows as a query of their own.

    VALUES(a) of ON DUPLICATE KEY is a function, which sqlglot takes a single row for.
    """
    if any(code.stands(number, "duplicate", "key") for number in range(len(code) - 1)):
        return
    for number in range(1, len(code) - 2):
        if not code.stands(number, "values", "(") or code.word(number - 1) not in _BEFORE_ROWS:
            continue
        end = code.closing(number + 1)
        while code.stands(end + 1, ",", "("):
            end = code.closing(end + 2)
        single = end == code.closing(number + 1)
        if single:
            yield code.edit(number, end, f"SELECT {code.between(number + 2, end)}")
        else:
            yield code.edit(number, number, "SELECT * FROM (VALUES")
            yield code.edit(end, end, ")) AS given")


def _defaults(code: Code) -> Iterator[Edit]:
    """MySQL: DEFAULT(a), DEFAULT(t.a) is what a has where nothing is given, and no value of any row."""
    defining = code.word(0) in ("create", "alter")
    first = next((n for n in range(len(code)) if code.word(n) == "select"), len(code)) if defining else 1
    for number in range(first, len(code) - 3):
        if not code.stands(number, "default", "("):
            continue
        closing = code.closing(number + 1)
        if code.dotted_name(number + 2)[1] == closing < len(code):
            yield code.edit(number, closing, "NULL")


def _ordered_pivots(code: Code) -> Iterator[Edit]:
    """DuckDB: (PIVOT t ON q USING sum(v) ORDER BY id LIMIT 3): what orders the rows behind them, as of any query."""
    for number in range(len(code)):
        if code.word(number) not in ("pivot", "unpivot") or code.word(number - 1) != "(":
            continue
        closing = code.closing(number - 1)
        tail = next((n for n in code.outside(number, closing) if code.word(n) in _ENDS), closing)
        yield code.start_of(number), code.start_of(number), "FROM ("
        yield code.end_of(tail - 1), code.end_of(tail - 1), ") "


def _pivoted_xml(code: Code) -> Iterator[Edit]:
    """Oracle: PIVOT XML (SUM(v) FOR q IN (ANY)) gives one column q_XML, whatever q holds."""
    for number in range(1, len(code) - 4):
        if not code.stands(number, "pivot", "xml", "("):
            continue
        yield code.edit(number + 1, number + 1)
        closing = code.closing(number + 2)
        for_ = next((n for n in code.outside(number + 3, closing) if code.word(n) == "for"), None)
        if for_ is None or not code.stands(for_ + 2, "in", "(") or code.word(for_ + 4) not in ("any", "select"):
            continue
        made = list(code.items(number + 3, for_))
        plain = (code.between(first, code.closing(first + 1) + 1) for first, _ in made)
        yield code.edit(number + 3, for_ - 1, next(plain) if len(made) == 1 else f"XMLFOREST({', '.join(plain)})")
        name = code.without_quotes(for_ + 1).upper() if not code.is_quoted(for_ + 1) else code.without_quotes(for_ + 1)
        yield code.edit(for_ + 4, code.closing(for_ + 3) - 1, f"'' AS \"{name}_XML\"")


def _changed_keys(code: Code) -> Iterator[Edit]:
    """T-SQL: CHANGETABLE(CHANGES t, 3) and CHANGETABLE(VERSION t, (k), (1)): what was done to a row, and t's keys."""
    for number in range(len(code) - 4):
        if not code.stands(number, "changetable", "(") or code.word(number + 2) not in _CHANGE_COLUMNS:
            continue
        comma = next((n for n in code.outside(number + 3) if code.word(n) == ","), None)
        if comma is not None:
            made = ", ".join(f"NULL AS SYS_CHANGE_{name}" for name in _CHANGE_COLUMNS[code.word(number + 2)])
            keyed = code.stands(number, "changetable", "(", "version") and code.word(comma + 1) == "("
            keys = code.between(comma + 2, code.closing(comma + 1)) if keyed else "*"
            rows = f"(SELECT {made}, {keys} FROM {code.between(number + 3, comma)})"
            yield code.edit(number, code.closing(number + 1), rows)


def _searched_texts(code: Code) -> Iterator[Edit]:
    """T-SQL: FROM CONTAINSTABLE(t, (a, b), 'x') gives rows of t by what stands in a and b, with KEY and RANK.

    Which column of t is its KEY stands in its index alone, and so do the columns that `*` means.
    """
    for number in range(len(code) - 3):
        known = _SEARCHED_COLUMNS.get(code.word(number))
        if known is None or code.word(number + 1) != "(":
            continue
        items = list(code.items(number + 2, code.closing(number + 1)))
        if len(items) < 2:
            continue
        first, last = items[1]
        listed = code.word(first) == "("
        searched = [code.between(first + listed, last - listed)]
        if len(items) > 3 and code.word(number) == "semanticsimilaritydetailstable":
            searched.append(code.between(*items[3]))
        texts = "NULL" if "*" in searched else f"CONCAT('', {', '.join(searched)})"
        made = [f"NULL AS {name}" for name in known[0]] + [f"{texts} AS {name}" for name in known[1]]
        rows = f"(SELECT {', '.join(made)} FROM {code.between(*items[0])} WHERE {texts} IS NOT NULL)"
        yield code.edit(number, code.closing(number + 1), rows)


def _searched_vectors(code: Code) -> Iterator[Edit]:
    """T-SQL: FROM VECTOR_SEARCH(TABLE = t AS a, COLUMN = v, SIMILAR_TO = @q, …) AS s is a with s.distance beside it.

    And SELECT TOP (9) WITH APPROXIMATE: which rows are near enough, by an index.
    """
    for number in range(len(code) - 3):
        if code.stands(number, "vector_search", "(", "table"):
            closing = code.closing(number + 1)
            given = {code.word(first): code.between(first + 2, last) for first, last in code.items(number + 2, closing)}
            table, column, near = (given.get(name, "") for name in ("table", "column", "similar_to"))
            if column and near:
                alias = table.split()[-1]
                distance = f"(SELECT VECTOR_DISTANCE({alias}.{column}, {near}) AS distance)"
                yield code.edit(number, closing, f"{table} CROSS APPLY {distance}")
                hint = closing + 2 + code.stands(closing + 1, "as")
                if code.stands(hint, "with", "("):
                    yield code.edit(hint, code.closing(hint + 1))
        elif code.stands(number, "with", "approximate") and code.word(code.opening(number - 1) - 1) == "top":
            yield code.edit(number, number + 1)


def _vector_words(code: Code) -> Iterator[Edit]:
    """Oracle: VECTOR_DISTANCE(a, b, COSINE), TO_VECTOR(a, 4, FLOAT32): what stands third are words."""
    for number in range(len(code) - 5):
        if code.word(number) in _OF_VECTORS and code.word(number + 1) == "(":
            closing = code.closing(number + 1)
            third = next(iter([*code.items(number + 2, closing)][2:]), None)
            if third is not None and code.is_word(third[0]):
                yield code.edit(third[0] - 1, closing - 1, "")


def combined_values(code: Code) -> Iterator[Edit]:
    """FROM (VALUES (1) UNION ALL SELECT a FROM s)  is  FROM (SELECT * FROM (VALUES (1)) UNION ALL SELECT a FROM s)."""
    for number in range(2, len(code)):
        if code.words(number - 1, 2) != ("(", "values") or code.word(number - 2) not in _BEFORE_LISTED:
            continue
        end = next((index for index in code.outside(number + 1) if code.word(index) in _BEHIND_LISTED), None)
        if end is not None:
            yield code.start_of(number), code.start_of(number), "SELECT * FROM ("
            yield code.end_of(end - 1), code.end_of(end - 1), ")"


def _settings_of_query(code: Code) -> Iterator[Edit]:
    """Trino: WITH SESSION time_zone_id = 'UTC', c.p = 1 SELECT … sets properties for one query."""
    for number in range(len(code) - 3):
        if code.stands(number, "with", "session") and code.word(number + 2) not in ("as", "("):
            end = next((index for index in code.outside(number + 2) if code.word(index) in QUERIES), None)
            if end is not None:
                yield code.edit(number, end - 1)


def _functions_as_text(code: Code) -> Iterator[Edit]:
    """Trino: WITH FUNCTION f(x bigint) RETURNS bigint LANGUAGE PYTHON … AS $$…$$ SELECT f(a): made of its arguments."""
    for number in range(len(code) - 2):
        if not code.stands(number, "with", "function"):
            continue
        first, last = number + 1, number
        for index in range(first, len(code)):
            if code.is_string(index) and code.text.startswith("$$", code.start_of(index)):
                last = index
                if code.words(index + 1, 2) != (",", "function"):
                    break
        if last > number:
            yield code.edit(number, last)


def _inserted_row(code: Code) -> Iterator[Edit]:
    """BigQuery: MERGE … THEN INSERT (a, b) ROW, which gives the source's columns to those."""
    for number in range(3, len(code)):
        if code.stands(number - 1, ")", "row") and code.word(code.opening(number - 1) - 1) == "insert":
            yield code.edit(number, number)


def _query_routines(code: Code) -> Iterator[Edit]:
    """Oracle: WITH FUNCTION f (x NUMBER) RETURN NUMBER IS … END; SELECT f(a) …: a call is made of its arguments.

    And of the queries that the function runs, which stand as arguments behind them: `f(a, (SELECT MAX(v) FROM t))`.
    """
    for number in range(len(code) - 3):
        if code.word(number) != "with" or code.word(number + 1) not in _ROUTINES or not code.is_name(number + 2):
            continue
        last, read = number, dict[str, str]()
        while code.word(last + 1) in _ROUTINES:
            end = _end_of_routine(code, last + 1)
            read[code.name(last + 2)] = "".join(f", ({query})" for query in _queries_of_routine(code, last + 1, end))
            last = end
        query = code.word(last + 1) in ("select", "(")
        yield code.edit(number, last, " " if query else "WITH")
        for index in range(last + 1, len(code) - 1):
            behind = read.get(code.name(index), "")
            if behind and code.word(index + 1) == "(" and code.closing(index + 1) < len(code):
                at = code.start_of(code.closing(index + 1))
                yield at, at, behind if code.closing(index + 1) > index + 2 else behind[2:]
        return


def _end_of_routine(code: Code, first: int) -> int:
    """The semicolon behind the END of the routine that begins at `first`."""
    depth, begun = 0, False
    for number in range(first, len(code)):
        word, before = code.word(number), code.word(number - 1)
        if word in _BLOCKS and before != "end":
            depth += 1
            begun = begun or word == "begin"
        elif word == "end":
            depth -= 1
        elif word == ";" and begun and depth == 0:
            return number
    return len(code) - 1


def _queries_of_routine(code: Code, first: int, end: int) -> Iterator[str]:
    """The queries that a routine's body fills variables from, with what it was given in the place of no column."""
    opening = first + 2
    closing = code.closing(opening) if code.word(opening) == "(" else opening
    own = {code.name(begin) for begin, _ in code.items(opening + 1, closing)}
    for select in range(closing, end):
        into = code.find(select, frozenset({"into", ";"}), end) if code.word(select) == "select" else end
        if code.word(into) != "into":
            continue
        from_ = code.find(into, frozenset({"from", ";"}), end)
        until = code.find(from_, frozenset({";"}), end)
        if code.word(from_) == "from":
            kept = (*range(select, into), *range(from_, until))
            yield " ".join(":given" if code.name(n) in own else code.between(n, n + 1) for n in kept)


def _values_of_rows(code: Code) -> Iterator[Edit]:
    """Oracle: VALUE(x), x a row of TABLE(…): its one value; EXTRACT(d, '/a'): of a document, and not of a time.

    REF(x) is the number of the row x, and none of its columns.
    """
    for number in range(len(code) - 3):
        if code.stands(number, "extract", "(") and len([*code.items(number + 2, code.closing(number + 1))]) > 1:
            yield code.edit(number, number, "EXTRACTVALUE")
        if code.stands(number, "value", "(") and code.is_name(number + 2) and code.word(number + 3) == ")":
            yield code.edit(number, number + 3, f"{code.between(number + 2, number + 3)}.column_value")
        if code.stands(number, "ref", "(") and code.is_name(number + 2) and code.word(number + 3) == ")":
            yield code.edit(number, number + 3, "NULL")


def _at_version(code: Code) -> Iterator[Edit]:
    """Delta Lake: t@v5, t@20240101000000000: an older version of t."""
    text = code.text
    for number in range(1, len(code)):
        if code.word(number) == "@" and code.is_name(number - 1) and code.start_of(number) == code.end_of(number - 1):
            found = _VERSION.match(text, code.end_of(number))
            if found is not None:
                yield code.start_of(number), found.end(), " "


def _scripted_rows(code: Code) -> Iterator[Edit]:
    """Hive, Spark: MAP a, b USING 'script' AS k, v, and REDUCE, as SELECT TRANSFORM(a, b) USING 'script' AS (k, v).

    A script whose columns are not named gives `key` and `value` by both manuals.
    """
    for number in range(2, len(code) - 1):
        if code.word(number) != "using" or not code.is_string(number + 1):
            continue
        verb = _verb_of_script(code, number)
        if verb is None:
            continue
        if code.word(verb) != "transform":
            given = code.outside(verb + 1, number)
            end = next((n for n in given if code.stands(n, "row", "format") or code.word(n) == "recordwriter"), number)
            bracketed = code.closing(verb + 1) == end - 1
            yield code.edit(verb, verb, "SELECT TRANSFORM" if bracketed else "SELECT TRANSFORM(")
            if not bracketed:
                yield code.end_of(end - 1), code.end_of(end - 1), ")"
        if code.word(number + 2) != "as":
            yield code.end_of(number + 1), code.end_of(number + 1), " AS (key, value)"
        elif code.word(number + 3) != "(":
            named = code.outside(number + 3)
            last = next((n for n in named if code.word(n) in _BEHIND_SCRIPT), code.end_around(number + 3)) - 1
            yield code.edit(number + 3, last, f"({code.between(number + 3, last + 1)})")


def _verb_of_script(code: Code, using: int) -> int | None:
    """The MAP, REDUCE or TRANSFORM whose rows a script is given; None where USING has none."""
    found = None
    number = using - 1
    while number > 0 and code.word(number) not in _BEFORE_SCRIPTED:
        if code.word(number) in _SCRIPTED and code.word(number - 1) not in (".", ","):
            found = number
        number = (code.opening(number) if code.word(number) == ")" else number) - 1
    return found


def _functions_of_rows(code: Code) -> Iterator[Edit]:
    """Hive: FROM f(ON s PARTITION BY a ORDER BY b g('x')): a function of the rows of s, a query or such a function.

    In which groups and in what order it gets them is made of their columns, all of which it gets.
    """
    for number in range(1, len(code) - 2):
        if code.stands(number, "(", "on") and code.is_name(number - 1):
            first, closing = number + 2, code.closing(number)
            last = code.closing(first) if code.word(first) == "(" else code.dotted_name(first)[1] - 1
            if code.stands(last + 1, "(", "on"):
                last = code.closing(last + 1)
            rows = code.between(first, last + 1)
            yield code.edit(number + 1, closing - 1, rows if code.word(first) == "(" else f"(SELECT * FROM {rows})")


def _unique_joins(code: Code) -> Iterator[Edit]:
    """Hive: FROM UNIQUEJOIN PRESERVE s a (a.k), PRESERVE t b (b.k), rows of all that have the same keys."""
    for start in range(len(code) - 2):
        if not code.stands(start, "from", "uniquejoin"):
            continue
        yield code.edit(start + 1, start + 1)
        firsts: list[str] = []
        number = start + 2
        while number < len(code):
            if code.word(number) == "preserve" and (code.is_name(number + 1) or code.word(number + 2) in QUERY_STARTS):
                yield code.edit(number, number)
                number += 1
            opening = code.closing(number) + 1 if code.word(number) == "(" else code.dotted_name(number)[1]
            opening = next((n for n in range(opening, opening + 3) if code.word(n) == "("), len(code))
            closing = code.closing(opening)
            keys = [code.between(*span) for span in code.items(opening + 1, closing)]
            conditions = " AND ".join(f"{one} = {other}" for one, other in zip(firsts, keys, strict=False))
            yield code.edit(opening, closing, f" ON {conditions}" if firsts else " ")
            firsts = firsts or keys
            if code.word(closing + 1) != ",":
                break
            yield code.edit(closing + 1, closing + 1, " FULL JOIN ")
            number = closing + 2


def _graph_rows(code: Code) -> Iterator[Edit]:
    """GRAPH_TABLE (g MATCH (a IS p) COLUMNS (a.n AS x)), GRAPH g MATCH (a:p) RETURN a.n AS x: rows with those columns.

    Which tables a graph is made of stands in its definition alone.
    """
    for number in range(len(code) - 3):
        if code.stands(number, "graph_table", "("):
            closing = code.closing(number + 1)
            yield code.edit(number, closing, f"({_graph_query(code, number + 2, closing)})")
    if code.word(0) == "graph" and code.is_name(1):
        last = next((n for n in code.outside(1) if code.word(n) == ";"), len(code)) - 1
        yield code.edit(0, last, _graph_query(code, 1, last + 1))


def _graph_query(code: Code, first: int, end: int) -> str:
    """A query of the columns that the last RETURN or COLUMNS of a graph's query names, up to a token."""
    clauses = [n for n in code.outside(first, end) if code.word(n) in ("columns", "return")]
    names: list[str] = []
    if clauses:
        begin = clauses[-1] + 1 + (code.word(clauses[-1] + 1) in ("distinct", "all"))
        if code.word(clauses[-1]) == "columns":
            begin, end = begin + 1, code.closing(begin)
        else:
            end = next((n for n in code.outside(begin, end) if code.word(n) in _ENDS), end)
        named = [until - 1 for _, until in code.items(begin, end)]
        names = [code.between(last, last + 1) for last in named if code.is_name(last)]
    columns = ", ".join(f"graph_rows.{name}" for name in names)
    return f"SELECT {columns or '*'} FROM GRAPH_TABLE() AS graph_rows"


def _tables_and_columns(code: Code) -> Iterator[Edit]:
    """Oracle: FROM f(t, COLUMNS(a, b)) calls a function with the rows of t, and names of columns."""
    for number in range(2, len(code) - 2):
        if not code.stands(number, ",", "columns", "("):
            continue
        opening = next((n for n in range(number - 1, 0, -1) if code.word(n) == "(" and code.closing(n) > number), 0)
        if not code.is_name(opening - 1):
            continue
        yield code.edit(number, code.closing(number + 2))
        for first, until in code.items(opening + 1, number):
            if code.dotted_name(first)[1] == until:
                yield code.edit(first, until - 1, f"(SELECT * FROM {code.between(first, until)})")


def _own_operators(code: Code) -> Iterator[Edit]:
    """PostgreSQL: `a <<| b`, `a %> 'x'`, operators of PostGIS, pg_trgm and others: what makes a value of both sides."""
    end = 1
    for number in range(1, len(code) - 1):
        if number < end or code.word(number) not in _OPERATOR_SIGNS:
            continue
        end = number + 1
        while code.word(end) in _OPERATOR_SIGNS and code.start_of(end) == code.end_of(end - 1):
            end += 1
        if _NAMED_SIGNS.isdisjoint(code.words(number, end - number)):
            while end > number + 1 and code.word(end - 1) in ("+", "-"):  # a=-1
                end -= 1
        known = code.between(number, end) in _KNOWN_OPERATORS
        if not known and code.word(number - 1) not in _BEFORE_OPERAND:
            yield code.edit(number, end - 1, "<->")


def _typed_texts(code: Code) -> Iterator[Edit]:
    """PostgreSQL: geometry 'POINT(1 2)' is a text of that type, of which sqlglot knows its own types alone."""
    for number in range(1, len(code) - 1):
        named = code.is_name(number) and not code.is_quoted(number) and code.word(number) not in _BEFORE_OPERAND
        begins = code.word(number - 1) in _BEFORE_OPERAND or code.word(number - 1) in _OPERATOR_SIGNS
        if named and begins and code.is_string(number + 1) and code.word(number) not in _BEFORE_TEXT:
            yield code.edit(number, number)


def recursion_clauses(code: Code) -> Iterator[Edit]:
    """SEARCH DEPTH FIRST BY a SET n, CYCLE a SET c USING p behind a recursive item: in which order, and where it ends.

    What n, c and p are made of is not told: they are columns that nobody knows. MariaDB's CYCLE a RESTRICT has none.
    """
    last = 0
    for number in range(2, len(code) - 2):
        behind = code.word(number - 1) == ")" or number == last + 1
        if not behind or code.word(number) not in ("search", "cycle"):
            continue
        end = next((n for n in code.outside(number + 1) if code.word(n) in _RECURSION_ENDS), None)
        if end is None or code.word(end) in QUERY_STARTS:
            continue
        last = end + (code.word(end) == "set")
        if code.stands(last + 1, "to") and code.word(last + 3) == "default":
            last += 4
        if code.word(last + 1) == "using":
            last += 2
        yield code.edit(number, last)


def _recursion_levels(code: Code) -> Iterator[Edit]:
    """Spark: WITH RECURSIVE r MAX RECURSION LEVEL 9 AS (…), which says where it ends."""
    for number in range(2, len(code) - 4):
        if code.stands(number, "max", "recursion", "level") and code.is_number(number + 3):
            yield code.edit(number, number + 3)


def _unsigned_shifts(code: Code) -> Iterator[Edit]:
    """Spark: a >>> 2."""
    for number in range(len(code) - 3):
        if code.between(number, number + 3) == ">>>":
            yield code.edit(number, number + 2, ">>")


def _fields_of_variants(code: Code) -> Iterator[Edit]:
    """Spark: v:a.b, v:['a'], a field of the variant v, as v.a.b and v['a']; `v::INT` and `a = :p` have none."""
    for number in range(1, len(code) - 1):
        if code.word(number) != ":" or ":" in (code.word(number - 1), code.word(number + 1)):
            continue
        behind_value = code.is_name(number - 1) or code.word(number - 1) in ("]", ")")
        touching = code.end_of(number - 1) == code.start_of(number) and code.end_of(number) == code.start_of(number + 1)
        if behind_value and touching and (code.is_name(number + 1) or code.word(number + 1) == "["):
            yield code.edit(number, number, "" if code.word(number + 1) == "[" else ".")


@cache
def _known_words(grammar: str) -> frozenset[str]:
    """The words that sqlglot has a kind of token for, types among them; the first word of DOUBLE PRECISION."""
    known = SqlglotDialect.get_or_raise(grammar).tokenizer_class.KEYWORDS
    return frozenset(key.split()[0].lower() for key, kind in known.items() if key.strip() and kind not in _NO_TYPES)


def unknown_types(code: Code) -> Iterator[Edit]:
    """Casts to types that sqlglot does not know, as casts to text: `a::aclitem[]`, `a::pg_catalog.oid`."""
    for number in range(len(code)):
        if code.stands(number, ":", ":"):
            yield from _as_text(code, number + 2)
        elif code.stands(number, "cast", "("):
            closing = code.closing(number + 1)
            begin = next((index for index in range(closing - 1, number, -1) if code.stands(index, "as")), None)
            if begin is not None:
                yield from _as_text(code, begin + 1)


def _as_text(code: Code, first: int) -> Iterator[Edit]:
    last = first
    while code.word(last)[:1].isalpha() and code.word(last) not in _known_words(code.dialect.sqlglot):
        if not code.stands(last + 1, "."):
            yield code.edit(first, code.closing(last + 1) if code.stands(last + 1, "(") else last, "text")
            return
        last += 2


_MYSQL = (_defaults, _ways_to_select, _signed_integers, _ordered_groups, _matched_columns, _escapes)
_SPARK = (_at_version, _scripted_rows, _recursion_levels, _unsigned_shifts)

_TRINO = (_settings_of_query, _functions_as_text, unknown_types)

CLAUSE_REPAIRS: dict[str, tuple[Repair, ...]] = {
    "athena": _TRINO,
    "bigquery": (_graph_rows, _inserted_row),
    "databricks": _SPARK,
    "duckdb": (_ordered_pivots, _graph_rows),
    "fabric": (_changed_keys, _searched_texts, _searched_vectors, _escapes),
    "hive": (_scripted_rows, _functions_of_rows, _unique_joins),
    "mariadb": (*_MYSQL, _rows_as_queries),
    "mysql": _MYSQL,
    "oracle": (
        _query_routines,
        _vector_words,
        _values_of_rows,
        _pivoted_xml,
        at_zone,
        _graph_rows,
        _tables_and_columns,
    ),
    "greenplum": (_trimmed_text, _own_operators, _typed_texts),
    "presto": _TRINO,
    "postgres": (_trimmed_text, _graph_rows, _named_joins, _own_operators, _typed_texts),
    "spark": (*_SPARK, _fields_of_variants),
    "trino": _TRINO,
    "tsql": (_changed_keys, _searched_texts, _searched_vectors, _escapes),
}
