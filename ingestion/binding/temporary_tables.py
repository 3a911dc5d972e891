"""Temporary tables taken out of the lineage: what is read through them is read of what they were filled from."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import networkx as nx

from ingestion.analysis.roles import compose_transformations
from ingestion.binding.altered_columns import GONE
from ingestion.binding.binder import BoundLog, BoundStatement, bind, clear_graphs
from ingestion.binding.relations import Order, Relation
from ingestion.binding.timeline import Occurrence, SchemaProvider
from ingestion.model.isolation import FailureStage, Isolation
from ingestion.model.lineage import (
    MOST_EXPRESSION,
    ColumnRef,
    Flow,
    NameKind,
    Reference,
    StarOutput,
    StatementKind,
    TableName,
    Target,
    Transformation,
    WriteMode,
)
from ingestion.model.namespaces import RelationKey
from ingestion.model.steps import take_steps

DEPTH_LIMIT = 20
"""Hops through inlined relations that are followed; what lies deeper is reported, not guessed."""

_MOST_TEXTS = 64
"""By which a column of one relation comes into a column of another one, beyond which it does so without any.

Each update of a staging table out of itself (`UPDATE n SET a = a + b`) gives all texts that there are another form: two
of them gave 70,000 references after ten rounds, and three more than there is memory for.
"""


# How two steps of lineage make one: a reference to an inlined relation's column becomes what that was read from.


class RelationColumn(NamedTuple):
    """A column of a relation, by the relation's number in its log."""

    relation: int
    column: str


class RelationReference(NamedTuple):
    """A use of source data over relations; when it is not certain, `sources` are candidates.

    A tuple, as its columns are: there are dozens for each statement, in sets.
    """

    sources: tuple[RelationColumn, ...]
    transformation: Transformation
    expression: str = ""
    certain: bool = True


@dataclass(frozen=True, slots=True)
class FlowSources:
    """What a flow brings, or an inlined relation holds.

    `hops` are the reads that led through inlined relations, `via` the statements that took part (by number), `depth`
    the longest chain of inlined relations behind it, `stars` the relations whose columns are not known yet.
    """

    columns: dict[str, frozenset[RelationReference]]
    indirect: frozenset[RelationReference]
    sources: frozenset[int]
    hops: frozenset[tuple[int, int]]
    via: frozenset[int]
    depth: int
    stars: tuple[tuple[int, StarOutput], ...] = ()
    assumed: frozenset[str] = frozenset()


EMPTY = FlowSources({}, frozenset(), frozenset(), frozenset(), frozenset(), 0)


def merge_contents(contents: Iterable[FlowSources]) -> FlowSources:
    """The union: what a relation holds after several writes."""
    given = tuple(contents)
    columns: dict[str, set[RelationReference]] = {}
    for content in given:
        for name, references in content.columns.items():
            take_steps(len(references))
            columns.setdefault(name, set()).update(references)
    return FlowSources(
        {name: frozenset(references) for name, references in columns.items()},
        frozenset().union(*(content.indirect for content in given)),
        frozenset().union(*(content.sources for content in given)),
        frozenset().union(*(content.hops for content in given)),
        frozenset().union(*(content.via for content in given)),
        max((content.depth for content in given), default=0),
        tuple(dict.fromkeys(star for content in given for star in content.stars)),
        frozenset().union(*(content.assumed for content in given)),
    )


@dataclass(frozen=True, slots=True)
class _InlinedTables:
    """A relation that is inlined: what it held when it was read; `name_of` gives a relation's name for people."""

    relation: int
    held: FlowSources
    name_of: Callable[[int], str]


def _read_through(content: FlowSources, inlined: _InlinedTables) -> FlowSources:
    """`content` with its reads of an inlined relation replaced by reads of what that relation held.

    Where n was filled by `SELECT UPPER(a) AS x FROM s`, `SELECT x FROM n` reads s.a, transformed.
    """
    relation, held = inlined.relation, inlined.held
    columns: dict[str, frozenset[RelationReference]] = {}
    for name, references in content.columns.items():
        columns[name] = _with_few_texts(new for reference in references for new in _through(reference, inlined))
    stars: list[tuple[int, StarOutput]] = []
    for starred, star in content.stars:
        if starred != relation:
            stars.append((starred, star))
            continue
        _expand(star, held, columns, stars)
    indirect = _with_few_texts(new for reference in content.indirect for new in _through(reference, inlined))
    return FlowSources(
        columns,
        indirect | held.indirect,
        (content.sources - {relation}) | held.sources,
        content.hops | held.hops,
        content.via | held.via,
        max(content.depth, held.depth + 1),
        tuple(stars),
        content.assumed,
    )


