"""Filing what a dbt project says beside lineage: descriptions, tags, owners, exposures, metrics, tests, freshness."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from connectors.dbt.artifacts import NodeResult, read_source_freshness
from connectors.dbt.model_statements import DbtProject
from connectors.dbt.nodes import DbtExposure, DbtMeasure, DbtMetric, DbtNode, DbtTest
from connectors.dbt.settings import DbtLineageConfig
from connectors.openmetadata import client
from connectors.openmetadata.attachments import (
    Attributes,
    Consumer,
    Overwriting,
    Owners,
    TableAttributes,
    TestCase,
    TestOutcome,
    TestStatus,
    delete_other_tests,
    delete_others,
    describe,
    file_consumer,
    file_test,
    label_of,
    register_definitions,
    register_tags,
)
from connectors.openmetadata.client import Platform
from connectors.openmetadata.entities import Collection, put
from ingestion.errors import Unparsable
from ingestion.model.digests import digest
from ingestion.model.fqn import build_fqn, encode_name, split_fqn
from ingestion.model.isolation import FailureStage, Isolation, Probe, in_parts
from ingestion.model.lineage import Json
from ingestion.model.requests import EdgeSource
from ingestion.resolution import PartialName
from ingestion.statements.masking import QueryMasker
from workflows.counts import NAMES_SHOWN, loss_warnings

_DASHBOARD_TYPES: Mapping[str, str] = {"dashboard": "Dashboard", "notebook": "Report", "analysis": "Report"}
_METRIC_TYPES = frozenset({"simple", "ratio", "cumulative", "derived", "conversion"})
_SELECT = "SELECT "
PROJECT_MARK = "dbtProject"
DEFINITION_PREFIX = "dbt_"
_FRESHNESS = "freshness"
_TEST_STATUSES: Mapping[str, TestStatus] = {
    "pass": TestStatus.SUCCESS,
    "success": TestStatus.SUCCESS,
    "warn": TestStatus.FAILED,
    "fail": TestStatus.FAILED,
    "error": TestStatus.ABORTED,
    "runtime error": TestStatus.ABORTED,
}
"""A test that was skipped has no result."""
_LOAD_STATUSES = {"success": "complete", "error": "failed", "runtime error": "failed"}
"""A model that was skipped was no attempt."""
_REGISTRATION = FailureStage.REGISTRATION


# What of a dbt project reads models without being one: exposures and metrics, as entities of a catalog.


@dataclass(frozen=True)
class _DbtAssets:
    """The exposures and metrics of a project; `names` are the FQNs of its nodes by unique_id."""

    project: DbtProject
    names: Mapping[str, str]
    classification: str | None
    _metrics: dict[str, DbtMetric] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._metrics.update({metric.unique_id: metric for metric in self.metrics})

    @property
    def metrics(self) -> tuple[DbtMetric, ...]:
        return self.project.manifest.metrics if self.project.manifest is not None else ()

    @property
    def service(self) -> str:
        """The dashboard service that holds the exposures of the project."""
        return f"dbt_{encode_name(self.project.name)}"

    def consumers(self) -> Iterator[tuple[str, Consumer]]:
        """What there is an entity type for, each with its owner's name."""
        for exposure in self.project.exposures:
            if exposure.type in _DASHBOARD_TYPES:
                yield exposure.owner, Consumer(Collection.DASHBOARDS, self._dashboard(exposure), self._tables(exposure))
        for metric in self.metrics:
            yield metric.owner, Consumer(Collection.METRICS, self._metric(metric), self._tables(metric))

    def without_type(self) -> str:
        """The line about what no entity of the catalog stands for, "" where there is none."""
        counted = Counter(one.type for one in self.project.exposures if one.type not in _DASHBOARD_TYPES)
        kinds = ", ".join(f"{count} of type {kind or 'none'}" for kind, count in sorted(counted.items()))
        return f"the catalog has no entity for exposures {kinds}: they are left out" if kinds else ""

    def tags(self) -> Iterator[str]:
        """All tags, repeated as they are."""
        for exposure in self.project.exposures:
            yield from exposure.tags
        for metric in self.metrics:
            yield from metric.tags

    def _tables(self, reader: DbtExposure | DbtMetric) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._tables_of(reader.depends_on, frozenset({reader.unique_id}))))

    def _tables_of(self, ids: Iterable[str], above: frozenset[str]) -> Iterator[str]:
        """The tables behind ids: of a metric or an ephemeral model those that it reads itself."""
        nodes = self.project.nodes
        for unique_id in ids:
            if unique_id in above:
                continue
            if unique_id in self.names:
                yield self.names[unique_id]
            elif unique_id in self._metrics or unique_id in nodes:
                between = self._metrics.get(unique_id) or nodes[unique_id]
                yield from self._tables_of(between.depends_on, above | {unique_id})

    def _dashboard(self, exposure: DbtExposure) -> Json:
        request = self._common_request(exposure)
        request |= {"service": build_fqn(self.service), "dashboardType": _DASHBOARD_TYPES[exposure.type]}
        if exposure.url:
            request["sourceUrl"] = exposure.url
        return request

    def _metric(self, metric: DbtMetric) -> Json:
        request = self._common_request(metric)
        request["metricType"] = metric.type.upper() if metric.type in _METRIC_TYPES else "OTHER"
        request["extension"] = {PROJECT_MARK: self.project.name}
        if metric.measures:
            request["measures"] = [self._measure(one) for one in metric.measures]
        if metric.dimensions:
            request["dimensions"] = [
                {"name": name, "type": "TIME" if of_time else "CATEGORICAL"} for name, of_time in metric.dimensions
            ]
        return request

    def _measure(self, measure: DbtMeasure) -> Json:
        described: Json = {"name": measure.name, "aggregation": measure.aggregation}
        if measure.description:
            described["description"] = measure.description
        try:
            masked = QueryMasker(self.project.dialect).mask(_SELECT + measure.expression)
        except Unparsable:
            return described
        return {**described, "expression": masked.removeprefix(_SELECT)}

    def _common_request(self, asset: DbtExposure | DbtMetric) -> Json:
        request: Json = {"name": encode_name(asset.name)}
        if asset.label:
            request["displayName"] = asset.label
        if asset.description:
            request["description"] = asset.description
        if asset.tags and self.classification is not None:
            request["tags"] = [label_of(build_fqn(self.classification, tag)) for tag in asset.tags]
        return request


