"""What OpenLineage calls the systems that hold datasets: the namespace of a service by its connection, the parts of a
table's name, and which namespaces are two spellings of one.

By its naming specification; what agents write otherwise is each from the agent's own source.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from ingestion.dialects import dialect_of, fold
from ingestion.dialects.connection_types import CONNECTION_TYPES
from ingestion.dialects.definition import Dialect, Fold

UNKNOWN_DATABASE = "default"
"""What a database is called of which nobody knows the name, or where a platform has none above its schemas."""
_GLUE = "arn:aws:glue:"
_ARN = re.compile(r"arn:aws[a-z-]*:(glue|redshift)(?:-serverless)?:", re.IGNORECASE)
_OVER_GLUE = ("glue", "awsathena")
_ARNS = {"glue": "glue", "redshift": "arn:redshift"}
"""By which scheme an ARN counts: Amazon DataZone has tables of Redshift under one that is not OpenLineage's."""
_SPARK_CATALOG = "spark_catalog"
_SNOWFLAKE_HOST = ".snowflakecomputing.com"
_REDSHIFT_HOST = re.compile(r"\b([\w-]++)\.[\w-]++\.([\w-]++)\.redshift(?:-serverless)?\.amazonaws\.com(?:\.cn)?")
_BEHIND_HOST = re.compile(r"[/?;#]")
_LOOPBACK = re.compile(
    r"(?:localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[::1\]|host\.docker\.internal)(?::\d+)?$", re.IGNORECASE
)
"""Of each machine another: whose it is in an event nobody knows."""
_ARN_ACCOUNT = re.compile(r"arn:[\w-]+:iam::(\d+):")
_AS_AGENTS_SAY, _FIRST_REGION = ".us-west-1.aws", ".us-west-2.aws"
"""Where an account names no region it is in the first one, for which agents write one that Snowflake does not have."""
_TABLE_PARTS = 3
_ANY = "*"
"""In a namespace that is given: any text, a port and a region too where it ends so."""
_URI = re.compile(r"[a-z][\w+.-]*:/", re.IGNORECASE)
_WITHOUT_ADDRESS = ("bigquery", "unity-catalog")
"""The namespaces that are a word and no more."""


@dataclass(frozen=True, slots=True)
class DatasetNaming:
    """How the tables of one system are called: the scheme of its namespaces, and the port that is meant where none is
    given; how many `parts` a name has; whether a catalog that goes without saying is left out (`optional_catalog`), or
    what it is called there (`usual_catalog`)."""

    scheme: str
    port: int = 0
    parts: int = 3
    optional_catalog: bool = False
    usual_catalog: str = ""


_NAMINGS: Mapping[str, DatasetNaming] = {
    "Athena": DatasetNaming("awsathena", usual_catalog="AwsDataCatalog"),
    "AzureSQL": DatasetNaming("mssql", 1433),
    "BigQuery": DatasetNaming("bigquery"),
    "Cassandra": DatasetNaming("cassandra", 9042, 2),
    "Clickhouse": DatasetNaming("clickhouse", parts=2),
    "Cockroach": DatasetNaming("postgres", 26257),
    "Databricks": DatasetNaming("unitycatalog", 443),
    "Db2": DatasetNaming("db2", 50000),
    "DeltaLake": DatasetNaming("spark", optional_catalog=True),
    "Doris": DatasetNaming("mysql", 9030, 2),
    "Glue": DatasetNaming("glue", parts=2),
    "Greenplum": DatasetNaming("postgres", 5432),
    "Hive": DatasetNaming("hive", parts=2),
    "Iceberg": DatasetNaming("spark", optional_catalog=True),
    "Impala": DatasetNaming("impala", parts=2),
    "MariaDB": DatasetNaming("mysql", 3306, 2),
    "MicrosoftFabric": DatasetNaming("fabric-warehouse"),
    "Mssql": DatasetNaming("mssql", 1433),
    "Mysql": DatasetNaming("mysql", 3306, 2),
    "Oracle": DatasetNaming("oracle", 1521),
    "Postgres": DatasetNaming("postgres", 5432),
    "Redshift": DatasetNaming("redshift", 5439),
    "SingleStore": DatasetNaming("mysql", 3306, 2),
    "Snowflake": DatasetNaming("snowflake"),
    "Spark": DatasetNaming("spark", optional_catalog=True),
    "StarRocks": DatasetNaming("mysql", 9030, 2),
    "Synapse": DatasetNaming("sqlserver", 1433, 2),
    "Teradata": DatasetNaming("teradata", 1025, 2),
    "Timescale": DatasetNaming("postgres", 5432),
    "Trino": DatasetNaming("trino", 8080),
    "UnityCatalog": DatasetNaming("unitycatalog", 443),
}

