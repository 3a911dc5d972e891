"""The views, explores and dashboards of a LookML project as assets.

A view is made of its table, an explore of the views that it joins, a tile of a dashboard of an explore's fields.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from connectors.assets import Asset, AssetQuery, Assets, with_own_names
from connectors.dashboards.queries import (
    PLAIN_SQL,
    OutputColumn,
    column_text,
    dashboard_query,
    is_expression,
    query_text,
    subquery,
)
from connectors.lookml._fields import LIQUID, REFERENCE, UnresolvedField, ViewFields, field_text, fill_known_liquid
from connectors.lookml._project import Block, LocatedBlock, LookmlProject
from connectors.lookml.settings import LookmlConfig
from connectors.records import UNSUPPORTED
from ingestion.dialects import Dialect, dialect_of
from ingestion.model.entities import CHART, DASHBOARD, DATA_MODEL
from ingestion.model.lineage import Column
from ingestion.model.outcomes import Outcome
from ingestion.statements.routines.definition import quote_name

_VIEW, _EXPLORE = "LookMlView", "LookMlExplore"
_CHARTS: Mapping[str, str] = {
    "looker_area": "Area",
    "looker_bar": "Bar",
    "looker_column": "Bar",
    "looker_grid": "Table",
    "looker_line": "Line",
    "looker_pie": "Pie",
    "looker_scatter": "Scatter",
    "table": "Table",
}
_SQL_TABLE = re.compile(r"\$\{\s*(\w+)\.SQL_TABLE_NAME\s*\}")
_DEEPEST = 30
_LONGEST = 1 << 20
_FIELDS = ("dimensions", "dimension_groups", "measures")
_NOT_ALIKE = re.compile(r"[`\"\\#]|//")
_JOINS = {"cross": "CROSS JOIN", "full_outer": "FULL JOIN", "inner": "INNER JOIN", "left_outer": "LEFT JOIN"}
_NO_CHARTS = frozenset({"text", "button", "html"})


@dataclass(frozen=True, slots=True)
class _JoinedViews:
    """An explore with what it is joined of: the view of each alias."""

    located: LocatedBlock
    views: Mapping[str, LocatedBlock]
    title: str


@dataclass(slots=True)
class _Project:
    """What assets are made by: the views by name, and how many fields of which view could not be told; `lost` are the
    fields of tiles that no explore has, by dashboard, `unjoined` how many joins of an explore have a condition that
    cannot be told.
    """

    project: LookmlProject
    settings: LookmlConfig
    dialect: Dialect
    views: dict[str, list[LocatedBlock]] = field(default_factory=dict)
    models: dict[int, Asset] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    unjoined: Counter[str] = field(default_factory=Counter)

    def view(self, name: str) -> LocatedBlock | None:
        """The only view of a name."""
        found = self.views.get(name, [])
        return found[0] if len(found) == 1 else None


def assets_of(project: LookmlProject, settings: LookmlConfig, dialect: str) -> Assets:
    """All assets of a project whose SQL is in a dialect, and what to tell of fields that are left out."""
    known = _Project(project, settings, dialect_of(dialect))
    for one in project.views:
        known.views.setdefault(one.name, []).append(one)
    unnested = _joined_by_text(project)
    explores = [(one, f"{one.home}/{one.name}") for one in project.explores]
    joined = [_JoinedViews(one, dict(_views_of(one, known)), title) for one, title in explores]
    made = [*(_view_asset(one, known, unnested) for one in project.views)]
    blank = [Asset(DATA_MODEL, one.title, one.title, one.located.location, subtype=_EXPLORE) for one in joined]
    named = with_own_names((*made, *blank))
    views, titles = named[: len(made)], named[len(made) :]
    known.models.update({id(one): asset for one, asset in zip(project.views, views, strict=True)})
    models = tuple(_explore_asset(one, asset, known) for one, asset in zip(joined, titles, strict=True))
    views = tuple(_native(asset, one, models, known) for one, asset in zip(project.views, views, strict=True))
    known.lost.update(_lost_fields(project.dashboards, models))
    tiles = [(board, list(_tiles(board, models))) for board in project.dashboards]
    charts = {one.key: one for one in with_own_names(tile for _board, own in tiles for tile in own)}
    boards = with_own_names(_dashboard(board, [charts[one.key] for one in own]) for board, own in tiles)
    items = (*views, *models, *charts.values(), *boards)
    return Assets(settings.tool, settings.service, "Looker", items, project.unread, tuple(_notes(known)))


def _notes(known: _Project) -> Iterator[str]:
    if known.left_out:
        shown = ", ".join(f"{name} ({count})" for name, count in known.left_out.most_common(5))
        yield (
            f"{known.left_out.total()} fields are columns without lineage: Liquid, fields of other views, or no SQL at "
            f"all: {shown}"
        )
    if known.lost:
        shown = ", ".join(f"{name} ({count})" for name, count in known.lost.most_common(5))
        yield f"{known.lost.total()} fields of tiles are in no view that was read, and left out: {shown}"
    if known.unjoined:
        shown = ", ".join(f"{name} ({count})" for name, count in known.unjoined.most_common(5))
        yield f"{known.unjoined.total()} joins have Liquid in their condition, and are told by table alone: {shown}"
    twice = sorted(name for name, found in known.views.items() if len(found) > 1)
    if twice:
        yield f"{len(twice)} views are there more than once, so that no name means one: {', '.join(twice[:5])}"


def _lost_fields(boards: Iterable[LocatedBlock], explores: tuple[Asset, ...]) -> Counter[str]:
    """How many fields the tiles of each dashboard show that neither their explore has, nor a tile makes up."""
    lost = Counter[str]()
    for board in boards:
        for _number, tile in _elements(board):
            explore = _explore_named(str(tile.get("explore")), str(tile.get("model")), explores)
            if explore is not None:
                known = {one.name for one in explore.columns}
                known.update(_own_field(own)[1] for own in _several(tile.get("dynamic_fields")))
                lost[board.name] += sum(name not in known for name in _shown_names(tile))
    return +lost


def _joined_by_text(project: LookmlProject) -> frozenset[str]:
    """The views that explores join by a text of their own, as nested records are: such a view names no table."""
    joins = (join for one in project.explores for join in one.block.get("joins") or ())
    return frozenset(str(join.get("from") or join["name"]) for join in joins if join.get("sql"))


# Views.


def _view_asset(one: LocatedBlock, known: _Project, unnested: frozenset[str]) -> Asset:
    fields = ViewFields(one.block, column_text(one.name, known.dialect), known.dialect)
    asset = Asset(
        DATA_MODEL,
        one.location,
        one.name,
        one.location,
        columns=tuple(Column(name, _type_of(kind, block)) for name, (kind, block) in fields.names.items()),
        description=str(one.block.get("description") or ""),
        subtype=_VIEW,
    )
    derived = one.block.get("derived_table") or {}
    if one.block.get("extension") == "required":
        return replace(asset, end=Outcome.NO_QUERY)
    if not one.block.get("sql_table_name") and (derived.get("explore_source") or one.name in unnested):
        return replace(asset, end=Outcome.NO_DATASET)
    origin = _origin(one, known, ())
    if origin is None:
        return replace(asset, end=Outcome.NO_DATASET)
    outputs = tuple(_outputs(fields, known, one.name))
    text = query_text(outputs, f"{origin} {fields.alias}", known.dialect)
    return replace(asset, query=_query(text, one, known))


def _query(text: str, one: LocatedBlock, known: _Project) -> AssetQuery:
    connection = known.project.connections.get(one.home, "")
    if not connection and len(set(known.project.connections.values())) == 1:
        [connection] = set(known.project.connections.values())
    return AssetQuery(text, known.dialect.name, known.settings.database_names.get(connection, ""))


def _type_of(kind: str, block: Block) -> str:
    return "" if kind != "dimension" else {"number": "NUMBER", "yesno": "BOOLEAN"}.get(str(block.get("type")), "")


def _outputs(fields: ViewFields, known: _Project, view: str) -> Iterator[OutputColumn]:
    for name in fields.names:
        try:
            yield OutputColumn(fields.sql(name), name)
        except UnresolvedField:
            known.left_out[view] += 1


def _origin(one: LocatedBlock, known: _Project, above: tuple[str, ...]) -> str | None:
    """What a view reads: its table, or its query, in which other views stand as what they are made of."""
    derived = one.block.get("derived_table") or {}
    if isinstance(derived.get("sql"), str):
        text = _with_tables(derived["sql"], known, (*above, one.name))
        return None if text is None else subquery(text, "").rstrip()
    if derived:
        return None
    given = str(one.block.get("sql_table_name") or column_text(one.name, known.dialect))
    return _with_tables(given.strip(), known, (*above, one.name))


def _with_tables(sql: str, known: _Project, above: tuple[str, ...]) -> str | None:
    """A text with what `${view.SQL_TABLE_NAME}` stands for; None where that cannot be told."""
    if len(above) > _DEEPEST or len(set(above)) < len(above):
        return None
    found: dict[str, str] = {}
    for name in _SQL_TABLE.findall(sql):
        other = known.view(name)
        origin = _origin(other, known, above) if other is not None else None
        if origin is None:
            return None
        found[name] = origin
    text = fill_known_liquid(_SQL_TABLE.sub(lambda match: found[match[1]], sql))
    return text if len(text) <= _LONGEST else None


def _native(asset: Asset, one: LocatedBlock, explores: Iterable[Asset], known: _Project) -> Asset:
    """A view that is derived from an explore, which is known now."""
    source = (one.block.get("derived_table") or {}).get("explore_source")
    explore = _explore_named(str(source.get("name")), "", explores) if isinstance(source, dict) else None
    if not isinstance(source, dict) or explore is None or asset.query is not None:
        return asset
    dialect = _dialect_over_explores(one, source, known)
    if dialect is None:
        return replace(asset, end=f"{UNSUPPORTED}quotes over an explore")
    columns = [
        OutputColumn(
            quote_name(_field_of(str(column.get("field") or column["name"]), explore), dialect),
            str(column["name"]),
        )
        for column in source.get("columns") or ()
    ]
    inner = query_text(columns, explore.relation_text(dialect.name), dialect)
    fields = ViewFields(one.block, column_text(one.name, dialect), dialect)
    computed = "".join(
        f", ({column['sql']}\n) AS {quote_name(str(column['name']), dialect)}"
        for column in source.get("derived_columns") or ()
        if is_expression(str(column.get("sql") or "("), dialect)
    )
    if computed:
        inner = f"SELECT columns_of_explore.*{computed} FROM {subquery(inner, 'columns_of_explore')}"
    text = query_text(_outputs(fields, known, one.name), subquery(inner, fields.alias), dialect)
    return replace(asset, query=replace(_query(text, one, known), dialect=dialect.name), end="")


def _dialect_over_explores(one: LocatedBlock, source: Block, known: _Project) -> Dialect | None:
    """The dialect of a query over an explore, whose fields have a dot in their names: `` `orders.total` ``.

    Where that would be two names the query is plain SQL, as far as what the project writes means the same there: None
    where it has quotes or escapes, which do not.
    """
    if not known.dialect.dotted_quotes:
        return known.dialect
    blocks = [*(source.get("derived_columns") or ()), *(each for key in _FIELDS for each in one.block.get(key) or ())]
    written = (str(value) for block in blocks for key, value in block.items() if key.startswith("sql"))
    return None if any(map(_NOT_ALIKE.search, written)) else dialect_of(PLAIN_SQL)


def _field_of(name: str, explore: Asset) -> str:
    """A field of an explore by its name alone: that of the view that it begins with, else the only one called so."""
    if "." in name:
        return name
    own = f"{explore.columns[0].name.partition('.')[0]}.{name}" if explore.columns else name
    found = [one.name for one in explore.columns if one.name.rpartition(".")[2] == name]
    return own if own in found else found[0] if len(found) == 1 else name


# Explores.


def _views_of(one: LocatedBlock, known: _Project) -> Iterator[tuple[str, LocatedBlock]]:
    """The views of an explore that are known, by the aliases that they go by, its own first."""
    block = one.block
    base = str(block.get("from") or block.get("view_name") or one.name)
    found = known.view(base)
    if found is not None:
        yield str(block.get("view_name") or one.name), found
        for join in block.get("joins") or ():
            joined = known.view(str(join.get("from") or join["name"]))
            if joined is not None and not join.get("sql"):
                yield str(join["name"]), joined


def _explore_asset(one: _JoinedViews, asset: Asset, known: _Project) -> Asset:
    dialect, block = known.dialect, one.located.block
    if block.get("extension") == "required":
        return replace(asset, end=Outcome.NO_QUERY)
    if not one.views:
        return replace(asset, end=Outcome.NO_DATASET)
    columns: list[Column] = []
    outputs: list[OutputColumn] = []
    for alias, view in one.views.items():
        for column in known.models[id(view)].columns:
            columns.append(Column(f"{alias}.{column.name}", column.type))
            outputs.append(OutputColumn(field_text(alias, column.name, dialect), f"{alias}.{column.name}"))
    base, *_others = one.views
    origin = _relation(one.views[base], base, known) + "".join(_join_texts(one, known))
    given = [block.get(key) for key in ("sql_always_where", "sql_where")]
    given += [join.get("sql_where") for join in block.get("joins") or () if str(join["name"]) in one.views]
    deciding = [text for sql in given if (text := _fields_filled(sql, one, known))]
    text = query_text(outputs, origin, dialect, deciding)
    described = str(block.get("description") or "")
    return replace(asset, columns=tuple(columns), query=AssetQuery(text, dialect.name), description=described)


def _relation(view: LocatedBlock, alias: str, known: _Project) -> str:
    return f"{known.models[id(view)].relation_text(known.dialect.name)} {quote_name(alias, known.dialect)}"


def _join_texts(one: _JoinedViews, known: _Project) -> Iterator[str]:
    for join in one.located.block.get("joins") or ():
        alias = str(join["name"])
        if alias not in one.views or alias == next(iter(one.views)):
            continue
        how = _JOINS.get(str(join.get("type") or "left_outer"), "LEFT JOIN")
        condition = _fields_filled(join.get("sql_on"), one, known) or _by_key(join, alias, one, known)
        if join.get("sql_on") and not condition:
            known.unjoined[one.located.name] += 1
        if how == "CROSS JOIN" or not condition:
            yield f" CROSS JOIN {_relation(one.views[alias], alias, known)}"
        else:
            yield f" {how} {_relation(one.views[alias], alias, known)} ON {condition}"


def _by_key(join: Block, alias: str, one: _JoinedViews, known: _Project) -> str:
    """The condition of a join by a foreign key: the field that is named is the other view's primary key."""
    given = join.get("foreign_key")
    fields = one.views[alias].block.get("dimensions") or ()
    key = next((str(each["name"]) for each in fields if each.get("primary_key") == "yes"), None)
    if not isinstance(given, str) or key is None:
        return ""
    view, _, name = given.rpartition(".")
    left = field_text(view or next(iter(one.views)), name, known.dialect)
    return f"{left} = {field_text(alias, key, known.dialect)}"


