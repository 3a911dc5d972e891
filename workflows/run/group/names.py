"""Which names of a log's templates change what they mean while it goes by, and which of them belong together."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import networkx as nx

from ingestion.analysis.analyzer import CREATING_KINDS
from ingestion.analysis.form import RelationalStatement
from ingestion.analysis.symbolic import Symbolic
from ingestion.binding.name_states import ChangingNames, own_name
from ingestion.model.isolation import FailureStage, Isolation
from ingestion.model.lineage import StatementKind, TableUsageNames
from ingestion.parsing.templates import ParsedTemplate
from workflows.runtime.spill import PackedMapping, SpillMapping

_MOVING_KINDS = frozenset({StatementKind.ALTER_TABLE, StatementKind.RENAME, StatementKind.SWAP})
_CHANGING_KINDS = frozenset({StatementKind.ALTER_TABLE, StatementKind.SWAP})
_NOT_ENDING = CREATING_KINDS | {StatementKind.TRUNCATE}


@dataclass(frozen=True, slots=True)
class Chain:
    """Templates whose changing names hang together. `in_session`: all that it makes is temporary."""

    number: int
    in_session: bool


@dataclass(frozen=True, slots=True)
class TemplateNames:
    """The names of the templates (by fingerprint) that have changing ones, and the chains of these templates.

    All runs of any other template in one namespace mean the same.
    """

    names: Mapping[str, TableUsageNames] = field(default_factory=dict)
    changing: ChangingNames = field(default_factory=ChangingNames)
    chains: Mapping[str, Chain] = field(default_factory=dict)


def names_by_template(
    templates: Iterable[ParsedTemplate], isolation: Isolation[str], held: int
) -> Mapping[str, TableUsageNames]:
    """The names of each template that was parsed, by fingerprint; more than are to be `held` are in a file.

    `isolation` gets the templates (by fingerprint) whose names cannot be read off.
    """
    mentioned: SpillMapping[str, TableUsageNames] = SpillMapping(held)
    for template in templates:
        if template.symbolic is not None:
            with isolation.around(FailureStage.ANALYSIS, template.fingerprint):
                isolation.probe(FailureStage.ANALYSIS, template)
                mentioned.put(template.fingerprint, template.names())
    return mentioned


def changing_names(mentioned: Mapping[str, TableUsageNames]) -> TemplateNames:
    """The changing ones of the names that templates (by fingerprint) mention.

    Such a name is temporary, or altered, or exchanged, or made and ended in several ways, or made from another such
    name: `t` in `CREATE TEMP TABLE t …`, in `ALTER TABLE t ADD c INT`, in `ALTER TABLE t SWAP WITH n`, in `DROP TABLE
    t; CREATE TABLE t AS …`, and `u` in `CREATE TABLE u AS SELECT * FROM t`.
    """
    own: dict[str, tuple[str, ...]] = {}
    made: defaultdict[str, set[str]] = defaultdict(set)
    temporary, changing = set[str](), set[str]()
    for key, names in mentioned.items():
        own[key] = tuple(dict.fromkeys(sys.intern(own_name(name)) for name in names.names()))
        temporary.update(own_name(name) for name, is_temporary in names.created if is_temporary)
        for name, altered in _definitions(names):
            made[name].add(key)
            if altered:
                changing.add(name)
    changing |= temporary | {name for name, by in made.items() if len(by) > 1}
    changing |= _dependents(changing, made, own)
    names_of_changing: PackedMapping[str, TableUsageNames] = PackedMapping()
    for key, own_names in own.items():
        if not changing.isdisjoint(own_names):
            names_of_changing.put(key, mentioned[key])
    shared = _shared_names(names_of_changing, temporary)
    chains = _chains({key: changing.intersection(own[key]) for key in names_of_changing}, shared)
    return TemplateNames(names_of_changing, ChangingNames(frozenset(changing), frozenset(temporary)), chains)


def _definitions(names: TableUsageNames) -> Iterator[tuple[str, bool]]:
    """The names that a statement makes, ends or alters, and whether each run finds another under them than the last.

    What is exchanged is there already: a log that exchanges it twice, and makes it nowhere, leaves it as it was.
    """
    yield from ((own_name(name), False) for name, _temporary in names.created)
    for change in names.changes:
        if change.kind not in _NOT_ENDING:
            yield own_name(change.name), change.kind in _CHANGING_KINDS
            if change.other is not None:
                yield own_name(change.other), change.kind is StatementKind.SWAP


def _dependents(changing: Iterable[str], made: Mapping[str, set[str]], own: Mapping[str, Iterable[str]]) -> set[str]:
    """The names that are made from these, directly or through others."""
    made_from: defaultdict[str, list[str]] = defaultdict(list)
    for name, by in made.items():
        for source in {source for key in by for source in own[key]} - {name}:
            made_from[source].append(name)
    found = set[str]()
    waiting = [*changing]
    while waiting:
        news = set(made_from.get(waiting.pop(), ())) - found
        found |= news
        waiting += news
    return found


def _shared_names(mentioned: Mapping[str, TableUsageNames], temporary: set[str]) -> set[str]:
    """The names under which something may change for all sessions at once."""
    shared = set[str]()
    for names in mentioned.values():
        shared.update(own_name(name) for name, is_temporary in names.created if not is_temporary)
        for change in names.changes:
            if change.kind in _MOVING_KINDS:
                shared.update(own_name(name) for name in (change.name, change.other) if name is not None)
            elif change.kind is StatementKind.DROP and own_name(change.name) not in temporary:
                shared.add(own_name(change.name))
    return shared


def _chains(changing: Mapping[str, set[str]], shared: set[str]) -> dict[str, Chain]:
    graph: nx.Graph[str] = nx.Graph()
    for names in changing.values():
        first, *others = sorted(names)
        graph.add_node(first)
        graph.add_edges_from((first, other) for other in others)
    of_name = {
        name: Chain(number, shared.isdisjoint(names))
        for number, names in enumerate(sorted(nx.connected_components(graph), key=min))
        for name in names
    }
    return {key: of_name[min(names)] for key, names in changing.items()}


# What the temporary tables of a log are called.


def temporary_names(statements: Iterable[Symbolic]) -> frozenset[str]:
    """What temporary tables are called: which one a session meant is not known of a query alone."""
    return frozenset(name for one in statements for name in _temporary_names(one))


def _temporary_names(statement: Symbolic) -> Sequence[str]:
    if not isinstance(statement, RelationalStatement):
        return ()
    made = [change.name.table for change in statement.changes if change.temporary]
    written = [write.target.name.table for write in statement.writes if write.target and write.target.temporary]
    return [*made, *written]
