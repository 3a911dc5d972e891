"""From YAML to frozen values, and every mistake as one line that says where and what instead."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml
from pydantic import ValidationError

from connectors.dbt.artifact_locations import BucketArtifacts, HttpArtifacts
from connectors.source_settings import FilterPattern
from connectors.spark.settings import SparkHistoryLineageConfig
from ingestion.cores import cores
from ingestion.model.engine_names import EngineNameRules, JdbcUrl
from ingestion.parsing.sandbox.process import Limits
from ingestion.parsing.tiers import Parser
from workflows.config import EmbeddedCatalog, InvalidConfig, Schedule, SchemaFile, Server, SourceConnection, load_config

Write = Callable[..., Path]
SERVER = """\
workflowConfig:
  openMetadataServerConfig:
    hostPort: http://openmetadata:8585/api/
    securityConfig: {jwtToken: %s}
"""


def problems(file: Path, *settings: str, environment: dict[str, str] | None = None) -> list[str]:
    with pytest.raises(InvalidConfig) as caught:
        load_config(file, settings, environment or {})
    assert len(str(caught.value).splitlines()) == 1
    return [str(problem) for problem in caught.value.problems]


def test_the_smallest_workflow_gets_our_defaults(workflow_file: Write) -> None:
    config = load_config(workflow_file())

    assert config.lineage.needs_query_log
    assert config.source.connection == SourceConnection(type="Postgres")
    assert (config.lineage.query_log_file_path, config.lineage.query_log_duration) == ("log.csv", None)
    assert config.lineage.result_limit == 100_000
    assert config.limits == Limits(seconds=30, memory_mb=100)
    assert (config.lineage.threads, config.lineage.parser) == (cores(), Parser.AUTO)
    assert config.lineage.override_view_lineage
    assert config.lineage.enable_temp_table_lineage
    assert config.lineage.other_services == ()
    assert config.target == EmbeddedCatalog(file=Path(".headwater/catalog.db"))
    assert config.registers_tables
    assert config.workflow_config.success_threshold == 90
    assert config.workflow_config.raise_on_error
    assert config.workflow_config.logger_level == "INFO"
    assert config.without_effect == ()


def test_the_values_are_frozen(workflow_file: Write) -> None:
    config = load_config(workflow_file())

    with pytest.raises(ValidationError, match="frozen"):
        config.lineage.threads = 1  # type: ignore[misc]


def test_every_field_of_openmetadatas_yaml_is_taken(workflow_file: Write) -> None:
    file = workflow_file(
        """\
source:
  type: snowflake-lineage
  serviceName: wh
  serviceConnection: {config: {type: Snowflake, username: u, password: p4ss, account: acc, connectionOptions: {a: 1}}}
  sourceConfig:
    config:
      type: DatabaseLineage
      queryLogDuration: 3
      queryLogFilePath: log.csv
      resultLimit: 10
      parsingTimeoutLimit: 5
      queryParserConfig: {type: SqlFluff}
      filterCondition: user_name <> 'x'
      schemaFilterPattern: {includes: ["^a"], excludes: ["b$"]}
      tableFilterPattern: {excludes: [tmp]}
      databaseFilterPattern: {includes: []}
      storedProcedureFilterPattern: {includes: [p]}
      overrideViewLineage: false
      processViewLineage: false
      processQueryLineage: true
      processStoredProcedureLineage: false
      threads: 7
      processCrossDatabaseLineage: true
      crossDatabaseServiceNames: [one, two]
      enableTempTableLineage: false
      incrementalLineageProcessing: false
sink:
  type: metadata-rest
  config:
    api_endpoint: x
    bulk_sink_batch_size: 50
    enable_async_pipeline: true
    async_pipeline_workers: 2
    override_metadata: false
workflowConfig:
  loggerLevel: WARN
  raiseOnError: false
  successThreshold: 80
  openMetadataServerConfig:
    hostPort: https://om.example/api
    authProvider: openmetadata
    securityConfig: {jwtToken: abc.def.ghi}
    clusterName: openmetadata
    verifySSL: ignore
    sslConfig: {}
    apiVersion: v1
    enableVersionValidation: false
    storeServiceConnection: true
    forceEntityOverwriting: false
    secretsManagerProvider: db
    secretsManagerLoader: noop
    extraHeaders: {X-Team: data}
