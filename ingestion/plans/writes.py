"""The nodes of plans that write: into tables of catalogs and into sources, DDL, clones, and those that are not
followed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ingestion.model.engine_names import jdbc_url
from ingestion.model.lineage import (
    Column,
    CreateMode,
    Flow,
    Output,
    StarOutput,
    StatementKind,
    StatementLineage,
    TableChange,
    TableName,
    Target,
    WriteMode,
)
from ingestion.plans._delta_log import reads_delta_log, reads_nothing
from ingestion.plans._operators import OPERATORS
from ingestion.plans._relation import arguments, inside
from ingestion.plans._scans import CATALOG_TABLE, jdbc_table, v2_name
from ingestion.plans._tree import PlanNode, kind_of, parse_plan_text
from ingestion.plans.names import QUALIFIED, NameMapping, clean_location, plain_parts, quoted_parts


@dataclass(frozen=True, slots=True)
class PlanWrite:
    """One write: `name` is None where the plan has no name for the target; `location` is where it puts the files.

    `query` is None where an execution beside this one has the query; then `outputs` is the line that names its
    columns. `columns` are the target's columns where the plan lists them in the query's order. `partial` marks a name
    without its catalog, `row_operation` a MERGE, UPDATE or DELETE; `merge` and `update` have the arguments of
    Delta's own, `condition` the text of what a DELETE says of its rows where no query has it: over the `query`, or
    without one as a catalog is told it, over the names of columns.
    """

    kind: StatementKind
    mode: WriteMode
    name: TableName | None
    query: PlanNode | None
    location: TableName | None = None
    columns: tuple[str, ...] | None = None
    view: bool = False
    temporary: bool = False
    text: str | None = None
    partial: bool = False
    outputs: str = ""
    row_operation: bool = False
    merge: str | None = None
    update: str | None = None
    condition: str | None = None
    create_mode: CreateMode = CreateMode.NEW


def _query_of(node: PlanNode) -> PlanNode | None:
    """The plan of what a node writes: its child, or the plan printed below it.

    Beside a child, the plan of a condition's subquery may be printed: that of a rewritten MERGE's.
    """
    below = node.children or node.inner
    return below[-1] if below else None


# Writes through Spark's V2 interface: Iceberg, Delta Lake and other catalogs' tables.

_ROW_POSITION = "_pos"
"""The metadata column of Iceberg's by which a row operation finds a row in its file."""
_ROW_SCANS = ("BatchScan", "RelationV2", "DataSourceV2Relation")
_V2_WRITES = {
    "AppendData": WriteMode.APPEND,
    "AppendDataExec": WriteMode.APPEND,
    "AppendDataExecV1": WriteMode.APPEND,
    "OverwriteByExpression": WriteMode.OVERWRITE,
    "OverwriteByExpressionExecV1": WriteMode.OVERWRITE,
    "OverwritePartitionsDynamic": WriteMode.OVERWRITE,
    "ReplaceData": WriteMode.UPDATE,
    "WriteDelta": WriteMode.UPDATE,
    **dict.fromkeys(("WriteToDataSourceV2", "WriteToMicroBatchDataSource"), WriteMode.APPEND),
}
_STREAMS = frozenset(("WriteToDataSourceV2", "WriteToMicroBatchDataSource"))
_V2_CREATES = (
    "CreateTableAsSelect",
    "AtomicCreateTableAsSelect",
    "ReplaceTableAsSelect",
    "AtomicReplaceTableAsSelect",
)
_DELTA_COMMANDS = (
    "MergeIntoCommand",
    "UpdateCommand",
    "DeleteCommand",
    "DeltaDynamicPartitionOverwriteCommand",
)