_SCHEMES: Mapping[str, str] = {
    "abfs": "abfss",
    "athena": "awsathena",
    "databricks": "unitycatalog",
    "gcs": "gs",
    "mariadb": "mysql",
    "postgresql": "postgres",
    "s3a": "s3",
    "s3n": "s3",
    "sqlserver": "mssql",
    "unity-catalog": "unitycatalog",
    "wasb": "wasbs",
}
"""Schemes that agents write, by what the specification has for them."""
_PORTS: Mapping[str, int] = {
    **{naming.scheme: naming.port for naming in _NAMINGS.values()},
    "mysql": 3306,
    "postgres": 5432,
}

_BY_SCHEME: Mapping[str, DatasetNaming] = {
    naming.scheme: naming for naming in reversed(list(_NAMINGS.values())) if naming.scheme not in _SCHEMES
}
SERVICE_KINDS: Mapping[str, tuple[str, ...]] = {
    scheme: tuple(kind for kind, naming in _NAMINGS.items() if _SCHEMES.get(naming.scheme, naming.scheme) == scheme)
    for scheme in dict.fromkeys(_SCHEMES.get(naming.scheme, naming.scheme) for naming in _NAMINGS.values())
}
"""The types of the services whose namespaces have a scheme."""
KINDS_OVER_FILES = (*SERVICE_KINDS["hive"], *SERVICE_KINDS["spark"])
"""The types of the services that go by their warehouse's path, where Spark has no metastore."""
_OF_SEVERAL: Mapping[str, str] = {
    "mssql": "Mssql",
    "mysql": "Mysql",
    "postgres": "Postgres",
    "spark": "Spark",
    "unitycatalog": "UnityCatalog",
}
SERVICE_TYPES: Mapping[str, str] = {
    scheme: _OF_SEVERAL.get(scheme, kinds[0]) for scheme, kinds in SERVICE_KINDS.items()
}
"""The type of a service that is known by its namespace alone."""

STORAGE_SCHEMES: Mapping[str, str] = {"ADLS": "abfss", "GCS": "gs", "S3": "s3"}
"""The scheme of the paths in a storage service, by its type."""


