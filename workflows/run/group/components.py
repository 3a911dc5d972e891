"""Which occurrences of a log hang together: what is bound, resolved and published apart from all others."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field

from networkx.utils import UnionFind

from ingestion.analysis.analyzer import CREATING_KINDS
from ingestion.binding.name_states import own_name
from ingestion.model.lineage import NameKind, StatementKind, TableName, TableUsageNames
from ingestion.model.namespaces import Mention, Namespace, NamespaceDefaults, candidates
from ingestion.model.outcomes import Outcome
from ingestion.resolution import FoundBy, Resolution, Resolved, Resolver, Unresolved
from workflows.run.group.occurrences import GroupedRuns

Mentions = Mapping[str, Set[Mention]]
"""By own name, the ways in which it is said."""
_ASKED_AT_ONCE = 250
_LIGHTER = 4
"""How many times smaller a shard is that waits in a file: packing it takes memory of its own."""


@dataclass(frozen=True, slots=True)
class MentionedNames:
    """The names of templates (by fingerprint). `widen`: those that show columns of what they write, None for any."""

    names: Mapping[str, TableUsageNames]
    widen: Collection[str] | None


def shards_of(
    runs: GroupedRuns,
    mentioned: MentionedNames,
    most: int,
    doubtful_names: Callable[[Mentions], Collection[str]],
    defaults: NamespaceDefaults,
) -> list[list[int]]:
    """The numbers of all occurrences: of at most so many templates one shard, of more several; no component is parted.

    `doubtful_names` tells which of the names that nothing in the log makes stand where the catalog cannot tell.
    """
    if is_one_shard(runs, most):
        return [list(range(len(runs)))]
    templates = set(runs.templates)
    names = mentioned.names
    bonds = _bonds(mentioned, templates)
    mentions_by_name = _contested_names(runs, names, bonds.made, defaults)
    bonds.made.update(doubtful_names(mentions_by_name))
    joined: UnionFind[tuple[str, str]] = UnionFind()
    for template in templates:
        joined.union(("template", template), *bonds.of(template))
    for number, routine in runs.routines.items():
        joined.union(("template", runs.templates[number]), ("routine", routine))
    return list(_pack(runs, joined, most_of_several(most)))


def is_one_shard(runs: GroupedRuns, most: int) -> bool:
    """Whether a log has so few templates that nothing of it is parted, if one shard may have so many."""
    return len(set(runs.templates)) <= most


def most_of_several(most: int) -> int:
    """How many templates one of several shards has at most, if one alone has so many."""
    return max(1, most // _LIGHTER)


def doubtful_names_by(resolver: Resolver) -> Callable[[Mentions], Collection[str]]:
    """What tells of which names it does matter who said them first, by the catalog behind `resolver`.

    It does not where each way of saying it leads to the first place that a session looks in, since the catalog has a
    table there; nor where it can mean one place alone and the catalog has nothing for it. The answer raises TargetDown.
    """

    def doubtful_names(mentions_by_name: Mentions) -> Collection[str]:
        ways = [(own, mention) for own, mentions in mentions_by_name.items() for mention in sorted(mentions, key=repr)]
        found = set[str]()
        for start in range(0, len(ways), _ASKED_AT_ONCE):
            some = ways[start : start + _ASKED_AT_ONCE]
            there = resolver.resolve_all(candidates(*mention)[0].mention for _own, mention in some)
            by_name = resolver.resolve_all(mention for _own, mention in some)
            for (own, mention), location, meant in zip(some, there, by_name, strict=True):
                alone = len(candidates(*mention)) == 1
                if not (_is_sure(location) or (alone and _is_missing(location) and _is_missing(meant))):
                    found.add(own)
        return found

    return doubtful_names


def _is_sure(found: Resolution) -> bool:
    return isinstance(found, Resolved) and found.found_by is not FoundBy.ONLY_ONE


def _is_missing(found: Resolution) -> bool:
    return isinstance(found, Unresolved) and found.reason is not Outcome.RESOLUTION_FAILED


@dataclass(frozen=True, slots=True)
class _Bonds:
    """The own names that something in the log makes, alters, moves or ends: whoever says them hangs together.

    `names` and `written`: the own names that each template (by fingerprint) mentions, and those that it writes.
    """

    made: set[str] = field(default_factory=set)
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    written: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def of(self, template: str) -> Iterator[tuple[str, str]]:
        """What joins a template with others."""
        yield from (("made", name) for name in self.names.get(template, ()) if name in self.made)
        yield from (("written", name) for name in self.written.get(template, ()))


def _bonds(mentioned: MentionedNames, templates: Collection[str]) -> _Bonds:
    bonds = _Bonds()
    for template in mentioned.names:  # in the order in which they can be read together
        if template in templates:
            found = mentioned.names[template]
            written = tuple(sys.intern(_own(name)) for name, _temporary, _mode in found.written)
            bonds.names[template] = tuple(sys.intern(_own(name)) for name in found.names())
            bonds.written[template] = written
            bonds.made.update(map(_own, _made_names(found)))
            if mentioned.widen is None or template in mentioned.widen:
                bonds.made.update(written)
    return bonds


def _made_names(names: TableUsageNames) -> Iterator[TableName]:
    yield from (name for name, _temporary in names.created)
    for change in names.changes:
        if change.kind is StatementKind.TRUNCATE:
            continue
        yield change.name
        if change.other is not None and change.kind not in CREATING_KINDS:
            yield change.other


def _contested_names(
    runs: GroupedRuns, names: Mapping[str, TableUsageNames], made: Collection[str], defaults: NamespaceDefaults
) -> Mentions:
    """The names that nothing in the log makes and that are said in several ways which may mean one place."""
    mentions_by_name: dict[str, set[Mention]] = {}
    searched: dict[str, tuple[Namespace, ...]] = {}
    namespaces = {location: defaults.namespace(*location) for location in set(runs.namespaces)}
    for number, template in enumerate(runs.templates):
        namespace, known = namespaces[runs.namespaces[number]], searched.get(template, ())
        if namespace not in known:
            searched[template] = (*known, namespace)
    for template in names:  # in the order in which they can be read together
        for name in names[template].names() if template in searched else ():
            own = _own(name)
            if own not in made and name.kind is not NameKind.FUNCTION:
                mentions_by_name.setdefault(own, set()).update((name, one) for one in searched[template])
    return {own: mentions for own, mentions in mentions_by_name.items() if _overlap(mentions)}


def _overlap(mentions: Iterable[Mention]) -> bool:
    """Whether two of them may mean one place."""
    locations = [candidates(*mention) for mention in mentions]
    return len({location for found in locations for location in found}) < sum(map(len, locations))


def _pack(runs: GroupedRuns, joined: UnionFind[tuple[str, str]], most: int) -> Iterator[list[int]]:
    """The components in the order in which they begin, as many in a shard as it takes."""
    components: dict[object, list[int]] = {}
    for number in runs.in_time_order():
        components.setdefault(joined["template", runs.templates[number]], []).append(number)
    shard: list[int] = []
    held = 0
    for component in components.values():
        size = len({runs.templates[number] for number in component})
        if shard and held + size > most:
            yield shard
            shard, held = [], 0
        shard += component
        held += size
    if shard:
        yield shard


def _own(name: TableName) -> str:
    return own_name(name).casefold()
