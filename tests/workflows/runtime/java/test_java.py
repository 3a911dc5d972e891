"""Java is found as Spark finds it, and a missing or old one is answered with what to install."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingestion.errors import ConfigError
from workflows.runtime.java import Java, find_java


def java_saying(directory: Path, text: str) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    file = directory / "java"
    file.write_text(f"#!/bin/sh\ncat >&2 <<'EOF'\n{text}\nEOF\n")
    file.chmod(0o755)
    return file


@pytest.mark.parametrize(
    ("text", "major"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "21" 2023-09-19 LTS', 21),
        ('Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nopenjdk version "25-ea" 2025-09-16', 25),
    ],
)
def test_java_17_and_newer_will_do(tmp_path: Path, text: str, major: int) -> None:
    file = java_saying(tmp_path / "bin", text)

    assert find_java({"PATH": f"{tmp_path / 'bin'}:/bin:/usr/bin"}) == Java(file, major)


def test_java_home_comes_before_the_path(tmp_path: Path) -> None:
    home = java_saying(tmp_path / "home" / "bin", 'openjdk version "21.0.1"')
    java_saying(tmp_path / "path", 'openjdk version "17.0.1"')

    found = find_java({"JAVA_HOME": str(tmp_path / "home"), "PATH": f"{tmp_path / 'path'}:/bin:/usr/bin"})

    assert found.executable == home


@pytest.mark.parametrize("text", ['java version "1.8.0_392"', 'openjdk version "11.0.21" 2023-10-17'])
def test_an_old_java_is_named_with_what_to_install(tmp_path: Path, text: str) -> None:
    java_saying(tmp_path / "bin", text)

    with pytest.raises(ConfigError, match=r"is Java (8|11), and Spark needs 17: install Java 17 or newer .*JAVA_HOME"):
        find_java({"PATH": f"{tmp_path / 'bin'}:/bin:/usr/bin"})


def test_no_java_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="Java is missing: install Java 17"):
        find_java({"PATH": str(tmp_path)})
    with pytest.raises(ConfigError, match="JAVA_HOME has no bin/java"):
        find_java({"PATH": str(tmp_path), "JAVA_HOME": str(tmp_path)})


def test_something_else_by_the_name_of_java(tmp_path: Path) -> None:
    java_saying(tmp_path / "bin", "hello")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "java").write_bytes(b"\x7fELF nonsense")
    (tmp_path / "broken" / "java").chmod(0o755)

    with pytest.raises(ConfigError, match="does not tell its version"):
        find_java({"PATH": f"{tmp_path / 'bin'}:/bin:/usr/bin"})
    with pytest.raises(ConfigError, match="does not run"):
        find_java({"PATH": str(tmp_path / "broken")})
