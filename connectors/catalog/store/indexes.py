"""What searches find entities by, kept as rows are written: names, labels, and use."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest

from sqlalchemy import Connection, bindparam, delete, func, insert, or_, select, text, union_all
from sqlalchemy.dialects.sqlite import insert as upsert

from connectors.catalog.store.rows import IDS, bind_ids, ids_bound_as, insert_new_rows, insert_rows, thousands_of
from connectors.catalog.store.schema import (
    contribution_jobs,
    contributions,
    dated_contributions,
    entities,
    entity_activity,
    entity_labels,
    intervals,
    meta,
    records,
    search_names,
    search_spellings,
    search_vocabulary,
    usage_records,
)
from ingestion.model import fqn
from ingestion.model.contributions import OBSERVED
from ingestion.model.lineage import Json

ENTITY, COLUMN = "entity", "column"
_OF_A_KIND = (
    # `whole` is the name without what joins its words: one token, so that exact names are found among thousands
    "create virtual table if not exists search_{kind}_words using fts5("
    "words, whole, content = '', tokenize = 'unicode61 remove_diacritics 0', prefix = '1 2 3')",
    "create virtual table if not exists search_{kind}_inside using fts5(plain, content = '', tokenize = 'trigram')",
)
_NAME_INDEXES = (
    *(statement.format(kind=kind) for kind in (ENTITY, COLUMN) for statement in _OF_A_KIND),
    "create index if not exists search_names_name on search_names (name, column_path)",
    "create index if not exists search_spellings_backwards on search_spellings (backwards)",
)
_WORD = re.compile(r"[^\W_]+")
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_MOST_WORDS = 64

TAG, OWNER = "tag", "owner"
LABELS_FILLED = "labels"
_MARKS = ('"tagFQN"', '"owners"')
_LABEL_INDEXES = (
    # of a table's events those that say it appeared are one in fifty
    "create index if not exists attributes_exists on attributes (entity_id, at, value) where name = 'exists'",
    # each question looks for the newest of all
    "create index if not exists entity_activity_last_written on entity_activity (last_written)",
    # the most used of what reads a calendar is sought among the most used of all
    "create index if not exists entity_activity_used on entity_activity (runs, readers)",
)

PRODUCER = "producer"
_NAMELESS = ("query", "plan", "wire")
"""Producers whose keys are digests."""
_SUBJECT = ("id", "kind", "key", "source")
ACTIVITY_FILLED = "activity"
_ACTIVITY = ("entity_id", "runs", "readers", "last_written")
_ADD_ACTIVITY = (
    f"insert into {entity_activity.name} ({', '.join(_ACTIVITY)}) values (?, ?, ?, ?) on conflict (entity_id) do update"
)
_ADD_RUNS = f"{_ADD_ACTIVITY} set runs = runs + excluded.runs"
_STORE_LAST_WRITTEN = f"{_ADD_ACTIVITY} set last_written = excluded.last_written"
_ADD_READERS = f"update {entity_activity.name} set readers = readers + ? where entity_id = ?"
_WRITES_OF = (
    select(intervals.c.to_id, intervals.c.end, intervals.c.last_seen, *(contributions.c[name] for name in _SUBJECT))
    .select_from(dated_contributions)
    .where(intervals.c.to_id.in_(IDS))
)
JOBS_OF = select(contribution_jobs).where(contribution_jobs.c.contribution_id.in_(IDS))
"""The jobs that ran contributions, by their numbers."""
_PRODUCERS_OF = select(entity_labels.c.value, entity_labels.c.entity_id).where(
    entity_labels.c.kind == PRODUCER, entity_labels.c.entity_id.in_(IDS)
)
_USE_OF = select(entity_activity.c.entity_id, entity_activity.c.runs, entity_activity.c.readers).where(
    entity_activity.c.entity_id.in_(IDS)
)
NAMES_OF = select(entities.c.id, entities.c.fqn).where(entities.c.id.in_(IDS))
"""The full names of entities, by their ids."""
_STATEMENT = (contributions.c.from_id, contributions.c.kind, contributions.c.key)
Statement = tuple[str, str, str]
"""The entity that is read, and the kind and key of what reads it."""
_RUNS_OF_STATEMENTS = (
    select(*_STATEMENT, func.count(records.c.digest.distinct()).label("runs"))
    .select_from(contributions.join(records, records.c.contribution_id == contributions.c.id))
    .group_by(*_STATEMENT)
)
_KEYS, _DIGESTS = "keys", "digests"
# only those that are in any record: of an edge that is filed for the first time there is nothing to ask
_EDGES_OF_STATEMENTS = select(contributions.c.id, *_STATEMENT).where(
    contributions.c.from_id.in_(IDS),
    contributions.c.key.in_(ids_bound_as(_KEYS)),
    select(records.c.digest).where(records.c.contribution_id == contributions.c.id).exists(),
)
_DIGESTS_OF = (
    select(records.c.digest)
    .where(records.c.contribution_id.in_(IDS), records.c.digest.in_(ids_bound_as(_DIGESTS)))
    .distinct()
)


# The index that names are searched by: each distinct name of a table or a column once, however many bear it.
#
# A store of a million columns has some ten thousand names. They are found by their words, by any part of them, and by
# words spelled almost alike.


def prepare_name_index(connection: Connection) -> None:
    """Makes the index, and fills it in a store that was repaired: what it is made of cannot be read out of a file."""
    for statement in _NAME_INDEXES:
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
    for some in thousands_of(sorted({identifier for identifier, _ in named if identifier not in new})):
        rows = connection.execute(statement, bind_ids(some))
        known.update((row[0], row[1]) for row in rows)
    added = [(*key, name) for key, name in named.items() if key not in known]
    insert_rows(connection, search_names, ("entity_id", "column_path", "name"), added)
    _add_names(connection, {(COLUMN if path else ENTITY, name) for _, path, name in added})


def plain(name: str) -> str:
    """A name without accents, case and whatever joins its words."""
    return "".join(_WORD.findall(_fold_case(name)))


def words(name: str) -> list[str]:
    """The words of a name, without accents and case: what `_`, signs and capitals set apart."""
    return _WORD.findall(_fold_case(_HUMPS.sub(" ", name)))[:_MOST_WORDS]


def has_words(asked: Sequence[str], known: Sequence[str]) -> bool:
    """Whether every word that is asked for, one at least, is a word of `known` or begins one."""
    return bool(asked) and all(any(word.startswith(one) for word in known) for one in asked)


def _fold_case(name: str) -> str:
    if name.isascii():
        return name.lower()
    decomposed = unicodedata.normalize("NFKD", name)
    return "".join(character for character in decomposed if not unicodedata.combining(character)).casefold()


def _add_names(connection: Connection, names: Iterable[tuple[str, str]]) -> None:
    names = sorted(names)
    if not names:
        return
    known: set[tuple[str, str]] = set()
    for some in thousands_of(sorted({name for _, name in names})):
        where = search_vocabulary.c.name.in_(some)
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
    return " ".join(dict.fromkeys((*words(name), *_WORD.findall(_fold_case(name)))))


# Who owns entities, and which tags they and their columns bear: searches may not open a million documents.


def prepare_labels(connection: Connection) -> None:
    """Makes the indexes that searches narrow by, and files the labels of a store that was repaired."""
    for statement in _LABEL_INDEXES:
        connection.execute(text(statement))
    if connection.scalar(select(meta.c.value).where(meta.c.key == LABELS_FILLED)) is not None:
        return
    marked = or_(*(entities.c.document.contains(mark) for mark in _MARKS))
    for identifier, document in connection.execute(select(entities.c.id, entities.c.document).where(marked)):
        rows = label_rows(identifier, json.loads(document))
        if rows:
            connection.execute(upsert(entity_labels).on_conflict_do_nothing(), rows)
    connection.execute(insert(meta).values(key=LABELS_FILLED, value=1))


def index_labels(connection: Connection, identifier: str, document: Json, before: str) -> None:
    """Files the tags and owners of an entity's `document`; `before` is the text of the document that it replaces."""
    forget_labels(connection, identifier, before)
    rows = label_rows(identifier, document)
    if rows:
        connection.execute(upsert(entity_labels).on_conflict_do_nothing(), rows)


