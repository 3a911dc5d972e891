"""Vertica's loads and exports, written as PostgreSQL's: sqlglot would take their words for tables and places."""

from __future__ import annotations

from collections.abc import Iterator

from ingestion.dialects.cursor import Code, Edit
from ingestion.dialects.definition import keywords

_FILE_ENDS = keywords(
    "with delimiter parser filter source native fixedwidth parquet orc gzip bzip lzo zstd uncompressed skip rejected"
    " rejectmax exceptions null escape enclosed record trailing error abort direct auto trickle no stream store"
    " storage column ;"
)
_BEFORE_PATH = keywords("from local ,")
"""All other texts are of options: a delimiter, a mark, a node."""
_NOT_PLAIN = keywords("as filler format option")


def loaded_rows(code: Code) -> Iterator[Edit]:
    """COPY t (a, b AS f(x)) FROM LOCAL 'path' ON ANY NODE, 'path' GZIP: the table with the paths alone.

    COPY t FROM VERTICA db.u reads a table of another database. What SOURCE or a variable of the client names is no
    place that is known here.
    """
    if not code.stands(0, "copy") or not code.is_name(1):
        return
    end = 1
    while code.word(end + 1) == ".":
        end += 2
    closing = code.closing(end + 1) if code.word(end + 1) == "(" else end
    plain = not any(code.word(n) in _NOT_PLAIN for n in range(end, closing))
    target = code.between(1, (closing if plain else end) + 1)
    from_ = next((n for n in code.outside(closing + 1) if code.word(n) == "from"), len(code))
    if code.stands(from_ + 1, "vertica"):
        _, behind = code.dotted_name(from_ + 2)
        name, last = code.between(from_ + 2, behind), code.closing(behind)
        listed = code.between(behind + 1, last) if code.word(behind) == "(" else "*"
        yield 0, len(code.text), f"INSERT INTO {target} SELECT {listed} FROM {name}"
        return
    until = code.find(from_, _FILE_ENDS)
    listed_at = (n for n in code.outside(from_, until) if code.word(n - 1) in _BEFORE_PATH and code.is_string(n))
    paths = [code.between(n, n + 1) for n in listed_at]
    yield 0, len(code.text), f"COPY {target} FROM {', '.join(paths) or 'STDIN'}"


def exported_rows(code: Code) -> Iterator[Edit]:
    """EXPORT TO PARQUET (directory = 'path', …) OVER (…) AS query, EXPORT TO VERTICA db.t (a) FROM s."""
    if not code.stands(0, "export", "to"):
        return
    if code.stands(2, "vertica"):
        _, behind = code.dotted_name(3)
        start = code.after(behind) if code.word(behind) == "(" else behind
        yield code.edit(0, 2, "INSERT INTO")
        if code.stands(start, "from"):
            _, last = code.dotted_name(start + 1)
            listed = code.between(last + 1, code.closing(last)) if code.word(last) == "(" else "*"
            yield code.edit(start, len(code) - 1, f"SELECT {listed} FROM {code.between(start + 1, last)}")
        elif code.stands(start, "as"):
            yield code.edit(start, start)
        return
    given = range(4, code.closing(3)) if code.word(3) == "(" else range(0)
    path = next((n + 2 for n in given if code.stands(n, "directory", "=") and code.is_string(n + 2)), None)
    as_ = next((n for n in code.outside(3) if code.word(n) == "as"), None)
    if path is not None and as_ is not None:
        end = len(code) - (code.word(len(code) - 1) == ";")
        query, directory = code.between(as_ + 1, end), code.between(path, path + 1)
        yield 0, len(code.text), f"COPY ({query}) TO {directory}"


def calls_and_limits(code: Code) -> Iterator[Edit]:
    """LIMIT n OVER (…) keeps some rows of each group; f(a USING PARAMETERS p = 1) is f(a)."""
    for number in range(len(code) - 3):
        if code.stands(number, "using", "parameters"):
            around = next((n for n in range(number, 0, -1) if code.word(n) == "(" and code.closing(n) > number), 0)
            yield code.edit(number, code.closing(around) - 1)
        if code.word(number) == "limit" and code.stands(number + 2, "over", "("):
            yield code.edit(number, code.closing(number + 3))
