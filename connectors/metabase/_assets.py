"""Metabase's cards and dashboards as assets.

A model, and a question that others are made of, is a data model with a chart over it; any other card is a chart alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from connectors.assets import Asset, AssetQuery, Assets, with_own_names
from connectors.dashboards.documents import AskedDatabase, Document, LocatedDocument, documents_in
from connectors.dashboards.queries import (
    PLAIN_SQL,
    FilteringColumn,
    OutputColumn,
    column_text,
    dashboard_query,
    query_text,
)
from connectors.metabase._documents import MetabaseContent
from connectors.metabase._mbql import MbqlReader, UnknownQuery
from connectors.metabase._parameters import ParameterTarget, parameter_targets
from connectors.metabase.settings import MetabaseConfig
from connectors.records import UNSUPPORTED
from ingestion.dialects import dialect_of
from ingestion.model.entities import CHART, DASHBOARD, DATA_MODEL
from ingestion.model.lineage import Column
from ingestion.model.outcomes import Outcome
from ingestion.statements.routines.definition import quote_name

_MODEL_TYPE = "MetabaseDataModel"
_MODELS = frozenset({"model", "metric"})
_CHARTS: Mapping[str, str] = {
    **{name: name.capitalize() for name in ("area", "bar", "line", "pie", "scatter", "table")},
    "pivot": "Table",
    "row": "Bar",
}
_OPTIONAL = re.compile(r"\[\[((?:(?!\[\[)[^\]]|\](?!\]))*+)\]\]")
_TAG = re.compile(r"\{\{([^{}]++)\}\}")
_CARD_TAG = re.compile(r"#(\d+)")
_SNIPPET_TAG = re.compile(r"snippet:\s*(.+)")
_NESTED = re.compile(r"card__([\w-]+)")
_VALUES = frozenset({"text", "number", "date", "boolean"})
_MOST_SNIPPETS = 20
_MOST_TITLES = 5


@dataclass(frozen=True, slots=True)
class _Cards:
    """What cards are made by: the data models that others read, by the keys of their cards."""

    documents: MetabaseContent
    settings: MetabaseConfig
    models: dict[str, Asset] = field(default_factory=dict)

    def warehouse(self, card: LocatedDocument) -> AskedDatabase:
        """The database that a card asks."""
        query = card.document.get("dataset_query")
        named = query.get("database") if isinstance(query, dict) else None
        key = str(named or card.document.get("database_id") or "")
        found = self.documents.warehouses.get(key) or AskedDatabase(key, PLAIN_SQL)
        return replace(found, database=self.settings.database_names.get(found.name, found.database))


def assets_of(documents: MetabaseContent, settings: MetabaseConfig) -> Assets:
    """All assets."""
    known = _Cards(documents, settings)
    read = _keys_read(documents)
    bases = [one for one in documents.cards.values() if _is_model(one.document) or one.key in read]
    blank = with_own_names(_blank_model(one) for one in bases)
    known.models.update({one.key: asset for one, asset in zip(bases, blank, strict=True)})
    models = tuple(_with_query(asset, card, known) for asset, card in zip(blank, bases, strict=True))
    known.models.update({one.key: one for one in models})
    charts = {one.key: one for one in with_own_names(_chart(card, known) for card in documents.cards.values())}
    found = [_dashboard(one, charts, known) for one in documents.dashboards]
    boards = with_own_names(board for board, _unknown in found)
    items = (*models, *charts.values(), *boards)
    return Assets(settings.tool, settings.service, settings.tool, items, documents.unread, tuple(_notes(found)))


def _notes(boards: Sequence[tuple[Asset, int]]) -> Iterator[str]:
    unknown = {board.title: count for board, count in boards if count}
    if unknown:
        yield (
            f"{sum(unknown.values())} columns that parameters of dashboards are about are not known, and left out: "
            + ", ".join(list(unknown)[:_MOST_TITLES])
        )


def _is_model(document: Document) -> bool:
    return document.get("dataset") is True or str(document.get("type")) in _MODELS


def _keys_read(documents: MetabaseContent) -> frozenset[str]:
    """The cards that others are made of, by the ways in which they are named."""
    found: set[str] = set()
    for card in documents.cards.values():
        query = str(card.document.get("dataset_query"))
        found |= {*_NESTED.findall(query), *_CARD_TAG.findall(query)}
        found |= set(re.findall(r"'source-(?:card|table)': '([\w-]+)'", query))
        found |= set(re.findall(r"'source-card': (\d+)", query))
        found |= set(re.findall(r"'card-id': '?([\w-]+)'?", query))
    return frozenset(found & documents.cards.keys())


def _blank_model(card: LocatedDocument) -> Asset:
    return Asset(
        DATA_MODEL,
        card.key,
        str(card.document["name"]),
        card.location,
        columns=tuple(_columns(card.document)),
        owners=_owners(card.document),
        description=str(card.document.get("description") or ""),
        subtype=_MODEL_TYPE,
    )


def _columns(document: Document) -> Iterator[Column]:
    """The columns of a card, as its last run had them."""
    metadata = document.get("result_metadata")
    seen: set[str] = set()
    for one in metadata if isinstance(metadata, list) else ():
        if isinstance(one, dict) and isinstance(one.get("name"), str) and one["name"] and one["name"] not in seen:
            seen.add(one["name"])
            yield Column(one["name"], str(one.get("base_type") or "").removeprefix("type/"))


def _with_query(asset: Asset, card: LocatedDocument, known: _Cards) -> Asset:
    """The asset with the query of its card, or with how it ends without one."""
    warehouse = known.warehouse(card)
    try:
        text, names = _sql(card, known, warehouse)
    except UnknownQuery as unknown:
        ends = {"card": Outcome.NO_DATASET, "field": Outcome.NO_DATASET, "table": Outcome.NO_DATASET}
        return replace(asset, end=ends.get(unknown.kind, f"{UNSUPPORTED}{unknown.kind}"))
    columns = asset.columns or tuple(map(Column, names))
    query = AssetQuery(text, warehouse.dialect, warehouse.database, warehouse.schema)
    return replace(asset, query=query, columns=columns)


def _sql(card: LocatedDocument, known: _Cards, warehouse: AskedDatabase) -> tuple[str, tuple[str, ...]]:
    """The SQL of a card, and the names of its columns where they are told. Raises UnknownQuery."""
    query = card.document.get("dataset_query")
    if not isinstance(query, dict):
        raise UnknownQuery("query")

    def relation(key: str) -> str:
        model = known.models.get(key)
        if model is None or key == card.key:
            raise UnknownQuery("card")
        return model.relation_text(warehouse.dialect)

    native = _native(query)
    if native is not None:
        return _fill(native, known, relation_of=relation, depth=0), ()
    reader = MbqlReader(known.documents, dialect_of(warehouse.dialect), relation)
    return reader.query(query, card.document.get("result_metadata"))


def _native(query: Document) -> Document | None:
    """The native query of a card with its tags, in both forms; None of one in Metabase's own language."""
    native = query.get("native")
    if isinstance(native, dict) and isinstance(native.get("query"), str):
        return {"query": native["query"], "template-tags": native.get("template-tags")}
    stages = query.get("stages")
    if isinstance(stages, list) and len(stages) == 1 and isinstance(stages[0], dict):
        text = stages[0].get("native")
        if isinstance(text, str):
            return {"query": text, "template-tags": stages[0].get("template-tags")}
    return None