def forget_labels(connection: Connection, identifier: str, before: str) -> None:
    """Takes away the tags and owners of an entity, where the text of its document `before` has any."""
    if has_labels(before):
        ours = entity_labels.c.entity_id == identifier, entity_labels.c.kind.in_((TAG, OWNER))
        connection.execute(delete(entity_labels).where(*ours))


def has_labels(document_text: str) -> bool:
    """Whether the text of an entity's document may name tags or owners, told without a look at each column."""
    return any(mark in document_text for mark in _MARKS)


def label_rows(identifier: str, document: Json) -> list[dict[str, str]]:
    """The rows of the tags and owners of an entity's `document`."""
    return [
        {"kind": kind, "value": value, "entity_id": identifier, "column_path": path}
        for path, kind, value in _labels(document, "")
    ]


def _labels(part: Json, path: str) -> Iterator[tuple[str, str, str]]:
    """The labels of an entity or a column, and of all columns in it: path, kind, value."""
    for tag in part.get("tags") or ():
        yield path, TAG, tag["tagFQN"]
    for owner in part.get("owners") or ():
        for name in {owner.get("name"), owner.get("displayName")} - {None}:
            yield path, OWNER, name
    held = (part.get("dataModel") or {}).get("columns") or (part.get("messageSchema") or {}).get("schemaFields")
    columns = part.get("columns") or held or part.get("children") or ()
    for column in columns:
        if isinstance(column, dict) and "dataType" in column:  # a container's children are containers
            yield from _labels(column, fqn.join(path, column["name"]))


