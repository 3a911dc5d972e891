"""What a random query's expressions may refer to, and how names are given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.differential.choices import Choices
from tests.differential.schemas import Columns


@dataclass(frozen=True)
class Flavour:
    """What a dialect has of the grammar, and how it spells it."""

    name: str
    kinds: tuple[str, ...]
    text_type: str
    hash: str
    array: tuple[str, str]  # what stands before and after the elements
    element: str  # an element of {}
    size: str  # the number of elements of {}
    semi_joins: bool = False
    lateral_views: bool = False
    lateral_aliases: bool = False
    star_except: bool = False
    qualify: bool = False
    pivots: bool = False
    if_function: bool = False
    alias_in_having: bool = False
    casts_keep_names: bool = False


SPARK = Flavour(
    "spark",
    ("int", "text", "ints", "pair"),
    "string",
    "md5({})",
    ("array(", ")"),
    "{}[0]",
    "size({})",
    semi_joins=True,
    lateral_views=True,
    lateral_aliases=True,
    star_except=True,
    qualify=True,
    pivots=True,
    if_function=True,
    alias_in_having=True,
    casts_keep_names=True,
)
POSTGRES = Flavour(
    "postgres", ("int", "text", "ints"), "text", "md5({})", ("array[", "]"), "({})[1]", "cardinality({})"
)
DUCKDB = Flavour(
    "duckdb",
    ("int", "text", "ints"),
    "text",
    "md5({})",
    ("array[", "]"),
    "({})[1]",
    "len({})",
    lateral_aliases=True,
    qualify=True,
    alias_in_having=True,
)


class Names:
    """Gives aliases: of relations, of WITH items, of outputs. Another prefix renames them all."""

    def __init__(self, prefix: str = "", *, colliding: bool = True) -> None:
        self._prefix = prefix
        self._given = 0
        self.colliding = colliding

    def fresh(self, kind: str) -> str:
        """A name that nothing else has."""
        self._given += 1
        return f"{self._prefix}{kind}{self._given}"


@dataclass(frozen=True)
class Visible:
    """A relation in FROM: how it is called, and its columns. `hidden` columns are merged into others by USING."""

    alias: str
    columns: Columns
    hidden: frozenset[str] = frozenset()


@dataclass
class Scope:
    """The relations of one SELECT; `outer` is the query around it, `common` the WITH items it can read."""

    common: Mapping[str, Columns]
    outer: Scope | None = None
    relations: list[Visible] = field(default_factory=list)
    merged: dict[str, str] = field(default_factory=dict)  # columns that USING merged, and their kinds
    aliases: list[tuple[str, str]] = field(default_factory=list)  # outputs so far that later ones may use

    def names(self) -> Columns:
        """The columns that a star gives, in no particular order."""
        own = [(name, kind) for r in self.relations for name, kind in r.columns if name not in r.hidden]
        return (*self.merged.items(), *(column for column in own if column[0] not in self.merged))

    def references(self, kind: str) -> list[str]:
        """How columns of a kind can be referred to, with a prefix or, where that is certain, without one."""
        counts = Counter(name for name, _ in self.names())
        found = [name for name, of in self.names() if of == kind and counts[name] == 1]
        for relation in self.relations:
            own = Counter(name for name, _ in relation.columns)
            found += [f"{relation.alias}.{name}" for name, of in relation.columns if of == kind and own[name] == 1]
        return found

    def outer_references(self, kind: str) -> list[str]:
        """Columns of the queries around that no column here hides."""
        if self.outer is None:
            return []
        here = {relation.alias for relation in self.relations}
        return [
            f"{relation.alias}.{name}"
            for relation in self.outer.relations
            for name, of in relation.columns
            if of == kind and relation.alias not in here and [n for n, _ in relation.columns].count(name) == 1
        ]


def column(choices: Choices, scope: Scope, kind: str) -> str | None:
    """A reference to a column of a kind; now and then to one of the query around."""
    outside = scope.outer_references(kind)
    if outside and choices.happens(25):
        return choices.one_of(outside)
    found = scope.references(kind)
    return choices.one_of(found) if found else None
