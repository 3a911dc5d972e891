"""The models of a project as statements: each a view over its query, ephemeral models carried along."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter

from connectors.dbt.column_index import ColumnIndex
from connectors.dbt.nodes import EPHEMERAL_PREFIX, DbtExposure, DbtNode, Manifest, ResourceKind
from ingestion.dialects import Dialect, dialect_of
from ingestion.dialects.lexing import WORD, tokens
from ingestion.errors import ConfigError
from ingestion.model.lineage import Column
from ingestion.statements.routines.definition import quote_name

_QUERY_WORDS = frozenset({"select", "with", "from", "values", "table"})
_OTHER_DIALECTS: Mapping[str, str] = {"glue": "spark", "synapse": "tsql", "fabricspark": "spark", "upsolver": "ansi"}
"""Of adapters that are not named as their SQL is."""
_SNAPSHOT_COLUMNS = ("dbt_scd_id", "dbt_updated_at", "dbt_valid_from", "dbt_valid_to")


# Ephemeral models: dbt puts each as a WITH item in front of the query that reads it.


@dataclass(frozen=True, slots=True)
class EphemeralModel:
    """Its name, its query (None: it could not be had), and the ids of the ephemeral models that it reads itself."""

    name: str
    text: str | None = field(repr=False)
    reads: tuple[str, ...] = ()


def with_ephemeral(query: str, reads: Iterable[str], models: Mapping[str, EphemeralModel], dialect: str) -> str | None:
    """A query with the ephemeral models that it reads, each after those it reads itself; None where one is lost."""
    needed: dict[str, None] = {}
    for unique_id in reads:
        _collect(unique_id, models, needed, ())
    if any(unique_id not in models or models[unique_id].text is None for unique_id in needed):
        return None
    items = [f"{EPHEMERAL_PREFIX}{models[one].name} AS ({_on_one_line(models[one].text or '')})" for one in needed]
    if not items:
        return query
    start, recursive = _behind_with(query, dialect)
    listed = ", ".join(items)
    if start is None:
        return f"WITH {listed} {query}"
    return f"{query[:start]} {listed}, {query[start:]}" if recursive is not None else query


def _collect(
    unique_id: str, models: Mapping[str, EphemeralModel], needed: dict[str, None], above: tuple[str, ...]
) -> None:
    if unique_id in needed or unique_id in above:
        return
    for other in models[unique_id].reads if unique_id in models else ():
        _collect(other, models, needed, (*above, unique_id))
    needed[unique_id] = None


def _on_one_line(text: str) -> str:
    return f"\n{text.strip().rstrip(';')}\n"


def _behind_with(query: str, dialect: str) -> tuple[int | None, bool | None]:
    """Where the first item of a query's own WITH may go, None where it has none."""
    found: int | None = None
    for token in tokens(query, dialect):
        word = token.text.lower()
        if found is None and word == "with":
            found = token.start + len(token.text)
        elif found is not None and word == "recursive":
            return token.start + len(token.text), True
        else:
            break
    return found, None if found is None else False


# Each model as a view over its query, under its name in the warehouse.


@dataclass(frozen=True, slots=True)
class ModelQuery:
    """The query of a node without templates: what dbt would run, or the ways that it may run (`otherwise`).

    `origin` names the text that its lines are counted in.
    """

    node: DbtNode
    text: str = field(repr=False)
    origin: str
    otherwise: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class ModelStatement:
    """`text` defines or fills the relation of a node with the query in its `body`, on the lines of its `origin`."""

    node: DbtNode
    text: str = field(repr=False)
    origin: str
    body: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class ModelFailure:
    """A node whose statement cannot be had: where, and the reason (`templated: what asks the warehouse`)."""

    node: DbtNode
    location: str
    reason: str

    def __str__(self) -> str:
        return f"{self.location}: {self.reason}"


@dataclass(frozen=True, slots=True)
class PartialModel:
    """A model of which a part is not known, and why: `statements` have NOT_KNOWN in its place, `reads` are its refs.

    Nothing of its columns is certain. `statements` is empty where the rest is no query.
    """

    node: DbtNode
    location: str
    reason: str
    reads: tuple[DbtNode, ...] = ()
    statements: tuple[ModelStatement, ...] = ()

    def __str__(self) -> str:
        return f"{self.location}: {self.reason}; the rest of it is read, and not certain"


@dataclass(frozen=True, slots=True)
class DbtProject:
    """What a project's lineage is made of, whichever way it was read.

    `columns` are those of relations that no statement makes, by their dotted names. `notes` are for a person. The
    `partial` models are among neither the statements nor the failures. `index` is what dbt itself has found out.
    """

    name: str
    dialect: str
    nodes: Mapping[str, DbtNode]
    statements: tuple[ModelStatement, ...] = ()
    columns: Mapping[str, tuple[Column, ...]] = field(default_factory=dict)
    failures: tuple[ModelFailure, ...] = ()
    notes: tuple[str, ...] = ()
    exposures: tuple[DbtExposure, ...] = ()
    manifest: Manifest | None = field(default=None, repr=False)
    partial: tuple[PartialModel, ...] = ()
    index: ColumnIndex = field(default_factory=ColumnIndex, repr=False)


