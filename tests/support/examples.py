"""How many random examples a test tries."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

_ASKED = "HEADWATER_EXAMPLES"


def examples(number: int) -> int:
    """So many, or as many as HEADWATER_EXAMPLES says, for whoever has more time than a run of all the tests."""
    return int(os.environ.get(_ASKED) or number)


def random_settings(number: int) -> settings:
    """So many examples as `examples` says: the same in each run of all the tests, others where more are asked for."""
    return settings(
        max_examples=examples(number),
        derandomize=_ASKED not in os.environ,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