# How much each entity is used, when it was last written and by what: kept for searches as lineage is filed.
#
# A run is a statement in a log record. One that writes several tables is one run of what it reads.


def prepare_activity(connection: Connection) -> None:
    """Works out the activity in a store that was repaired."""
    if connection.scalar(select(meta.c.value).where(meta.c.key == ACTIVITY_FILLED)) is not None:
        return
    counted = _RUNS_OF_STATEMENTS.subquery()
    besides = select(usage_records.c.entity_id, func.count()).group_by(usage_records.c.entity_id)
    readings = union_all(select(counted.c.from_id, counted.c.runs), besides).subquery()
    totals = select(readings.c.from_id, func.sum(readings.c.runs)).group_by(readings.c.from_id)
    add_runs(connection, {row[0]: row[1] for row in connection.execute(totals)})
    is_open = func.max(intervals.c.end.is_(None))
    ends = select(intervals.c.from_id, intervals.c.to_id, is_open).group_by(intervals.c.from_id, intervals.c.to_id)
    found = connection.execute(ends).all()
    readers = Counter({source: 0 for source, _, _ in found})
    readers.update(source for source, _, still in found if still)
    add_readers(connection, readers)
    refresh_writes(connection, {target for _, target, _ in found})
    connection.execute(insert(meta).values(key=ACTIVITY_FILLED, value=1))


def add_statement_runs(connection: Connection, news: Mapping[int, tuple[Statement, Collection[int]]]) -> None:
    """Adds the new runs of what statements read: the records that none of a statement's edges was in.

    `news` are the digests of records that contributions, by their numbers, were not known to be in, with the statement
    of each. They are not stored yet.
    """
    digests: dict[Statement, set[int]] = defaultdict(set)
    for statement, some in news.values():
        digests[statement].update(some)
    edges = _edges_of_statements(connection, digests)
    runs: Counter[str] = Counter()
    for statement, new in digests.items():
        # an edge that was not known to be in any of these records need not be asked for them again
        others = [one for one in edges[statement] if one not in news or not new.issubset(news[one][1])]
        runs[statement[0]] += len(_digests_without(connection, new, others))
    add_runs(connection, runs)


def _edges_of_statements(connection: Connection, statements: Collection[Statement]) -> dict[Statement, list[int]]:
    """What the store has of statements that is in any record: their edges may come in calls of their own."""
    found: dict[Statement, list[int]] = {statement: [] for statement in statements}
    ids, keys = {statement[0] for statement in statements}, {statement[2] for statement in statements}
    bound = bind_ids(sorted(ids)) | bind_ids(sorted(keys), _KEYS)
    for number, *subject in connection.execute(_EDGES_OF_STATEMENTS, bound).all():
        if (statement := (subject[0], subject[1], subject[2])) in found:
            found[statement].append(number)
    return found


