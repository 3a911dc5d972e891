"""The path that a table function of sqlglot's tree reads or writes, and never its credentials."""

from __future__ import annotations

from sqlglot import exp

from ingestion.dialects.functions import FILE_READERS

_SPELLED_OUT = {"OPEN_J_S_O_N": "OPENJSON", "J_S_O_N_TABLE": "JSON_TABLE", "X_M_L_TABLE": "XMLTABLE"}
_OPTIONS = frozenset({"path", "uri", "url", "file_path", "location"})
_TEXTS = (exp.Concat, exp.DPipe, exp.Add, exp.Array, exp.Tuple, exp.Paren)
_PAIRS = (exp.EQ, exp.PropertyEQ, exp.Kwarg)


def function_name(function: exp.Expr) -> str:
    """The function's name in capitals."""
    if isinstance(function, exp.Anonymous):
        return str(function.this).upper()
    if isinstance(function, exp.Dot):
        return function_name(function.expression)
    if isinstance(function, exp.Func):
        name = str(function.sql_names()[0]).removeprefix("EXPLODING_")
        return _SPELLED_OUT.get(name, name)
    return type(function).__name__.upper()


def function_as_written(function: exp.Expr) -> str:
    """The function's name in the statement's own spelling, as far as the tree has kept it."""
    return str(function.this) if isinstance(function, exp.Anonymous) else function_name(function).lower()


def is_reader(function: exp.Expr) -> bool:
    """Whether the function reads or writes files."""
    return type(function) is exp.ReadCSV or function_name(function) in FILE_READERS


def path_of(function: exp.Expr) -> str | None:
    """The path of a function that reads or writes files; None where it is not constant.

    It stands at a place of its own: whatever else looks like a path may be a secret.
    """
    if not is_reader(function):
        return None
    arguments = [item for item in (function.args.get("this"), *function.expressions) if isinstance(item, exp.Expr)]
    for pair in arguments:
        if isinstance(pair, _PAIRS) and pair.this.name.lower() in _OPTIONS:
            return _constant(pair.expression)
    name = function_name(function)
    places = [item for item in arguments if not isinstance(item, _PAIRS)][name.endswith("CLUSTER") :]
    if name.startswith("AZUREBLOBSTORAGE"):
        return _blob(places)
    return _constant(places[0]) if places else None


def _blob(places: list[exp.Expr]) -> str | None:
    """ClickHouse: azureBlobStorage(account's address or connection string, container, path, …)."""
    account, *inside = [_constant(place) or "" for place in places[:3]]
    known = [part for part in ("" if ";" in account else account.rstrip("/"), *inside) if part]
    return "/".join(known) or None


def _constant(node: exp.Expr) -> str | None:
    """The text, or what a list or a concatenation begins with."""
    while isinstance(node, _TEXTS):
        first = node.expressions[0] if node.expressions else node.args.get("this")
        if not isinstance(first, exp.Expr):
            return None
        node = first
    return str(node.name) if type(node) is exp.Literal and node.args.get("is_string") else None
