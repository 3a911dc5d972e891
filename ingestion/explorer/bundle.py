"""Several ES modules as one: a page opened from disk may not import, so each module becomes a function's inside."""

from __future__ import annotations

import re
from collections.abc import Mapping

_IMPORT = re.compile(r'^import \{(?P<names>[^}]*)\} from "\./(?P<module>[a-z_]+)\.mjs";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const) (?P<name>\w+))", re.MULTILINE)
_EXPORTED = re.compile(r"^export (?:async )?(?:function|class|const) (?P<name>\w+)", re.MULTILINE)


def bundle(modules: Mapping[str, str], entry: str) -> str:
    """`entry` and the modules that it imports, in order of dependence, each with names of its own.

    The modules import named exports of their neighbours, one statement a line, and export declarations.
    """
    order: list[str] = []
    _visit(entry, modules, order)
    return "\n".join(_wrap(name, modules[name]) for name in order)


def _visit(name: str, modules: Mapping[str, str], order: list[str]) -> None:
    if name in order:
        return
    for found in _IMPORT.finditer(modules[name]):
        _visit(found["module"], modules, order)
    order.append(name)


def _wrap(name: str, source: str) -> str:
    imports = [f"const {{{found['names'].strip()}}} = module_{found['module']};" for found in _IMPORT.finditer(source)]
    exported = ", ".join(found["name"] for found in _EXPORTED.finditer(source))
    body = _EXPORT.sub("", _IMPORT.sub("", source))
    return "\n".join(
        [f"const module_{name} = (() => {{", *imports, body.rstrip(), f"return {{ {exported} }};", "})();"]
    )
