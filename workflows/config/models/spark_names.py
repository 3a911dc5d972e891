"""`headwater.sparkNames`: what Spark reads and writes, and whose it is."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from connectors.fields import MisfitCollector, Model, Text, from_text
from ingestion.model.engine_names import SCHEMA, EngineNameRules, JdbcRule, JdbcUrl, Parts, PathRule, jdbc_url
from ingestion.model.fqn import split_fqn

_LOCATION = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:|/)")


def _parts(written: str, _info: object = None) -> Parts:
    try:
        parts = split_fqn(written)
    except ValueError:
        raise ValueError(
            'not a name: parts are joined by dots, and a part with a dot stands in "double quotes"'
        ) from None
    if len(parts) > SCHEMA:
        raise ValueError("more than service.database.schema: the tables keep their own names")
    return parts


def _jdbc_url(written: str, _info: ValidationInfo) -> JdbcUrl:
    if "@" in written:
        raise ValueError("a URL with a user name in it; only the place is compared, so leave it out")
    url = jdbc_url(written)
    if url is None:
        raise ValueError("expected a JDBC URL such as jdbc:postgresql://host:5432/database, or its host alone")
    return url


def _location(prefix: str) -> str:
    if not _LOCATION.match(prefix):
        raise ValueError("expected a path with its scheme, such as s3://bucket/raw, or one from /")
    return prefix


Owner = Annotated[Parts, from_text(_parts)]


class JdbcName(Model):
    to: Owner = Field(description="Whose they are: service, service.database or service.database.schema.")
    url: Annotated[JdbcUrl, from_text(_jdbc_url)] | None = Field(
        default=None,
        description="Where they are: jdbc:postgresql://host:5432/database, or less of it; any place if left out. "
        "Spark tells it of JDBC catalogs only: for other tables name their patterns.",
    )
    tables: tuple[Text, ...] = Field(
        default=(), description="Patterns of their names, such as APP.* or legacy_*; all if left out."
    )


class PathName(Model):
    prefix: Annotated[Text, AfterValidator(_location)] = Field(
        description="What their paths begin with: s3://bucket/raw, /data/in, or s3:// for all of S3."
    )
    to: Owner = Field(
        description="Whose they are: a storage service; or service.database, below which folders are schema/table; "
        "or service.database.schema, below which each folder is a table."
    )


class SparkNames(Model):
    """`headwater.sparkNames`: what Spark reads and writes, and whose it is."""

    catalogs: dict[str, Owner] = Field(
        default_factory=dict,
        description="Spark's catalogs, or catalog.namespace: {spark_catalog: service.database, lake: service}. "
        "What is left out keeps Spark's name.",
    )
    jdbc: tuple[JdbcName, ...] = Field(
        default=(), description="Tables of other databases: {to, url, tables}; the first that fits counts."
    )
    paths: tuple[PathName, ...] = Field(
        default=(), description="Files: {prefix, to}; the longest prefix that fits counts."
    )

    @field_validator("catalogs")
    @classmethod
    def _are_catalogs(cls, given: dict[str, Parts]) -> dict[str, Parts]:
        misfits = MisfitCollector()
        for written, to in given.items():
            with misfits.at(written):
                if len(_parts(written)) == 1 and len(to) == SCHEMA:
                    raise ValueError(
                        "a whole catalog cannot be one schema; write catalog.namespace, or leave the schema out"
                    )
        misfits.check()
        return given

    def rules(self, service: str) -> EngineNameRules:
        """The rules that the names of a source of this service go by."""
        if self == SparkNames():
            return EngineNameRules()
        return EngineNameRules(
            {_parts(written): to for written, to in self.catalogs.items()},
            tuple(JdbcRule(rule.to, rule.url, rule.tables) for rule in self.jdbc),
            tuple(PathRule.of(rule.prefix, rule.to) for rule in self.paths),
            service,
        )
