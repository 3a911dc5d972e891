"""Java, which Spark needs and pip does not bring: found and judged before Spark starts."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ingestion.errors import ConfigError

OLDEST_JAVA = 17
_WHAT_TO_DO = (
    f"install Java {OLDEST_JAVA} or newer (Debian, Ubuntu: apt-get install openjdk-17-jre-headless; "
    "macOS: brew install openjdk@17) or point JAVA_HOME to one"
)
_VERSION = re.compile(r'version "(?:1\.)?(?P<major>\d+)')


@dataclass(frozen=True, slots=True)
class Java:
    """The Java that Spark will start."""

    executable: Path
    major: int


def find_java(environment: Mapping[str, str] | None = None) -> Java:
    """The Java of JAVA_HOME, else of PATH. Raises ConfigError where there is none or it is too old for Spark."""
    return _java_at(_executable(os.environ if environment is None else environment))


@cache
def _java_at(executable: Path) -> Java:
    """Asks the executable, once in a process: that starts a JVM. Raises ConfigError like `find_java`."""
    try:
        asked = subprocess.run([executable, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        raise ConfigError(f"{executable} does not run: {_WHAT_TO_DO}") from None
    found = _VERSION.search(asked.stderr + asked.stdout)
    if found is None:
        raise ConfigError(f"{executable} does not tell its version: {_WHAT_TO_DO}")
    major = int(found["major"])
    if major < OLDEST_JAVA:
        raise ConfigError(f"{executable} is Java {major}, and Spark needs {OLDEST_JAVA}: {_WHAT_TO_DO}")
    return Java(executable, major)


def _executable(environment: Mapping[str, str]) -> Path:
    home = environment.get("JAVA_HOME")
    if home:
        executable = Path(home) / "bin" / ("java.exe" if os.name == "nt" else "java")
        if not executable.is_file():
            raise ConfigError(f"JAVA_HOME has no bin/java: {_WHAT_TO_DO}")
        return executable
    on_path = shutil.which("java", path=environment.get("PATH"))
    if on_path is None:
        raise ConfigError(f"Java is missing: {_WHAT_TO_DO}")
    return Path(on_path)
