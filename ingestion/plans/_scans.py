"""The leaves of plans: scans of tables, files, JDBC sources and frames."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ingestion.analysis.roles import FILTER, is_direct, role_of, unite_roles
from ingestion.model.lineage import ColumnRef, Problem, Reference, TableName
from ingestion.model.outcomes import ProblemKind
from ingestion.plans._evaluation import CUT, Evaluation
from ingestion.plans._expressions import AttributeScope, read_influences
from ingestion.plans._relation import (
    MISSING,
    NOTHING,
    Attribute,
    AttributeLineage,
    Element,
    IndirectUse,
    PlanRelation,
    attribute_list,
    base_column,
    is_truncated,
    unite_lineages,
)
from ingestion.plans._tree import PlanNode
from ingestion.plans.names import NameMapping, plain_parts, quoted_parts

_ROWS = """
    LocalTableScan LocalRelation OneRowRelation Range EmptyRelation DummyRelation CommandResult RateStreamRelation
    MultiInstanceRelation ExpressionEncoder ShowTables ShowNamespaces
"""
ROWS = frozenset(_ROWS.split())
"""Leaves whose rows come from no table."""

LOCATION = re.compile(r"\b\w++(?:\(\d++ paths?\))? ?\[(?P<paths>[^\]]*+)(?:\]|(?P<open>\Z))")
"""`InMemoryFileIndex(2 paths)[s3://b/a, s3://b/b]`; open at its end where Spark cut the list."""
_JDBC_RELATION = re.compile(r"\bJDBCRelation\((?P<what>.*?)\)(?: \[numPartitions=\d+\]|$)", re.DOTALL)
"""`JDBCRelation(shop.orders) [numPartitions=1]`: what stands in it is a name or a query, as dbtable was given."""
_FORMAT = re.compile(r"[\w.$-]+")
"""What stands before a table's name; the relation of a library may be printed with all its options, passwords too."""
_JDBC_BEHIND = re.compile(r" JDBCRelation\(.*\)(?: \[numPartitions=\d+\])?$", re.DOTALL)
_JDBC_TABLE = re.compile(r"JDBCTable\((.+?),StructType\(")
"""A table of Spark's own JDBC catalog: `JDBCTable(shop.orders,StructType(…`."""
_JDBC_CATALOG = "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog"
_HIVE_COLUMNS = re.compile(r"(?:Data|Partition) Cols: (?=\[)")
_END_OF_LIST = re.compile(r"\](?=, |\])")
_OWN_FILTERS = ("PartitionFilters", "RequiredDataFilters")
"""The filters of a scan that no Filter node repeats."""

_PUSHED = re.compile(r"\bfilters=(.*?)(?:, (?:runtimeFilters|groupedBy|caseSensitive)=|(?P<open>\Z))", re.DOTALL)
"""The filters that an Iceberg scan applies itself: no Filter node repeats those of partitions."""

_DESCRIBED = re.compile(r"(?P<name>(?=[^\s/]+?\.[^\s/])[^\s/]++) \(branch=")
"""How a stream's scan of an Iceberg table tells its name."""

V2_KINDS = ("RelationV2", "DataSourceV2", "StreamingDataSourceV2", "BatchScan", "MicroBatchScan")
_V2_FILES = re.compile(
    r"(?:\w+Table\()?[a-z]\w* (?P<paths>(?:[a-z][a-z0-9+.-]*:)?/.*?)(?=,org\.apache\.spark\.|,? \.\.\. |$)", re.DOTALL
)
"""`parquet s3://b/a,org.apache.spark.sql…` or `ParquetTable(parquet s3://b/a …`: a file source of version 2."""
_NEXT_FILE = re.compile(r",(?=[a-z][a-z0-9+.-]*:/)")
_NEXT_PATH = re.compile(r", (?=[a-z][a-z0-9+.-]*:/|/|\.\.\.)")
_CUT_PATH = re.compile(r"\.\.\.(?:, |$)")
"""Spark ends a long list of paths, and a path in it, with three dots."""
_MORE_PATHS = Problem(ProblemKind.UNSUPPORTED, "more paths")
"""A scan of several paths of which Spark printed only the first ones."""

