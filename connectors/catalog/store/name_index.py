"""The index that names are searched by: each distinct name of a table or a column once, however many bear it.

A store of a million columns has some ten thousand names. They are found by their words, by any part of them, and by
words spelled almost alike.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence

from sqlalchemy import Connection, func, select, text

from connectors.catalog.store.chunking import IDS, bind_ids, chunks_of
from connectors.catalog.store.row_inserts import insert_new_rows, insert_rows
from connectors.catalog.store.search_tables import search_names, search_spellings, search_vocabulary

ENTITY, COLUMN = "entity", "column"
_OF_A_KIND = (
    # `whole` is the name without what joins its words: one token, so that exact names are found among thousands
    "create virtual table if not exists search_{kind}_words using fts5("
    "words, whole, content = '', tokenize = 'unicode61 remove_diacritics 0', prefix = '1 2 3')",
    "create virtual table if not exists search_{kind}_inside using fts5(plain, content = '', tokenize = 'trigram')",
)
_INDEXES = (
    *(statement.format(kind=kind) for kind in (ENTITY, COLUMN) for statement in _OF_A_KIND),
    "create index if not exists search_names_name on search_names (name, column_path)",
    "create index if not exists search_spellings_backwards on search_spellings (backwards)",
    "drop table if exists search",  # of stores made before there were these
)
_WORD = re.compile(r"[^\W_]+")
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_MOST_WORDS = 64


def prepare_name_index(connection: Connection) -> None:
    """Makes the index, and fills it in a store that was made without one."""
    for statement in _INDEXES:
        connection.execute(text(statement))
    if connection.scalar(select(search_vocabulary.c.id).limit(1)) is None:
        kind = text(f"case column_path when '' then '{ENTITY}' else '{COLUMN}' end as kind")
        rows = connection.execute(select(kind, search_names.c.name).distinct()).all()
        _add_names(connection, [(row[0], row[1]) for row in rows])


def index_names(
    connection: Connection, named: Mapping[tuple[str, str], str], new: Collection[str] = frozenset()
) -> None:
    """Makes entities and columns (id and path) findable; names are only ever added, the past stays searchable.

    Of those that are `new`, by their ids, none may be known yet: what is given of them is not looked up before.
    """
    known: set[tuple[str, str]] = set()
    columns = (search_names.c.entity_id, search_names.c.column_path)
    statement = select(*columns).where(search_names.c.entity_id.in_(IDS))
    for chunk in chunks_of(sorted({identifier for identifier, _ in named if identifier not in new})):
        rows = connection.execute(statement, bind_ids(chunk))
        known.update((row[0], row[1]) for row in rows)
    fresh = [(*place, name) for place, name in named.items() if place not in known]
    insert_rows(connection, search_names, ("entity_id", "column_path", "name"), fresh)
    _add_names(connection, {(COLUMN if path else ENTITY, name) for _, path, name in fresh})


def plain(name: str) -> str:
    """A name without accents, case and whatever joins its words."""
    return "".join(_WORD.findall(_fold(name)))


def words(name: str) -> list[str]:
    """The words of a name, without accents and case: what `_`, signs and capitals set apart."""
    return _WORD.findall(_fold(_HUMPS.sub(" ", name)))[:_MOST_WORDS]


def has_words(asked: Sequence[str], known: Sequence[str]) -> bool:
    """Whether every word that is asked for, one at least, is a word of `known` or begins one."""
    return bool(asked) and all(any(word.startswith(one) for word in known) for one in asked)


def _fold(name: str) -> str:
    if name.isascii():
        return name.lower()
    decomposed = unicodedata.normalize("NFKD", name)
    return "".join(character for character in decomposed if not unicodedata.combining(character)).casefold()


def _add_names(connection: Connection, names: Iterable[tuple[str, str]]) -> None:
    names = sorted(names)
    if not names:
        return
    known: set[tuple[str, str]] = set()
    for chunk in chunks_of(sorted({name for _, name in names})):
        where = search_vocabulary.c.name.in_(chunk)
        rows = connection.execute(select(search_vocabulary.c.kind, search_vocabulary.c.name).where(where))
        known.update((row[0], row[1]) for row in rows)
    following = (connection.scalar(select(func.max(search_vocabulary.c.id))) or 0) + 1
    new = [pair for pair in names if pair not in known]
    entries = [
        (number, kind, name, _all_words(name), plain(name)) for number, (kind, name) in enumerate(new, start=following)
    ]
    insert_rows(connection, search_vocabulary, ("id", "kind", "name"), [entry[:3] for entry in entries])
    for kind in (ENTITY, COLUMN):
        of_kind = [(number, its_words, whole) for number, its_kind, _, its_words, whole in entries if its_kind == kind]
        if of_kind:
            words_index = f"insert into search_{kind}_words (rowid, words, whole) values (?, ?, ?)"
            connection.exec_driver_sql(words_index, of_kind)
            inside = f"insert into search_{kind}_inside (rowid, plain) values (?, ?)"
            connection.exec_driver_sql(inside, [(number, whole) for number, _, whole in of_kind])
    spellings = sorted({word for entry in entries for word in entry[3].split()})
    insert_new_rows(connection, search_spellings, ("word", "backwards"), [(word, word[::-1]) for word in spellings])


def _all_words(name: str) -> str:
    """The words of a name, with those that capitals set apart together too."""
    return " ".join(dict.fromkeys((*words(name), *_WORD.findall(_fold(name)))))
