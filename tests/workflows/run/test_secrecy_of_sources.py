"""Canaries in everything that a dbt project and a Spark history may hold: nothing that is left behind holds one."""

from __future__ import annotations

import copy
import gzip
import json
import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyspark.sql import SparkSession

from connectors.catalog.mcp.answers import CatalogAnswers
from connectors.catalog.page.export import ExportScope, catalog_document
from connectors.catalog.page.html import self_contained_page
from connectors.spark._application_log import TEXT_SOURCES
from tests.support.dbt_project import BUILT
from tests.support.literal_forms import filled
from tests.support.run_in_session import run_that_shows_all
from tests.support.spark_history_runs import configuration

pytestmark = pytest.mark.spark
_PLAN = """== Physical Plan ==
Execute InsertIntoHadoopFsRelationCommand (5)
+- WriteFiles (4)
   +- Project (3)
      +- Filter (2)
         +- Scan parquet spark_catalog.shop.src (1)


(1) Scan parquet spark_catalog.shop.src
Output [2]: [a#1, b#2]
Location: InMemoryFileIndex [s3a://u:{}@bucket/src?sig={}]
PushedFilters: [EqualTo(b,{})]
ReadSchema: struct<a:string,b:string>

(2) Filter
Input [2]: [a#1, b#2]
Condition : (isnotnull(b#2) AND (b#2 = {}))

(3) Project
Output [2]: [concat(a#1, {}) AS a#3, CASE WHEN (b#2 = {}) THEN {} END AS c#4]
Input [2]: [a#1, b#2]

(4) WriteFiles
Input [2]: [a#3, c#4]

(5) Execute InsertIntoHadoopFsRelationCommand
Input: []
Arguments: file:/w/t?sig={}, false, Parquet, [path=file:/w/t, key={}], Append, `spark_catalog`.`shop`.`out`, x, [a, c]
"""
_QUERY = "create table j as "
SPARK_SQL = "org.apache.spark.sql.execution.ui.SparkListenerSQLExecution"
CANARY = "kzq{:04}secret"


class Canaries:
    """Texts that are found nowhere else, each by where it was put."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def of(self, where: str) -> str:
        text = CANARY.format(len(self.texts))
        self.texts[text] = where
        return text

    def form(self, form: Any, where: str) -> str:
        self.texts |= dict.fromkeys(form.canaries, f"{where}: {form.text}")
        return str(form.text)


def manifest_with(canaries: Canaries) -> dict[str, Any]:
    """The project's manifest, with one wherever text may stand that is no name and no description."""
    manifest: dict[str, Any] = json.loads((BUILT / "manifest.json").read_text())
    nodes, of = manifest["nodes"], canaries.of
    audit = nodes["model.roastery.audit"]
    queries = [form for form in filled() if form.dialect == "duckdb" and form.text.startswith(_QUERY)]
    for number, form in enumerate(queries):
        one = copy.deepcopy(audit)
        one |= {"name": f"form{number}", "alias": f"form{number}", "relation_name": f'"roastery"."f"."form{number}"'}
        text = canaries.form(form, "compiled_code").removeprefix(_QUERY)
        one |= {"compiled_code": text, "raw_code": text, "unique_id": f"model.roastery.form{number}"}
        nodes[one["unique_id"]] = one
    for name, asked in (("rendered", ""), ("asking", " {{ run_query('select @') }}")):
        raw = (
            "{{ config(password='@') }} {% set x = '@' %} select bean as a, '@' as b, '{{ x }}' as c from"
            " {{ ref('stg_orders') }} where bean = '{{ var('k', '@') }}' and bean <> {{ in_units(\"'@'\") }}"
        )
        while "@" in raw + asked:
            raw, asked = (raw + asked).replace("@", of(f"raw_code of {name}"), 1), ""
        one = copy.deepcopy(audit) | {"name": name, "alias": name, "unique_id": f"model.roastery.{name}"}
        one |= {"compiled": False, "compiled_code": None, "relation_name": f'"roastery"."f"."{name}"', "raw_code": raw}
        nodes[one["unique_id"]] = one
    for node in list(nodes.values()):
        key = node["unique_id"]
        node["meta"] = {"token": of(f"meta of {key}")}
        node["unrendered_config"] = {"password": of(f"unrendered_config of {key}")}
        hooks = [{"sql": f"insert into log values ('{of(f'hook of {key}')}')", "transaction": True, "index": None}]
        node["config"] = {**node["config"], "meta": {"k": of(f"config.meta of {key}")}, "post-hook": hooks}
        node["config"] |= {"pre-hook": hooks, "where": f"a = '{of(f'where of {key}')}'"}
        if node["resource_type"] == "test" and node.get("test_metadata"):
            node["test_metadata"]["kwargs"] |= {"values": [of("a test's values")], "where": f"x = '{of('where')}'"}
            node["compiled_code"] += f" and a <> '{of('a test')}'"
    for macro in manifest["macros"].values():
        macro |= {"macro_sql": f"{macro['macro_sql']} '{of('a macro')}'", "meta": {"k": of("meta of a macro")}}
    for source in manifest["sources"].values():
        source |= {"meta": {"k": of("meta of a source")}, "source_meta": {"k": of("source_meta")}}
        source["freshness"] = {"filter": f"a > '{of('a filter of freshness')}'", "error_after": {}, "warn_after": {}}
    manifest["metadata"]["env"] = {"DBT_ENV_CUSTOM_ENV_TOKEN": of("metadata.env")}
    manifest["vars"] = {"password": of("vars")}
    manifest["semantic_models"]["semantic_model.roastery.orders"] = {
        "name": "orders",
        "measures": [{"name": "earned", "agg": "sum", "expr": f"case when city = '{of('a measure')}' then margin end"}],
        "dimensions": [{"name": "d", "type": "categorical", "expr": f"case when a = '{of('a dimension')}' then 1 end"}],
        "depends_on": {"nodes": ["model.roastery.orders"]},
    }
    manifest["metrics"]["metric.roastery.revenue"] = {
        "name": "revenue", "type": "simple", "label": "Revenue", "meta": {"k": of("meta of a metric")},
        "type_params": {"measure": {"name": "earned"}},
        "filter": {"where_filters": [{"where_sql_template": f"city = '{of('a filter of a metric')}'"}]},
        "depends_on": {"nodes": ["semantic_model.roastery.orders"]},
    }  # fmt: skip
    manifest["unit_tests"]["unit_test.roastery.u"] = {"name": "u", "given": [{"rows": [{"a": of("a unit test")}]}]}
    return manifest


