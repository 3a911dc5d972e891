"""Macros: where a name is looked for, which variant an adapter has, and what a call gives."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from types import CodeType
from typing import Any

import jinja2

from connectors.dbt.rendering.failures import NotRenderable
from connectors.dbt.rendering.scope import TemplateMacro

DBT = "dbt"
"""The package of what dbt brings along itself."""

_PARENTS: Mapping[str, str] = {
    "redshift": "postgres",
    "databricks": "spark",
    "materialize": "postgres",
    "fabric": "sqlserver",
    "synapse": "sqlserver",
    "risingwave": "postgres",
}
# After one that has no end none has: the rest of the text is taken at once.
_COMMENT = re.compile(r"\{#[\s\S]*?#\}|(\{#[\s\S]*+)")
_MACRO = re.compile(
    r"\{%-?\s*+macro\s++(\w++)(?:[\s\S]*?\{%-?\s*+endmacro\s*+-?%\}|(?P<without_end>[\s\S]*+))",
)

Globals = Callable[[str], dict[str, Any]]
"""The names that templates of a package see."""


class _Returned(NotRenderable):
    """What `return` was given."""

    def __init__(self, value: Any) -> None:
        super().__init__("return is called outside of a macro")
        self.value = value


def hand_back(value: Any = None) -> None:
    """dbt's `return`."""
    raise _Returned(value)


def macros_in(text: str, package: str, file: str = "") -> list[TemplateMacro]:
    """The macro blocks of the text of a `file`; what stands around them is nothing to dbt either."""
    plain = _COMMENT.sub(r"\1", text)
    blocks = (match for match in _MACRO.finditer(plain) if match["without_end"] is None)
    return [TemplateMacro(package, match[1], match.group(), file) for match in blocks]


class MacroLibrary:
    """All macros of a project and its packages, compiled when they are first needed."""

    def __init__(self, environment: jinja2.Environment, macros: Iterable[TemplateMacro]) -> None:
        self._environment = environment
        by_name = {(macro.package, macro.name): macro for macro in macros}
        self._texts = {key: macro.text for key, macro in by_name.items()}
        self._files = {key: macro.file for key, macro in by_name.items()}
        self._code: dict[tuple[str, str], CodeType] = {}
        self.packages: dict[str, list[str]] = {}
        for package, name in self._texts:
            self.packages.setdefault(package, []).append(name)

    def has(self, package: str, name: str) -> bool:
        return (package, name) in self._texts

    def file(self, package: str, name: str) -> str:
        """The file of a macro, "" where it is not known."""
        return self._files.get((package, name), "")

    def macro(self, package: str, name: str, names: dict[str, Any]) -> Callable[..., Any]:
        """A macro that sees these names."""
        key = package, name
        if key not in self._code:
            self._code[key] = self._environment.compile(self._texts[key], name, f"{package}.{name}")
        template = jinja2.Template.from_code(self._environment, self._code[key], names)
        context = template.new_context()
        for _text in template.root_render_func(context):  # not its `module`, which lacks names that begin with _
            pass
        found: Callable[..., Any] = context.vars[name]
        return found


class MacroName:
    """A macro as a template sees it: it can be called."""

    def __init__(self, library: MacroLibrary, package: str, name: str, names: Globals) -> None:
        self._library, self._package, self._name, self._names = library, package, name, names

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the macro gives: what it returns, else its text."""
        try:
            return self._library.macro(self._package, self._name, self._names(self._package))(*args, **kwargs)
        except _Returned as returned:
            return returned.value


def dispatch(library: MacroLibrary, names: Globals, name: str, searched: Iterable[str], adapter: str) -> MacroName:
    """The variant of a macro for an adapter, from the first of the packages that has one. Raises NotRenderable."""
    prefixes = [adapter]
    while prefixes[-1] in _PARENTS:
        prefixes.append(_PARENTS[prefixes[-1]])
    for package in dict.fromkeys(searched):
        for prefix in (*prefixes, "default"):
            if library.has(package, f"{prefix}__{name}"):
                return MacroName(library, package, f"{prefix}__{name}", names)
    raise NotRenderable(f"no package here has the macro {name} for {adapter or 'this adapter'}: run dbt deps")
