"""The tables and measures of one semantic model, as assets with the queries that their columns are made by.

A table is made of what its partitions read; a calculated column, table or measure of the columns that its DAX names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from connectors.assets import Asset, AssetQuery
from connectors.platforms.power_query import CONNECTORS, DATABASE, SCHEMA, TABLE
from connectors.powerbi._dax import DaxColumn, DaxModel, DaxValue, NotDax
from connectors.powerbi._made import (
    Made,
    ModelRows,
    RowOrigin,
    SqlOfRows,
    Term,
    UnreadableQuery,
    connection_of,
    dialect_of_connection,
    join_made,
    rows_of,
    unite,
)
from connectors.powerbi._model import ModelColumn, ModelPartition, ModelTable, SemanticModel
from connectors.powerbi._power_query import Navigation, PowerQueries, RemoteModel, Value
from connectors.powerbi._table_steps import STEPS
from connectors.records import UNSUPPORTED
from ingestion.model.entities import DATA_MODEL
from ingestion.model.lineage import Column
from ingestion.model.outcomes import Outcome

_MODEL_TYPE = "PowerBIDataModel"
_LAKE = "MicrosoftFabric"
_SOURCE_COLUMN = re.compile(r"(?:'((?:[^']|'')++)'|([^\[\]']*+))\[((?:[^\]]|\]\])++)\]\Z")
_LONGEST_CHAIN = 40
_ORDINAL = "Ordinal"
"""What the order of a calculation group's items is called in its rows."""
_NAMED_BY_NOTHING = "columns that nothing names"
"""Those of a literal table, `{("x", 1)}`, and what a query has left out: no step is to blame."""


@dataclass(frozen=True, slots=True)
class PowerBiSettings:
    """What models are read by: whose SQL it is where a connector does not tell, and what databases are called."""

    connection: str
    databases: Mapping[str, str]