_TABLE_OPTION = re.compile(r"\btable=([^\s,()]+)")
_RELATION = re.compile(r"RelationV2\[(?P<columns>.*?)\] (?P<name>[^\s,]+)", re.DOTALL)
_QUOTED = re.compile(r"`[^`]+`\.`")
_LOCATED = re.compile(r"(?:Location: |DeltaTableV2\([^,]*,|Delta\[version=[^,]*, )([a-z][a-z0-9+.-]*:/[^\s,\])]+)")
_NAME = r"(?:`(?:[^`]|``)++`|[^\s,`])++"
_BEFORE_CONDITION = re.compile(r"^[^,`(]*(?:\[[^\]]*\])?(?:, (?:`(?:[^`]|``)+`\.?)+)?(?:, |$)")
"""What a DELETE of Delta's prints before its condition: the table's log, and its name where a catalog has one."""
_CATALOG_FILTERS = re.compile(
    rf"^(?P<name>{_NAME}), \[(?P<filters>.*?)\](?:, [\w.$]+(?:/\w+)?@[0-9a-f]+|, |$)", re.DOTALL
)
_CREATED = re.compile(
    r"^(?:\[[^\[\]]*\], )?"  # Databricks lists first what the command gives back: [num_affected_rows#1L, …]
    r"(?:V2SessionCatalog\((?P<session>[\w-]+)\)|(?P<class>[\w.$]+@[0-9a-f]+|[\w.-]+)), "
    rf"(?P<name>{_NAME})(?:, (?P<other>{_NAME})(?=,|$))?"
)


def _v2_write(node: PlanNode, names: NameMapping) -> PlanWrite | None:
    """Appends, overwrites and rewritten row operations of V2 tables; None for a stream's sink that is no table."""
    kind = kind_of(node).removeprefix("Execute ")
    mode = _V2_WRITES[kind]
    name, partial = _v2_target(node, names)
    if name is None and kind in _STREAMS:
        return None
    if name is None and mode is WriteMode.UPDATE:
        name = _rewritten_table(node, names)
    query = _query_of(node)
    location = _LOCATED.search(node.args)
    statement = StatementKind.UPDATE if mode is WriteMode.UPDATE else StatementKind.INSERT
    return PlanWrite(
        statement,
        mode,
        name,
        query,
        names.path(location.group(1)) if location and name is None else None,
        partial=partial,
        outputs="" if query is not None else _query_text(node.args),
        row_operation=mode is WriteMode.UPDATE,
    )


def _query_text(args: str) -> str:
    """The one line that a V1 fallback prints of its query, behind the table."""
    return args.rpartition("))")[2] if "CatalogTable(" in args else args.partition(", ")[2]


def _v2_target(node: PlanNode, names: NameMapping) -> tuple[TableName | None, bool]:
    """The table that a V2 write names, and whether its catalog is missing from the name."""
    if table := jdbc_table(node.args, names):
        return table, False
    catalog = CATALOG_TABLE.search(node.args)
    if catalog:
        found = (catalog.group("catalog"), catalog.group("database"), catalog.group("table"))
        return names.table(tuple(part for part in found if part)), False
    relation = _RELATION.search(node.args)
    if relation:
        return names.table(plain_parts(relation.group("name"))), False
    option = _TABLE_OPTION.search(node.args)
    if option:
        written = option.group(1)
        if re.match(r"^(?:[a-z][a-z0-9+.-]*:)?/", written):
            return names.path(written), False
        parts = plain_parts(written)
        return names.table(parts), len(parts) < QUALIFIED
    quoted = _QUOTED.search(node.args)
    if quoted:
        return names.table(quoted_parts(node.args[quoted.start() :])), False
    behind = node.name.partition(" ")[2]
    return (names.table(plain_parts(behind)), False) if "." in behind else (None, False)


def _rewritten_table(node: PlanNode, names: NameMapping) -> TableName | None:
    """The table whose rows a row operation changes, where its writer prints none: that read with each row's place."""
    scans = (leaf for leaf in node.walk() if kind_of(leaf) in _ROW_SCANS and not leaf.children)
    found = {v2_name(leaf, names) for leaf in scans if f"{_ROW_POSITION}#" in leaf.fields.get("Output", leaf.args)}
    return found.pop() if len(found) == 1 else None


def _v2_create(node: PlanNode, names: NameMapping) -> PlanWrite:
    """CREATE and REPLACE TABLE AS of a V2 catalog, which the plan names by its class.

    A logical plan has the name in a node of its own, beside the query.
    """
    resolved = (below for below in (*node.children, *node.inner) if kind_of(below) == "ResolvedIdentifier")
    match = _CREATED.match(next(resolved, node).args)
    name: TableName | None = None
    if match:
        parts = plain_parts(match.group("name"))
        catalog = match.group("session") or names.of_class(match.group("class") or "")
        if catalog is not None and "@" not in catalog:
            parts = (catalog, *parts)
        name = names.table(parts)
    replaces = "Replace" in kind_of(node)
    return PlanWrite(
        StatementKind.CREATE_TABLE_AS,
        WriteMode.CREATE,
        name,
        _query_of(node),
        outputs=node.args,
        create_mode=CreateMode.REPLACE if replaces else CreateMode.NEW,
    )


