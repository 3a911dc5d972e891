"""The columns and schemas that a statement names without reading or filling one, and the tables that it only refers to.

`GRANT SELECT (total) ON shop.orders TO app`, `DROP SCHEMA shop`, `ALTER TABLE shop.orders ADD CHECK (total > 0)`: there
is no lineage in these, and a name in them that is mistyped is one all the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from ingestion.dialects import Dialect
from ingestion.dialects.cursor import Code
from ingestion.dialects.definition import keywords
from ingestion.dialects.keywords import RELATIONS
from ingestion.model.outcomes import Outcome
from ingestion.scripts.clause_columns import (
    EXPRESSION_WORDS,
    ORDERS,
    DottedName,
    altered_clauses,
    clause_columns,
    defined_columns,
    expression_columns,
    key_columns,
)
from ingestion.scripts.inspected_tables import inspected_column, inspected_database
from ingestion.scripts.touched_tables import touched_tables
from ingestion.scripts.unfollowed_changes import COLUMN_CHANGES, NAMESPACES
from ingestion.statements import classify
from ingestion.statements.session_changes import OWN_SCHEMA, UNKNOWN_SCHEMA

_OF_NAMESPACES = keywords(
    "alter analyze comment create drop deny grant import move refresh reindex restore revoke undrop"
)
"""Verbs of statements in which SCHEMA x is a name; elsewhere (SHOW TABLES IN SCHEMA x) nothing depends on it."""
_NO_NAMESPACE = keywords("to from on with as set is authorization cascade restrict role user and binding link trigger")
"""Behind the word SCHEMA or DATABASE, where that names none: ON SCHEMA :: s does, WITH SCHEMA BINDING does not."""
_COPIES = keywords("clone")
"""Before the schema that another one is made of."""
_PRIVILEGES = keywords("grant revoke deny")
_STATISTICS = keywords("analyze analyse vacuum copy")
_OF_COLUMNS = (("for", "columns"), ("histogram", "on"), ("zorder", "by"), ("deduplicate", "by"))
"""What stands before a list of columns."""
_KEYS = keywords("unique primary foreign key index include sortkey distkey")
_KEY_WORDS = keywords("key index clustered nonclustered hash btree compound interleaved distinct")
_BEHIND_MODIFIED = keywords("not null default visible invisible encrypt decrypt")
"""What may stand behind MODIFY c where no type does, and behind nothing else that Oracle modifies."""
_CONDITIONS = keywords("check using where filter")
_BEHIND_CONDITION = keywords("with tablespace on using")
_ALTERING = keywords("alter modify change comment clear materialize")
_NO_OWN_WORD = keywords("alter change")
"""Verbs behind ALTER TABLE t that a column may follow without the word COLUMN."""


def touched_columns(text: str, dialect: Dialect) -> Iterator[tuple[DottedName, str]]:
    """The columns that a statement without lineage names, each with its table's name as it is written.

    `CREATE INDEX i ON shop.orders (lower(status)) WHERE total > 0`, `COMMENT ON COLUMN shop.orders.total IS 'x'`.
    """
    code = Code.of(text, dialect)
    yield from _referenced_columns(code)
    yield from defined_columns(code)
    if (inspected := inspected_column(code)) is not None:
        yield inspected
    verb = code.word(0)
    if verb in ("comment", "security") and (column := code.find(1, keywords("column"))) < len(code):
        name, _after = code.dotted_name(column + 1)
        if len(name) > 1:
            yield name[:-1], name[-1]
        return
    skip = classify(text, dialect).skip_reason
    if skip is Outcome.INSERT_VALUES or verb in ("copy", "load"):
        yield from _columns_filled(code)
    elif verb == "alter" and not RELATIONS.isdisjoint(code.words(1, 4)):
        table, index = _altered_table(code)
        found = (*_altered_columns(code, index), *altered_clauses(code, index))
        yield from ((table, column) for column in found if table)
    elif skip is not None:
        tables = list(touched_tables(text, dialect))
        yield from ((table, column) for column in _columns_beside(code) for table in tables)


def referenced_tables(text: str, dialect: Dialect) -> Iterator[DottedName]:
    """The tables that the definition or the change of another thing refers to: a foreign key's, an ancestor, an owner.

    `CREATE TABLE a (id int REFERENCES shop.orders (id)) INHERITS (shop.base)`, `ALTER SEQUENCE s OWNED BY t.id`.
    """
    code = Code.of(text, dialect)
    if code.word(0) not in ("create", "alter"):
        return
    for index in range(1, len(code)):
        if code.word(index) == "references" and code.words(1, 1) != ("trigger",):
            yield code.dotted_name(index + 1)[0]
        elif code.words(index, 2) == ("inherits", "("):
            yield from (code.dotted_name(first)[0] for first, _last in code.items(index + 2, code.closing(index + 1)))
        elif code.words(index, 2) == ("owned", "by"):
            yield code.dotted_name(index + 2)[0][:-1]
    yield from _table_of_trigger(code)


def touched_namespaces(text: str, dialect: Dialect) -> Iterator[DottedName]:
    """The schemas and databases that a statement is about, moves to, or looks for its names in.

    `DROP SCHEMA shop`, `GRANT SELECT ON ALL TABLES IN SCHEMA shop TO app`, `USE shop`, `GRANT ALL ON shop.* TO app`.
    """
    change = classify(text, dialect).session
    if change is not None:
        yield from ((schema,) for schema in change.schemas or () if schema not in (OWN_SCHEMA, UNKNOWN_SCHEMA))
        if change.database:
            yield (change.database,)
        return
    code = Code.of(text, dialect)
    verb = code.word(0)
    if inspected := inspected_database(code):
        yield inspected
    if verb == "drop" and code.word(1) == "user" and any(code.word(at) == "cascade" for at in range(2, len(code))):
        yield code.dotted_name(_after_condition(code, 2))[0]
    if verb in _PRIVILEGES:
        index = code.find(1, keywords("on")) + 1
        if code.is_name(index) and code.words(index + 1, 2) == (".", "*"):
            yield (code.name(index),)
    if verb in _OF_NAMESPACES:
        yield from _named_namespaces(code, 0 if made_namespace(text, dialect) == () else code.find(1, _COPIES))
    if verb in ("alter", "drop") and code.word(1) in ("index", "sequence"):
        yield code.dotted_name(_after_condition(code, 2))[0][:-1]


def made_namespace(text: str, dialect: Dialect) -> DottedName:
    """The schema or database that `text` makes, () where it makes none; where a user is a schema, CREATE USER does."""
    code = Code.of(text, dialect)
    index = 3 if code.stands(1, "or", "replace") else 1
    index += code.word(index) in ("transient", "foreign", "external")
    if code.word(0) != "create" or code.word(index) not in NAMESPACES | {"user"}:
        return ()
    index = _after_condition(code, index + 1)
    return code.dotted_name(index + (code.word(index) == "authorization"))[0]


def _after_condition(code: Code, index: int) -> int:
    """The index behind IF EXISTS, IF NOT EXISTS, and the colons of SQL Server."""
    while code.word(index) in ("if", "not", "exists", ":"):
        index += 1
    return index


def _named_namespaces(code: Code, first: int) -> Iterator[DottedName]:
    for index in range(first, len(code)):
        target = code.word(index) in _COPIES if first else code.stands(0, "import") and code.word(index) == "into"
        named = code.word(index) in NAMESPACES and code.word(index - 1) not in (".", "foreign", "current", "default")
        if not (target or named):
            continue
        after = _after_condition(code, index + 1)
        if code.word(after) not in _NO_NAMESPACE and code.is_name(after):
            yield code.dotted_name(after)[0]


def _table_of_trigger(code: Code) -> Iterator[DottedName]:
    """Of `CREATE TRIGGER g AFTER UPDATE OF a ON t`."""
    trigger = next((index for index in range(1, 6) if code.word(index) == "trigger"), None)
    if code.word(0) != "create" or trigger is None:
        return
    index = code.find(trigger + 1, keywords("on")) + 1
    name, _after = code.dotted_name(index)
    if name and code.words(index, 1)[0] not in ("all", "database", "schema") and "event" not in code.words(1, 3):
        yield name


def _referenced_columns(code: Code) -> Iterator[tuple[DottedName, str]]:
    if code.word(0) not in ("create", "alter"):
        return
    for index in range(1, len(code)):
        if code.word(index) == "references":
            table, after = code.dotted_name(index + 1)
            if table and code.word(after) == "(":
                yield from ((table, column) for column in _columns_in_list(code, after))
        elif code.words(index, 2) == ("owned", "by"):
            name, _after = code.dotted_name(index + 2)
            if len(name) > 1:
                yield name[:-1], name[-1]
        elif code.words(index, 2) == ("update", "of"):
            yield from ((table, one) for table in _table_of_trigger(code) for one in _columns_in_list(code, index + 1))


def _columns_filled(code: Code) -> Iterator[tuple[DottedName, str]]:
    """The columns of `INSERT INTO t (a, b) VALUES …`, `COPY t (a, b) FROM …`, `LOAD DATA … INTO TABLE t (a, b)`."""
    index = code.find(1, keywords("into")) + 1 if code.word(0) == "load" else 1
    while code.word(index) in ("into", "table", "ignore", "overwrite", "or", "replace"):
        index += 1
    table, after = code.dotted_name(index)
    following = code.word(code.after(after))
    if table and code.word(after) == "(" and following in ("values", "value", "output", "overriding", "from", "to", ""):
        yield from ((table, column) for column in _columns_in_list(code, after))


def _altered_table(code: Code) -> tuple[DottedName, int]:
    """The name of the table that is altered, and the index behind it."""
    index = next(index for index in range(1, 5) if code.word(index) in RELATIONS) + 1
    while code.word(index) in ("if", "exists", "only"):
        index += 1
    return code.dotted_name(index)


def _altered_columns(code: Code, index: int) -> Iterator[str]:
    for first, last in code.items(index, len(code)):
        verb = code.word(first)
        at = first + 1
        of_column = code.word(at) == "column"
        if verb in _ALTERING and (of_column or verb in _NO_OWN_WORD):
            at = _after_condition(code, at + of_column)
            if code.is_name(at) and (of_column or code.word(at + 1) in COLUMN_CHANGES):
                yield code.column(at)
        elif verb == "modify" and code.dialect.modify_names_columns and code.word(at + 1) in _BEHIND_MODIFIED:
            yield code.column(at)
        elif code.is_name(last - 1) and (
            code.word(last - 2) == "after"
            or (code.word(last - 2) == "for" and "default" in code.words(first, last - first))
        ):
            yield code.column(last - 1)
        yield from _in_clauses(code, first, last)


def _columns_beside(code: Code) -> Iterator[str]:
    """Of a statement that is about a table without altering it."""
    verb, end = code.word(0), len(code)
    on = code.find(1, keywords("on"))
    if verb in _PRIVILEGES:
        yield from (one for at in range(1, on) if code.word(at) == "(" for one in _columns_in_list(code, at))
        _name, after = code.dotted_name(on + 1)
        if code.word(after) == "(":
            yield from _columns_in_list(code, after)
    elif verb == "create" and not keywords("index").isdisjoint(code.words(1, 8)):
        _name, after = code.dotted_name(on + 1 + (code.word(on + 1) == "only"))
        opening = code.find(after, keywords("(")) if code.word(after) != "(" else after
        first = next((at for at in range(after, end) if code.word(at) == "("), end)
        yield from key_columns(code, min(first, opening))
        yield from _in_clauses(code, code.after(first), end)
    elif verb == "create" and "statistics" in code.words(1, 2):
        source = code.find(on, keywords("from"))
        _name, after = code.dotted_name(on + 1)
        yield from _plain(code, on + 1, source) if source < end else _columns_in_list(code, after)
    elif verb == "collect" and code.word(on - 1) == ")":
        yield from _columns_in_list(code, code.opening(on - 1))
    elif verb in _STATISTICS:
        opening = next((at for at in range(2, end) if code.word(at) == "(" and code.is_name(at - 1)), end)
        yield from _columns_in_list(code, opening) if code.word(opening - 1) not in _STATISTICS | {"with"} else ()
        yield from clause_columns(code, 1, end) if verb == "analyze" else ()
    elif verb in ("attach", "detach") and "policy" in code.words(1, 3):
        _name, after = code.dotted_name(on + 1)
        yield from _columns_in_list(code, after) if code.word(after) == "(" else ()
    elif "policy" in code.words(1, 6):
        yield from _in_clauses(code, on, end)
        using = code.find(on, keywords("using"))
        if code.word(using + 1) != "(":  # ClickHouse has no parentheses there
            yield from _in_expression(code, using + 1, code.find(using, keywords("as to")))
    elif verb == "optimize":
        yield from clause_columns(code, 1, end)
    yield from (
        column for at in range(1, end) if code.words(at, 2) in _OF_COLUMNS for column in _columns_in_list(code, at + 1)
    )


def _in_clauses(code: Code, first: int, last: int) -> Iterator[str]:
    """Behind CHECK, WHERE, USING, UNIQUE, PRIMARY KEY, INCLUDE, CLUSTER BY and their like, outside parentheses."""
    for index in code.outside(first, last):
        word = code.word(index)
        if word in _CONDITIONS and code.word(index + 1) == "(":
            yield from _in_expression(code, index + 2, code.closing(index + 1))
        elif word == "where":
            yield from _in_expression(code, index + 1, code.find(index + 1, _BEHIND_CONDITION, last))
            return
        elif code.words(index, 2) == ("by", "(") or code.words(index, 2) == ("sortkey", "("):
            yield from key_columns(code, index + 1)
        elif code.words(index, 2) == ("partition", "("):
            equals = (at for at in range(index + 3, code.closing(index + 1)) if code.word(at) == "=")
            yield from (code.column(at - 1) for at in equals if code.is_name(at - 1))
        elif word == "distkey" and code.is_name(index + 1):
            yield code.column(index + 1)
        elif word in _KEYS and code.word(index - 1) not in ("drop", "rename", *_KEYS):
            opening = next((at for at in range(index + 1, min(index + 5, last)) if code.word(at) == "("), last)
            named = all(code.is_name(at) for at in range(index + 1, opening))
            yield from key_columns(code, opening) if named and opening < last else ()


def _in_expression(code: Code, first: int, last: int) -> Iterator[str]:
    return expression_columns(code, first, last, EXPRESSION_WORDS)


def _columns_in_list(code: Code, opening: int) -> Iterator[str]:
    """The names of a list of plain columns, in parentheses or bare behind the token there."""
    if code.word(opening) == "(":
        yield from _plain(code, opening + 1, code.closing(opening))
    elif code.word(opening + 1) == "(":
        yield from _plain(code, opening + 2, code.closing(opening + 1))
    else:
        yield from _plain(code, opening + 1, len(code))


def _plain(code: Code, first: int, last: int) -> Iterator[str]:
    for begin, end in code.items(first, last):
        if not code.is_name(begin) or (end > begin + 1 and code.word(begin + 1) not in ORDERS | {"with", "on"}):
            return
        yield code.column(begin)
