"""Replays that a server starts: each a process of its own, as a schedule's runs are, one at a time of a workflow."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from threading import Lock


class Replays:
    """The commands that read dead statements again, by workflow; none where the server has no configuration."""

    def __init__(self, commands: Mapping[str, Sequence[str]] | None = None) -> None:
        self._commands = dict(commands or {})
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._lock = Lock()

    @property
    def workflows(self) -> list[str]:
        """Those whose statements can be read again from here."""
        return sorted(self._commands)

    def knows(self, workflow: str) -> bool:
        """Whether there is a command for it."""
        return workflow in self._commands

    def start(self, workflow: str, location: str | None) -> bool:
        """Has a statement read again, or (None) all; False where a replay of the workflow is under way.

        Nothing of what a client sends is a word of the command but a location that is known to be dead.
        """
        with self._lock:
            before = self._running.get(workflow)
            if before is not None and before.poll() is None:
                return False
            one = [f"--statement={location}"] if location is not None else []
            null = subprocess.DEVNULL
            command = [*self._commands[workflow], *one]
            self._running[workflow] = subprocess.Popen(command, stdin=null, stdout=null, stderr=null)
            return True
