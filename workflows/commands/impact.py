"""`ingest impact`: what is downstream of a name, or of a change that is proposed."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

import typer

from connectors.catalog import DEFAULT_CATALOG
from ingestion.errors import ConfigError
from workflows.commands.options import (
    BREAKING,
    FORMAT,
    PARSER_SECONDS,
    AsOf,
    Budget,
    CatalogFile,
    ContractFiles,
    Cursor,
    Days,
    Depth,
    DirectOnly,
    SqlDialect,
    Witnesses,
    millis,
    print_answer,
    tell_left_out,
)
from workflows.runtime.error_reporting import shows_errors

ChangeFile = Annotated[
    str | None, typer.Option("--sql", metavar="FILE|DIR|-", help="Instead of a name: what this SQL would change.")
]
ChangeText = Annotated[str | None, typer.Option("--ddl", metavar="TEXT", help="Or what these statements would.")]
ChangeFolders = Annotated[
    tuple[str, str] | None, typer.Option("--diff", metavar="BASE HEAD", help="Or what differs between two folders.")
]
DefaultSchema = Annotated[
    str, typer.Option("--default-schema", metavar="[DB.]SCHEMA", help="Where the SQL's names without one stand.")
]

OnlySuch = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        metavar="WHAT:VALUE",
        help="Only what is downstream with degree:1 (2, 3+), how:direct, owner:, tag:, tier:, type:, service: or "
        "schema:. Can be repeated: of one of them any value, of several all.",
    ),
]


@shows_errors
def impact(
    name: Annotated[
        str | None, typer.Argument(metavar="[TABLE[.COLUMN]]", help="A full name, or as much of its end as tells.")
    ] = None,
    sql: ChangeFile = None,
    ddl: ChangeText = None,
    between: ChangeFolders = None,
    catalog: CatalogFile = DEFAULT_CATALOG,
    dialect: SqlDialect = None,
    default_schema: DefaultSchema = "",
    output: Annotated[Literal["tree", "json", "csv", "text", "markdown"], FORMAT] = "tree",
    as_of: AsOf = None,
    days: Days = None,
    budget: Budget = None,
    cursor: Cursor = None,
    witness: Witnesses = None,
    depth: Depth = 0,
    direct: DirectOnly = False,
    only: OnlySuch = None,
    contracts: ContractFiles = None,
) -> None:
    """List everything downstream of a table or a column, or of a change that is proposed, with the path to each.

      Of a change: which columns downstream break, or change their type, their meaning or their sensitivity, and which
      promises of contracts. Exit code 4 when something breaks, 1 when that is not known: not all of the change is
      understood, something may break, or a contract could not be read.

      \b
      Examples:
        ingest impact shop.orders.total
        ingest impact shop.orders --format text --budget 1000
        ingest impact shop.orders.total --direct --depth 2
        ingest impact shop.orders.total --only owner:ann --only degree:1
        ingest impact shop.orders.total --witness engine
        ingest impact --sql migrations/V7__totals.sql --format markdown
        ingest impact --diff base/models head/models --dialect snowflake
    ingest impact --sql V7.sql --contracts contracts/
    """
    from connectors.catalog.questions.answer import When
    from ingestion.model.witnesses import WitnessFilter

    if sum(one is not None for one in (name, sql, ddl, between)) != 1:
        raise ConfigError("give one of: a name, --sql FILE, --ddl TEXT, --diff BASE HEAD")
    when = When(millis(as_of) if as_of else None, days, WitnessFilter.of(witness or ()))
    if name is not None:
        from connectors.catalog.answer.changes import IMPACT
        from connectors.catalog.questions.impact import impact_in_file
        from connectors.catalog.questions.impact_filter import ImpactFilter

        if output == "markdown":
            raise ConfigError("--format markdown is for --sql, --ddl and --diff")
        found = impact_in_file(catalog, name, when, contracts)
        asked = ImpactFilter.of(depth, direct=direct, only=only or ())
        near = replace(found, content=found.content.only(asked))
        print_answer(near, IMPACT, output, (budget, cursor))
        tell_left_out(catalog, when)
        return
    from connectors.catalog.answer.changes import PROPOSED_CHANGE
    from connectors.catalog.questions.proposed_change.question import ChangeOptions, proposed_change

    if witness or depth or direct or only:
        raise ConfigError("--witness, --depth, --direct and --only are for what is downstream of a name")
    if output in ("csv", "text"):
        raise ConfigError(f"--format {output} is for what is downstream of a name")
    options = ChangeOptions(sql, ddl, between, dialect, default_schema, PARSER_SECONDS, contracts)
    answer = proposed_change(catalog, options, when)
    print_answer(answer, PROPOSED_CHANGE, output)
    tell_left_out(catalog, when)
    if answer.content.breaks:
        raise typer.Exit(BREAKING)
    if answer.cut or not answer.content.complete:
        raise typer.Exit(1)