@dataclass(frozen=True, slots=True)
class ServiceAddress:
    """A service of a catalog: its type, and its connection's own keys."""

    type: str
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def naming(self) -> DatasetNaming:
        """How its tables are called."""
        kind = next((one for one in CONNECTION_TYPES if one.lower() == self.type.lower()), self.type)
        return _NAMINGS.get(kind, DatasetNaming(kind.lower()))

    @property
    def address(self) -> dict[str, Any]:
        """Of its connection what tells its namespaces, none of it a secret."""
        found: dict[str, Any] = {key: _host_and_port(_text(self.options, key)) for key in ("account", "hostPort")}
        found["awsConfig"] = {
            key: text for key in ("assumeRoleArn", "awsRegion") if (text := _text(self.options, "awsConfig", key))
        }
        return {key: value for key, value in found.items() if value}

    @property
    def keeps_case(self) -> bool:
        """Whether names that differ in case alone are two tables there."""
        return self._dialect is not None and self._dialect.relations.bare is Fold.KEEP

    def usual_case(self, parts: Sequence[str]) -> list[str]:
        """The parts of a name as its platform has names that nobody quotes.

        Agents tell no quotes: dbt has `db.marts.daily` of what Snowflake calls DB.MARTS.DAILY. A name with letters of
        both cases is taken to be as it is.
        """
        dialect = self._dialect
        if dialect is None:
            return list(parts)
        usual = [fold(part, dialect, quoted=False) for part in parts]
        is_other_case = [part.swapcase() for part in parts] == usual
        return usual if is_other_case else list(parts)

    @property
    def default_schemas(self) -> frozenset[str]:
        """The schemas that a name without one may stand in, in no case."""
        own = self._dialect.default_schema.casefold() if self._dialect is not None else ""
        return frozenset({own, UNKNOWN_DATABASE})

    @property
    def usual_schema(self) -> str:
        """The schema that a name without one stands in, as far as its platform has one."""
        return (self._dialect.default_schema if self._dialect is not None else "") or UNKNOWN_DATABASE

    @property
    def _cluster(self) -> str:
        """Of Redshift, its workgroup where it is serverless; "" where the connection does not tell it."""
        found = _REDSHIFT_HOST.search(_text(self.options, "hostPort"))
        return found[1] if found is not None else ""

    def has_names_in(self, namespace: str) -> bool:
        """Whether its tables can be called as a namespace has them."""
        return scheme_of(namespace) != _ARNS["redshift"] or bool(self._cluster)

    @property
    def _dialect(self) -> Dialect | None:
        known = any(one.lower() == self.type.lower() for one in CONNECTION_TYPES)
        return dialect_of(self.type) if known else None

    def namespaces(self) -> tuple[str, ...]:
        """Its namespace, then others that agents write for it; none where the connection does not tell it."""
        naming, options = self.naming, self.options
        if naming.scheme == "bigquery":
            return ("bigquery",)
        if naming.scheme == "snowflake":
            name = _host_and_port(str(options.get("account") or ""))
            return (f"snowflake://{_snowflake_account(name)}",) if name else ()
        region = _text(options, "awsConfig", "awsRegion")
        if naming.scheme == "awsathena":
            return (f"awsathena://athena.{region}.amazonaws.com",) if region else ()
        if naming.scheme == "glue":
            account = _ARN_ACCOUNT.match(_text(options, "awsConfig", "assumeRoleArn"))
            return (f"{_GLUE}{region}:{account[1]}",) if region and account else ()
        address = _host_and_port(str(options.get("hostPort") or "").strip().rpartition("://")[2])
        if not address or _LOOPBACK.match(address):
            return ()
        if naming.scheme == "redshift":
            return (f"redshift://{_redshift_cluster(_with_port(address, naming.port))}",)
        if naming.scheme == "unitycatalog":
            # what runs on Databricks itself names no host
            return (f"unitycatalog://{address.removesuffix(f':{naming.port}')}", "unity-catalog")
        return (f"{naming.scheme}://{_with_port(address, naming.port)}",)

    def dataset_name(self, parts: Sequence[str], namespace: str | None) -> list[str]:
        """The parts of a table's name out of its database, schema and own name, as they are written in a namespace.

        None where nobody knows its database and names have one there: with another it would be another table. Where no
        namespace is known no table is meant either, and the part is left out.
        """
        *above, schema, table = parts
        naming, scheme = self.naming, scheme_of(namespace or self.naming.scheme)
        if scheme != namespace_key(naming.scheme):  # what a person gave it may be another's: that of its Glue, or Hive
            naming = _BY_SCHEME.get(scheme, naming)
        is_unknown = above[-1:] == [UNKNOWN_DATABASE]
        if scheme == "glue":
            return [f"table/{schema}/{table}"]
        if scheme == _ARNS["redshift"]:
            return [] if is_unknown else ["/".join(("table", self._cluster, *parts))]
        hidden = naming.optional_catalog and (is_unknown or above[-1:] == [_SPARK_CATALOG])
        if hidden or naming.parts < _TABLE_PARTS:
            return [schema, table]
        if is_unknown and not naming.usual_catalog:
            return [] if namespace is not None and scheme in _BY_SCHEME else [schema, table]
        return [*([naming.usual_catalog] if is_unknown else above), schema, table]

    def table_parts(self, parts: Sequence[str]) -> list[str]:
        """The reverse: schema and table, with the database where the name has one that counts here."""
        *above, table = parts
        if self.naming.scheme in _OVER_GLUE and table.startswith("table/") and not above:
            return table.split("/")[1:]
        if self.naming.scheme == "redshift" and table.startswith("table/") and not above:
            return table.split("/")[2:]
        if self.naming.scheme == "bigquery":
            table = table.partition("$")[0]  # a partition of it
        hidden = self.naming.optional_catalog and above[:1] == [_SPARK_CATALOG]
        hidden |= above[:1] != [] and above[0].casefold() == self.naming.usual_catalog.casefold()
        return [*(above[-1:] if hidden or self.naming.parts < _TABLE_PARTS else above), table]


