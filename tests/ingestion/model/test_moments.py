from __future__ import annotations

from ingestion.model.moments import iso_time


def test_a_moment_is_told_in_utc_to_the_millisecond() -> None:
    assert iso_time(1.25) == "1970-01-01T00:00:01.250+00:00"
