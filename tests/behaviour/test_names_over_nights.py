"""Whatever the order of DDL in a night: after each run the catalog says what the names now hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.nights import Names, growing, in_one_run, random_nights, records_of, side_by_side, standing_after

_AT_ONCE = 25


@pytest.mark.parametrize("first", range(0, 100, _AT_ONCE))
def test_after_each_night_the_catalog_says_what_the_names_hold(first: int, tmp_path: Path) -> None:
    nights = side_by_side([random_nights(seed) for seed in range(first, first + _AT_ONCE)])
    expected = [*Names().edges_after(nights)]
    parts = records_of(nights)
    assert [*standing_after(tmp_path / "whole", in_one_run(parts))] == expected[-1:]
    assert [*standing_after(tmp_path / "nights", growing(parts))] == expected
