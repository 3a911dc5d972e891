"""What a change of a dbt project does: two manifests, their columns and edges compared, what it reaches; and both as
one document for the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from connectors.dbt.model_statements import DbtProject
from connectors.dbt.nodes import ResourceKind
from connectors.dbt.projects import open_project
from connectors.sql_files.dbt_models import schema_of
from ingestion.errors import RecordError
from ingestion.model.lineage import Json, LineageType
from ingestion.model.outcomes import ProblemKind
from ingestion.parser import LineageParser
from ingestion.parsing.sandbox.process import Limits
from ingestion.walk import DIRECT, Hop, Walk


class ModelChangeKind(StrEnum):
    """What happened to a model, a source or a column of one.

    A source that is dropped is one that the project declares no more: its table is there all the same.
    """

    MODEL_ADDED = "model added"
    MODEL_DROPPED = "model dropped"
    SOURCE_ADDED = "source added"
    SOURCE_DROPPED = "source dropped"
    COLUMN_ADDED = "column added"
    COLUMN_DROPPED = "column dropped"
    COLUMN_REDEFINED = "column redefined"


@dataclass(frozen=True, slots=True)
class ModelChange:
    """One change. `reaches` are the columns made of it, however far; `broken` what still needs what is gone."""

    kind: ModelChangeKind
    name: str
    reaches: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ManifestDiff:
    """All changes, the breaking ones first; `unread` are models of either side of which nothing is known."""

    changes: tuple[ModelChange, ...]
    unread: tuple[str, ...] = ()

    @property
    def breaking(self) -> bool:
        return any(change.broken for change in self.changes)

    def to_json(self) -> dict[str, Any]:
        """The same as JSON."""
        return {
            "version": 1,
            "breaking": self.breaking,
            "changes": [
                {
                    "kind": str(change.kind),
                    "name": change.name,
                    "reaches": list(change.reaches),
                    "broken": list(change.broken),
                }
                for change in self.changes
            ],
            "unread": list(self.unread),
        }


@dataclass(frozen=True, slots=True)
class _Lineage:
    """A project's lineage: the columns of its models, and what each column is made of and how."""

    columns: Mapping[str, tuple[str, ...]]
    made_of: Mapping[str, frozenset[tuple[str, str]]]
    uses: Mapping[str, frozenset[str]]
    tables: frozenset[str]
    sources: frozenset[str] = frozenset()
    texts: Mapping[str, str] = field(default_factory=dict, repr=False)  # the query of each table
    unknown: frozenset[str] = frozenset()  # names of columns that no table has
    exposures: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of each table
    unread: tuple[str, ...] = ()

    def downstream(self, start: str) -> tuple[str, ...]:
        """The columns made of one, however far, the nearest first."""

        def hops(names: Sequence[str]) -> Iterator[Hop[str, None]]:
            return (Hop(name, target, DIRECT, None) for name in names for target in sorted(self.uses.get(name, ())))

        return tuple(Walk((start,), hops).finish().arrivals)[1:]


def manifest_diff(base: Path, head: Path, dialect: str | None, timeout_seconds: float) -> ManifestDiff:
    """What changes from the project at `base` to that at `head`. Raises ConfigError and UnreadableArtifact."""
    limits = Limits(seconds=timeout_seconds)
    before = _lineage(open_project(base, dialect, limits), timeout_seconds)
    after = _lineage(open_project(head, dialect, limits), timeout_seconds)
    changes = sorted(_changes(before, after), key=lambda change: (not change.broken, change.name))
    return ManifestDiff(
        tuple(changes), tuple(dict.fromkeys((*before.unread, *after.unread, *_unknown_columns(before, after))))
    )


def _unknown_columns(before: _Lineage, after: _Lineage) -> Iterator[str]:
    """Models that both sides have, and of whose columns one alone tells all: whether they changed nobody knows."""
    for table in sorted(before.tables & after.tables & (before.columns.keys() ^ after.columns.keys())):
        yield f"columns of {table}"


def _lineage(project: DbtProject, timeout_seconds: float) -> _Lineage:
    exposures: dict[str, list[str]] = {}
    for exposure in project.exposures:
        for unique_id in exposure.depends_on:
            if unique_id in project.nodes:
                exposures.setdefault(_lower(project.nodes[unique_id].dotted), []).append(exposure.name)
    unread = [str(failure) for failure in project.failures]
    made_of: dict[str, set[tuple[str, str]]] = {}
    uses: dict[str, set[str]] = {}
    columns: dict[str, tuple[str, ...]] = {}
    unknown: set[str] = set()
    text = "\n;\n".join(statement.text for statement in project.statements)
    try:
        parser = LineageParser(text, project.dialect, schema_of(project), timeout_seconds)
    except RecordError:
        unread += [statement.origin for statement in project.statements]
    else:
        unread += [f"{len(parser.failures)} statements of {project.name}"] if parser.failures else []
        columns = {_lower(table): tuple(map(_lower, names)) for table, names in parser.whole_columns.items()}
        problems = (one.subject for one in parser.problems if one.kind is ProblemKind.UNKNOWN_COLUMN)
        unknown = {_lower(subject).rpartition(".")[2] for subject in problems}
        for edge in parser.edges:
            source, target = _lower(edge.source), _lower(edge.target)
            uses.setdefault(source, set()).add(target)
            if edge.type is LineageType.DIRECT:
                made_of.setdefault(target, set()).add((source, edge.expression))
    return _Lineage(
        columns,
        {name: frozenset(sources) for name, sources in made_of.items()},
        {name: frozenset(targets) for name, targets in uses.items()},
        frozenset(_lower(node.dotted) for node in project.nodes.values() if node.relation),
        frozenset(_lower(node.dotted) for node in project.nodes.values() if node.kind is ResourceKind.SOURCE),
        {_lower(statement.node.dotted): statement.body for statement in project.statements},
        frozenset(unknown),
        {name: tuple(names) for name, names in exposures.items()},
        tuple(unread),
    )