# The tests of a dbt project and the freshness of its sources, with what dbt's last run made of them.


def _test_cases(project: DbtProject, names: Mapping[str, str], results: Mapping[str, NodeResult]) -> Iterator[TestCase]:
    """The tests of the nodes in `names` (FQNs by unique_id), each with its result where it has one."""
    tests = [test for test in project.manifest.tests if test.tested in names] if project.manifest is not None else []
    alike = Counter(_tested_column(test) for test in tests)
    for test in tests:
        *_, last = test.unique_id.split(".")
        name = f"{test.label}_{last}" if alike[_tested_column(test)] > 1 else test.label
        level = "column" if test.column else "table"
        kind = test.kind or "singular"
        definition = f"{DEFINITION_PREFIX}{level}_{kind}"
        yield TestCase(names[test.tested], test.column, name, definition, _outcome(results.get(test.unique_id)))


def _tests_without_table(project: DbtProject, names: Mapping[str, str]) -> str:
    """The line about tests that no table of the catalog can have, "" where there is none."""
    tests = project.manifest.tests if project.manifest is not None else ()
    left_out = [test for test in tests if test.tested not in names]
    if not left_out:
        return ""
    nodes = [project.nodes.get(test.tested) for test in left_out]
    ephemeral = sorted({node.name for node in nodes if node is not None and node.ephemeral})
    of_what = f"of ephemeral models ({', '.join(ephemeral[:NAMES_SHOWN])})" if ephemeral else ""
    others = sum(node is None or not node.ephemeral for node in nodes)
    of_none = f"{others} attached to no model" if others else ""
    return f"{len(left_out)} tests have no table: {', '.join(filter(None, (of_what, of_none)))}: they are left out"


def _freshness_cases(names: Mapping[str, str], results: Mapping[str, NodeResult]) -> Iterator[TestCase]:
    """A test of each source whose freshness dbt has measured."""
    for unique_id, result in results.items():
        if unique_id in names:
            outcome = _outcome(result, {"error": TestStatus.FAILED})
            yield TestCase(names[unique_id], "", _FRESHNESS, f"{DEFINITION_PREFIX}table_{_FRESHNESS}", outcome)


