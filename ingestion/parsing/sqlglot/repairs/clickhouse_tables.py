"""ClickHouse's tables that hold another one's rows: what a dictionary loads, and what Distributed and Buffer show,
and those that read a function.
"""

from __future__ import annotations

from collections.abc import Iterator

from ingestion.dialects.cursor import Code, Edit
from ingestion.dialects.definition import keywords
from ingestion.dialects.functions import OWN_ADDRESS
from ingestion.dialects.keywords import QUERY_STARTS

_FORWARDING = {"distributed": 1, "buffer": 0}
"""ClickHouse's engines of tables that show another one's rows, and which argument names the database of that one.

What is written into them goes on to the other, which is not told: with an edge back, no column of either would be an
origin, and nothing in the definition says whether rows go that way at all.
"""
_NO_COLUMN = keywords("index constraint projection primary")
_BEHIND_FUNCTION = keywords("comment settings format")


def dictionary(code: Code) -> Iterator[Edit]:
    """FROM dictionary('db.d') reads the dictionary of that name."""
    for number in range(1, len(code) - 3):
        if code.stands(number, "dictionary", "(") and code.word(number - 1) in ("from", "join", ","):
            yield code.edit(number, code.closing(number + 1), _dictionary_name(code, number + 2))


def _dictionary_name(code: Code, index: int) -> str:
    """The name that dictionary(…) is given at an index."""
    if code.is_string(index):
        return _quote(*code.without_quotes(index).split("."))
    return code.between(index, code.closing(index - 1))


def _quote(*parts: str) -> str:
    return ".".join(f"`{part.replace('`', '')}`" for part in parts if part)


def loaded_dictionary(code: Code) -> Iterator[Edit]:
    """CREATE DICTIONARY d (…) SOURCE(CLICKHOUSE(TABLE 's' …)) as the table that it loads from there.

    Of a dictionary from another system only the name is left: what its source is called there is no name here. One
    from another ClickHouse reads what remote(…) does.
    """
    index = next((n for n in range(1, min(len(code), 5)) if code.stands(n, "dictionary")), None)
    opening = next((n for n in range(index or 0, len(code)) if code.word(n) == "("), None)
    if index is None or opening is None or not code.stands(0, "create"):
        return
    source = next((n for n in code.outside(opening) if code.stands(n, "source", "(")), None)
    if source is None:
        return
    columns = [code.between(n, n + 1) for n in _first_of_items(code, opening)]
    rows = _rows(code, source + 2, ", ".join(columns))
    if rows:
        end = next((n for n in range(index, opening) if code.stands(n, "on", "cluster")), opening)
        yield code.edit(index, index, "TABLE")
        yield code.edit(end, len(code) - 1, f" AS {rows}")
    else:
        yield code.edit(opening, len(code) - 1)


def _first_of_items(code: Code, opening: int) -> list[int]:
    closing = code.closing(opening)
    inside = set(code.outside(opening + 1, closing))
    return [n for n in range(opening + 1, closing) if n in inside and code.word(n - 1) in ("(", ",")]


def _rows(code: Code, source: int, columns: str) -> str:
    """The query of a source; "" where it is in another system."""
    settings = {
        code.word(n): code.without_quotes(n + 1)
        for n in range(source + 2, code.closing(source + 1) - 1)
        if code.is_string(n + 1) or code.word(n) in ("table", "db", "host", "port")
    }
    kind = code.word(source)
    address = ":".join((settings.get("host", "localhost"), *(settings[key] for key in ("port",) if key in settings)))
    if kind == "clickhouse" and not OWN_ADDRESS.fullmatch(address):
        return f"SELECT {columns} FROM remote()"
    if kind == "clickhouse" and "table" in settings:
        return f"SELECT {columns} FROM {_quote(settings.get('db', ''), settings['table'])}"
    if kind == "clickhouse" and "query" in settings:
        return f"SELECT {columns} FROM ({settings['query'].rstrip('; ')})"
    if kind in ("file", "http"):
        index = (settings.get("path") or settings.get("url") or "").replace("'", "")
        return f"SELECT {columns} FROM url('{index}')" if index else ""
    return ""


def forwarding_table(code: Code) -> Iterator[Edit]:
    """CREATE TABLE d (…) ENGINE = Distributed(cluster, db, t) or Buffer(db, t, …) as the view of t that it is."""
    index = next((n for n in range(1, min(len(code), 5)) if code.word(n) == "table"), None)
    if index is None or not code.stands(0, "create"):
        return
    engine = next((n for n in code.outside(index) if code.word(n) == "engine"), len(code))
    engine += 2 if code.word(engine + 1) == "=" else 1
    first = _FORWARDING.get(code.word(engine))
    arguments = list(code.items(engine + 2, code.closing(engine + 1)))
    if first is None or len(arguments) < first + 2:
        return
    path = [_argument(code, *one) for one in arguments[first : first + 2]]
    opening = next((n for n in range(index, engine - 1) if code.word(n) == "("), engine)
    if path[1]:
        end = next(n for n in range(index, engine) if code.word(n) in ("on", "(", "as", "engine"))
        yield code.edit(index, index, "VIEW")
        yield code.edit(end, len(code) - 1, f" AS SELECT {_declared_columns(code, opening)} FROM {_quote(*path)}")


def table_over_function(code: Code) -> Iterator[Edit]:
    """CREATE TABLE d (a …) AS f(…) as the view that it is: d goes on to read what the function gives.

    It has the columns that it declares: what mysql(…) and merge(…) give tells no text.
    """
    index = next((n for n in range(1, min(len(code), 5)) if code.word(n) == "table"), None)
    behind = next((n for n in code.outside(index) if code.word(n) == "as"), len(code)) if index is not None else 0
    called = code.is_word(behind + 1) and code.word(behind + 1) not in QUERY_STARTS and code.word(behind + 2) == "("
    if index is None or not code.stands(0, "create") or not called:
        return
    closing, last = code.closing(behind + 2), len(code) - 1 - code.stands(len(code) - 1, ";")
    if closing < last and code.word(closing + 1) not in _BEHIND_FUNCTION:
        return
    opening = next((n for n in range(index, behind) if code.word(n) == "("), behind)
    end = next(n for n in range(index, behind + 1) if code.word(n) in ("on", "(", "as"))
    yield code.edit(index, index, "VIEW")
    function = code.between(behind + 1, closing + 1)
    if code.stands(behind + 1, "dictionary"):
        function = _dictionary_name(code, behind + 3)
    yield code.edit(end, last, f"AS SELECT {_declared_columns(code, opening)} FROM {function}")


def _declared_columns(code: Code, opening: int) -> str:
    """The columns of the list at a token, all where none is declared."""
    items = _first_of_items(code, opening) if code.word(opening) == "(" else []
    return ", ".join(code.between(n, n + 1) for n in items if code.word(n) not in _NO_COLUMN) or "*"


def _argument(code: Code, first: int, until: int) -> str:
    """The name, or text, that an argument is; "" of one that is computed, as `currentDatabase()` is."""
    if until != first + 1:
        return ""
    return code.without_quotes(first)
