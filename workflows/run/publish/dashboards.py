"""Filing what a dashboard tool has, before its lineage is resolved; and what it has no more, once that is published."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from connectors.assets import Asset, Assets
from connectors.openmetadata import client
from connectors.openmetadata.attachments import Owners, delete_others
from connectors.openmetadata.entities import Collection, column_request, find_reference, put
from ingestion.model.entities import CHART, DASHBOARD, DATA_MODEL, EntityReference, TableEntity
from ingestion.model.fqn import build_fqn, encode_name
from ingestion.model.isolation import FailureStage, Isolation, Probe
from ingestion.model.lineage import Column, Json
from workflows.config import RunConfig
from workflows.counts import NAMES_SHOWN, loss_warnings
from workflows.target import RunTarget

_COLLECTIONS: Mapping[str, Collection] = {
    DATA_MODEL: Collection.DATA_MODELS,
    CHART: Collection.CHARTS,
    DASHBOARD: Collection.DASHBOARDS,
}
"""In the order in which they need each other."""
_MARK = "filedBy"
"""In the extension of what a workflow files here: nothing of another's is deleted."""


@dataclass(frozen=True, slots=True)
class FiledAssets:
    """The entities of assets, by the parts of their names in queries; what to warn of."""

    entities: Mapping[tuple[str, ...], TableEntity] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AssetFiling:
    """Files the assets of a source in a target; where it may not make any, finds those that are there."""

    config: RunConfig
    assets: Assets
    target: RunTarget

    def file(self, probe: Probe) -> FiledAssets:
        """The entity of each asset that has one now. Raises TargetDown and ConfigError."""
        platform, owners = self.target.platform, Owners(self.target.platform)
        isolation = Isolation[str](probe)
        found: dict[tuple[str, ...], TableEntity] = {}
        if self._makes:
            service: Json = {"name": encode_name(self.assets.service), "serviceType": self._service_type}
            put(platform.http, Collection.DASHBOARD_SERVICES, service)
        for kind, collection in _COLLECTIONS.items():
            for one in self.assets.of_kind(kind):
                with isolation.around(FailureStage.REGISTRATION, one.title):
                    made = self._make(one, owners) if self._makes else self._find(one, collection)
                    if made is not None:
                        found[one.relation] = self._entity(one, made)
        missing = [one.title for one in self.assets.items if one.relation not in found]
        warnings = [*self.assets.notes, *loss_warnings("dashboards could not be filed", isolation.failures.values())]
        if missing and not self._makes:
            shown = ", ".join(missing[:NAMES_SHOWN])
            warnings.append(
                f"{len(missing)} charts, dashboards and data models are not in the catalog: {shown}: "
                "headwater.registerTables: always makes them there"
            )
        return FiledAssets(found, tuple(filter(None, (*warnings, owners.warning()))))

    def delete_gone(self) -> int:
        """Deletes what earlier runs of this workflow filed and the tool has no more; how many there were."""
        if not (self._makes and self._marks and self.assets.complete):
            return 0
        deleted, service = 0, build_fqn(encode_name(self.assets.service))
        for kind in (DASHBOARD, CHART, DATA_MODEL):
            kept = {self._fqn(one) for one in self.assets.of_kind(kind)}
            params = {"service": service, "fields": "extension"}
            mark = {_MARK: self.config.workflow}
            deleted += delete_others(self.target.platform.http, _COLLECTIONS[kind], params, kept, mark)
        return deleted

    @property
    def _makes(self) -> bool:
        return self.config.registers_tables and self.target.writes

    @property
    def _marks(self) -> bool:
        """Whether the platform takes attributes of ours: one only takes those that it was taught."""
        return client.TABLES in self.target.platform.capabilities

    @property
    def _service_type(self) -> str:
        return self.assets.service_type

    def _fqn(self, one: Asset) -> str:
        levels = ("model",) if one.kind == DATA_MODEL else ()
        return build_fqn(encode_name(self.assets.service), *levels, encode_name(one.title))

    def _find(self, one: Asset, collection: Collection) -> EntityReference | None:
        return find_reference(self.target.platform.http, collection, self._fqn(one))

    def _make(self, one: Asset, owners: Owners) -> EntityReference:
        request: Json = {"name": encode_name(one.title), "service": build_fqn(encode_name(self.assets.service))}
        if one.description:
            request["description"] = one.description
        references = [found.to_json() for name in one.owners if (found := owners.of(name)) is not None]
        if references:
            request["owners"] = references
        if self._marks:
            request["extension"] = {_MARK: self.config.workflow}
        request |= self._own_keys(one)
        return put(self.target.platform.http, _COLLECTIONS[one.kind], request)

    def _own_keys(self, one: Asset) -> Json:
        """What only entities of this kind have."""
        if one.kind == DATA_MODEL:
            columns = [column_request(Column(encode_name(column.name), column.type)) for column in one.columns]
            return {"dataModelType": one.subtype, "columns": columns}
        address: Json = {"sourceUrl": one.url} if one.url else {}
        if one.kind == CHART:
            return {**address, "chartType": one.subtype}
        return {
            **address,
            "dashboardType": one.subtype,
            "charts": [self._fqn(member) for member in self._charts_of(one)],
        }

    def _charts_of(self, dashboard: Asset) -> Iterable[Asset]:
        members = set(dashboard.members)
        return (one for one in self.assets.of_kind(CHART) if one.key in members)

    def _entity(self, one: Asset, reference: EntityReference) -> TableEntity:
        columns = one.columns
        if one.kind == DASHBOARD:
            columns = tuple(Column(chart.title) for chart in self._charts_of(one))
        return TableEntity(
            id=reference.id,
            fully_qualified_name=reference.fully_qualified_name or self._fqn(one),
            service=self.assets.service,
            database="",
            schema="",
            name=one.title,
            columns=columns,
            type=one.kind,
        )
