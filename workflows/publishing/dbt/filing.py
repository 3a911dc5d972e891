"""Filing what a dbt project says beside lineage: descriptions, tags, owners, exposures, metrics, tests, freshness."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from connectors.dbt.model_statements import DbtProject
from connectors.dbt.target.nodes import DbtNode
from connectors.dbt.target.results import NodeResult, read_source_freshness
from connectors.openmetadata.entities import extension
from connectors.openmetadata.entities.attributes import (
    Attributes,
    Overwriting,
    TableAttributes,
    describe,
    register_tags,
)
from connectors.openmetadata.entities.consumers import delete_others, file_consumer
from connectors.openmetadata.entities.crud import Collection, put
from connectors.openmetadata.entities.data_quality import (
    TestCase,
    delete_other_tests,
    file_test,
    register_definitions,
)
from connectors.openmetadata.entities.owners import owner_reference
from connectors.openmetadata.transport.platform import Platform
from ingestion.entities import EntityReference
from ingestion.isolation import FailureStage, Isolation, Probe
from ingestion.lineage_request import EdgeSource
from ingestion.names.fqn import build_fqn
from workflows.config import DbtArtifacts
from workflows.publishing.dbt.assets import PROJECT_MARK, DbtAssets
from workflows.publishing.dbt.model_loads import file_model_loads
from workflows.publishing.dbt.test_results import (
    DEFINITION_PREFIX,
    freshness_cases,
    test_cases,
    tests_without_table,
)
from workflows.report.losses import loss_warnings

_SHOWN = 5
_REGISTRATION = FailureStage.REGISTRATION


@dataclass(frozen=True)
class ProjectFiling:
    """A project whose nodes are tables under `names` (FQNs by unique_id) of a `service`.

    `registers`: whether entities that the platform lacks are made there; `results` are those of dbt's last run.
    """

    project: DbtProject
    artifacts: DbtArtifacts
    names: Mapping[str, str]
    service: str
    registers: bool
    results: Mapping[str, NodeResult]

    def file(self, platform: Platform, probe: Probe) -> tuple[str, ...]:
        """Files all of it, each thing by itself; what to warn of. Raises TargetDown and ConfigError."""
        owners = _Owners(platform)
        warnings = [*self._describe(platform, owners, probe)]
        assets = DbtAssets(self.project, self.names, self.artifacts.classification)
        cases = self._cases()
        if not self.registers:
            left_out = sum(1 for _ in assets.consumers()) + len(cases)
            if left_out:
                left = f"{left_out} exposures, metrics and tests are not filed"
                warnings.append(f"{left}: headwater.registerTables: always makes them in the catalog")
        else:
            warnings += self._file_assets(platform, assets, owners, probe)
            warnings += self._file_tests(platform, cases, probe)
        warnings += file_model_loads(platform, self.names, self.results, probe)
        untested = tests_without_table(self.project, self.names)
        warnings += [line for line in (assets.without_type(), untested, owners.warning()) if line]
        return tuple(warnings)

    def _describe(self, platform: Platform, owners: _Owners, probe: Probe) -> Iterator[str]:
        isolation = Isolation[str](probe)
        classification = self.artifacts.classification or ""
        attributes = {unique_id: self._attributes(unique_id) for unique_id in self.names}
        assets = DbtAssets(self.project, self.names, self.artifacts.classification)
        tags = {tag for one in attributes.values() for tag in _tags(one)}
        if classification:
            with isolation.around(_REGISTRATION, classification):
                register_tags(platform, classification, sorted(tags | set(assets.tags())))
        overwriting = Overwriting(self.artifacts.overwrite_descriptions, self.artifacts.overwrite_owners)
        for unique_id, one in attributes.items():
            owner = self.project.nodes[unique_id].owner
            if one.own != Attributes() or one.columns or owner:
                with isolation.around(_REGISTRATION, one.fqn):
                    owned = replace(one, owner=owners.of(owner))
                    describe(platform, owned, classification, overwriting)
        yield from loss_warnings("descriptions could not be filed", isolation.failures.values())

    def _file_assets(self, platform: Platform, assets: DbtAssets, owners: _Owners, probe: Probe) -> Iterator[str]:
        isolation = Isolation[str](probe)
        kept: dict[Collection, set[str]] = {Collection.DASHBOARDS: set(), Collection.METRICS: set()}
        missing: dict[str, None] = {}
        consumers = list(assets.consumers())
        if self.project.exposures:
            service = {"name": assets.service, "serviceType": "CustomDashboard"}
            put(platform.http, Collection.DASHBOARD_SERVICES, service)
        marks = extension.TABLES in platform.capabilities
        for owner, consumer in consumers:
            with isolation.around(_REGISTRATION, consumer.request["name"]):
                request = consumer.request
                if not marks:  # a platform only takes properties that it was taught
                    request = {key: value for key, value in request.items() if key != "extension"}
                reference = owners.of(owner)
                if reference is not None:
                    request = {**request, "owners": [reference.to_json()]}
                filed = replace(consumer, request=request)
                fqn, unknown = file_consumer(platform.http, filed, EdgeSource.DBT)
                kept[consumer.collection].add(fqn)
                missing.update(dict.fromkeys(unknown))
        if not isolation.failures:
            within = {"service": build_fqn(assets.service)}
            delete_others(platform.http, Collection.DASHBOARDS, within, kept[Collection.DASHBOARDS], {})
            mark = {PROJECT_MARK: self.project.name}
            delete_others(platform.http, Collection.METRICS, {}, kept[Collection.METRICS], mark)
        yield from loss_warnings("exposures and metrics could not be filed", isolation.failures.values())
        if missing:
            shown = ", ".join(list(missing)[:_SHOWN])
            yield f"{len(missing)} tables of exposures and metrics are not in the catalog: {shown}"

    def _cases(self) -> list[TestCase]:
        freshness = self.artifacts.sources
        fresh = read_source_freshness(freshness) if freshness is not None else {}
        return [*test_cases(self.project, self.names, self.results), *freshness_cases(self.names, fresh)]

    def _file_tests(self, platform: Platform, cases: list[TestCase], probe: Probe) -> Iterator[str]:
        isolation = Isolation[str](probe)
        kinds = sorted({(case.definition, bool(case.column)) for case in cases})
        register_definitions(platform.http, kinds, "dbt")
        for case in cases:
            with isolation.around(_REGISTRATION, case.fqn):
                file_test(platform.http, case)
        if self.project.manifest is not None:
            kept = {case.fqn for case in cases}
            delete_other_tests(platform.http, build_fqn(self.service), kept, DEFINITION_PREFIX)
        yield from loss_warnings("tests could not be filed", isolation.failures.values())

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


class _Owners:
    """Owners by name, each asked for once."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._known: dict[str, EntityReference | None] = {}

    def of(self, name: str) -> EntityReference | None:
        """The owner of this name, None for "" and for one that the platform does not know."""
        if name and name not in self._known:
            self._known[name] = owner_reference(self._platform, name)
        return self._known.get(name)

    def warning(self) -> str:
        """The line about owners that the platform does not know, "" where it knows all."""
        names = sorted(name for name, reference in self._known.items() if reference is None)
        return f"{len(names)} owners are no team or user of the catalog: {', '.join(names[:_SHOWN])}" if names else ""


def _tags(attributes: TableAttributes) -> Iterable[str]:
    yield from attributes.own.tags
    for column in attributes.columns.values():
        yield from column.tags
