"""Frozen dataclasses with an `__init__` that is not the one that Python writes for them."""

from __future__ import annotations

import inspect
from dataclasses import FrozenInstanceError, dataclass, field, replace

import pytest

from ingestion.model.quick_init import with_quick_init


@with_quick_init
@dataclass(frozen=True, slots=True)
class Quick:
    """Two that must be given, and two that need not be."""

    first: int
    second: str
    third: tuple[int, ...] = ()
    fourth: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Plain:
    """The same."""

    first: int
    second: str
    third: tuple[int, ...] = ()
    fourth: str = field(default="", compare=False)


def test_it_is_made_and_told_apart_as_any_other() -> None:
    made = Quick(1, second="a", fourth="said")
    assert made == Quick(1, "a", (), "said otherwise")
    assert made != replace(made, third=(2,))
    assert hash(made) == hash(Quick(1, "a"))
    assert repr(made) == repr(Plain(1, "a", fourth="said")).replace("Plain", "Quick")
    assert str(inspect.signature(Quick)) == str(inspect.signature(Plain))


def test_it_stays_frozen() -> None:
    made = Quick(1, "a")
    with pytest.raises(FrozenInstanceError):
        made.first = 2  # type: ignore[misc]


def test_what_is_missing_is_told_as_of_any_other() -> None:
    with pytest.raises(TypeError, match=r"Quick\.__init__\(\) missing 1 required positional argument: 'second'"):
        Quick(1)  # type: ignore[call-arg]


def test_a_class_that_does_more_than_to_take_its_fields_is_refused() -> None:
    @dataclass(frozen=True, slots=True)
    class Listing:
        items: list[int] = field(default_factory=list)

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Named:
        first: int

    @dataclass(frozen=True)
    class Slotless:
        first: int

    for kind in (Listing, Named, Slotless):
        with pytest.raises(TypeError, match=f"{kind.__name__} does more"):
            with_quick_init(kind)
