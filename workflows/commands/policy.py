"""`ingest policy`: tags along lineage, planned, applied and checked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from connectors.catalog import DEFAULT_CATALOG
from ingestion.errors import ConfigError
from workflows.commands.options import BREAKING, FORMAT, Days, print_answer
from workflows.runtime.error_reporting import shows_errors

if TYPE_CHECKING:
    from connectors.openmetadata.client import Platform
    from ingestion.policies import Policy
    from ingestion.policies.plan import CatalogColumns, PolicyPlan

policy = typer.Typer(name="policy", no_args_is_help=True, help="Tags that follow the data, by rules in a YAML file.")

PolicyFile = Annotated[Path, typer.Argument(metavar="POLICY.yaml", help="The rules.")]
PolicyCatalog = Annotated[
    Path | None, typer.Option("--catalog", metavar="FILE", help=f"The catalog's file; usually {DEFAULT_CATALOG}.")
]
ServerConfig = Annotated[
    str | None, typer.Option("--config", "-c", metavar="FILE", help="Or a workflow's YAML: the catalog that it names.")
]


PlanForm = Literal["text", "json", "snowflake", "databricks", "postgres"]
"""How a plan is written: for people, as JSON, or as SQL for a warehouse."""


@dataclass(frozen=True, slots=True)
class _Chosen:
    """Where a policy is planned or applied."""

    catalog: Path | None
    config: str | None
    days: int | None


@policy.command()
@shows_errors
def plan(
    rules: PolicyFile,
    catalog: PolicyCatalog = None,
    config: ServerConfig = None,
    output: Annotated[PlanForm, FORMAT] = "text",
    days: Days = None,
) -> None:
    """Print which tags the rules put on which columns, and which they take away again, with the path of each.

    \b
    Examples:
      ingest policy plan pii.yaml
      ingest policy plan pii.yaml --format snowflake > tags.sql
    """
    found = _load_rules(rules)
    with _open_catalog(_Chosen(catalog, config, days)) as (columns, _platform):
        _print_plan(found, columns, output)


@policy.command()
@shows_errors
def apply(
    rules: PolicyFile,
    catalog: PolicyCatalog = None,
    config: ServerConfig = None,
    days: Days = None,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would be done, and do nothing.")] = False,
) -> None:
    """Put the tags on, and take away those whose path is gone. What people have set is never taken away.

    \b
    Examples:
      ingest policy apply pii.yaml
      ingest policy apply pii.yaml -c lineage.yaml
    """
    from connectors.openmetadata.policies import apply_plan

    given = _load_rules(rules)
    with _open_catalog(_Chosen(catalog, config, days), writes=not dry_run) as (columns, platform):
        if platform is None or dry_run:
            _print_plan(given, columns, "text")
            return
        found = _plan_for(given, columns)
        lost = apply_plan(platform, found)
    _print_applied(found, whole=not lost)
    for one in lost:
        typer.echo(f"ingest: {one}", err=True)
    if lost:
        raise typer.Exit(1)


@policy.command()
@shows_errors
def check(rules: PolicyFile, catalog: PolicyCatalog = None, config: ServerConfig = None, days: Days = None) -> None:
    """Print the plan, and end with exit code 4 when tagged data lies in an untagged place.

    \b
    Examples:
      ingest policy check pii.yaml
    """
    given = _load_rules(rules)
    with _open_catalog(_Chosen(catalog, config, days)) as (columns, _platform):
        found = _print_plan(given, columns, "text")
    if found.untagged:
        raise typer.Exit(BREAKING)


def _load_rules(file: Path) -> Policy:
    """The policy in a file: read before anything is asked of a catalog."""
    from workflows.config.policies import load_policy

    return load_policy(file)


def _plan_for(rules: Policy, columns: CatalogColumns) -> PolicyPlan:
    from ingestion.policies.plan import policy_plan

    return policy_plan(columns, rules, datetime.now(UTC).date())


def _print_applied(plan: PolicyPlan, *, whole: bool) -> None:
    """What was done; where some of it could not be, the plan, beside which that is told."""
    from connectors.catalog.answer.policy import APPLIED, POLICY
    from connectors.catalog.questions.answer import Answer

    print_answer(Answer(plan), APPLIED if whole else POLICY, "text")


def _print_plan(rules: Policy, columns: CatalogColumns, output: PlanForm) -> PolicyPlan:
    found = _plan_for(rules, columns)
    if output in ("text", "json"):
        from connectors.catalog.answer.policy import POLICY
        from connectors.catalog.questions.answer import Answer

        print_answer(Answer(found), POLICY, output)
    else:
        from ingestion.policies.tag_statements import TagWarehouse, plan_statements

        for statement in plan_statements(found, columns.table_types, TagWarehouse(output)):
            typer.echo(statement)
    return found


@contextmanager
def _open_catalog(chosen: _Chosen, *, writes: bool = False) -> Iterator[tuple[CatalogColumns, Platform | None]]:
    """The columns of a catalog, and its platform where that is a server, or `writes` is asked for."""
    from workflows.config import EmbeddedCatalog, Server, load_config

    if chosen.catalog is not None and chosen.config is not None:
        raise ConfigError("give --catalog or --config")
    target: EmbeddedCatalog | Server = EmbeddedCatalog(file=chosen.catalog or DEFAULT_CATALOG)
    if chosen.config is not None:
        target = load_config(chosen.config, may_lack_log=True).target
    from connectors.catalog.questions.answer import When
    from connectors.catalog.questions.policy import columns_of_file
    from connectors.openmetadata.policies import columns_of_platform
    from workflows.target import platform_of

    if isinstance(target, EmbeddedCatalog):
        columns = columns_of_file(target.file, When(days=chosen.days))
        if not writes:
            yield columns, None
            return
        with platform_of(target) as platform:
            yield columns, platform
    else:
        with platform_of(target) as platform:
            yield columns_of_platform(platform), platform