# What is two spellings of one.


def namespace_key(namespace: str) -> str:
    """One spelling for all that are known to mean the same: of scheme, host, port and account, in any case."""
    lowered = namespace.strip().rstrip("/").lower()
    if _ARN.match(lowered):
        return lowered
    scheme, separator, rest = lowered.partition("://")
    scheme = _SCHEMES.get(scheme, scheme)
    if not separator:
        return scheme
    address = rest.rpartition("@")[2] if scheme not in ("abfss", "wasbs") else rest
    if scheme == "snowflake":
        account = _snowflake_account(address).replace("_", "-")
        return f"{scheme}://{account.replace(_AS_AGENTS_SAY, _FIRST_REGION)}"
    if _REDSHIFT_HOST.match(address) and scheme in ("redshift", "postgres"):
        scheme = "redshift"
        address = _redshift_cluster(_with_port(address, _PORTS[scheme]))
    return f"{scheme}://{_with_port(address, _PORTS.get(scheme, 0))}"


def scheme_of(namespace: str) -> str:
    """The scheme of a namespace, by the specification."""
    key = namespace_key(namespace)
    arn = _ARN.match(key)
    return _ARNS[arn[1]] if arn else key.partition("://")[0]


def specified_scheme(scheme: str) -> str:
    """The specification's scheme for one that paths are kept under, or agents write."""
    return _SCHEMES.get(scheme, scheme)


def is_namespace(name: str) -> bool:
    """Whether a service is called as a namespace is: nobody calls one of theirs `hive://metastore:9083`, but `hive`."""
    return _URI.match(name) is not None or _ARN.match(name) is not None or name.lower() in _WITHOUT_ADDRESS


def _with_port(address: str, port: int) -> str:
    host, _, after = address.rpartition(":")
    is_whole = (host and after.isdigit()) or address.endswith(_ANY)
    return address if not port or is_whole else f"{address}:{port}"


def _redshift_cluster(address: str) -> str:
    """`shop.c7x.eu-west-1.redshift.amazonaws.com:5439` is `shop.eu-west-1:5439`."""
    return _REDSHIFT_HOST.sub(r"\1.\2", address)


def _snowflake_account(account: str) -> str:
    """An account as Airflow and dbt-ol complete it: without a cloud it is one of AWS."""
    name = account.strip().rpartition("://")[2].partition("/")[0]
    if name.lower().endswith(_SNOWFLAKE_HOST):
        name = name[: -len(_SNOWFLAKE_HOST)].removesuffix(".privatelink")
    if name.endswith(_ANY):
        return name
    locator, *after = name.split(".")
    if not after:
        return name if "-" in name or "_" in name else f"{name}{_AS_AGENTS_SAY}"
    return ".".join([locator, *after, *(["aws"] if len(after) == 1 else [])])


def _text(options: Mapping[str, Any], *path: str) -> str:
    value: Any = options
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, str) else ""


def _host_and_port(address: str) -> str:
    """A host and its port, of an address that may have been given with who enters it, and by what path.

    Nothing where a password may have a slash or a path an `@` in it: then none of it is known to be the host.
    """
    scheme, separator, rest = address.rpartition("://")
    host, *behind = _BEHIND_HOST.split(rest, maxsplit=1)
    return "" if any("@" in one for one in behind) else f"{scheme}{separator}{host.rpartition('@')[2]}"


