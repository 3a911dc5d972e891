"""What a state that cannot be read any more is told as."""

from __future__ import annotations

from ingestion.errors import ConfigError, StateLost


def state_lost(location: str, reason: str) -> StateLost:
    """The error for a store that cannot be read any more: repeating does not help."""
    error = StateLost(
        f"the state store{location} is damaged ({reason}): put back a copy, or take it away; "
        "a run without it reads the whole log again and publishes nothing twice"
    )
    error.exit_code = ConfigError.exit_code
    return error
