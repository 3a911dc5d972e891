"""The columns that the clauses of a table's definition, or of a change of it, name beside those that they declare.

`CREATE TABLE t (a Int32, d Date, INDEX i lower(b) TYPE minmax) ENGINE = MergeTree ORDER BY a TTL d + INTERVAL 1 DAY`:
b, a and d. What a clause names and the table does not have is misspelt, and no parser says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ingestion.dialects.cursor import Code
from ingestion.dialects.definition import keywords
from ingestion.dialects.keywords import DATE_PARTS, NO_COLUMN, QUERIES
from ingestion.statements.altered_types import OTHER_VERBS, TYPE_VERBS, listed_items

DottedName = tuple[str, ...]
_BEFORE_BY = keywords(
    "partition partitioned subpartition order cluster clustered sorted distributed distribute segmented sample skewed"
    " clustering"
)
"""PARTITION BY, ORDER BY and their like, behind which the columns of a table stand."""
_WAYS = keywords(
    "linear range list hash key columns reference system random auto replication rowstore none algorithm"
    " order interleaved"
)
"""Behind BY, what is done with the columns whose list then follows: HASH (a), RANGE COLUMNS (a), LINEAR KEY (a)."""
_WITHOUT_COLUMNS = keywords("reference system random auto replication none")
_COMPUTED = keywords("materialized alias ephemeral check assume where")
"""Before an expression over the columns of the same table, with parentheses or without."""
_LISTED = keywords("include sortkey distkey duplicate aggregate unique primary rollup")
"""Before a list of columns in parentheses, with some names or words between."""
_POLICIES = keywords("policy filter mask")
"""Before ON or USING COLUMNS and a list: ADD ROW ACCESS POLICY p ON (a), SET MASK f USING COLUMNS (a)."""
_NO_LIST = keywords("references default check constraint not null generated comment on using as encode collate")
"""After UNIQUE or PRIMARY KEY of one column: what is in the parentheses behind it is of something else."""
_AFTER_EXPRESSION = keywords(
    "partition partitioned order cluster clustered sorted distributed primary sample ttl settings comment engine codec"
    " delete to recompress where group set type granularity segmented unsegmented ksafe options as buckets into stored"
    " location tblproperties with using row properties materialized alias default check assume not first after"
    " virtual persisted index collate all zorder"
)
"""What ends an expression that has no parentheses around it."""
_PROPERTIES = keywords("partitioned_by partitioning bucketed_by sorted_by distributed_by primary_key columns")
"""Properties that are columns of the table, as texts: WITH (partitioned_by = ARRAY['day(d)'])."""
_CONSTRAINTS = keywords(
    "index projection constraint primary unique foreign key check exclude like fulltext spatial period partition"
    " watermark"
)
"""What begins an item between the parentheses of a CREATE TABLE that is no column."""
ORDERS = keywords("asc desc nulls first last collate")
EXPRESSION_WORDS = (
    NO_COLUMN
    | ORDERS
    | keywords(
        "and or not xor is in like ilike rlike regexp similar to escape between symmetric case when then else end cast"
        " try_cast as at time zone interval from for distinct array row all any some exists select div mod binary"
        " isnull notnull overlaps leading trailing both date timestamp using utf8 utf8mb4 value"
    )
)
"""Words within an expression that are none of its columns."""
_CLAUSE_WORDS = EXPRESSION_WORDS | keywords(
    "with by group order limit having where each no range or maxvalue minvalue none auto tuple without add column"
    " populate _partitiondate _partitiontime"
)


def defined_columns(code: Code) -> Iterator[tuple[DottedName, str]]:
    """Of a CREATE TABLE, or of a view whose rows are kept: what its clauses name, each with the name of the table."""
    kind = next((index for index in range(1, 7) if code.word(index) == "table"), None)
    kind = kind or next((index + 1 for index in range(1, 6) if code.stands(index, "materialized", "view")), None)
    if code.word(0) != "create" or kind is None:
        return
    index = kind + 1
    while code.word(index) in ("if", "not", "exists"):
        index += 1
    table, index = code.dotted_name(index)
    if not table:
        return
    if code.word(index) == "to":  # CREATE MATERIALIZED VIEW v TO t (a Int32) AS SELECT …
        _target, index = code.dotted_name(index + 1)
    if code.word(index) == ",":  # Teradata: CREATE TABLE t, NO FALLBACK (a INTEGER)
        index = next((at for at in range(index, len(code)) if code.word(at) == "("), len(code))
    declared: set[str] = set()
    found: list[str] = []
    if code.word(index) == "(" and code.word(index + 1) not in QUERIES:
        closing = code.closing(index)
        for first, last in listed_items(code, index + 1, closing):
            declared |= {code.column(first).casefold()} if code.word(first) not in _CONSTRAINTS else set()
            found += clause_columns(code, first, last)
        index = closing + 1
    end = next((at for at in code.outside(index) if _begins_query(code, at)), len(code))
    declared |= set(_partitions_declared(code, index, end))
    found += (*clause_columns(code, index, end), *_of_engine(code, index, end))
    yield from ((table, column) for column in dict.fromkeys(found) if column.casefold() not in declared)


def _begins_query(code: Code, index: int) -> bool:
    behind = index + 1
    while code.word(behind) == "(":
        behind += 1
    return code.word(index) == "as" and code.word(behind) in QUERIES


def _partitions_declared(code: Code, first: int, last: int) -> Iterator[str]:
    """Hive's PARTITIONED BY (ds string), which declares columns of its own."""
    for index in code.outside(first, last):
        if code.words(index, 3) == ("partitioned", "by", "("):
            for begin, end in code.items(index + 3, code.closing(index + 2)):
                if end > begin + 1 and code.is_name(begin) and code.is_word(begin + 1):
                    yield code.column(begin).casefold()


