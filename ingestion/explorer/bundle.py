"""Several ES modules as one: a page opened from disk may not import, so each module becomes a function's inside."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping

_IMPORT = re.compile(r'^import \{(?P<names>[^}]*)\} from "(?P<path>\.\.?/[a-z_/]+)\.mjs";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|class|const) (?P<name>\w+))", re.MULTILINE)
_EXPORTED = re.compile(r"^export (?:async )?(?:function\*?|class|const) (?P<name>\w+)", re.MULTILINE)


def bundle(modules: Mapping[str, str], entry: str) -> str:
    """`entry` and the modules that it imports, in order of dependence, each with names of its own.

    A module is called by its path without an ending. The modules import named exports of others by relative paths,
    one statement a line, and export declarations.
    """
    order: list[str] = []
    _visit(entry, modules, order)
    return "\n".join(_wrap(name, modules[name]) for name in order)


def _visit(name: str, modules: Mapping[str, str], order: list[str]) -> None:
    if name in order:
        return
    for imported, _ in _imports(name, modules[name]):
        _visit(imported, modules, order)
    order.append(name)


def _imports(name: str, source: str) -> Iterator[tuple[str, str]]:
    """The modules that one imports, each with the names that it takes."""
    for found in _IMPORT.finditer(source):
        yield posixpath.normpath(posixpath.join(posixpath.dirname(name), found["path"])), found["names"].strip()


def _wrap(name: str, source: str) -> str:
    imports = [f"const {{{names}}} = {_variable(imported)};" for imported, names in _imports(name, source)]
    exported = ", ".join(found["name"] for found in _EXPORTED.finditer(source))
    body = _EXPORT.sub("", _IMPORT.sub("", source))
    return "\n".join(
        [f"const {_variable(name)} = (() => {{", *imports, body.rstrip(), f"return {{ {exported} }};", "})();"]
    )


def _variable(name: str) -> str:
    return f"module_{name.replace('/', '$')}"
