"""Reports as values: the visuals of each page, with the fields that they show and those that decide what they show.

In the form of a file for each visual (PBIR), and in the older one of a single `report.json`, whose parts are JSON in
texts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

_AGGREGATES = ("SUM", "AVG", "COUNT DISTINCT", "MIN", "MAX", "COUNT", "MEDIAN", "STDDEV", "VARIANCE")
"""By the number that a visual has for each."""
_MOST_NODES = 2_000_000


class NotReport(Exception):
    """A document that is no JSON, is cut, or is none of a report's."""


@dataclass(frozen=True, slots=True)
class ReportField:
    """A column or a measure of a model's table (`entity`), or a level of a hierarchy, with the aggregate of it."""

    entity: str
    name: str
    kind: str = "Column"
    hierarchy: str = ""
    aggregate: str = ""


@dataclass(frozen=True, slots=True)
class ShownField:
    """What a visual shows under one name."""

    label: str
    fields: tuple[ReportField, ...]


@dataclass(frozen=True, slots=True)
class ReportVisual:
    """A visual; `name` is the tool's own key of it, `deciding` are the fields of filters, orders and formats."""

    name: str
    kind: str
    page: str
    title: str
    location: str
    shown: tuple[ShownField, ...] = ()
    deciding: tuple[ReportField, ...] = ()


@dataclass(frozen=True, slots=True)
class PowerBiReport:
    """A report by the `folder` that it is in; `model`: the folder of its model, `catalog`: or what that is called.

    `measures`: those that the report has beside its model's, in DAX.
    """

    name: str
    folder: str
    location: str
    model: str = ""
    catalog: str = ""
    visuals: tuple[ReportVisual, ...] = ()
    measures: Mapping[str, str] = field(default_factory=dict, repr=False)


def read_json(text: str) -> Mapping[str, Any]:
    """An object. Raises NotReport."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise NotReport from None
    if not isinstance(found, dict):
        raise NotReport
    return found


def _inner_json(value: object) -> Any:
    """What a text holds as JSON, as older reports have it, or the value itself; None where it is none."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None


def fields_in(value: object) -> tuple[ReportField, ...]:
    """The fields that any part of a report names, each once."""
    return tuple(dict.fromkeys(_fields(value)))


def _fields(value: object) -> Iterator[ReportField]:
    waiting: list[tuple[object, Mapping[str, str], str]] = [(value, {}, "")]
    count = 0
    while waiting:
        node, aliases, aggregate = waiting.pop()
        count += 1
        if count > _MOST_NODES:
            raise NotReport
        if isinstance(node, list):
            waiting += ((one, aliases, aggregate) for one in reversed(node))
            continue
        if not isinstance(node, dict):
            continue
        if isinstance(node.get("From"), list):
            aliases = {**aliases, **dict(_aliases(node["From"]))}
        found = _field(node, aliases, aggregate)
        if found is not None:
            yield found
            continue
        aggregation = node.get("Aggregation")
        if isinstance(aggregation, dict) and "Expression" in aggregation:
            waiting.append((aggregation["Expression"], aliases, _aggregate(aggregation.get("Function"))))
        else:
            waiting += ((one, aliases, aggregate) for one in reversed(list(node.values())))


def _aliases(origins: list[Any]) -> Iterator[tuple[str, str]]:
    for one in origins:
        if isinstance(one, dict) and isinstance(one.get("Entity"), str):
            yield str(one.get("Name")), one["Entity"]


def _aggregate(number: object) -> str:
    return _AGGREGATES[number] if isinstance(number, int) and 0 <= number < len(_AGGREGATES) else "MAX"


def _field(node: Mapping[str, Any], aliases: Mapping[str, str], aggregate: str) -> ReportField | None:
    for kind in ("Column", "Measure"):
        inner = node.get(kind)
        entity = _entity(inner, aliases)
        if isinstance(inner, dict) and entity and isinstance(inner.get("Property"), str):
            return ReportField(entity, inner["Property"], kind, aggregate=aggregate)
    level = node.get("HierarchyLevel")
    if isinstance(level, dict):
        hierarchy = _inside(level, "Expression", "Hierarchy")
        varied = _inside(hierarchy, "Expression", "PropertyVariationSource")
        entity = _entity(varied, aliases)
        if entity and isinstance(varied, dict):
            return ReportField(entity, str(varied.get("Property")), "Column", aggregate=aggregate)
        entity = _entity(hierarchy, aliases)
        if entity and isinstance(hierarchy, dict):
            return ReportField(entity, str(level.get("Level")), "Level", str(hierarchy.get("Hierarchy")), aggregate)
    return None