ingestionPipelineFQN: a.b
pipelineRunId: "1"
enableStreamableLogs: false
ingestionRunnerName: r
processor: {type: p}
stage: {type: s, config: {}}
bulkSink: {type: b}
"""
    )

    config = load_config(file)

    assert config.source.is_database
    assert config.source.dialect == "snowflake"
    assert config.source.connection is not None
    assert config.source.connection.options["connectionOptions"] == {"a": 1}
    assert config.lineage.parser is Parser.SQLFLUFF
    assert config.lineage.schema_filter_pattern == FilterPattern(includes=("^a",), excludes=("b$",))
    assert config.lineage.filter_condition == "user_name <> 'x'"
    assert config.lineage.process_query_lineage
    assert not config.lineage.process_view_lineage
    assert not config.lineage.process_stored_procedure_lineage
    assert not config.lineage.override_view_lineage
    assert not config.lineage.enable_temp_table_lineage
    assert not config.lineage.incremental_lineage_processing
    assert config.lineage.other_services == ("one", "two")
    assert (config.lineage.threads, config.sink.config.bulk_sink_batch_size) == (7, 50)
    assert config.workflow_config.success_threshold == 80
    assert isinstance(config.target, Server)
    assert not config.target.verifies_certificates
    assert not config.target.enable_version_validation
    assert config.target.extra_headers == {"X-Team": "data"}
    assert not config.registers_tables
    assert "processor" in config.without_effect
    assert "workflowConfig.openMetadataServerConfig.clusterName" in config.without_effect
    assert set(config.secrets) == {"p4ss", "abc.def.ghi"}
    assert "p4ss" not in repr(config)
    assert "abc.def.ghi" not in repr(config)


def test_our_own_block(workflow_file: Write, minimal: str) -> None:
    file = workflow_file(
        minimal
        + """\
headwater:
  spark: {master: "local[2]", conf: {spark.ui.enabled: false, spark.driver.memory: 2g, n: 3}}
  catalog: {file: c.db, port: 8585, token: tok}
  schemaFiles: [log.csv, {path: log.csv, database: d, schema: s}]
  registerTables: never
  defaults: {database: d, schema: s}
  catalogServices: {hive: lake}
  parserMemoryLimit: 50
  deadLetters: dead.jsonl
  schedule: {cron: "0 2 * * *", timezone: Europe/Berlin}
