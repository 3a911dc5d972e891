"""Statements that change where a session looks for names: USE, SET search_path, ALTER SESSION and their kin."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from ingestion.dialects import Dialect, fold
from ingestion.dialects.definition import keywords
from ingestion.dialects.lexing import CLOSING, NAME, STRING, WORD, Token
from ingestion.dialects.lexing import tokens as all_tokens

_QUALIFIED_BY_USE = keywords("schema database catalog namespace")
_NOT_NAMES = keywords("role warehouse secondary")
"""Behind USE, and behind CREATE DATABASE."""
_IMPORTED = frozenset({("from", "share"), ("from", "listing"), ("as", "replica")})
SCOPES = keywords("session local")
"""Between SET and the setting."""
_VARIABLES = keywords("database schema catalog current_schema search_path")
_SYSTEM_SCHEMAS = keywords("pg_catalog pg_temp")
"""No user's table is made there, and each of them is searched whether a path names it or not."""
_CURRENT_SCHEMA = ["session", "set", "current_schema"]
_USERS = keywords("user session_user system_user current_user")
"""Db2's SET SCHEMA USER: the schema that is called as whoever runs it is."""
OWN_SCHEMA = "$user"
"""What stands in a search path for the schema that is called as its user is."""
UNKNOWN_SCHEMA = ""
"""One that the text does not tell: SET search_path TO :x."""


class TransactionStep(StrEnum):
    """What a statement does to its session's transaction, and to the rows that were deleted in it.

    BEGIN ends one before it, whether that was told or not. After UNDONE, ROLLBACK, the rows are there again; after
    KEPT, `ROLLBACK TO p` and T-SQL's `SET ROWCOUNT 5`, they may be, and nothing has ended.
    """

    BEGIN = "begin"
    END = "end"
    UNDONE = "undone"
    KEPT = "kept"


@dataclass(frozen=True, slots=True)
class SessionChange:
    """What a session's unqualified names resolve against from here on, folded as the dialect folds names.

    `database` is None where it stays. `schemas`, in search order, is None where they stay, and empty where the
    session has none; OWN_SCHEMA stands for the session user's, UNKNOWN_SCHEMA for any. `reset` says that the
    session is back at what it began with (schemas is None then). `local` ends with the transaction. One with a step of
    a `transaction` changes nothing else. `elsewhere`: where names are looked for instead, unless this is what the
    session has anyway; "" where the change is sure.
    """

    database: str | None = None
    schemas: tuple[str, ...] | None = None
    reset: bool = False
    local: bool = False
    transaction: TransactionStep | None = None
    elsewhere: str = ""

    @property
    def search_path(self) -> tuple[str, ...] | None:
        """The `schemas` whose names are known: the session user's own is another one for each."""
        return None if self.schemas is None else tuple(schema for schema in self.schemas if schema != OWN_SCHEMA)


def use(tokens: tuple[Token, ...], dialect: Dialect) -> SessionChange | None:
    """What `USE ...` changes, given the tokens after USE; None for roles and warehouses."""
    words = [token.text.lower() for token in tokens[:2]]
    # Snowflake: USE ROLE r; but USE role.s may be a database of that name.
    if not words or (words[0] in _NOT_NAMES and len(words) > 1 and words[1] != "."):
        return None
    what = words[0] if words[0] in _QUALIFIED_BY_USE and len(words) > 1 and words[1] not in (".", ";") else ""
    parts = _name_parts(tokens[1:] if what else tokens, dialect)
    if not parts:
        return None
    if len(parts) > 1:
        return SessionChange(parts[-2], (parts[-1],))
    if what == "catalog" or (dialect.use_names_database and what in ("", "database")):
        return SessionChange(parts[0], _default_schemas(dialect))
    return SessionChange(schemas=(parts[0],))


def picked_by_creation(tokens: tuple[Token, ...], dialect: Dialect) -> tuple[SessionChange, bool] | None:
    """What `CREATE SCHEMA s` picks where making is picking, and whether it was made for sure; None for all else.

    `CREATE SCHEMA IF NOT EXISTS s` says nothing of one that was there; what is imported, and cannot be written, is not
    picked: scripts that make tables behind `CREATE DATABASE d FROM SHARE a.s` make them where they were before.
    """
    words = [token.text.lower() for token in tokens]
    if words[:1] != ["create"]:
        return None
    at = 3 if words[1:2] == ["or"] else 1
    at += words[at : at + 1] == ["transient"]
    kind = words[at : at + 1]
    sure = words[at + 1 : at + 4] != ["if", "not", "exists"]
    name = tokens[at + 1 if sure else at + 4 :]
    if kind not in (["schema"], ["database"]) or not name or (name[0].text.lower() in _NOT_NAMES and len(name) > 1):
        return None
    if not _IMPORTED.isdisjoint(pairwise(words)):
        return None
    change = use((tokens[at], *name), dialect)
    return None if change is None else (change, sure)


def picks_unknown(tokens: tuple[Token, ...]) -> bool:
    """Whether a statement that changes no name as it is read picks one that stands elsewhere, by its first tokens.

    `USE SCHEMA IDENTIFIER($x)` does, `USE ROLE r` does not.
    """
    words = [token.text.lower() for token in tokens[:4]]
    if words[:1] == ["use"]:
        return len(words) > 1 and words[1] != ";" and (words[1] not in _NOT_NAMES or words[2:3] == ["."])
    return words[:1] == ["database"] or words[:2] == ["set", "catalog"] or words[1:] == _CURRENT_SCHEMA


