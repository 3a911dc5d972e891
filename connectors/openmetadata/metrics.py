"""Metrics in a catalog: filed as entities, behind data models that stand for the views that they are of.

Edges run from a table's column to the view's field and from there to the metric. A view is a data model of a dashboard
service: of all that a metadata platform has between tables and metrics only that has columns which lineage can lead
through, and tables of the database itself it is not.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from connectors.openmetadata import client
from connectors.openmetadata.attachments import Consumer, delete_others, file_consumer, known_sources
from connectors.openmetadata.client import Platform
from connectors.openmetadata.entities import Collection, column_request, delete_each, get_by_name, put
from ingestion.metrics.collection import Metric
from ingestion.metrics.model import ViewField
from ingestion.metrics.report import FILED_ENTITY, FiledTable, MetricReport, view_fields, view_names
from ingestion.model.entities import EntityReference
from ingestion.model.fqn import build_fqn, encode_name
from ingestion.model.lineage import Column, Json
from ingestion.model.requests import ColumnLineage, EdgeSource

ORIGIN = "measuredIn"
"""The attribute of a metric that says which queries it was found in: none of another origin is touched."""
_SERVICE_TYPE = "CustomDashboard"
_MODEL_TYPE = "LookMlView"
"""The contract has no type for a view of no product: this one is a view with dimensions, in a modelling layer."""


@dataclass(frozen=True, slots=True)
class MetricFiling:
    """Files metrics of an `origin`; `tables` are where the tables of their views are, by the names that these have.

    `filed` are the metrics that the origin is known to have filed in the platform `catalog`, by name, each
    with a digest of what was said of it.
    """

    platform: Platform
    origin: str
    tables: Mapping[str, FiledTable]
    filed: Mapping[str, str] = field(default_factory=dict)
    catalog: str = ""

    @property
    def service(self) -> str:
        """The dashboard service whose data models are the views."""
        return encode_name(f"queries of {self.origin}")

    def file(self, report: MetricReport) -> tuple[dict[str, str], list[str]]:
        """Files what differs from what was filed; by name digests of all, and what to warn of.

        Raises TargetDown and ConfigError.
        """
        features = self.platform.features
        warnings = [*features.metric_losses(_metric_request(metric) for metric in report.metrics)]
        if not features.metrics:
            return {}, warnings
        models = dict(self._models(report.metrics))
        shown = {one["name"]: one for one in report.to_json()["metrics"]}
        found, waiting = dict[str, str](), list[Consumer]()
        for metric in report.metrics:
            if self._belongs_to_others(metric.name):
                warnings.append(f"{metric.name} is a metric of the catalog already: it stays as it is")
                continue
            consumer = self._metric(metric, shown[metric.name], report.metrics)
            digest = _digest(self.catalog, consumer, models[consumer.reads[0]])
            found[metric.name] = digest
            if self.filed.get(metric.name) != digest:
                waiting.append(consumer)
        self._file_models([models[fqn] for fqn in dict.fromkeys(one.reads[0] for one in waiting)])
        for consumer in waiting:
            file_consumer(self.platform.http, consumer, EdgeSource.QUERY)
        return found, warnings

    def withdraw(self, kept: Iterable[str], metrics: tuple[Metric, ...]) -> None:
        """Deletes the metrics (by name) that the origin has filed and that are not kept, and views without a metric."""
        if not self.platform.features.metrics:
            return
        fqns = {build_fqn(encode_name(name)) for name in kept}
        http = self.platform.http
        for name in sorted(self.filed.keys() - set(kept)):
            gone = get_by_name(http, Collection.METRICS, build_fqn(encode_name(name)))
            if gone is not None:
                delete_each(http, Collection.METRICS, [str(gone["id"])])
        if self._marks:
            delete_others(http, Collection.METRICS, {"fields": "extension"}, fqns, {ORIGIN: self.origin})
        if get_by_name(http, Collection.DASHBOARD_SERVICES, build_fqn(self.service)) is not None:
            models = {fqn for fqn, _ in self._models(metrics)}
            delete_others(http, Collection.DATA_MODELS, {"service": build_fqn(self.service)}, models, {})

    @property
    def _marks(self) -> bool:
        """Whether the platform takes attributes of ours: one only takes those that it was taught."""
        return client.TABLES in self.platform.capabilities

    def _belongs_to_others(self, name: str) -> bool:
        if name in self.filed:
            return False
        known = get_by_name(self.platform.http, Collection.METRICS, build_fqn(encode_name(name)), ("extension",))
        if known is None:
            return False
        if self._marks:
            return bool((known.get("extension") or {}).get(ORIGIN) != self.origin)
        return not self._reads_own_model(EntityReference(str(known["id"]), "metric"))

    def _reads_own_model(self, metric: EntityReference) -> bool:
        """Whether lineage as this files it leads there: all that tells, without marks, of a run that was killed."""
        read = known_sources(self.platform.http, metric, EdgeSource.QUERY).values()
        own = f"{build_fqn(self.service, 'model')}."
        return any(str(one.fully_qualified_name).startswith(own) for one in read)

    def _file_models(self, models: list[Consumer]) -> None:
        if models:
            service = {"name": self.service, "serviceType": _SERVICE_TYPE}
            put(self.platform.http, Collection.DASHBOARD_SERVICES, service)
        for model in models:
            file_consumer(self.platform.http, model, EdgeSource.QUERY)

    def _model_fqn(self, name: str) -> str:
        return build_fqn(self.service, "model", name)

    def _models(self, metrics: tuple[Metric, ...]) -> Iterator[tuple[str, Consumer]]:
        """The data model of each view, by its FQN."""
        names, fields_of = view_names(metrics), view_fields(metrics)
        views = {metric.view.key: metric.view for metric in metrics}
        for key, view in views.items():
            fqn = self._model_fqn(names[key])
            request: Json = {
                "name": encode_name(names[key]),
                "service": build_fqn(self.service),
                "dataModelType": _MODEL_TYPE,
                "sql": view.sql,
                "columns": [self._column(name, base) for base, name in fields_of[key].items()],
            }
            made: dict[str, list[ColumnLineage]] = {}
            for base, name in fields_of[key].items():
                table = self.tables.get(base.table)
                if table is not None and base.column in table.columns:
                    source, _type = table.columns[base.column]
                    made.setdefault(table.fqn, []).append(ColumnLineage((source,), f"{fqn}.{build_fqn(name)}"))
            reads = tuple(dict.fromkeys(self.tables[table].fqn for table in view.tables if table in self.tables))
            yield fqn, Consumer(Collection.DATA_MODELS, request, reads, {of: tuple(one) for of, one in made.items()})

    def _column(self, name: str, base: ViewField) -> Json:
        table = self.tables.get(base.table)
        _fqn, type_ = table.columns.get(base.column, ("", "")) if table is not None else ("", "")
        return column_request(Column(encode_name(name), type_))

    def _metric(self, metric: Metric, shown: Json, metrics: tuple[Metric, ...]) -> Consumer:
        measure = metric.measure
        model = self._model_fqn(view_names(metrics)[metric.view.key])
        fields = view_fields(metrics)[metric.view.key]
        used = tuple(f"{model}.{build_fqn(fields[base])}" for base in measure.expression.fields)
        fqn = build_fqn(encode_name(metric.name))
        columns = {model: (ColumnLineage(used, fqn, measure.expression.text),)} if used else {}
        request = self.platform.features.fit_metric(_metric_request(metric))
        if self._marks:
            request["extension"] = {ORIGIN: self.origin, FILED_ENTITY: shown}
        return Consumer(Collection.METRICS, request, (model,), columns, Collection.DATA_MODELS)


def file_report(
    platform: Platform, report: MetricReport, origin: str, tables: Mapping[str, FiledTable]
) -> tuple[str, ...]:
    """Files the metrics of a report, whose tables are `tables`; what to warn of.

    Those that `origin` had before and has not any more go, if the report is complete. Raises TargetDown.
    """
    filing = MetricFiling(platform, origin, tables)
    filed, warnings = filing.file(report)
    if not report.complete:
        return (*warnings, "no metric is withdrawn: what could not be read may have it still")
    filing.withdraw(filed, report.metrics)
    return tuple(warnings)


def _metric_request(metric: Metric) -> Json:
    measure = metric.measure
    described: Json = {"name": encode_name(metric.name), "expression": measure.expression.text}
    if measure.aggregation:
        described["aggregation"] = measure.aggregation.upper()
    return {
        "name": encode_name(metric.name),
        "metricExpression": {"language": "SQL", "code": measure.expression.text},
        "measures": [described],
        "dimensions": [
            {
                "name": encode_name(one.name),
                "type": "TIME" if one.time else "CATEGORICAL",
                "expression": one.expression.text,
            }
            for one in metric.dimensions
        ],
    }


def _digest(catalog: str, *consumers: Consumer) -> str:
    """A digest of what is said of a metric and of the view that it reads."""
    facts = [
        (one.request, one.reads, sorted((fqn, [made.to_json() for made in own]) for fqn, own in one.columns.items()))
        for one in consumers
    ]
    return hashlib.sha256(json.dumps([catalog, facts], sort_keys=True).encode()).hexdigest()
