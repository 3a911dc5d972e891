"""The exported files of a tool: of a folder, of a ZIP, or one by itself; nothing outside of it, and no more than fits.

What is in a ZIP is read in memory and never put on the disk.
"""

from __future__ import annotations

import os
import stat
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from ingestion.errors import ConfigError

LARGEST_FILE = 32 << 20
"""Bytes: a model of thousands of tables has a few million."""
LARGEST_MARKUP = 8 << 20
"""Of YAML and LookML, of which a parsed byte takes a hundred in memory; a dataset of a thousand columns has 200,000."""
_MARKUP = (".yaml", ".yml", ".lkml", ".lookml")
_LARGEST_WHOLE = 1 << 30
_MOST_FILES = 200_000
_MOST_RATIO = 200
"""How much larger than as it is stored a file of a ZIP may be, from a size on that could do harm."""
_HARMLESS = 1 << 20
_HIDDEN = "."
OUTSIDE = "a file outside of the export"
"""What a file of a ZIP is called whose own name leads out of it."""


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """A file by its `name` for people; its text, or the `problem` why it is not read."""

    name: str
    text: str = field(default="", repr=False)
    problem: str = ""

    @property
    def folder(self) -> str:
        """The folder that it is in, within the export."""
        return str(PurePosixPath(self.name).parent)


def exported_files(location: Path, endings: tuple[str, ...]) -> Iterator[ExportedFile]:
    """The files with these endings (lower case), in order of their names. Raises ConfigError where none can be read."""
    if location.is_dir():
        yield from _of_folder(location, endings)
    elif not location.is_file():
        raise ConfigError(f"{location} is not there, or is neither a file nor a folder")
    elif location.name.lower().endswith(endings):
        yield _of_disk(location, location.name)
    elif zipfile.is_zipfile(location):
        yield from _of_zip(location, endings)
    elif location.suffix.lower() in (".zip", ".pbix"):
        raise ConfigError(f"{location} is no ZIP, or is cut: export it again")
    else:
        raise ConfigError(f"{location}: expected a folder, a ZIP, or a file that ends in {', '.join(endings)}")


def _of_folder(folder: Path, endings: tuple[str, ...]) -> Iterator[ExportedFile]:
    count = size = 0
    for above, folders, names in os.walk(folder, followlinks=False):
        folders[:] = sorted(one for one in folders if not one.startswith(_HIDDEN))
        for name in sorted(names):
            file = Path(above, name)
            if name.startswith(_HIDDEN) or not name.lower().endswith(endings):
                continue
            count += 1
            shown = file.relative_to(folder).as_posix()
            if file.is_symlink():
                yield ExportedFile(shown, problem="a symbolic link, which is not followed")
                continue
            found = _of_disk(file, shown)
            size += len(found.text)
            if count > _MOST_FILES or size > _LARGEST_WHOLE:
                raise ConfigError(f"{folder}: more than {_MOST_FILES} files, or {_LARGEST_WHOLE >> 20} MB: name a part")
            yield found


def _of_disk(file: Path, shown: str) -> ExportedFile:
    try:
        if file.stat().st_size > _largest_of(shown):
            return ExportedFile(shown, problem=_too_large(shown))
        return _decode(shown, file.read_bytes())
    except OSError:
        return ExportedFile(shown, problem="it cannot be opened")


def _largest_of(name: str) -> int:
    """How many bytes a file of this name may have."""
    return LARGEST_MARKUP if name.lower().endswith(_MARKUP) else LARGEST_FILE


def _too_large(name: str) -> str:
    return f"it is larger than {_largest_of(name) >> 20} MB"


def _decode(name: str, content: bytes) -> ExportedFile:
    encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return ExportedFile(name, content.decode(encoding))
    except UnicodeDecodeError:
        return ExportedFile(name, problem="it is not UTF-8 text")


def _of_zip(location: Path, endings: tuple[str, ...]) -> Iterator[ExportedFile]:
    try:
        with zipfile.ZipFile(location) as archive:
            members = [one for one in archive.infolist() if one.filename.lower().endswith(endings)]
            if len(members) > _MOST_FILES or sum(one.file_size for one in members) > _LARGEST_WHOLE:
                raise ConfigError(f"{location}: more files, or more bytes in them, than an export has: it is not read")
            for member in sorted(members, key=lambda one: one.filename):
                yield _of_member(archive, member)
    except (zipfile.BadZipFile, OSError):
        raise ConfigError(f"{location} is no ZIP, or is cut: export it again") from None


def _of_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> ExportedFile:
    path, problem = PurePosixPath(member.filename), ""
    if path.is_absolute() or ".." in path.parts or "\\" in member.filename:
        return ExportedFile(OUTSIDE, problem="its path leads out of the export")
    if stat.S_ISLNK(member.external_attr >> 16):
        problem = "a symbolic link, which is not followed"
    elif member.flag_bits & 1:
        problem = "it is encrypted"
    elif member.file_size > _largest_of(member.filename):
        problem = _too_large(member.filename)
    elif member.file_size > max(_HARMLESS, _MOST_RATIO * member.compress_size):
        problem = "it is packed as no text is"
    if problem:
        return ExportedFile(member.filename, problem=problem)
    try:
        with archive.open(member) as stream:
            content = stream.read(_largest_of(member.filename) + 1)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError):
        return ExportedFile(member.filename, problem="it is cut, or packed in a way that is not known")
    return (
        _decode(member.filename, content)
        if len(content) <= _largest_of(member.filename)
        else ExportedFile(member.filename, problem=_too_large(member.filename))
    )