# Namespaces and services, both ways.


@dataclass(frozen=True, slots=True)
class NamespaceMap:
    """Which namespace is which service: as it was `given` (a `*` in a namespace is any text), and by the addresses of
    `services`. What is given goes before what an address tells. `catalogs` are those of a service that are another:
    by its name, then by theirs in lower case, that other one, and its database where somebody says it.
    """

    given: Mapping[str, str] = field(default_factory=dict)
    services: Mapping[str, ServiceAddress] = field(default_factory=dict)
    catalogs: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)

    def namespace_of(self, service: str) -> str | None:
        """What a service is called; None where nothing tells it."""
        return next(self._namespaces(service), None)

    def services_of(self, namespace: str) -> tuple[str, ...]:
        """The services that a namespace may mean, the reverse of it: several where its address is that of several."""
        key = namespace_key(namespace)
        for names_it in (self._is_given, self._is_of_pattern, self._is_its_address):
            found = tuple(dict.fromkeys(service for service in self._all() if names_it(service, key)))
            if found:
                return found
        return ()

    def dataset(self, service: str, parts: Sequence[str]) -> tuple[str, list[str]]:
        """The namespace of a service's table, that of its name where none is known, and the parts of its name there:
        none where its database is not known and would be one of them."""
        namespace = self.namespace_of(service)
        return namespace or service, self.services.get(service, ServiceAddress("")).dataset_name(parts, namespace)

    def behind(self, service: str, parts: Sequence[str]) -> tuple[str, list[str]]:
        """The service that a table really is in, and the parts of its name there: of Trino's `lake.sales.orders` that
        is a table of Hive `sales.orders` in the service of Hive."""
        target = self.catalogs.get(service, {}).get(parts[0].casefold()) if len(parts) == _TABLE_PARTS else None
        if target is None:
            return service, list(parts)
        other, *database = target
        return other, [*database[:1], *parts[1:]]

    def with_services(self, services: Mapping[str, ServiceAddress]) -> NamespaceMap:
        """The same with other services; of one that it has too, whichever address tells a namespace."""
        own = {name: one for name, one in self.services.items() if name not in services or one.namespaces()}
        return NamespaceMap(self.given, {**services, **own}, self.catalogs)

    def _all(self) -> Iterator[str]:
        yield from self.given.values()
        yield from self.services

    def _namespaces(self, service: str) -> Iterator[str]:
        address = self.services.get(service, ServiceAddress(""))
        given = (namespace for namespace, name in self.given.items() if name == service and _ANY not in namespace)
        yield from filter(address.has_names_in, given)
        if service in self.services:
            yield from self.services[service].namespaces()

    def _is_given(self, service: str, key: str) -> bool:
        return any(name == service and namespace_key(namespace) == key for namespace, name in self.given.items())

    def _is_of_pattern(self, service: str, key: str) -> bool:
        patterns = (namespace for namespace, name in self.given.items() if name == service and _ANY in namespace)
        return any(fnmatchcase(key, namespace_key(pattern)) for pattern in patterns)

    def _is_its_address(self, service: str, key: str) -> bool:
        return service in self.services and key in map(namespace_key, self.services[service].namespaces())


def line_of_map(namespace: str, services: Sequence[str]) -> str:
    """The line of YAML that says which service a namespace is; of several the first, and which others it may be."""
    entry = f"{{{json.dumps(namespace, ensure_ascii=False)}: {json.dumps(services[0], ensure_ascii=False)}}}"
    others = f"  # or {', '.join(services[1:])}" if len(services) > 1 else ""
    return f"headwater: {{openLineage: {{namespaces: {entry}}}}}{others}"


def line_of_database(database: str) -> str:
    """The line of YAML that says in which database a log's names stand."""
    return f"headwater: {{defaults: {{database: {json.dumps(database, ensure_ascii=False)}}}}}"
