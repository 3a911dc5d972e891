"""Tables and columns by what people remember of their names, with the values that there are to narrow by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, func, or_, select, text

from connectors.catalog.contract.entity_types import LINEAGE_TYPES
from connectors.catalog.search.filters import (
    ADMITTED,
    LABELLED,
    Admission,
    UnreadTables,
    admit,
    identifiers_in_order,
    is_of,
    measures,
    no_readers,
    order_key,
    parse_search,
)
from connectors.catalog.store.indexes import COLUMN, ENTITY, OWNER, PRODUCER, TAG, has_words, plain, words
from connectors.catalog.store.rows import thousands_of
from connectors.catalog.store.schema import entities, entity_labels, search_names, search_spellings, search_vocabulary
from ingestion.model import fqn
from ingestion.model.lineage import Json

_MOST_NAMES = 400
"""Names of one kind that are looked at: the shorter ones of the first _MOST_MATCHES that match."""
_MOST_MATCHES = 2_000
_MATCHING = "select rowid from {index} where {index} match :expression limit :most"
_WORDS_INDEX, _INSIDE_INDEX = "search_{kind}_words", "search_{kind}_inside"
_NAMES_AT_ONCE = 40
_MOST_TABLES = 20
"""Tables whose columns are looked through for `table column`."""
_MOST_COLUMN_WORDS = 2
_KEPT_FOR_COLUMNS = 4
"""One place in so many is the columns', however many tables there are."""
_SHORTEST_MISSPELLED = 4

_WHOLE, _WORDS, _INSIDE = 0, 1, 2
"""How well a name fits: it is what was asked for, has all its words (or their beginnings), or has it somewhere."""

_BEARERS: Select[Any] = (
    select(entities.c.id, entities.c.type, entities.c.fqn, search_names.c.column_path, search_names.c.name)
    .select_from(search_names.join(entities, entities.c.id == search_names.c.entity_id))
    # as an expression: an index on types would have every table looked at before the names are
    .where(entities.c.deleted.is_(False), entities.c.type.concat("").in_(LINEAGE_TYPES))
)

_MOST_ORDERED = 800
"""Hits by name, the best ones, that an order is made among."""
_MOST_VALUES = 200


# By name: words, beginnings, parts, one slip of the finger.


@dataclass(frozen=True, slots=True)
class _Hit:
    """A table, or a column of one, and how well its name fits."""

    rank: int
    row: Row[Any]

    @property
    def order(self) -> tuple[int, int, str, str]:
        return self.rank, len(self.row.name), self.row.fqn, self.row.column_path

    def answer(self) -> Json:
        """The hit as clients read it."""
        row = self.row
        entity = {"id": row.id, "type": row.type, "fullyQualifiedName": row.fqn}
        if not row.column_path:
            return {"kind": "entity", "name": fqn.split(row.fqn)[-1], "entity": entity}
        return {"kind": "column", "name": row.name, "entity": entity, "column": f"{row.fqn}.{row.column_path}"}


def find(connection: Connection, wanted: str, limit: int, admission: Admission | None = None) -> list[Json]:
    """What lineage can touch and its columns, tables first, by what is `wanted` of their names.

    Words may stand in any order and name the schema or the table too. Words that no name has are taken for the ones
    that are spelled almost alike. An `admission` lets only some of them through.
    """
    search = _NameSearch(connection, wanted, limit, admission)
    found = search.results(words(wanted), plain(wanted))
    if not found:
        spelled = search.spelling_variants(words(wanted))
        found = next((results for some in spelled if (results := search.results(some, "".join(some)))), [])
    return [hit.answer() for hit in found]


def _tables_named(connection: Connection, identifiers: Sequence[str]) -> list[Json]:
    """The entities with these ids, in their order."""
    rows: dict[str, Row[Any]] = {}
    for some in thousands_of(identifiers):
        where = and_(search_names.c.entity_id.in_(some), search_names.c.column_path == "")
        rows.update({row.id: row for row in connection.execute(_BEARERS.where(where))})
    return [_Hit(_WHOLE, rows[one]).answer() for one in identifiers if one in rows]


def _columns_at(connection: Connection, ends: Sequence[tuple[str, str]]) -> list[Json]:
    """The columns at these keys (id of the entity and path), in order of their full names."""
    wanted = set(ends)
    rows: list[Row[Any]] = []
    for some in thousands_of(sorted({identifier for identifier, _ in ends})):
        found = connection.execute(_BEARERS.where(search_names.c.entity_id.in_(some))).all()
        rows += [row for row in found if (row.id, row.column_path) in wanted]
    return [_Hit(_WHOLE, row).answer() for row in sorted(rows, key=lambda row: (row.fqn, row.column_path))]


