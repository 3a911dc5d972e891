"""ClickHouse's dictionaries: what CREATE DICTIONARY loads, and dictionary('d') as a relation."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot.tokenizer_core import Token, TokenType

from ingestion.parsing.sqlglot_tier.repairs.edits import Edit, at_depth_zero, matching, span, words

_TEXTS = (TokenType.STRING, TokenType.HEREDOC_STRING)


def dictionary(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """FROM dictionary('db.d') reads the dictionary of that name."""
    for number in range(1, len(tokens) - 3):
        if words(tokens, number, "DICTIONARY", "(") and tokens[number - 1].text.upper() in ("FROM", "JOIN", ","):
            closing = matching(tokens, number + 1)
            name = text[tokens[number + 2].start : tokens[closing - 1].end + 1]
            if tokens[number + 2].token_type is TokenType.STRING:
                name = _quote(tokens[number + 2].text)
            yield span(tokens, number, closing, name)


def _quote(name: str) -> str:
    return ".".join(f"`{part}`" for part in name.replace("`", "").split("."))


def loaded_dictionary(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """CREATE DICTIONARY d (…) SOURCE(CLICKHOUSE(TABLE 's' …)) as the table that it loads from there.

    Of a dictionary from elsewhere only the name is left: what its source is called there is no name here.
    """
    place = next((n for n in range(1, min(len(tokens), 5)) if words(tokens, n, "DICTIONARY")), None)
    opening = next((n for n in range(place or 0, len(tokens)) if tokens[n].token_type is TokenType.L_PAREN), None)
    if place is None or opening is None or not words(tokens, 0, "CREATE"):
        return
    source = next((n for n in at_depth_zero(tokens, opening) if words(tokens, n, "SOURCE", "(")), None)
    if source is None:
        return
    columns = [text[tokens[n].start : tokens[n].end + 1] for n in _first_of_items(tokens, opening)]
    rows = _rows(tokens, source + 2, ", ".join(columns))
    if rows:
        end = next((n for n in range(place, opening) if words(tokens, n, "ON", "CLUSTER")), opening)
        yield span(tokens, place, place, "TABLE")
        yield span(tokens, end, len(tokens) - 1, f" AS {rows}")
    else:
        yield span(tokens, opening, len(tokens) - 1)


def _first_of_items(tokens: list[Token], opening: int) -> list[int]:
    closing = matching(tokens, opening)
    inside = set(at_depth_zero(tokens[:closing], opening + 1))
    return [n for n in range(opening + 1, closing) if n in inside and tokens[n - 1].text in ("(", ",")]


def _rows(tokens: list[Token], source: int, columns: str) -> str:
    """The query of a source; "" where it is in another system."""
    settings = {
        tokens[n].text.upper(): tokens[n + 1].text
        for n in range(source + 2, matching(tokens, source + 1) - 1)
        if tokens[n + 1].token_type in (TokenType.STRING, TokenType.HEREDOC_STRING)
        or tokens[n].text.upper() in ("TABLE", "DB")
    }
    kind = tokens[source].text.upper()
    if kind == "CLICKHOUSE" and "TABLE" in settings:
        database = f"{settings['DB']}." if settings.get("DB") else ""
        return f"SELECT {columns} FROM {_quote(database + settings['TABLE'])}"
    if kind == "CLICKHOUSE" and "QUERY" in settings:
        return f"SELECT {columns} FROM ({settings['QUERY'].rstrip('; ')})"
    if kind in ("FILE", "HTTP"):
        place = (settings.get("PATH") or settings.get("URL") or "").replace("'", "")
        return f"SELECT {columns} FROM url('{place}')" if place else ""
    return ""
