"""A dbt project as SQL to read: its models as statements under the names that they have in the warehouse."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from connectors.dbt.model_statements import DbtProject, python_models
from connectors.dbt.nodes import DbtNode, ResourceKind
from connectors.dbt.projects import is_project, open_project
from ingestion.parser import TableSchema
from ingestion.parsing.sandbox.process import Limits

TableEdges = tuple[tuple[str, str], ...]
"""Pairs of a table that is read and the table that it goes into."""


@dataclass(frozen=True, slots=True)
class UndeclaredReads:
    """Where the SQL of models and what dbt was told of them (`depends_on`) differ, a line each."""

    hard_coded: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()

    def lines(self) -> Iterator[str]:
        yield from (f"hard-coded reference: {one}" for one in self.hard_coded)
        yield from (f"reference without use: {one}" for one in self.unused)


def dbt_project(name: str, dialect: str | None, timeout_seconds: float) -> DbtProject | None:
    """The dbt project at the path `name`, None where there is none. Raises ConfigError, UnreadableArtifact."""
    path = Path(name)
    if name == "-" or not is_project(path):
        return None
    return open_project(path, dialect, Limits(seconds=timeout_seconds))


def schema_of(project: DbtProject) -> dict[str, TableSchema]:
    """The columns of what no statement of the project makes, as far as they are known."""
    return {table: {column.name: column.type for column in columns} for table, columns in project.columns.items()}


def in_warehouse(project: DbtProject, column: str) -> str:
    """A column's name with the table of its model where it names the model, which may bear another name there."""
    model, _, last = column.rpartition(".")
    found = [
        node
        for node in project.nodes.values()
        if node.name == model and node.relation and node.kind is not ResourceKind.SOURCE
    ]
    return f"{found[0].dotted}.{last}" if len(found) == 1 else column


def table_edges(project: DbtProject) -> TableEdges:
    """What Python models read, of which nothing but that is known."""
    return tuple((source.dotted, node.dotted) for node, read in python_models(project) for source in read)


def undeclared_reads(project: DbtProject, read: TableEdges) -> UndeclaredReads:
    """`read` has what the SQL of the models reads, as their parse tells it, against what dbt was told.

    An ephemeral model stands for what it reads itself.
    """
    by_name = {node.dotted.lower(): node for node in project.nodes.values() if node.relation}
    declared = {node.dotted.lower(): declared_names(project, node) for node in project.nodes.values() if node.relation}
    models = {statement.node.dotted.lower() for statement in project.statements}
    found: dict[str, set[str]] = {}
    for source, target in read:
        found.setdefault(target.lower(), set()).add(source.lower())
    hard_coded = [
        f"{by_name[target].name} reads {source}"
        for target, sources in found.items()
        if target in models
        for source in sorted(sources - declared[target] - {target})
    ]
    unused = [
        f"{by_name[target].name} declares {source}"
        for target in sorted(models & found.keys())
        for source in sorted(declared[target] - found[target] - {target})
    ]
    return UndeclaredReads(tuple(hard_coded), tuple(unused))


def declared_names(project: DbtProject, node: DbtNode) -> set[str]:
    """The tables that a node depends on as dbt was told, in lower case; an ephemeral model stands for what it reads."""
    names: set[str] = set()
    waiting = list(node.depends_on)
    for unique_id in waiting:
        found = project.nodes.get(unique_id)
        if found is not None and found.ephemeral:
            waiting += [other for other in found.depends_on if other not in waiting]
        elif found is not None:
            names.add(found.dotted.lower())
    return names
