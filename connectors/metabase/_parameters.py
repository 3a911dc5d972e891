"""What a dashboard's parameters are about: fields that they filter its cards by, columns that they offer for a choice.

`{"card_id": 7, "target": ["dimension", ["field", 9, null]]}` is about field 9, `["dimension", ["template-tag", "day"]]`
about the field of that tag. What stands for a value in native SQL (`["variable", …]`) is about no column.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from connectors.dashboards.documents import Document, LocatedDocument, documents_in
from connectors.metabase._mbql import named_field

_OF_COLUMNS = "dimension"
_TAG = "template-tag"


@dataclass(frozen=True, slots=True)
class ParameterTarget:
    """A column that a parameter of a dashboard is about.

    `field` is the number or the position of a table's field, or the name of a column of what the `card` is made of; of
    the card itself where `offered` is set. None: what it is about is not known.
    """

    card: str
    field: object
    offered: bool = False


def parameter_targets(dashboard: Document, cards: Mapping[str, LocatedDocument]) -> Iterator[ParameterTarget]:
    """What the parameters of a dashboard are about."""
    for key in ("dashcards", "ordered_cards"):
        for position in documents_in(dashboard.get(key)):
            for mapping in documents_in(position.get("parameter_mappings")):
                card, target = str(mapping.get("card_id") or position.get("card_id")), mapping.get("target")
                if isinstance(target, list) and len(target) > 1 and target[0] == _OF_COLUMNS:
                    yield from _about(card, target[1], cards)
    for one in documents_in(dashboard.get("parameters")):
        offered = one.get("values_source_config")
        if isinstance(offered, dict) and offered.get("card_id") is not None:
            for key in ("value_field", "label_field"):
                if offered.get(key):
                    yield ParameterTarget(str(offered["card_id"]), named_field(offered[key]), offered=True)


def _about(card: str, clause: object, cards: Mapping[str, LocatedDocument]) -> Iterator[ParameterTarget]:
    if not (isinstance(clause, list) and len(clause) > 1 and clause[0] == _TAG):
        yield ParameterTarget(card, named_field(clause))
        return
    tag = _native_tags(cards[card].document).get(str(clause[1])) if card in cards else None
    if tag is None:
        yield ParameterTarget(card, None)
    elif tag.get(_OF_COLUMNS) is not None:
        yield ParameterTarget(card, named_field(tag[_OF_COLUMNS]))


def _native_tags(card: Document) -> Mapping[str, Document]:
    """The tags of a card's native query, by their names, in both forms."""
    query = card.get("dataset_query")
    given = query if isinstance(query, dict) else {}
    for one in (given.get("native"), *documents_in(given.get("stages"))):
        tags = one.get("template-tags") if isinstance(one, dict) else None
        if isinstance(tags, dict):
            return {str(name): tag for name, tag in tags.items() if isinstance(tag, dict)}
    return {}
