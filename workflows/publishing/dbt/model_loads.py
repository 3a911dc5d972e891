"""What dbt's last run made of models, seeds and snapshots, as loads of their tables."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence

from connectors.dbt.target.results import NodeResult
from connectors.openmetadata.entities import extension
from connectors.openmetadata.transport.platform import Platform
from ingestion.isolation import FailureStage, Probe, in_parts
from ingestion.model import Json
from ingestion.names.fqn import split_fqn
from ingestion.resolution.cached_search import PartialName
from workflows.report.losses import loss_warnings

_STATUSES = {"success": "complete", "error": "failed", "runtime error": "failed"}
"""A model that was skipped was no attempt."""


def file_model_loads(
    platform: Platform, names: Mapping[str, str], results: Mapping[str, NodeResult], probe: Probe
) -> tuple[str, ...]:
    """Files the loads of the nodes in `names` (FQNs by unique_id) where the catalog keeps loads; what to warn of."""
    if not {extension.LOADS, extension.LOOKUP} <= platform.capabilities:
        return ()
    loads = [(names[one.unique_id], load) for one in results.values() if one.unique_id in names for load in _loads(one)]
    entities = _entities(platform, sorted({name for name, _load in loads}))
    bodies = [{**load, "entity": entities[name]} for name, load in loads if name in entities]
    failed = in_parts(bodies, lambda some: extension.file_loads(platform.http, some), FailureStage.LOADS, probe)
    return loss_warnings("loads of models could not be filed", (failure for _body, failure in failed))


def _loads(result: NodeResult) -> Iterator[Json]:
    status = _STATUSES.get(result.status)
    if status is None or result.at is None:
        return
    at = round(result.at * 1000)
    run = hashlib.blake2b(f"{result.unique_id}\0{at}".encode(), digest_size=8).hexdigest()
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
        for name, matches in zip(of_service, extension.look_up(platform.http, service, parts), strict=True):
            same = (one for one in matches if one.fully_qualified_name.casefold() == name.casefold())
            if (entity := next(same, None)) is not None:
                found[name] = {"id": entity.id, "type": entity.type}
    return found