def _with_few_texts(references: Iterable[RelationReference]) -> frozenset[RelationReference]:
    """References of one column, those alone without their texts that differ in nothing else and are too many."""
    found = frozenset(references)
    take_steps(sum(len(reference.sources) for reference in found))
    if len(found) <= _MOST_TEXTS:
        return found
    plain = {reference: reference._replace(expression="") for reference in found}
    texts = Counter(plain.values())
    return frozenset(one if texts[bare] <= _MOST_TEXTS else bare for one, bare in plain.items())


def _expand(
    star: StarOutput,
    held: FlowSources,
    columns: dict[str, frozenset[RelationReference]],
    stars: list[tuple[int, StarOutput]],
) -> None:
    """A star over an inlined relation: the columns that it is known to hold, and the stars that it was filled by."""
    renamed = dict(star.renamed)
    for name, references in held.columns.items():
        if name not in star.excluded:
            columns[renamed.get(name, name)] = columns.get(renamed.get(name, name), frozenset()) | references
    for relation, inner in held.stars:
        # One star over another: what either leaves out is left out, the outer names win.
        excluded = (*inner.excluded, *star.excluded)
        stars.append((relation, replace(inner, excluded=excluded, renamed=(*inner.renamed, *star.renamed))))


def _through(reference: RelationReference, inlined: _InlinedTables) -> Iterable[RelationReference]:
    """A reference with its reads of the inlined relation replaced by what filled the column there.

    Where only a star filled it (`CREATE TEMP TABLE n AS SELECT * FROM s`), the column is that of s by the same name.
    """
    relation, held = inlined.relation, inlined.held
    if all(source.relation != relation for source in reference.sources):
        yield reference
        return
    if not reference.certain:
        yield from _through_ambiguous(reference, inlined)
        return
    column = reference.sources[0].column
    known = held.columns.get(column)
    if known is None:
        starred = tuple(
            sorted(RelationColumn(number, column) for number, star in held.stars if column not in star.excluded)
        )
        if starred:
            yield reference._replace(sources=starred, certain=len(starred) == 1)
        return
    for inner in known:
        yield compose(reference, column, inner, inlined.name_of)


def _through_ambiguous(reference: RelationReference, inlined: _InlinedTables) -> Iterable[RelationReference]:
    sources: set[RelationColumn] = set()
    for source in reference.sources:
        if source.relation != inlined.relation:
            sources.add(source)
            continue
        for inner in inlined.held.columns.get(source.column, frozenset()):
            sources.update(inner.sources)
    if sources:
        # Candidates stay candidates: that one is left over is no proof of where the value came from.
        yield reference._replace(sources=tuple(sorted(sources)), certain=False)


def compose(
    outer: RelationReference, column: str, inner: RelationReference, name_of: Callable[[int], str]
) -> RelationReference:
    """`outer` reads `column` of an inlined relation, which `inner` filled: the reference that skips it."""
    text = _composed_text(outer.expression, column, _text_of(inner, name_of))
    how = compose_transformations(outer.transformation, inner.transformation)
    return RelationReference(inner.sources, how, text, inner.certain and outer.certain)


def _text_of(reference: RelationReference, name_of: Callable[[int], str]) -> str:
    if reference.expression:
        return f"({reference.expression})"
    source = reference.sources[0]
    return f"{name_of(source.relation)}.{source.column}" if reference.certain else ""


def _composed_text(outer: str, column: str, inner: str) -> str:
    if not outer:
        return inner[1:-1] if inner.startswith("(") else ""
    named = re.compile(rf"(?:[\w$#@\"`]+\.)+[\"`]?\b{re.escape(column)}\b[\"`]?", re.IGNORECASE)
    text = named.sub(lambda match: _fit(match, inner), outer) if inner else ""
    return text if len(text) <= MOST_EXPRESSION else ""  # half of one would explain nothing


