"""What a run over a dbt project publishes beside lineage: models that are no more, what is said of them, warnings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from connectors.dbt.model_statements import DbtProject
from connectors.dbt.target.results import NodeResult, read_run_results
from connectors.openmetadata.transport.platform import Platform
from ingestion.contribution import ProducerKind
from ingestion.isolation import Probe
from ingestion.names.fqn import build_fqn
from workflows.config import DbtArtifacts
from workflows.config.namespaces import SourceSettings
from workflows.lineage.lineage_source import LineageSource
from workflows.publishing.dbt.drift import LogDrift, project_flows
from workflows.publishing.dbt.filing import ProjectFiling
from workflows.sql_files.dbt_models import undeclared_reads
from workflows.state.acknowledgements import PublishedState

_SHOWN = 5
_FAILED = frozenset({"fail", "error", "runtime error"})


@dataclass(frozen=True)
class DbtPublishing:
    """A project whose models are tables of a `service`; `settings` say what a name means that is not whole.

    `registers`: whether entities that the catalog lacks are made there.
    """

    project: DbtProject
    artifacts: DbtArtifacts
    service: str
    settings: SourceSettings
    registers: bool = True

    @cached_property
    def names(self) -> dict[str, str]:
        """The FQN that each node with a place has in the catalog, by unique_id."""
        default_database, default_schema = self.settings.default_database, self.settings.default_schema
        return {
            unique_id: build_fqn(
                self.service, node.place[0] or default_database, node.place[1] or default_schema, node.place[2]
            )
            for unique_id, node in self.project.nodes.items()
            if not node.ephemeral
        }

    def removed_models(self, acknowledged: Mapping[str, PublishedState]) -> frozenset[str]:
        """The keys of models that earlier runs of the workflow published, and that the project has no more."""
        here = {name.casefold() for name in self.names.values()}
        published = {key.key for state in acknowledged.values() for key in state.words if key.kind == ProducerKind.VIEW}
        return frozenset(key for key in published if key.casefold() not in here)

    @cached_property
    def results(self) -> Mapping[str, NodeResult]:
        """What became of each node in dbt's last run, by unique_id. Raises UnreadableArtifact."""
        file = self.artifacts.run_results
        return read_run_results(file) if file is not None else {}

    def describe(self, platform: Platform, probe: Probe) -> tuple[str, ...]:
        """Files what the project says beside lineage; what to warn of. Raises TargetDown and ConfigError."""
        filing = ProjectFiling(self.project, self.artifacts, self.names, self.service, self.registers, self.results)
        return filing.file(platform, probe)

    def warnings(self, source: LineageSource) -> Iterator[str]:
        """What the project and dbt's last results leave to tell, a line each."""
        yield from self.project.notes
        relations = source.log.relations
        read = [
            (str(relations[number].key), str(relations[flow.target].key))
            for flow in project_flows(source)
            for number in flow.content.sources
        ]
        lines = undeclared_reads(self.project, tuple(read)).hard_coded
        yield from (f"hard-coded reference: {one}" for one in lines[:_SHOWN])
        if len(lines) > _SHOWN:
            yield f"{len(lines) - _SHOWN} more hard-coded references"
        drift = list(LogDrift(self.project, source).lines())
        yield from (f"drift: {one}" for one in drift[:_SHOWN])
        if len(drift) > _SHOWN:
            yield f"drift: {len(drift) - _SHOWN} more models"
        failed = [one.unique_id for one in self.results.values() if one.status in _FAILED]
        if failed:
            names = ", ".join(map(self._name_for_people, failed[:_SHOWN]))
            yield f"{len(failed)} of dbt's last results failed: {names}"

    def _name_for_people(self, unique_id: str) -> str:
        """A node for a person: a test by its kind and place, since dbt makes its name of the values it is given."""
        manifest = self.project.manifest
        test = next((one for one in manifest.tests if one.unique_id == unique_id), None) if manifest else None
        if test is None:
            return unique_id if not unique_id.startswith("test.") else "a test"
        tested = self.project.nodes.get(test.tested)
        place = ".".join(filter(None, (tested.name if tested is not None else "", test.column)))
        return f"{test.label} of {place}" if place else test.label