def _fields_filled(sql: object, one: _JoinedViews, known: _Project) -> str:
    """A condition over the fields of joined views, "" where there is none, or its Liquid cannot be told."""
    text = fill_known_liquid(sql) if isinstance(sql, str) else ""
    if not text or LIQUID.search(text):
        return ""
    base = next(iter(one.views))

    def field_of(match: re.Match[str]) -> str:
        view, _, name = match[1].rpartition(".")
        return field_text(view or base, name, known.dialect)

    return f"({REFERENCE.sub(field_of, text)})"


def _explore_named(name: str, model: str, explores: Iterable[Asset]) -> Asset | None:
    """The explore of a model, else the only one of that name, in however many models that is."""
    known = [one for one in explores if one.key.rpartition("/")[2] == name and one.query is not None]
    own = [one for one in known if one.key.rpartition("/")[0] == model]
    found = own or known
    return found[0] if len({one.location for one in found}) == 1 else None


# Dashboards: each tile is a chart.


def _elements(board: LocatedBlock) -> Iterator[tuple[int, Block]]:
    """What stands on a dashboard, by its position."""
    found = board.block.get("elements")
    listed = enumerate(found if isinstance(found, list) else ())
    return ((number, one) for number, one in listed if isinstance(one, dict))


def _tiles(board: LocatedBlock, explores: tuple[Asset, ...]) -> Iterator[Asset]:
    for number, tile in _elements(board):
        title = str(tile.get("title") or tile.get("name") or f"tile {number + 1}")
        kind = str(tile.get("type") or "")
        asset = Asset(
            CHART,
            f"{board.name} {number + 1}",
            title,
            board.location,
            description=str(tile.get("note_text") or ""),
            subtype=_CHARTS.get(kind, "Other"),
        )
        explore = _explore_named(str(tile.get("explore")), str(tile.get("model")), explores)
        if kind in _NO_CHARTS:
            yield replace(asset, end=Outcome.NO_QUERY)
        elif tile.get("merged_queries"):
            yield replace(asset, end=f"{UNSUPPORTED}merged_queries")
        elif explore is None:
            yield replace(asset, end=Outcome.NO_DATASET)
        else:
            yield _tile(asset, tile, explore)


