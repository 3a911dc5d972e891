"""SQLMesh itself, where it is installed: a process of its own interpreter, under limits, renders a project's files."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ingestion.errors import ConfigError
from ingestion.parsing.sandbox.process import Limits

_SCRIPT = Path(__file__).with_name("library_script.py")
_START_SECONDS = 120
"""For an interpreter to load SQLMesh on a busy machine."""
_MEMORY_MB = 4096
"""Of address space: SQLMesh and pandas take one and a half gigabytes of it before they read anything."""
_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "VIRTUAL_ENV")
"""Of the environment: whatever else is in it may be a secret, and a project's macros are somebody's code."""


@dataclass(frozen=True, slots=True)
class LibraryWork:
    """What the library is to render: the models in `files`, with the macros of the project."""

    root: Path
    dialect: str
    files: Sequence[Path]
    variables: Mapping[str, Any] = field(default_factory=dict)
    python_macros: Sequence[Path] = ()
    jinja_macros: Sequence[Path] = ()


@dataclass(frozen=True, slots=True)
class LibraryAnswer:
    """`models` by file, as the script tells them; of what is not in it the process came to its end before."""

    version: str = ""
    models: Mapping[str, list[dict[str, Any]]] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)
    unread_macros: tuple[str, ...] = ()


def library_python(given: str | None) -> str | None:
    """The interpreter that has SQLMesh: the one that is named, our own, or that of the command on the path."""
    if given is not None:
        return given
    if importlib.util.find_spec("sqlmesh") is not None:
        return sys.executable
    command = shutil.which("sqlmesh")
    return _interpreter_of(Path(command)) if command is not None else None


def _interpreter_of(command: Path) -> str | None:
    """The Python that a command is run by, which its first line names."""
    try:
        with command.open("rb") as opened:
            first = opened.readline(4096).decode("utf-8", "replace").strip()
    except OSError:
        return None
    named = first.removeprefix("#!").strip()
    return named if first.startswith("#!") and Path(named).name.startswith("python") and Path(named).is_file() else None


def rendered_by_library(python: str, work: LibraryWork, limits: Limits) -> LibraryAnswer:
    """What SQLMesh makes of the `work`. Raises ConfigError where the interpreter cannot be run or has no SQLMesh."""
    request = {
        "root": str(work.root.resolve()),
        "dialect": work.dialect,
        "files": [str(file.resolve()) for file in work.files],
        "variables": dict(work.variables),
        "python_macros": [str(file.resolve()) for file in work.python_macros],
        "jinja_macros": [str(file.resolve()) for file in work.jinja_macros],
        "seconds": max(1, int(limits.seconds)),
        "memory_mb": _MEMORY_MB,
    }
    seconds = _START_SECONDS + limits.seconds * (1 + len(work.files) // 10)
    # -B: no bytecode among the project's files; -P would hide the project's own modules from its macros.
    try:
        process = subprocess.Popen(
            [python, "-B", str(_SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={name: os.environ[name] for name in _KEPT if name in os.environ},
            start_new_session=True,
        )
    except OSError as error:
        raise ConfigError(f"{python} cannot be run ({error.strerror}): name the Python that has sqlmesh") from None
    try:
        written, _ = process.communicate(json.dumps(request).encode(), timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        written, _ = process.communicate()
    answers = list(_answers(written))
    if not answers:
        raise ConfigError(f"{python} has no sqlmesh that can be used here: install it there, or name another Python")
    first, *others = answers
    return LibraryAnswer(
        str(first.get("version", "")),
        {one["file"]: one["models"] for one in others if "models" in one},
        {one["file"]: one["reason"] for one in others if "reason" in one},
        tuple(first.get("unread_macros", ())),
    )


def _answers(written: bytes) -> Iterator[dict[str, Any]]:
    for line in written.splitlines():
        try:
            one = json.loads(line)
        except ValueError:
            return  # cut where the process ended
        yield one
