"""What a state that cannot be read or written any more is told as."""

from __future__ import annotations

from pathlib import Path

from ingestion.errors import ConfigError, StateLost


def state_lost(location: str, reason: str) -> StateLost:
    """The error for a store that cannot be read any more: repeating does not help."""
    error = StateLost(
        f"the state store{location} is damaged ({reason}): `ingest doctor --repair -c` with this YAML keeps what can "
        "be read of it; the next run reads the log again and publishes nothing twice"
    )
    error.exit_code = ConfigError.exit_code
    return error


def segments_unwritten(folder: Path, error: OSError) -> StateLost:
    """The error for a folder that takes no more of the journal."""
    return StateLost(
        f"the state's folder {folder} cannot be written ({error.strerror or error}): make room there, or name another "
        "one (headwater.state.folder; left out, it is beside the file of headwater.state.url); what was noted until "
        "now is kept: run the same command again"
    )