def python_models(project: DbtProject) -> Iterator[tuple[DbtNode, tuple[DbtNode, ...]]]:
    """Each model in Python with what it reads, of which nothing but that is known; ephemeral ones stand for theirs."""
    for node in project.nodes.values():
        if node.language == "python" and node.kind is ResourceKind.MODEL:
            yield node, relations_read(project, node)


def relations_read(project: DbtProject, node: DbtNode) -> tuple[DbtNode, ...]:
    """What a node depends on, as far as it has rows in the warehouse; an ephemeral model stands for what it reads."""
    waiting = list(dict.fromkeys(node.depends_on))
    read: list[DbtNode] = []
    for unique_id in waiting:
        found = project.nodes.get(unique_id)
        if found is not None and found.ephemeral:
            waiting += [other for other in found.depends_on if other not in waiting]
        elif found is not None and found.relation and found is not node:
            read.append(found)
    return tuple(read)


def adapter_dialect(adapter: str) -> str:
    """The dialect of an adapter's SQL. Raises ConfigError where it is not known."""
    if not adapter:
        raise ConfigError("nothing here says which adapter dbt uses: name its SQL with --dialect")
    try:
        return dialect_of(_OTHER_DIALECTS.get(adapter.lower(), adapter.lower())).name
    except ConfigError:
        raise ConfigError(f"dbt's adapter {adapter} is not known: name its SQL with --dialect") from None


def model_statements(
    queries: Iterable[ModelQuery], nodes: Mapping[str, DbtNode], dialect: str
) -> tuple[tuple[ModelStatement, ...], tuple[ModelFailure, ...]]:
    """The statements of queries, each after those that it reads; and what is no query."""
    rules = dialect_of(dialect)
    statements: list[ModelStatement] = []
    failures: list[ModelFailure] = []
    for query in _in_order(queries, nodes):
        if not _is_query(query.text, rules):
            failures.append(ModelFailure(query.node, query.origin, "not a query"))
            continue
        statements += _statements(query, rules)
    return tuple(statements), tuple(failures)


def _in_order(queries: Iterable[ModelQuery], nodes: Mapping[str, DbtNode]) -> Iterator[ModelQuery]:
    """The queries, each after those of the nodes that it depends on, through ephemeral ones too."""
    by_id = {query.node.unique_id: query for query in queries}
    try:
        order = list(TopologicalSorter({key: node.depends_on for key, node in nodes.items()}).static_order())
    except CycleError:  # dbt refuses such a project; whatever the order, names are bound by what is defined
        order = list(by_id)
    return (by_id[key] for key in order if key in by_id)


def _is_query(text: str, dialect: Dialect) -> bool:
    """Whether a text is a query, and no other statement."""
    for token in tokens(text, dialect):
        if token.text != "(":
            return token.kind == WORD and token.text.lower() in _QUERY_WORDS
    return False


def _statements(query: ModelQuery, dialect: Dialect) -> Iterator[ModelStatement]:
    node = query.node
    for number, text in enumerate((query.text, *query.otherwise)):
        body = text.rstrip().rstrip(";").rstrip()
        if node.kind is ResourceKind.SNAPSHOT:
            body = _snapshot(node, body, dialect)
        # What an incremental model adds later goes where its first run put the columns of the same place.
        begin = f"CREATE VIEW {node.relation} AS " if number == 0 else f"INSERT INTO {node.relation} "
        yield ModelStatement(node, begin + body, query.origin, body)


def _snapshot(node: DbtNode, query: str, dialect: Dialect) -> str:
    """A snapshot's query with the columns that dbt adds: all of them follow what tells a change."""
    names = node.config.get("snapshot_meta_column_names")
    renamed = names if isinstance(names, Mapping) else {}
    scd_id, updated, valid_from, valid_to = (
        quote_name(str(renamed.get(name) or name), dialect) for name in _SNAPSHOT_COLUMNS
    )
    changed = node.config.get("updated_at")
    if node.config.get("strategy") != "timestamp" or not isinstance(changed, str):
        moment = "CURRENT_TIMESTAMP"
    else:
        moment = f"dbt_rows.{changed}"
    unique_key = node.config.get("unique_key")
    keys = (
        [unique_key]
        if isinstance(unique_key, str)
        else list(unique_key)
        if isinstance(unique_key, list | tuple)
        else []
    )
    identity = [f"dbt_rows.{key}" for key in keys if isinstance(key, str)]
    parts = ", ".join((*identity, moment))
    return (
        f"SELECT dbt_rows.*, CONCAT({parts}) AS {scd_id}, {moment} AS {updated}, {moment} AS {valid_from}, "
        f"NULLIF({moment}, {moment}) AS {valid_to} FROM ({query}\n) AS dbt_rows"
    )