def _fit(match: re.Match[str], inner: str) -> str:
    """Without its brackets where the place has brackets or commas of its own."""
    before, after = match.string[match.start() - 1 : match.start()], match.string[match.end() : match.end() + 1]
    return inner[1:-1] if inner.startswith("(") and before == "(" and after in (")", ",") else inner


# Temporary and staging relations are inlined: what was read into them is what their readers read.
#
# The graph is NetworkX's: nodes are flows and the relations that are inlined, an edge is a read or a write. A session's
# temporary relation has a node for each state between two writes, so a reader sees what was there when it ran; a
# staging table that several sessions share has one node for all its content. Contents are sets that are passed on in
# topological order, so the number of paths does not matter (10 layers of 3 staging tables have 59,049 paths and 90
# reads).


@dataclass(frozen=True, slots=True)
class PersistedFlow:
    """What one statement brings into a relation that stays: columns over relations that stay as well.

    After `CREATE TEMP TABLE n AS SELECT a FROM s` the flow of `INSERT INTO w SELECT a FROM n` is from s into w.
    `sets_columns`: it changes the columns that it names, and leaves the others as they are. What is `left_behind` was
    written into what had the target's name before.
    """

    statement: int
    target: int
    content: FlowSources
    sets_columns: bool = False
    left_behind: bool = False

    @property
    def too_deep(self) -> bool:
        return self.content.depth > DEPTH_LIMIT


@dataclass(frozen=True, slots=True)
class _FlowNode:
    statement: int
    flow: Flow
    written: Target


@dataclass(frozen=True, slots=True, order=True)
class _State:
    """An inlined relation between two writes (`version` stays 0 where writers are not in one session's order)."""

    relation: int
    version: int


_Node = int | _State
"""A flow by its number, or a state of a relation that is inlined."""


def is_transient(relation: Relation) -> bool:
    """Whether a relation is temporary, was built and dropped for good within the log (a staging table), or is a
    function that the log defines: data without a place."""
    made = relation.creator is not None
    return relation.temporary or (made and (relation.vacated or relation.key.kind is NameKind.FUNCTION))


def inline_temporary_tables(
    log: BoundLog, is_inlined: Callable[[Relation], bool] = is_transient, isolation: Isolation[Order] | None = None
) -> tuple[PersistedFlow, ...]:
    """The flows into relations that stay, in time order, with what is inlined replaced by what it was read from.

    Where `isolation` gets failures, by the order of statements, the log is to be bound again without them.
    """
    inlined = frozenset(relation.number for relation in log.relations if is_inlined(relation))
    return _Inliner(log, inlined, isolation or Isolation()).flows()


def bind_and_inline(
    occurrences: Sequence[Occurrence],
    before: SchemaProvider,
    is_inlined: Callable[[Relation], bool],
    isolation: Isolation[Order],
) -> tuple[BoundLog, tuple[PersistedFlow, ...]]:
    """The bound log and its flows, without the statements that `isolation` has failures of in the end."""
    while True:
        log = bind(occurrences, before, isolation)
        flows = inline_temporary_tables(log, is_inlined, isolation)
        if len(isolation.failures) == len(log.failures):
            return log, flows


def reachable_relations(start: Iterable[int], hops: Iterable[tuple[int, int]]) -> frozenset[int]:
    """The relations that hops lead to from those of `start`, these among them."""
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_edges_from(hops)  # given at its making, hops of no kind that it knows at once have it import others
    found = set(start)
    for relation in tuple(found & set(graph)):
        found |= nx.descendants(graph, relation)
    return frozenset(found)


