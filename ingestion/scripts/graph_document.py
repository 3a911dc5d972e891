"""The picture's document: cards and edges with everything that is said of them, as the catalog's graph call answers.

A page reads the same document whether it comes from a catalog or from a few statements in a notebook.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ingestion.binding.binder import BoundLog
from ingestion.binding.composition import RelationReference
from ingestion.binding.relations import Relation
from ingestion.binding.restored_names import Order
from ingestion.binding.temporary_tables import PersistedFlow
from ingestion.contribution import Producer, ProducerKind
from ingestion.isolation import FailureStage, Isolation
from ingestion.model import Column, Json, NameKind
from ingestion.names.fqn import build_fqn


@dataclass(frozen=True, slots=True)
class EdgeEvidence:
    """Where a statement's lineage was read from: masked text, its fingerprint, the parser tier that read it."""

    masked: str
    fingerprint: str
    parser: str


def graph_document(
    log: BoundLog, flows: Sequence[PersistedFlow], evidence: Mapping[str, EdgeEvidence], isolation: Isolation[Order]
) -> Json:
    """The document of a bound log and its flows; `evidence` is of its statements, by their templates.

    What `isolation` has failures of, by the order of statements, is left out.
    """
    return _Document(log, flows, evidence, isolation).to_json()


class _Document:
    def __init__(
        self,
        log: BoundLog,
        flows: Sequence[PersistedFlow],
        evidence: Mapping[str, EdgeEvidence],
        isolation: Isolation[Order],
    ) -> None:
        self._log = log
        self._flows = flows
        self._evidence = evidence
        self._isolation = isolation
        self._names = {
            number: name
            for flow in flows
            for number in (*flow.content.sources, flow.target)
            if number >= 0 and (name := _fqn(log.relations[number]))
        }
        self._columns = {number: dict.fromkeys(filter(_is_column, self._schema(number)), "") for number in self._names}
        for number in self._names:
            self._columns[number].update({c.name: c.type for c in log.schemas.get(number, ()) if _is_column(c.name)})

    def to_json(self) -> Json:
        edges: list[Json] = []
        for flow in self._flows:
            occurrence = self._log.statements[flow.statement].occurrence
            with self._isolation.around(FailureStage.EVIDENCE, occurrence.order):
                self._isolation.probe(FailureStage.EVIDENCE, occurrence)
                edges += list(self._edges(flow)) if flow.target in self._names else []
        merged: dict[tuple[str, str], Json] = {}
        for edge in edges:
            known = merged.setdefault((edge["from"], edge["to"]), {**edge, "contributions": []})
            _contribute(known["contributions"], edge["contributions"][0])
        views = {flow.target for flow in self._flows if self._is_view(flow)}
        cards = {self._names[number]: self._card(number, view=number in views) for number in sorted(self._names)}
        return {
            "roots": [],
            "window": {"asOf": None, "since": None, "until": None},
            "nodes": [cards[name] for name in sorted(cards)],
            "edges": [merged[key] for key in sorted(merged)],
            "truncated": False,
        }

    def _schema(self, number: int) -> Iterator[str]:
        """The columns that flows name, where no schema is known."""
        if number in self._log.schemas:
            return
        for flow in self._flows:
            if flow.target == number:
                yield from flow.content.columns
            for reference in _references(flow):
                yield from (source.column for source in reference.sources if source.relation == number)

    def _card(self, number: int, *, view: bool) -> Json:
        relation, name = self._log.relations[number], self._names[number]
        columns = [
            {
                "path": build_fqn(column),
                "name": column,
                "fullyQualifiedName": f"{name}.{build_fqn(column)}",
                "dataTypeDisplay": type_,
            }
            for column, type_ in self._columns[number].items()
        ]
        card = {
            "id": name,
            "type": "container" if relation.key.kind is NameKind.PATH else "table",
            "name": relation.key.table,
            "fullyQualifiedName": name,
            "columns": columns,
            "hidden": {"upstream": 0, "downstream": 0},
        }
        if relation.key.schema:
            card["databaseSchema"] = relation.key.schema
        if view:
            card["tableType"] = "View"
        return card

    def _is_view(self, flow: PersistedFlow) -> bool:
        statement = self._log.statements[flow.statement]
        targets = [f.target for f in statement.lineage.flows if f.target is not None]
        return any(target.view and statement.meaning[target.name] == flow.target for target in targets)

    def _edges(self, flow: PersistedFlow) -> Iterator[Json]:
        evidence = self._evidence[self._log.statements[flow.statement].occurrence.template]
        view = self._is_view(flow)
        key = self._names[flow.target] if view else evidence.fingerprint
        for number in sorted(flow.content.sources):
            if number not in self._names or number == flow.target:
                continue
            contribution: Json = {
                "producer": Producer(ProducerKind.VIEW if view else ProducerKind.QUERY, key).to_json(),
                "source": "ViewLineage" if view else "QueryLineage",
                "sqlQuery": evidence.masked,
                "parser": evidence.parser,
                "count": 1,
                "columns": list(self._column_edges(number, flow)),
            }
            if flow.content.hops:
                hops = sorted((self._label(a), self._label(b)) for a, b in flow.content.hops)
                contribution["tempLineageTables"] = [{"fromEntity": a, "toEntity": b} for a, b in hops]
            yield {"from": self._names[number], "to": self._names[flow.target], "contributions": [contribution]}

    def _column_edges(self, source: int, flow: PersistedFlow) -> Iterator[Json]:
        for name, references in flow.content.columns.items():
            if _is_column(name):
                target = f"{self._names[flow.target]}.{build_fqn(name)}"
                yield from self._uses(source, target, references, certain=name not in flow.content.assumed)
        yield from self._uses(source, None, flow.content.indirect, certain=True)

    def _uses(
        self, source: int, target: str | None, references: Iterable[RelationReference], *, certain: bool
    ) -> Iterator[Json]:
        for reference in sorted(references, key=_order):
            for column in reference.sources:
                if column.relation != source or not _is_column(column.column):
                    continue
                how = reference.transformation
                yield {
                    "from": [f"{self._names[source]}.{build_fqn(column.column)}"],
                    "to": target,
                    "type": str(how.type),
                    "subtype": str(how.subtype),
                    "masking": how.masking,
                    "expression": reference.expression,
                    "certain": certain and reference.certain,
                }

    def _label(self, number: int) -> str:
        return self._names.get(number) or str(self._log.relations[number].key)


def _is_column(name: str) -> bool:
    return name not in ("", "*")


def _order(reference: RelationReference) -> tuple[object, ...]:
    return reference.sources, reference.transformation, reference.expression, reference.certain


def _references(flow: PersistedFlow) -> Iterator[RelationReference]:
    for references in flow.content.columns.values():
        yield from references
    yield from flow.content.indirect


def _fqn(relation: Relation) -> str:
    parts = [part for part in relation.key.parts if part]
    return build_fqn(*parts) if parts else ""


def _contribute(contributions: list[Json], new: Mapping[str, Any]) -> None:
    """A statement that stands there twice is one contribution, counted twice."""
    for known in contributions:
        if known["producer"] == new["producer"] and known["sqlQuery"] == new["sqlQuery"]:
            known["count"] += 1
            return
    contributions.append(dict(new))


def columns_of(document: Mapping[str, Any]) -> dict[str, tuple[Column, ...]]:
    """The tables of a document with their columns, by name."""
    return {
        card["fullyQualifiedName"]: tuple(
            Column(one["name"], one.get("dataTypeDisplay", "")) for one in card["columns"]
        )
        for card in document["nodes"]
    }