def _of_engine(code: Code, first: int, last: int) -> Iterator[str]:
    """ENGINE = ReplacingMergeTree(version): of the engines of that family the bare names are columns; PRIMARY KEY a."""
    for index in code.outside(first, last):
        if code.words(index, 2) == ("primary", "key") and code.is_name(index + 2):
            yield from expression_columns(code, index + 2, code.find(index + 2, _AFTER_EXPRESSION, last))
        if code.words(index, 2) == ("engine", "=") and code.word(index + 2).endswith("mergetree"):
            yield from expression_columns(code, index + 4, code.closing(index + 3))


def clause_columns(code: Code, first: int, last: int) -> Iterator[str]:
    """What the clauses from `first` to before `last` name: BY, TTL, CHECK, what an index or a column is of."""
    end = first
    policy = next((at for at in code.outside(first, last) if code.word(at) in _POLICIES), last)
    for index in code.outside(first, last):
        if index < end:  # it belongs to the clause before
            continue
        if code.word(index) == "ttl":
            end = _end_of_ttl(code, index + 1, last)
            yield from _in_ttl(code, index + 1, end)
        elif index > policy and code.word(index) in ("on", "columns") and code.word(index + 1) == "(":
            yield from expression_columns(code, index + 2, code.closing(index + 1))
        else:
            yield from _in_bare_clause(code, index, last)
            yield from _in_listing_clause(code, index, last)


def _in_bare_clause(code: Code, index: int, last: int) -> Iterator[str]:
    """Of a clause that may have no parentheses: MATERIALIZED a + 1, ORDER BY a, INDEX i lower(a) TYPE minmax."""
    word, behind = code.word(index), code.word(index + 1)
    if word in _BEFORE_BY and behind == "by":
        yield from _behind_by(code, index + 2, last)
    elif word in _COMPUTED or (word == "default" and _is_computed_default(code, behind)):
        yield from expression_columns(code, index + 1, code.find(index + 1, _AFTER_EXPRESSION, last))
    elif word == "index" and (kind := code.find(index + 1, keywords("type"), last)) < last:
        yield from expression_columns(code, _behind_name(code, index), kind)
    elif word == "statistics" and code.word(index - 1) in ("add", "modify") and code.is_name(index + 1):
        names = (at for at in range(index + 1, code.find(index + 1, keywords("type"), last)) if code.is_name(at))
        yield from (code.column(at) for at in names)
    elif word == "optimization" and behind == "on":  # ADD SEARCH OPTIMIZATION ON EQUALITY(a), SUBSTRING(b)
        yield from expression_columns(code, index + 2, last)


def _is_computed_default(code: Code, behind: str) -> bool:
    """MySQL has parentheses around a default that is computed, ClickHouse has none."""
    return code.dialect.defaults_read_columns and (behind == "(" or not code.dialect.listed_keys)


def _in_listing_clause(code: Code, index: int, last: int) -> Iterator[str]:
    """Of one whose columns stand in parentheses: AS (a + 1), PROJECTION p (SELECT a), UNIQUE (a), WITH (…)."""
    word = code.word(index)
    if word == "as" and code.word(index + 1) == "(" and code.word(index + 2) not in QUERIES:
        yield from expression_columns(code, index + 2, code.closing(index + 1))
    elif word == "projection" and code.word(opening := _behind_name(code, index)) == "(":
        yield from expression_columns(code, opening + 1, code.closing(opening))
    elif word in _LISTED or (word, True) in (("key", code.dialect.listed_keys), ("index", code.dialect.listed_indexes)):
        yield from _in_list_behind(code, index, last)
    elif word in ("with", "properties"):
        yield from _in_properties(code, index, last)


def _behind_name(code: Code, index: int) -> int:
    """The index behind INDEX i, or PROJECTION IF NOT EXISTS p."""
    index += 1
    while code.word(index) in ("if", "not", "exists"):
        index += 1
    return index + 1


