"""The settings of a project as its templates ask for them: `config` and `var`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from connectors.dbt.rendering.failures import NotRenderable
from connectors.dbt.rendering.scope import TemplateScope


class ConfigCall:
    """`config`: called, it sets; `get` and `require` read."""

    def __init__(self, config: dict[str, Any]) -> None:
        self._config = config

    def __call__(self, *args: Any, **kwargs: Any) -> str:
        for given in (*args, kwargs):
            if isinstance(given, Mapping):
                self._config.update(given)
        return ""

    def get(self, name: str, default: Any = None, **_validator: Any) -> Any:
        return self._config.get(name, default)

    def require(self, name: str, **_validator: Any) -> Any:
        if name not in self._config:
            raise NotRenderable(f"config {name} is needed and not given")
        return self._config[name]

    def set(self, name: str, value: Any) -> str:
        self._config[name] = value
        return ""

    def persist_relation_docs(self) -> bool:
        return False

    def persist_column_docs(self) -> bool:
        return False


_NOT_GIVEN = object()
"""Apart from none, which a template may give as the default."""


class ProjectVariables:
    """`var`: of the root project, then of the package's own file.

    `value` gives what a value of a YAML file means that may be a template.
    """

    def __init__(self, scope: TemplateScope, package: str, value: Callable[[Any], Any]) -> None:
        of_root, of_package = scope.variables, scope.package_variables.get(package, {})
        own = [values[package] for values in (of_root, of_package) if isinstance(values.get(package), dict)]
        self._layers: list[Mapping[str, Any]] = [*own[:1], of_root, *own[1:], of_package]
        self._value = value

    def __call__(self, name: str, default: Any = _NOT_GIVEN) -> Any:
        for values in self._layers:
            if name in values:
                return self._value(values[name])
        if default is _NOT_GIVEN:
            raise NotRenderable(f"var {name} is given nowhere")
        return default

    def has_var(self, name: str) -> bool:
        return any(name in values for values in self._layers)
