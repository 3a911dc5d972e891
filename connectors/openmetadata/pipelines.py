"""How a run ended, as a metadata platform shows it beside the service: the status of an ingestion pipeline.

Known from the sources of versions 1.5 to 2.0, not tried on a live one: the status is keyed by its run, the pipeline has
to be there, and is made with the service that it is of.
"""

from __future__ import annotations

from connectors.openmetadata.entities import Collection, find_reference
from connectors.openmetadata.http import Call, Http, NotFound, path_of
from ingestion.model import fqn
from ingestion.model.lineage import Json

_PIPELINES = "services/ingestionPipelines"


def file_pipeline_status(http: Http, pipeline: str, status: Json) -> None:
    """Files the status of a run, and makes the pipeline where its service is there and the pipeline is not.

    Raises Rejected where it is not taken, and TargetDown.
    """
    call = Call("PUT", f"{_PIPELINES}/{path_of(pipeline)}/pipelineStatus", body=status)
    try:
        http.send(call)
    except NotFound:
        _make(http, pipeline)
        http.send(call)


def _make(http: Http, pipeline: str) -> None:
    *service, name = fqn.split(pipeline)
    found = find_reference(http, Collection.DATABASE_SERVICES, ".".join(service)) if len(service) == 1 else None
    if found is None:
        raise NotFound(f"{pipeline} is no pipeline of a database service that is there: name it <service>.<name>")
    body = {
        "name": fqn.decode_name(name),
        "pipelineType": "lineage",
        "service": {"id": found.id, "type": found.type},
        "sourceConfig": {"config": {"type": "DatabaseLineage"}},
        "airflowConfig": {},
    }
    http.send(Call("PUT", _PIPELINES, body=body))
