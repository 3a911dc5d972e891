"""Where a column comes from: base columns, the chain of expressions, the statements."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection

from connectors.catalog.graph import CatalogGraph
from connectors.catalog.picture.cards import MAX_CARDS, explained_document
from connectors.catalog.questions.answer import Answer, When
from connectors.catalog.questions.file import asked_window, named_node, open_catalog
from connectors.catalog.store.lineage.column_names import column_names
from connectors.catalog.store.lineage.window import Window
from ingestion.errors import ConfigError
from ingestion.scripts.explanation import Explanation
from ingestion.scripts.explanation import explain as explain_in_document

_MOST_COLUMNS = 3
_CUT = f"more than {MAX_CARDS} tables are upstream of it: ask of a column that is nearer to them"


def explain_in_file(file: Path, column: str, when: When) -> Answer[Explanation]:
    """The explanation of a column in a catalog's file. Raises ConfigError where it is not there or not just one."""
    with open_catalog(file) as connection:
        return explain(connection, column, asked_window(connection, when))


def explain(connection: Connection, column: str, span: Window) -> Answer[Explanation]:
    """The same of an open catalog, within the window `span`. Raises ConfigError, for the name of a table too."""
    row, path = named_node(connection, column)
    if path is None:
        some = ", ".join(sorted(column_names(connection, row).exact)[:_MOST_COLUMNS])
        raise ConfigError(f"{row.fqn} is a table: name one of its columns{f' ({some}, ...)' if some else ''}")
    behind = CatalogGraph(connection, span.moment).behind((row.id, path), MAX_CARDS)
    document = explained_document(connection, behind, span)
    return Answer(explain_in_document(document, f"{row.fqn}.{path}"), (_CUT,) if behind.cut else ())