def _digests_without(connection: Connection, digests: Collection[int], edges: Sequence[int]) -> set[int]:
    """Those of the `digests` of records that none of these edges is in."""
    left = set(digests)
    # most edges of a statement are in the same records: what one of them is in, the others need not be asked for
    for some in (edges[:1], edges[1:]):
        if some and left:
            bound = bind_ids(some) | bind_ids(sorted(left), _DIGESTS)
            left.difference_update(connection.scalars(_DIGESTS_OF, bound))
    return left


def add_runs(connection: Connection, news: Mapping[str, int]) -> None:
    """Adds to the runs that read each entity."""
    rows = [(entity, runs, 0, None) for entity, runs in news.items() if runs > 0]
    if rows:
        connection.exec_driver_sql(_ADD_RUNS, rows)


def most_used(connection: Connection, identifiers: Collection[str], most: int) -> list[str]:
    """So many of these entities, the most used first: by their runs, their readers, their names."""
    counts = dict.fromkeys(identifiers, (0, 0))
    used = connection.execute(_USE_OF, bind_ids(list(counts))).all()
    counts.update((row[0], (-row[1], -row[2])) for row in used)
    if len(counts) > most:  # names are looked up of those alone that may be among them
        last = max(nsmallest(most, counts.values()), default=(1, 0))
        counts = {one: count for one, count in counts.items() if count <= last}
    names = {row[0]: row[1] for row in connection.execute(NAMES_OF, bind_ids(list(counts))).all()}
    return sorted(names, key=lambda one: (counts[one], names[one]))[:most]


def add_readers(connection: Connection, news: Mapping[str, int]) -> None:
    """Adds to the number of entities that read each entity now."""
    insert_new_rows(connection, entity_activity, _ACTIVITY, [(entity, 0, 0, None) for entity in news])
    rows = [(number, entity) for entity, number in news.items() if number]
    if rows:
        connection.exec_driver_sql(_ADD_READERS, rows)


def refresh_writes(connection: Connection, targets: Iterable[str]) -> None:
    """Brings the last writes and the producers of `targets` up to date."""
    for some in thousands_of(sorted(set(targets))):
        _refresh_writes(connection, some)


def _refresh_writes(connection: Connection, identifiers: list[str]) -> None:
    """Notes when these entities were last written by something that runs, and what writes them now."""
    last: dict[str, int | None] = dict.fromkeys(identifiers)
    producers: set[tuple[str, str]] = set()
    open_now: dict[int, set[str]] = defaultdict(set)
    for target, end, seen, number, kind, key, source in connection.execute(_WRITES_OF, bind_ids(identifiers)).all():
        if kind in OBSERVED:
            last[target] = max(last[target] or 0, seen)
        if end is None:
            open_now[number].add(target)
            names = (kind, source) if kind in _NAMELESS else (kind, source, key)
            producers.update((name, target) for name in names if name)
    for some in thousands_of(sorted(open_now)):
        for number, job in connection.execute(JOBS_OF, bind_ids(some)).all():
            producers.update((job, target) for target in open_now[number])
    connection.exec_driver_sql(_STORE_LAST_WRITTEN, [(entity, 0, 0, moment) for entity, moment in last.items()])
    _store_producers(connection, identifiers, producers)


def _store_producers(connection: Connection, identifiers: list[str], producers: set[tuple[str, str]]) -> None:
    """Files what writes these entities, as names and ids, in place of what is known of them."""
    known = {(row[0], row[1]) for row in connection.execute(_PRODUCERS_OF, bind_ids(identifiers)).all()}
    gone = [{"name": name, "entity": entity} for name, entity in known - producers]
    if gone:
        same = entity_labels.c.value == bindparam("name"), entity_labels.c.entity_id == bindparam("entity")
        connection.execute(delete(entity_labels).where(entity_labels.c.kind == PRODUCER, *same), gone)
    added = [(PRODUCER, name, entity, "") for name, entity in sorted(producers - known)]
    insert_rows(connection, entity_labels, ("kind", "value", "entity_id", "column_path"), added)
