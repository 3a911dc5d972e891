"""Options that several commands take."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

import typer

from workflows.runtime.error_reporting import print_no_more
from workflows.runtime.logs import LogFormat

if TYPE_CHECKING:
    from connectors.catalog.answer.rendering import Renderings
    from connectors.catalog.questions.answer import Answer, When

Content = TypeVar("Content")
BREAKING = 4
"""Exit code where something downstream breaks, or tagged data lies in an untagged place."""
FORMATS = ["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"]

ConfigFile = Annotated[
    str, typer.Option("--config", "-c", metavar="FILE", help="The workflow's YAML; - reads standard input.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Replace a value of the YAML: --set resultLimit=500. Can be repeated."
    ),
]
ReportFile = Annotated[
    Path | None, typer.Option("--report", metavar="FILE", help="Also write the summary to FILE, as JSON.")
]
LogLines = Annotated[LogFormat, typer.Option("--log-format", help="How log lines are written.")]

CatalogFile = Annotated[Path, typer.Option("--catalog", metavar="FILE", help="The catalog's file.")]
AsOf = Annotated[datetime | None, typer.Option("--as-of", help="As it was then (UTC).", formats=FORMATS)]
Witnesses = Annotated[
    list[str] | None,
    typer.Option(
        "--witness",
        metavar="NAME",
        help="Only edges that log, engine, openlineage, dbt, file, person or tool says; '!log': that it does not say; "
        "disputed: of which one tells otherwise. Can be repeated: all must hold.",
    ),
]
Days = Annotated[int | None, typer.Option(min=0, help="Observations of so many days; 0 is any age. Usually 30.")]

ContractFiles = Annotated[
    Path | None,
    typer.Option(
        "--contracts",
        metavar="FILE|DIR",
        help="Contracts to hold it against: files of the Open Data Contract Standard (v3).",
    ),
]
SqlDialect = Annotated[
    str | None,
    typer.Option(
        "--dialect", "-d", help="sqlglot's name of the dialect, or a connection type; a dbt project's own, else ansi."
    ),
]
SchemaFile = Annotated[
    Path | None,
    typer.Option(
        "--schema", metavar="FILE", help='Known tables: CREATE TABLE statements, or JSON {"s.t": {"column": "type"}}.'
    ),
]
PARSER_SECONDS = 30.0
ParserSeconds = Annotated[float, typer.Option("--timeout", min=0.1, help="Seconds for one parser on one statement.")]

FORMAT = typer.Option("--format", help="How to write it.")
"""The one option for it; the type of a command's argument has the forms that its answers have."""
Budget = Annotated[int | None, typer.Option(help="Tokens of --format text, by a conservative count; 2000 if left out.")]
Depth = Annotated[int, typer.Option("--depth", min=0, help="Only what is so many hops away; 0 is all of it.")]
DirectOnly = Annotated[bool, typer.Option("--direct", help="Only where values flow: no filters, joins and groups.")]
Under = Annotated[str | None, typer.Argument(metavar="[NAME]", help="Only a service, a database, a schema or a table.")]
ListForm = Annotated[Literal["tree", "json", "csv", "markdown", "text"], FORMAT]
AsJson = Annotated[bool, typer.Option("--json", help="As --format json.")]
MostTables = Annotated[int, typer.Option("--limit", min=1, max=100_000, help="Tables at most.")]
Cursor = Annotated[str | None, typer.Option(metavar="CURSOR", help="Where --format text goes on.")]


def start_parser(timeout_seconds: float) -> None:
    """Starts the parser process of a command that reads SQL: it loads its parser while the command loads the rest."""
    from ingestion.parsing.parser_pool import warm_parser

    warm_parser(timeout_seconds).start()


def print_answer(
    answer: Answer[Content], how: Renderings[Content], form: str, page: tuple[int | None, str | None] | None = None
) -> None:
    """Prints an answer in the form that --format names.

    `page` is the budget and the cursor of a command whose `text` comes in pages. A reader who has had enough (`head`)
    changes nothing of how the command ends: its exit code may gate a change.
    """
    from connectors.catalog.answer.rendering import render, render_page

    text = f"{render_page(answer, how, *page)}\n" if form == "text" and page is not None else render(answer, how, form)
    try:
        typer.echo(text, nl=False)
    except BrokenPipeError:
        print_no_more()


def tell_left_out(catalog: Path, when: When) -> None:
    """Tells what was seen too long ago to be in the answer, on standard error."""
    from connectors.catalog.questions.file import asked_window, left_out, open_catalog

    with open_catalog(catalog) as connection:
        note = left_out(connection, asked_window(connection, when), "--days 0")
    if note:
        typer.echo(f"note: {note}", err=True)


def end_with(failures: Sequence[str]) -> None:
    """Tells what could not be read. Raises Exit, with code 1, where there is any."""
    for failure in failures:
        typer.echo(f"ingest: {failure}", err=True)
    if failures:
        raise typer.Exit(1)


def millis(moment: datetime) -> int:
    """A moment of the command line, which is in UTC, as milliseconds since the epoch."""
    return round(seconds(moment) * 1000)


def seconds(moment: datetime) -> float:
    """A moment of the command line, which is in UTC, as seconds since the epoch."""
    return moment.replace(tzinfo=UTC).timestamp()