def _catalog_names(args: str, names: NameMapping) -> tuple[TableName, TableName | None] | None:
    """The table that a command names behind its catalog, and the name behind that, which may be one of another kind.

    None where only the catalog's class is told, of several. A second name that is bare stays beside the first.
    """
    match = _CREATED.match(args)
    catalog = (match.group("session") or names.of_class(match.group("class") or "")) if match else None
    if match is None or not catalog:
        return None
    parts = plain_parts(match.group("name"))
    other = plain_parts(match.group("other") or "")
    if len(other) == 1:
        other = (*parts[:-1], *other)
    return names.table((catalog, *parts)), names.table((catalog, *other)) if any(other) else None


def _delta_command(node: PlanNode, names: NameMapping) -> PlanWrite:
    """Delta Lake's own commands: each names its table in its arguments."""
    kind = kind_of(node).removeprefix("Execute ")
    if kind == "DeltaDynamicPartitionOverwriteCommand":
        relation = _RELATION.search(node.args)
        columns = tuple(part.rpartition("#")[0] for part in relation.group("columns").split(", ")) if relation else None
        name = names.table(plain_parts(relation.group("name"))) if relation else None
        return PlanWrite(StatementKind.INSERT, WriteMode.OVERWRITE, name, _query_of(node), columns=columns)
    quoted = _QUOTED.search(node.args)
    located = _LOCATED.search(node.args)
    name = None
    if quoted:
        name = names.table(quoted_parts(node.args[quoted.start() :]))
    elif located:
        name = names.path(located.group(1))
    if kind == "MergeIntoCommand":
        return PlanWrite(StatementKind.MERGE, WriteMode.UPDATE, name, None, row_operation=True, merge=node.args)
    write = PlanWrite(StatementKind.UPDATE, WriteMode.UPDATE, name, _query_of(node), row_operation=True)
    if kind == "UpdateCommand":
        return replace(write, update=node.args)
    return _deletion(write, _BEFORE_CONDITION.sub("", node.args))


def _deletion(write: PlanWrite, condition: str) -> PlanWrite:
    return replace(write, kind=StatementKind.DELETE, mode=WriteMode.DELETE, condition=condition)


def _v2_delete(node: PlanNode, names: NameMapping) -> PlanWrite | None:
    """DELETE of whole partitions, or files, which a V2 catalog does itself: `lake.mart.t, [day < 20455], …`.

    A logical plan has the condition alone, and the table below it.
    """
    query = _query_of(node)
    if query is None:
        listed = _CATALOG_FILTERS.match(node.args)
        write = PlanWrite(StatementKind.DELETE, WriteMode.DELETE, None, None, row_operation=True)
        name = names.table(plain_parts(listed["name"])) if listed else None
        return _deletion(replace(write, name=name), listed["filters"]) if listed and name else None
    name = next((v2_name(leaf, names) for leaf in query.walk() if kind_of(leaf) in _ROW_SCANS), None)
    write = PlanWrite(StatementKind.DELETE, WriteMode.DELETE, name, query, row_operation=True)
    return _deletion(write, node.args) if name else None


# The nodes that write: what they write to, how, and the plan of what they write.

