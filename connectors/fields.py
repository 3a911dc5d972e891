"""The kinds of field that settings in YAML are made of: a run's, and those of each source and sink.

What is checked of a field is checked here, and what comes of it is the value that is used.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Self
from urllib.parse import SplitResult, urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetPydanticSchema,
    JsonValue,
    SecretStr,
    ValidationInfo,
)
from pydantic.alias_generators import to_camel
from pydantic_core import core_schema

from ingestion.arguments import nearest_file, suggestion

NO_EFFECT: dict[str, JsonValue] = {"x-no-effect": True}
"""Marks a field that OpenMetadata's YAML has and that changes nothing here."""

KeyPath = tuple[str | int, ...]
"""Keys, and places in lists, from the outside in."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://?")
_LOOKS_LIKE_A_PATH = ("/", "./", "../", "~")
_LONGEST_PATH = 4096  # Linux: of a longer name it is an error to ask whether it is there


class Model(BaseModel):
    """A mapping of the YAML: camelCase keys as OpenMetadata writes them, and no others."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        alias_generator=to_camel,
        hide_input_in_errors=True,
        protected_namespaces=(),
    )

    @classmethod
    def yaml_keys(cls) -> Iterator[tuple[str, str]]:
        """Each field, and its key in the YAML."""
        return ((name, info.alias or name) for name, info in cls.model_fields.items())

    def with_value(self, path: str, value: object) -> Self:
        """The same, with `value` in the field at a dotted path of fields, unchecked."""
        name, _, rest = path.partition(".")
        inner = getattr(self, name)
        return self.model_copy(update={name: inner.with_value(rest, value) if rest else value})


@dataclass(frozen=True, slots=True)
class FieldContext:
    """What the fields of one document are checked with: the context of its validation.

    Paths are relative to the working directory, or to the `directory` of the document: the first where something is
    counts, and what is nowhere yet is made in the working directory. `secrets` collects what must never be shown.
    `may_lack_log`: a log that is gone is no problem.
    """

    origin: str = ""
    directory: Path = Path()
    may_lack_log: bool = False
    secrets: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, info: ValidationInfo) -> FieldContext:
        """That of a validation; the default one of a model that no document is behind."""
        return info.context if isinstance(info.context, cls) else cls()

    def candidates(self, name: str) -> list[Path]:
        """Where a file of this name may be."""
        try:
            plain = Path(name).expanduser()
        except RuntimeError:  # a ~user that the system does not know
            plain = Path(name)
        return [plain] if plain.is_absolute() or not name else [plain, self.directory / plain]

    def near(self, name: str) -> str:
        """A hint at the file that may be meant, "" where there is none like it."""
        return next(filter(None, map(nearest_file, self.candidates(name))), "")


class Misfits(ValueError):
    """What does not fit together in a mapping: at which keys below it, and why."""

    def __init__(self, *found: tuple[KeyPath, str]) -> None:
        super().__init__(found)
        self.found = found


class MisfitCollector:
    """Collects misfits, so that all of a mapping's are told at once."""

    def __init__(self) -> None:
        self._found: list[tuple[KeyPath, str]] = []

    def add(self, message: str, *path: str | int) -> None:
        """One at a path of keys below the mapping."""
        self._found.append((path, message))

    @contextmanager
    def at(self, *path: str | int) -> Iterator[None]:
        """What is found wrong in the block is so at the path."""
        try:
            yield
        except ValueError as error:
            self.add(str(error), *path)

    def check(self) -> None:
        """Raises Misfits where there are some."""
        if self._found:
            raise Misfits(*self._found)


def _whole_number(value: Any) -> Any:
    # pydantic takes true for 1, and 2.0 for 2.
    if isinstance(value, bool | float):
        raise ValueError("expected a whole number")
    return value


def _true_or_false(value: Any) -> Any:
    if isinstance(value, str) and value.lower() in {"true", "false"}:
        return value.lower() == "true"
    # pydantic takes 1, "on" and "yes" too, which YAML 1.2 has as text.
    if not isinstance(value, bool):
        raise ValueError("expected true or false")
    return value


def _regular_expression(value: str) -> str:
    try:
        re.compile(value)
    except re.error:
        raise ValueError("not a regular expression") from None
    return value


def _none_as_empty(value: Any) -> Any:
    return {} if value is None else value


def _path_alone(value: Any) -> Any:
    return {"path": value} if isinstance(value, str) else value


def _time_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # ValueError of a path, OSError of a folder of zones
        raise ValueError("not a time zone; write one such as Europe/Berlin or UTC") from None
    return name


