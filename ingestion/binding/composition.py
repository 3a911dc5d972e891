"""How two steps of lineage make one: a reference to a folded relation's column becomes what that was read from."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
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
class FlowSources:
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


EMPTY = FlowSources({}, frozenset(), frozenset(), frozenset(), frozenset(), 0)


def merge_contents(contents: Iterable[FlowSources]) -> FlowSources:
    """The union: what a relation holds after several writes."""
    columns: dict[str, frozenset[RelationReference]] = {}
    merged = EMPTY
    for content in contents:
        for name, references in content.columns.items():
            columns[name] = columns.get(name, frozenset()) | references
        merged = FlowSources(
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


@dataclass(frozen=True, slots=True)
class InlinedTables:
    """A relation that folds: what it held when it was read; `name_of` gives a relation's name for people."""

    relation: int
    held: FlowSources
    name_of: Callable[[int], str]


def read_through(content: FlowSources, folded: InlinedTables) -> FlowSources:
    """`content` with its reads of a folded relation replaced by reads of what that relation held.

    Where n was filled by `SELECT UPPER(a) AS x FROM s`, `SELECT x FROM n` reads s.a, transformed.
    """
    relation, held = folded.relation, folded.held
    columns: dict[str, frozenset[RelationReference]] = {}
    for name, references in content.columns.items():
        columns[name] = frozenset(new for reference in references for new in _through(reference, folded))
    stars: list[tuple[int, StarOutput]] = []
    for starred, star in content.stars:
        if starred != relation:
            stars.append((starred, star))
            continue
        _expand(star, held, columns, stars)
    indirect = frozenset(new for reference in content.indirect for new in _through(reference, folded))
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


def _expand(
    star: StarOutput,
    held: FlowSources,
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


def _through(reference: RelationReference, folded: InlinedTables) -> Iterable[RelationReference]:
    relation, held = folded.relation, folded.held
    if all(source.relation != relation for source in reference.sources):
        yield reference
        return
    if not reference.certain:
        yield from _through_ambiguous(reference, folded)
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
        yield compose(reference, column, inner, folded.name_of)


def _through_ambiguous(reference: RelationReference, folded: InlinedTables) -> Iterable[RelationReference]:
    sources: set[RelationColumn] = set()
    for source in reference.sources:
        if source.relation != folded.relation:
            sources.add(source)
            continue
        for inner in folded.held.columns.get(source.column, frozenset()):
            sources.update(inner.sources)
    if sources:
        # Candidates stay candidates: that one is left over is no proof of where the value came from.
        yield replace(reference, sources=tuple(sorted(sources)), certain=False)


def compose(
    outer: RelationReference, column: str, inner: RelationReference, name_of: Callable[[int], str]
) -> RelationReference:
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
    text = _composed_text(outer.expression, column, _text_of(inner, name_of))
    return RelationReference(inner.sources, Transformation(subtype, masking), text, inner.certain and outer.certain)


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
    return text if len(text) <= EXPRESSION_LIMIT else ""


def _fit(match: re.Match[str], inner: str) -> str:
    """Without its brackets where the place has brackets or commas of its own."""
    before, after = match.string[match.start() - 1 : match.start()], match.string[match.end() : match.end() + 1]
    return inner[1:-1] if inner.startswith("(") and before == "(" and after in (")", ",") else inner