def results_with(canaries: Canaries) -> dict[str, Any]:
    """What dbt's last invocation left, with its arguments and what the warehouse said of failures."""
    results: dict[str, Any] = json.loads((BUILT / "run_results.json").read_text())
    results["args"] = {"vars": {"token": canaries.of("vars of the invocation")}}
    for one in results["results"]:
        said = canaries.of(f"message of {one['unique_id']}")
        one |= {"status": "error", "message": f"Conversion Error: Could not convert string '{said}' to INT32"}
        one["adapter_response"] = {"_message": canaries.of("adapter_response")}
    return results


def events_with(canaries: Canaries) -> list[dict[str, Any]]:
    """An application's events: SQL in each form of Spark's, a plan with literals, properties, a failure's words."""
    of = canaries.of
    properties = [["spark.sql.catalog.c.password", of("a property")], ["spark.redaction.regex", "x"]]
    url = f"jdbc:postgresql://u:{of('a URL')}@h/d?password={of('the query of a URL')}"
    plan = _PLAN.format(*(of(f"a plan {number}") for number in range(_PLAN.count("{"))))
    texts = [canaries.form(form, "a text of Spark") for form in filled() if form.dialect == "spark"]
    texts += [f"insert into shop.out select a, b as c from shop.src where b = '{of('a literal')}'"]
    texts += [f"CREATE TABLE shop.j USING jdbc OPTIONS (url '{url}', dbtable 't', password '{of('an option')}')"]
    events: list[dict[str, Any]] = [
        {"Event": "SparkListenerLogStart", "Spark Version": "4.0.0"},
        {"Event": "SparkListenerApplicationStart", "App Name": "job", "App ID": "local-1",
         "Timestamp": 1795168800000, "User": "etl"},
        {"Event": "SparkListenerEnvironmentUpdate", "Spark Properties": properties, "Hadoop Properties":
         [["fs.s3a.secret.key", of("a property of Hadoop")]], "JVM Information": [], "Classpath Entries": [],
         "System Properties": [["sun.java.command", f"job.py --password {of('a command line')}"]]},
    ]  # fmt: skip
    for number, text in enumerate([*texts, ""]):
        at = 1795168800000 + number * 1000
        events.append({
            "Event": f"{SPARK_SQL}Start", "executionId": number, "rootExecutionId": number, "time": at,
            "description": text or "save", "physicalPlanDescription": plan,
            "details": f"{TEXT_SOURCES[0] if text else 'org.x.Job'}({of('details')})",
            "sparkPlanInfo": {"nodeName": "x", "simpleString": f"x {of('sparkPlanInfo')}", "children": [],
                              "metadata": {"Location": url}, "metrics": []},
            "modifiedConfigs": {"spark.sql.x.token": of("modifiedConfigs")}, "jobTags": [of("a tag of a job")],
        })  # fmt: skip
        failure = f"Cannot cast '{of('a failure')}'" if number % 7 == 3 else ""
        events.append({"Event": f"{SPARK_SQL}End", "executionId": number, "time": at + 9, "errorMessage": failure})
    return events


