"""What dbt gives every template whatever the project: conversions, modules, a warehouse that cannot be asked."""

from __future__ import annotations

import datetime
import hashlib
import itertools
import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NoReturn
from zoneinfo import ZoneInfo

import jinja2
import yaml

from connectors.dbt.rendering.failures import NotRenderable


class Members:
    """Named values, and nothing else: a real module would lead on to all that it imports."""

    def __init__(self, members: Mapping[str, Any]) -> None:
        self.__dict__.update(members)


class MissingName(jinja2.Undefined):
    """What a project does not define: false, and an error as soon as it would make SQL."""

    def __str__(self) -> str:
        self._fail_with_undefined_error()

    def __iter__(self) -> Any:
        self._fail_with_undefined_error()


class Warehouse:
    """`adapter`: what the project itself does not know ends the rendering."""

    def __init__(self, known: Mapping[str, Callable[..., Any]]) -> None:
        self.__dict__.update(known)

    def __getattr__(self, name: str) -> Callable[..., NoReturn]:
        if name.startswith("_"):
            raise AttributeError(name)

        def ask(*_args: Any, **_kwargs: Any) -> NoReturn:
            _asks_warehouse(f"adapter.{name}")

        return ask


def _asks_warehouse(name: str) -> NoReturn:
    """Ends the rendering: what `name` gives only the warehouse knows."""
    raise NotRenderable(f"{name} asks the warehouse")


def _asking(name: str) -> Callable[..., NoReturn]:
    def ask(*_args: Any, **_kwargs: Any) -> NoReturn:
        _asks_warehouse(name)

    return ask


def _refuse(*_args: Any, **_kwargs: Any) -> NoReturn:
    raise NotRenderable("the project itself refuses it (raise_compiler_error)")


def _silent(*_args: Any, **_kwargs: Any) -> str:
    return ""


def _without_default(name: str, *_args: Any, **_kwargs: Any) -> NoReturn:
    raise NotRenderable(f"env_var {name} has no default")


def _env_var(name: str, default: Any = None) -> Any:
    """Its default: what the environment holds may be a secret, and belongs to another run."""
    return _without_default(str(name)) if default is None else str(default)


def _from_json(text: Any, default: Any = None) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return default


def _from_yaml(text: Any, default: Any = None) -> Any:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return default


def _zip(*lists: Any, default: Any = None) -> Any:
    return [list(row) for row in zip(*lists, strict=False)] if lists else default


def _set(values: Any, default: Any = None) -> Any:
    try:
        return set(values)
    except TypeError:
        return default


def _modules() -> Members:
    pytz = Members({"timezone": ZoneInfo, "utc": datetime.UTC, "UTC": datetime.UTC})
    dates = ("datetime", "date", "time", "timedelta", "timezone")
    patterns = ("match", "search", "sub", "subn", "split", "findall", "finditer", "fullmatch", "compile", "escape")
    flags = ("I", "IGNORECASE", "M", "MULTILINE", "S", "DOTALL", "X", "VERBOSE")
    tools = ("chain", "product", "combinations", "permutations", "islice", "groupby", "accumulate", "zip_longest")
    return Members(
        {
            "datetime": Members({name: vars(datetime)[name] for name in dates}),
            "re": Members({name: vars(re)[name] for name in (*patterns, *flags)}),
            "itertools": Members({name: vars(itertools)[name] for name in tools}),
            "pytz": pytz,
        }
    )


def common_functions() -> dict[str, Any]:
    """dbt's names that mean the same in every project and model."""
    now = datetime.datetime.now(datetime.UTC)
    return {
        "adapter_macro": _asking("adapter_macro"),
        "dbt_version": "1.10.0",
        "doc": _silent,
        "env_var": _env_var,
        "exceptions": Members({"raise_compiler_error": _refuse, "warn": _silent, "raise_not_implemented": _refuse}),
        "execute": True,  # what is asked behind it is refused by name; were it false, SQL would go without a word
        "flags": Members({"FULL_REFRESH": False, "WHICH": "compile", "EMPTY": False}),
        "fromjson": _from_json,
        "fromyaml": _from_yaml,
        "invocation_args_dict": {},
        "invocation_id": "00000000-0000-0000-0000-000000000000",
        "load_result": _asking("load_result"),
        "load_relation": _asking("load_relation"),
        "local_md5": lambda value: hashlib.md5(str(value).encode(), usedforsecurity=False).hexdigest(),
        "log": _silent,
        "modules": _modules(),
        "print": _silent,
        "run_query": _asking("run_query"),
        "run_started_at": now,
        "set": _set,
        "set_strict": set,
        "statement": _asking("statement"),
        "store_result": _asking("store_result"),
        "thread_id": "",
        "tojson": lambda value, default=None, sort_keys=False: json.dumps(value, sort_keys=sort_keys, default=str),
        "toyaml": lambda value, default=None, sort_keys=False: yaml.safe_dump(value, sort_keys=sort_keys),
        "zip": _zip,
        "zip_strict": lambda *lists: [list(row) for row in zip(*lists, strict=False)],
    }


def _as_bool(value: Any) -> Any:
    return {"true": True, "false": False}.get(str(value).strip().lower(), value)


def _as_number(value: Any) -> Any:
    for kind in (int, float):
        with suppress(TypeError, ValueError):
            return kind(value)
    return value


FILTERS: Mapping[str, Callable[[Any], Any]] = {
    "as_bool": _as_bool,
    "as_native": lambda value: value,
    "as_number": _as_number,
    "as_text": str,
}
"""dbt's own; Jinja has no others of these names."""
