"""The kinds of field that settings in YAML are made of: a run's, and those of each source and sink."""

from __future__ import annotations

import os
import re
from typing import Annotated, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, SecretStr
from pydantic.alias_generators import to_camel


class Model(BaseModel):
    """A mapping of the YAML: camelCase keys as OpenMetadata writes them, and no others."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        alias_generator=to_camel,
        hide_input_in_errors=True,
        protected_namespaces=(),
    )


def _whole_number(value: Any) -> Any:
    if isinstance(value, bool | float):
        raise ValueError("expected a whole number")
    return value


def _true_or_false(value: Any) -> Any:
    if isinstance(value, str) and value.lower() in {"true", "false"}:
        return value.lower() == "true"
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


def _time_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
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
# Marks a field that OpenMetadata's YAML has and that changes nothing here.
NO_EFFECT: dict[str, JsonValue] = {"x-no-effect": True}
# `config:` with nothing after it is an empty mapping, not a null.
OrEmpty = BeforeValidator(_none_as_empty)


def cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
