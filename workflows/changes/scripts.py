"""SQL files read as one script and bound to the tables of a catalog."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from connectors.catalog.local_tables import CatalogTable, LocalTables
from ingestion.binding.binder import BoundLog, BoundStatement, bind
from ingestion.binding.timeline import Occurrence, SchemaProvider
from ingestion.dialects import Dialect
from ingestion.lexing.altered_types import altered_types
from ingestion.model import Column, NameKind, TableName
from ingestion.names.fqn import decode_name
from ingestion.names.namespaces import Namespace, RelationKey
from ingestion.parsing.parser_pool import ParseOutcome
from ingestion.scripts.pieces import Piece, parse_pieces, pieces
from ingestion.scripts.unfollowed_changes import dropped_namespace, unfollowed_change
from ingestion.statements import classify
from ingestion.symbolic import loads
from workflows.sql_files.sql_files import Script

_NAMED = 3
_WHOLE = 3


class TableNames:
    """Which table of a catalog a name means. `ambiguous`: for each name that may be one of several, those.

    Of several that a name may mean the one is meant that is among the `near` ones. `columns` are those of tables (by
    full name) that have others here than in the catalog.
    """

    def __init__(
        self,
        tables: LocalTables,
        namespace: Namespace,
        near: frozenset[str] = frozenset(),
        columns: Mapping[str, tuple[Column, ...]] | None = None,
    ) -> None:
        self.tables = tables
        self.namespace = namespace
        self._near = near
        self._own_columns = columns or {}
        self.ambiguous: dict[str, tuple[str, ...]] = {}

    def table(self, parts: Sequence[str]) -> CatalogTable | None:
        """The one table whose name ends with these parts."""
        known = tuple(part for part in parts if part)
        found = self.tables.tables_named(known) if known else ()
        if len(found) > 1:
            found = tuple(one for one in found if one.fqn in self._near) or found
        if len(found) > 1:
            self.ambiguous[".".join(known)] = tuple(one.fqn for one in found)
        return found[0] if len(found) == 1 else None

    def place(self, key: RelationKey) -> str:
        """The full name of the table that stands there, or the place itself where the catalog has none."""
        found = self.table(key.parts) if key.kind is NameKind.TABLE and key.session is None else None
        return str(key) if found is None else found.fqn

    def provider(self) -> SchemaProvider:
        """What stood before a script."""
        return SchemaProvider(self._columns, self._elsewhere)

    def _columns(self, key: RelationKey) -> Sequence[Column] | None:
        whole = key.kind is NameKind.TABLE and key.session is None and len(list(filter(None, key.parts))) >= _WHOLE
        found = self.table(key.parts) if whole else None
        return None if found is None else self._own_columns.get(found.fqn, columns_of(found))

    def _elsewhere(self, name: TableName, namespace: Namespace) -> RelationKey | None:
        if name.kind is not NameKind.TABLE:
            return None
        unqualified = len(name.parts) == 1
        own = (self.table((schema, *name.parts)) for schema in namespace.search_path if unqualified)
        found = next((one for one in own if one is not None), None) or self.table(name.parts)
        return None if found is None else RelationKey(found.parts)


def columns_of(table: CatalogTable) -> tuple[Column, ...]:
    """The columns of a table in order, without the nested ones; () where not all of them are known."""
    top = (one for one in table.columns if "." not in one.path or one.path.startswith('"'))
    return tuple(Column(decode_name(one.path.strip('"')), one.type) for one in top) if table.complete else ()


@dataclass(frozen=True, slots=True)
class BoundScript:
    """A script's statements, bound; `texts` are their texts by the second part of their order.

    `retyped` are the columns that got a type, with the parts of their table's name; `dropped` the tables of dropped
    schemas; `unknown` what could not be understood: the statement's text, and its place with the reason.
    """

    log: BoundLog
    texts: dict[int, str]
    retyped: tuple[tuple[tuple[str, ...], Column], ...] = ()
    dropped: tuple[str, ...] = ()
    unknown: tuple[tuple[str, str], ...] = ()

    def text_of(self, statement: BoundStatement) -> str:
        return self.texts[int(statement.occurrence.order[1])]


def bound_script(script: Script | None, dialect: Dialect, names: TableNames, timeout_seconds: float) -> BoundScript:
    """The statements of a script in the catalog that `names` knows; None is the script without statements."""
    found = tuple(pieces(script.text, dialect)) if script is not None else ()
    outcomes = parse_pieces(found, dialect, timeout_seconds)
    reasons = {number: why for number, piece in enumerate(found) if (why := _doubt(piece, outcomes[number], dialect))}
    occurrences, namespace = [], names.namespace
    for number, (piece, outcome) in enumerate(zip(found, outcomes, strict=True)):
        namespace = _following(namespace, piece.text, dialect, names.namespace)
        if outcome.symbolic is not None:
            order = (0.0, number)
            occurrences.append(Occurrence(str(number), loads(outcome.symbolic), namespace, order, "script"))
    log = bind(occurrences, names.provider())
    reasons |= {number: str(failure.reason) for (_, number), failure in log.failures.items()}
    texts = {number: " ".join(piece.text.split()) for number, piece in enumerate(found)}
    return BoundScript(
        log,
        texts,
        tuple(_retyped_columns(found, dialect)),
        tuple(dict.fromkeys(_dropped_tables(found, dialect, names.tables))),
        tuple((texts[n] or why, f"{_place(script, found, n)}: {why}") for n, why in sorted(reasons.items())),
    )


def _doubt(piece: Piece, outcome: ParseOutcome, dialect: Dialect) -> str:
    """Why it is not known what a statement does, "" where it is."""
    if outcome.dead_reason:
        return "" if altered_types(piece.text, dialect) else outcome.dead_reason
    unfollowed = unfollowed_change(piece.text, dialect)
    return f"what depends on what {unfollowed} changes is not followed" if unfollowed else ""


def _place(script: Script | None, found: Sequence[Piece], number: int) -> str:
    return script.place(found[number].line) if script is not None else ""


def _following(namespace: Namespace, text: str, dialect: Dialect, first: Namespace) -> Namespace:
    """Where names are looked for after a statement."""
    change = classify(text, dialect).session
    if change is None:
        return namespace
    if change.reset:
        return first
    path = tuple(schema for schema in change.schemas if schema != "$user") if change.schemas is not None else None
    return replace(
        namespace,
        database=namespace.database if change.database is None else change.database,
        search_path=namespace.search_path if path is None else path,
    )


def _retyped_columns(found: Sequence[Piece], dialect: Dialect) -> Iterator[tuple[tuple[str, ...], Column]]:
    for piece in found:
        altered = altered_types(piece.text, dialect)
        if altered is not None:
            yield from ((altered[0], column) for column in altered[1])


def _dropped_tables(found: Sequence[Piece], dialect: Dialect, tables: LocalTables) -> Iterator[str]:
    for piece in found:
        namespace = dropped_namespace(piece.text, dialect)
        if namespace:
            yield from (table.fqn for table in tables.below(namespace))
