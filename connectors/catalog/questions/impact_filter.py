"""What of everything downstream is asked for: by degree, owner, tag, tier, type, service, schema, or how it is tied."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from ingestion.errors import ConfigError
from ingestion.model import fqn

_TIER = "Tier."
_FAR = 3
"""From so many hops on there is one degree for all."""
_WITH_SCHEMA = frozenset({"table", "view"})
MOST_ASKED = 100
"""Values in one question."""


class Facet(StrEnum):
    """What can be asked of something downstream."""

    DEGREE = "degree"
    HOW = "how"
    OWNER = "owner"
    TAG = "tag"
    TIER = "tier"
    TYPE = "type"
    SERVICE = "service"
    SCHEMA = "schema"


FacetCounts = Mapping[Facet, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class Labelled:
    """What something downstream can be chosen by; its tags are its own and those of its table."""

    table: str
    kind: str
    hops: int
    strength: str
    owners: tuple[str, ...]
    tags: tuple[str, ...]


def _schemas(one: Labelled) -> tuple[str, ...]:
    return (".".join(fqn.split(one.table)[:-1]),) if one.kind in _WITH_SCHEMA else ()


_VALUES: Mapping[Facet, Callable[[Labelled], Sequence[str]]] = {
    Facet.DEGREE: lambda one: (f"{_FAR}+" if one.hops >= _FAR else str(one.hops),),
    Facet.HOW: lambda one: (one.strength,),
    Facet.OWNER: lambda one: one.owners,
    Facet.TAG: lambda one: tuple(tag for tag in one.tags if not tag.startswith(_TIER)),
    Facet.TIER: lambda one: tuple(tag.removeprefix(_TIER) for tag in one.tags if tag.startswith(_TIER)),
    Facet.TYPE: lambda one: (one.kind,),
    Facet.SERVICE: lambda one: (fqn.decode_name(fqn.split(one.table)[0]),),
    Facet.SCHEMA: _schemas,
}


@dataclass(frozen=True, slots=True)
class ImpactFilter:
    """At most so many hops away (`depth`, 0: any number), with `direct` only what gets values; and `only` such values.

    Of several values of one facet one is enough; of several facets all have to fit.
    """

    depth: int = 0
    direct: bool = False
    only: tuple[tuple[Facet, frozenset[str]], ...] = ()

    @classmethod
    def of(cls, depth: int = 0, *, direct: bool = False, only: Iterable[str] = ()) -> Self:
        """The same, `only` from words such as `owner:ann`, `degree:1`. Raises ConfigError for one that asks nothing."""
        asked: dict[Facet, set[str]] = {}
        for word in only:
            name, colon, value = word.partition(":")
            if name not in _FACETS or not colon or not value:
                raise ConfigError(f"cannot choose by {word!r}: give {', '.join(f'{one}:…' for one in Facet)}")
            facet = Facet(name)
            if facet is Facet.DEGREE and value not in _DEGREES:
                raise ConfigError(f"a degree is one of {', '.join(_DEGREES)}: {word!r} is none")
            asked.setdefault(facet, set()).add(value.casefold())
        if sum(map(len, asked.values())) > MOST_ASKED:
            raise ConfigError(f"more than {MOST_ASKED} values are asked for at once")
        return cls(depth, direct, tuple((facet, frozenset(asked[facet])) for facet in Facet if facet in asked))

    def words(self) -> tuple[str, ...]:
        """What is asked for by values, in small letters, as they are compared."""
        return tuple(f"{facet}:{value}" for facet, values in self.only for value in sorted(values))


_FACETS = frozenset(map(str, Facet))
_DEGREES = (*map(str, range(1, _FAR)), f"{_FAR}+")


def fits(one: Labelled, asked: ImpactFilter) -> bool:
    """Whether something is asked for."""
    return _is_near(one, asked) and not _misses(one, asked)


def _is_near(one: Labelled, asked: ImpactFilter) -> bool:
    return (not asked.depth or one.hops <= asked.depth) and (not asked.direct or one.strength == "direct")


def _misses(one: Labelled, asked: ImpactFilter) -> set[Facet]:
    """The facets of which it has no value that is asked for."""
    return {facet for facet, wanted in asked.only if not _has(facet, _VALUES[facet](one), wanted)}


def _has(facet: Facet, values: Sequence[str], wanted: frozenset[str]) -> bool:
    """Whether one of the values is wanted; a schema is by the end of its name too, a tag by its classification."""
    for value in map(str.casefold, values):
        if value in wanted:
            return True
        if facet is Facet.SCHEMA and any(value.endswith(f".{one}") for one in wanted):
            return True
        if facet is Facet.TAG and any(value.startswith(f"{one}.") for one in wanted):
            return True
    return False


def facet_counts(every: Iterable[Labelled], asked: ImpactFilter) -> FacetCounts:
    """How many have each value of each facet, the most frequent first, of those that fit what else is asked for.

    What is alike is looked at once, as the columns of a table mostly are; a counter of things is as good as them all.
    """
    counts: dict[Facet, Counter[str]] = {facet: Counter() for facet in Facet}
    for one, number in Counter(every).items():
        missed = _misses(one, asked) if _is_near(one, asked) else set(Facet)
        for facet, counted in counts.items():
            if missed <= {facet}:
                counted.update(dict.fromkeys(_VALUES[facet](one), number))
    return {facet: dict(_in_order(facet, counted)) for facet, counted in counts.items()}


def _in_order(facet: Facet, counted: Counter[str]) -> list[tuple[str, int]]:
    if facet is Facet.DEGREE:
        return sorted(counted.items())
    return sorted(counted.items(), key=lambda one: (-one[1], one[0]))
