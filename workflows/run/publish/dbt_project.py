"""What a run over a dbt project publishes beside lineage: models that are no more, what is said of them, warnings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property

from connectors.dbt.artifacts import NodeResult, read_run_results
from connectors.dbt.model_statements import DbtProject
from connectors.dbt.nodes import DbtNode, ResourceKind
from connectors.dbt.settings import DbtLineageConfig
from connectors.openmetadata.client import Platform
from connectors.sql_files.dbt_models import declared_names, undeclared_reads
from ingestion.binding.temporary_tables import PersistedFlow
from ingestion.model.contributions import ProducerKind
from ingestion.model.fqn import build_fqn
from ingestion.model.isolation import Probe
from ingestion.model.lineage import LineageType, StatementKind
from workflows.config.namespaces import SourceSettings
from workflows.run.bind.binding import LineageSource
from workflows.run.group.occurrences import OccurrenceGroup
from workflows.run.publish._dbt_filing import ProjectFiling
from workflows.state.acknowledgements import PublishedState

_JOB = "dbt "
_PASSING = "__dbt_"
"""Begins the ending of what dbt makes beside a relation, to put it in its place or to drop it."""
_DIFFERENCES_SHOWN = 3
_BUILT_WHOLE = frozenset({"table", "view", "materialized_view", "dynamic_table"})
"""Materializations whose statement is the model's query, and nothing else."""
_CREATING = frozenset({StatementKind.CREATE_TABLE_AS, StatementKind.CREATE_VIEW})
_FILLING = _CREATING | {StatementKind.INSERT, StatementKind.MERGE}
_WITH_QUERY = frozenset({ResourceKind.MODEL, ResourceKind.SNAPSHOT})
_Pair = tuple[str, str]
"""A column that is read (with its table), and the column that is made of it."""
_LINES_SHOWN = 5
_FAILED = frozenset({"fail", "error", "runtime error"})


# Where what ran in the warehouse differs from what the project says: a log and a manifest of the same models.
#
# A log names the node of each of dbt's statements. Of a node the latest statement counts that filled its relation.
# What is no drift is left out: other targets, which are other schemas; tests; what hooks write; the branches of
# incremental models, and the rows that snapshots keep, as long as they read what the project declares.


@dataclass(frozen=True, slots=True)
class _RelationWrite:
    """What one statement brings into a relation; all names in lower case. `columns` None: not all are known."""

    target: str
    at: float
    kind: StatementKind
    sources: frozenset[str]
    columns: frozenset[str] | None
    pairs: frozenset[_Pair] = field(repr=False)


