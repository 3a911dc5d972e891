"""`ingest export`: a catalog's lineage as one page that opens from disk, or as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ingestion.errors import ConfigError
from workflows.commands.options import DEFAULT_CATALOG, AsOf, CatalogFile, Days, millis
from workflows.runtime.error_reporting import shows_errors

_STANDARD_OUTPUT = Path("-")


Page = Annotated[
    Path | None, typer.Option("--html", metavar="FILE", help="Write the explorer with the lineage inside.")
]
Graph = Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write the graph; - is standard output.")]
Tables = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Only the surroundings of this table (service.database.schema.table)."),
]


@shows_errors
def export(
    catalog: CatalogFile = DEFAULT_CATALOG,
    html: Page = None,
    as_json: Graph = None,
    table: Tables = None,
    upstream: Annotated[int, typer.Option(min=0, max=100, help="Hops upstream of --table.")] = 100,
    downstream: Annotated[int, typer.Option(min=0, max=100, help="Hops downstream of --table.")] = 100,
    as_of: AsOf = None,
    days: Days = None,
) -> None:
    """Write a catalog's lineage to a file.

    The page needs no network and no server: open it, mail it, keep it beside a release. Save its picture as SVG
    from within.

    \b
    Examples:
      ingest export --html lineage.html
      ingest export --html sofa.html --table mimic.mimic.mimiciii_derived.sofa --downstream 0
      ingest export --json - --as-of 2026-01-31 | jq '.edges | length'
    """
    from connectors.catalog.explorer.export import ExportScope, catalog_document
    from connectors.catalog.explorer.neighbourhood import NeighbourhoodStep
    from ingestion.explorer import self_contained_page

    if html is None and as_json is None:
        raise ConfigError("nothing to write: give --html FILE or --json FILE")
    steps = tuple(NeighbourhoodStep(name, upstream, downstream) for name in table or ())
    document = catalog_document(catalog, ExportScope(steps, millis(as_of) if as_of else None, days))
    if html is not None:
        title = ", ".join(table) if table else f"Lineage of {catalog.name}"
        _write(html, self_contained_page(document, title))
    if as_json is not None:
        _write(as_json, json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    if _STANDARD_OUTPUT not in (html, as_json):
        typer.echo(f"{len(document['nodes'])} tables, {len(document['edges'])} edges between them")


def _write(file: Path, text: str) -> None:
    if file == _STANDARD_OUTPUT:
        typer.echo(text, nl=False)
        return
    try:
        file.write_text(text, "utf-8")
    except OSError as error:
        raise ConfigError(f"{file} cannot be written ({error.strerror})") from None
