"""A MariaDB that writes its own logs, started for a test where it is installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.catalog_contents import REPOSITORY

MARIADB = shutil.which("mariadbd")
_SECONDS = 60


@dataclass(frozen=True)
class MariaDb:
    """A running MariaDB that logs every statement in its tables."""

    home: Path

    @property
    def environment(self) -> dict[str, str]:
        """In which its client finds it."""
        return {**os.environ, "HOME": str(self.home)}

    def session(self, statements: Sequence[str], database: str = "") -> None:
        """A session of its own, which goes on after a statement that fails."""
        command = ["mysql", "--force", "--comments", *([database] if database else [])]
        text = ";\n".join(statements) + ";\n"
        subprocess.run(command, env=self.environment, input=text, text=True, capture_output=True, check=False)

    def ready(self) -> bool:
        command = ["mysql", "-e", "select 1"]
        return subprocess.run(command, env=self.environment, capture_output=True, check=False).returncode == 0


@contextmanager
def mariadb(folder: Path) -> Iterator[MariaDb]:
    """A server whose data, socket and errors are in a folder."""
    data, socket = folder / "data", folder / "s"
    options = [f"--datadir={data}", "--user=root"]
    install = ["mariadb-install-db", "--no-defaults", *options, "--auth-root-authentication-method=normal"]
    subprocess.run(install, check=True, capture_output=True, timeout=_SECONDS)
    command = [str(MARIADB), "--no-defaults", *options, f"--socket={socket}", "--skip-networking"]
    command += ["--general-log=1", "--log-output=TABLE", "--performance-schema=ON"]
    command += [f"--performance-schema-consumer-events-statements-{name}=ON" for name in ("current", "history-long")]
    command += ["--performance-schema-instrument=statement/%=ON"]
    with (folder / "errors.txt").open("w") as errors:
        process = subprocess.Popen(command, stdout=errors, stderr=errors)
    try:
        (folder / ".my.cnf").write_text(f"[client]\nsocket={socket}\nuser=root\n")
        server = MariaDb(folder)
        end = time.monotonic() + _SECONDS
        while not server.ready():
            assert process.poll() is None, (folder / "errors.txt").read_text()[-2000:]
            assert time.monotonic() < end
            time.sleep(0.2)
        yield server
    finally:
        process.terminate()
        process.wait(_SECONDS)


def documented_export(heading: str, folder: Path, environment: dict[str, str]) -> None:
    """Exports a log by the very command that docs/query_logs.md has below a heading, into a folder."""
    page = (REPOSITORY / "docs" / "query_logs.md").read_text(encoding="utf-8")
    found = re.search(rf"### {re.escape(heading)}\n\n```bash\n(.*?)```", page, re.DOTALL)
    assert found is not None, heading
    subprocess.run(["bash", "-euo", "pipefail", "-c", found[1]], cwd=folder, env=environment, check=True, timeout=60)
