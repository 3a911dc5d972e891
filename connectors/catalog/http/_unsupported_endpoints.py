"""What the contract has and this catalog leaves out, with the status that it answers: no client waits in vain."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from connectors.catalog.contract.errors import ApiError

UNSUPPORTED = {
    "search indexes, machine-learning models, APIs, drives": (
        *("searchIndexes", "mlmodels", "apiCollections", "apiEndpoints", "drives", "services/driveServices"),
        *("services/searchServices", "services/mlmodelServices", "services/apiServices"),
    ),
    "glossaries, data products, data contracts": ("glossaries", "glossaryTerms", "dataProducts", "dataContracts"),
    "roles, policies, personas, bots: who may do what": ("roles", "policies", "personas", "bots"),
    "profiles, query costs, incidents": (
        *("entity/profiles", "queryCostRecord"),
        "dataQuality/testCases/testCaseIncidentStatus",
    ),
    "feeds, announcements, tasks, alerts, automations, apps, settings": (
        *("feed", "announcements", "tasks", "events", "automations", "apps", "system/settings", "docStore"),
        *("analytics", "kpi", "metadata/types", "services/metadataServices", "services/securityServices"),
    ),
    "graphs of a whole platform, of test results, and exports in the background": (
        *("lineage/getPlatformLineage", "lineage/getDataQualityLineage", "lineage/exportAsync"),
        *("lineage/getLineageByEntityCount", "lineage/getPaginationInfo"),
    ),
}
"""By what people call it: the paths below /api/v1."""

router = APIRouter()


def _add_unsupported(what: str, path: str) -> None:
    def refuse(_: Request) -> Response:
        raise ApiError(404, f"{path} instance not found: this catalog leaves out {what.partition(':')[0]}")

    for below in ("", "/{rest:path}"):
        methods = ["GET", "POST", "PUT", "PATCH", "DELETE"]
        router.add_route(f"/api/v1/{path}{below}", refuse, methods=methods, include_in_schema=False)


for _what, _paths in UNSUPPORTED.items():
    for _path in _paths:
        _add_unsupported(_what, _path)