MODES = {
    "Append": WriteMode.APPEND,
    "Overwrite": WriteMode.OVERWRITE,
    "ErrorIfExists": WriteMode.CREATE,
    "Ignore": WriteMode.CREATE,
}
"""Spark's save modes; both that leave an existing table alone create one."""
_CREATE_MODES = {"Overwrite": CreateMode.REPLACE, "Ignore": CreateMode.IF_ABSENT}
_MODE = re.compile(r", (Append|Overwrite|ErrorIfExists|Ignore)(?=, |$|\))")
_LOCATION = re.compile(r"^(.*?), (?:\[[^\]]*\], )?(?:false|true)(?:, |$)", re.DOTALL)
_VIEW_COLUMNS = re.compile(r"(?:^|(?<=, ))\(((?:(?!, \().)*?),(?:None|Some\(.*?\))\)(?=, \(|$)", re.DOTALL)
"""`(name,Some(comment)), (other,None)`: the column list of a view."""
_VIEW_KIND = re.compile(r", (PersistedView|LocalTempView|GlobalTempView)(?=, |$)")
_FLAGS_AT_END = re.compile(r"(?<!, true)(?<!, false)(?:, (?:true|false))++$")
_OPTIONS_OF_CACHE = {"]": re.compile(r", (?:true|false), \["), ")": re.compile(r", (?:true|false), Map\(")}
"""Where the options of a CACHE TABLE begin, by how they end."""
_OPTION = re.compile(r"[\[(, ](?:dbtable|path|table|topic)(?:=| -> )([^\],)]+)")
_OPTION_TABLE = re.compile(r"[\[(, ]dbtable(?:=| -> )([^\],)]+)")
_OPTION_URL = re.compile(r"[\[(, ]url(?:=| -> )(jdbc:[^\],)]+)")
_OPTION_PATH = re.compile(r"[\[(, ]path(?:=| -> )([^\],)]+)")

_FILE_WRITE = "InsertIntoHadoopFsRelationCommand"
_TABLE_CREATING = (
    "CreateDataSourceTableAsSelectCommand CreateHiveTableAsSelectCommand OptimizedCreateHiveTableAsSelectCommand"
)
TABLE_CREATING = frozenset(_TABLE_CREATING.split())


def writes(root: PlanNode, names: NameMapping) -> list[PlanWrite]:
    """Every write of a tree, outermost first; a multi-insert has several."""
    found: list[PlanWrite] = []
    for node in _write_nodes(root):
        kind = kind_of(node).removeprefix("Execute ")
        write = _one_write(node, kind, names)
        if write is not None:
            found.append(write)
    return found


def _write_nodes(root: PlanNode) -> Iterator[PlanNode]:
    """The tree's outermost nodes that write; below a command's result stands what was written before."""
    pending = [root]
    while pending:
        node = pending.pop()
        if _is_write(node):
            yield node
        elif kind_of(node) != "CommandResult":
            pending.extend(reversed([*node.inner, *node.children]))


def _is_write(node: PlanNode) -> bool:
    kind = kind_of(node)
    bare = kind.removeprefix("Execute ")
    if kind != bare and not node.children and node.inner:
        return False  # the command itself stands below its execution
    return bare in _WRITERS or bare in TABLE_CREATING


def _one_write(node: PlanNode, kind: str, names: NameMapping) -> PlanWrite | None:
    if kind in TABLE_CREATING:
        return _table_as_select(node, names)
    return _WRITERS[kind](node, names)


def _file_write(node: PlanNode, names: NameMapping) -> PlanWrite:
    """Files of a table or of a path."""
    args = node.args
    mode = _MODE.search(args)
    behind = args[mode.end() + 2 :] if mode else ""
    parts = quoted_parts(behind)
    catalog = CATALOG_TABLE.search(args)
    if not parts and catalog:
        found = (catalog.group("catalog"), catalog.group("database"), catalog.group("table"))
        parts = tuple(part for part in found if part)
    location = _LOCATION.match(args)
    columns = _name_list(args)
    return PlanWrite(
        StatementKind.INSERT,
        MODES[mode.group(1)] if mode else WriteMode.APPEND,
        names.table(parts) if parts else None,
        _query_of(node),
        names.path(location.group(1)) if location else None,
        columns,
    )


def _name_list(args: str) -> tuple[str, ...] | None:
    """The column names at the end of a command's arguments: nothing tells a name's comma from the list's."""
    start = args.rfind(", [")
    if start < 0 or "more fields" in args[start:]:
        return None
    return tuple(inside(args[start + 2 :]).split(", "))


