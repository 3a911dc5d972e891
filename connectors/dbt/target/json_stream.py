"""dbt's JSON artifacts, read piece by piece: a large project's manifest has a hundred megabytes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import urlsplit, urlunsplit

import ijson

from ingestion.errors import ConfigError
from ingestion.names.suggestions import nearest_file

_CHUNK = 1 << 16
_SCHEMA = re.compile(r"/dbt/([a-z-]+)/v(\d+)")


class UnreadableArtifact(ConfigError):
    """A file that is none of dbt's artifacts, or is broken; the message says where."""

    code = "dbt_artifact"


@dataclass(frozen=True, slots=True)
class ArtifactMetadata:
    """What an artifact says of itself: which one it is (`kind`), of which version, by which dbt."""

    kind: str
    version: int
    adapter: str = ""
    project: str = ""
    dbt_version: str = ""
    generated_at: str = ""


@dataclass(frozen=True, slots=True)
class Artifact:
    """One of dbt's JSON files, whose `metadata` was read and found to be of the `kind` that is wanted."""

    file: Path
    metadata: ArtifactMetadata

    @classmethod
    def of(cls, file: Path, kind: str) -> Artifact:
        """Raises UnreadableArtifact where it cannot be read, is not JSON, or is something else than dbt's `kind`."""
        with _open(file) as stream, _locating_failures(file):  # no further than to its end: a file may have 100 MB
            found = mapping_of(next(ijson.items(stream, "metadata", use_float=True, buf_size=_CHUNK), {}))
        schema = found.get("dbt_schema_version")
        match = _SCHEMA.search(schema) if isinstance(schema, str) else None
        if match is None:
            raise UnreadableArtifact(f"{file}: not a {kind}.json of dbt's: it has no metadata.dbt_schema_version")
        if match[1] != kind:
            raise UnreadableArtifact(f"{file}: dbt's {match[1]}.json, and a {kind}.json is wanted")
        names = ("adapter_type", "project_name", "dbt_version", "generated_at")
        return cls(file, ArtifactMetadata(kind, int(match[2]), *(text_of(found.get(name)) for name in names)))

    def entries(self, section: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """The entries of a mapping at the top of the file, one at a time. Raises UnreadableArtifact."""
        with _open(self.file) as stream, _locating_failures(self.file):
            for name, value in ijson.kvitems(stream, section, use_float=True, buf_size=_CHUNK):
                if not isinstance(value, dict):
                    raise UnreadableArtifact(f"{self.file}: {section}.{name} is no mapping: is this file complete?")
                yield name, value

    def items(self, section: str) -> Iterator[dict[str, Any]]:
        """The items of a list at the top of the file, one at a time. Raises UnreadableArtifact."""
        with _open(self.file) as stream, _locating_failures(self.file):
            for value in ijson.items(stream, f"{section}.item", use_float=True, buf_size=_CHUNK):
                if isinstance(value, dict):
                    yield value


def text_of(value: object) -> str:
    """A text of an artifact, "" for anything else."""
    return value if isinstance(value, str) else ""


def texts_of(value: object) -> tuple[str, ...]:
    """The texts of a list of an artifact, or the one text that stands for a list of one."""
    if isinstance(value, str):
        return (value,)
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()


def mapping_of(value: object) -> dict[str, Any]:
    """A mapping of an artifact, an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def url_without_secrets(url: str) -> str:
    """An address without a user's name, a password, or what is asked there."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _open(file: Path) -> BinaryIO:
    try:
        return file.open("rb")
    except FileNotFoundError:
        raise UnreadableArtifact(f"{file}: no such file{nearest_file(file)}") from None
    except OSError as error:
        raise UnreadableArtifact(f"{file} cannot be read ({error.strerror})") from None


@contextmanager
def _locating_failures(file: Path) -> Iterator[None]:
    """Names the line and the byte where a file stops being JSON; the parser's own message quotes the file."""
    try:
        yield
    except (ijson.JSONError, UnicodeDecodeError, RecursionError):
        place = _place(file)
    else:
        return
    raise UnreadableArtifact(f"{file}{place}")


def _place(file: Path) -> str:
    """Where a file stops being JSON, and how: `:12: not valid JSON (byte 345)`."""
    whole = 0  # chunks that are in order
    events: list[object] = ijson.sendable_list()
    parser = ijson.basic_parse_coro(events)
    content = bytearray()
    with file.open("rb") as stream:
        lines = 1
        for chunk in iter(partial(stream.read, _CHUNK), b""):
            content = bytearray(chunk)
            try:
                parser.send(chunk)
            except (ijson.JSONError, UnicodeDecodeError, StopIteration, RecursionError):
                break
            events.clear()
            whole += 1
            lines += chunk.count(b"\n")
        else:
            end = file.stat().st_size
            return f":{lines}: ends in the middle (after byte {end}): was it cut, or is dbt still writing it?"
        stream.seek(0)
        parser = ijson.basic_parse_coro(events)
        for _ in range(whole):
            parser.send(stream.read(_CHUNK))
            events.clear()
    byte = 0
    with suppress(ijson.JSONError, UnicodeDecodeError, StopIteration, RecursionError):
        while byte < len(content):
            parser.send(bytes(content[byte : byte + 1]))
            byte += 1
    lines += content.count(b"\n", 0, byte)
    return f":{lines}: not valid JSON (byte {whole * _CHUNK + byte + 1})"
