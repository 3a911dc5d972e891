"""The metrics of a manifest, with what its semantic models say of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from connectors.dbt.target.json_stream import Artifact, mapping_of, text_of, texts_of
from connectors.dbt.target.nodes import DbtMeasure, DbtMetric

_Entries = Mapping[str, Mapping[str, Any]]


def read_metrics(artifact: Artifact) -> tuple[DbtMetric, ...]:
    """The metrics of a manifest in its order. Raises UnreadableArtifact."""
    metrics = dict(artifact.entries("metrics"))
    if not metrics:
        return ()
    models = dict(artifact.entries("semantic_models"))
    return tuple(_metric(unique_id, metrics, models) for unique_id in metrics)


def _metric(unique_id: str, metrics: _Entries, models: _Entries) -> DbtMetric:
    entry = metrics[unique_id]
    below = _below(unique_id, metrics, models)
    semantic = [models[one] for one in below if one in models]
    wanted = {name for one in below if one in metrics for name in _measure_names(metrics[one])}
    measures = [_measure(entry) for model in semantic for entry in _mappings(model.get("measures"))]
    dimensions = [
        (text_of(entry.get("name")), text_of(entry.get("type")) == "time")
        for model in semantic
        for entry in _mappings(model.get("dimensions"))
    ]
    return DbtMetric(
        unique_id=unique_id,
        name=text_of(entry.get("name")),
        type=text_of(entry.get("type")),
        depends_on=tuple(one for one in below if one not in models and one not in metrics),
        label=text_of(entry.get("label")),
        description=text_of(entry.get("description")),
        tags=texts_of(entry.get("tags")) or texts_of(mapping_of(entry.get("config")).get("tags")),
        owner=next(iter(texts_of(mapping_of(entry.get("meta")).get("owner"))), ""),
        measures=tuple(one for one in measures if one.name in wanted),
        dimensions=tuple(dict.fromkeys(dimensions)),
    )


def _below(unique_id: str, metrics: _Entries, models: _Entries) -> list[str]:
    """All that a metric depends on, itself first."""
    found = [unique_id]
    for one in found:
        entry = metrics.get(one) or models.get(one) or {}
        reads = texts_of(mapping_of(entry.get("depends_on")).get("nodes"))
        found += [other for other in reads if other not in found]
    return found


def _measure_names(entry: Mapping[str, Any]) -> Iterator[str]:
    parameters = mapping_of(entry.get("type_params"))
    for one in (parameters.get("measure"), *(parameters.get("input_measures") or ())):
        yield text_of(mapping_of(one).get("name"))


def _measure(entry: Mapping[str, Any]) -> DbtMeasure:
    name = text_of(entry.get("name"))
    expression = text_of(entry.get("expr")) or name
    return DbtMeasure(name, text_of(entry.get("agg")), expression, text_of(entry.get("description")))


def _mappings(value: object) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