def _tested_column(test: DbtTest) -> tuple[str, str, str]:
    return test.tested, test.column.lower(), test.label


def _outcome(result: NodeResult | None, meanings: Mapping[str, TestStatus] | None = None) -> TestOutcome | None:
    status = {**_TEST_STATUSES, **(meanings or {})}.get(result.status) if result is not None else None
    if result is None or status is None or result.at is None:
        return None
    values: tuple[tuple[str, str], ...] = ()
    if result.newest is not None:
        values = (("max_loaded_at", datetime.fromtimestamp(result.newest, UTC).isoformat()),)
    failed = result.failures if status is TestStatus.FAILED and not values else None
    return TestOutcome(status, result.at, result.status, failed, values)


# What dbt's last run made of models, seeds and snapshots, as loads of their tables.


def _file_model_loads(
    platform: Platform, names: Mapping[str, str], results: Mapping[str, NodeResult], probe: Probe
) -> tuple[str, ...]:
    """Files the loads of the nodes in `names` (FQNs by unique_id) where the catalog keeps loads; what to warn of."""
    if not {client.LOADS, client.LOOKUP} <= platform.capabilities:
        return ()
    loads = [(names[one.unique_id], load) for one in results.values() if one.unique_id in names for load in _loads(one)]
    entities = _entities(platform, sorted({name for name, _load in loads}))
    bodies = [{**load, "entity": entities[name]} for name, load in loads if name in entities]
    failed = in_parts(bodies, lambda some: client.file_loads(platform.http, some), FailureStage.LOADS, probe)
    return loss_warnings("loads of models could not be filed", (failure for _body, failure in failed))


def _loads(result: NodeResult) -> Iterator[Json]:
    status = _LOAD_STATUSES.get(result.status)
    if status is None or result.at is None:
        return
    at = round(result.at * 1000)
    run = digest(result.unique_id, str(at), size=8)
    job = f"dbt {result.unique_id}"
    load: Json = {"at": at, "run": run, "status": status, "statement": job, "job": job}
    yield load if result.rows is None or status != "complete" else {**load, "rows": result.rows}


def _entities(platform: Platform, names: Sequence[str]) -> dict[str, Json]:
    """References to the tables of these names, by them."""
    asked: dict[str, list[str]] = {}
    for name in names:
        asked.setdefault(split_fqn(name)[0], []).append(name)
    found: dict[str, Json] = {}
    for service, of_service in asked.items():
        parts = [PartialName(*split_fqn(name)[1:]) for name in of_service]
        for name, matches in zip(of_service, client.look_up(platform.http, service, parts), strict=True):
            same = (one for one in matches if one.fully_qualified_name.casefold() == name.casefold())
            if (entity := next(same, None)) is not None:
                found[name] = {"id": entity.id, "type": entity.type}
    return found


# Descriptions, tags and owners, and all of it together.


