"""`ingest export`: a catalog's lineage as one page that opens from disk, as JSON, or as a list of edges."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from connectors.catalog import DEFAULT_CATALOG
from ingestion.errors import ConfigError
from ingestion.model.lineage import Json
from workflows.commands.options import (
    FORMATS,
    PARSER_SECONDS,
    AsOf,
    CatalogFile,
    Days,
    SqlDialect,
    Witnesses,
    millis,
    tell_left_out,
)
from workflows.runtime.error_reporting import shows_errors

if TYPE_CHECKING:
    from connectors.catalog.questions.answer import When

_STANDARD_OUTPUT = Path("-")


Page = Annotated[
    Path | None, typer.Option("--html", metavar="FILE", help="Write the explorer with the lineage inside.")
]
Graph = Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write the graph; - is standard output.")]
EdgeList = Annotated[
    Path | None,
    typer.Option("--csv", metavar="FILE", help="Write a row for each edge of columns; - is standard output."),
]
ContractDraft = Annotated[
    Path | None,
    typer.Option(
        "--odcs", metavar="FILE", help="Write the tables as a draft of a data contract; - is standard output."
    ),
]
Tables = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Only the surroundings of this table (service.database.schema.table)."),
]


Compare = Annotated[
    datetime | None, typer.Option("--compare", help="What changed since then (UTC) as well.", formats=FORMATS)
]
Manifests = Annotated[
    tuple[Path, Path] | None,
    typer.Option("--manifest", metavar="BASE HEAD", help="Instead of a catalog: what changes between manifests."),
]
Hops = Annotated[int, typer.Option(min=0, max=100, help="Hops on this side of --table.")]


@shows_errors
def export(
    catalog: CatalogFile = DEFAULT_CATALOG,
    html: Page = None,
    as_json: Graph = None,
    as_csv: EdgeList = None,
    odcs: ContractDraft = None,
    table: Tables = None,
    upstream: Hops = 100,
    downstream: Hops = 100,
    as_of: AsOf = None,
    days: Days = None,
    compare: Compare = None,
    manifest: Manifests = None,
    dialect: SqlDialect = None,
    witness: Witnesses = None,
) -> None:
    """Write a catalog's lineage to a file, or what changed in it, or between two manifests of dbt's.

      The page needs no network and no server: open it, mail it, keep it beside a release.

      \b
      Examples:
        ingest export --html lineage.html
        ingest export --html sofa.html --table mimic.mimic.mimiciii_derived.sofa --downstream 0
        ingest export --json - --as-of 2026-01-31 | jq '.edges | length'
        ingest export --csv edges.csv
        ingest export --odcs daily.odcs.yaml --table mart.daily
    ingest export --html disputed.html --witness disputed
        ingest export --html changes.html --compare 2026-11-01
        ingest export --html pull_request.html --manifest base.json head.json
    """
    if odcs is not None:
        if any(one is not None for one in (html, as_json, as_csv, compare, manifest)) or witness:
            raise ConfigError("--odcs writes the tables of one moment: leave out the other forms")
        _write_contract(catalog, table or (), _when(as_of, days, None), odcs)
        return
    if html is None and as_json is None and as_csv is None:
        raise ConfigError("nothing to write: give --html FILE, --json FILE, --csv FILE or --odcs FILE")
    if as_csv is not None and (compare is not None or manifest is not None):
        raise ConfigError("--csv lists the edges of one moment: leave out --compare and --manifest")
    if manifest is not None:
        if witness:
            raise ConfigError("--witness is for a catalog: no manifest says who tells of an edge")
        document = _manifest_document(manifest, dialect)
    else:
        steps = [(name, upstream, downstream) for name in table or ()]
        when = _when(as_of, days, witness)
        document = _catalog_document(catalog, steps, when, compare)
        if compare is None:
            tell_left_out(catalog, when)
    title = ", ".join(table or ()) or f"Lineage of {catalog.name}"
    _write_document(document, (html, as_json, as_csv), title)


def _catalog_document(catalog: Path, steps: list[tuple[str, int, int]], when: When, compare: datetime | None) -> Json:
    """`steps` as they are `when`; `compare`: beside what it was then."""
    from connectors.catalog.page.export import ExportScope, catalog_document, compared_document
    from connectors.catalog.picture.neighbourhood import NeighbourhoodStep

    scope = ExportScope(tuple(NeighbourhoodStep(*step) for step in steps), when)
    return catalog_document(catalog, scope) if compare is None else compared_document(catalog, scope, millis(compare))


def _when(as_of: datetime | None, days: int | None, witness: list[str] | None) -> When:
    from connectors.catalog.questions.answer import When
    from ingestion.model.witnesses import WitnessFilter

    return When(millis(as_of) if as_of else None, days, WitnessFilter.of(witness or ()))


def _write_document(document: Json, to: tuple[Path | None, Path | None, Path | None], title: str) -> None:
    from connectors.catalog.page.html import self_contained_page

    html, as_json, as_csv = to
    if html is not None:
        _write(html, self_contained_page(document, "Lineage" if "compared" in document else title))
    if as_json is not None:
        _write(as_json, json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    if as_csv is not None:
        _write(as_csv, _edge_list(document))
    if _STANDARD_OUTPUT not in (html, as_json, as_csv):
        typer.echo(f"{len(document['nodes'])} tables, {len(document['edges'])} edges between them")


def _write_contract(catalog: Path, names: Sequence[str], when: When, file: Path) -> None:
    from connectors.catalog.questions.drafts import drafts_of_file
    from connectors.odcs.writing import contract_text

    answer = drafts_of_file(catalog, names, when)
    _write(file, contract_text(answer.content))
    for note in answer.cut:
        typer.echo(f"note: {note}", err=True)
    if file != _STANDARD_OUTPUT:
        typer.echo(f"a draft of a contract on {len(answer.content)} tables")


def _edge_list(document: Json) -> str:
    from connectors.catalog.page.export import edge_rows
    from connectors.edge_rows import write_rows

    text = io.StringIO()
    write_rows(edge_rows(document), text)
    return text.getvalue()


def _manifest_document(manifests: tuple[Path, Path], dialect: str | None) -> Json:
    from connectors.sql_files.manifest_diff import manifest_document

    return manifest_document(*manifests, dialect, PARSER_SECONDS)


def _write(file: Path, text: str) -> None:
    if file == _STANDARD_OUTPUT:
        typer.echo(text, nl=False)
        return
    try:
        file.write_text(text, "utf-8")
    except OSError as error:
        raise ConfigError(f"{file} cannot be written ({error.strerror})") from None