def _fill(native: Document, known: _Cards, *, relation_of: object, depth: int) -> str:
    """A native query without its tags of a known meaning: values, conditions, cards, snippets; others stay in it."""
    tags = native.get("template-tags")
    kinds = (
        {str(name): str(one.get("type")) for name, one in tags.items() if isinstance(one, dict)}
        if isinstance(tags, dict)
        else {}
    )

    def meaning(match: re.Match[str]) -> str:
        name = match[1].strip()
        card, snippet = _CARD_TAG.match(name), _SNIPPET_TAG.match(name)
        if card is not None and callable(relation_of):
            tag = tags.get(name) if isinstance(tags, dict) else None
            key = tag.get("card-id") if isinstance(tag, dict) else None
            return str(relation_of(str(key or card[1])))
        if snippet is not None and depth < _MOST_SNIPPETS and snippet[1] in known.documents.snippets:
            inner = {"query": known.documents.snippets[snippet[1]], "template-tags": tags}
            return _fill(inner, known, relation_of=relation_of, depth=depth + 1)
        kind = kinds.get(name, "")
        if kind in _VALUES:
            return "0"
        return "1 = 1" if kind in ("dimension", "temporal-unit") else match[0]

    text = _OPTIONAL.sub(lambda match: match[1], str(native["query"]))
    return _TAG.sub(meaning, text).strip().rstrip(";")


