"""How many random examples a test tries."""

from __future__ import annotations

import os


def examples(number: int) -> int:
    """So many, or as many as HEADWATER_EXAMPLES says, for whoever has more time than a run of all the tests."""
    return int(os.environ.get("HEADWATER_EXAMPLES") or number)
