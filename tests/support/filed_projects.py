"""A dbt project with all that is filed of one beside its lineage."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from connectors.dbt.model_statements import DbtProject
from connectors.dbt.nodes import DbtExposure, DbtMeasure, DbtMetric
from connectors.dbt.projects import project_from_manifest
from connectors.dbt.settings import DbtLineageConfig
from connectors.openmetadata.client import Platform
from ingestion.model.isolation import no_probe
from ingestion.parsing.sandbox.process import Limits
from tests.support.dbt_project import BUILT
from workflows.run.publish._dbt_filing import ProjectFiling


@cache
def project() -> DbtProject:
    """One with tests, whose models a metric and a report read."""
    found = project_from_manifest(BUILT / "manifest.json", None, Limits(), BUILT / "catalog.json")
    assert found.manifest is not None
    model = min(one for one in found.nodes if one.startswith("model."))
    sums = (DbtMeasure("total", "sum", "amount", "all of it"),)
    metric = DbtMetric(
        "metric.gross", "gross", "simple", (model,), tags=("money",), measures=sums, dimensions=(("t", True),)
    )
    report = DbtExposure("exposure.weekly", "weekly", "notebook", (model,), url="https://bi.example/1")
    return replace(found, manifest=replace(found.manifest, metrics=(metric,)), exposures=(report,))


def filed_to(platform: Platform, table: str) -> tuple[str, ...]:
    """Files it, all of its nodes being one table; what is told of it."""
    wanted = DbtLineageConfig.model_validate({"dbtConfigSource": {"dbtManifestFilePath": str(BUILT)}})
    names = dict.fromkeys(project().nodes, table)
    return ProjectFiling(project(), wanted, names, "shop", True, {}).file(platform, no_probe)
