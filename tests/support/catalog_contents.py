"""What a catalog holds after a run, read through its own REST API."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import requests

from connectors.catalog.http.server import CatalogConfig, running_catalog
from ingestion.model.fqn import split_fqn
from tests.support import class_archive

REPOSITORY = class_archive.REPOSITORY
SECONDS = 240


def ingest(*arguments: str | Path, cwd: Path, **changed: str) -> subprocess.CompletedProcess[str]:
    """The command line, as a process of its own; `changed` are environment variables."""
    command = [str(Path(sys.executable).with_name("ingest")), *map(str, arguments)]
    environment = {"PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": str(cwd), **class_archive.passed_on(), **changed}
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
    )


@dataclass(frozen=True)
class Catalog:
    """A catalog's tables and edges. Names of tables are schema.table, or a container's path."""

    url: str

    def get(self, path: str, **params: Any) -> Any:
        answer = requests.get(f"{self.url}/v1/{path}", params=params, timeout=30)
        answer.raise_for_status()
        return answer.json()

    def listing(self, collection: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        after: dict[str, str] = {}
        while True:
            page = self.get(collection, limit=100, **after)
            found += page["data"]
            if "after" not in page["paging"]:
                return found
            after = {"after": page["paging"]["after"]}

    def edges(self, service: str = "") -> dict[tuple[str, str], dict[str, Any]]:
        """(source, target) -> lineageDetails, for every edge into a table, or into one of this service."""
        found = {}
        for table in self.listing("tables"):
            if service and table["service"]["name"] != service:
                continue
            graph = self.get(
                f"lineage/table/name/{quote(table['fullyQualifiedName'], safe='')}", upstreamDepth=1, downstreamDepth=0
            )
            names = {node["id"]: node["fullyQualifiedName"] for node in (graph["entity"], *graph["nodes"])}
            for edge in graph["upstreamEdges"]:
                if edge["toEntity"] == table["id"]:
                    key = short(names[edge["fromEntity"]]), short(names[edge["toEntity"]])
                    found[key] = edge["lineageDetails"]
        return found

    def column_edges(self) -> set[tuple[str, str, str, str]]:
        return {
            (*column(source), *column(mapping["toColumn"]))
            for details in self.edges().values()
            for mapping in details["columnsLineage"]
            for source in mapping["fromColumns"]
        }


def short(fqn: str) -> str:
    """schema.table of a table, the name of a container."""
    parts = split_fqn(fqn)
    return ".".join(parts[2:4]) if len(parts) >= 4 else parts[-1]


def column(fqn: str) -> tuple[str, str]:
    """(schema.table, column) of a column."""
    parts = split_fqn(fqn)
    return ".".join(parts[2:4]), ".".join(parts[4:])


@contextmanager
def opened(file: Path) -> Iterator[Catalog]:
    with running_catalog(CatalogConfig(file, port=0)) as address:
        yield Catalog(address.url)