CATALOG_TABLE = re.compile(r"(?:^|\n)(?:Catalog: (?P<catalog>.+)\n)?Database: (?P<database>.+)\nTable: (?P<table>.+)")
"""The lines that describe a table of a catalog, which not every release names."""

_CHANGE_FEED = re.compile(r"DeltaCDFRelation\(.*?\bpath=(?P<path>\S+?)/_delta_log\b", re.DOTALL)
"""A scan of Delta's change data feed: its name is the whole snapshot, and at its end the table's where it has one."""
_CHANGE_FILES = ("TahoeChangeFileIndex", "CdcAddFileIndex", "TahoeRemoveFileIndex")
CHANGE_COLUMNS = frozenset(("_change_type", "_commit_version", "_commit_timestamp"))
"""What the feed says of each row's change: that is no column of the table's."""

_FILE_METADATA = "_metadata"
_ROW_METADATA = frozenset(("_file", "_pos", "_spec_id", "_partition", "_deleted"))
"""Columns of where a row stands, which no table stores: Spark's own of files, the last of a relation, and Iceberg's."""
_OBJECT = re.compile(r"[\w.$]+@[0-9a-f]+")
"""A Java object that has no name of its own."""

_CTE_REFERENCE = re.compile(r"^(\d+), (?:true|false), (\[.*?\])(?:, (?:true|false|\d+|None|Some).*)?$", re.DOTALL)


def leaf(node: PlanNode, kind: str, evaluation: Evaluation) -> PlanRelation:
    """The relation of a leaf, an operator without children; `kind` is its name without what the plan adds to it."""
    if kind == "CTERelationRef":
        return _cte_reference(node, evaluation)
    if kind == "UnionLoopRef" and evaluation.loop is not None:
        return relation_with_columns(_outputs(node, kind), evaluation.loop)
    if kind == "ReusedExchange":
        return _reused_exchange(node, evaluation)
    columns = _outputs(node, kind)
    if kind in ROWS or is_empty(node):
        return PlanRelation([Attribute(item.id, item.name) for item in columns])
    if kind in ("LogicalRDD", "ExternalRDD") or node.name.startswith(("Scan ExistingRDD", "Scan[obj")):
        return _remembered_rows(columns, evaluation)
    if (sent := _sent_query(node)) and (rows := _rows_of_query(sent, columns, evaluation)) is not None:
        return rows
    found_names = _source_names(node, kind, columns, evaluation)
    problems = [CUT] if is_truncated(node.fields.get("Output", "") or node.args) else []
    if not found_names:
        problems = [*problems, Problem(ProblemKind.UNSUPPORTED, kind)]
        return PlanRelation([Attribute(item.id, item.name, MISSING) for item in columns], problems=tuple(problems))
    if None in found_names:
        problems = [*problems, _MORE_PATHS]
    sources = {name: None for name in found_names if name is not None}
    unstored = _unstored_columns(node, kind, columns)
    made = [
        Attribute(item.id, item.name, unite_lineages(base_column(ColumnRef(name, item.name)) for name in sources))
        if item.name not in unstored
        else Attribute(item.id, item.name)
        for item in columns
    ]
    relation = PlanRelation(made, frozenset(), sources, tuple(problems))
    filters = " ".join(node.fields.get(field, "") for field in _OWN_FILTERS)
    found = read_influences(filters, AttributeScope(relation.scope), FILTER)
    pushed = _PUSHED.search(node.fields.get("Description", ""))
    if pushed and pushed["open"] is None:
        found |= {
            (ColumnRef(name, item.name), FILTER)
            for name in sources
            for item in columns
            if re.search(rf"(?:^|, |\(|NOT )`?{re.escape(item.name)}`? (?:IS|=|!=|<|>|IN|NOT|STARTS)", pushed.group(1))
        }
    return relation.with_attributes(made, found) if found else relation


# Queries that Spark sends to a database: `JDBCRelation((select k from orders) SPARK_GEN_SUBQ_0)`.