class _Inliner:
    def __init__(self, log: BoundLog, inlined: frozenset[int], isolation: Isolation[Order]) -> None:
        self._log = log
        self._inlined = inlined
        self._isolation = isolation
        self._flows: list[_FlowNode] = []
        self._reads: list[dict[int, _State]] = []  # per flow: the state in which it sees each inlined relation
        self._graph: nx.DiGraph[_Node] = nx.DiGraph()  # of the flows those alone that read or write what is inlined
        self._orders: dict[_Node, Order] = {}  # of the statement that first made a node
        self._definitions: dict[int, list[_FlowNode]] = {}  # what inlined relations make of their own columns
        self._build()

    def flows(self) -> tuple[PersistedFlow, ...]:
        """The flows into relations that stay, each content passed on once in topological order.

        A circle (a staging table that is filled from what is filled from it) is gone round until nothing is added.
        """
        states: dict[_State, FlowSources] = {}
        contents: dict[int, FlowSources] = {}
        for index in range(len(self._flows)):
            if index not in self._graph:
                with self._isolation.around(FailureStage.FOLDING, self._orders[index]):
                    contents[index] = self._flow_content(index, states)
        condensed = nx.condensation(self._graph)
        for component in nx.topological_sort(condensed):
            members = sorted(condensed.nodes[component]["members"], key=_node_order)
            looped = len(members) > 1
            for _round in range(DEPTH_LIMIT if looped else 1):
                before = [states.get(m) if isinstance(m, _State) else contents.get(m) for m in members]
                for member in members:
                    with self._isolation.around(FailureStage.FOLDING, self._orders[member]):
                        if isinstance(member, _State):
                            states[member] = self._state_content(member, states, contents)
                        else:
                            contents[member] = self._flow_content(member, states)
                if before == [states.get(m) if isinstance(m, _State) else contents.get(m) for m in members]:
                    break
        clear_graphs(self._graph, condensed)
        gone = {one.number: one.gone_columns for one in self._log.relations if one.gone_columns}
        flows = self._real_flows(contents)
        return tuple(_without_gone_columns(flows, gone, self._name_of) if gone else flows)

    def _build(self) -> None:
        versions = _Versions(self._log.relations)
        for number, statement in enumerate(self._log.statements):
            with self._isolation.around(FailureStage.FOLDING, statement.occurrence.order):
                self._isolation.probe(FailureStage.FOLDING, statement.occurrence)
                versions.restore(statement)
                emptied = versions.empty(statement)
                for flow in statement.lineage.flows:
                    if flow.target is not None and flow.target.name not in emptied:
                        self._add(_FlowNode(number, flow, flow.target), versions)
                versions.note(statement)

    def _add(self, node: _FlowNode, versions: _Versions) -> None:
        statement = self._log.statements[node.statement]
        target = statement.meaning[node.written.name]
        if target in self._inlined and _is_definition(node.flow, statement):
            self._definitions.setdefault(target, []).append(node)
            return
        read = _relations_read(node.flow, statement.meaning)
        index = len(self._flows)
        self._flows.append(node)
        seen = {relation: _State(relation, versions.current(relation)) for relation in read & self._inlined}
        self._reads.append(seen)
        self._graph.add_edges_from((state, index) for state in seen.values())
        self._note(statement.occurrence.order, index, *seen.values())
        self._write(index, target, versions)

    def _note(self, order: Order, *nodes: _Node) -> None:
        for node in nodes:
            self._orders.setdefault(node, order)

    def _write(self, index: int, target: int, versions: _Versions) -> None:
        if target not in self._inlined:
            return
        relation = self._log.relations[target]
        before = _State(target, versions.current(target))
        state = _State(target, versions.next(target)) if relation.temporary else before
        self._note(self._orders[index], state)
        if relation.temporary and self._keeps_content(index):
            self._note(self._orders[index], before)
            self._graph.add_edge(before, state)
        self._graph.add_edge(index, state)

    def _keeps_content(self, index: int) -> bool:
        return self._flows[index].written.mode in (WriteMode.APPEND, WriteMode.UPDATE, WriteMode.DELETE)

    def _state_content(
        self, state: _State, states: dict[_State, FlowSources], contents: dict[int, FlowSources]
    ) -> FlowSources:
        parts = [
            states.get(origin, EMPTY) if isinstance(origin, _State) else contents.get(origin, EMPTY)
            for origin in sorted(self._graph.predecessors(state), key=_node_order)
        ]
        return self._with_generated(state.relation, merge_contents(parts))

    def _with_generated(self, relation: int, content: FlowSources) -> FlowSources:
        """What a relation holds, with the columns that its definition makes of others, whatever is written to those.

        After `CREATE TEMP TABLE n (a INT, b INT GENERATED ALWAYS AS (a + 1) STORED)` an INSERT of s.a gives b, too.
        """
        for node in self._definitions.get(relation, ()):
            own = _own_content(node, self._log.statements[node.statement])
            for name, references in own.columns.items():
                held = _InlinedTables(relation, content, self._name_of)
                made = frozenset(new for reference in references for new in _through(reference, held))
                columns = {**content.columns, name: content.columns.get(name, frozenset()) | made}
                content = replace(content, columns=columns, via=content.via | own.via)
        return content

    def _flow_content(self, index: int, states: dict[_State, FlowSources]) -> FlowSources:
        node = self._flows[index]
        statement = self._log.statements[node.statement]
        target = statement.meaning[node.written.name]
        content = _own_content(node, statement)
        through = content.sources if target in self._inlined else content.sources & self._inlined
        if through:
            content = replace(content, hops=frozenset((source, target) for source in through))
        for relation, state in sorted(self._reads[index].items()):
            content = _read_through(content, _InlinedTables(relation, states.get(state, EMPTY), self._name_of))
        return content

    def _name_of(self, relation: int) -> str:
        return str(self._log.relations[relation].mention[0])

    def _real_flows(self, contents: dict[int, FlowSources]) -> Iterator[PersistedFlow]:
        for index, node in enumerate(self._flows):
            target = self._log.statements[node.statement].meaning[node.written.name]
            left = self._log.left_behind.get((node.statement, node.written.name))
            meant = target if left is None else left
            unmade = self._log.relations[target].unmade or self._log.relations[meant].unmade
            if target in self._inlined or index not in contents or unmade:
                continue
            sets_columns = node.written.mode is WriteMode.UPDATE and not contents[index].stars
            yield PersistedFlow(node.statement, meant, contents[index], sets_columns, left is not None)