def set_(tokens: tuple[Token, ...], dialect: Dialect) -> SessionChange | None:
    """What `SET ...` changes, given the tokens after SET; None when that is no matter of names."""
    local = bool(tokens) and tokens[0].text.lower() == "local"
    if tokens and tokens[0].text.lower() in SCOPES:
        tokens = tokens[1:]
    setting = tokens[0].text.lower() if tokens else ""
    values = tokens[1:]
    if setting == "current" and values:
        setting, values = f"current_{values[0].text.lower()}", values[1:]
    if values and values[0].text.lower() in ("=", "to"):
        values = values[1:]
    # Spark: SET spark.sql.shuffle.partitions = 8 is one dotted setting.
    if not values or values[0].text == ".":  # catalog.setting = value
        return None
    # Snowflake and BigQuery: SET database = 'x' sets a variable of the user's; USE and @@dataset_id change names.
    if setting in _VARIABLES and dialect.set_makes_variables:
        return None
    if setting in ("search_path", "@@dataset_id", "schema", "current_schema"):
        return _search_path(values, dialect, local=local)
    if setting in ("catalog", "database", "@@dataset_project_id"):
        parts = _name_parts(values, dialect)
        if not parts:
            return None
        return SessionChange(parts[0], None if setting == "@@dataset_project_id" else _default_schemas(dialect))
    return None


def set_config(tokens: tuple[Token, ...], dialect: Dialect) -> SessionChange | None:
    """What `SELECT set_config('search_path', ...)` changes, given all its tokens."""
    strings = [_name(token, dialect) for token in tokens if token.kind == STRING]
    if not strings or strings[0].lower() != "search_path":
        return None
    local = any(token.kind == WORD and token.text.lower() == "true" for token in tokens)
    if len(strings) < 2:
        return SessionChange(schemas=(UNKNOWN_SCHEMA,), local=local)
    names = [name.strip() for name in strings[1].split(",")]
    return SessionChange(
        schemas=_of_users(fold(name.strip('"'), dialect, quoted=name.startswith('"')) for name in names), local=local
    )


def _of_users(schemas: Iterable[str]) -> tuple[str, ...]:
    """A search path without what is no schema, or of the engine: `'', pg_catalog, web`."""
    return tuple(schema for schema in schemas if schema and schema not in _SYSTEM_SCHEMAS)


def _search_path(values: tuple[Token, ...], dialect: Dialect, *, local: bool) -> SessionChange:
    """SET search_path = a, b; SET SCHEMA d.s (Db2, DuckDB) has a database before the schema."""
    # SET search_path TO DEFAULT is what the role or the database has configured, as at the session's start.
    if values[0].text.lower() == "default":
        return SessionChange(reset=True, local=local)
    schemas: list[str] = []
    for token in values:
        if token.kind == STRING and dialect.search_path_in_string:
            schemas += [name.strip() for name in _name(token, dialect).split(",")]
        elif token.kind == WORD and token.text.lower() in _USERS:
            return SessionChange(schemas=(UNKNOWN_SCHEMA,), local=local)
        elif token.kind in (WORD, NAME, STRING):
            schemas.append(_name(token, dialect))
        elif token.text == ";":
            break
        elif token.text not in ",.":  # :schema, $1, a call
            return SessionChange(schemas=(UNKNOWN_SCHEMA,), local=local)
    if "." in (token.text for token in values[1:2]):  # DuckDB's and Db2's database.schema
        return SessionChange(schemas[0], (schemas[1],)) if len(schemas) > 1 else SessionChange(schemas=tuple(schemas))
    return SessionChange(schemas=_of_users(schemas), local=local)


def _name_parts(tokens: tuple[Token, ...], dialect: Dialect) -> list[str]:
    """The parts of a name, which a constant text may give: IDENTIFIER('a.b')."""
    words = [token.text.lower() for token in tokens[:2]]
    if words != ["identifier", "("]:
        return _dotted_parts(tokens, dialect)
    text = tokens[2] if len(tokens) > 3 and tokens[3].text == ")" else None  # and not 'raw_' || :x
    if text is None or text.kind != STRING:
        return []
    return _dotted_parts(tuple(all_tokens(text.text[1:-1], dialect)), dialect)


def _dotted_parts(tokens: tuple[Token, ...], dialect: Dialect) -> list[str]:
    parts = []
    for index, token in enumerate(tokens):
        if index % 2:
            if token.text != ".":
                break
        elif token.kind in (WORD, NAME, STRING):
            parts.append(_name(token, dialect))
        else:
            break
    return parts


def _name(token: Token, dialect: Dialect) -> str:
    if token.kind == WORD:
        return fold(token.text, dialect, quoted=False)
    opening = token.text[0]
    closing = CLOSING.get(opening, opening)
    name = token.text[1:-1].replace(closing * 2, closing)
    return name if token.kind == STRING else fold(name, dialect, quoted=True)


def _default_schemas(dialect: Dialect) -> tuple[str, ...]:
    return (dialect.default_schema,) if dialect.default_schema else ()
