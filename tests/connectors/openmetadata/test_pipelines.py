"""The status of a run as a real platform takes it: the pipeline is made where it is not there."""

from __future__ import annotations

from typing import Any, cast

import pytest

from connectors.openmetadata.http import Call, Http, NotFound
from connectors.openmetadata.pipelines import file_pipeline_status

STATUS = {"runId": "r1", "pipelineState": "success", "startDate": 1, "timestamp": 1, "endDate": 2}


class Platform:
    """Takes a status only of pipelines that are there, as the platform does; one service is."""

    def __init__(self) -> None:
        self.pipelines: set[str] = set()
        self.calls: list[tuple[str, Any]] = []

    def send(self, call: Call) -> Any:
        path = call.path.removeprefix("services/ingestionPipelines")
        if path and path.split("/")[1] not in self.pipelines:
            raise NotFound("not found")
        self.calls.append((call.path, call.body))
        if not path:
            assert isinstance(call.body, dict)
            self.pipelines.add(f"shop.{call.body['name']}")
        return None

    def get(self, path: str, _params: Any = None) -> Any:
        there = path == "services/databaseServices/name/shop"
        return {"id": "i1", "name": "shop", "fullyQualifiedName": "shop"} if there else None


def test_a_pipeline_is_made_once_where_its_service_is_there() -> None:
    platform = Platform()
    for _ in range(2):
        file_pipeline_status(cast(Http, platform), "shop.nightly", STATUS)
    made, *filed = platform.calls
    assert made[1]["service"] == {"id": "i1", "type": "databaseService"}
    assert filed == [("services/ingestionPipelines/shop.nightly/pipelineStatus", STATUS)] * 2
    with pytest.raises(NotFound):
        file_pipeline_status(cast(Http, platform), "elsewhere.nightly", STATUS)