def _table_as_select(node: PlanNode, names: NameMapping) -> PlanWrite:
    """CREATE TABLE AS and saveAsTable; Hive's form prints the table in brackets."""
    parts = quoted_parts(node.args)
    bracketed = re.match(r"\[Database: (.*?), TableName: (.*?),", node.args)
    if not parts and bracketed:
        parts = (bracketed.group(1), bracketed.group(2))
    mode, create_mode = _saved_mode(node.args)
    name = names.table(parts) if parts else None
    return PlanWrite(
        StatementKind.CREATE_TABLE_AS,
        mode,
        name,
        _query_of(node),
        columns=_name_list(node.args),
        create_mode=create_mode,
    )


def _saved_mode(args: str) -> tuple[WriteMode, CreateMode]:
    """How saveAsTable writes, and what it does to a table of that name: in mode `overwrite` it drops it first."""
    mode = _MODE.search(args)
    written = mode.group(1) if mode else ""
    if written == "Append":
        return WriteMode.APPEND, CreateMode.NEW
    return WriteMode.CREATE, _CREATE_MODES.get(written, CreateMode.NEW)


def _save_as_table(node: PlanNode, names: NameMapping) -> PlanWrite:
    """The outer command of saveAsTable: a name without a tree."""
    parts = quoted_parts(node.args)
    mode, create_mode = _saved_mode(node.args)
    name = names.table(parts) if parts else None
    return PlanWrite(StatementKind.CREATE_TABLE_AS, mode, name, None, create_mode=create_mode)


def _create_view(node: PlanNode, names: NameMapping) -> PlanWrite:
    """A view with its columns and the text of its query, which a plan prints before flags and the view's kind."""
    args = node.args
    parts = quoted_parts(args)
    kinds = list(_VIEW_KIND.finditer(args))
    kind = kinds[-1].group(1) if kinds else "PersistedView"
    _, _, rest = args.partition(", ")
    head = rest[: rest.find("], ") + 1] if rest.startswith("[(") else "[]"
    columns = tuple(match.group(1) for match in _VIEW_COLUMNS.finditer(head.strip("[]"))) or None
    text = rest[len(head) + 2 : kinds[-1].start()] if kinds else None
    text = _FLAGS_AT_END.sub("", text) if text else None
    return PlanWrite(
        StatementKind.CREATE_VIEW,
        WriteMode.CREATE,
        names.table(parts) if len(parts) > 1 else TableName(parts, ".".join(parts)),
        _query_of(node),
        columns=columns,
        view=True,
        temporary=kind != "PersistedView",
        text=text,
    )


def _cache_as_select(node: PlanNode, names: NameMapping) -> PlanWrite:
    """CACHE TABLE x AS: a temporary name, the query as text only."""
    parts = arguments(node.args)
    name = TableName((parts[0],), parts[0])
    text = node.args[len(parts[0]) + 2 :]
    options = _OPTIONS_OF_CACHE.get(text[-1:])
    begun = options.search(text) if options is not None else None
    text = text[: begun.start()] if begun is not None else text
    return PlanWrite(StatementKind.CREATE_VIEW, WriteMode.CREATE, name, None, view=True, temporary=True, text=text)


def _hive_write(node: PlanNode, names: NameMapping) -> PlanWrite:
    parts = quoted_parts(node.args)
    overwrite = re.search(r", (true|false), (?:true|false)(?:, |$)", node.args)
    mode = WriteMode.OVERWRITE if overwrite and overwrite.group(1) == "true" else WriteMode.APPEND
    return PlanWrite(StatementKind.INSERT, mode, names.table(parts) if parts else None, _query_of(node))


def _save_into_source(node: PlanNode, names: NameMapping) -> PlanWrite | None:
    """df.write to a source of its own: JDBC by its table, others by path."""
    mode = _MODE.search(node.args)
    written = MODES[mode.group(1)] if mode else WriteMode.APPEND
    table = _OPTION_TABLE.search(node.args)
    path = _OPTION_PATH.search(node.args)
    name: TableName | None = None
    if table:
        url = _OPTION_URL.search(node.args)
        server = jdbc_url(url.group(1)) if url else None
        name = names.jdbc(plain_parts(table.group(1).replace('"', "`")), server)
    location = names.path(path.group(1)) if path else None
    return PlanWrite(StatementKind.INSERT, written, name, _query_of(node), location)


