"""Semantic models as values: out of TMDL, or of the JSON that a model is as a whole (TMSL, `model.bim`)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from connectors.powerbi._tmdl import NotTmdl, TmdlObject, qualified_name

JsonObject = Mapping[str, Any]

_PLURALS: Mapping[str, str] = {
    name: f"{name}s"
    for name in (
        *("annotation", "calculationItem", "column", "dataSource", "expression", "function", "level", "measure"),
        *("partition", "relationship", "role", "table", "tablePermission"),
    )
} | {"hierarchy": "hierarchies"}
_REFERENCES = frozenset({"column", "dataSource", "expressionSource"})
_AUTOMATIC = ("LocalDateTable_", "DateTableTemplate_")
_CATALOG = re.compile(r"(?:initial catalog|database)\s*=\s*\"?([^;\"]+)", re.IGNORECASE)
_OF_SQL_SERVER = ("sqlncli", "sqloledb", "msoledbsql", "system.data.sqlclient")


@dataclass(frozen=True, slots=True)
class ModelColumn:
    """A column: what it is called in the rows that its table is made of (`source`), or the DAX that it is made by."""

    name: str
    type: str = ""
    source: str = ""
    expression: str = field(default="", repr=False)
    is_calculated: bool = False


@dataclass(frozen=True, slots=True)
class ModelMeasure:
    """A measure, and the DAX that it is made by."""

    name: str
    expression: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class ModelPartition:
    """ModelRows of a table: by a query in M (`m`), in DAX (`calculated`), in SQL (`query`), or as they are (`entity`).

    `source`: the expression, or the data source, by whose connection they are read.
    """

    kind: str
    text: str = field(default="", repr=False)
    entity: str = ""
    schema: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class ModelTable:
    """A table of a model; `hierarchies`: the column of each level. `is_automatic`: Power BI's own, of a date column.

    `filters`: the DAX by which roles see some of its rows. `items`: that of the items of a calculation group, which
    change what measures give.
    """

    name: str
    location: str
    columns: tuple[ModelColumn, ...] = ()
    measures: tuple[ModelMeasure, ...] = ()
    partitions: tuple[ModelPartition, ...] = ()
    hierarchies: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    is_automatic: bool = False
    description: str = ""
    filters: tuple[str, ...] = field(default=(), repr=False)
    items: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class ModelRelationship:
    """A join that is in force: a column of one table, and one of another."""

    one: tuple[str, str]
    other: tuple[str, str]


@dataclass(frozen=True, slots=True)
class ModelDataSource:
    """A connection that partitions name: Power Query's function for it ("" where it is none that is known)."""

    function: str = ""
    database: str = ""


@dataclass(frozen=True, slots=True)
class SemanticModel:
    """A model, by the `folder` that it is in; `expressions` are its shared queries and parameters, in M.

    `functions` are those that it adds to DAX.
    """

    name: str
    folder: str
    location: str
    tables: tuple[ModelTable, ...] = ()
    expressions: Mapping[str, str] = field(default_factory=dict, repr=False)
    data_sources: Mapping[str, ModelDataSource] = field(default_factory=dict)
    relationships: tuple[ModelRelationship, ...] = ()
    functions: Mapping[str, str] = field(default_factory=dict, repr=False)


# TMDL is put into the shape that the JSON has, so that what it means is told once.


def json_of_tmdl(files: Iterable[tuple[str, TmdlObject]]) -> dict[str, Any]:
    """The objects of a model's files, each with where it stands; a table that several files tell of is one."""
    found: dict[str, Any] = {}
    tables: dict[str, dict[str, Any]] = {}
    for location, root in files:
        for one in _of_model(root):
            key = _PLURALS.get(one.kind)
            if key is None:
                continue
            made = {**_json_object(one), "location": f"{location}:{one.line}"}
            if key != "tables":
                found.setdefault(key, []).append(made)
            elif one.name in tables:
                for part, inner in made.items():
                    if isinstance(inner, list):
                        tables[one.name][part] = [*tables[one.name].get(part, ()), *inner]
            else:
                tables[one.name] = made
    return {**found, "tables": list(tables.values())}


def _of_model(root: TmdlObject) -> Iterator[TmdlObject]:
    for one in root.objects:
        yield one
        if one.kind in ("model", "database"):
            yield from one.objects


def _json_object(one: TmdlObject) -> dict[str, Any]:
    made: dict[str, Any] = {**_properties(one), "name": one.name, "description": one.description}
    if one.kind == "partition":
        inner = next(one.of_kind("source"), None)
        made["source"] = {
            **(_properties(inner) if inner is not None else {}),
            "type": one.expression.strip(),
            "expression": inner.expression if inner is not None else "",
        }
        return made
    if one.expression or one.kind in ("measure", "expression"):
        made["expression"] = one.expression
    for below in one.objects:
        key = _PLURALS.get(below.kind)
        if key is not None:
            made.setdefault(key, []).append(_json_object(below))
        elif below.kind in ("calculationGroup", "formatStringDefinition"):
            made[below.kind] = _json_object(below)
    return made


def _properties(one: TmdlObject) -> dict[str, str]:
    """What it has, where it names other objects without the quotes around those."""
    return {
        key: qualified_name(value)[1] if key in _REFERENCES and value.startswith("'") else value
        for key, value in one.properties.items()
    }


