"""`ingest validate`: a configuration checked, nothing started."""

from __future__ import annotations

import os
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated

import typer

from workflows.commands.options import ConfigFile, Settings
from workflows.runtime.error_reporting import shows_errors, without_secrets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workflows.config import RunConfig


@shows_errors
def validate(
    config: ConfigFile,
    settings: Settings = None,
    connect: Annotated[
        bool, typer.Option("--connect", help="Also ask the target whether it takes our token, and look into the log.")
    ] = False,
) -> None:
    """Check a configuration.

    Prints all its problems, one a line, with exit code 2; or else what it will do. With --connect also the first
    records of the query log as they are understood, without literals.

    \b
    Examples:
      ingest validate -c lineage.yaml
      ingest validate -c lineage.yaml --connect
    """
    from workflows.config import InvalidConfig, load_config
    from workflows.runtime.logs import Redactor

    try:
        loaded = load_config(config, settings or ())
    except InvalidConfig as error:
        for problem in error.problems:
            typer.echo(str(problem), err=True)
        raise typer.Exit(error.exit_code) from None
    redact = Redactor(loaded.secrets)
    with without_secrets(redact):
        for line in _description(loaded):
            typer.echo(redact(line))
        if connect:
            for line in _connect(loaded):
                typer.echo(redact(line))
            for line in _cluster(loaded):
                typer.echo(redact(line))
            for line in _log(loaded):
                typer.echo(redact(line))


def _description(config: RunConfig) -> list[str]:
    from workflows.config import EmbeddedCatalog

    source, target, limits = config.source, config.target, config.limits
    catalogs = f"the views of {', '.join(config.spark_catalogs)}" if config.spark_catalogs else ""
    read_from = " and ".join(filter(None, (config.query_log_location, catalogs))) or "the catalog's definitions"
    read_from = config.lineage.location or read_from
    dialect = source.dialect or "the dialect of the catalog's service"
    where = f"embedded catalog {target.file}" if isinstance(target, EmbeddedCatalog) else target.host_port
    elsewhere = config.sink.config.location
    return [
        f"{config.origin}: valid",
        f"  source   {source.type} of {source.service_name} ({dialect}), from {read_from}",
        f"  target   {where}",
        *([f"  sink     {config.sink.type}, into {elsewhere}"] if elsewhere else []),
        f"  limits   {limits.seconds} s and {limits.memory_mb} MB a parser, {config.lineage.threads} threads",
        *(f"  warning  {key} is accepted and has no effect here" for key in config.without_effect),
    ]


def _connect(config: RunConfig) -> Iterator[str]:
    from ingestion.errors import ConfigError
    from workflows.config import EmbeddedCatalog
    from workflows.doctor import Health, catalog_file
    from workflows.target import check_sink, server_version

    if isinstance(config.target, EmbeddedCatalog):
        finding = catalog_file(config.target.file)
        if finding.health is Health.FAILED:
            raise ConfigError(finding.detail)
        yield f"  connect  {finding.detail}"
    else:
        yield f"  connect  version {server_version(config.target)} answers and takes the token"
    check_sink(config)
    if config.sink.config.location:
        yield f"  connect  {config.sink.config.location}"


def _cluster(config: RunConfig) -> list[str]:
    from ingestion.errors import ConfigError
    from workflows.doctor import Health, cluster
    from workflows.runtime.spark_kinds import refuse_other_spark

    refuse_other_spark(version("pyspark"), os.environ)
    findings = cluster(config, os.environ)
    if refused := [found.detail for found in findings if found.health is Health.FAILED]:
        raise ConfigError(refused[0])
    return [f"  cluster  {found.detail}" for found in findings if found.health is not Health.OK]


def _log(config: RunConfig) -> Iterator[str]:
    from workflows.run.read.preview import preview
    from workflows.runtime.signals import GracefulShutdown
    from workflows.runtime.spark import spark_session

    if not config.has_query_log:
        return
    with spark_session(config.headwater.spark, GracefulShutdown()) as spark:
        for line in preview(spark, config):
            yield f"  log      {line}"
