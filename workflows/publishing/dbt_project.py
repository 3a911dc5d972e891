"""What a run over a dbt project publishes beside lineage: models that are no more, descriptions, tags, warnings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from connectors.dbt.model_statements import DbtProject
from connectors.dbt.target.nodes import DbtNode
from connectors.dbt.target.results import read_run_results
from connectors.openmetadata.entities.attributes import Attributes, TableAttributes, describe, register_tags
from ingestion.contribution import ProducerKind
from ingestion.isolation import FailureStage, Isolation, Probe
from ingestion.names.fqn import build_fqn
from workflows.config import DbtArtifacts
from workflows.config.namespaces import SourceSettings
from workflows.lineage.lineage_source import LineageSource
from workflows.publishing.warnings import loss_warnings
from workflows.sql_files.dbt_models import undeclared_reads
from workflows.state.acknowledgements import PublishedState
from workflows.target import RunTarget

_SHOWN = 5
_FAILED = frozenset({"fail", "error", "runtime error"})


@dataclass(frozen=True)
class DbtPublishing:
    """A project whose models are tables of a `service`; `settings` say what a name means that is not whole."""

    project: DbtProject
    artifacts: DbtArtifacts
    service: str
    settings: SourceSettings

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

    def describe(self, target: RunTarget, probe: Probe) -> tuple[str, ...]:
        """Files descriptions and tags of what the target has, one table at a time; what to warn of."""
        isolation = Isolation[str](probe)
        classification = self.artifacts.classification or ""
        attributes = [self._attributes(unique_id) for unique_id in self.names]
        tags = sorted({tag for one in attributes for tag in _tags(one)})
        with isolation.around(FailureStage.REGISTRATION, classification):
            register_tags(target.platform, classification, tags)
        for one in attributes:
            if one.own != Attributes() or one.columns:
                with isolation.around(FailureStage.REGISTRATION, one.fqn):
                    describe(target.platform, one, classification, overwrite=self.artifacts.overwrite_descriptions)
        return loss_warnings("descriptions could not be filed", isolation.failures.values())

    def warnings(self, source: LineageSource) -> Iterator[str]:
        """What the project and dbt's last results leave to tell, a line each."""
        yield from self.project.notes
        relations = source.log.relations
        read = [
            (str(relations[number].key), str(relations[flow.target].key))
            for flow in source.flows
            for number in flow.content.sources
        ]
        lines = undeclared_reads(self.project, tuple(read)).hard_coded
        yield from (f"hard-coded reference: {one}" for one in lines[:_SHOWN])
        if len(lines) > _SHOWN:
            yield f"{len(lines) - _SHOWN} more hard-coded references"
        if self.artifacts.run_results is not None:
            results = read_run_results(self.artifacts.run_results).values()
            failed = [one.unique_id for one in results if one.status in _FAILED]
            if failed:
                yield f"{len(failed)} of dbt's last results failed: {', '.join(failed[:_SHOWN])}"

    def _attributes(self, unique_id: str) -> TableAttributes:
        node: DbtNode = self.project.nodes[unique_id]
        tagged = self.artifacts.classification is not None
        columns = {
            column.name: Attributes(column.description, column.tags if tagged else ())
            for column in node.columns
            if column.description or (column.tags and tagged)
        }
        own = Attributes(node.description, node.tags if tagged else ())
        return TableAttributes(self.names[unique_id], own, columns)


def _tags(attributes: TableAttributes) -> Iterable[str]:
    yield from attributes.own.tags
    for column in attributes.columns.values():
        yield from column.tags