class _NameSearch:
    """One look through the index of names."""

    def __init__(self, connection: Connection, wanted: str, limit: int, admission: Admission | None) -> None:
        self._connection = connection
        self._bearers = _BEARERS if admission is None else _BEARERS.where(admission.condition)
        self._admission = admission
        # names that nothing bears that is let through would take the place of others: all are looked at
        self._most_matches = _MOST_MATCHES if admission is None else -1
        self._wanted = wanted.strip()
        self._limit = limit
        # each name that is let through has a bearer that is: of more names than wanted hits none is looked at
        at_once = -(-limit // _NAMES_AT_ONCE) * _NAMES_AT_ONCE
        self._most_names = _MOST_NAMES if admission is None else min(at_once, _MOST_NAMES)

    def results(self, asked: Sequence[str], whole: str) -> list[_Hit]:
        """Tables before columns where they fit as well; what has the words before what only holds the letters."""
        tables = self.tables(asked, whole)
        columns = self._hits(COLUMN, self._names(COLUMN, asked, whole), self._limit)
        columns += self._columns_of_tables(asked)
        return self._merge(tables, _distinct(columns))

    def tables(self, asked: Sequence[str], whole: str) -> list[_Hit]:
        """The tables, those of which all words are in the name or in what it is qualified by."""
        found = self._hits(ENTITY, self._names(ENTITY, asked, whole), self._limit)
        if len(asked) > 1:
            found += self._qualified_tables(asked)
        return sorted(_distinct(found), key=lambda hit: hit.order)

    def spelling_variants(self, asked: Sequence[str]) -> list[list[str]]:
        """The words with each that no name has as one that is spelled almost alike; some ways to do so."""
        ways: list[list[str]] = [[]]
        for word in asked:
            options = [word] if self._is_known(word) else self._spelled_alike(word)
            ways = [[*way, option] for way in ways for option in options][:_MOST_TABLES]
        return [way for way in ways if way != list(asked)]

    def _merge(self, tables: list[_Hit], columns: list[_Hit]) -> list[_Hit]:
        columns.sort(key=lambda hit: hit.order)
        room = self._limit - min(len(columns), self._limit // _KEPT_FOR_COLUMNS)
        kept = tables[:room]
        both = kept + columns[: self._limit - len(kept)]
        return sorted(both, key=lambda hit: (hit.rank == _INSIDE, bool(hit.row.column_path)))

    def _names(self, kind: str, asked: Sequence[str], whole: str) -> dict[str, int]:
        """The names of one kind that fit, best first, each with its rank."""
        ranks: dict[str, int] = {}
        if not asked and self._wanted:  # nothing but signs: no word to look up
            holding = search_vocabulary.c.name.contains(self._wanted, autoescape=True)
            some = self._shortest(kind, self._most_names, search_vocabulary.c.kind == kind, holding)
            return dict.fromkeys(some, _INSIDE)
        asked_for = [(_WHOLE, _WORDS_INDEX, f"whole:{_phrase(whole)}")] if whole else []
        asked_for += [(_WORDS, _WORDS_INDEX, _all_of(asked))] if asked else []
        asked_for += [(_INSIDE, _INSIDE_INDEX, _phrase(whole))] if len(whole) >= 3 else []
        for rank, index, expression in asked_for:
            if rank != _INSIDE or len(ranks) < self._limit:
                for name in self._matching(kind, self._most_names, index, expression):
                    ranks.setdefault(name, rank)
        return ranks

    def _matching(self, kind: str, most: int, index: str, expression: str) -> Iterable[str]:
        """So many of the names of one kind that an index has for an expression, the shortest first."""
        matching = text(_MATCHING.format(index=index.format(kind=kind)))
        matching = matching.bindparams(expression=expression, most=self._most_matches)
        rows = matching.columns(search_vocabulary.c.id).scalar_subquery()
        return self._shortest(kind, most, search_vocabulary.c.id.in_(rows))

    def _shortest(self, kind: str, most: int, *where: ColumnElement[bool]) -> Iterable[str]:
        order = func.length(search_vocabulary.c.name), search_vocabulary.c.name
        names = select(search_vocabulary.c.name).where(*where).order_by(*order)
        if self._admission is None:
            return self._connection.scalars(names.limit(most))
        # the limit keeps the order a step of its own: bearers are sought of the shortest names until there are enough
        sorted_names = names.limit(-1).subquery()
        borne = self._admission.bears(sorted_names.c.name, kind)
        return self._connection.scalars(select(sorted_names.c.name).where(borne).limit(most))

    def _hits(self, kind: str, ranks: dict[str, int], most: int) -> list[_Hit]:
        """What bears these names, as many as are wanted: first the best names, of as good ones the shortest."""
        found: list[_Hit] = []
        best = sorted(ranks, key=lambda name: (ranks[name], len(name), name))
        for start in range(0, len(best), _NAMES_AT_ONCE):
            some = best[start : start + _NAMES_AT_ONCE]
            rows = self._connection.execute(self._bearers_of(some, kind, most - len(found)))
            found += [_Hit(ranks[row.name], row) for row in rows]
            if len(found) >= most:
                break
        return found

    def _bearers_of(self, names: Sequence[str], kind: str, most: int) -> Select[Any]:
        """So many of the entities or columns that bear one of some names."""
        if self._admission is None:
            return self._bearers.where(search_names.c.name.in_(names), is_of(kind)).limit(most)
        # what was let through is there: entities are read of those alone that are told
        some = self._admission.bearers(names, kind).limit(most).subquery()
        named = select(entities.c.id, entities.c.type, entities.c.fqn, some.c.column_path, some.c.name)
        return named.join_from(some, entities, entities.c.id == some.c.entity_id)

    def _qualified_tables(self, asked: Sequence[str]) -> list[_Hit]:
        """Tables that have some of the words in their own names and the others in what these are qualified by."""
        names = list(self._matching(ENTITY, _MOST_NAMES, _WORDS_INDEX, _any_of(asked)))
        where = and_(
            search_names.c.column_path == "",
            search_names.c.name.in_(names),
            *(func.instr(entities.c.fqn_folded, word) > 0 for word in asked),
        )
        rows = self._connection.execute(self._bearers.where(where).limit(_MOST_NAMES)).all()
        fitting = [row for row in rows if has_words(asked, words(row.fqn))]
        return [_Hit(_rank_of(asked, row.fqn), row) for row in fitting][: self._limit]

    def _columns_of_tables(self, asked: Sequence[str]) -> list[_Hit]:
        """`orders total`, `mart.orders.total`: columns that have the last words, of tables that have the others."""
        found: list[_Hit] = []
        for cut in range(max(1, len(asked) - _MOST_COLUMN_WORDS), len(asked)):
            tables = self.tables(asked[:cut], "".join(asked[:cut]))[:_MOST_TABLES]
            where = and_(search_names.c.entity_id.in_([hit.row.id for hit in tables]), search_names.c.column_path != "")
            rows = self._connection.execute(self._bearers.where(where))
            fitting = [row for row in rows if has_words(asked[cut:], words(row.name))]
            ranks = {hit.row.id: hit.rank for hit in tables}
            found += [
                _Hit(_INSIDE if ranks[row.id] == _INSIDE else _rank_of(asked, f"{row.fqn}.{row.column_path}"), row)
                for row in fitting
            ]
        return found

    def _is_known(self, word: str) -> bool:
        after = and_(search_spellings.c.word >= word, search_spellings.c.word < f"{word}\U0010ffff")
        return self._connection.scalar(select(search_spellings.c.word).where(after).limit(1)) is not None

    def _spelled_alike(self, word: str) -> list[str]:
        """Known words one letter away: one slip leaves the first or the second half of a word as it was."""
        if len(word) < _SHORTEST_MISSPELLED:
            return [word]
        half = len(word) // 2
        start, end = word[:half], word[half:][::-1]
        begin = and_(search_spellings.c.word >= start, search_spellings.c.word < f"{start}\U0010ffff")
        finish = and_(search_spellings.c.backwards >= end, search_spellings.c.backwards < f"{end}\U0010ffff")
        near = func.length(search_spellings.c.word).between(len(word) - 1, len(word) + 1)
        rows = self._connection.scalars(select(search_spellings.c.word).where(near, or_(begin, finish)))
        alike = [one for one in rows if one_slip_apart(word, one)]
        return sorted(alike, key=lambda one: (abs(len(one) - len(word)), one))


def one_slip_apart(one: str, other: str) -> bool:
    """Whether two words differ by one letter: another one, one more, one less, or two that changed places."""
    if len(one) > len(other):
        one, other = other, one
    if len(other) - len(one) > 1:
        return False
    at = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))
    if len(one) < len(other):
        return one[at:] == other[at + 1 :]
    swapped = one[at : at + 2] == other[at : at + 2][::-1] and one[at + 2 :] == other[at + 2 :]
    return one[at + 1 :] == other[at + 1 :] or swapped


