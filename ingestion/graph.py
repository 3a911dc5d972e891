"""`lineage_graph`: the lineage of a few statements, a file or a directory as a picture, made for notebooks."""

from __future__ import annotations

import html
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from ingestion.analysis.symbolic import loads
from ingestion.arguments import files_below, kind_of, leads_out, require_schema, require_seconds, require_text
from ingestion.binding.binder import BoundLog
from ingestion.binding.relations import Order, Relation
from ingestion.binding.schema_changes import occurrences_of_tables
from ingestion.binding.session_names import doubted_relations
from ingestion.binding.temporary_tables import PersistedFlow, RelationReference, bind_and_inline, is_transient
from ingestion.binding.timeline import Occurrence, SchemaProvider
from ingestion.dialects import Dialect, dialect_of
from ingestion.errors import ConfigError, Unparsable
from ingestion.model.contributions import Producer, ProducerKind
from ingestion.model.fqn import build_fqn
from ingestion.model.isolation import FailureStage, Isolation
from ingestion.model.lineage import Column, Json, NameKind
from ingestion.model.namespaces import RelationKey, readable
from ingestion.model.topics import split_topic
from ingestion.parser import TableSchema, given_schemas
from ingestion.parsing.tiers import ParseOutcome
from ingestion.scripts.statements import (
    ScriptStatement,
    failure_text,
    lone_query_as_view,
    parse_script_statements,
    script_statements,
)
from ingestion.statements.masking import template

_FRAME_HEIGHT = 640


@dataclass(frozen=True, slots=True)
class _EdgeEvidence:
    """Where a statement's lineage was read from: masked text, its fingerprint, the parser tier that read it."""

    masked: str
    fingerprint: str
    parser: str


class _Document:
    """The document of a bound log and its flows; `evidence` is of its statements, by their templates.

    It is as the catalog's graph call answers, so that one page reads both. What `isolation` has failures of, by the
    order of statements, is left out.
    """

    def __init__(
        self,
        log: BoundLog,
        flows: Sequence[PersistedFlow],
        evidence: Mapping[str, _EdgeEvidence],
        isolation: Isolation[Order],
        before: SchemaProvider,
    ) -> None:
        self._log = log
        mentions = ((one.occurrence, one.meaning) for one in log.statements)
        self._doubted = doubted_relations(log.relations, mentions, before)
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
            "type": _type_of(relation.key),
            "name": relation.key.table,
            "fullyQualifiedName": name,
            "columns": columns,
            "hidden": {"upstream": 0, "downstream": 0},
        }
        if schema := readable((relation.key.schema,)):
            (card["databaseSchema"],) = schema
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
            if number not in self._names:
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
        known = self._doubted.isdisjoint((source, flow.target))
        for name, references in flow.content.columns.items():
            if _is_column(name):
                target = f"{self._names[flow.target]}.{build_fqn(name)}"
                yield from self._uses(source, target, references, certain=known and name not in flow.content.assumed)
        yield from self._uses(source, None, flow.content.indirect, certain=known)

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


def _type_of(key: RelationKey) -> str:
    if key.kind is not NameKind.PATH:
        return "table"
    return "container" if split_topic(key.table) is None else "topic"


def _is_column(name: str) -> bool:
    return name not in ("", "*")


def _order(reference: RelationReference) -> tuple[object, ...]:
    return reference.sources, reference.transformation, reference.expression, reference.certain


def _references(flow: PersistedFlow) -> Iterator[RelationReference]:
    for references in flow.content.columns.values():
        yield from references
    yield from flow.content.indirect


def _fqn(relation: Relation) -> str:
    parts = readable(relation.key.parts)
    return build_fqn(*parts) if parts else ""


def _contribute(contributions: list[Json], new: Mapping[str, Any]) -> None:
    """A statement that stands there twice is one contribution, counted twice."""
    for known in contributions:
        if known["producer"] == new["producer"] and known["sqlQuery"] == new["sqlQuery"]:
            known["count"] += 1
            return
    contributions.append(dict(new))


@cache
def _page_writer() -> Callable[[Mapping[str, Any], str], str]:
    """What writes a document as a page, by the name that the distribution gives it.

    The page belongs to the catalog, which lies above this package, and imports run down only.
    """
    from importlib.metadata import entry_points  # some milliseconds that only a drawing needs

    found = entry_points(group="headwater.pages", name="self_contained")
    if not found:
        raise ConfigError("the page that shows a graph comes with Headwater's installation: install it with pip")
    writer: Callable[[Mapping[str, Any], str], str] = found["self_contained"].load()
    return writer


@dataclass(frozen=True, slots=True)
class LineageGraph:
    """Tables and column edges of some SQL. In a notebook it shows itself: the explorer, offline, in a frame.

    `failures` names the statements that could not be read, by place and reason.
    """

    document: Mapping[str, Any] = field(repr=False)
    failures: tuple[str, ...] = ()

    @property
    def tables(self) -> dict[str, tuple[Column, ...]]:
        """Every table that is read or written, with the columns that are known."""
        return {
            card["fullyQualifiedName"]: tuple(
                Column(one["name"], one.get("dataTypeDisplay", "")) for one in card["columns"]
            )
            for card in self.document["nodes"]
        }

    def to_json(self) -> dict[str, Any]:
        """The graph as the catalog's graph call answers it, with `failures`."""
        return {**self.document, "failures": list(self.failures)}

    def to_html(self, title: str = "Lineage") -> str:
        """The explorer with this graph in one page that needs no network.

        Raises ConfigError where Headwater is not installed but only lies on the path.
        """
        return _page_writer()(self.to_json(), title)

    def _repr_html_(self) -> str:
        # A frame of its own origin: neither the page nor a name in it can reach the notebook.
        page = html.escape(self.to_html(), quote=True)
        return (
            f'<iframe title="Lineage" sandbox="allow-scripts allow-downloads" srcdoc="{page}" '
            f'width="100%" height="{_FRAME_HEIGHT}" style="border:0"></iframe>'
        )