"""
    )

    config = load_config(file)

    assert config.headwater.spark.conf == {"spark.ui.enabled": "false", "spark.driver.memory": "2g", "n": "3"}
    assert isinstance(config.target, EmbeddedCatalog)
    assert (config.target.file, config.target.port) == (Path("c.db"), 8585)
    assert config.headwater.schema_files == (
        SchemaFile(path=Path("log.csv")),
        SchemaFile(path=Path("log.csv"), database="d", schema="s"),
    )
    assert not config.registers_tables
    assert (config.headwater.defaults.database, config.headwater.defaults.schema_) == ("d", "s")
    assert config.headwater.catalog_services == {"hive": "lake"}
    assert config.headwater.schedule == Schedule(cron="0 2 * * *", timezone="Europe/Berlin")
    assert (config.state_url, config.workflow) == ("state.db", "shop.query-log-lineage")
    assert config.without_effect == ()


def test_sections_that_hold_nothing_but_comments_are_defaults(workflow_file: Write, minimal: str) -> None:
    file = workflow_file(minimal + "sink: {type: metadata-rest, config:}\nworkflowConfig:\nheadwater:\n  spark:\n")

    assert load_config(file) == load_config(workflow_file())


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "resultLimt: 5",
            "lineage.yaml:9: source.sourceConfig.config.resultLimt: unknown key; did you mean resultLimit?",
        ),
        ("result_limit: 5", "unknown key; did you mean resultLimit?"),
        ("successThreshold: 5", "unknown key; it belongs under workflowConfig"),
        ("eventLogDirectory: x", "it belongs to the source type spark-history-lineage"),
        ("zzz: 1", "lineage.yaml:9: source.sourceConfig.config.zzz: unknown key"),
        ("threads: many", "lineage.yaml:9: source.sourceConfig.config.threads: expected a whole number"),
        ("threads: 2.5", "expected a whole number"),
        ("threads: true", "expected a whole number"),
        ("threads:", "expected a whole number, and nothing is given"),
        ("threads: 0", "expected at least 1"),
        ("threads: [1]", "expected a whole number"),
        ("overrideViewLineage: maybe", "expected true or false"),
        ("overrideViewLineage: 1", "expected true or false"),
        ("filterCondition: no", "put it in quotes"),
        ("filterCondition: 12", "put it in quotes"),
        ("filterCondition: {a: 1}", "expected text"),
        ("filterCondition: ''", "expected text, not an empty value"),
        ("crossDatabaseServiceNames: one", "expected a list"),
        ("schemaFilterPattern: a", "expected a mapping of keys"),
        ("schemaFilterPattern: {includes: ['(']}", "schemaFilterPattern.includes[0]: not a regular expression"),
        ("queryParserConfig: {type: Sqlglot}", "expected 'Auto', 'SqlGlot' or 'SqlFluff'"),
    ],
)
def test_a_mistake_names_file_line_field_and_what_is_right(
    workflow_file: Write, minimal: str, line: str, message: str
) -> None:
    [problem] = problems(workflow_file(minimal + f"      {line}\n"))

    assert problem.startswith("lineage.yaml:9: source.sourceConfig.config.")
    assert message in problem


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("  serviceName: shop\n", "", "lineage.yaml:1: source.serviceName: needed, and not given"),
        ("query-log-lineage", "query-log-linage", "source.type: unknown source type; did you mean query-log-lineage?"),
        ("query-log-lineage", "Snowflake", "did you mean snowflake-lineage?"),
        ("query-log-lineage", "nonsense", "unknown source type; expected"),
        ("{type: Postgres}", "{type: Postgre}", "lineage.yaml:4: source.serviceConnection.config.type: unknown"),
        ("{type: Postgres}", "{type: Qqq}", "use CustomDatabase"),
        ("query-log-lineage", "mysql-lineage", "source.type is for Mysql, and this is Postgres"),
        ("log.csv", "lgo.csv", "lineage.yaml:8: source.sourceConfig.config.queryLogFilePath: no such file"),
        ("log.csv", "lgo.csv", "did you mean log.csv?"),
        ("log.csv", "'*.tsv'", "no such file or directory"),
        (
            "log.csv",
            "*.csv",
            "lineage.yaml:8: not valid YAML: a value that starts with * is an alias; put it in quotes",
        ),
        (
            "{type: Postgres}",
            "{type: ${T}}",
            "lineage.yaml:4: not valid YAML: inside { } and [ ] a ${...} needs quotes",
        ),
        ("      queryLogFilePath: log.csv\n", "", "queryLogFilePath: needed by the source type query-log-lineage"),
        ("DatabaseLineage", "DatabaseUsage", "expected 'DatabaseLineage'"),
        ("source:", "sources:", "lineage.yaml:1: sources: unknown key; did you mean source?"),
    ],
)
def test_a_mistake_in_the_source(workflow_file: Write, minimal: str, old: str, new: str, message: str) -> None:
    assert any(message in problem for problem in problems(workflow_file(minimal.replace(old, new, 1))))


@pytest.mark.parametrize(
    ("server", "message"),
    [
        (
            "{hostPort: embeded}",
            "hostPort: expected embedded or a URL such as http://openmetadata:8585/api; did you mean",
        ),
        ("{hostPort: 'http://h:1/api'}", "jwtToken: needed by any hostPort but embedded"),
        ("{hostPort: 'http://h:1', securityConfig: {jwtToken: t}}", "the API's URL ends in /api"),
        ("{hostPort: 'http://h:99999/api', securityConfig: {jwtToken: t}}", "expected embedded or a URL"),
        ("{hostPort: 'http://u:sesame@h/api', securityConfig: {jwtToken: t}}", "a URL with a user name in it"),
        ("{hostPort: 'http://h/api', securityConfig: {jwtToken: /no/such}}", "jwtToken: no such file"),
        ("{verifySSL: maybe}", "verifySSL: expected 'no-ssl', 'ignore' or 'validate'"),
        ("{verifySsl: ignore}", "verifySsl: unknown key; did you mean verifySSL?"),
        (
            "{hostPort: 'https://h/api', securityConfig: {jwtToken: t}, sslConfig: {caCertificate: ca.pem}}",
            "no such file",
        ),
    ],
)
def test_a_mistake_in_the_server(workflow_file: Write, minimal: str, server: str, message: str) -> None:
    found = problems(workflow_file(minimal + f"workflowConfig:\n  openMetadataServerConfig: {server}\n"))

    assert any(message in problem and problem.startswith("lineage.yaml:10: ") for problem in found)
    assert "sesame" not in "".join(found)


@pytest.mark.parametrize(
    ("schedule", "message"),
    [
        ("cron: 61 * * * *", "schedule.cron: not five cron fields"),
        ("cron: '* * * * * *'", "schedule.cron: not five cron fields"),
        ("cron: '@daily'", "schedule.cron: not five cron fields"),
        ("cron: 0 0 31 2 *", "schedule.cron: not five cron fields"),
        ("cron: 0 6 * * *, timezone: Europe/Berlim", "schedule.timezone: not a time zone"),
        ("cron: 0 6 * * *, timezone: ../etc/passwd", "schedule.timezone: not a time zone"),
        ("cron: 0 6 * * *, timeout: 0", "schedule.timeout: expected at least 1"),
    ],
)
def test_a_mistake_in_the_schedule(workflow_file: Write, minimal: str, schedule: str, message: str) -> None:
    [problem] = problems(workflow_file(minimal + f"headwater: {{schedule: {{{schedule}}}}}\n"))

    assert problem.startswith("lineage.yaml:9: headwater.")
    assert message in problem


def test_all_problems_are_listed_in_the_order_of_their_lines(workflow_file: Write, minimal: str) -> None:
    found = problems(
        workflow_file(minimal + "      threads: x\n      resultLimit: y\nheadwater: {registerTables: z}\n")
    )

    assert [problem.split(":")[1] for problem in found] == ["9", "10", "11"]


def test_a_missing_configuration_names_the_nearest(workflow_file: Write) -> None:
    workflow_file()

    assert problems(Path("linage.yaml")) == ["linage.yaml: no such file; did you mean lineage.yaml?"]
    assert "`ingest init`" in problems(Path("other.json"))[0]
    assert "cannot be read" in problems(Path())[0]


def test_a_configuration_that_is_no_text(workflow_file: Write) -> None:
    file = workflow_file()
    file.write_bytes(b"a: 1\nb: \xff\n")

    assert problems(file) == ["lineage.yaml:2: not UTF-8 text"]


def test_a_configuration_comes_from_standard_input(
    workflow_file: Write, minimal: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    workflow_file()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(minimal.encode())))

    assert load_config("-").origin == "<stdin>"


def test_references_come_from_the_environment(workflow_file: Write, minimal: str) -> None:
    file = workflow_file(minimal.replace("shop", "${SERVICE}") + "      threads: ${N:-3}\n" + SERVER % "'${OM_TOKEN}'")

    config = load_config(file, environment={"SERVICE": "a: b", "OM_TOKEN": "tok.en"})

    assert config.source.service_name == "a: b"
    assert config.lineage.threads == 3
    assert isinstance(config.target, Server)
    assert config.target.token.get_secret_value() == "tok.en"
    assert config.target.host_port == "http://openmetadata:8585/api"
    assert "tok.en" in config.secrets


def test_a_missing_variable_is_named_with_its_line(workflow_file: Write, minimal: str) -> None:
    [problem] = problems(workflow_file(minimal.replace("shop", "${SERVICE}")))

    assert problem.startswith("lineage.yaml:3: source.serviceName: the environment variable SERVICE is not set")


def test_a_token_can_be_the_path_of_a_file(workflow_file: Write, minimal: str) -> None:
    file = workflow_file(minimal + SERVER % "tok")
    Path("tok").write_text("s3cret\n")

    config = load_config(file)

    assert isinstance(config.target, Server)
    assert config.target.token.get_secret_value() == str(Path("tok").absolute())
    assert "s3cret" in config.secrets


def test_paths_are_found_from_here_and_beside_the_yaml(
    workflow_file: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = workflow_file().absolute()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")

    assert load_config(file).lineage.query_log_file_path == str(tmp_path / "log.csv")

    (tmp_path / "elsewhere" / "log.csv").touch()
    assert load_config(file).lineage.query_log_file_path == "log.csv"


@pytest.mark.parametrize("location", ["*.csv", ".", "s3a://bucket/logs/*", "hdfs://nn/x"])
def test_a_log_can_be_a_glob_a_directory_or_a_uri(workflow_file: Write, location: str) -> None:
    assert load_config(workflow_file(), [f"queryLogFilePath={location}"]).lineage.query_log_file_path == location


def test_spark_history_has_keys_of_its_own(workflow_file: Write, tmp_path: Path) -> None:
    text = """\
