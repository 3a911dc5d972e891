"""Writes through Spark's V2 interface: Iceberg, Delta Lake and other catalogs' tables."""

from __future__ import annotations

import re

from ingestion.model import StatementKind, TableName, WriteMode
from ingestion.plans.operators.evaluation import kind_of
from ingestion.plans.operators.scans import CATALOG_TABLE, jdbc_table, v2_name
from ingestion.plans.text.name_mapping import QUALIFIED, NameMapping, plain_parts, quoted_parts
from ingestion.plans.text.tree import PlanNode
from ingestion.plans.writes.write import PlanWrite, query_of

ROW_PLACE = "_pos"
"""The metadata column of Iceberg's by which a row operation finds a row in its file."""
ROW_SCANS = ("BatchScan", "RelationV2", "DataSourceV2Relation")
V2_WRITES = {
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
V2_CREATES = (
    "CreateTableAsSelect",
    "AtomicCreateTableAsSelect",
    "ReplaceTableAsSelect",
    "AtomicReplaceTableAsSelect",
)
DELTA_COMMANDS = (
    "MergeIntoCommand",
    "UpdateCommand",
    "DeleteCommand",
    "DeltaDynamicPartitionOverwriteCommand",
)

_TABLE_OPTION = re.compile(r"\btable=([^\s,()]+)")
_RELATION = re.compile(r"RelationV2\[(?P<columns>.*?)\] (?P<name>[^\s,]+)", re.DOTALL)
_QUOTED = re.compile(r"`[^`]+`\.`")
_LOCATED = re.compile(r"(?:Location: |DeltaTableV2\([^,]*,|Delta\[version=[^,]*, )([a-z][a-z0-9+.-]*:/[^\s,\])]+)")
_NAME = r"(?:`(?:[^`]|``)+`|[^\s,`])+"
_CREATED = re.compile(
    r"^(?:\[[^\[\]]*\], )?"  # Databricks lists first what the command gives back: [num_affected_rows#1L, …]
    r"(?:V2SessionCatalog\((?P<session>[\w-]+)\)|(?P<class>[\w.$]+@[0-9a-f]+|[\w.-]+)), "
    rf"(?P<name>{_NAME})(?:, (?P<other>{_NAME})(?=,|$))?"
)


def v2_write(node: PlanNode, names: NameMapping) -> PlanWrite | None:
    """Appends, overwrites and rewritten row operations of V2 tables; None for a stream's sink that is no table."""
    kind = kind_of(node).removeprefix("Execute ")
    mode = V2_WRITES[kind]
    name, partial = _v2_target(node, names)
    if name is None and kind in _STREAMS:
        return None
    if name is None and mode is WriteMode.UPDATE:
        name = _rewritten_table(node, names)
    query = query_of(node)
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
    scans = (leaf for leaf in node.walk() if kind_of(leaf) in ROW_SCANS and not leaf.children)
    found = {v2_name(leaf, names) for leaf in scans if f"{ROW_PLACE}#" in leaf.fields.get("Output", leaf.args)}
    return found.pop() if len(found) == 1 else None


def v2_create(node: PlanNode, names: NameMapping) -> PlanWrite:
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
    return PlanWrite(StatementKind.CREATE_TABLE_AS, WriteMode.CREATE, name, query_of(node), outputs=node.args)


def catalog_names(args: str, names: NameMapping) -> tuple[TableName, TableName | None] | None:
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


def delta_command(node: PlanNode, names: NameMapping) -> PlanWrite:
    """Delta Lake's own commands: each names its table in its arguments."""
    kind = kind_of(node).removeprefix("Execute ")
    if kind == "DeltaDynamicPartitionOverwriteCommand":
        relation = _RELATION.search(node.args)
        columns = tuple(part.rpartition("#")[0] for part in relation.group("columns").split(", ")) if relation else None
        name = names.table(plain_parts(relation.group("name"))) if relation else None
        return PlanWrite(StatementKind.INSERT, WriteMode.OVERWRITE, name, query_of(node), columns=columns)
    quoted = _QUOTED.search(node.args)
    located = _LOCATED.search(node.args)
    name = None
    if quoted:
        name = names.table(quoted_parts(node.args[quoted.start() :]))
    elif located:
        name = names.path(located.group(1))
    if kind == "MergeIntoCommand":
        return PlanWrite(StatementKind.MERGE, WriteMode.UPDATE, name, None, row_operation=True, merge=node.args)
    statement = StatementKind.UPDATE if kind == "UpdateCommand" else StatementKind.DELETE
    return PlanWrite(statement, WriteMode.UPDATE, name, query_of(node), row_operation=True)