def _tile(asset: Asset, tile: Block, explore: Asset) -> Asset:
    """The tile with what it shows: names alone, so plain SQL, in whose quotes a dot is a part of a name everywhere."""
    dialect, offered = dialect_of(PLAIN_SQL), {one.name for one in explore.columns}
    shown = [name for name in _shown_names(tile) if name in offered]
    outputs = [OutputColumn(quote_name(name, dialect), name) for name in shown]
    outputs += _own_fields(tile, offered)
    filters = [*_names(tile.get("filters")), *map(str, _values(tile.get("listen")))]
    deciding = [f"NOT {quote_name(name, dialect)} IS NULL" for name in dict.fromkeys(filters) if name in offered]
    text = query_text(outputs, explore.relation_text(PLAIN_SQL), dialect, deciding)
    columns = tuple(Column(one.name) for one in outputs)
    return replace(asset, query=AssetQuery(text, PLAIN_SQL), columns=columns)


def _shown_names(tile: Block) -> tuple[str, ...]:
    """The fields that a tile shows, each once."""
    keys = ("fields", "dimensions", "measures", "pivots")
    return tuple(dict.fromkeys(str(one) for key in keys for one in _several(tile.get(key))))


def _own_fields(tile: Block, offered: Container[str]) -> Iterator[OutputColumn]:
    """The fields that a tile makes up: over one of its explore's (`based_on`), or an expression of several.

    Expressions are in Looker's language, so that only the fields in them are taken: `custom_measure("orders.paid")`.
    """
    dialect = dialect_of(PLAIN_SQL)
    for one in _several(tile.get("dynamic_fields")):
        kind, name = _own_field(one)
        if isinstance(one, dict) and name and name not in offered:
            of = [str(one["based_on"])] if one.get("based_on") else REFERENCE.findall(str(one.get("expression") or ""))
            known = ", ".join(quote_name(each, dialect) for each in dict.fromkeys(of) if each in offered)
            if known:
                yield OutputColumn(f"custom_{kind}({known})", name)


def _own_field(one: object) -> tuple[str, str]:
    """The kind of a field that a tile makes up, and what it is called; "" of what is none."""
    kinds = ("measure", "dimension", "table_calculation")
    found = ((kind, str(one[kind])) for kind in kinds if one.get(kind)) if isinstance(one, dict) else iter(())
    return next(found, ("", ""))


def _several(given: object) -> Iterator[object]:
    yield from given if isinstance(given, list) else ()


def _names(filters: object) -> Iterator[str]:
    """The fields of filters, as one object or as a list of them."""
    for one in filters if isinstance(filters, list) else (filters,):
        if isinstance(one, dict):
            yield from (str(one["field"]),) if "field" in one else map(str, one)


def _values(given: object) -> Iterator[object]:
    yield from given.values() if isinstance(given, dict) else ()


def _dashboard(board: LocatedBlock, charts: list[Asset]) -> Asset:
    return Asset(
        DASHBOARD,
        board.name,
        str(board.block.get("title") or board.name),
        board.location,
        dashboard_query(charts),
        end="" if charts else Outcome.NO_QUERY,
        members=tuple(one.key for one in charts),
        description=str(board.block.get("description") or ""),
        subtype="Dashboard",
    )
