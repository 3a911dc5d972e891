"""What Unity Catalog calls the systems of objects that are outside of it, and which services are inside."""

from __future__ import annotations

from collections.abc import Mapping

IN_UNITY_CATALOG = frozenset({"Databricks", "UnityCatalog"})
"""The connection types of services whose tables it has."""
NOT_IN_UNITY_CATALOG = frozenset({"hive_metastore", "spark_catalog"})
"""The catalogs of such a service that it does not have: each workspace's own metastore from before."""

SYSTEM_TYPES = frozenset(
    {"AMAZON_REDSHIFT", "AZURE_SYNAPSE", "CONFLUENT", "DATABRICKS", "GOOGLE_BIGQUERY", "KAFKA", "LOOKER",
     "MICROSOFT_FABRIC", "MICROSOFT_SQL_SERVER", "MONGODB", "MYSQL", "ORACLE", "OTHER", "POSTGRESQL", "POWER_BI",
     "SALESFORCE", "SAP", "SERVICENOW", "SNOWFLAKE", "STREAM_NATIVE", "TABLEAU", "TERADATA", "WORKDAY"}
)  # fmt: skip
"""SystemType of its API, as of databricks-sdk 0.162."""
OTHER_SYSTEM = "OTHER"
SYSTEM_OF_TOPICS = "KAFKA"

SYSTEM_OF_CONNECTION: Mapping[str, str] = {
    "AzureSQL": "MICROSOFT_SQL_SERVER",
    "BigQuery": "GOOGLE_BIGQUERY",
    "Databricks": "DATABRICKS",
    "MariaDB": "MYSQL",
    "MicrosoftFabric": "MICROSOFT_FABRIC",
    "MongoDB": "MONGODB",
    "Mssql": "MICROSOFT_SQL_SERVER",
    "Mysql": "MYSQL",
    "Oracle": "ORACLE",
    "Postgres": "POSTGRESQL",
    "Redshift": "AMAZON_REDSHIFT",
    "Salesforce": "SALESFORCE",
    "SapErp": "SAP",
    "SapHana": "SAP",
    "ServiceNow": "SERVICENOW",
    "Snowflake": "SNOWFLAKE",
    "Synapse": "AZURE_SYNAPSE",
    "Teradata": "TERADATA",
    "Timescale": "POSTGRESQL",
    "UnityCatalog": "DATABRICKS",
}
"""By the type of the service's connection; of all others it is OTHER."""

LONGEST_NAME = 255
"""Characters of a name in Unity Catalog, which keeps names in lower case."""