def _directory_write(node: PlanNode, names: NameMapping) -> PlanWrite:
    """INSERT OVERWRITE DIRECTORY."""
    found = re.search(r"(?:Location: |Some\(|path=)?((?:(?<![a-z0-9+.-])[a-z][a-z0-9+.-]*+:)?/[^,\])\s]++)", node.args)
    location = names.path(found.group(1)) if found else None
    return PlanWrite(StatementKind.INSERT, WriteMode.OVERWRITE, None, _query_of(node), location)


_WRITERS = {
    _FILE_WRITE: _file_write,
    "SaveAsV1TableCommand": _save_as_table,
    "CreateViewCommand": _create_view,
    "CacheTableAsSelect": _cache_as_select,
    "InsertIntoHiveTable": _hive_write,
    "SaveIntoDataSourceCommand": _save_into_source,
    "InsertIntoDataSourceCommand": _hive_write,
    "InsertIntoDataSourceDirCommand": _directory_write,
    "InsertIntoHiveDirCommand": _directory_write,
    **dict.fromkeys(_V2_WRITES, _v2_write),
    **dict.fromkeys(_V2_CREATES, _v2_create),
    **dict.fromkeys(_DELTA_COMMANDS, _delta_command),
    "DeleteFromTable": _v2_delete,
}


# DDL in plans: tables and views that were renamed or dropped, columns that were added, renamed or dropped.

DDL = re.compile(r"\b(?:AlterTableRenameCommand|DropTableCommand|DropTable|DropView|RenameTable|AlterTable)\b")
V2_KINDS = ("DropTable", "DropView", "RenameTable", "AlterTable")
_CHANGES = re.compile(r", \[(?:(?P<changes>.*)\]|.*)", re.DOTALL)
_NEXT_CHANGE = re.compile(r", (?=(?:ADD|DROP|RENAME|ALTER) COLUMN )")
_ADDED = re.compile(r"ADD COLUMN (?P<name>[^.\s]+) (?P<type>.+)", re.DOTALL)
_DROPPED = re.compile(r"DROP COLUMN (?P<name>[^.]+)")
_RENAMED = re.compile(r"RENAME COLUMN (?P<old>(?:(?! TO )[^.])+) TO (?P<new>(?:(?! TO ).)+)", re.DOTALL)
_BEHIND_NAME = re.compile(r"(?:`(?:[^`]|``)++`\.?+)++, ")


def name_changes(descriptions: Sequence[str], names: NameMapping) -> StatementLineage | None:
    """What a statement's plans say became of a name; None where they say nothing of the kind."""
    for description in descriptions:
        if not DDL.search(description[:400]):
            continue
        root = parse_plan_text(description).physical
        for node in root.walk() if root is not None else ():
            change = _change_of(node, names)
            if change is not None:
                return StatementLineage(change.kind, (), (change,))
    return None


def _change_of(node: PlanNode, names: NameMapping) -> TableChange | None:
    """A node's change; temporary views and catalogs that the plan does not name have none."""
    kind = kind_of(node)
    if kind in V2_KINDS:
        found = _catalog_names(node.args, names)
        return _v2_change(kind, node.args, *found) if found is not None else None
    old = quoted_parts(node.args)
    if len(old) < QUALIFIED - 1:
        return None
    if kind == "DropTableCommand":
        return TableChange(StatementKind.DROP, names.table(old))
    if kind == "AlterTableRenameCommand":
        new = _new_name(node.args, old)
        return TableChange(StatementKind.RENAME, names.table(old), other=names.table(new)) if new else None
    return None


def _v2_change(kind: str, args: str, name: TableName, other: TableName | None) -> TableChange | None:
    """What a command of a V2 catalog changes."""
    if kind == "RenameTable":
        return TableChange(StatementKind.RENAME, name, other=other) if other is not None else None
    return _column_changes(args, name) if kind == "AlterTable" else TableChange(StatementKind.DROP, name)


