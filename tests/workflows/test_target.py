"""A server is asked for its version once, and every wrong answer is one sentence."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import NoReturn

import pytest
from pytest_httpserver import HTTPServer

from connectors.catalog.http.server import CatalogConfig, running_catalog
from connectors.openmetadata.connection import Connection
from ingestion.errors import ConfigError, LineageError, TargetDown
from workflows.config import Server, SslConfig, load_config
from workflows.target import check_sink, connection_of, open_target, server_version

SAMPLE = Path(__file__).parents[2] / "config" / "lineage.yaml"


def server(url: str, token: str = "t", verify: str = "no-ssl", **certificates: Path) -> Server:
    """A server whose certificates need not be there."""
    content = {"hostPort": url, "securityConfig": {"jwtToken": token}, "verifySSL": verify}
    return Server.model_validate(content).with_value("ssl_config", SslConfig.model_construct(**certificates))


def test_the_embedded_catalog_answers_as_a_server_does(tmp_path: Path) -> None:
    with running_catalog(CatalogConfig(tmp_path / "c.db", port=0, token="right")) as address:
        assert server_version(server(address.url, "right")) == "2.0.7"
        with pytest.raises(ConfigError, match="token"):
            server_version(server(address.url, "wrong"))


@pytest.mark.parametrize(
    ("status", "body"), [(200, "<html>hello</html>"), (200, "[]"), (404, "not here"), (500, "oh"), (302, "")]
)
def test_something_else_at_that_address_is_named(httpserver: HTTPServer, status: int, body: str) -> None:
    httpserver.expect_request("/api/v1/system/version").respond_with_data(body, status, {"Location": "/login"})
    httpserver.expect_request("/api/v1/services/databaseServices").respond_with_json({"data": []})

    with pytest.raises(LineageError) as caught:
        server_version(server(httpserver.url_for("/api"), "s3cret"))

    assert caught.value.exit_code in {2, 75}
    assert "s3cret" not in str(caught.value)


def test_nobody_there_is_a_target_that_is_down(httpserver: HTTPServer) -> None:
    url = httpserver.url_for("/api")
    httpserver.stop()

    with pytest.raises(TargetDown):
        server_version(server(url, "t"))
    httpserver.start()


def test_tls_settings_reach_the_client() -> None:
    ca, certificate, key = Path("ca.pem"), Path("c.pem"), Path("k.pem")

    assert connection_of(server("https://h/api", "t")).verify is True
    assert connection_of(server("https://h/api", ca_certificate=ca, verify="ignore")).verify is False
    whole = server("https://h/api", ssl_certificate=certificate)  # a file that holds the certificate and its key
    assert connection_of(whole).client_certificate == "c.pem"
    full = server("https://h/api", ca_certificate=ca, ssl_certificate=certificate, ssl_key=key)
    full = connection_of(full, threads=3)
    assert (full.verify, full.client_certificate, full.connections) == ("ca.pem", ("c.pem", "k.pem"), 3)


def test_a_run_and_the_doctor_connect_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    tls = server("https://h/api", ca_certificate=Path("ca.pem"), verify="ignore")
    asked: list[Connection] = []

    def refuse(connection: Connection) -> NoReturn:
        asked.append(connection)
        raise TargetDown("not there")

    monkeypatch.setattr("workflows.target.connect", refuse)
    config = load_config(SAMPLE, environment={}).with_value("workflow_config.open_metadata_server_config", tls)
    with pytest.raises(TargetDown), open_target(config, "run", dry_run=True):
        pass
    assert asked == [connection_of(tls, threads=asked[0].connections)]


@pytest.mark.parametrize(
    ("sink", "told"),
    [
        ("{type: metadata-rest, config: {}}", ["catalog c.db", "look at it with ingest serve --catalog c.db"]),
        ("{type: edge-file, config: {path: e.csv}}", ["published to e.csv", "catalog c.db"]),
    ],
)
def test_where_to_look_is_where_the_sink_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sink: str, told: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.csv").write_text("source,target\n")
    (tmp_path / "w.yaml").write_text(
        "source: {type: edge-list, serviceName: shop,\n"
        "         sourceConfig: {config: {type: DatabaseLineage, edgeListPath: in.csv}}}\n"
        f"sink: {sink}\n"
        "workflowConfig: {openMetadataServerConfig: {hostPort: embedded}}\n"
        "headwater: {catalog: {file: c.db}}\n"
    )
    config = load_config(tmp_path / "w.yaml")
    with open_target(config, "run", dry_run=False) as target:
        assert [f"{one.label} {one.location}" for one in target.where] == told
    check_sink(config)
    (tmp_path / "e.csv").write_text("of something else\n")
    with nullcontext() if "e.csv" not in told[0] else pytest.raises(ConfigError, match=r"e\.csv"):
        check_sink(config)