def _sent_query(node: PlanNode) -> str:
    """The text of the query whose rows a leaf reads over JDBC; "" where it reads a table, or something else."""
    match = _JDBC_RELATION.search(node.name) or _JDBC_RELATION.search(node.args)
    what = match.group("what").strip() if match else ""
    return what[1 : what.rfind(")")] if what.startswith("(") else ""


def _rows_of_query(text: str, columns: list[Element], evaluation: Evaluation) -> PlanRelation | None:
    """The rows of a query, from what its text says; None where that cannot be read.

    Without the database's schema a star stands for every column that no other output of the query has the name of.
    """
    lineage = evaluation.query_lineage(text)
    if lineage is None or len(lineage.flows) != 1:
        return None
    (flow,), names = lineage.flows, evaluation.names
    named = {output.name.casefold(): output for output in flow.outputs if output.star is None}
    stars = [output.star.table for output in flow.outputs if output.star is not None]
    made: list[Attribute] = []
    for item in columns:
        output = named.get(item.name.casefold())
        if output is not None:
            value = _of_references(output.references, names)
        else:
            value = unite_lineages(base_column(ColumnRef(_remote(table, names), item.name)) for table in stars)
            value = replace(value, opaque=len(stars) > 1, incomplete=not stars)
        made.append(Attribute(item.id, item.name, value))
    rows = _of_references(flow.indirect, names)
    sources = {_remote(table, names): None for table in flow.sources}
    return PlanRelation(made, rows.indirect, sources, lineage.problems)


def _of_references(references: Sequence[Reference], names: NameMapping) -> AttributeLineage:
    """The value that a query's text makes of these; a name that may mean several columns leaves it uncertain."""
    direct: dict[ColumnRef, int] = {}
    indirect: set[IndirectUse] = set()
    for reference in references:
        role = role_of(reference.transformation)
        for column in reference.sources:
            source = ColumnRef(_remote(column.table, names), column.column)
            if is_direct(role):
                direct[source] = unite_roles(direct.get(source, role), role)
            else:
                indirect.add((source, role))
    texts = [reference.expression for reference in references if reference.expression]
    return AttributeLineage(
        direct, frozenset(indirect), texts[0] if texts else "", not all(each.certain for each in references)
    )


def _remote(table: TableName, names: NameMapping) -> TableName:
    return names.jdbc(plain_parts(str(table).replace('"', "`")))


def is_empty(node: PlanNode) -> bool:
    """Whether a leaf is one of no rows, which Delta puts beside what changed."""
    return node.name.startswith(("Scan ExistingRDD", "LogicalRDD", "ExternalRDD")) and "], EmptyRDD[" in node.args


def _unstored_columns(node: PlanNode, kind: str, columns: list[Element]) -> frozenset[str]:
    """The columns of a leaf that say where a row stands, or how it changed: no table has them."""
    if "DeltaCDFRelation(" in node.name + node.args or node.fields.get("Location", "").startswith(_CHANGE_FILES):
        return CHANGE_COLUMNS
    if kind.startswith(V2_KINDS):
        return _ROW_METADATA
    return frozenset(item.name for item in columns[-1:] if item.name == _FILE_METADATA)


def _outputs(node: PlanNode, kind: str) -> list[Element]:
    """The attributes that a leaf gives, however it prints them."""
    if "Output" in node.fields:
        return attribute_list(node.fields["Output"])
    args = node.args
    if kind == "Relation":
        listed = _JDBC_BEHIND.sub("", args)
        listed = listed[listed.find("[") : listed.rfind("]") + 1]
        return attribute_list(listed, ",") if listed.startswith("[") else []
    if kind == "HiveTableRelation":
        return [item for text in _column_lists(args) for item in attribute_list(text)] or _first_list(args)
    return _first_list(args)


def _column_lists(args: str) -> Iterator[str]:
    """The bracketed lists of a Hive table's columns, those of its data before those of its partitions."""
    start = 0
    while (begun := _HIVE_COLUMNS.search(args, start)) and (ended := _END_OF_LIST.search(args, begun.end())):
        yield args[begun.end() : ended.end()]
        start = ended.end()


