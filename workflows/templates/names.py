"""Which names of a log's templates change what they mean while it goes by, and which of them belong together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

import networkx as nx

from ingestion.binding.name_states import ChangingNames, own_name
from ingestion.binding.statement_names import CREATING_KINDS, TableUsageNames, mentions
from ingestion.isolation import FailureStage, Isolation
from ingestion.model import StatementKind
from workflows.templates.parsing import ParsedTemplate

_MOVING_KINDS = frozenset({StatementKind.ALTER_TABLE, StatementKind.RENAME, StatementKind.SWAP})


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


def names_of(templates: Collection[ParsedTemplate], isolation: Isolation[str]) -> TemplateNames:
    """The changing names of all templates that were parsed.

    `isolation` gets the templates (by fingerprint) whose names cannot be read off.
    """
    mentioned: dict[str, TableUsageNames] = {}
    for template in templates:
        if template.symbolic is not None:
            with isolation.around(FailureStage.ANALYSIS, template.fingerprint):
                isolation.probe(FailureStage.ANALYSIS, template)
                mentioned[template.fingerprint] = mentions(template.symbolic)
    return changing_names(mentioned)


def changing_names(mentioned: Mapping[str, TableUsageNames]) -> TemplateNames:
    """The changing ones of the names that templates (by fingerprint) mention.

    Such a name is temporary, or altered, or made and ended in several ways, or made from another such name.
    """
    own = {key: frozenset(map(own_name, names.names())) for key, names in mentioned.items()}
    made: defaultdict[str, set[str]] = defaultdict(set)
    temporary, changing = set[str](), set[str]()
    for key, names in mentioned.items():
        temporary.update(own_name(name) for name, is_temporary in names.created if is_temporary)
        for name, altered in _definitions(names):
            made[name].add(key)
            if altered:
                changing.add(name)
    changing |= temporary | {name for name, by in made.items() if len(by) > 1}
    changing |= _dependents(changing, made, own)
    found = {key: names for key, names in mentioned.items() if not own[key].isdisjoint(changing)}
    chains = _chains({key: own[key] & changing for key in found}, _shared_names(found, temporary))
    return TemplateNames(found, ChangingNames(frozenset(changing), frozenset(temporary)), chains)


def _definitions(names: TableUsageNames) -> Iterator[tuple[str, bool]]:
    """The names that a statement makes, ends or alters, and whether it alters them."""
    yield from ((own_name(name), False) for name, _temporary in names.created)
    for change in names.changes:
        if change.kind not in CREATING_KINDS:
            yield own_name(change.name), change.kind is StatementKind.ALTER_TABLE
            if change.other is not None:
                yield own_name(change.other), False


def _dependents(changing: set[str], made: Mapping[str, set[str]], own: Mapping[str, frozenset[str]]) -> set[str]:
    """The names that are made from these, directly or through others."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(changing)
    graph.add_edges_from((source, name) for name, by in made.items() for key in by for source in own[key])
    return {name for start in [*changing] for name in nx.descendants(graph, start)}


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


def _chains(changing: Mapping[str, frozenset[str]], shared: set[str]) -> dict[str, Chain]:
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
