"""The command line: `ingest`. A command is loaded when it is asked for, and imports what it needs when it runs, so that
each starts at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

import ingestion
from workflows.runtime.garbage_collection import collect_seldom

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


_COMMANDS = (
    *("run", "schedule", "runs", "replay", "validate", "serve", "export", "impact", "diff", "why", "witnesses"),
    *("coverage", "freshness", "doctor", "lineage", "explain", "metrics", "mcp", "init", "schema", "unused"),
    *("policy", "correct"),
)
"""In the order in which the help lists them."""
_ELSEWHERE = {"schema": "init.schema", "unused": "unused.list_unused"}
"""The module and the function of a command that are not both called as it is."""


class _Commands(TyperGroup):
    """The commands. Each is loaded when it is asked for: the modules of all take as long to load as Typer does."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in self.commands:
            # Where it is none of them, all are looked at for one that may have been meant.
            for name in (cmd_name,) if cmd_name in _COMMANDS else _COMMANDS:
                self.add_command(_command(name), name)
        return super().get_command(ctx, cmd_name)


def _command(name: str) -> Any:
    """A command, or a group of them, as Typer makes it."""
    module, _, function = _ELSEWHERE.get(name, f"{name}.{name}").partition(".")
    content = getattr(import_module(f"workflows.commands.{module}"), function)
    only = typer.Typer(rich_markup_mode=None)
    if isinstance(content, typer.Typer):
        only.add_typer(content)
    else:
        only.command(name, epilog=_EXIT_CODES if name == "run" else None)(content)
    return get_group(only).commands[name]


app = typer.Typer(
    name="ingest",
    cls=_Commands,
    help=_HELP,
    epilog=_EXIT_CODES,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback()
def _options(
    *,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version.")
    ] = False,
) -> None: ...


def main() -> None:
    """The entry point."""
    # What is loaded stays: each search through it for what nobody uses any more is in vain.
    collect_seldom()
    app(prog_name="ingest")