source:
  type: spark-history-lineage
  serviceName: lake
  sourceConfig: {config: {type: DatabaseLineage, eventLogDirectory: ., minDate: 2026-11-01, status: completed}}
"""
    config = load_config(workflow_file(text))

    assert config.source.dialect == "spark"
    assert isinstance(config.lineage, SparkHistoryLineageConfig)
    assert config.lineage.location == "."
    assert config.lineage.min_date == datetime(2026, 11, 1, tzinfo=UTC)
    [problem] = problems(workflow_file(text.replace("eventLogDirectory: ., ", "")))
    assert "give one of eventLogDirectory and historyServer" in problem
    [problem] = problems(workflow_file(text.replace("2026-11-01", "soon")))
    assert "minDate: expected an ISO date" in problem
    server = load_config(workflow_file(text.replace("eventLogDirectory: .", "historyServer: http://spark:18080/")))
    assert server.lineage.location == "http://spark:18080"


SPARK_NAMES = """\
source:
  type: spark-history-lineage
  serviceName: lake
  sourceConfig: {config: {eventLogDirectory: .}}
headwater:
  sparkNames:
    catalogs: {spark_catalog: lake.default, spark_catalog.tmp: scratch.default.tmp, pg: '"shop.eu".shop'}
    jdbc:
      - {to: crm, url: "jdbc:postgresql://db:5432/crm"}
      - {to: erp.erp.app, tables: [APP.*]}
    paths:
      - {prefix: "s3a://raw/", to: raw_zone}