def _chart(card: LocatedDocument, known: _Cards) -> Asset:
    document = card.document
    asset = replace(
        _blank_model(card),
        kind=CHART,
        url=str(document.get("address") or ""),
        subtype=_CHARTS.get(str(document.get("display")), "Other"),
    )
    model = known.models.get(card.key)
    if model is None:
        return _with_query(asset, card, known)
    if model.query is None:
        return replace(asset, end=model.end)
    dialect = dialect_of(model.query.dialect)
    outputs = [OutputColumn(quote_name(one.name, dialect), one.name) for one in model.columns]
    text = query_text(outputs, model.relation_text(dialect.name), dialect)
    return replace(asset, query=AssetQuery(text, dialect.name), columns=model.columns)


def _dashboard(one: LocatedDocument, charts: Mapping[str, Asset], known: _Cards) -> tuple[Asset, int]:
    """A dashboard, and how many columns that its parameters are about are not known."""
    document = one.document
    members = [charts[key] for key in dict.fromkeys(_members(document)) if key in charts]
    asked = list(parameter_targets(document, known.documents.cards))
    filters = [_filtering_column(target, charts, known) for target in asked]
    asset = Asset(
        DASHBOARD,
        one.key,
        str(document.get("name")),
        one.location,
        dashboard_query(members, list(dict.fromkeys(filter(None, filters))) if members else ()),
        end="" if members else Outcome.NO_QUERY,
        members=tuple(chart.key for chart in members),
        owners=_owners(document),
        description=str(document.get("description") or ""),
        url=str(document.get("address") or ""),
        subtype="Dashboard",
    )
    return asset, filters.count(None)


def _filtering_column(target: ParameterTarget, charts: Mapping[str, Asset], known: _Cards) -> FilteringColumn | None:
    """The column that a parameter is about, None of one that is not known."""
    card = known.documents.cards.get(target.card)
    if card is None or target.field is None:
        return None
    if isinstance(target.field, str):
        asset = charts.get(target.card) if target.offered else _model_under(card, known)
        if asset is None or all(one.name != target.field for one in asset.columns):
            return None
        return FilteringColumn(asset.relation_text(PLAIN_SQL), target.field)
    warehouse, plain = known.warehouse(card), dialect_of(PLAIN_SQL)
    try:
        found = MbqlReader(known.documents, plain, str).table_field(target.field)
    except UnknownQuery:
        return None
    path = (warehouse.database, found.schema or warehouse.schema, found.table)
    return FilteringColumn(".".join(column_text(part, plain) for part in path if part), found.name)


def _model_under(card: LocatedDocument, known: _Cards) -> Asset | None:
    """The data model whose columns a card has by their names: the one that it is made of, or it is itself."""
    query = card.document.get("dataset_query")
    given = query if isinstance(query, dict) else {}
    for one in (given.get("query"), *documents_in(given.get("stages"))):
        table = one.get("source-table") if isinstance(one, dict) else None  # a number is a table's
        source = table if isinstance(table, str) else one.get("source-card") if isinstance(one, dict) else None
        if source is not None:
            return known.models.get(str(source).removeprefix("card__"))
    return known.models.get(card.key)


def _members(document: Document) -> Iterator[str]:
    """The cards of a dashboard, those that share a position too."""
    for key in ("dashcards", "ordered_cards"):
        positions = document.get(key)
        for position in positions if isinstance(positions, list) else ():
            if isinstance(position, dict):
                yield str(position.get("card_id"))
                series = position.get("series")
                for other in series if isinstance(series, list) else ():
                    if isinstance(other, dict):
                        yield str(other.get("card_id") or other.get("id"))


def _owners(document: Document) -> tuple[str, ...]:
    """Who made a card: Metabase has no owners beside."""
    creator = document.get("creator")
    if isinstance(creator, dict):
        return tuple(filter(None, (str(creator.get("common_name") or creator.get("email") or ""),)))
    named = document.get("creator_id")
    return (named,) if isinstance(named, str) and named else ()
