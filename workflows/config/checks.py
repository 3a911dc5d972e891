"""Checks that a model cannot make alone: files that must be there, URLs, types that other modules know."""

from __future__ import annotations

import glob
import re
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from ingestion.arguments import nearest_file, suggestion
from workflows.config.yaml.document import ConfigProblem, Document, KeyPath

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://?")
_LOOKS_LIKE_A_PATH = ("/", "./", "../", "~")


class Checks:
    """Collects the problems of one document; a check that fails gives None, so that the others can go on."""

    def __init__(self, document: Document, directory: Path, *, may_lack_log: bool = False) -> None:
        self._may_lack_log = may_lack_log
        self._document = document
        self._directory = directory
        self.origin = document.origin
        self.problems: list[ConfigProblem] = []
        self.secrets: list[str] = []

    def fail(self, path: KeyPath, message: str) -> None:
        self.problems.append(self._document.problem(path, message))

    def is_given(self, path: KeyPath) -> bool:
        """Whether the file has this key."""
        return path in self._document.lines

    def file(self, name: str | None, path: KeyPath) -> Path | None:
        """The file of this name, from the working directory or beside the YAML; None where none is named."""
        if name is None:
            return None
        for candidate in self._candidates(name):
            if candidate.is_file():
                return candidate
        self.fail(path, "no such file" + self._near(name))
        return None

    def input(self, name: str | None, path: KeyPath) -> str | None:
        """A location for Spark: a file, a directory, a glob that finds something, or a URI, which is not checked."""
        if name is None or (_SCHEME.match(name) and not name.startswith("file:")):
            return name
        plain = re.sub(r"^file:(//)?(?=/)", "", name)
        for candidate in self._candidates(plain):
            if candidate.exists() or (glob.has_magic(plain) and _matches(candidate)):
                return str(candidate)
        if self._may_lack_log:
            return name
        self.fail(path, "no such file or directory" + self._near(plain))
        return None

    def token(self, value: str, path: KeyPath) -> str | None:
        """The token, or the path of the file that it names: the client reads that again when the token is refused."""
        as_path = value.removeprefix("file:")
        for candidate in self._candidates(as_path) if len(value) < 4096 and "\n" not in value else ():
            if _is_file(candidate):
                content = self._file_content(candidate, path)
                self.secrets += [content] if content else []
                return str(candidate.absolute())
        if value.startswith((*_LOOKS_LIKE_A_PATH, "file:")):
            self.fail(path, "no such file; give the token, ${VAR}, ${file:/path}, or the path of a file that holds it")
            return None
        return value

    def api_url(self, value: str, path: KeyPath) -> str | None:
        """The URL of an OpenMetadata API, without a slash at its end."""
        url = self.http_url(value, path, "http://openmetadata:8585/api", also="embedded")
        if url is None:
            return None
        if not url.endswith("/api"):
            self.fail(path, "the API's URL ends in /api, as in http://openmetadata:8585/api")
            return None
        return url

    def http_url(self, value: str, path: KeyPath, example: str, also: str = "") -> str | None:
        """An http or https URL without user info and without a slash at its end; None where `value` is none.

        The failure then names the `example` and, beside it, the word that may stand `also`.
        """
        parts = _split_url(value)
        if parts is None or parts.scheme not in {"http", "https"} or not parts.hostname:
            other = f"{also} or " if also else ""
            near = suggestion(value, [also]) if also else ""
            self.fail(path, f"expected {other}a URL such as {example}{near}")
            return None
        if "@" in parts.netloc:
            self.fail(path, "a URL with a user name in it; credentials have keys of their own")
            return None
        return value.rstrip("/")

    def moment(self, value: str | None, path: KeyPath) -> datetime | None:
        """An ISO date or time; UTC where it names no zone."""
        if value is None:
            return None
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            self.fail(path, "expected an ISO date or time such as 2026-11-20 or 2026-11-20T08:00:00+01:00")
            return None
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)

    def _candidates(self, name: str) -> list[Path]:
        try:
            plain = Path(name).expanduser()
        except RuntimeError:
            plain = Path(name)
        return [plain] if plain.is_absolute() or not name else [plain, self._directory / plain]

    def _near(self, name: str) -> str:
        return next(filter(None, map(nearest_file, self._candidates(name))), "")

    def _file_content(self, file: Path, path: KeyPath) -> str | None:
        try:
            content = file.read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError):
            content = ""
        if not content:
            self.fail(path, "names a file that is empty or cannot be read as text")
        return content or None


def _matches(pattern: Path) -> bool:
    return any(Path(pattern.anchor).glob(str(pattern.relative_to(pattern.anchor))))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _split_url(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    return parts