"""


def test_sparks_names_lead_to_services(workflow_file: Write) -> None:
    places = load_config(workflow_file(SPARK_NAMES)).name_rules

    assert places.table(("spark_catalog", "mart", "t")) == ("default", "mart", "t")
    assert places.table(("spark_catalog", "tmp", "t")) == ("scratch", "default", "tmp", "t")
    assert places.table(("pg", "public", "t")) == ("shop.eu", "shop", "public", "t")
    assert places.over_jdbc(("public", "t"), JdbcUrl("postgresql", "db", 5432, "crm")) == ("crm", "crm", "public", "t")
    assert places.over_jdbc(("APP", "T"), None) == ("erp", "erp", "APP", "T")
    assert places.storage_of("s3://raw/in") == "raw_zone"
    assert load_config(workflow_file()).name_rules == EngineNameRules()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("catalogs:", "catalog:"), ":7: headwater.sparkNames.catalog: unknown key; did you mean catalogs?"),
        (("prefix:", "prefx:"), ":12: headwater.sparkNames.paths[0].prefx: unknown key; did you mean prefix?"),
        (("{to: crm, ", "{"), ":9: headwater.sparkNames.jdbc[0].to: needed, and not given"),
        (("lake.default", "lake..default"), ":7: headwater.sparkNames.catalogs.spark_catalog: not a name: parts are"),
        (("lake.default", "lake.a.b"), "a whole catalog cannot be one schema"),
        (("lake.default", "lake.a.b.c"), "more than service.database.schema"),
        (("//db:5432", "//u:p@db:5432"), ":9: headwater.sparkNames.jdbc[0].url: a URL with a user name in it"),
        (("jdbc:postgresql://db:5432/crm", "jdbc:"), "expected a JDBC URL such as"),
        (("s3a://raw/", "raw"), ":12: headwater.sparkNames.paths[0].prefix: expected a path with its scheme"),
    ],
)
def test_a_mistake_in_sparks_names_is_told_at_its_place(
    workflow_file: Write, change: tuple[str, str], says: str
) -> None:
    assert any(says in problem for problem in problems(workflow_file(SPARK_NAMES.replace(*change))))


def test_sparks_names_are_for_spark_history_only(workflow_file: Write, minimal: str) -> None:
    [problem] = problems(workflow_file(minimal + "headwater:\n  sparkNames: {catalogs: {spark_catalog: shop}}\n"))

    assert "headwater.sparkNames: only the source type spark-history-lineage" in problem


def dbt_file(minimal: str, **place: object) -> str:
    content = yaml.safe_load(minimal)
    content["source"] |= {"type": "dbt", "sourceConfig": {"config": {"type": "DBT", "dbtConfigSource": place}}}
    return yaml.safe_dump(content)


@pytest.mark.parametrize("place", ["azure", "cloud"])
def test_artifacts_of_dbt_elsewhere_are_refused_in_one_line(workflow_file: Write, minimal: str, place: str) -> None:
    text = dbt_file(minimal, dbtConfigType=place, dbtPrefixConfig={"dbtBucketName": "b"}, dbtCloudAccountId="1")
    lines = [line for line in problems(workflow_file(text)) if "dbtConfig" in line]
    assert len(lines) == 1
    assert f"dbtConfigSource: dbtConfigType {place} is not read: download the artifacts before the run" in lines[0]


def test_artifacts_of_dbt_behind_addresses(workflow_file: Write, minimal: str) -> None:
    place = {"dbtManifestHttpPath": "https://ci.example/m.json?sig=hunter2", "dbtHttpHeaders": {"X-Key": "hunter3"}}
    config = load_config(workflow_file(dbt_file(minimal, dbtConfigType="http", **place)))
    assert config.dbt is not None
    urls = {"manifest": "https://ci.example/m.json?sig=hunter2"}
    assert config.dbt.dbt_config_source.elsewhere == HttpArtifacts(urls, {"X-Key": "hunter3"})
    assert {"sig=hunter2", "hunter3"} <= set(config.secrets)
    assert not re.search("hunter", repr(config))


def test_artifacts_of_dbt_in_a_bucket(workflow_file: Write, minimal: str) -> None:
    security = {"awsAccessKeyId": "id", "awsSecretAccessKey": "hunter2", "awsRegion": "eu-west-1"}
    security["endPointURL"] = "http://minio:9000"
    folder = {"dbtBucketName": "lake", "dbtObjectPrefix": "dbt/target/"}
    place = {"dbtConfigType": "s3", "dbtSecurityConfig": security, "dbtPrefixConfig": folder}
    config = load_config(workflow_file(dbt_file(minimal, **place)))
    assert config.dbt is not None
    bucket = config.dbt.dbt_config_source.elsewhere
    assert isinstance(bucket, BucketArtifacts)
    assert (bucket.address, bucket.options["secret_key"]) == ("s3://lake/dbt/target", "hunter2")
    assert (bucket.options["scheme"], bucket.options["endpoint_override"]) == ("http", "minio:9000")
    assert "hunter2" in config.secrets
    assert "hunter2" not in repr(config)


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ({"dbtConfigType": "http"}, "dbtManifestHttpPath: needed by dbtConfigType http"),
        ({"dbtConfigType": "http", "dbtManifestHttpPath": "ftp://a"}, "expected a URL such as https://ci.example"),
        ({"dbtConfigType": "s3"}, "dbtBucketName: needed by dbtConfigType s3"),
        ({"dbtConfigType": "s3", "dbtSecurityConfig": {"awsAccessKeyId": "a"}}, "belong together"),
        ({"dbtConfigType": "gcs", "dbtSecurityConfig": {"gcpConfig": "none.json"}}, "no such file"),
        ({"dbtConfigType": "gcs", "dbtSecurityConfig": {"gcpConfig": {"privateKey": "k"}}}, "read from a file alone"),
    ],
)
def test_a_place_of_artifacts_that_is_not_whole(
    workflow_file: Write, minimal: str, place: dict[str, object], expected: str
) -> None:
    assert any(expected in line for line in problems(workflow_file(dbt_file(minimal, **place))))


def test_every_connection_type_is_a_source_type(workflow_file: Write, minimal: str) -> None:
    from ingestion.dialects.connection_types import CONNECTION_TYPES

    for name, dialect in CONNECTION_TYPES.items():
        text = minimal.replace("query-log-lineage", f"{name.lower()}-lineage").replace("Postgres", name)
        config = load_config(workflow_file(text))
        assert (config.source.is_database, config.source.dialect) == (True, dialect)
