"""Literals and secrets of a run by tasks, looked for in every file that Spark made for it on a cluster of executors.

    python tests/hunts/cluster_canaries.py [--conf KEY=VALUE ...]

A log whose statements have canaries in their literals, comments and paths, and a target with a token, are run on three
executors in folders of their own, in batches of one statement. Whatever stands for a moment in the executors' folders
(their output, blocks, shuffles, what was broadcast), in the driver's folders for temporary files, in Spark's event log
(uncompressed) and in the run's own log is kept and searched, what zlib has packed too. A line for each place says how
many files and bytes it had. The exit code is 1 where one of them holds a canary, where the batches were not worked on
by tasks, or where the executors left no file.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import yaml

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY))

from tests.hunts.cluster_sources import IN_TASKS, ON_CLUSTER  # noqa: E402
from tests.support import growing_log  # noqa: E402
from tests.workflows.run.test_cluster import own_home  # noqa: E402
from tests.workflows.run.test_secrecy import LITERALS, SECRETS, STATEMENTS  # noqa: E402

MASKED = "apart5"
"""The name of a table, which is no secret: where it is found, what was searched would have shown a canary too."""
APART = [("s2", f"INSERT INTO apart{n} (a) SELECT a FROM before{n} WHERE b = '{LITERALS[0]}{n}'") for n in range(8)]
SPARK = {
    **growing_log.SPARK,
    "spark.eventLog.enabled": "true",
    "spark.eventLog.compress": "false",
    **dict.fromkeys(
        ("spark.shuffle.compress", "spark.shuffle.spill.compress", "spark.broadcast.compress", "spark.rdd.compress"),
        "false",
    ),
    "spark.sql.inMemoryColumnarStorage.compressed": "false",
}
_ZLIB = (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--conf", action="append", default=[], metavar="KEY=VALUE", help="a setting of Spark")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="headwater-canaries-") as scratch:
        folder = Path(scratch)
        places = run(folder, dict(one.split("=", 1) for one in arguments.conf))
        wrong = [place for place, files in places.items() if not is_clean(place, files, folder)]
        if IN_TASKS not in (folder / "output.txt").read_text():
            wrong.append("the run, whose batches were not worked on by tasks")
    sys.exit(f"wrong: {', '.join(wrong)}" if wrong else 0)


def run(folder: Path, conf: dict[str, str]) -> dict[str, list[Path]]:
    """Carries out the run; the files of each place, those that were there for a moment too."""
    growing_log.write_log(folder / "log" / "all.csv", growing_log.rows_of([*STATEMENTS, *APART]))
    home = own_home(folder / "spark")
    local, events, temporary = folder / "local", folder / "events", folder / "temporary"
    for made in (local, events, temporary, folder / "kept"):
        made.mkdir()
    there = {"spark.local.dir": str(local), "spark.eventLog.dir": events.as_uri()}
    file = growing_log.configuration(
        folder, templatesAtOnce=1, spark={"master": ON_CLUSTER, "conf": {**SPARK, **there, **conf}}
    )
    content = yaml.safe_load(file.read_text())
    content["headwater"]["catalog"]["token"] = SECRETS[0]
    content["source"]["serviceConnection"]["config"]["password"] = SECRETS[1]
    file.write_text(yaml.safe_dump(content))
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "SPARK_HOME": str(home), "TMPDIR": str(temporary)}
    command = [sys.executable, "-m", "workflows", "run", "-c", str(file)]
    watched = {"executors": home / "work", "blocks": local, "temporary files": temporary}
    done = threading.Event()
    keeper = threading.Thread(target=keep, args=(folder / "kept", list(watched.values()), done), daemon=True)
    with (folder / "output.txt").open("w") as output:
        keeper.start()
        ended = subprocess.run(command, cwd=folder, env=environment, stdout=output, stderr=output, check=False)
    done.set()
    keeper.join()
    if ended.returncode:
        sys.exit((folder / "output.txt").read_text()[-3_000:])
    found = {place: list(files_below(folder / "kept" / root.name)) for place, root in watched.items()}
    own = [path for path in files_below(folder) if path.parent == folder and path.name != file.name]
    return {**found, "event log": list(files_below(events)), "the run's own files": own}


def keep(kept: Path, roots: list[Path], done: threading.Event) -> None:
    """Gives each file below the roots a second name as soon as it is there, so that it outlives its first one."""
    known = set[tuple[int, str]]()
    while not done.wait(0.005):
        for root in roots:
            for path in files_below(root):
                with suppress(FileNotFoundError):
                    name = (path.stat().st_ino, path.name)
                    if name not in known and path.name != "headwater.zip":
                        known.add(name)
                        (kept / root.name).mkdir(exist_ok=True)
                        os.link(path, kept / root.name / f"{len(known)} {path.name}")


def files_below(root: Path) -> Iterator[Path]:
    for folder, _folders, names in os.walk(root):
        yield from (Path(folder) / name for name in names)


def is_clean(place: str, files: list[Path], folder: Path) -> bool:
    """Whether no file has a canary; what was looked at is said in a line."""
    bad = []
    packed = shown = 0
    size = 0
    for path in files:
        contents = [path.read_bytes()]
        size += len(contents[0])
        contents += unpacked(contents[0])
        packed += len(contents) - 1
        shown += any(MASKED.encode() in content for content in contents)
        canaries = {one for one in (*LITERALS, *SECRETS) for content in contents if one.encode() in content}
        if canaries:
            bad.append(f"  {path.relative_to(folder)}: {', '.join(sorted(canaries))}")
    told = (
        f"{len(files):5,} files, {size:12,} bytes, {packed:4,} packed texts, {shown:3,} files with a masked statement"
    )
    print(f"{place:20} {told}, {len(bad)} with canaries", flush=True)
    print("\n".join(bad[:20]), end="\n" if bad else "")
    return not bad and bool(files)


def unpacked(content: bytes) -> list[bytes]:
    """What zlib has packed within."""
    found = []
    for sign in _ZLIB:
        start = content.find(sign)
        while start >= 0:
            with suppress(zlib.error):
                found.append(zlib.decompressobj().decompress(content[start:]))
            start = content.find(sign, start + 1)
    return found


if __name__ == "__main__":
    main()