def _without_gone_columns(
    flows: Iterable[PersistedFlow], gone: Mapping[int, frozenset[str]], name_of: Callable[[int], str]
) -> Iterator[PersistedFlow]:
    """The flows without the columns that are dropped: what was read of one is read of what it was made of.

    After `UPDATE w SET b = a`, `ALTER TABLE w DROP COLUMN a` w.b is made of what w.a was. What was there before the log
    is made of nothing that is known. `gone`: the dropped columns of relations, by their numbers.
    """
    made: dict[RelationColumn, frozenset[RelationReference]] = {}

    def through(uses: Iterable[RelationReference]) -> Iterator[RelationReference]:
        for use in uses:
            dropped = [one for one in use.sources if GONE in one.column or one.column in gone.get(one.relation, ())]
            if not dropped:
                yield use
            elif use.certain:
                yield from (compose(use, dropped[0].column, inner, name_of) for inner in made.get(dropped[0], ()))
            elif len(dropped) < len(use.sources):
                yield use._replace(sources=tuple(one for one in use.sources if one not in dropped))

    for flow in flows:
        content = flow.content
        columns = {name: frozenset(through(uses)) for name, uses in content.columns.items()}
        indirect = frozenset(through(content.indirect))
        for name in [name for name in columns if GONE in name or name in gone.get(flow.target, ())]:
            column = RelationColumn(flow.target, name)
            made[column] = made.get(column, frozenset()) | columns.pop(name) | indirect
        uses = (use for some in (*columns.values(), indirect) for use in some)
        sources = content.sources.union(source.relation for use in uses for source in use.sources)
        yield replace(flow, content=replace(content, columns=columns, indirect=indirect, sources=sources))


