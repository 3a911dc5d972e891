"""Storage paths: their names without secrets, and one spelling for what different tools write of the same data."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingestion.model.lineage import NameKind, TableName

_SCHEMES = {"s3a": "s3", "s3n": "s3", "abfss": "abfs", "wasbs": "wasb", "gcs": "gs"}
_PATTERN = re.compile(r"[*?\[{]")
_PARTITION = re.compile(r"[^=/]+=[^/]*")
_LOGIN = re.compile(r"^[^/@:]*:(?!\d+/)[^@]*@")  # a secret may have slashes; a port before a path is none
# s3:/user:secret@bucket, //user:secret@host, user:secret@host:/x; of C:/a@b and file:/a the colon begins a path
_PLAIN_LOGIN = re.compile(r"^((?:[A-Za-z][\w+.-]*:)?/{0,2})[A-Za-z][^/@:\s]+:(?!\d+/|[/\\])[^@]+@")
_USER = re.compile(r"^[^/@]*@")
_ANY_QUERY = re.compile(r"[?#]")
_WEB = frozenset({"http", "https", "ftp", "ftps", "sftp"})
_FILE = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,9}(?:\.(?:gz|bz2|zst|snappy|lz4|zip|xz))?$")


def location(path: str) -> TableName:
    """The name of a file, a directory or a stage: the path without login, query and signature."""
    kept = _without_secrets(path)
    return TableName((kept,), kept, NameKind.PATH)


def _without_secrets(path: str) -> str:
    """A path without its login, query and signature.

    What stands before the `@` of `abfs://container@account` is no login; of http there are no patterns, so that every
    question mark begins a query.
    """
    scheme, separator, rest = path.partition("://")
    if not separator:
        plain = _PLAIN_LOGIN.sub(r"\1", path, count=1)
        return _without_secrets(plain) if plain != path else without_query(path)
    rest = _LOGIN.sub("", rest, count=1)
    if scheme.lower() in _WEB:
        rest = _ANY_QUERY.split(_USER.sub("", rest, count=1), maxsplit=1)[0]
    return scheme + separator + without_query(rest)


def name_without_secrets(name: str) -> str:
    """A name in quotes, which may be a URL whatever it names: the column "https://user:password@host/x"."""
    return _without_secrets(name) if "://" in name else name


def without_query(path: str) -> str:
    """The path up to a query or fragment, which has an equals sign; else it is a pattern: x/part-?/dt=1."""
    start = 0
    for segment in path.split("/"):
        mark = _ANY_QUERY.search(segment)
        if mark is not None and "=" in segment[mark.end() :]:
            return path[: start + mark.start()]
        start += len(segment) + 1
    return path


def canonical_path(path: str) -> str:
    """A path with its scheme's common name, up to its first pattern or partition directory, without a slash at its end.

    `s3a://b/t/dt=2026-01-01/*.parquet` is data of `s3://b/t`. Logins, queries and signatures go; the container of
    `abfs://container@account` is no login.
    """
    scheme, separator, rest = _split_path(_without_secrets(path))
    root, *folders = rest.split("/")
    kept = [root]
    for folder in folders:
        if _PATTERN.search(folder) or _PARTITION.fullmatch(folder):
            break
        kept.append(folder)
    cut = "/".join(kept).rstrip("/")
    return f"{scheme}{separator}{cut or '/'}" if separator else cut or "/"


def normal_path(path: str) -> str:
    """A container's path as look-ups compare it: its scheme's common name, and no slash at its end.

    `gcs://b/t/` and `gs://b/t`, `file:/data/o` and `file:///data/o` are one path each.
    """
    scheme, separator, rest = _split_path(path)
    kept = rest.rstrip("/")
    return f"{scheme}{separator}{kept or '/'}" if separator else kept or "/"


def spellings(path: str) -> Iterator[str]:
    """The ways in which a server may have been told a normal path, the likeliest first."""
    scheme, separator, rest = path.partition("://")
    others = [alias for alias, common in _SCHEMES.items() if separator and common == scheme]
    written = [path, *(f"{alias}://{rest}" for alias in others)]
    if scheme == "file" and rest.startswith("/"):
        written.append(f"file:{rest}")
    for spelling in written:
        yield spelling
        yield spelling.rstrip("/") + "/"


def containers_of(path: str) -> Iterator[str]:
    """The paths of the containers that may hold the data of a canonical path: its own, then a file's directory."""
    yield path
    parent, _slash, name = path.rpartition("/")
    if _FILE.search(name) and "/" in parent.partition("://")[2].strip("/"):
        yield parent


def _split_path(path: str) -> tuple[str, str, str]:
    scheme, separator, rest = path.partition("://")
    if not separator:
        if path.lower().startswith("file:/"):
            return "file", "://", path[5:]
        return "", "", path
    scheme = scheme.lower()
    return _SCHEMES.get(scheme, scheme), separator, rest