@dataclass(slots=True)
class Losses:
    """What could not be told, by the model or by the step that it is lost in."""

    steps: Counter[str] = field(default_factory=Counter)
    sources: Counter[str] = field(default_factory=Counter)
    names: Counter[str] = field(default_factory=Counter)
    remote: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class ModelAssets:
    """A model, the assets of its tables by their names and of its measures; `remote`: a table of another model."""

    model: SemanticModel
    settings: PowerBiSettings
    losses: Losses
    tables: dict[str, Asset] = field(default_factory=dict)
    measures: Asset | None = None
    remote: Callable[[str, str], Asset | None] = lambda _model, _table: None
    dax: DaxModel = field(init=False)
    queries: PowerQueries = field(init=False)
    _origins: dict[str, RowOrigin] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.dax = DaxModel(self.model)
        texts = {
            table.name: partition.text
            for table in self.model.tables
            for partition in table.partitions[:1]
            if partition.kind == "m"
        }
        self.queries = PowerQueries(
            {**texts, **self.model.expressions}, self.settings.connection, STEPS, self.settings.databases
        )
        for name, source in self.model.data_sources.items():
            facts = CONNECTORS.get(source.function)
            database = self.settings.databases.get(source.database, source.database)
            known = Navigation(facts.connection, facts.levels, {DATABASE: database}) if facts is not None else None
            self.queries.values[name] = known

    def blank(self) -> Iterator[Asset]:
        """The assets without their queries: of each table, and of all measures together."""
        for table in self.model.tables:
            if not table.is_automatic:
                yield Asset(
                    DATA_MODEL,
                    f"{self.model.folder}/{table.name}",
                    f"{self.model.name}/{table.name}",
                    table.location,
                    columns=tuple(Column(one.name, one.type) for one in table.columns),
                    description=table.description,
                    subtype=_MODEL_TYPE,
                )
        measures = tuple(Column(one.name) for table in self.model.tables for one in table.measures)
        if measures:
            yield Asset(
                DATA_MODEL,
                self.model.folder,
                self.model.name,
                self.model.location,
                columns=measures,
                subtype=_MODEL_TYPE,
            )

    def take(self, named: Mapping[str, Asset]) -> None:
        """Takes the assets by the titles that they have among those of all models."""
        for table in self.model.tables:
            key = f"{self.model.folder}/{table.name}"
            if key in named:
                self.tables[table.name] = named[key]
        self.measures = named.get(self.model.folder)

    def whole(self) -> Iterator[Asset]:
        """The assets with their queries."""
        for table in self.model.tables:
            asset = self.tables.get(table.name)
            if asset is not None:
                yield _TableQuery(self, table).asset(asset)
        if self.measures is not None:
            yield self._with_measures(self.measures)

    def origin(self, table: str) -> RowOrigin | None:
        """What is read of a table where others are made of it, None of one that has no asset."""
        if table not in self._origins:
            if table not in self.tables:
                return None
            self._origins[table] = RowOrigin(asset=self.tables[table])
        return self._origins[table]

    def made_of(self, value: DaxValue, own: Callable[[DaxColumn], Made | None] | None = None) -> Made:
        """What a value in DAX is made of; `own` tells of the columns of the table that it is in."""
        parts = []
        for column, decides in (*((one, False) for one in value.values), *((one, True) for one in value.deciding)):
            made = own(column) if own is not None else None
            if made is None:
                origin = self.origin(column.table)
                made = Made((Term(origin, column.column),), is_whole=True) if origin is not None else Made()
            if column.aggregate:
                made = made.aggregate_by(column.aggregate)
            parts.append(made.as_condition() if decides else made)
        if len(parts) == 1:
            return parts[0] if value.is_whole else parts[0].as_part()
        return join_made(parts)

    def rows_of_tables(self, tables: Iterable[str]) -> ModelRows:
        """Tables of the model side by side."""
        found = (self.origin(one) for one in dict.fromkeys(tables))
        return ModelRows(tuple(one for one in found if one is not None))

    def value(self, text: str, table: str = "") -> DaxValue | None:
        """What an expression in DAX gives, None of one that cannot be read; what is lost of it is counted."""
        try:
            found = self.dax.value(text, table)
        except NotDax:
            self.losses.names[self.model.name] += 1
            return None
        self.losses.names[self.model.name] += found.lost
        return found

    def measure(self, name: str) -> DaxValue | None:
        """What a measure is made of."""
        try:
            return self.dax.measure(name)
        except NotDax:
            return None

    def _with_measures(self, asset: Asset) -> Asset:
        outputs: list[tuple[str, Made]] = []
        tables: list[str] = []
        for column in asset.columns:
            value = self.measure(column.name)
            if value is None:
                self.losses.names[self.model.name] += 1
                continue
            self.losses.names[self.model.name] += value.lost
            outputs.append((column.name, self.made_of(value)))
            tables += value.tables
        rows = self.rows_of_tables(tables)
        if not rows.origins:
            return replace(asset, end=Outcome.NO_DATASET)
        return with_query(asset, rows, outputs)


def with_query(asset: Asset, rows: ModelRows, outputs: Iterable[tuple[str, Made]]) -> Asset:
    """The asset with the query that gives these columns, or with how it ends where that cannot be written."""
    try:
        connection, database = connection_of(rows)
        dialect = dialect_of_connection(connection)
        text = SqlOfRows(dialect, database).text(rows, outputs)
    except UnreadableQuery as unreadable:
        return replace(asset, end=f"{UNSUPPORTED}{unreadable.kind}")
    return replace(asset, query=AssetQuery(text, dialect.name, database))