class _Versions:
    """The version of each temporary relation's content, from write to write; of what is not in order, as states say."""

    def __init__(self, relations: Sequence[Relation]) -> None:
        self._relations = relations
        self._current: dict[int, int] = {}
        self._newest: dict[int, int] = {}
        self._of_states: dict[tuple[int, str], int] = {}
        self._views: set[int] = set()

    def current(self, relation: int) -> int:
        return self._current.get(relation, 0)

    def next(self, relation: int) -> int:
        """The version after another write."""
        self._newest[relation] = self._current[relation] = self._newest.get(relation, 0) + 1
        return self._current[relation]

    def empty(self, statement: BoundStatement) -> frozenset[TableName]:
        """Begins with nothing in what the statement empties, and names it: `TRUNCATE t`.

        A view shows what its tables hold, whatever is deleted from it.
        """
        changes = [change for change in statement.lineage.changes if change.kind is StatementKind.TRUNCATE]
        emptied = {
            change.name: statement.meaning[change.name] for change in changes if change.name in statement.meaning
        }
        for relation in {*emptied.values()} - self._views:
            self.next(relation)
        return frozenset(emptied)

    def restore(self, statement: BoundStatement) -> None:
        """Makes current what the statement found."""
        states = statement.occurrence.states
        for relation, state in self._states_of_temporary(statement, states.before if states is not None else ()):
            self._current[relation] = self._of_states.get((relation, state), 0)

    def note(self, statement: BoundStatement) -> None:
        """Keeps what the statement left."""
        targets = [flow.target for flow in statement.lineage.flows if flow.target is not None and flow.target.view]
        self._views.update(statement.meaning[target.name] for target in targets)
        states = statement.occurrence.states
        for relation, state in self._states_of_temporary(statement, states.after if states is not None else ()):
            self._of_states.setdefault((relation, state), self.current(relation))

    def _states_of_temporary(
        self, statement: BoundStatement, states: Iterable[tuple[RelationKey, str]]
    ) -> Iterator[tuple[int, str]]:
        own = {n: self._relations[n] for n in statement.meaning.values() if self._relations[n].temporary}
        for key, state in states:
            yield from ((n, state) for n, relation in own.items() if key in (relation.key, relation.born))


def _own_content(node: _FlowNode, statement: BoundStatement) -> FlowSources:
    columns: dict[str, frozenset[RelationReference]] = {}
    assumed: set[str] = set()
    stars = []
    for output in node.flow.outputs:
        if output.star is not None:
            relation = statement.meaning.get(output.star.table)
            if relation is not None:
                stars.append((relation, output.star))
            continue
        own = frozenset(r for reference in output.references if (r := _over_relations(reference, statement.meaning)))
        columns[output.name] = columns.get(output.name, frozenset()) | own
        if output.name_assumed:
            assumed.add(output.name)
    indirect = frozenset(r for reference in node.flow.indirect if (r := _over_relations(reference, statement.meaning)))
    return FlowSources(
        columns,
        indirect,
        _relations_read(node.flow, statement.meaning),
        frozenset(),
        frozenset({node.statement}),
        0,
        tuple(stars),
        frozenset(assumed),
    )


def _is_definition(flow: Flow, statement: BoundStatement) -> bool:
    """Whether a flow is what a definition makes of a table's own columns, and no write at one moment."""
    defined = {column.name for change in statement.lineage.changes for column in change.columns}
    return bool(defined) and flow.target is not None and {output.name for output in flow.outputs} <= defined


def _relations_read(flow: Flow, meaning: dict[TableName, int]) -> frozenset[int]:
    """The relations that a flow reads: its sources, and its own target where that has a say in what comes of it.

    `UPDATE t SET a = 1 WHERE k = 2` and `DELETE FROM t WHERE k = 2` have no source, and read t.
    """
    read = {meaning[name] for name in flow.sources if name in meaning}
    own = flow.target.name if flow.target is not None else None
    if own in meaning and any(column.table == own for reference in flow.references() for column in reference.sources):
        read.add(meaning[own])
    return frozenset(read)


def _over_relations(reference: Reference, meaning: dict[TableName, int]) -> RelationReference | None:
    found = [column for ref in reference.sources if (column := _column(ref, meaning)) is not None]
    if not found:
        return None
    sources = tuple(found) if len(found) == 1 else tuple(sorted(set(found)))
    return RelationReference(sources, reference.transformation, reference.expression, reference.certain)


def _column(ref: ColumnRef, meaning: dict[TableName, int]) -> RelationColumn | None:
    relation = meaning.get(ref.table)
    return None if relation is None else RelationColumn(relation, ref.column)


def _node_order(node: _Node) -> tuple[int, int, int]:
    return (0, node.relation, node.version) if isinstance(node, _State) else (1, node, 0)
