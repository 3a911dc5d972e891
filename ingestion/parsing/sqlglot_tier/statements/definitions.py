"""What CREATE TABLE says of a table's columns, read off the tokens where sqlglot knows not all of them.

Only names and types count. How a table is stored, indexed and checked changes with every release of every system and
says nothing about lineage: it is passed over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from ingestion.dialects import Dialect
from ingestion.dialects.definition import keywords
from ingestion.model import Column, StatementKind, TableChange, TableName
from ingestion.parsing.sqlglot_tier.expressions.types import type_name
from ingestion.parsing.sqlglot_tier.names.identifiers import Names
from ingestion.parsing.sqlglot_tier.repairs.edits import at_depth_zero, matching, words

_TEMPORARY = keywords("TEMP TEMPORARY VOLATILE")
_COPIES = keywords("LIKE CLONE COPY OF AS TEMPLATE")
_QUERIES = keywords("SELECT SEL WITH VALUES TABLE FROM ( EXECUTE CLONE")
_CONSTRAINTS = keywords("CONSTRAINT PRIMARY UNIQUE FOREIGN CHECK EXCLUDE SUPPLEMENTAL CONNECTION PROJECTION")
_LISTED_KEYS = keywords("KEY FULLTEXT SPATIAL")
_TYPE_ENDS = keywords(
    "NOT NULL DEFAULT PRIMARY UNIQUE CHECK REFERENCES COLLATE GENERATED IDENTITY CONSTRAINT COMMENT ENCODE MASKED "
    "ENCRYPTED FILESTREAM SPARSE ROWGUIDCOL AUTO_INCREMENT AUTOINCREMENT INVISIBLE VISIBLE AS WITH SRID DISTKEY "
    "SORTKEY OPTIONS ENABLE DISABLE KEY STORAGE COMPRESSION TITLE FORMAT COMPRESS CASESPECIFIC UPPERCASE INDEX FOR "
    "CODEC TTL MATERIALIZED ALIAS EPHEMERAL STORED VIRTUAL ON HIDDEN INLINE IMPLICITLY USING TAG POLICY SUM MAX MIN "
    "REPLACE HLL_UNION BITMAP_UNION ZEROFILL INCREMENT START COLUMN_FORMAT SORT ENCRYPT"
)
_COLLECTIONS = keywords("ARRAY STRUCT MAP ROW RECORD NESTED TUPLE")


@dataclass(frozen=True, slots=True)
class TokenSpan:
    """Tokens `first` to before `end`."""

    first: int
    end: int


def defined_table(tokens: list[Token], names: Names) -> TableChange | None:
    """The table that a CREATE TABLE with a list of columns makes; None where a query or another table gives them."""
    before = [token.text.upper() for token in tokens[:8]]
    if before[:1] != ["CREATE"] or "TABLE" not in before:
        return None
    place = before.index("TABLE") + 1
    if "(" in before[:place]:
        return None
    temporary = bool(_TEMPORARY & set(before[:place]))
    if words(tokens, place, "IF", "NOT", "EXISTS"):
        place += 3
    end, name = name_at(tokens, place, names)
    opening = next((n for n in range(end, len(tokens)) if tokens[n].token_type is TokenType.L_PAREN), None)
    if name is None or opening is None or any(tokens[n].text.upper() in _COPIES for n in range(end, opening)):
        return None
    closing = matching(tokens, opening)
    if any(_copies_or_asks(tokens, n) for n in at_depth_zero(tokens, closing + 1)):
        return None
    columns = [*columns_defined(tokens, TokenSpan(opening + 1, closing), names)]
    for number in at_depth_zero(tokens, closing + 1):
        if words(tokens, number, "PARTITIONED BY", "("):
            last = matching(tokens, number + 1)
            columns += (column for column in columns_defined(tokens, TokenSpan(number + 2, last), names) if column.type)
    if not columns:
        return None
    return TableChange(StatementKind.CREATE_TABLE, name, tuple(columns), None, temporary or name.table.startswith("#"))


def _copies_or_asks(tokens: list[Token], number: int) -> bool:
    word = tokens[number].text.upper()
    following = tokens[number + 1].text.upper() if number + 1 < len(tokens) else ""
    return (word == "AS" and following in _QUERIES) or word in ("SELECT", "LIKE", "INHERITS")


def name_at(tokens: list[Token], place: int, names: Names) -> tuple[int, TableName | None]:
    """The place behind the relation's name that stands at `place`, and the name; None where there is none."""
    parts: list[exp.Identifier] = []
    while place < len(tokens) and _is_word(tokens[place]):
        quoted = tokens[place].token_type is TokenType.IDENTIFIER
        parts.append(exp.Identifier(this=tokens[place].text, quoted=quoted))
        place += 1
        if place >= len(tokens) or tokens[place].text != ".":
            break
        place += 1
    if not parts:
        return place, None
    written = ".".join(str(part.this) for part in parts)
    return place, TableName(tuple(names.relation(part) for part in parts), written)


