"""The YAML of a project, as plain values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from connectors.dbt.target.json_stream import mapping_of
from ingestion.errors import ConfigError

_LOADER: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_mapping(file: Path) -> dict[str, Any]:
    """The mapping in a YAML file, an empty one for an empty file. Raises ConfigError with the line."""
    try:
        content = yaml.load(file.read_bytes(), _LOADER)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark is not None else ""
        raise ConfigError(f"{file}{line}: not valid YAML") from None
    except (ValueError, RecursionError):
        raise ConfigError(f"{file}: not valid YAML") from None
    except OSError as error:
        raise ConfigError(f"{file} cannot be read ({error.strerror})") from None
    return mapping_of(content)


def mappings(value: object) -> list[dict[str, Any]]:
    """The mappings of a list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def texts(value: object, default: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The texts of a list, or a lone one."""
    if isinstance(value, str):
        return (value,)
    return tuple(map(str, value)) if isinstance(value, list) else default
