"""One embedded catalog for the tests of a module; each test has a service of its own in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count

import pytest

from connectors.openmetadata.client import Platform
from connectors.openmetadata.entities import Collection, TableDefinition, put
from connectors.source_settings import LineageConfig
from ingestion.model.fqn import build_fqn
from ingestion.model.lineage import Column
from ingestion.parsing.parser_pool import close_warm_parsers
from tests.behaviour.harness import Outcome, Record, Warehouse, add_tables, catalog_with, publish
from tests.support.catalog_contents import Catalog
from workflows.run.read.definitions import catalog_definitions

_numbers = count()


@dataclass(frozen=True)
class Shop:
    """A service with tables, into which logs are run."""

    platform: Platform
    catalog: Catalog
    warehouse: Warehouse

    def run(self, *log: Record | str, **changes: object) -> Outcome:
        return publish(self.platform, log, replace(self.warehouse, **changes))  # type: ignore[arg-type]

    def run_definitions(self, *log: Record | str, incremental: bool = True) -> Outcome:
        """A run with what the catalog itself has defined."""
        wanted = LineageConfig.model_validate({"incrementalLineageProcessing": incremental})
        definitions = catalog_definitions(self.platform, self.warehouse.service, wanted)
        return publish(self.platform, log, self.warehouse, definitions)

    def define(self, name: str, columns: Sequence[str], definition: str, kind: str = "View") -> None:
        """A view as another tool registers it: the statement, or the query alone."""
        schema = build_fqn(self.warehouse.service, "db", "public")
        known = tuple(Column(column, "VARCHAR(9)") for column in columns)
        put(self.platform.http, Collection.TABLES, TableDefinition(schema, name, known, kind, definition).to_json())

    def add(self, tables: Mapping[str, Sequence[str]], service: str = "") -> None:
        """More tables: "schema.table" or "database.schema.table" -> columns."""
        add_tables(self.platform, {_fqn(service or self.warehouse.service, name): tables[name] for name in tables})


Opened = Callable[..., Shop]


@pytest.fixture(scope="module", autouse=True)
def no_parser_left() -> Iterator[None]:
    """The warm parser processes end with the module: other tests count what is left."""
    yield
    close_warm_parsers()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Platform, Catalog]]:
    with catalog_with(tmp_path_factory.mktemp("catalog") / "catalog.db", {}) as served:
        yield served


@pytest.fixture
def shop(served: tuple[Platform, Catalog]) -> Opened:
    """A service with the given tables and dialect."""

    def opened(tables: Mapping[str, Sequence[str]], **settings: object) -> Shop:
        warehouse = replace(Warehouse(service=f"svc{next(_numbers)}"), **settings)  # type: ignore[arg-type]
        made = Shop(served[0], served[1], warehouse)
        made.add(tables)
        return made

    return opened


def _fqn(service: str, name: str) -> str:
    parts = name.split(".")
    return ".".join([service, *(["db"] if len(parts) == 2 else []), *parts])