@dataclass(frozen=True)
class LogDrift:
    """The models of a project beside the statements of a log that dbt ran, both bound in one `source`."""

    project: DbtProject
    source: LineageSource

    def lines(self) -> Iterator[str]:
        """A line for each model that differs, those first that ran since the project was compiled."""
        found = [(self._since(at), line) for at, line in (*self._of_models(), *self._of_unknown())]
        yield from (line for _since, line in sorted(found, key=lambda one: (not one[0], one[1])))

    def _of_models(self) -> Iterator[tuple[float, str]]:
        for unique_id, writes in self._writes_by_node.items():
            node = self.project.nodes.get(unique_id)
            if node is None or node.kind not in _WITH_QUERY:
                continue
            own = [one for one in writes if one.target == node.dotted.casefold()]
            run = _latest(node, own)
            definition = self._definitions.get(node.dotted.casefold())
            differences = _other_relation(node, writes) if not own else ()
            if run is not None and definition is not None:
                differences = tuple(_differences(self.project, node, run, definition))
            if differences:
                at = max(one.at for one in own or writes)
                yield at, f"{node.name} {self._when(at)}: {_difference_text(differences)}"

    def _of_unknown(self) -> Iterator[tuple[float, str]]:
        """Models of the project that ran since it was compiled and are not in it."""
        for unique_id, writes in self._writes_by_node.items():
            kind, _, name = unique_id.partition(".")
            at = max(one.at for one in writes)
            if unique_id in self.project.nodes or kind not in _WITH_QUERY or not self._since(at):
                continue
            if name.partition(".")[0] == self.project.name and not self._is_unread(unique_id):
                yield at, f"{unique_id} {self._when(at)}: the project has no such model"

    def _is_unread(self, unique_id: str) -> bool:
        return any(failure.node.unique_id == unique_id for failure in self.project.failures)

    def _since(self, at: float) -> bool:
        compiled = self.project.manifest.generated_at if self.project.manifest is not None else None
        return compiled is None or at >= compiled

    def _when(self, at: float) -> str:
        moment = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M")
        return f"is not what ran at {moment}" if self._since(at) else f"has changed since it ran at {moment}"

    @cached_property
    def _writes_by_node(self) -> dict[str, list[_RelationWrite]]:
        """What the log says that dbt wrote, by the unique id of the node."""
        found: dict[str, list[_RelationWrite]] = {}
        for flow in self.source.flows:
            group = self.source.group_of(flow)
            for unique_id in self._nodes_of(group):
                found.setdefault(unique_id, []).append(self._relation_write(flow, group))
        return found

    def _nodes_of(self, group: OccurrenceGroup) -> Iterator[str]:
        """The nodes that ran a statement; a tag may be no more than the node's id."""
        for job in group.jobs:
            if job.startswith(_JOB) or job in self.project.nodes:
                yield job.removeprefix(_JOB)

    @cached_property
    def _definitions(self) -> dict[str, _RelationWrite]:
        """What the project itself says of its relations, by their names."""
        flows = _project_flows(self.source)
        return {one.target: one for one in (self._relation_write(flow, self.source.group_of(flow)) for flow in flows)}

    @cached_property
    def _names(self) -> list[str]:
        return [str(relation.key).casefold() for relation in self.source.log.relations]

    def _relation_write(self, flow: PersistedFlow, group: OccurrenceGroup) -> _RelationWrite:
        names, content = self._names, flow.content
        target = names[flow.target]
        pairs = {
            (f"{names[one.relation]}.{one.column}".casefold(), column.casefold())
            for column, uses in content.columns.items()
            for use in uses
            if use.certain and use.transformation.type is LineageType.DIRECT
            for one in use.sources
        }
        return _RelationWrite(
            target,
            group.last_seen,
            self.source.log.statements[flow.statement].lineage.kind,
            frozenset(names[number] for number in content.sources) - {target},
            None if content.stars else frozenset(map(str.casefold, content.columns)),
            frozenset(pairs),
        )


def _project_flows(source: LineageSource) -> tuple[PersistedFlow, ...]:
    """What definitions say, which no record of a log does."""
    return tuple(flow for flow in source.flows if not source.group_of(flow).digests)


def _built_whole(node: DbtNode) -> bool:
    return node.kind is ResourceKind.MODEL and node.materialized in _BUILT_WHOLE


def _latest(node: DbtNode, writes: Iterable[_RelationWrite]) -> _RelationWrite | None:
    """The last statement that filled a relation, and no hook's: these make nothing anew, and give fewer columns."""
    filling = [one for one in writes if one.kind in _FILLING]
    if _built_whole(node):
        filling = [one for one in filling if one.kind in _CREATING] or filling
    else:
        widest = max((len(one.columns or ()) for one in filling), default=0)
        filling = [one for one in filling if len(one.columns or ()) == widest]
    return max(filling, key=lambda one: (one.at, len(one.columns or ())), default=None)


def _other_relation(node: DbtNode, writes: Iterable[_RelationWrite]) -> tuple[str, ...]:
    """Where a node's rows went by another name than its own; in another schema it ran for another target."""
    own = node.dotted.casefold()
    beside = [one for one in writes if one.kind in _CREATING and _schema(one.target) == _schema(own)]
    last = max(beside, key=lambda one: one.at, default=None)
    if last is None or any(one.target.startswith(f"{own}{_PASSING}") for one in beside):
        return ()
    return (f"it went to {last.target}, and the project's is {node.dotted}",)


def _schema(name: str) -> str:
    """The name without its last part: of a table its schema, of a column its table."""
    return name.rpartition(".")[0]


def _differences(project: DbtProject, node: DbtNode, run: _RelationWrite, definition: _RelationWrite) -> Iterator[str]:
    declared = {name.casefold() for name in declared_names(project, node)} | {node.dotted.casefold()}
    whole = _built_whole(node)
    yield from (
        f"only the run reads {name}"
        for name in sorted(run.sources - definition.sources)
        if whole or name not in declared
    )
    if not whole:
        return
    yield from (f"only the project reads {name}" for name in sorted(definition.sources - run.sources))
    if run.columns is None or definition.columns is None:
        return
    yield from (f"only the run makes {name}" for name in sorted(run.columns - definition.columns))
    yield from (f"only the project makes {name}" for name in sorted(definition.columns - run.columns))
    both, tables = run.columns & definition.columns, run.sources & definition.sources
    for who, pairs in (("run", run.pairs - definition.pairs), ("project", definition.pairs - run.pairs)):
        for source, column in sorted(pairs, key=lambda pair: (pair[1], pair[0])):
            if column in both and _schema(source) in tables:
                yield f"only the {who} makes {column} of {source}"