def _distinct(hits: Iterable[_Hit]) -> list[_Hit]:
    best: dict[tuple[str, str], _Hit] = {}
    for hit in hits:
        key = hit.row.id, hit.row.column_path
        if key not in best or hit.rank < best[key].rank:
            best[key] = hit
    return list(best.values())


def _rank_of(asked: Sequence[str], name: str) -> int:
    """The rank of a full name that has all the words: the last two parts together may be just what was asked for."""
    return _WHOLE if plain("".join(fqn.split(name)[-2:])) == "".join(asked) else _WORDS


def _phrase(term: str) -> str:
    return '"' + term.replace('"', '""') + '"'


def _all_of(asked: Sequence[str]) -> str:
    return " AND ".join(f"words:{_phrase(word)}*" for word in asked)


def _any_of(asked: Sequence[str]) -> str:
    return " OR ".join(f"words:{_phrase(word)}*" for word in asked)


# By name and by what is known of tables together, with the values that there are to narrow by.


def search(connection: Connection, wanted: str, limit: int, unread: UnreadTables = no_readers) -> Json:
    """What `wanted` finds: words of names, filters, or both, best first or in the order that it says.

    `unread` finds the tables that nobody reads.

    Each result has the measures of its table: runs and tables that read it, when it appeared and was last written.
    Raises ApiError (400) for a filter that cannot be read.
    """
    asked = parse_search(wanted)
    if not asked.filters and not asked.order:
        hits = find(connection, asked.words, limit)
        return _answer(connection, hits)
    if not asked.words:
        admit(connection, asked.filters, named=False, unread=unread)
        return _answer(connection, _tables_and_columns(connection, asked.order or "used", limit))
    admission = admit(connection, asked.filters, unread=unread) if asked.filters else None
    if not asked.order:
        return _answer(connection, find(connection, asked.words, limit, admission))
    hits = find(connection, asked.words, _MOST_ORDERED, admission)
    known = measures(connection, [hit["entity"]["id"] for hit in hits])
    order = asked.order

    def rank(hit: Json) -> tuple[bool, bool, int, str]:
        entity = hit["entity"]
        return hit["kind"] != "entity", *order_key(order, known[entity["id"]], entity["fullyQualifiedName"])

    return _answer(connection, sorted(hits, key=rank)[:limit], known)