def _changes(before: _Lineage, after: _Lineage) -> Iterator[ModelChange]:
    for table in sorted(before.sources - after.tables):
        yield ModelChange(ModelChangeKind.SOURCE_DROPPED, table)
    for table in sorted(after.sources - before.tables):
        yield ModelChange(ModelChangeKind.SOURCE_ADDED, table)
    for table in sorted(before.tables - after.tables - before.sources):
        columns = [f"{table}.{name}" for name in before.columns.get(table, ())]
        reaches = dict.fromkeys(one for column in columns for one in before.downstream(column))
        uses = [targets for source, targets in after.uses.items() if _table(source) == table]
        readers = sorted({_table(target) for targets in uses for target in targets})
        broken = (*readers, *_exposures_of(after, table))
        yield ModelChange(ModelChangeKind.MODEL_DROPPED, table, tuple(reaches), broken)
    for table in sorted(after.tables - before.tables - after.sources):
        yield ModelChange(ModelChangeKind.MODEL_ADDED, table)
    for table in sorted(before.columns.keys() & after.columns.keys()):
        yield from _column_changes(table, before, after)


def _column_changes(table: str, before: _Lineage, after: _Lineage) -> Iterator[ModelChange]:
    old, new = before.columns[table], after.columns[table]
    for name in old:
        column = f"{table}.{name}"
        if name not in new:
            broken = (*sorted(_still_needing(column, before, after)), *_exposures_of(after, table))
            yield ModelChange(ModelChangeKind.COLUMN_DROPPED, column, before.downstream(column), broken)
        elif before.made_of.get(column) != after.made_of.get(column):
            yield ModelChange(ModelChangeKind.COLUMN_REDEFINED, column, after.downstream(column))
    for name in new:
        if name not in old:
            yield ModelChange(ModelChangeKind.COLUMN_ADDED, f"{table}.{name}")


def _still_needing(column: str, before: _Lineage, after: _Lineage) -> Iterator[str]:
    """The columns that were made with one that is gone, in models that were not adapted to that."""
    name = column.rpartition(".")[2]
    for target in before.uses.get(column, frozenset()) | after.uses.get(column, frozenset()):
        table, _, made = target.rpartition(".")
        if made not in after.columns.get(table, ()):
            continue
        unchanged = before.texts.get(table) == after.texts.get(table)
        if target in after.uses.get(column, ()) or unchanged or name in after.unknown:
            yield target


def _exposures_of(lineage: _Lineage, table: str) -> Iterable[str]:
    return (f"exposure {name}" for name in lineage.exposures.get(table, ()))


def _table(column: str) -> str:
    return column.rpartition(".")[0]


def _lower(name: object) -> str:
    """A table or a column in lower case: whether dbt or the dialect writes it otherwise tells no two apart."""
    return str(name).lower()


# Two states of a dbt project as one document for the page: their lineage before and after, and what changed.

_OF_COLUMNS = frozenset(
    {ModelChangeKind.COLUMN_ADDED, ModelChangeKind.COLUMN_DROPPED, ModelChangeKind.COLUMN_REDEFINED}
)


def manifest_document(base: Path, head: Path, dialect: str | None, timeout_seconds: float) -> Json:
    """The graph of the project at `head`, with that of `base` as `before`, and the changes with what they break.

    `timeout_seconds` is for each parser on one statement. Raises ConfigError and UnreadableArtifact.
    """
    before, after = (_graph(path, dialect, timeout_seconds) for path in (base, head))
    names = {name.lower(): name for graph in (before, after) for name in _card_names(graph)}
    changes = []
    for change in manifest_diff(base, head, dialect, timeout_seconds).changes:
        table, _, column = change.name.rpartition(".") if change.kind in _OF_COLUMNS else (change.name, "", "")
        fields = {"kind": str(change.kind), "name": change.name, "entity": names.get(table, ""), "path": column}
        changes.append({**fields, "reaches": list(change.reaches), "broken": list(change.broken)})
    return {**after, "before": before, "changes": changes, "compared": f"{base.name} compared with {head.name}"}


def _graph(path: Path, dialect: str | None, timeout_seconds: float) -> dict[str, Any]:
    project = open_project(path, dialect, Limits(seconds=timeout_seconds))
    texts = [statement.text for statement in project.statements]
    from ingestion.graph import lineage_graph  # slow to load, as NetworkX is

    graph = lineage_graph(texts, project.dialect, schema_of(project), timeout_seconds)
    return graph.to_json()


def _card_names(graph: Json) -> list[str]:
    return [card["fullyQualifiedName"] for card in graph["nodes"]]
