"""The command line: `ingest`. Commands import what they need when they run, so that each starts at once."""

from __future__ import annotations

from typing import Annotated

import typer

import ingestion
from workflows.commands.correct import correct
from workflows.commands.coverage import coverage
from workflows.commands.diff import diff
from workflows.commands.doctor import doctor
from workflows.commands.explain import explain
from workflows.commands.export import export
from workflows.commands.freshness import freshness
from workflows.commands.impact import impact
from workflows.commands.init import init, schema
from workflows.commands.lineage import lineage
from workflows.commands.mcp import mcp
from workflows.commands.metrics import metrics
from workflows.commands.policy import policy
from workflows.commands.replay import replay
from workflows.commands.run import run
from workflows.commands.runs import runs
from workflows.commands.schedule import schedule
from workflows.commands.serve import serve
from workflows.commands.unused import list_unused
from workflows.commands.validate import validate
from workflows.commands.why import why
from workflows.commands.witnesses import witnesses

_HELP = """Table and column lineage from the query logs that a data platform already writes.

\b
Examples:
  ingest doctor                                 is this machine ready?
  ingest init > lineage.yaml                    a commented configuration to start from
  ingest validate -c lineage.yaml --connect     check it, and that the target answers
  ingest run -c lineage.yaml                    read the log, publish its lineage
  ingest run -c lineage.yaml --dry-run          print what would be published
  ingest schedule -c lineage.yaml               run it when its cron says so
  ingest runs -c lineage.yaml                   what became of the runs
  ingest replay -c lineage.yaml                 try again what was given up on
  ingest serve                                  keep the embedded catalog up, to look at
  ingest export --html lineage.html             what the catalog knows, in one page
  ingest impact shop.orders.total               what breaks if this column changes
  ingest impact --sql change.sql                what breaks if this runs (exit 4)
  ingest diff --from 2026-11-01                 what changed since, and what it breaks (exit 4)
  ingest why mart.daily.revenue                 what upstream may have made it wrong
  ingest witnesses                              where log, engine, OpenLineage and dbt differ
  ingest unused --days 90                       what nobody reads, and what it costs
  ingest freshness                              which tables are late
  ingest coverage                               of which tables the source is known
  ingest correct reject a.x b.y --reason "..."  what a person knows better than the log
  ingest policy check pii.yaml                  tags that follow the data (exit 4)
  ingest lineage model.sql --dialect snowflake  one file's lineage, at once
  ingest explain daily.revenue models/          where one column comes from
  ingest metrics reports/ --dialect snowflake   what queries measure, and by what
  ingest mcp                                    answer language models about the catalog
"""

_EXIT_CODES = """\b
Exit codes:
  0    done
  1    failed; a repetition may help
  2    the configuration, the command line or the machine is wrong; a repetition will not help
  3    finished, but fewer statements succeeded than successThreshold demands
  4    something downstream breaks
  75   the target is down or another run holds the lock; try later
  130  drained after SIGINT
  143  drained after SIGTERM

HEADWATER_DEBUG=1 shows where in the code an error came from.
"""


def _print_version(asked: bool) -> None:  # noqa: FBT001 as typer calls it
    if asked:
        typer.echo(f"headwater {ingestion.__version__}")
        raise typer.Exit


app = typer.Typer(
    name="ingest",
    help=_HELP,
    epilog=_EXIT_CODES,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
_COMMANDS = (
    run,
    schedule,
    runs,
    replay,
    validate,
    serve,
    export,
    impact,
    diff,
    why,
    witnesses,
    coverage,
    freshness,
    doctor,
    lineage,
    explain,
    metrics,
    mcp,
    init,
    schema,
)


@app.callback()
def _options(
    *,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version.")
    ] = False,
) -> None: ...


for command in _COMMANDS:
    app.command(epilog=_EXIT_CODES if command is run else None)(command)
app.command("unused")(list_unused)
app.add_typer(policy)
app.add_typer(correct)


def main() -> None:
    """The entry point."""
    app(prog_name="ingest")
