"""The algebra of roles: what a column is to a result, through any number of steps and along any number of ways.

A role is one of the facet's subtypes, plus MASKING. Roles are integers because the analysis composes millions of them;
`TRANSFORMATIONS` gives the vocabulary's value for each. There are two operations, for all that combines lineage (the
analysis of a statement, Spark's plans, reads through temporary tables): COMPOSED for one step after another, in
`SELECT SUM(x) FROM (SELECT HASH(a) AS x FROM t)` the role of a, and `unite_roles` for two ways to one value, in
`SELECT SUM(a) + a FROM t`.
"""

from __future__ import annotations

from ingestion.dialects.functions import ArgumentUse, Effect
from ingestion.model.lineage import Subtype, Transformation

IDENTITY, TRANSFORMATION, AGGREGATION, JOIN, GROUP_BY, FILTER, SORT, WINDOW, CONDITIONAL = range(9)
MASKING = 16
ROLES = 32

_SUBTYPES = (
    Subtype.IDENTITY,
    Subtype.TRANSFORMATION,
    Subtype.AGGREGATION,
    Subtype.JOIN,
    Subtype.GROUP_BY,
    Subtype.FILTER,
    Subtype.SORT,
    Subtype.WINDOW,
    Subtype.CONDITIONAL,
)

TRANSFORMATIONS: tuple[Transformation, ...] = tuple(
    Transformation(_SUBTYPES[min(role & 15, len(_SUBTYPES) - 1)], bool(role & MASKING)) for role in range(ROLES)
)
"""The transformation of each role (numbers that are no role repeat the last)."""
_ROLE_OF = {TRANSFORMATIONS[role | mark]: role | mark for mark in (0, MASKING) for role in range(len(_SUBTYPES))}

ARGUMENT_ROLES = {
    ArgumentUse.VALUE: IDENTITY,
    ArgumentUse.BOTH: IDENTITY,
    ArgumentUse.CONDITION: CONDITIONAL,
    ArgumentUse.ORDER: SORT,
}
"""What an argument is to the value that its function makes; one that is BOTH is CONDITIONAL as well."""

ATOM = 10
"""The precedence of what needs no brackets anywhere."""


def is_direct(role: int) -> bool:
    """Whether the value itself flows, rather than only having a say in it."""
    return role & 15 <= AGGREGATION


def _compose(outer: int, inner: int) -> int:
    masking = (outer | inner) & MASKING
    if not is_direct(outer):
        return outer & 15 | masking
    if not is_direct(inner):
        return inner & 15 | masking
    return max(outer & 15, inner & 15) | masking


COMPOSED: tuple[tuple[int, ...], ...] = tuple(
    tuple(_compose(outer, inner) for inner in range(ROLES)) for outer in range(ROLES)
)
"""`COMPOSED[outer][inner]`: what a column is to a result when it plays `inner` in a value that plays `outer`.

An indirect use of a value is an indirect use of all that made it; a direct use of a value keeps what was indirect, and
of two direct roles the stronger stays (IDENTITY, TRANSFORMATION, AGGREGATION). Masking once is masking for good.
"""


def role_of(transformation: Transformation) -> int:
    """The role whose transformation this is."""
    return _ROLE_OF[transformation]


def compose_transformations(outer: Transformation, inner: Transformation) -> Transformation:
    """COMPOSED for two transformations: `outer` reads what `inner` made."""
    return TRANSFORMATIONS[COMPOSED[_ROLE_OF[outer]][_ROLE_OF[inner]]]


def unite_roles(one: int, other: int) -> int:
    """What a column is to a value that it flows into along two direct ways: the stronger, masked if either is."""
    return max(one & 15, other & 15) | (one | other) & MASKING


TRANSFORMED = tuple(row[TRANSFORMATION] for row in COMPOSED)
"""The role of what goes into a function whose result has the given role."""
AGGREGATED = tuple(row[AGGREGATION] for row in COMPOSED)
"""The role of what goes into an aggregate whose result has the given role."""

ARGUMENTS: dict[Effect, tuple[int, ...]] = {
    Effect.VALUE: TRANSFORMED,
    Effect.AGGREGATE: AGGREGATED,
    Effect.COUNT: tuple(row[AGGREGATION | MASKING] for row in COMPOSED),
    Effect.HASH: tuple(row[TRANSFORMATION | MASKING] for row in COMPOSED),
    Effect.GROUPING: tuple(row[GROUP_BY] for row in COMPOSED),
    Effect.ORDER: tuple(row[WINDOW] for row in COMPOSED),
}
"""`ARGUMENTS[effect][role]`: what an argument of a function of that effect is to a result that plays `role`."""