@pytest.fixture(scope="module")
def left(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Canaries]:
    """The folder that both runs left all in, without what they read."""
    folder, given = tmp_path_factory.mktemp("left"), tmp_path_factory.mktemp("given")
    canaries = Canaries()
    (given / "manifest.json").write_text(json.dumps(manifest_with(canaries)))
    (given / "run_results.json").write_text(json.dumps(results_with(canaries)))
    files = {"dbtConfigType": "local", "dbtManifestFilePath": str(given / "manifest.json")}
    files |= {"dbtCatalogFilePath": str(BUILT / "catalog.json")}
    files |= {"dbtRunResultsFilePath": str(given / "run_results.json")}
    settings = {"type": "DBT", "dbtConfigSource": files, "dbtUpdateDescriptions": True, "includeTags": True}
    ours = {
        "deadLetters": str(folder / "dead.jsonl"),
        "state": {"url": str(folder / "state.db")},
        "metricsFile": str(folder / "metrics.prom"),
        "openLineage": {"transport": {"type": "file", "log_file_path": str(folder / "events.jsonl"), "append": True}},
    }
    content = {
        "source": {"type": "dbt", "serviceName": "roastery", "sourceConfig": {"config": settings}},
        "sink": {"type": "metadata-rest", "config": {}},
        "workflowConfig": {"openMetadataServerConfig": {"hostPort": "embedded"}, "successThreshold": 1},
        "headwater": {"catalog": {"file": str(folder / "catalog.db")}, **ours},
    }
    (given / "dbt.yaml").write_text(yaml.safe_dump(content))
    (given / "logs").mkdir()
    (given / "logs" / "local-1").write_text("".join(json.dumps(event) + "\n" for event in events_with(canaries)))
    summaries = [run_that_shows_all(given / "dbt.yaml", folder / "shown.txt")]
    summaries.append(
        run_that_shows_all(
            configuration(given, given / "logs", **ours | {"catalog": {"file": str(folder / "catalog.db")}}),
            folder / "shown.txt",
        )
    )
    assert [bool(summary.counts.published) for summary in summaries] == [True, True]
    return folder, canaries


def contents(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Every file, and every packed value of its databases as it is read."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        content = path.read_bytes()
        yield path.name, content
        if content.startswith(b"SQLite format 3"):
            with sqlite3.connect(path) as database:
                for (table,) in database.execute("select name from sqlite_master where type = 'table'").fetchall():
                    for row in database.execute(f'select * from "{table}"'):
                        yield from ((f"{path.name} {table}", unpacked(value)) for value in row if type(value) is bytes)


def unpacked(value: bytes) -> bytes:
    """What a value is before it is packed."""
    import zstandard

    for unpack in (zlib.decompress, gzip.decompress, lambda given: zstandard.ZstdDecompressor().decompress(given)):
        try:
            return bytes(unpack(value))
        except (zlib.error, OSError, zstandard.ZstdError):
            continue
    return value


def test_no_byte_that_is_left_holds_a_canary(left: tuple[Path, Canaries]) -> None:
    folder, canaries = left
    found = [
        (name, where)
        for name, content in contents(folder)
        for text, where in canaries.texts.items()
        if text.encode() in content.lower()
    ]
    assert found == []
    everything = b"".join(content for _, content in contents(folder))
    assert len(canaries.texts) > 200
    for kept in (
        b"insert into shop.out",
        b"main_marts.orders",
        b"rendered",
        b'"eventType"',
        b"headwater_run_statements",
    ):
        assert kept in everything, kept


def test_no_page_and_no_answer_holds_a_canary(left: tuple[Path, Canaries]) -> None:
    folder, canaries = left
    catalog = folder / "catalog.db"
    shown = [self_contained_page(catalog_document(catalog, ExportScope()), "lineage")]
    with CatalogAnswers(catalog) as answers:
        rows = [answers.search(""), answers.describe("shop.out"), answers.lineage("shop.out", "upstream", 0)]
        rows += [answers.impact("main_marts.orders"), answers.explain("shop.out.a")]
        shown += [str(row) for row in rows]
    assert "shop.out" in "".join(shown[1:])
    assert [where for text, where in canaries.texts.items() if text in "".join(shown).lower()] == []
