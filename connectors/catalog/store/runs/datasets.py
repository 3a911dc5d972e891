"""OpenLineage's datasets as entities: found where they are known, registered where they are not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from sqlalchemy import Connection, select

from connectors.catalog.contract.entity_types import BY_TYPE
from connectors.catalog.contract.openlineage_models import Dataset
from connectors.catalog.store.database import loads
from connectors.catalog.store.entities import columns as columns_of
from connectors.catalog.store.entities.entities import EntityRow, find
from connectors.catalog.store.entities.registration import Registration
from connectors.catalog.store.schema import entities
from ingestion.model import Json
from ingestion.names import fqn
from ingestion.names.storage_paths import normal_path

_SERVICE_TYPES: Mapping[str, str] = {
    "athena": "Athena",
    "awsathena": "Athena",
    "bigquery": "BigQuery",
    "databricks": "Databricks",
    "hive": "Hive",
    "mssql": "Mssql",
    "mysql": "Mysql",
    "oracle": "Oracle",
    "postgres": "Postgres",
    "postgresql": "Postgres",
    "redshift": "Redshift",
    "snowflake": "Snowflake",
    "sqlserver": "Mssql",
    "trino": "Trino",
    "unitycatalog": "UnityCatalog",
}
_STORAGE_TYPES: Mapping[str, str] = {
    "abfs": "ADLS",
    "abfss": "ADLS",
    "dbfs": "CustomStorage",
    "file": "CustomStorage",
    "gs": "GCS",
    "hdfs": "CustomStorage",
    "s3": "S3",
    "s3a": "S3",
    "s3n": "S3",
    "wasb": "ADLS",
    "wasbs": "ADLS",
}
# the platform's name for each standardised type
_PLATFORM_TYPES: Mapping[str, str] = {"INTEGER": "BIGINT", "FLOAT": "DOUBLE", "GEOGRAPHY": "GEOGRAPHY"}
_DEFAULT = "default"


@dataclass(slots=True)
class Datasets:
    """Entities for datasets, within one transaction; each dataset is resolved once."""

    connection: Connection
    registration: Registration
    _resolved: dict[tuple[str, str], EntityRow] = field(default_factory=dict)

    def entity(self, dataset: Dataset, named: set[str]) -> EntityRow:
        """The entity of a dataset, with the columns that its schema has or that lineage names."""
        namespace, name, path = _identity(dataset)
        key = (namespace, name)
        columns = _columns(dataset, named)
        row = self._resolved.get(key)
        if row is None:
            row = self._stored_entity(path) if path else None
            row = row or self._table_known(namespace, name)
        if row is None or columns:
            row = self._register(row, key, path, columns)
        self._resolved[key] = row
        return row

    def known_entity(self, dataset: Dataset) -> EntityRow | None:
        """The entity of a dataset, None where there is none yet."""
        namespace, name, path = _identity(dataset)
        stored = self._stored_entity(path) if path else None
        return stored or self._table_known(namespace, name)

    def _stored_entity(self, path: str) -> EntityRow | None:
        where = (entities.c.path == normal_path(path), entities.c.deleted.is_(False))
        stored = entities.c.type.in_(("container", "table"))
        return self.connection.execute(select(entities).where(*where, stored).order_by(entities.c.type)).first()

    def _table_known(self, namespace: str, name: str) -> EntityRow | None:
        service = self._service(namespace)
        parts = [part.casefold() for part in fqn.split(name)]
        if service is None or _is_storage(namespace):
            return None
        where = (
            entities.c.type == "table",
            entities.c.service_folded == service.casefold(),
            entities.c.name_folded == parts[-1],
            entities.c.deleted.is_(False),
        )
        rows = self.connection.execute(select(entities).where(*where)).all()
        fitting = [row for row in rows if fqn.split(row.fqn_folded)[-len(parts) :] == parts]
        return fitting[0] if len(fitting) == 1 else None

    def _service(self, namespace: str) -> str | None:
        """The service of a namespace: the one of its name, or the one that connects to its address."""
        if find(self.connection, "databaseService", fqn.quote(namespace)) is not None:
            return namespace
        address = urlsplit(namespace).netloc.rpartition("@")[2].casefold()
        if not address:
            return None
        services = select(entities).where(entities.c.type == "databaseService", entities.c.deleted.is_(False))
        for row in self.connection.execute(services.order_by(entities.c.fqn)):
            config = (loads(row.document).get("connection") or {}).get("config") or {}
            if str(config.get("hostPort") or "").casefold() == address:
                return fqn.split(row.fqn)[0]
        return None

    def _register(
        self, row: EntityRow | None, key: tuple[str, str], path: str | None, columns: list[Json]
    ) -> EntityRow:
        kind, request = self._request(row, key, path)
        if kind == "container":
            request["dataModel"] = {"columns": columns}
        else:
            request["columns"] = columns
        done = self.registration.put(BY_TYPE[kind], request)
        stored = find(self.connection, kind, done.fqn)
        assert stored is not None
        return stored

    def _request(self, row: EntityRow | None, key: tuple[str, str], path: str | None) -> tuple[str, Json]:
        if row is not None:
            document = loads(row.document)
            if row.type == "container":
                request: Json = {"name": document["name"], "service": document["service"]["fullyQualifiedName"]}
                if document.get("parent"):
                    request["parent"] = document["parent"]
                return row.type, request
            return row.type, {
                "name": document["name"],
                "databaseSchema": document["databaseSchema"]["fullyQualifiedName"],
            }
        namespace, name = key
        if _is_storage(namespace):
            service = self._make("storageService", namespace, {"serviceType": _STORAGE_TYPES[_scheme(namespace)]})
            return "container", {"name": name, "service": service, "fullPath": path}
        known = self._service(namespace)
        kind = {"serviceType": _SERVICE_TYPES.get(_scheme(namespace), "CustomDatabase")}
        service = fqn.quote(known) if known is not None else self._make("databaseService", namespace, kind)
        parts = fqn.split(name)
        database, schema = [_DEFAULT, _DEFAULT, *parts[:-1]][-2:]
        parent = self._make("database", database, {"service": service})
        parent = self._make("databaseSchema", ".".join([*parts[:-3], schema]), {"database": parent})
        request = {"name": parts[-1], "databaseSchema": parent}
        if path:
            request["locationPath"] = path
        return "table", request

    def _make(self, kind: str, name: str, request: Json) -> str:
        return self.registration.put(BY_TYPE[kind], {"name": name, **request}).fqn


def _identity(dataset: Dataset) -> tuple[str, str, str | None]:
    """Namespace and name of the table that a dataset is, and the path where it is stored."""
    path = _path(dataset.namespace, dataset.name) if _is_storage(dataset.namespace) else None
    symlinks = dataset.facets.symlinks if dataset.facets is not None else None
    for other in (symlinks.identifiers if symlinks is not None else None) or ():
        if other.type == "TABLE" and not _is_storage(other.namespace):
            return other.namespace, other.name, path
    return dataset.namespace, dataset.name, path


def _scheme(namespace: str) -> str:
    return namespace.partition("://")[0].casefold()


def _is_storage(namespace: str) -> bool:
    return _scheme(namespace) in _STORAGE_TYPES


def _path(namespace: str, name: str) -> str:
    # a path may carry a password or a signature; the place alone is a name
    scheme, _, place = namespace.partition("://")
    rest = f"{place.rstrip('/')}/{name.lstrip('/')}"
    return f"{scheme}://{rest.partition('?')[0].rpartition('@')[2]}"


def _columns(dataset: Dataset, named: set[str]) -> list[Json]:
    schema = dataset.facets.schema_ if dataset.facets is not None else None
    columns: dict[str, Json] = {}
    for one in (schema.fields if schema is not None else None) or ():
        standard = columns_of.standard_type(one.type or "")
        column: Json = {"name": one.name, "dataType": _PLATFORM_TYPES.get(standard, standard)}
        if one.type:
            column["dataTypeDisplay"] = one.type
        if one.description:
            column["description"] = one.description
        columns[one.name.casefold()] = column
    for name in sorted(named):
        columns.setdefault(name.casefold(), {"name": name, "dataType": "UNKNOWN"})
    return list(columns.values())
