"""What of a dbt project reads models without being one: exposures and metrics, as entities of a catalog."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from connectors.dbt.model_statements import DbtProject
from connectors.dbt.target.nodes import DbtExposure, DbtMeasure, DbtMetric
from connectors.openmetadata.entities.attributes import label_of
from connectors.openmetadata.entities.consumers import Consumer
from connectors.openmetadata.entities.crud import Collection
from ingestion.errors import Unparsable
from ingestion.masking import QueryMasker
from ingestion.model import Json
from ingestion.names.fqn import build_fqn, encode_name

_DASHBOARD_TYPES: Mapping[str, str] = {"dashboard": "Dashboard", "notebook": "Report", "analysis": "Report"}
_METRIC_TYPES = frozenset({"simple", "ratio", "cumulative", "derived", "conversion"})
_SELECT = "SELECT "
PROJECT_MARK = "dbtProject"


@dataclass(frozen=True)
class DbtAssets:
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
