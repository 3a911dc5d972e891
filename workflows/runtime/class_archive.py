"""The classes that Spark loads at its start, archived once for all later starts on this machine.

A JVM that finds the archive maps it, instead of loading, checking and linking some ten thousand classes; one that does
not find it, or that it does not fit (other jars, another Java), starts as it always does. Java 17's documentation calls
it a dynamic archive of class data (JEP 350).
"""

from __future__ import annotations

import hashlib
import importlib.metadata
from pathlib import Path

from platformdirs import user_cache_path

from workflows.runtime.java import Java

_QUIET = "-XX:+IgnoreUnrecognizedVMOptions -Xlog:cds=off -Xlog:cds+dynamic=off -Xlog:class+path=off"


def archive_file(java: Java) -> Path:
    """Where this user's archive for this Java and the installed PySpark is, or would be."""
    made_for = hashlib.sha256(f"{java.executable.resolve()} {java.major}".encode()).hexdigest()[:12]
    return user_cache_path("headwater") / f"spark-{importlib.metadata.version('pyspark')}-java-{made_for}.jsa"


def options_to_use(file: Path) -> str:
    """The options with which a JVM maps the archive; none where there is none."""
    return f'"-XX:SharedArchiveFile={file}" {_QUIET}' if file.is_file() else ""


def options_to_make(file: Path) -> str:
    """The options with which a JVM archives into `file`, when it ends, the classes that it has loaded."""
    return f'"-XX:ArchiveClassesAtExit={file}" {_QUIET}'
