"""SQLMesh's models in Python: what their decorator says, and which models they ask for; nothing of them is run."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

_ASKED = ("resolve_table", "table")
"""Methods of SQLMesh's context whose argument names a model."""


@dataclass(frozen=True, slots=True)
class PythonModel:
    """A model: `reads` are the names of models that it declares or asks for, `reason` why it cannot be told."""

    name: str
    line: int
    kind: str = "FULL"
    columns: Mapping[str, str] = field(default_factory=dict)
    reads: tuple[str, ...] = ()
    grains: tuple[str, ...] = ()
    reason: str = ""


def python_models(text: str) -> tuple[PythonModel, ...]:
    """The models of a module. Raises SyntaxError, ValueError, RecursionError where it is no Python."""
    module = ast.parse(text)
    constants = dict(_constants(module))
    asked = tuple(dict.fromkeys(_asked_for(module, constants)))
    return tuple(
        _model(call, constants, asked)
        for node in ast.walk(module)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for call in node.decorator_list
        if isinstance(call, ast.Call) and _name_called(call) == "model"
    )


def _name_called(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _constants(module: ast.Module) -> Iterator[tuple[str, object]]:
    for node in module.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, _value(node.value, {})


def _value(node: ast.expr | None, constants: Mapping[str, object]) -> object:
    """The value of a literal or of a module's constant; None where it is neither."""
    if isinstance(node, ast.Name):
        return constants.get(node.id)
    try:
        return ast.literal_eval(node) if node is not None else None
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def _asked_for(module: ast.Module, constants: Mapping[str, object]) -> Iterator[str]:
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _ASKED:
            given = [*node.args[:1], *(one.value for one in node.keywords if one.arg in ("table_name", "model_name"))]
            name = _value(given[0], constants) if given else None
            if isinstance(name, str):
                yield name


def _model(call: ast.Call, constants: Mapping[str, object], asked: tuple[str, ...]) -> PythonModel:
    given = {one.arg: one.value for one in call.keywords if one.arg}
    name = _value(call.args[0] if call.args else given.get("name"), constants)
    columns, declared = _value(given.get("columns"), constants), _value(given.get("depends_on"), constants)
    reason = ""
    if not isinstance(name, str) or "@" in name:
        reason = "templated: its name is made by Python"
    elif _value(given.get("is_sql"), constants) is True:
        reason = "templated: its SQL is made by Python"
    reads = tuple(map(str, declared)) if isinstance(declared, list | tuple | set) else asked
    grains = _value(given.get("grains", given.get("grain")), constants)
    return PythonModel(
        name if isinstance(name, str) else "",
        call.lineno,
        _kind(given.get("kind"), constants),
        {str(column): str(kind) for column, kind in columns.items()} if isinstance(columns, dict) else {},
        tuple(sorted(reads)),
        tuple(map(str, grains)) if isinstance(grains, list | tuple) else (grains,) if isinstance(grains, str) else (),
        reason,
    )


def _kind(node: ast.expr | None, constants: Mapping[str, object]) -> str:
    """`"FULL"`, `dict(name=ModelKindName.FULL)` and `FullKind()` are one."""
    if isinstance(node, ast.Call):
        named = next((one.value for one in node.keywords if one.arg == "name"), None)
        return _kind(named, constants) if named is not None else _name_called(node).removesuffix("Kind").upper()
    if isinstance(node, ast.Attribute):
        return node.attr
    value = _value(node, constants)
    if isinstance(value, dict):
        value = value.get("name")
    return value.upper() if isinstance(value, str) else "FULL"