def _column_changes(args: str, table: TableName) -> TableChange | None:
    """The columns that an ALTER TABLE of a V2 catalog adds, drops and renames; None where it says nothing of any.

    A path with a dot is a field inside a column, or a name that cannot be told from one: that changes no column. Spark
    4.0 and older print the changes as objects without content.
    """
    listed = _CHANGES.search(args)
    items = _NEXT_CHANGE.split(listed["changes"]) if listed and listed["changes"] is not None else []
    added = [Column(found["name"], found["type"].lower()) for item in items if (found := _ADDED.fullmatch(item))]
    dropped = [found["name"] for item in items if (found := _DROPPED.fullmatch(item))]
    renamed = [(found["old"], found["new"]) for item in items if (found := _RENAMED.fullmatch(item))]
    if not (added or dropped or renamed):
        return None
    change = TableChange(StatementKind.ALTER_TABLE, table, tuple(added))
    return replace(change, dropped_columns=tuple(dropped), renamed_columns=tuple(renamed))


def _new_name(args: str, old: tuple[str, ...]) -> tuple[str, ...]:
    """The new name, which leaves out what it has in common with the old one."""
    behind = _BEHIND_NAME.match(args)
    new = quoted_parts(args[behind.end() :]) if behind else ()
    return (*old[: len(old) - len(new)], *new) if new else ()


# Clones of Delta tables: the plan of the command names the target, and reading the source's log tells the source.

CLONE = "CloneTableCommand"
_CLONE_HINT = re.compile(rf"\b{CLONE}\b")
_SHOWN = 8000
"""Characters of a plan in which the command stands: it is the root."""

_LOCATION_OF_CLONE = re.compile(r", (?P<location>[^,\s\[\]]++), (?:Create|Replace|CreateOrReplace), (?:true|false), \[")
_WORD = re.compile(r"[^\s,\[\]]++")
_SCHEME = re.compile(r"\w++:/")


def clone_lineage(descriptions: Sequence[str], names: NameMapping) -> StatementLineage | None:
    """The lineage of a statement whose executions printed these plans, where it clones a table.

    None where it is no clone, and where the executions do not read exactly one other table's log.
    """
    for description in descriptions:
        if not _CLONE_HINT.search(description, 0, _SHOWN):
            continue
        node = _clone_node(description)
        found = _LOCATION_OF_CLONE.search(node.args) if node is not None else None
        if node is None or found is None:
            continue
        own = clean_location(found["location"])
        read = {clean_location(log) for each in descriptions for log in _logs_in(each)} - {own}
        target = _target(quoted_parts(node.args), names)
        if target is None or len(read) != 1:
            return None
        source = names.path(read.pop())
        write = Target(target, WriteMode.CREATE, by_name=True)
        flow = Flow(write, (Output("*", star=StarOutput(source)),), sources=(source,))
        return StatementLineage(StatementKind.CREATE_TABLE_AS, (flow,))
    return None


def _is_clone(node: PlanNode) -> bool:
    """Whether a node is the command that clones a table."""
    return kind_of(node) == CLONE or (kind_of(node) == "CreateDeltaTableCommand" and f" {CLONE} " in node.args)


def _clone_node(description: str) -> PlanNode | None:
    text = parse_plan_text(description)
    trees = [tree for tree in (text.analyzed, text.physical) if tree is not None]
    return next((node for tree in trees for node in tree.walk() if _is_clone(node)), None)


def _logs_in(description: str) -> Iterator[str]:
    """The places of the tables whose logs a plan reads."""
    for word in _WORD.findall(description):
        location, log, _ = word.partition("/_delta_log")
        if log and _SCHEME.match(location):
            yield location


def _target(parts: tuple[str, ...], names: NameMapping) -> TableName | None:
    if not parts:
        return None
    return names.path(parts[1]) if parts[0] == "delta" and "/" in parts[-1] else names.table(parts)


# Writes of which nothing could be told: a node that is not known here, or one whose target the plan does not name.

_WRITES = (
    r"\w*Insert\w*|\w*Writ(?:e|er|ing)\w*|Append(?!Columns)\w*|Overwrite\w*|\w*Replace\w*|\w*AsSelect\w*|"
    r"\w*MergeInto\w*|Update\w*|Delete\w*|Upsert\w*|Save\w*|LoadData\w*|CopyInto\w*|\w*Clone\w*|Restore\w*"
)
_WRITE = re.compile(f"(?:Atomic|Gpu|Photon)?(?:{_WRITES})")
_WRITE_HINT = re.compile(rf"^[ :+\-*~]*(?:\*\(\d+\) )?(?:Execute |{_WRITE.pattern}\b)", re.MULTILINE)
_ADMINISTRATIVE = re.compile(
    r"(?:Add|Alter|Analyze|Cache|Clear|Comment|Convert|Declare|Describe|Drop|Explain|Fetch|Generate|Get|Grant|List|Msck|"
    r"Optimize|Rename|Reorg|Repair|Refresh|Reset|Revoke|Set|Show|StreamingExplain|Truncate|Uncache|Unset|Use|Vacuum|"
    r"ExternalCommand)\w*"
)
"""Commands that move no rows between tables, whatever stands below them."""