# From the JSON to values.


def model_of(document: JsonObject, name: str, folder: str, location: str) -> SemanticModel:
    """The model that an object with tables describes, by the `folder` that it is in and its name."""
    filters = _filters(document)
    return SemanticModel(
        name,
        folder,
        location,
        tuple(_table(one, location, filters.get(str(one["name"]), ())) for one in _objects(document, "tables")),
        {str(one["name"]): _text(one.get("expression")) for one in _objects(document, "expressions")},
        {str(one["name"]): _data_source(one) for one in _objects(document, "dataSources")},
        tuple(_relationships(document)),
        {str(one["name"]): _text(one.get("expression")) for one in _objects(document, "functions")},
    )


def _objects(document: object, key: str) -> Iterator[JsonObject]:
    found = document.get(key) if isinstance(document, dict) else None
    for one in found if isinstance(found, list) else ():
        if isinstance(one, dict) and (isinstance(one.get("name"), str) or key == "relationships"):
            yield one


def _text(value: object) -> str:
    """A text, which the JSON may have as a list of lines."""
    if isinstance(value, list):
        return "\n".join(map(str, value))
    return value if isinstance(value, str) else ""


def _filters(document: JsonObject) -> Mapping[str, tuple[str, ...]]:
    """By tables, what roles see of their rows."""
    found: dict[str, tuple[str, ...]] = {}
    for role in _objects(document, "roles"):
        for one in _objects(role, "tablePermissions"):
            text = _text(one.get("filterExpression")) or _text(one.get("expression"))
            if text.strip():
                found[one["name"]] = (*found.get(one["name"], ()), text)
    return found


def _items(one: JsonObject) -> Iterator[str]:
    """What the items of a calculation group, and their formats, are made by."""
    for item in _objects(one.get("calculationGroup"), "calculationItems"):
        form = item.get("formatStringDefinition")
        yield from filter(
            None, (_text(item.get("expression")), _text(form.get("expression") if isinstance(form, dict) else None))
        )


def _table(one: JsonObject, location: str, filters: tuple[str, ...]) -> ModelTable:
    annotations = {str(each["name"]) for each in _objects(one, "annotations")}
    return ModelTable(
        str(one["name"]),
        str(one.get("location") or location),
        tuple(_column(each) for each in _objects(one, "columns") if each.get("type") != "rowNumber"),
        tuple(ModelMeasure(each["name"], _text(each.get("expression"))) for each in _objects(one, "measures")),
        tuple(_partition(each) for each in _objects(one, "partitions")),
        {
            str(each["name"]): {str(level["name"]): str(level.get("column")) for level in _objects(each, "levels")}
            for each in _objects(one, "hierarchies")
        },
        str(one["name"]).startswith(_AUTOMATIC) or "__PBI_LocalDateTable" in annotations,
        _text(one.get("description")),
        filters,
        tuple(_items(one)),
    )


def _column(one: JsonObject) -> ModelColumn:
    source, expression = _text(one.get("sourceColumn")), _text(one.get("expression"))
    kind = one.get("type")
    name = str(one["name"])
    is_made = bool(expression) or kind == "calculated"
    if kind == "calculatedTableColumn" and not source:
        source = f"[{name}]"
    return ModelColumn(name, _text(one.get("dataType")), "" if is_made else source or name, expression, is_made)


def _partition(one: JsonObject) -> ModelPartition:
    source = one.get("source")
    inner: JsonObject = source if isinstance(source, dict) else {}
    kind = str(inner.get("type") or ("query" if inner.get("query") else "m" if inner.get("expression") else ""))
    text = _text(inner.get("query")) if kind == "query" else _text(inner.get("expression"))
    named = _text(inner.get("expressionSource") or inner.get("dataSource"))
    return ModelPartition(kind, text, _text(inner.get("entityName")), _text(inner.get("schemaName")), named)


def _data_source(one: JsonObject) -> ModelDataSource:
    """A connection, of which nothing is kept but which function of Power Query it is, and its database."""
    details = one.get("connectionDetails")
    if isinstance(details, str):
        try:
            details = json.loads(details)
        except (ValueError, RecursionError):
            details = None
    if isinstance(details, dict):
        address = details.get("address")
        database = address.get("database") if isinstance(address, dict) else None
        return ModelDataSource("Sql.Database" if details.get("protocol") == "tds" else "", _text(database))
    given = _text(one.get("connectionString"))
    catalog = _CATALOG.search(given)
    provider = f"{given} {one.get('provider')}".lower()
    is_known = any(name in provider for name in _OF_SQL_SERVER)
    return ModelDataSource("Sql.Database" if is_known else "", catalog[1].strip() if catalog else "")


def _relationships(document: JsonObject) -> Iterator[ModelRelationship]:
    for one in _objects(document, "relationships"):
        if str(one.get("isActive", "true")).lower() == "false":
            continue
        try:
            ends = [_end(one, side) for side in ("from", "to")]
        except NotTmdl:
            continue
        if all(table and column for table, column in ends):
            yield ModelRelationship(ends[0], ends[1])


def _end(one: JsonObject, side: str) -> tuple[str, str]:
    table, column = one.get(f"{side}Table"), _text(one.get(f"{side}Column"))
    return (str(table), column) if isinstance(table, str) else qualified_name(column)