def _first_list(args: str) -> list[Element]:
    """The first bracketed list of attributes in an argument text."""
    for found in re.finditer(r"\[(?:[^\[]*?#\d+L?(?:-T\d+ms)?)(?=\]|, \.\.\. )", args):
        return attribute_list(found.group() + "]", ", " if ", " in found.group() else ",")
    return []


def _remembered_rows(columns: list[Element], evaluation: Evaluation) -> PlanRelation:
    """Rows held by the application: a checkpoint whose ids an earlier plan explains, or data that no plan does."""
    batch = evaluation.batch
    if batch is not None and [item.name for item in columns] == [item.name for item in batch.attributes]:
        return relation_with_columns(columns, batch)
    made: list[Attribute] = []
    sources: dict[TableName, None] = {}
    unknown = False
    for item in columns:
        known = evaluation.remembered.get(item.id)
        unknown |= known is None
        made.append(Attribute(item.id, item.name, known.lineage if known else NOTHING))
        if known:
            sources.update({column.table: None for column in known.lineage.columns})
    problems = (Problem(ProblemKind.UNSUPPORTED, "LogicalRDD"),) if unknown else ()
    return PlanRelation(made, frozenset(), sources, problems)


def _cte_reference(node: PlanNode, evaluation: Evaluation) -> PlanRelation:
    match = _CTE_REFERENCE.match(node.args)
    definition = evaluation.ctes.get(int(match.group(1))) if match else None
    columns = attribute_list(match.group(2)) if match else _first_list(node.args)
    if definition is None:
        return PlanRelation([Attribute(item.id, item.name, MISSING) for item in columns], problems=(CUT,))
    return relation_with_columns(columns, definition)


def _reused_exchange(node: PlanNode, evaluation: Evaluation) -> PlanRelation:
    """An exchange read twice: other ids for the same columns, by position."""
    number = re.search(r"operator id: (\d+)", node.name + node.args)
    columns = attribute_list(node.fields.get("Output", ""))
    original = evaluation.by_number.get(int(number.group(1))) if number else None
    if original is None:
        return PlanRelation([Attribute(item.id, item.name, MISSING) for item in columns], problems=(CUT,))
    return relation_with_columns(columns, original)


def relation_with_columns(columns: list[Element], original: PlanRelation) -> PlanRelation:
    made = [
        Attribute(item.id, item.name, original.attributes[i].lineage if i < len(original.attributes) else MISSING)
        for i, item in enumerate(columns)
    ]
    return original.with_attributes(made)


# Names in the arguments of a scan.


def _source_names(
    node: PlanNode, kind: str, columns: list[Element], evaluation: Evaluation
) -> tuple[TableName | None, ...]:
    """The table or the paths that a leaf reads, None standing for others; none for a leaf that names neither."""
    if files := _v2_files(node, kind):
        return tuple(dict.fromkeys(evaluation.names.path(path) for path in files))
    name = _source_name(node, kind, evaluation)
    if name is not None:
        return (name,)
    paths = next((evaluation.paths[item.id] for item in columns if item.id in evaluation.paths), "")
    return _location_names(node.fields.get("Location") or paths, evaluation.names)


def _source_name(node: PlanNode, kind: str, evaluation: Evaluation) -> TableName | None:
    """The table that a leaf reads; None for a leaf that names none."""
    names = evaluation.names
    if kind in ("LogicalRelation", "Relation", "HiveTableRelation"):
        return _logical_name(node, kind, names)
    if kind.startswith(V2_KINDS):
        return v2_name(node, names)
    if kind == "Scan" or kind.startswith("FileScan"):
        return _scan_name(node, names)
    return None


