"""Loads of other sizes than those before them."""

from __future__ import annotations

from connectors.catalog.questions.why._incidents import unusual_sizes
from connectors.catalog.questions.why.facts import IncidentKind
from connectors.catalog.store.evidence.loads import StoredLoad


class Counted(int):
    """A number that counts how often one of its kind is compared."""

    compared = 0

    def __lt__(self, other: int) -> bool:
        Counted.compared += 1
        return int(self) < int(other)

    def __gt__(self, other: int) -> bool:
        Counted.compared += 1
        return int(self) > int(other)


def loads(*rows: int) -> list[StoredLoad]:
    return [StoredLoad("t", number, failed=False, rows=one, job="", producer="j") for number, one in enumerate(rows)]


def test_each_load_is_compared_with_all_before_it() -> None:
    found = [(one.at, one.kind, one.detail) for one in unusual_sizes("t", loads(10, 12, 11, 60, 8, 50, 5))]
    assert found == [
        (3, IncidentKind.MORE_ROWS, "60 rows, before it 10 to 12"),
        (6, IncidentKind.FEWER_ROWS, "5 rows, before it 8 to 60"),
    ]
    assert list(unusual_sizes("t", loads(10, 90))) == []
    assert list(unusual_sizes("t", [])) == []


def test_a_long_history_is_not_gone_through_for_each_of_its_loads() -> None:
    Counted.compared = 0
    assert list(unusual_sizes("t", loads(*[Counted(7)] * 1000))) == []
    assert Counted.compared < 10 * 1000
