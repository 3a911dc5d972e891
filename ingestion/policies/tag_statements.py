"""A plan as SQL for the warehouse itself: its own tags where it has some."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum

from ingestion.dialects import Dialect, dialect_of
from ingestion.model import fqn
from ingestion.model.fqn import decode_name, split_fqn
from ingestion.policies.plan import PolicyPlan, TagAction, TagChange
from ingestion.statements.routines.definition import quote_name
from ingestion.walk import ColumnNode

_MARK = r"\s*\[tags: [^\]]*\]"


class TagWarehouse(StrEnum):
    """The warehouses that a plan is written for."""

    SNOWFLAKE = "snowflake"
    DATABRICKS = "databricks"
    POSTGRES = "postgres"


def plan_statements(plan: PolicyPlan, table_types: Mapping[str, str], warehouse: TagWarehouse) -> Iterator[str]:
    """The statements that do in the warehouse what the plan does in the catalog.

    A tag's classification is the tag there, and the rest of its name the value. PostgreSQL has no tags, and takes
    security labels only where an extension is loaded that provides them: there tags stand in brackets at the end of the
    column's comment, whose own text stays.
    """
    dialect = dialect_of(str(warehouse))
    if warehouse is TagWarehouse.SNOWFLAKE:
        added = (change.tag for change in plan.changes if change.action is TagAction.ADD)
        for tag in sorted({split_fqn(name)[0] for name in added}):
            yield f"CREATE TAG IF NOT EXISTS {quote_name(tag, dialect)};"
    write: Callable[[TagChange, str, Dialect], str] = _WRITERS[warehouse]
    for change in plan.changes:
        if change.action is not TagAction.MOVE:
            yield write(change, table_types.get(change.column[0], ""), dialect)


def _snowflake(change: TagChange, table_type: str, dialect: Dialect) -> str:
    """`ALTER TABLE d.s.t MODIFY COLUMN c SET TAG PII = 'Sensitive'`; of a view's columns it is `ALTER VIEW`."""
    kind = "VIEW" if "View" in table_type else "TABLE"
    tag, value = _tag(change, dialect)
    done = f"SET TAG {tag} = {value}" if change.action is TagAction.ADD else f"UNSET TAG {tag}"
    return f"ALTER {kind} {_table(change.column, dialect)} MODIFY COLUMN {_column(change.column, dialect)} {done};"


def _databricks(change: TagChange, table_type: str, dialect: Dialect) -> str:
    """`ALTER TABLE t ALTER COLUMN c SET TAGS ('PII' = 'Sensitive')`, which views do not take.

    Of their columns it is `SET TAG ON COLUMN t.c PII = 'Sensitive'`.
    """
    tag, value = _tag(change, dialect)
    table, column = _table(change.column, dialect), _column(change.column, dialect)
    if "View" in table_type:
        verb = "SET" if change.action is TagAction.ADD else "UNSET"
        setting = f" = {value}" if change.action is TagAction.ADD else ""
        return f"{verb} TAG ON COLUMN {table}.{column} {tag}{setting};"
    key = _text(split_fqn(change.tag)[0], dialect)
    done = f"SET TAGS ({key} = {value})" if change.action is TagAction.ADD else f"UNSET TAGS ({key})"
    return f"ALTER TABLE {table} ALTER COLUMN {column} {done};"


def _postgres(change: TagChange, _table_type: str, dialect: Dialect) -> str:
    """A block that reads the column's comment, and puts it back with the tag beside the others or without it."""
    table = ".".join(quote_name(part, dialect) for part in split_fqn(change.column[0])[2:])
    column = fqn.split(change.column[1] or "")[0]
    name = f"{table}.{quote_name(decode_name(column), dialect)}"
    relation = f"{_text(table, dialect)}::regclass"
    tag = _text(change.tag, dialect)
    others = f"array_remove(string_to_array(substring(was from '\\[tags: ([^\\]]*)\\]'), ', '), {tag})"
    tags = f"array_append({others}, {tag})" if change.action is TagAction.ADD else others
    return (
        "DO $tags$ DECLARE was text; tags text[]; BEGIN "
        f"SELECT coalesce(col_description({relation}, attnum), '') INTO was FROM pg_attribute "
        f"WHERE attrelid = {relation} AND attname = {_text(decode_name(column), dialect)}; "
        f"tags := {tags}; was := regexp_replace(was, '{_MARK}', ''); "
        "IF cardinality(tags) > 0 THEN was := ltrim(was || ' [tags: ' || array_to_string(tags, ', ') || ']'); END IF; "
        f"EXECUTE format('COMMENT ON COLUMN {name.replace('%', '%%').replace(chr(39), chr(39) * 2)} IS %L', was); "
        "END $tags$;"
    )


_WRITERS: Mapping[TagWarehouse, Callable[[TagChange, str, Dialect], str]] = {
    TagWarehouse.SNOWFLAKE: _snowflake,
    TagWarehouse.DATABRICKS: _databricks,
    TagWarehouse.POSTGRES: _postgres,
}


def _table(column: ColumnNode, dialect: Dialect) -> str:
    return ".".join(quote_name(part, dialect) for part in split_fqn(column[0])[1:])


def _column(column: ColumnNode, dialect: Dialect) -> str:
    return ".".join(quote_name(decode_name(part), dialect) for part in fqn.split(column[1] or ""))


def _tag(change: TagChange, dialect: Dialect) -> tuple[str, str]:
    classification, *names = split_fqn(change.tag)
    return quote_name(classification, dialect), _text(".".join(names), dialect)


def _text(value: str, dialect: Dialect) -> str:
    if dialect.backslash_escapes:
        value = value.replace("\\", "\\\\").replace("'", "\\'")
    return "'" + (value if dialect.backslash_escapes else value.replace("'", "''")) + "'"
