"""The house's rules hold: types, lint, the one direction of imports, the declared dependencies."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
CHECKS = {
    "lint": ["ruff", "check", "."],
    "format": ["ruff", "format", "--check", "."],
    "types": ["mypy"],
    "imports": ["lint-imports", "--no-cache"],
    "dependencies": ["deptry", "."],
}


@pytest.mark.parametrize("check", CHECKS)
def test_check_passes(check: str) -> None:
    program, *arguments = CHECKS[check]
    command = [str(Path(sys.executable).with_name(program)), *arguments]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=290, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
