"""What an expression holds at any depth: its slots, those of the values behind its fields among them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ingestion.relational.form import AnySlot, Expression, FieldSlot, Projection, Select, Star


def all_slots(expressions: Iterable[Expression]) -> Iterator[AnySlot]:
    """Every slot of the expressions; a field's slot is followed by those of the value that it is inside of."""
    for expression in expressions:
        for slot in expression.slots:
            yield slot
            if type(slot) is FieldSlot:
                yield from all_slots((slot.value,))


def projected_expressions(select: Select) -> Iterator[Expression]:
    """The expressions of a select list, those of REPLACE and of a value before `.*` among them."""
    for item in select.projections:
        if isinstance(item, Projection):
            yield item.expression
        else:
            yield from _star_expressions(item)


def _star_expressions(star: Star) -> Iterator[Expression]:
    """The expressions of a star."""
    yield from (replaced.expression for replaced in star.replaced)
    if star.value is not None:
        yield star.value
