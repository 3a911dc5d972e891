"""In which order statements are bound: what makes a relation before whatever reads it, wherever the log has them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import networkx as nx

from ingestion.binding.relations import Relation
from ingestion.binding.timeline import Timeline


def creators_in_dependency_order(timeline: Timeline) -> list[int]:
    """Numbers of the occurrences that create relations, each after those whose relations it reads."""
    relations = timeline.relations
    creators = sorted({r.creator for r in relations if r.creator is not None})
    if len(creators) < 2:
        return creators
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(creators)
    for number in list(graph):
        for relation in timeline.meanings[number].values():
            behind = _creators_behind(timeline, relations[relation])
            graph.add_edges_from((dependency, number) for dependency in behind)
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    condensed = nx.condensation(graph)
    members: dict[int, set[int]] = nx.get_node_attributes(condensed, "members")
    components = nx.lexicographical_topological_sort(condensed, key=lambda c: min(members[c]))
    order = [number for component in components for number in sorted(members[component])]
    clear_graphs(graph, condensed)
    return order


def clear_graphs(*graphs: nx.DiGraph[Any]) -> None:
    """Empties graphs that nobody needs any more: NetworkX's views of one refer back to it, and keep all of it."""
    for graph in graphs:
        graph.clear()


def _creators_behind(timeline: Timeline, relation: Relation) -> list[int]:
    behind = [relation.creator] if relation.creator is not None else []
    if relation.like is not None:
        like = timeline.relations[relation.like].creator
        behind += [like] if like is not None else []
    return behind


def levels(timeline: Timeline, widened_relations: Callable[[int], Collection[int]]) -> list[list[int]]:
    """All occurrences (by number) in levels: bound level by level, each finds what it finds when they are bound one
    after the other, those that create something first, and on one level none finds what another shows.

    `widened_relations`: the relations (by number) of which an occurrence shows columns though it does not make them.
    """
    creators = creators_in_dependency_order(timeline)
    made = frozenset(creators)
    found: list[list[int]] = []
    shown: dict[int, int] = {}
    read: dict[int, int] = {}
    for number in (*creators, *(number for number in range(len(timeline.meanings)) if number not in made)):
        meaning = set(timeline.meanings[number].values())
        reads = set(_behind(timeline.relations, meaning))
        shows = {one for one in meaning if timeline.relations[one].creator == number}.union(widened_relations(number))
        before = [shown[one] for one in reads if one in shown] + [read[one] for one in shows if one in read]
        level = max(before, default=-1) + 1
        if level == len(found):
            found.append([])
        found[level].append(number)
        shown.update((one, max(level, shown.get(one, 0))) for one in shows)
        read.update((one, max(level, read.get(one, 0))) for one in reads)
    return found


def _behind(relations: Sequence[Relation], numbers: Collection[int]) -> Iterator[int]:
    """The relations whose columns tell those of some: these themselves, and what they are LIKE."""
    for number in numbers:
        one: int | None = number
        seen = set[int]()
        while one is not None and one not in seen:
            seen.add(one)
            yield one
            one = relations[one].like
