"""The nodes that write: what they write to, how, and the plan of what they write."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingestion.model import StatementKind, TableName, WriteMode
from ingestion.names.jdbc_urls import jdbc_url
from ingestion.plans.operators.evaluation import kind_of
from ingestion.plans.operators.scans import CATALOG_TABLE
from ingestion.plans.text.attributes import arguments, inside
from ingestion.plans.text.name_mapping import NameMapping, plain_parts, quoted_parts
from ingestion.plans.text.tree import PlanNode
from ingestion.plans.writes.v2 import DELTA_COMMANDS, V2_CREATES, V2_WRITES, delta_command, v2_create, v2_write
from ingestion.plans.writes.write import PlanWrite, query_of

MODES = {
    "Append": WriteMode.APPEND,
    "Overwrite": WriteMode.OVERWRITE,
    "ErrorIfExists": WriteMode.CREATE,
    "Ignore": WriteMode.CREATE,
}
_MODE = re.compile(r", (Append|Overwrite|ErrorIfExists|Ignore)(?=, |$|\))")
_LOCATION = re.compile(r"^(.*?), (?:\[[^\]]*\], )?(?:false|true)(?:, |$)", re.DOTALL)
_VIEW_COLUMNS = re.compile(r"(?:^|(?<=, ))\(((?:(?!, \().)*?),(?:None|Some\(.*?\))\)(?=, \(|$)", re.DOTALL)
_VIEW_KIND = re.compile(r", (PersistedView|LocalTempView|GlobalTempView)(?=, |$)")
_FLAGS_AT_END = re.compile(r"(?<!, true)(?<!, false)(?:, (?:true|false))++$")
_OPTIONS_OF_CACHE = {"]": re.compile(r", (?:true|false), \["), ")": re.compile(r", (?:true|false), Map\(")}
"""Where the options of a CACHE TABLE begin, by how they end."""
_OPTION = re.compile(r"[\[(, ](?:dbtable|path|table|topic)(?:=| -> )([^\],)]+)")
_OPTION_TABLE = re.compile(r"[\[(, ]dbtable(?:=| -> )([^\],)]+)")
_OPTION_URL = re.compile(r"[\[(, ]url(?:=| -> )(jdbc:[^\],)]+)")
_OPTION_PATH = re.compile(r"[\[(, ]path(?:=| -> )([^\],)]+)")

FILE_WRITE = "InsertIntoHadoopFsRelationCommand"
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
        if is_write(node):
            yield node
        elif kind_of(node) != "CommandResult":
            pending.extend(reversed([*node.inner, *node.children]))


def is_write(node: PlanNode) -> bool:
    kind = kind_of(node)
    bare = kind.removeprefix("Execute ")
    if kind != bare and not node.children and node.inner:
        return False  # the command itself stands below its execution
    return bare in WRITERS or bare in TABLE_CREATING


def _one_write(node: PlanNode, kind: str, names: NameMapping) -> PlanWrite | None:
    if kind in TABLE_CREATING:
        return _table_as_select(node, names)
    return WRITERS[kind](node, names)


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
        query_of(node),
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
    mode = _MODE.search(node.args)
    written = MODES[mode.group(1)] if mode else WriteMode.CREATE
    return PlanWrite(
        StatementKind.CREATE_TABLE_AS,
        written,
        names.table(parts) if parts else None,
        query_of(node),
        columns=_name_list(node.args),
    )


def _save_as_table(node: PlanNode, names: NameMapping) -> PlanWrite:
    """The outer command of saveAsTable: a name without a tree."""
    parts = quoted_parts(node.args)
    mode = _MODE.search(node.args)
    written = MODES[mode.group(1)] if mode else WriteMode.CREATE
    return PlanWrite(StatementKind.CREATE_TABLE_AS, written, names.table(parts) if parts else None, None)


def _create_view(node: PlanNode, names: NameMapping) -> PlanWrite:
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
        query_of(node),
        columns=columns,
        view=True,
        temporary=kind != "PersistedView",
        text=text,
    )


def _cache_as_select(node: PlanNode, names: NameMapping) -> PlanWrite:
    """CACHE TABLE x AS: a temporary name, the query as text only."""
    pieces = arguments(node.args)
    name = TableName((pieces[0],), pieces[0])
    text = node.args[len(pieces[0]) + 2 :]
    options = _OPTIONS_OF_CACHE.get(text[-1:])
    begun = options.search(text) if options is not None else None
    text = text[: begun.start()] if begun is not None else text
    return PlanWrite(StatementKind.CREATE_VIEW, WriteMode.CREATE, name, None, view=True, temporary=True, text=text)


def _hive_write(node: PlanNode, names: NameMapping) -> PlanWrite:
    parts = quoted_parts(node.args)
    overwrite = re.search(r", (true|false), (?:true|false)(?:, |$)", node.args)
    mode = WriteMode.OVERWRITE if overwrite and overwrite.group(1) == "true" else WriteMode.APPEND
    return PlanWrite(StatementKind.INSERT, mode, names.table(parts) if parts else None, query_of(node))


def _save_into_source(node: PlanNode, names: NameMapping) -> PlanWrite | None:
    """df.write to a source of its own: JDBC by its table, others by path."""
    mode = _MODE.search(node.args)
    written = MODES[mode.group(1)] if mode else WriteMode.APPEND
    table = _OPTION_TABLE.search(node.args)
    path = _OPTION_PATH.search(node.args)
    name: TableName | None = None
    if table:
        url = _OPTION_URL.search(node.args)
        place = jdbc_url(url.group(1)) if url else None
        name = names.jdbc(plain_parts(table.group(1).replace('"', "`")), place)
    location = names.path(path.group(1)) if path else None
    return PlanWrite(StatementKind.INSERT, written, name, query_of(node), location)


def _directory_write(node: PlanNode, names: NameMapping) -> PlanWrite:
    """INSERT OVERWRITE DIRECTORY."""
    found = re.search(r"(?:Location: |Some\(|path=)?((?:(?<![a-z0-9+.-])[a-z][a-z0-9+.-]*+:)?/[^,\])\s]++)", node.args)
    location = names.path(found.group(1)) if found else None
    return PlanWrite(StatementKind.INSERT, WriteMode.OVERWRITE, None, query_of(node), location)


WRITERS = {
    FILE_WRITE: _file_write,
    "SaveAsV1TableCommand": _save_as_table,
    "CreateViewCommand": _create_view,
    "CacheTableAsSelect": _cache_as_select,
    "InsertIntoHiveTable": _hive_write,
    "SaveIntoDataSourceCommand": _save_into_source,
    "InsertIntoDataSourceCommand": _hive_write,
    "InsertIntoDataSourceDirCommand": _directory_write,
    "InsertIntoHiveDirCommand": _directory_write,
    **dict.fromkeys(V2_WRITES, v2_write),
    **dict.fromkeys(V2_CREATES, v2_create),
    **dict.fromkeys(DELTA_COMMANDS, delta_command),
}
