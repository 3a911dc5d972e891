"""Configurations of connectors in each form that people keep them in, and what is none of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

from connectors.dashboards.files import exported_files
from connectors.kafka_connect._documents import ENDINGS, ConnectorDocuments, documents_of_files, documents_of_worker
from connectors.kafka_connect.settings import ConnectWorker
from ingestion.errors import ConfigError
from tests.support.connectors_of_connect import CHANGES, SINK

CLASS = "org.acme.Source"


def read(folder: Path) -> ConnectorDocuments:
    return documents_of_files(exported_files(folder, ENDINGS))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", json.dumps({"name": "orders", "config": {"connector.class": CLASS, "tasks.max": 1}})),
        ("orders.json", json.dumps({"connector.class": CLASS, "tasks.max": 1})),
        ("b.json", json.dumps([{"name": "orders", "connector.class": CLASS, "tasks.max": 1}])),
        ("c.json", json.dumps({"orders": {"info": {"config": {"connector.class": CLASS, "tasks.max": "1"}}}})),
        ("d.properties", f"# of ours\nname=orders\nconnector.class = {CLASS}\ntasks.max:\\\n  1\n"),
        ("e.yaml", f"kind: KafkaConnector\nmetadata: {{name: orders}}\nspec: {{class: {CLASS}, "
                   "config: {tasks.max: 1}}\n"),
    ],
)  # fmt: skip
def test_each_form_is_the_same_connector(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    found = read(tmp_path)
    assert (found.foreign, found.unread) == ((), ())
    (only,) = found.connectors
    assert (only.name, only.config["connector.class"], only.config["tasks.max"]) == ("orders", CLASS, "1")
    assert only.location == f"{name}:1"


def test_properties_are_read_as_java_reads_them(tmp_path: Path) -> None:
    (tmp_path / "a.properties").write_text(
        "! of ours \\\n"
        f"connector.class={CLASS}\n"
        r"""table.include.list = shop\\.orders,\
            shop\\.web
topic\:index\ map : caf\u00e9\:x\=y
path=C\:\\dir\\
empty=
  tasks.max   1
"""
    )
    (only,) = read(tmp_path).connectors
    assert only.config == {
        "connector.class": CLASS,
        "table.include.list": r"shop\.orders,shop\.web",
        "topic:index map": "café:x=y",
        "path": "C:\\dir\\",
        "empty": "",
        "tasks.max": "1",
    }


def test_what_is_none_is_told_in_one_line_each(tmp_path: Path) -> None:
    secret = tmp_path / "elsewhere.json"
    (folder := tmp_path / "connectors").mkdir()
    secret.write_text(json.dumps(CHANGES))
    (folder / "cut.json").write_text(json.dumps(CHANGES)[:-40])
    (folder / "deep.json").write_text("[" * 100_000)
    (folder / "link.json").symlink_to(secret)
    (folder / "other.json").write_text('{"name": "package", "version": "2.0"}')
    (folder / "values.yaml").write_text("a: {{ .Values.b }}\n")
    (folder / "broken.yaml").write_text("kind: KafkaConnector\nspec: {class: [\n")
    (folder / "bytes.json").write_bytes(b"\xff\x00{")
    found = read(folder)
    assert found.connectors == ()
    assert found.foreign == ("other.json:1", "values.yaml:1")
    assert {one.location: one.problem for one in found.unread} == {
        "broken.yaml:1": "it is no YAML, or is cut",
        "bytes.json:1": "it is not UTF-8 text",
        "cut.json:1": "it is no JSON, or is cut",
        "deep.json:1": "it is no JSON, or is cut",
        "link.json:1": "a symbolic link, which is not followed",
    }


def test_a_worker_tells_its_connectors_and_the_topics_that_it_has_seen(httpserver: HTTPServer) -> None:
    listed = {
        "mart-orders": {"info": {**SINK, "tasks": [], "type": "sink"}},
        "shop-changes": {"info": {**CHANGES, "tasks": [], "type": "source"}},
    }
    who = {"authorization": "Basic YW5uOm9wZW4tc2VzYW1l"}
    httpserver.expect_request("/connectors", query_string="expand=info", headers=who).respond_with_json(listed)
    seen = httpserver.expect_request("/connectors/shop-changes/topics", headers=who)
    seen.respond_with_json({"shop-changes": {"topics": ["b", "a"]}})
    unknown = httpserver.expect_request("/connectors/mart-orders/topics")
    unknown.respond_with_json({"error_code": 404, "message": "not there"}, status=404)
    settings = {"hostPort": httpserver.url_for(""), "username": "ann", "password": "open-sesame"}
    found = documents_of_worker(ConnectWorker.model_validate(settings))
    assert [(one.name, one.location, one.topics) for one in found.connectors] == [
        ("mart-orders", "connectors/mart-orders:1", ()),
        ("shop-changes", "connectors/shop-changes:1", ("a", "b")),
    ]


def test_a_server_of_something_else_is_told(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/connectors").respond_with_json(["orders"])
    with pytest.raises(ConfigError, match="does not list connectors"):
        documents_of_worker(ConnectWorker.model_validate({"hostPort": httpserver.url_for("")}))