@dataclass(slots=True)
class _TableQuery:
    """One table of a model: its rows, and what each of its columns is made of."""

    home: ModelAssets
    table: ModelTable
    rows: ModelRows = field(default_factory=ModelRows)
    named: Mapping[str, DaxValue | None] = field(default_factory=dict)
    known: dict[str, Made | None] = field(default_factory=dict)
    depth: int = 0

    def asset(self, asset: Asset) -> Asset:
        """The asset with its query."""
        losses = self.home.losses
        try:
            found = [rows for one in self.table.partitions if (rows := self._partition(one)) is not None]
            self.rows = unite(found) if found else ModelRows()
            made = {one.name: self.column(one.name) for one in self.table.columns}
        except UnreadableQuery as unreadable:
            return replace(asset, end=f"{UNSUPPORTED}{unreadable.kind}")
        outputs = [(name, one) for name, one in made.items() if one is not None]
        used = {term.origin for _name, one in outputs for term in (*one.values, *one.deciding)}
        if not self.rows.origins and not used:
            if self.rows.unknown:
                losses.sources[self.rows.unknown[0]] += 1
            return replace(asset, end=Outcome.NO_DATASET)
        if len(outputs) < len(made):
            losses.steps[next(iter(self.rows.unknown), _NAMED_BY_NOTHING)] += len(made) - len(outputs)
        return with_query(asset, self._seen_by_roles(), outputs)

    def _seen_by_roles(self) -> ModelRows:
        """The rows, and what roles see some of them by, made of what the table is."""
        conditions = [self._deciding(text) for text in self.table.filters]
        if not conditions:
            return self.rows
        origins = (*self.rows.origins, *(term.origin for made in conditions for term in made.deciding))
        return replace(
            self.rows, origins=tuple(dict.fromkeys(origins)), conditions=(*self.rows.conditions, *conditions)
        )

    def _deciding(self, text: str) -> Made:
        """What an expression of the table decides by, without the table itself."""
        value = self.home.value(text, self.table.name)
        made = self.home.made_of(value, self._own).as_condition() if value is not None else Made()
        own = self.home.origin(self.table.name)
        return Made((), tuple(term for term in made.deciding if term.origin is not own))

    def column(self, name: str) -> Made | None:
        """What a column of the table is made of, None where that is not known."""
        if name not in self.known:
            self.known[name] = None
            self.depth += 1
            one = next((each for each in self.table.columns if each.name == name), None)
            if one is not None and self.depth <= _LONGEST_CHAIN:
                self.known[name] = self._column(one)
            self.depth -= 1
        return self.known[name]

    def _column(self, one: ModelColumn) -> Made | None:
        if one.is_calculated:
            value = self.home.value(one.expression, self.table.name)
            return self.home.made_of(value, self._own) if value is not None else None
        if self.table.items:  # a column has the names of the items, of which each changes what measures give
            return join_made(map(self._deciding, self.table.items)) if one.source != _ORDINAL else Made()
        of_dax = _SOURCE_COLUMN.match(one.source)
        if of_dax is None or not any(each.kind == "calculated" for each in self.table.partitions):
            return self.rows.column(one.source)
        table, name = (of_dax[1] or of_dax[2] or "").replace("''", "'"), of_dax[3].replace("]]", "]")
        value = self.named.get(name.lower())
        if table:
            column = self.home.dax.column(table, name)
            value = DaxValue((column,), is_whole=True) if column is not None else value
        return self.home.made_of(value) if value is not None else None

    def _own(self, column: DaxColumn) -> Made | None:
        """A column of this table, told by what that is made of; None where that is not known, or of another table."""
        return self.column(column.column) if column.table == self.table.name else None

    def _partition(self, one: ModelPartition) -> ModelRows | None:
        queries = self.home.queries
        if one.kind == "m":
            value = queries.value_of(one.text)
            return self._of_model(value, "") if isinstance(value, RemoteModel) else queries.rows_of(value)
        if one.kind == "entity":
            return self._entity(one, queries.query(one.source))
        if one.kind == "query":
            value = queries.values.get(one.source)
            known = value if isinstance(value, Navigation) else Navigation(self.home.settings.connection, ())
            return known.native(one.text)
        if one.kind == "calculated":
            return self._calculate(one.text)
        return None

    def _entity(self, one: ModelPartition, value: Value) -> ModelRows | None:
        if isinstance(value, RemoteModel):
            return self._of_model(value, one.entity)
        known = value if isinstance(value, Navigation) else Navigation(_LAKE, ())
        names = {**known.names, SCHEMA: one.schema or known.names.get(SCHEMA, ""), TABLE: one.entity}
        return replace(known, names=names).rows()

    def _of_model(self, value: RemoteModel, table: str) -> ModelRows | None:
        """The table of another model, where that is among those that are read."""
        asset = self.home.remote(value.name, table) if table else None
        if asset is None:
            self.home.losses.remote[value.name or "one without a name"] += 1
            return None
        return rows_of(RowOrigin(asset=asset))

    def _calculate(self, text: str) -> ModelRows | None:
        try:
            value, self.named = self.home.dax.table(text)
        except NotDax:
            self.home.losses.names[self.home.model.name] += 1
            return None
        rows = self.home.rows_of_tables(table for table in value.tables if table != self.table.name)
        return rows if rows.origins else None