_HARMLESS = re.compile(
    r"WriteFiles|(?:Atomic)?ReplaceTable|UpdateEventTime\w*|CacheTableAsSelect|Delete\w*|RestoreTable\w*|"
    r"(?:CreateOr)?Replace\w*(?:Branch|Tag|Field|Fields|Function|View|Namespace|Columns)|CreateOrReplace|SetWrite\w*"
)
"""Nodes that are named like writes: steps of others, definitions without rows, and what has no source to lose.

Iceberg's branches and tags name snapshots that there are; `WRITE ORDERED BY` says how later writes are to be laid out.

RESTORE puts a table back to rows that it had before.
"""

_KIND = re.compile(r"[A-Z]\w{1,80}")
_NOWHERE = re.compile(r"noop-table", re.IGNORECASE)
_LASTING = re.compile(r"(?!.*(?:Console|Memory|Foreach|Noop))(?:[\w.]*[.$])?(?P<kind>[A-Z]\w*)")
"""The description of a streaming query's sink that keeps rows, by its class."""


def unread_write(descriptions: Sequence[str], sink: str | None = None) -> str | None:
    """The kind of the write in plans, or into a stream's sink, of which no lineage was found; None of what only reads.

    A kind is the name of a class: it has no words of the user's in it.
    """
    if sink is not None:
        lasting = _LASTING.match(sink)
        return lasting.group("kind") if lasting and any(_may_write(each) for each in descriptions) else None
    for description in descriptions:
        if _WRITE_HINT.search(description):
            text = parse_plan_text(description)
            trees = [tree for tree in (text.analyzed, text.physical) if tree is not None]
            found = next((kind for tree in trees for kind in _write_kinds(tree)), None)
            if found is not None:
                return found
    return None


def _may_write(description: str) -> bool:
    """Whether a plan of a stream's batch may be of the rows that it writes.

    A format's source lists the files of a batch in executions of their own, and a batch without new rows reads nothing.
    """
    text = parse_plan_text(description)
    return not (reads_delta_log(text) or reads_nothing(text))


def _write_kinds(root: PlanNode) -> Iterator[str]:
    """The kinds of a tree's outermost nodes that write."""
    pending = [root]
    while pending:
        node = pending.pop()
        kind = kind_of(node)
        bare = kind.removeprefix("Execute ")
        below = [*node.inner, *node.children]
        if _is_clone(node):
            yield CLONE
            continue
        if _is_write(node) or (_KIND.fullmatch(bare) and _writes_rows(kind, bare, below)):
            if not _HARMLESS.fullmatch(bare) and not _NOWHERE.search(node.name):
                yield from _shown_kind(node, bare)
        elif kind != "CommandResult" and (kind == "Union" or kind not in OPERATORS):
            pending.extend(reversed(below))


def _shown_kind(node: PlanNode, bare: str) -> Iterator[str]:
    """The kind as it is told: for a stream's batch that of its sink, and nothing for a sink that keeps no rows."""
    if bare.startswith("WriteToMicroBatch"):
        lasting = _LASTING.match(node.args)
        if lasting is not None:
            yield lasting.group("kind")
    else:
        yield node.name.removeprefix("Execute ").partition(" ")[0].partition("(")[0]


def _writes_rows(kind: str, bare: str, below: Sequence[PlanNode]) -> bool:
    """Whether a node that is not known here writes, by its name and by whether it has a query."""
    if any(kind_of(node) == bare for node in below):
        return False  # the command itself stands below its execution
    if kind != bare and not _ADMINISTRATIVE.fullmatch(bare):
        return bool(below) or not bare.startswith("Create")
    return _WRITE.fullmatch(bare) is not None