def _scan_name(node: PlanNode, names: NameMapping) -> TableName | None:
    """`Scan parquet db.t`, `Scan hive db.t`, `Scan JDBCRelation(t)`, or a path's location."""
    match = _JDBC_RELATION.search(node.name) or _JDBC_RELATION.match(node.args)
    if match:
        return _jdbc_name(match.group("what"), names)
    if " JDBC v1 Relation from v2 scan " in node.name:
        return names.table(plain_parts(node.name.rpartition(" ")[2]))
    if feed := _CHANGE_FEED.search(node.name):
        behind = node.name.rpartition(") ")[2].strip()
        return names.table(plain_parts(behind)) if "." in behind else names.path(feed.group("path"))
    words = node.name.split(" ", 2)
    if len(words) > 2 and words[2].strip() and _FORMAT.fullmatch(words[1]):
        return names.table(plain_parts(words[2].strip()))
    return None


def _location_names(text: str, names: NameMapping) -> tuple[TableName | None, ...]:
    """The paths of a scan, each once; None stands for those that Spark left out or cut. None at all without a path."""
    match = LOCATION.search(text)
    found: list[TableName | None] = []
    for path in _NEXT_PATH.split(match.group("paths")) if match and match["open"] is None else ():
        if path.startswith("...") or _CUT_PATH.search(path):
            return (*dict.fromkeys(found), None) if found else ()
        if path:
            found.append(names.path(path))
    return tuple(dict.fromkeys(found))


def _jdbc_name(what: str, names: NameMapping) -> TableName | None:
    """A JDBC table by name; a query sent to the database names no table that a plan could tell."""
    if what.lstrip().startswith("("):
        return None
    return names.jdbc(plain_parts(what.strip().replace('"', "`")))


def jdbc_table(args: str, names: NameMapping) -> TableName | None:
    """The table of a JDBC catalog, which prints the catalog's class at most; None where `args` begin otherwise."""
    match = _JDBC_TABLE.match(args)
    if match is None:
        return None
    catalog = names.of_class(_JDBC_CATALOG)
    parts = plain_parts(match.group(1).replace('"', "`"))
    return names.jdbc(parts) if catalog is None else names.table((catalog, *parts))


def _logical_name(node: PlanNode, kind: str, names: NameMapping) -> TableName | None:
    """The table of a logical leaf: `Relation spark_catalog.db.t[a#1] parquet`, or a `HiveTableRelation` with quotes."""
    args = node.args
    match = _JDBC_RELATION.search(args)
    if match:
        return _jdbc_name(match.group("what"), names)
    if kind == "Relation":
        named = args.partition("[")[0].strip()
        return names.table(plain_parts(named)) if named else None
    quoted = re.search(r"`[^`]+`\.`", args)
    if quoted:
        return names.table(quoted_parts(args[quoted.start() :]))
    catalog = CATALOG_TABLE.search(args)
    if catalog:
        parts = (catalog.group("catalog"), catalog.group("database"), catalog.group("table"))
        return names.table(tuple(part for part in parts if part))
    return None


def _v2_files(node: PlanNode, kind: str) -> list[str]:
    """The paths of a scan of files through the V2 interface, which calls them a table by their format and paths."""
    if not kind.startswith(V2_KINDS):
        return []
    texts = (node.name.partition(" ")[2], node.args.rpartition("]")[2].strip(), node.args)
    found = next((match for text in texts if (match := _V2_FILES.match(text))), None)
    return _NEXT_FILE.split(found.group("paths")) if found else []


def v2_name(node: PlanNode, names: NameMapping) -> TableName | None:
    """The table of a V2 read: in the node's name, or behind its attribute list."""
    words = node.name.split(" ")
    if len(words) > 1 and words[1]:
        if _OBJECT.fullmatch(words[1]):
            return None
        by_path = re.match(r"^(?:[a-z][a-z0-9+.-]*:)?/", words[1])
        return names.path(words[1]) if by_path else names.table(plain_parts(words[1]))
    if table := jdbc_table(node.args, names):
        return table
    if described := _DESCRIBED.match(node.fields.get("Description", "")):
        return names.table(plain_parts(described.group("name")))
    behind = node.args.rpartition("]")[2] if "[" in node.args else node.args
    if not behind.strip() and "[" in node.args:
        behind = node.args.partition("[")[0]
    named = behind.strip(" ,").split(" ")[0]
    return names.table(plain_parts(named)) if named and not _OBJECT.fullmatch(named) else None
