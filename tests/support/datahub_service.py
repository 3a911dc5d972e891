"""A small DataHub: aspects, and what proposals make of them by the rules of JSON Patch, behind its REST calls."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import jsonpatch
from datahub.metadata.urns import DatasetUrn, QueryUrn, SchemaFieldUrn
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from connectors.datahub.rest import settings as rest_settings

SOURCE_URN, TARGET_URN = (
    f"urn:li:dataset:(urn:li:dataPlatform:postgres,db.s.{name},PROD)" for name in ("orders", "daily")
)


@dataclass
class Model:
    """Aspects by entity; an upstream is kept by its dataset, an edge of columns by the four parts of its key."""

    aspects: dict[str, dict[str, Any]] = field(default_factory=lambda: defaultdict(dict))

    def take(self, proposals: Iterable[dict[str, Any]]) -> None:
        """Proposals as a file has them. Fails where one is none that DataHub can take."""
        for one in proposals:
            content, aspects = one["aspect"]["json"], self.aspects[one["entityUrn"]]
            if one["changeType"] == "UPSERT":
                QueryUrn.from_string(one["entityUrn"])
                for subject in content.get("subjects", ()):
                    _check_urn(subject["entity"])
                aspects[one["aspectName"]] = content
                continue
            assert (one["changeType"], one["aspectName"]) == ("PATCH", "upstreamLineage")
            DatasetUrn.from_string(one["entityUrn"])
            empty: dict[str, Any] = {"upstreams": {}, "fineGrainedLineages": {}}
            aspect = aspects.setdefault(one["aspectName"], empty)
            for step in content:
                self._patch(aspect, step)

    def _patch(self, aspect: dict[str, Any], step: dict[str, Any]) -> None:
        assert step["op"] in ("add", "remove")
        kind, *parts = (part.replace("~1", "/").replace("~0", "~") for part in step["path"].split("/")[1:])
        if kind == "upstreams":
            (dataset,) = parts
            DatasetUrn.from_string(dataset)
            assert step["op"] == "remove" or step["value"]["dataset"] == dataset
        else:
            _operation, downstream, query, upstream = parts
            _check_urn(downstream)
            _check_urn(upstream)
            assert query == "NONE" or QueryUrn.from_string(query)
            assert step["op"] == "remove" or 0 <= step["value"]["confidenceScore"] <= 1
        within = aspect[kind]
        for part in parts[:-1]:
            within = within.setdefault(part, {})
        jsonpatch.apply_patch(aspect, [step], in_place=True)

    @property
    def upstreams(self) -> dict[str, Any]:
        return self.aspects[TARGET_URN].get("upstreamLineage", {}).get("upstreams", {})

    @property
    def columns(self) -> set[tuple[str, str, str, float]]:
        """Transformation, downstream and upstream field, and confidence."""
        found = self.aspects[TARGET_URN].get("upstreamLineage", {}).get("fineGrainedLineages", {})
        return {
            (operation, _field(to), _field(source), value["confidenceScore"])
            for operation, by_target in found.items()
            for to, by_query in by_target.items()
            for by_source in by_query.values()
            for source, value in by_source.items()
        }


def _check_urn(urn: str) -> None:
    if urn.startswith("urn:li:schemaField:"):
        DatasetUrn.from_string(SchemaFieldUrn.from_string(urn).parent)
    else:
        DatasetUrn.from_string(urn)


def _field(urn: str) -> str:
    return SchemaFieldUrn.from_string(urn).field_path


@dataclass
class Service:
    """The metadata service: what it took; `refuses` gives the status for a body, None where it is taken."""

    server: HTTPServer
    model: Model = field(default_factory=Model)
    door: int = 200
    page: str = '{"noCode": "true"}'
    statuses: list[int] = field(default_factory=list)
    refused: str = "db.s.bad"
    unanswered: int = 0
    calls: int = 0
    tokens: set[str | None] = field(default_factory=set)

    def config(self, request: Request) -> Response:
        self.tokens.add(request.headers.get("Authorization"))
        return Response(self.page, self.door)

    def aspects(self, request: Request) -> Response:
        body = request.get_json()
        self.calls += 1
        if self.statuses:
            return Response(json.dumps({"message": "no"}), self.statuses.pop(0))
        if self.refused in json.dumps(body):
            return Response(json.dumps({"message": "unknown urn", "stackTrace": "at x"}), 400)
        self.model.take(map(_as_in_files, body["proposals"]))
        if self.unanswered:
            self.unanswered -= 1
            return Response("", 502)
        return Response("{}", 200)

    def aspect(self, request: Request) -> Response:
        """What a dataset is made of, as a GET of the aspect gives it."""
        urn = request.path.removeprefix("/aspects/")
        if "upstreamLineage" not in self.model.aspects[urn]:
            return Response(json.dumps({"message": "none"}), 404)
        upstreams = list(self.model.aspects[urn]["upstreamLineage"]["upstreams"].values())
        return Response(json.dumps({"aspect": {"com.linkedin.dataset.UpstreamLineage": {"upstreams": upstreams}}}))

    def settings(self, **more: Any) -> rest_settings.DatahubRestSettings:
        given = {"server": self.server.url_for("").rstrip("/"), "token": "canary-token", "retry_max_times": 0}
        return rest_settings.DatahubRestSettings.model_validate({**given, **more})


def _as_in_files(proposal: dict[str, Any]) -> dict[str, Any]:
    return {**proposal, "aspect": {"json": json.loads(proposal["aspect"]["value"])}}


def answer_by(service: Service) -> None:
    """Has its server answer as the service does."""
    server = service.server
    server.expect_request("/config").respond_with_handler(service.config)
    server.expect_request("/aspects", query_string="action=ingestProposalBatch").respond_with_handler(service.aspects)
    server.expect_request(re.compile("/aspects/.+"), method="GET").respond_with_handler(service.aspect)


@contextmanager
def served() -> Iterator[Service]:
    """One of its own, for the block."""
    with HTTPServer("127.0.0.1", 0) as server:
        made = Service(server)
        answer_by(made)
        yield made