# Numbers and booleans also come as text, since ${VAR} gives text.
Positive = Annotated[int, BeforeValidator(_whole_number), Field(ge=1)]
NotNegative = Annotated[int, BeforeValidator(_whole_number), Field(ge=0)]
Percent = Annotated[int, BeforeValidator(_whole_number), Field(ge=0, le=100)]
Port = Annotated[int, BeforeValidator(_whole_number), Field(ge=0, le=65535)]
Bool = Annotated[bool, BeforeValidator(_true_or_false)]
Text = Annotated[str, Field(min_length=1)]
Regex = Annotated[str, AfterValidator(_regular_expression)]
TimeZone = Annotated[str, AfterValidator(_time_zone)]
Secret = Annotated[SecretStr, Field(min_length=1)]
# `config:` with nothing after it is an empty mapping, not a null.
OrEmpty = BeforeValidator(_none_as_empty)
# A mapping of a path and what goes with it may be nothing but the path.
PathAlone = BeforeValidator(_path_alone)


def from_text(value_of: Callable[[str, ValidationInfo], Any]) -> GetPydanticSchema:
    """A field that is text in the YAML, and in the model what `value_of` makes of it."""

    def schema(_source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        text = core_schema.no_info_before_validator_function(_path_as_text, handler.generate_schema(Text))
        # By the schema of text, so that its messages and its JSON Schema are those of text.
        written = core_schema.to_string_ser_schema(when_used="json-unless-none")
        return core_schema.with_info_after_validator_function(value_of, text, serialization=written)

    return GetPydanticSchema(schema)


def _path_as_text(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else value


def _path(text: str, _info: ValidationInfo) -> Path:
    return Path(text).expanduser()


def _kept_file(text: str, info: ValidationInfo) -> Path:
    """A file that a run makes, or goes on with where an earlier one made it: here, or beside the configuration.

    Whoever asks for it from another folder is to get it, and not an empty one.
    """
    here, *others = FieldContext.of(info).candidates(text)
    if not here.exists():
        return next((other for other in others if other.exists()), here)
    return here


def _kept_location(text: str, info: ValidationInfo) -> str:
    """The same of what may be a URL too."""
    return text if "://" in text else str(_kept_file(text, info))


def existing_file(name: str | Path, info: ValidationInfo) -> Path:
    """The file of this name. Raises ValueError where there is none."""
    reading = FieldContext.of(info)
    for candidate in reading.candidates(str(name)):
        if candidate.is_file():
            return candidate
    raise ValueError("no such file" + reading.near(str(name)))


def input_location(name: str, info: ValidationInfo) -> str:
    """A location for Spark: a file, a directory, a glob that finds something, or a URI, which is not checked.

    Raises ValueError where `name` is none of these.
    """
    reading = FieldContext.of(info)
    if _SCHEME.match(name) and not name.startswith("file:"):
        return name
    plain = re.sub(r"^file:(//)?(?=/)", "", name)
    for candidate in reading.candidates(plain):
        if candidate.exists() or (glob.has_magic(plain) and _matches(candidate)):
            return str(candidate)
    if reading.may_lack_log:
        return name
    raise ValueError("no such file or directory" + reading.near(plain))


def token_or_file(given: SecretStr, info: ValidationInfo) -> SecretStr:
    """The token, or the path of the file that it names: the client reads that again when the token is refused.

    Raises ValueError where it looks like the path of a file that is not there.
    """
    value, reading = given.get_secret_value(), FieldContext.of(info)
    as_path = value.removeprefix("file:")
    for candidate in reading.candidates(as_path) if len(value) < _LONGEST_PATH and "\n" not in value else ():
        if _is_file(candidate):
            reading.secrets.append(_content_of(candidate))
            return SecretStr(str(candidate.absolute()))
    if value.startswith((*_LOOKS_LIKE_A_PATH, "file:")):
        raise ValueError("no such file; give the token, ${VAR}, ${file:/path}, or the path of a file that holds it")
    return given


def http_url(value: str, example: str, also: str = "") -> str:
    """An http or https URL without user info and without a slash at its end.

    Raises ValueError where `value` is none, which names the `example` and, beside it, the word that may stand `also`.
    """
    parts = _split_url(value)
    if parts is None or parts.scheme not in {"http", "https"} or not parts.hostname:
        other = f"{also} or " if also else ""
        near = suggestion(value, [also]) if also else ""
        raise ValueError(f"expected {other}a URL such as {example}{near}")
    if "@" in parts.netloc:
        raise ValueError("a URL with a user name in it; credentials have keys of their own")
    return value.rstrip("/")


def _moment(value: str, _info: ValidationInfo) -> datetime:
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise ValueError("expected an ISO date or time such as 2026-11-20 or 2026-11-20T08:00:00+01:00") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


FilePath = Annotated[Path, from_text(_path)]
KeptFile = Annotated[Path, from_text(_kept_file)]
KeptLocation = Annotated[str, from_text(_kept_location)]
ExistingFile = Annotated[Path, from_text(existing_file)]
InputLocation = Annotated[str, from_text(input_location)]
Moment = Annotated[datetime, from_text(_moment)]


def _content_of(file: Path) -> str:
    try:
        content = file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        content = ""
    if not content:
        raise ValueError("names a file that is empty or cannot be read as text")
    return content


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