def _inside(value: object, *keys: str) -> object:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _entity(inner: object, aliases: Mapping[str, str]) -> str:
    source = _inside(inner, "Expression", "SourceRef")
    if not isinstance(source, dict):
        return ""
    return str(source.get("Entity") or aliases.get(str(source.get("Source")), ""))


# One file for each visual.


def visual_of(document: Mapping[str, Any], page: str, location: str) -> ReportVisual:
    """A visual by its own file; `page`: what people call the one that it is on."""
    visual = document.get("visual")
    inner: Mapping[str, Any] = visual if isinstance(visual, dict) else {}
    kind = str(inner.get("visualType") or "")
    query = inner.get("query")
    state = query.get("queryState") if isinstance(query, dict) else None
    shown = tuple(_shown_fields(state))
    rest = [
        _inside(query, "sortDefinition"),
        document.get("filterConfig"),
        inner.get("objects"),
        inner.get("visualContainerObjects"),
    ]
    title = _title(inner.get("visualContainerObjects"))
    return ReportVisual(str(document.get("name") or ""), kind, page, title, location, shown, fields_in(rest))


def _shown_fields(state: object) -> Iterator[ShownField]:
    for role in state.values() if isinstance(state, dict) else ():
        projections = role.get("projections") if isinstance(role, dict) else None
        for one in projections if isinstance(projections, list) else ():
            if isinstance(one, dict):
                found = fields_in(one.get("field"))
                label = one.get("displayName") or (found[0].name if found else one.get("nativeQueryRef"))
                yield ShownField(str(label or "field"), found)


def _title(objects: object) -> str:
    """The title that somebody gave it, "" where it is none, or made by a measure."""
    titles = objects.get("title") if isinstance(objects, dict) else None
    for one in titles if isinstance(titles, list) else ():
        value = _inside(one, "properties", "text", "expr", "Literal", "Value")
        if isinstance(value, str) and value.strip("'").strip():
            return value.strip("'").replace("''", "'").strip()
    return ""


# The older form: one file for all.


def older_visuals(document: Mapping[str, Any], location: str) -> Iterator[ReportVisual]:
    """The visuals of a `report.json`. Raises NotReport."""
    of_report = fields_in(_inner_json(document.get("filters")))
    sections = document.get("sections")
    if not isinstance(sections, list):
        raise NotReport
    for section in (one for one in sections if isinstance(one, dict)):
        of_page = fields_in(_inner_json(section.get("filters")))
        containers = section.get("visualContainers")
        page = str(section.get("displayName") or section.get("name") or "")
        for container in containers if isinstance(containers, list) else ():
            if isinstance(container, dict):
                yield _older_visual(container, page, location, (*of_report, *of_page))


def _older_visual(
    container: Mapping[str, Any], page: str, location: str, above: tuple[ReportField, ...]
) -> ReportVisual:
    config = _inner_json(container.get("config"))
    whole: Mapping[str, Any] = config if isinstance(config, dict) else {}
    visual = whole.get("singleVisual")
    inner: Mapping[str, Any] = visual if isinstance(visual, dict) else {}
    query = inner.get("prototypeQuery")
    rest = [
        _inner_json(container.get("filters")),
        {"From": _inside(query, "From"), "OrderBy": _inside(query, "OrderBy")},
        inner.get("objects"),
        inner.get("vcObjects"),
    ]
    return ReportVisual(
        str(whole.get("name") or ""),
        str(inner.get("visualType") or ""),
        page,
        _title(inner.get("vcObjects")),
        location,
        tuple(_selected_fields(query, inner.get("columnProperties"))),
        tuple(dict.fromkeys((*fields_in(rest), *above))),
    )


def _selected_fields(query: object, properties: object) -> Iterator[ShownField]:
    selected = query.get("Select") if isinstance(query, dict) else None
    origins = query.get("From") if isinstance(query, dict) else None
    for one in selected if isinstance(selected, list) else ():
        if isinstance(one, dict):
            found = fields_in({"From": origins, "Select": one})
            renamed = _inside(properties, str(one.get("Name")), "displayName")
            label = renamed or (found[0].name if found else one.get("NativeReferenceName"))
            yield ShownField(str(label or "field"), found)


def report_measures(document: object) -> Iterator[tuple[str, str]]:
    """The measures of a report's own, by name, in both forms."""
    entities = document.get("entities") if isinstance(document, dict) else None
    for entity in entities if isinstance(entities, list) else ():
        measures = entity.get("measures") if isinstance(entity, dict) else None
        for one in measures if isinstance(measures, list) else ():
            if isinstance(one, dict) and isinstance(one.get("name"), str):
                yield one["name"], str(one.get("expression") or "")


def older_report_measures(document: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """Those of a `report.json`."""
    extensions = _inside(_inner_json(document.get("config")), "modelExtensions")
    for one in extensions if isinstance(extensions, list) else ():
        yield from report_measures(one)