def _is_word(token: Token) -> bool:
    return token.token_type is TokenType.IDENTIFIER or token.text[:1].isalpha() or token.text[:1] in "_#@"


def list_items(tokens: list[Token], around: TokenSpan) -> Iterator[TokenSpan]:
    """The items of a list: what stands between its commas outside of brackets."""
    first, angles = around.first, 0
    for number in at_depth_zero(tokens[: around.end], around.first):
        text = tokens[number].text
        if text == "<" and (angles or tokens[number - 1].text.upper() in _COLLECTIONS):
            angles += 1
        elif angles and set(text) == {">"}:
            angles -= len(text)
        elif text == "," and not angles:
            yield TokenSpan(first, number)
            first = number + 1
    if first < around.end:
        yield TokenSpan(first, around.end)


def columns_defined(tokens: list[Token], around: TokenSpan, names: Names) -> Iterator[Column]:
    """The columns that the items of a list, the tokens `around` them, define; constraints are passed over."""
    for item in list_items(tokens, around):
        if item.first < item.end and not is_constraint(tokens, item, names.dialect):
            column = column_defined(tokens, item, names)
            if column is not None:
                yield column


def is_constraint(tokens: list[Token], item: TokenSpan, dialect: Dialect) -> bool:
    """Whether an `item` defines a constraint or an index, and no column."""
    first = tokens[item.first]
    if first.token_type is TokenType.IDENTIFIER or not _is_word(first):
        return not _is_word(first)
    word = _first_word(first)
    return (
        word in _CONSTRAINTS
        or (word == "INDEX" and dialect.listed_indexes)
        or (word in _LISTED_KEYS and dialect.listed_keys)
        or (word == "PERIOD" and words(tokens, item.first + 1, "FOR"))
        or (word == "LIKE" and item.end > item.first + 1)
    )


def column_defined(tokens: list[Token], item: TokenSpan, names: Names) -> Column | None:
    """The column that an `item` defines, with its type in the standard set, "" where that is not known."""
    token = tokens[item.first]
    if not _is_word(token) or words(tokens, item.first + 1, "="):  # an option of a virtual table
        return None
    name = names.column(exp.Identifier(this=token.text, quoted=token.token_type is TokenType.IDENTIFIER))
    end = item.first + 1
    while end < item.end and not _ends_type(tokens, end):
        end = matching(tokens, end) + 1 if tokens[end].token_type is TokenType.L_PAREN else end + 1
    return Column(name, _type(tokens[item.first + 1 : end], names))


def _ends_type(tokens: list[Token], number: int) -> bool:
    word = _first_word(tokens[number])
    if word == "CHARACTER":
        return words(tokens, number + 1, "SET")
    if word == "WITH":
        return not any(words(tokens, number + 1, *zone) for zone in (("TIME", "ZONE"), ("LOCAL", "TIME", "ZONE")))
    return word in _TYPE_ENDS


def _first_word(token: Token) -> str:
    """A token may hold several words: PRIMARY KEY, CHARACTER SET."""
    return token.text.split(None, 1)[0].upper() if token.text.strip() else ""


def _type(tokens: list[Token], names: Names) -> str:
    text = ""
    for token in tokens:
        quote = "'" if token.token_type is TokenType.STRING else ""
        text += f"{' ' if text and token.text[:1].isalnum() else ''}{quote}{token.text}{quote}"
    return defined_type(text, names.dialect) if text else ""


def defined_type(written: str, rules: Dialect) -> str:
    """The type of a column as a definition tells it, in the standard set where it has one; "" where it is not read."""
    try:
        built = exp.DataType.build(written, dialect=rules.sqlglot or None, udt=True)
        return type_name(built).partition("(" if built.this is exp.DType.USERDEFINED else "\0")[0]
    except (SqlglotError, ValueError, AttributeError):
        return ""
