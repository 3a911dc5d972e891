"""`headwater.sparkNames` as the rules that names go by."""

from __future__ import annotations

import re

from ingestion.model.engine_names import SCHEMA, EngineNameRules, JdbcRule, JdbcUrl, Parts, PathRule, jdbc_url
from ingestion.model.fqn import split_fqn
from workflows.config.checks import Checks
from workflows.config.models.headwater import JdbcName, SparkNames
from workflows.config.values import Source, SourceKind
from workflows.config.yaml.document import KeyPath

_LOCATION = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:|/)")
_HERE: KeyPath = ("headwater", "sparkNames")


def places_of(model: SparkNames, source: Source, checks: Checks) -> EngineNameRules:
    """The rules, as far as they hold; what does not is noted in `checks`."""
    if model == SparkNames():
        return EngineNameRules()
    if source.kind is not SourceKind.SPARK_HISTORY:
        checks.fail(_HERE, "only the source type spark-history-lineage has Spark's names; use catalogServices here")
    catalogs = {}
    for written, to in model.catalogs.items():
        path = (*_HERE, "catalogs", written)
        name, place = _parts(written, path, checks), _parts(to, path, checks)
        if name and len(name) == 1 and len(place) == SCHEMA:
            checks.fail(path, "a whole catalog cannot be one schema; write catalog.namespace, or leave the schema out")
        elif name and place:
            catalogs[name] = place
    jdbc = [
        JdbcRule(_parts(rule.to, (*_HERE, "jdbc", index, "to"), checks), _url(rule, index, checks), rule.tables)
        for index, rule in enumerate(model.jdbc)
    ]
    paths = []
    for index, rule in enumerate(model.paths):
        path = (*_HERE, "paths", index)
        if not _LOCATION.match(rule.prefix):
            checks.fail((*path, "prefix"), "expected a path with its scheme, such as s3://bucket/raw, or one from /")
        paths.append(PathRule.of(rule.prefix, _parts(rule.to, (*path, "to"), checks)))
    return EngineNameRules(catalogs, tuple(jdbc), tuple(paths), source.service)


def _parts(written: str, path: KeyPath, checks: Checks) -> Parts:
    try:
        parts = split_fqn(written)
    except ValueError:
        checks.fail(path, 'not a name: parts are joined by dots, and a part with a dot stands in "double quotes"')
        return ()
    if len(parts) > SCHEMA:
        checks.fail(path, "more than service.database.schema: the tables keep their own names")
    return parts


def _url(rule: JdbcName, index: int, checks: Checks) -> JdbcUrl | None:
    path = (*_HERE, "jdbc", index, "url")
    if rule.url is None:
        return None
    if "@" in rule.url:
        checks.fail(path, "a URL with a user name in it; only the place is compared, so leave it out")
        return None
    url = jdbc_url(rule.url)
    if url is None:
        checks.fail(path, "expected a JDBC URL such as jdbc:postgresql://host:5432/database, or its host alone")
    return url