def _difference_text(differences: tuple[str, ...]) -> str:
    more = (
        [f"{len(differences) - _DIFFERENCES_SHOWN} more differences"] if len(differences) > _DIFFERENCES_SHOWN else []
    )
    return "; ".join((*differences[:_DIFFERENCES_SHOWN], *more))


# What a run publishes of the project.


@dataclass(frozen=True)
class DbtPublishing:
    """A project whose models are tables of a `service`; `settings` say what a name means that is not whole.

    `registers`: whether entities that the catalog lacks are made there.
    """

    project: DbtProject
    wanted: DbtLineageConfig
    service: str
    settings: SourceSettings
    registers: bool = True

    @cached_property
    def names(self) -> dict[str, str]:
        """The FQN that each node with a place has in the catalog, by unique_id."""
        default_database, default_schema = self.settings.default_database, self.settings.default_schema
        return {
            unique_id: build_fqn(
                self.service,
                node.relation_key[0] or default_database,
                node.relation_key[1] or default_schema,
                node.relation_key[2],
            )
            for unique_id, node in self.project.nodes.items()
            if not node.ephemeral
        }

    def removed_models(self, acknowledged: Mapping[str, PublishedState]) -> frozenset[str]:
        """The keys of models that earlier runs of the workflow published, and that the project has no more."""
        here = {name.casefold() for name in self.names.values()}
        published = {
            key.key for state in acknowledged.values() for key in state.digests if key.kind == ProducerKind.DBT
        }
        return frozenset(key for key in published if key.casefold() not in here)

    @cached_property
    def results(self) -> Mapping[str, NodeResult]:
        """What became of each node in dbt's last run, by unique_id. Raises UnreadableArtifact."""
        file = self.wanted.dbt_config_source.dbt_run_results_file_path
        return read_run_results(file) if file is not None else {}

    def describe(self, platform: Platform, probe: Probe) -> tuple[str, ...]:
        """Files what the project says beside lineage; what to warn of. Raises TargetDown and ConfigError."""
        filing = ProjectFiling(self.project, self.wanted, self.names, self.service, self.registers, self.results)
        return filing.file(platform, probe)

    def warnings(self, source: LineageSource) -> Iterator[str]:
        """What the project and dbt's last results leave to tell, a line each."""
        yield from self.project.notes
        yield from map(str, self.project.partial)
        relations = source.log.relations
        read = [
            (str(relations[number].key), str(relations[flow.target].key))
            for flow in _project_flows(source)
            for number in flow.content.sources
        ]
        lines = undeclared_reads(self.project, tuple(read)).hard_coded
        yield from (f"hard-coded reference: {one}" for one in lines[:_LINES_SHOWN])
        if len(lines) > _LINES_SHOWN:
            yield f"{len(lines) - _LINES_SHOWN} more hard-coded references"
        drift = list(LogDrift(self.project, source).lines())
        yield from (f"drift: {one}" for one in drift[:_LINES_SHOWN])
        if len(drift) > _LINES_SHOWN:
            yield f"drift: {len(drift) - _LINES_SHOWN} more models"
        failed = [one.unique_id for one in self.results.values() if one.status in _FAILED]
        if failed:
            names = ", ".join(map(self._name_for_people, failed[:_LINES_SHOWN]))
            yield f"{len(failed)} of dbt's last results failed: {names}"

    def _name_for_people(self, unique_id: str) -> str:
        """A node for a person: a test by its kind and place, since dbt makes its name of the values it is given."""
        manifest = self.project.manifest
        test = next((one for one in manifest.tests if one.unique_id == unique_id), None) if manifest else None
        if test is None:
            return unique_id if not unique_id.startswith("test.") else "a test"
        tested = self.project.nodes.get(test.tested)
        name = ".".join(filter(None, (tested.name if tested is not None else "", test.column)))
        return f"{test.label} of {name}" if name else test.label
