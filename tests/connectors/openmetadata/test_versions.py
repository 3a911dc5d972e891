"""What each version of OpenMetadata is spoken to as, and what it cannot hold."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from connectors.catalog.http.server import CatalogConfig, running_catalog
from connectors.openmetadata.client import connect
from connectors.openmetadata.connection import Connection
from connectors.openmetadata.versions import check_version, features_of
from connectors.sink import EdgeCounts
from ingestion.errors import ConfigError
from ingestion.model.entities import EntityReference
from ingestion.model.requests import EdgeSource, EntitiesEdge, LineageDetails, TempLineageTable


@pytest.mark.parametrize(
    ("version", "minor"),
    [
        ("1.10.14", "1.10"),
        ("1.6.0-SNAPSHOT", "1.6"),
        ("2.0.7", "2.0"),
        ("2.1.0-rc1", "2.1"),
        ("3.4", "2.1"),
        ("main", "2.1"),
        ("v1.9.3", "1.9"),
    ],
)
def test_a_version_is_known_by_its_first_two_numbers(version: str, minor: str) -> None:
    assert features_of(version).name == minor


def test_what_is_newer_is_spoken_to_as_the_newest_and_said_so(caplog: pytest.LogCaptureFixture) -> None:
    for known in ("1.5.0", "1.13.6", "2.1.9"):
        check_version(known)
    assert not caplog.records
    check_version("2.2.0")
    check_version("main")
    assert [record.levelno for record in caplog.records] == [logging.WARNING] * 2
    assert "2.2.0, which is not known here: spoken to as 2.1" in caplog.text


def test_what_is_older_than_what_works_is_refused(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with running_catalog(CatalogConfig(tmp_path / "catalog.db", port=0, version="1.4.8")) as address:
        with pytest.raises(ConfigError, match=r"1\.4\.8, and 1\.5 is the oldest that works"):
            connect(Connection(address.url))
        connect(Connection(address.url, validate_version=False)).close()
    assert "1.4.8" in caplog.text


def edge(source: str = EdgeSource.QUERY, *hops: TempLineageTable) -> EntitiesEdge:
    details = LineageDetails(source=source, temp_lineage_tables=hops)
    return EntitiesEdge(EntityReference("a", "table"), EntityReference("b", "table"), details)


def test_an_edge_is_cut_to_what_a_version_holds_and_what_is_cut_is_counted() -> None:
    hop = TempLineageTable("a", "tmp")
    for version, without_hops, other_source in (("1.5", 1, 1), ("1.6", 1, 1), ("1.7", 1, 0), ("1.13", 0, 0)):
        features = features_of(version)
        fitted, lost = features.fit(edge(EdgeSource.CROSS_DATABASE, hop))
        assert lost == EdgeCounts(without_hops=without_hops, other_source=other_source)
        assert fitted.lineage_details.temp_lineage_tables == (() if without_hops else (hop,))
        assert fitted.lineage_details.source == (EdgeSource.QUERY if other_source else EdgeSource.CROSS_DATABASE)
        plain = edge(EdgeSource.VIEW)
        assert features.fit(plain) == (plain, EdgeCounts())


def test_what_was_lost_is_told_in_one_line() -> None:
    lost = EdgeCounts(new=40, without_hops=12, other_source=1, refused_columns=2, unmarked=1)
    assert list(features_of("1.6.2").losses(lost)) == [
        "OpenMetadata 1.6 cannot hold all: it has no temporary-table lineage (12 edges without it); it has no "
        "CrossDatabaseLineage (1 edges as QueryLineage); it does not know some columns (2 column edges left out); "
        "it marks no view or procedure as processed (1 to be read again by the next run)"
    ]
    assert list(features_of("1.6.2").losses(EdgeCounts(new=40, replaced=3))) == []


def test_a_service_of_a_younger_type_is_made_as_any_other() -> None:
    assert features_of("1.11").service_type("StarRocks") == "CustomDatabase"
    assert features_of("1.12").service_type("StarRocks") == "StarRocks"
    assert features_of("1.5").service_type("Postgres") == "Postgres"
