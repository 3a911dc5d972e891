"""A SQLMesh model rendered by rules of our own, in the process that can be killed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import jinja2
import sqlglot
from jinja2.sandbox import SandboxedEnvironment
from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError

from connectors.sqlmesh._headers import MalformedHeader, ModelHeader, model_header
from connectors.sqlmesh._macros import MOST_CHARACTERS, MacroScope, NotExpandable, expand
from ingestion.statements import split

_JINJA = re.compile(r"\bJINJA_(QUERY|STATEMENT)_BEGIN\b\s*;?([\s\S]*?)\bJINJA_END\b\s*;?", re.IGNORECASE)
_VIRTUAL = re.compile(r"\bON_VIRTUAL_UPDATE_BEGIN\b[\s\S]*?(?:\bON_VIRTUAL_UPDATE_END\b\s*;?|\Z)", re.IGNORECASE)
_QUERY = re.compile(r"[\s(]*+(?:select|with|from|values)\b", re.IGNORECASE)
_DEF = re.compile(r"@DEF\s*\(\s*(\w+)\s*,([\s\S]*)\)\s*\Z", re.IGNORECASE)
_AUDIT = re.compile(r"\s*audit\s*\(", re.IGNORECASE)
_MACRO_BLOCK = re.compile(r"\{%-?\s*macro\b[\s\S]*?\{%-?\s*endmacro\s*-?%\}")
_IDENTIFIER = re.compile(r"\w+")
_MAY_BE_UNNAMED = re.compile(r"::|\bcast\s*\(|[\s,]\(", re.IGNORECASE)
_NAMED_BY_SQLMESH = (exp.Cast, exp.Paren)
_MOMENTS = ("start", "end", "execution", "latest")


class _NotGiven(jinja2.Undefined):
    def __str__(self) -> str:
        self._fail_with_undefined_error()


_ENVIRONMENT = SandboxedEnvironment(extensions=["jinja2.ext.do"], undefined=_NotGiven)


@dataclass(frozen=True, slots=True)
class ProjectScope:
    """What all models of a project see: its variables as text, its macros in Jinja, the name of its gateway."""

    dialect: str
    variables: dict[str, str] = field(default_factory=dict)
    jinja_macros: str = ""

    def to_json(self) -> str:
        return json.dumps([self.dialect, self.variables, self.jinja_macros])

    @classmethod
    def from_json(cls, text: str) -> ProjectScope:
        """Of what `to_json` gave."""
        return cls(*json.loads(text))


def jinja_macros_of(text: str) -> str:
    """The macros of a file, and nothing else of it."""
    return "\n".join(_MACRO_BLOCK.findall(text))


def answer(request: str, scope_file: str) -> bytes:
    """The models of the text in a request as JSON: `models`, each with its name and query or reason; or a `reason`.

    A request with `embedded` has queries by the names of models that stand in no database: they go into the text. One
    with `configuration` has the text of a configuration, whose templates are filled in.
    """
    if not request.startswith("{"):
        return b""
    asked = json.loads(request)
    scope = _scope(scope_file)
    try:
        if "configuration" in asked:
            return json.dumps({"text": _filled_in(asked["configuration"], {"env_var": _default_of})}).encode()
        if "embedded" in asked:
            return json.dumps({"query": _with_embedded(asked["text"], asked["embedded"], scope.dialect)}).encode()
        return json.dumps({"models": _models(asked["text"], scope)}).encode()
    except MalformedHeader as error:
        return json.dumps({"reason": f"not a model: {error}"}).encode()
    except (NotExpandable, jinja2.TemplateError, ArithmeticError, TypeError, ValueError) as error:
        return json.dumps({"reason": _reason(error)}).encode()


def _default_of(_name: str, default: object = "") -> object:
    """What a variable of the environment is taken for: it may be a secret, and is not asked for."""
    return default


@lru_cache(maxsize=2)
def _scope(scope_file: str) -> ProjectScope:
    return ProjectScope.from_json(Path(scope_file).read_text("utf-8"))


def _models(text: str, scope: ProjectScope) -> list[dict[str, Any]]:
    header = model_header(text)
    if header is None:
        return []
    blueprints = header.blueprints
    if blueprints is None:
        return [{"name": header.name, "reason": "templated: a macro makes its blueprints"}]
    return [_model(text, header, scope, blueprint) for blueprint in blueprints]


def _model(text: str, header: ModelHeader, project: ProjectScope, blueprint: dict[str, str]) -> dict[str, Any]:
    own_dialect = header.fields.get("dialect", "").strip().strip("'\"").lower() or project.dialect
    scope = MacroScope({**project.variables, **blueprint}, {}, own_dialect)
    name = header.name
    try:
        name = expand(name, scope) if "@" in name else name
        here = scope.with_variables({"this_model": name, "model_kind_name": f"'{header.kind}'"})
        query = _with_names(_query(text, header, project, here), own_dialect)
        query = _in_dialect(query, own_dialect, project.dialect)
    except (NotExpandable, jinja2.TemplateError, SqlglotError, ArithmeticError, TypeError, ValueError) as error:
        return {"name": name, "reason": _reason(error)}
    return {"name": name, "query": query}


def _reason(error: Exception) -> str:
    if isinstance(error, SqlglotError):
        return "unparsable: its own dialect's SQL cannot be read"
    if isinstance(error, NotExpandable):
        return f"templated: {error}"
    return f"templated: not rendered ({type(error).__name__})"


def _query(text: str, header: ModelHeader, project: ProjectScope, scope: MacroScope) -> str:
    """The query, on its lines; "" where the model has none (a seed)."""
    above = "\n" * text.count("\n", 0, header.end)
    body = _VIRTUAL.sub(_blank, above + text[header.end :])
    for block in _JINJA.finditer(body):
        if block[1].upper() == "QUERY":
            return expand("\n" * body.count("\n", 0, block.start(2)) + _jinja(block[2], project, scope), scope)
    body = _JINJA.sub(_blank, body)
    for statement in split(body, scope.dialect or "ansi"):
        if (defined := _DEF.match(statement.text.rstrip(";").strip())) is not None:
            scope = _with_definition(scope, defined[1].lower(), defined[2].strip())
        elif _QUERY.match(statement.text):
            return expand("\n" * (statement.line - 1) + statement.text, scope)
        elif _AUDIT.match(statement.text):
            break
    if header.kind == "SEED":
        return ""
    raise NotExpandable("its query is made by a macro, or there is none")


def _with_definition(scope: MacroScope, name: str, value: str) -> MacroScope:
    if "->" in value:
        return MacroScope(scope.variables, {**scope.macros, name: value}, scope.dialect, scope.depth)
    return scope.with_variables({name: expand(value, scope)})


def _jinja(text: str, project: ProjectScope, scope: MacroScope) -> str:
    known: dict[str, Any] = {f"{moment}_ds": "2020-01-01" for moment in _MOMENTS}
    known |= {f"{moment}_{unit}": "2020-01-01 00:00:00" for moment in _MOMENTS for unit in ("date", "dt", "ts", "tstz")}
    known |= {f"{moment}_epoch": 1577836800 for moment in _MOMENTS}
    values = {name: value[1:-1] if value[:1] == "'" else value for name, value in scope.variables.items()}

    def variable(name: str, default: Any = None) -> Any:
        value = values.get(str(name).lower(), default)
        if value is None:
            raise NotExpandable(f"var {name}, which is given nowhere")
        return value

    names = {**known, **values, "var": variable, "blueprint_var": variable}
    return _filled_in(f"{project.jinja_macros}{text}", names)


def _filled_in(template: str, names: Mapping[str, Any]) -> str:
    written: list[str] = []
    length = 0
    for part in _ENVIRONMENT.from_string(template).generate(names):
        written.append(part)
        length += len(part)
        if length > MOST_CHARACTERS:
            raise NotExpandable("its template makes more than 4 MB")
    return "".join(written)


def _with_embedded(query: str, embedded: dict[str, str], dialect: str) -> str:
    """The query with a subquery in place of each model that is embedded; those may read each other.

    One that names none of them stays as it is. Raises NotExpandable where they cannot be put into it: read as they
    stand, their names would be those of tables that no database has.
    """
    read = _named_in(query, embedded)
    if not read:
        return query
    try:
        sources: Any = {name: sqlglot.parse_one(text, read=dialect or None) for name, text in read.items()}
        made = exp.expand(sqlglot.parse_one(query, read=dialect or None), sources, dialect=dialect or None)
    except (SqlglotError, TypeError):
        raise NotExpandable("an embedded model that it may read cannot be put into it") from None
    return made.sql(dialect=dialect or None)


def _named_in(query: str, embedded: dict[str, str]) -> dict[str, str]:
    """The models that may be read by a query, and by those that it reads: by the last part of their names."""
    found: dict[str, str] = {}
    waiting = [query]
    while waiting:
        words = set(_IDENTIFIER.findall(waiting.pop().lower()))
        more = {
            name: text
            for name, text in embedded.items()
            if name not in found and words.issuperset(_IDENTIFIER.findall(name.lower())[-1:])
        }
        found |= more
        waiting += more.values()
    return found


def _with_names(query: str, dialect: str) -> str:
    """The query with names for the columns that SQLMesh names itself: `a::INT` and `(a)` are called a, whatever engine.

    One without such columns stays as it is written.
    """
    if not _MAY_BE_UNNAMED.search(query):
        return query
    tree = sqlglot.parse_one(query, read=dialect or None)
    columns = tree.selects if isinstance(tree, exp.Query) else []
    unnamed = [one for one in columns if isinstance(one, _NAMED_BY_SQLMESH) and one.output_name]
    for one in unnamed:
        one.replace(exp.alias_(one.copy(), one.output_name))
    above = query[: len(query) - len(query.lstrip())]
    return f"{above}{tree.sql(dialect=dialect or None)}" if unnamed else query


def _blank(match: re.Match[str]) -> str:
    return "\n" * match.group().count("\n")


def _in_dialect(query: str, written: str, wanted: str) -> str:
    """The query in the SQL of the project, where a model has SQL of its own."""
    if not query or written == wanted:
        return query
    return sqlglot.transpile(query, read=written or None, write=wanted or None, unsupported_level=ErrorLevel.IGNORE)[0]
