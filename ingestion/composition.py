"""How two steps of lineage make one: a reference to a folded relation's column becomes what that was read from."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from ingestion.model import LineageType, StarOutput, Subtype, Transformation

EXPRESSION_LIMIT = 2000
"""Characters of a composed expression; a longer one is left out, since it would explain nothing."""

_DIRECT_RANK = {Subtype.IDENTITY: 0, Subtype.TRANSFORMATION: 1, Subtype.AGGREGATION: 2}


@dataclass(frozen=True, slots=True, order=True)
class RelationColumn:
    """A column of a relation, by the relation's number in its log."""

    relation: int
    column: str


@dataclass(frozen=True, slots=True)
class RelationReference:
    """A use of source data over relations; when it is not certain, `sources` are candidates."""

    sources: tuple[RelationColumn, ...]
    transformation: Transformation
    expression: str = ""
    certain: bool = True


@dataclass(frozen=True, slots=True)
class Content:
    """What a flow brings, or a folding relation holds.

    `hops` are the reads that led through folded relations, `via` the statements that took part (by number), `depth`
    the longest chain of folded relations behind it, `stars` the relations whose columns are not known yet.
    """

    columns: dict[str, frozenset[RelationReference]]
    indirect: frozenset[RelationReference]
    sources: frozenset[int]
    hops: frozenset[tuple[int, int]]
    via: frozenset[int]
    depth: int
    stars: tuple[tuple[int, StarOutput], ...] = ()
    assumed: frozenset[str] = frozenset()


EMPTY = Content({}, frozenset(), frozenset(), frozenset(), frozenset(), 0)


def merge_contents(contents: Iterable[Content]) -> Content:
    """The union: what a relation holds after several writes."""
    columns: dict[str, frozenset[RelationReference]] = {}
    merged = EMPTY
    for content in contents:
        for name, references in content.columns.items():
            columns[name] = columns.get(name, frozenset()) | references
        merged = Content(
            columns,
            merged.indirect | content.indirect,
            merged.sources | content.sources,
            merged.hops | content.hops,
            merged.via | content.via,
            max(merged.depth, content.depth),
            tuple(dict.fromkeys((*merged.stars, *content.stars))),
            merged.assumed | content.assumed,
        )
    return merged


def read_through(content: Content, relation: int, held: Content, target: int) -> Content:
    """`content` with its reads of a folded `relation` replaced by reads of what the relation `held`."""
    columns: dict[str, frozenset[RelationReference]] = {}
    for name, references in content.columns.items():
        columns[name] = frozenset(new for reference in references for new in _through(reference, relation, held))
    stars: list[tuple[int, StarOutput]] = []
    for starred, star in content.stars:
        if starred != relation:
            stars.append((starred, star))
            continue
        _expand(star, held, columns, stars)
    indirect = frozenset(new for reference in content.indirect for new in _through(reference, relation, held))
    return Content(
        columns,
        indirect | held.indirect,
        (content.sources - {relation}) | held.sources,
        content.hops | held.hops | {(source, relation) for source in held.sources} | {(relation, target)},
        content.via | held.via,
        max(content.depth, held.depth + 1),
        tuple(stars),
        content.assumed,
    )


def _expand(
    star: StarOutput,
    held: Content,
    columns: dict[str, frozenset[RelationReference]],
    stars: list[tuple[int, StarOutput]],
) -> None:
    renamed = dict(star.renamed)
    for name, references in held.columns.items():
        if name not in star.excluded:
            columns[renamed.get(name, name)] = columns.get(renamed.get(name, name), frozenset()) | references
    for relation, inner in held.stars:
        # One star over another: what either leaves out is left out, the outer names win.
        excluded = (*inner.excluded, *star.excluded)
        stars.append((relation, replace(inner, excluded=excluded, renamed=(*inner.renamed, *star.renamed))))


def _through(reference: RelationReference, relation: int, held: Content) -> Iterable[RelationReference]:
    if all(source.relation != relation for source in reference.sources):
        yield reference
        return
    if not reference.certain:
        yield from _through_ambiguous(reference, relation, held)
        return
    column = reference.sources[0].column
    known = held.columns.get(column)
    if known is None:
        starred = tuple(
            sorted(RelationColumn(number, column) for number, star in held.stars if column not in star.excluded)
        )
        if starred:
            yield replace(reference, sources=starred, certain=len(starred) == 1)
        return
    for inner in known:
        yield compose(reference, column, inner)


def _through_ambiguous(reference: RelationReference, relation: int, held: Content) -> Iterable[RelationReference]:
    sources: set[RelationColumn] = set()
    for source in reference.sources:
        if source.relation != relation:
            sources.add(source)
            continue
        for inner in held.columns.get(source.column, frozenset()):
            sources.update(inner.sources)
    if sources:
        # Candidates stay candidates: that one is left over is no proof of where the value came from.
        yield replace(reference, sources=tuple(sorted(sources)), certain=False)


def compose(outer: RelationReference, column: str, inner: RelationReference) -> RelationReference:
    """`outer` reads `column` of a folded relation, which `inner` filled: the reference that skips it.

    DIRECT steps keep the strongest subtype (AGGREGATION over TRANSFORMATION over IDENTITY); an INDIRECT step makes
    the whole INDIRECT, with the outermost INDIRECT step's subtype; masking once is masking for good.
    """
    first, second = inner.transformation, outer.transformation
    masking = first.masking or second.masking
    if second.type is LineageType.INDIRECT:
        subtype = second.subtype
    elif first.type is LineageType.INDIRECT:
        subtype = first.subtype
    else:
        subtype = max(first.subtype, second.subtype, key=lambda s: _DIRECT_RANK[s])
    return RelationReference(inner.sources, Transformation(subtype, masking), _compose_text(outer, column, inner))


def _compose_text(outer: RelationReference, column: str, inner: RelationReference) -> str:
    if not outer.expression:
        return inner.expression
    if not inner.expression:
        return outer.expression
    named = re.compile(rf"(?:[\w$#@\"`]+\.)*[\"`]?\b{re.escape(column)}\b[\"`]?", re.IGNORECASE)
    text = named.sub(lambda _match: f"({inner.expression})", outer.expression)
    return text if len(text) <= EXPRESSION_LIMIT else ""
