"""Shell commands whose `ingest` is carried out in the process and Spark session of the tests.

An interpreter or a JVM of its own for each would cost most of what the command costs; whole processes are the matter
of test_readme and of test_crash. What serves or schedules is the installed `ingest`, in a process of its own.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.run_in_session import command_line

CLIENT = """#!{python} -ES
import json, os, socket, sys
if not sys.argv[1:] or sys.argv[1] in ("serve", "schedule", "mcp"):
    os.execv({ingest!r}, [{ingest!r}, *sys.argv[1:]])
server = socket.socket(socket.AF_UNIX)
server.connect({address!r})
given = sys.stdin.read() if "-" in sys.argv else ""
server.sendall(json.dumps([os.getcwd(), sys.argv[1:], given]).encode() + b"\\n")
code, out, err = json.loads(server.makefile(encoding="utf-8").readline())
sys.stdout.write(out)
sys.stderr.write(err)
sys.exit(code)
"""


def carry_out(commands: str, folder: Path) -> str:
    """What commands of a shell print, in the folder, with `ingest` on the path and under .venv/bin; they succeed."""
    with (
        _listening(folder) as (server, programs),
        tempfile.TemporaryFile("w+", encoding="utf-8") as out,  # unlike a pipe it is never full
        tempfile.TemporaryFile("w+", encoding="utf-8") as err,
    ):
        environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
        shell = subprocess.Popen(
            ["bash", "-euo", "pipefail", "-c", commands], cwd=folder, env=environment, stdout=out, stderr=err
        )
        server.settimeout(0.1)
        with shell:
            while shell.poll() is None:
                try:
                    connection, _ = server.accept()
                except TimeoutError:
                    continue
                with connection:
                    _answer(connection)
        printed = [(stream.seek(0), stream.read())[1] for stream in (out, err)]
    assert shell.returncode == 0, printed[1]
    return "".join(printed)


@contextmanager
def _listening(folder: Path) -> Iterator[tuple[socket.socket, Path]]:
    programs = folder / ".venv" / "bin"
    with tempfile.TemporaryDirectory() as short, socket.socket(socket.AF_UNIX) as server:
        address = str(Path(short, "runs"))
        server.bind(address)
        server.listen()
        programs.mkdir(parents=True, exist_ok=True)
        ingest = str(Path(sys.executable).with_name("ingest"))
        client = programs / "ingest"
        client.write_text(CLIENT.format(python=sys.executable, ingest=ingest, address=address))
        client.chmod(0o755)
        python = programs / "python"
        if not python.exists():
            python.symlink_to(sys.executable)
        yield server, programs


def _answer(connection: socket.socket) -> None:
    connection.setblocking(True)
    folder, arguments, given = json.loads(connection.makefile(encoding="utf-8").readline())
    done = command_line(Path(folder), *arguments, given=given)
    connection.sendall(json.dumps([done.exit_code, done.stdout, done.stderr]).encode() + b"\n")