@dataclass(frozen=True)
class ProjectFiling:
    """A project whose nodes are tables under `names` (FQNs by unique_id) of a `service`.

    `registers`: whether entities that the platform lacks are made there; `results` are those of dbt's last run.
    """

    project: DbtProject
    wanted: DbtLineageConfig
    names: Mapping[str, str]
    service: str
    registers: bool
    results: Mapping[str, NodeResult]

    def file(self, platform: Platform, probe: Probe) -> tuple[str, ...]:
        """Files all of it, each thing by itself; what to warn of. Raises TargetDown and ConfigError."""
        owners = Owners(platform)
        warnings = [*self._describe(platform, owners, probe)]
        assets = _DbtAssets(self.project, self.names, self.wanted.classification)
        cases = self._cases()
        if not self.registers:
            left_out = sum(1 for _ in assets.consumers()) + len(cases)
            if left_out:
                left = f"{left_out} exposures, metrics and tests are not filed"
                warnings.append(f"{left}: headwater.registerTables: always makes them in the catalog")
        else:
            warnings += self._file_assets(platform, assets, owners, probe)
            warnings += self._file_tests(platform, cases, probe)
        warnings += _file_model_loads(platform, self.names, self.results, probe)
        untested = _tests_without_table(self.project, self.names)
        warnings += [line for line in (assets.without_type(), untested, owners.warning()) if line]
        return tuple(warnings)

    def _describe(self, platform: Platform, owners: Owners, probe: Probe) -> Iterator[str]:
        isolation = Isolation[str](probe)
        classification = self.wanted.classification or ""
        attributes = {unique_id: self._attributes(unique_id) for unique_id in self.names}
        assets = _DbtAssets(self.project, self.names, self.wanted.classification)
        tags = {tag for one in attributes.values() for tag in _tags(one)}
        if classification:
            with isolation.around(_REGISTRATION, classification):
                register_tags(platform, classification, sorted(tags | set(assets.tags())))
        overwriting = Overwriting(self.wanted.dbt_update_descriptions, self.wanted.dbt_update_owners)
        for unique_id, one in attributes.items():
            owner = self.project.nodes[unique_id].owner
            if one.own != Attributes() or one.columns or owner:
                with isolation.around(_REGISTRATION, one.fqn):
                    owned = replace(one, owner=owners.of(owner))
                    describe(platform, owned, classification, overwriting)
        yield from loss_warnings("descriptions could not be filed", isolation.failures.values())

    def _file_assets(self, platform: Platform, assets: _DbtAssets, owners: Owners, probe: Probe) -> Iterator[str]:
        isolation = Isolation[str](probe)
        kept: dict[Collection, set[str]] = {Collection.DASHBOARDS: set(), Collection.METRICS: set()}
        missing: dict[str, None] = {}
        features = platform.features
        consumers = [(owner, one) for owner, one in assets.consumers() if features.metrics or not _is_metric(one)]
        if self.project.exposures:
            service = {"name": assets.service, "serviceType": "CustomDashboard"}
            put(platform.http, Collection.DASHBOARD_SERVICES, service)
        marks = client.TABLES in platform.capabilities
        for owner, consumer in consumers:
            with isolation.around(_REGISTRATION, consumer.request["name"]):
                request = consumer.request
                if _is_metric(consumer):
                    request = features.fit_metric(request)
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
            if features.metrics:
                delete_others(platform.http, Collection.METRICS, {}, kept[Collection.METRICS], mark)
        yield from loss_warnings("exposures and metrics could not be filed", isolation.failures.values())
        yield from features.metric_losses(one.request for _, one in assets.consumers() if _is_metric(one))
        if missing:
            shown = ", ".join(list(missing)[:NAMES_SHOWN])
            yield f"{len(missing)} tables of exposures and metrics are not in the catalog: {shown}"

    def _cases(self) -> list[TestCase]:
        freshness = self.wanted.dbt_config_source.dbt_sources_file_path
        measured = read_source_freshness(freshness) if freshness is not None else {}
        return [*_test_cases(self.project, self.names, self.results), *_freshness_cases(self.names, measured)]

    def _file_tests(self, platform: Platform, cases: list[TestCase], probe: Probe) -> Iterator[str]:
        isolation = Isolation[str](probe)
        kinds = sorted({(case.definition, bool(case.column)) for case in cases})
        if not platform.features.tests:
            yield from platform.features.test_losses(len(cases))
            return
        register_definitions(platform, kinds, "dbt")
        for case in cases:
            with isolation.around(_REGISTRATION, case.fqn):
                file_test(platform.http, case)
        if self.project.manifest is not None:
            kept = {case.fqn for case in cases}
            delete_other_tests(platform.http, build_fqn(self.service), kept, DEFINITION_PREFIX)
        yield from loss_warnings("tests could not be filed", isolation.failures.values())

    def _attributes(self, unique_id: str) -> TableAttributes:
        node: DbtNode = self.project.nodes[unique_id]
        tagged = self.wanted.classification is not None
        columns = {
            column.name: Attributes(column.description, column.tags if tagged else ())
            for column in node.columns
            if column.description or (column.tags and tagged)
        }
        own = Attributes(node.description, node.tags if tagged else ())
        return TableAttributes(self.names[unique_id], own, columns)


def _is_metric(consumer: Consumer) -> bool:
    return consumer.collection is Collection.METRICS


def _tags(attributes: TableAttributes) -> Iterable[str]:
    yield from attributes.own.tags
    for column in attributes.columns.values():
        yield from column.tags
