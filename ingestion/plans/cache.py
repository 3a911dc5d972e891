"""Plans that occur again, within an application and from one to the next: read once, and their values kept once."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from functools import cache, lru_cache
from typing import Any, TypeVar

from cachetools import LRUCache

from ingestion.analysis.symbolic import dumps
from ingestion.model.lineage import StatementLineage
from ingestion.plans._relation import Attribute
from ingestion.plans.lineage import Application, statement_lineage

T = TypeVar("T")

_REMEMBERED_CHARACTERS = 16_000_000
"""Characters of plan text that one process keeps."""

_ID = re.compile(r"#(\d+)")
_PLAN_ID = re.compile(r"plan_id=\d+")
_OF_THE_APPLICATION = (
    *("ExistingRDD", "LogicalRDD", "ExternalRDD", "Scan[obj", "InMemoryTableScan", "InMemoryRelation"),
    "In-memory table",
)
"""Rows that only earlier plans of the application explain."""

Key = tuple[object, ...]


def canonical(value: T) -> T:
    """An equal value in which everything that is equal, down to the strings, is the same object.

    Pickle writes an object once and refers to it afterwards: without this, bytes would depend on which of two equal
    names a set happened to keep.
    """
    seen: dict[Any, Any] = {}
    return _share(value, seen)  # type: ignore[no-any-return]


def _share(value: Any, seen: dict[Any, Any]) -> Any:
    kind: type = type(value)
    if kind is str:
        return seen.setdefault(value, value)
    if kind is tuple:
        parts = tuple([_share(item, seen) for item in value])
        return seen.setdefault((tuple, *map(id, parts)), parts)
    if value is None or kind is bool or isinstance(value, Enum):
        return value
    names = _field_names(kind)
    if not names:
        return seen.setdefault((kind, value), value)
    content = [_share(getattr(value, name), seen) for name in names]
    key = (kind, *map(id, content))
    if key not in seen:
        seen[key] = kind(*content)
    return seen[key]


@cache
def _field_names(kind: Hashable) -> tuple[str, ...]:
    """The fields of a dataclass; none of any other type."""
    return tuple(item.name for item in fields(kind)) if is_dataclass(kind) else ()


# Plans that were evaluated before: the same job's plan has other ids in every run, and says the same.
#
# Spark numbers the columns of an application as it meets them, so a job that runs again prints the plan that it
# printed before with other numbers. Numbered in the order in which they stand in the text, the two are equal.


@dataclass(frozen=True, slots=True)
class _CachedPlan:
    """A statement's lineage, as it is written down, and the columns that its plans made, by their renumbered ids."""

    lineage: StatementLineage | None
    written: bytes | None
    made: Mapping[int, Attribute]
    characters: int


class PlanCache:
    """The lineage of plans, evaluated once for all statements whose plans differ in nothing but their ids."""

    def __init__(self) -> None:
        self._known: LRUCache[Key, _CachedPlan] = LRUCache(_REMEMBERED_CHARACTERS, lambda plan: plan.characters)

    def lineage(
        self, descriptions: Sequence[str], application: Application, *, stream: bool = False
    ) -> tuple[StatementLineage | None, bytes | None]:
        """As `statement_lineage`, with the bytes that the lineage is written as.

        `descriptions` are the texts of an execution's plans; `stream` is whether it is a batch of a stream.
        """
        if stream or application.batch is not None or _reads_the_application(descriptions):
            return _with_bytes(statement_lineage(descriptions, application, stream=stream))
        key, ids = number_ids(descriptions, application)
        known = self._known.get(key)
        if known is None:
            characters = sum(len(part) for part in key if isinstance(part, str))
            known = self._evaluate(descriptions, application, ids, characters)
            if known.characters <= self._known.maxsize and not _depends_on_numbers(known):
                self._known[key] = known
            return known.lineage, known.written
        for number, attribute in known.made.items():
            application.remembered[ids[number]] = replace(attribute, id=ids[number])
        return known.lineage, known.written

    def _evaluate(
        self, descriptions: Sequence[str], application: Application, ids: Sequence[int], characters: int
    ) -> _CachedPlan:
        before = application.remembered
        application.remembered = {}
        try:
            lineage, content = _with_bytes(statement_lineage(descriptions, application))
            made = application.remembered
        finally:
            application.remembered = before
        before.update(made)
        numbers = {identifier: number for number, identifier in enumerate(ids)}
        by_number = {numbers[each]: made[each] for each in made if each in numbers}
        return _CachedPlan(lineage, content, by_number, characters)


def _reads_the_application(descriptions: Sequence[str]) -> bool:
    """Whether plans read rows that only earlier plans of the application explain."""
    return any(rows in description for description in descriptions for rows in _OF_THE_APPLICATION)


@lru_cache(maxsize=1)
def kept_plans(rules: str) -> PlanCache:  # noqa: ARG001 (the key of the cache)
    """The cache of this process, which Spark keeps from task to task; `rules` are those that names go by."""
    return PlanCache()


def _with_bytes(lineage: StatementLineage | None) -> tuple[StatementLineage | None, bytes | None]:
    """Lineage with the bytes that it is written as."""
    if lineage is None:
        return None, None
    same = canonical(lineage)
    return same, dumps(same)


def number_ids(descriptions: Sequence[str], application: Application) -> tuple[Key, list[int]]:
    """What tells plans apart but for their ids, and the ids in the order in which they first stand in the text."""
    names = application.names
    numbers: dict[str, int] = {}
    parts: list[object] = [application.through_views, names.warehouse, *names.catalogs.items(), *names.urls.items()]
    for description in descriptions:
        between = _ID.split(_PLAN_ID.sub("", description))
        parts.append("".join(between[::2]))
        parts.append(tuple([numbers.setdefault(each, len(numbers)) for each in between[1::2]]))
    return tuple(parts), [int(each) for each in numbers]


def _depends_on_numbers(known: _CachedPlan) -> bool:
    """Whether a name or a path has a `#` and a number in it, which is none of Spark's and was taken for one.

    A masked expression has `#?` where a function's own variables have their numbers.
    """
    return any(_ID.search(repr(part)) for part in (known.lineage, known.made))