def lineage_graph(
    source: str | os.PathLike[str] | Sequence[str],
    dialect: str = "ansi",
    schema: Mapping[str, TableSchema] | None = None,
    timeout_seconds: float = 30,
    *,
    keep_temporary: bool = False,
) -> LineageGraph:
    """The lineage of a list of statements, of a file, or of all *.sql files below a directory.

    A lone query is a view: named after its file, or query_1, query_2 ... after its place in the list. What one
    statement creates, the next ones know. Each text, or file, begins with a session of its own.

    Args:
        source: a path, or a list of texts with one or more statements each.
        dialect: sqlglot's name of the dialect, or "ansi", or a connection type ("Redshift").
        schema: {"schema.table": {"column": "type"}}; of other tables only the columns that are used are known.
        timeout_seconds: for each parser on one statement.
        keep_temporary: show temporary tables as tables, instead of what they were filled from.

    Raises:
        ConfigError: the dialect is unknown, or the path cannot be read.
        TypeError: an argument is of another type; nothing was parsed.
    """
    language = _checked_dialect(dialect, schema, timeout_seconds)
    statements = _statements(source, language)
    outcomes = parse_script_statements([statement for _, statement in statements], language, timeout_seconds)
    occurrences: list[Occurrence] = []
    evidence: dict[str, _EdgeEvidence] = {}
    reasons = {number: outcome.dead_reason for number, outcome in enumerate(outcomes) if outcome.dead_reason}
    for number, ((_name, statement), outcome) in enumerate(zip(statements, outcomes, strict=True)):
        if outcome.symbolic is None:
            continue
        symbolic = loads(outcome.symbolic)
        occurrences.append(Occurrence(str(number), symbolic, statement.namespace, (0.0, number), "script"))
        evidence[str(number)] = _evidence(statement.text, language, outcome)
    isolation, is_inlined = Isolation[Order](), _no_relation if keep_temporary else is_transient
    of_tables = occurrences_of_tables(occurrences)
    before = given_schemas(schema or {})
    log, flows = bind_and_inline(of_tables, before, is_inlined, isolation)
    document = _Document(log, flows, evidence, isolation, before).to_json()
    reasons |= {number: f"{failure.reason}: {failure.location}" for (_, number), failure in isolation.failures.items()}
    return LineageGraph(document, _failures(statements, outcomes, reasons))


def _checked_dialect(dialect: str, schema: Mapping[str, TableSchema] | None, timeout_seconds: float) -> Dialect:
    require_schema({} if schema is None else schema, "schema")
    require_seconds(timeout_seconds, "timeout_seconds")
    return dialect_of(dialect)


def _statements(source: str | os.PathLike[str] | Sequence[str], dialect: Dialect) -> list[tuple[str, ScriptStatement]]:
    """Every statement with the part of the source that it is of."""
    return [
        (location, statement)
        for location, view, text in _texts(source)
        for statement in _view_statements(text, view, dialect)
    ]


def _failures(
    statements: Sequence[tuple[str, ScriptStatement]], outcomes: Sequence[ParseOutcome], reasons: Mapping[int, str]
) -> tuple[str, ...]:
    return tuple(
        f"{statements[number][0]}{failure_text(statements[number][1], reasons[number], outcomes[number])}"
        for number in sorted(reasons)
    )


def _no_relation(_relation: Relation) -> bool:
    return False


def _evidence(text: str, dialect: Dialect, outcome: ParseOutcome) -> _EdgeEvidence:
    try:
        known = template(text, dialect)
    except Unparsable:
        # read by a parser, but not safe to show
        return _EdgeEvidence("", f"statement {outcome.key}", outcome.tier or "")
    return _EdgeEvidence(known.masked, known.fingerprint, outcome.tier or "")


def _view_statements(text: str, view: str, dialect: Dialect) -> Iterator[ScriptStatement]:
    """The statements of a text, a lone query as a view; columns of a line are told of a text that is left as it is."""
    script = lone_query_as_view(text, view, dialect)
    for statement in script_statements(script, dialect):
        yield statement if script == text else replace(statement, column=0)


def _texts(source: str | os.PathLike[str] | Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """(Where it stands, its view's name, text) of all parts of the source. The one place here that reads files."""
    if not isinstance(source, (str, os.PathLike)):
        if not isinstance(source, Iterable) or isinstance(source, bytes | bytearray):
            raise TypeError(f"source is {kind_of(source)}: give a path, or a list of texts")
        for number, text in enumerate(source):
            require_text(text, f"source[{number}]")
            yield f"[{number}] ", f"query_{number + 1}", text
        return
    path = Path(source)
    try:
        files, outside = files_below(path, "*.sql") if path.is_dir() else ([path], [])
        if outside:
            raise ConfigError(leads_out(outside[0]))
        for file in files:
            yield f"{file}:", file.stem, file.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: not UTF-8 text") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        message = f"{_short(path)} cannot be read ({reason}): give a path, or SQL in a list of texts"
        raise ConfigError(message) from None


def _short(path: Path) -> str:
    """The path, unless it is SQL that was taken for one: its text is nothing to show."""
    text = str(path)
    return text if len(text.split()) < 3 else "the text"