def _tables_and_columns(connection: Connection, order: str, limit: int) -> list[Json]:
    """The tables that were let through, and the columns that bear the tag that was asked for."""
    labelled = select(LABELLED).where(LABELLED.c.entity_id.in_(select(ADMITTED.c.id)))
    rows = connection.execute(labelled.order_by(LABELLED.c.entity_id, LABELLED.c.column_path).limit(limit))
    columns = _columns_at(connection, [(row.entity_id, row.column_path) for row in rows])
    room = limit - min(len(columns), limit // 4)
    tables = _tables_named(connection, identifiers_in_order(connection, order, room))
    return tables + columns[: limit - len(tables)]


def _answer(connection: Connection, hits: list[Json], known: dict[str, Json] | None = None) -> Json:
    if known is None:
        known = measures(connection, [hit["entity"]["id"] for hit in hits])
    return {"results": [{**hit, "use": known[hit["entity"]["id"]]} for hit in hits]}


def search_values(connection: Connection) -> Json:
    """The tags, owners and producers that one can narrow by, the most frequent first, with how often each is there."""
    labels = {}
    for name, kind in (("tags", TAG), ("owners", OWNER), ("producers", PRODUCER)):
        times = func.count(entity_labels.c.entity_id.distinct())
        known = select(entity_labels.c.value, times).where(entity_labels.c.kind == kind)
        rows = connection.execute(known.group_by(entity_labels.c.value).order_by(times.desc(), entity_labels.c.value))
        labels[name] = [{"value": value, "count": count} for value, count in rows.fetchmany(_MOST_VALUES)]
    return labels