def _behind_by(code: Code, index: int, last: int) -> Iterator[str]:
    while code.word(index) in _WAYS and code.word(index) not in _WITHOUT_COLUMNS:
        index += 3 if code.word(index + 1) == "=" else 1  # KEY ALGORITHM = 2 (a)
    if code.word(index) in _WITHOUT_COLUMNS:
        return
    if code.word(index) == "(" and code.word(index - 1) in _WAYS | {"by"}:
        end = code.closing(index)
        for begin, stop in code.items(index + 1, end):
            is_declared = stop > begin + 1 and code.is_name(begin) and code.is_word(begin + 1)
            if not is_declared or code.word(begin + 1) in EXPRESSION_WORDS:
                yield from expression_columns(code, begin, code.find(begin, ORDERS, stop))
        return
    yield from expression_columns(code, index, code.find(index, _AFTER_EXPRESSION, last))


def _end_of_ttl(code: Code, index: int, last: int) -> int:
    return code.find(index, keywords("settings comment codec order partition sample engine as primary"), last)


def _in_ttl(code: Code, first: int, last: int) -> Iterator[str]:
    """`d + INTERVAL 1 DAY TO DISK 'x', d + INTERVAL 1 YEAR GROUP BY a SET b = max(b)`."""
    for begin, end in code.items(first, last):
        skipped = False
        for index in code.outside(begin, end):
            word = code.word(index)
            if word in ("to", "recompress"):
                skipped = True
            elif word in ("delete", "where", "group", "set"):
                skipped = False
            elif not skipped and word not in ("delete", "by", "="):
                stop = code.closing(index) + 1 if word == "(" else index + 1
                yield from expression_columns(code, index, stop)


def _in_list_behind(code: Code, index: int, last: int) -> Iterator[str]:
    """PRIMARY KEY (a), UNIQUE KEY k (a, b(10) DESC), SORTKEY (a): of what has no list, nothing."""
    opening = next((at for at in range(index + 1, min(index + 5, last)) if code.word(at) == "("), last)
    between = range(index + 1, opening)
    if all(code.is_name(at) and code.word(at) not in _NO_LIST for at in between) and opening < last:
        yield from key_columns(code, opening)


def key_columns(code: Code, opening: int) -> Iterator[str]:
    """The columns of the keys of an index: `(a DESC, lower(b), c(10) ASC, d text_ops)`."""
    if code.word(opening) != "(":
        return
    for first, last in code.items(opening + 1, code.closing(opening)):
        prefix = code.word(first + 1) == "(" and code.is_number(first + 2) and code.closing(first + 1) == first + 3
        if code.is_name(first) and (prefix or code.word(first + 1) not in ("(", ".", ":")):
            if code.words(first, 2) != ("all", "columns") and code.word(first) not in NO_COLUMN:
                yield code.column(first)
        else:
            ordered = code.find(first, ORDERS, last)
            yield from expression_columns(code, first, ordered)


def _in_properties(code: Code, index: int, last: int) -> Iterator[str]:
    end = code.closing(index + 1) if code.word(index + 1) == "(" else last
    key = ""
    for at in range(index + 1, end):
        if code.is_word(at) and code.word(at + 1) == "=":
            key = code.word(at)
        elif code.is_string(at) and key in _PROPERTIES:
            text = Code.of(code.without_quotes(at), code.dialect)
            yield from expression_columns(text, 0, text.find(0, ORDERS))


def expression_columns(code: Code, first: int, last: int, words: frozenset[str] = _CLAUSE_WORDS) -> Iterator[str]:
    """The names from `first` to before `last` that can only be columns, by what is around them; `words` are none."""
    aliases = {code.word(index + 1) for index in range(first, last) if code.word(index) == "as"}
    for index in range(first, last):
        before, after, word = code.word(index - 1), code.word(index + 1), code.word(index)
        typed = before in (")", ":", "as", ".", "@", "collate") or after in ("(", ".") or code.is_string(index + 1)
        unit = word in DATE_PARTS and (
            before in ("(", ",", "", "to") or after == "from"
        )  # date_trunc(month, a), '1' day
        if code.is_name(index) and not typed and not unit and word not in words and (not word or word not in aliases):
            yield code.column(index)


def altered_clauses(code: Code, index: int) -> Iterator[str]:
    """What the clauses of an ALTER TABLE name, from behind the table's name on.

    `MODIFY TTL d + INTERVAL 1 DAY, ADD INDEX i (lower(a)) TYPE minmax`: each begins with a verb, so that the commas
    within a clause divide nothing.
    """
    begun = [first for first, _last in code.items(index, len(code)) if code.word(first) in TYPE_VERBS | OTHER_VERBS]
    for first, last in pairwise((*begun, len(code))):
        yield from clause_columns(code, first, last)
