"""What templates see beside macros: dbt's functions, settings, relations, the graph; and why one cannot be rendered."""

from __future__ import annotations

import datetime
import hashlib
import itertools
import json
import re
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import cycle
from typing import Any, NoReturn
from zoneinfo import ZoneInfo

import jinja2
import yaml

from connectors.dbt._template_scope import TemplateNode, TemplateScope, TemplateSource
from connectors.dbt.nodes import NOT_KNOWN
from ingestion.dialects import dialect_of
from ingestion.dialects.definition import Fold
from ingestion.statements.routines.definition import quote_name

_MEMBER = re.compile(r"^'[\w.]+ object' has no attribute ")

MODEL = "<model>"
"""The file name of the template that is being rendered, by which its lines are found in a trace."""

_NOT_GIVEN = object()
"""Apart from none, which a template may give as the default."""

_BARE_NAME = re.compile(r"[A-Za-z_]\w*")
_PARTS = ("database", "schema", "identifier", "metadata")

TYPE_ASKED = "the type of a column asks the warehouse"

TypeAnswer = Callable[[], bool]


# Why a template cannot be rendered here, and on which of its lines.


class NotRenderable(Exception):
    """The template asks for what is not here; the message names it, and quotes nothing else."""


TEMPLATE_ERRORS: tuple[type[Exception], ...] = (
    jinja2.TemplateError,
    NotRenderable,
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RuntimeError,
    TypeError,
    ValueError,
    re.error,
)
"""What a template can raise by what it says."""


def failure_of(error: Exception) -> tuple[int, str]:
    """The line of the model (0: unknown) and the reason why it cannot be rendered."""
    if isinstance(error, jinja2.TemplateSyntaxError):
        return (error.lineno if error.filename == MODEL else 0), "not valid Jinja"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == MODEL]
    if isinstance(error, jinja2.UndefinedError):
        reason = _MEMBER.sub("there is no ", str(error))
    elif isinstance(error, NotRenderable):
        reason = str(error)
    elif isinstance(error, jinja2.exceptions.SecurityError):
        reason = "reaches for what a template may not have"
    else:
        reason = type(error).__name__
    return (lines[-1] if lines else 0) or 0, reason


# What dbt gives every template whatever the project: conversions, modules, a warehouse that cannot be asked.


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


class UnknownName(jinja2.Undefined):
    """What is not at hand, where the rest of a template is to be read all the same."""

    def _itself(self, *_args: Any, **_kwargs: Any) -> UnknownName:
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return False if name in ("unsafe_callable", "alters_data") else self

    def __str__(self) -> str:
        return NOT_KNOWN

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[UnknownName]:
        return iter((self,))

    def __len__(self) -> int:
        return 1

    def _with_text(self, _other: object) -> str:
        return NOT_KNOWN

    __call__ = __getitem__ = _itself  # type: ignore[assignment]
    __add__ = __radd__ = _with_text  # type: ignore[assignment]


class Warehouse:
    """`adapter`: what the project itself does not know ends the rendering."""

    def __init__(self, known: Mapping[str, Callable[..., Any]]) -> None:
        self.__dict__.update(known)

    def __getattr__(self, name: str) -> Callable[..., NoReturn]:
        if name.startswith("_"):
            raise AttributeError(name)
        return _asking(f"adapter.{name}")


def _asking(name: str) -> Callable[..., NoReturn]:
    """A function that ends the rendering: what `name` gives only the warehouse knows."""

    def ask(*_args: Any, **_kwargs: Any) -> NoReturn:
        raise NotRenderable(f"{name} asks the warehouse")

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


# The settings of a project as its templates ask for them: `config` and `var`.


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


# Relations and columns as templates handle them: names that print as the warehouse's SQL has them.


@dataclass(frozen=True)
class TemplateRelation(Mapping[str, Any]):
    """A relation's name in its parts, as dbt's own objects have them (mappings too); prints as the quoted name.

    `cte` is the name of the WITH item where it is an ephemeral model, which no relation stands for.
    """

    database: str | None
    schema: str | None
    identifier: str
    dialect: str = "ansi"
    cte: str = ""

    def __str__(self) -> str:
        return self.cte or relation_name(self.relation_key, self.dialect)

    def __getitem__(self, name: str) -> Any:
        values = (self.database, self.schema, self.identifier, self.metadata)
        return dict(zip(_PARTS, values, strict=True))[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_PARTS)

    def __len__(self) -> int:
        return len(_PARTS)

    @property
    def relation_key(self) -> tuple[str, str, str]:
        return self.database or "", self.schema or "", self.identifier

    @property
    def metadata(self) -> dict[str, str]:
        return {"type": "Relation"}

    @property
    def name(self) -> str:
        return self.identifier

    @property
    def table(self) -> str:
        return self.identifier

    @property
    def is_cte(self) -> bool:
        return bool(self.cte)

    def render(self) -> str:
        return str(self)

    def include(self, *, database: bool = True, schema: bool = True, identifier: bool = True) -> TemplateRelation:
        """The relation without the parts of its name that are False: database, schema, identifier."""
        return replace(
            self,
            database=self.database if database else None,
            schema=self.schema if schema else None,
            identifier=self.identifier if identifier else "",
        )

    def without_identifier(self) -> TemplateRelation:
        return self.include(identifier=False)

    def quote(self, **_parts: bool) -> TemplateRelation:
        """Quotes do not change what a name here means."""
        return self

    def quoted(self, identifier: str) -> str:
        return quote_name(identifier, dialect_of(self.dialect))


@dataclass
class TypeAnswers:
    """What a template that asks for the types of columns is answered, one after the other; None: it is ended."""

    answers: Iterator[bool] | None = field(default_factory=lambda: cycle((False,)))
    asked: bool = False

    def answer(self) -> bool:
        """The next answer."""
        self.asked = True
        if self.answers is None:
            raise NotRenderable(TYPE_ASKED)
        return next(self.answers)


class _Unknown:
    """A column's type or size: it may be printed, for a cast changes no lineage; what asks for it gets an answer."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, answer: TypeAnswer) -> None:
        self._answer = answer

    def __str__(self) -> str:
        return "unknown"

    def __eq__(self, _other: object) -> bool:
        return self._answer()

    def __ne__(self, _other: object) -> bool:
        return not self._answer()

    def __gt__(self, _other: object) -> bool:
        return self._answer()

    __lt__ = __ge__ = __le__ = __contains__ = __gt__

    def __bool__(self) -> bool:
        return True

    def lower(self) -> _Unknown:
        """Its spelling says nothing."""
        return self

    upper = lower


@dataclass(frozen=True)
class TemplateColumn:
    """A column of a relation; its type only the warehouse knows, and `answer` stands for what it would say."""

    name: str
    dialect: str = "ansi"
    answer: TypeAnswer = bool

    @property
    def column(self) -> str:
        return self.name

    @property
    def quoted(self) -> str:
        return quote_name(self.name, dialect_of(self.dialect))

    @property
    def data_type(self) -> _Unknown:
        return _Unknown(self.answer)

    dtype = data_type

    def string_size(self) -> _Unknown:
        """How many characters it may have."""
        return _Unknown(self.answer)

    def is_string(self) -> bool:
        return self.answer()

    is_number = is_numeric = is_integer = is_float = is_string

    def can_expand_to(self, _other: object) -> bool:
        """Which of two types is the wider one decides nothing but a type."""
        return False


class ColumnApi:
    """`api.Column`: columns of a template's own, and the names of types, which change no lineage."""

    def __init__(self, dialect: str) -> None:
        self._dialect = dialect

    def __call__(self, column: str, *_type: Any, **_size: Any) -> TemplateColumn:
        return TemplateColumn(column, self._dialect)

    create = __call__

    def translate_type(self, dtype: str) -> str:
        """The name of a type in the warehouse."""
        return "text" if dtype.lower() == "string" else dtype

    def string_type(self, size: int) -> str:
        return f"character varying({size})"

    def numeric_type(self, dtype: str, precision: Any = None, scale: Any = None) -> str:
        """The `dtype` with its `precision` and `scale`, where both are given."""
        return dtype if precision is None or scale is None else f"{dtype}({precision},{scale})"


def relation_name(relation_key: tuple[str, str, str], dialect: str) -> str:
    """A relation's key as dbt writes it in the dialect: in quotes, but where bare names are in upper case."""
    rules = dialect_of(dialect)
    parts = relation_key[1:] if rules.two_level and relation_key[1] else relation_key
    bare = rules.relations.bare is Fold.UPPER
    return ".".join(part if bare and _BARE_NAME.fullmatch(part) else quote_name(part, rules) for part in parts if part)


# `graph`: the nodes and sources of the project as templates look them up, of what its files tell.


class _GraphEntry(Mapping[str, Any]):
    """What is known of the `subject`; what is not ends the rendering, since none would pass for its value."""

    def __init__(self, subject: str, known: Mapping[str, Any]) -> None:
        self._subject, self._known = subject, known

    def __getitem__(self, name: str) -> Any:
        if name not in self._known:
            raise NotRenderable(f"{name} of {self._subject} is not known without dbt")
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


class ProjectGraph(Mapping[str, Any]):
    """`graph`, whose parts are made when one is asked for.

    `layers_of` gives what YAML files say of a node's config, `key_of` a source's database, schema and identifier.
    """

    def __init__(
        self,
        scope: TemplateScope,
        layers_of: Callable[[TemplateNode], dict[str, Any]],
        key_of: Callable[[TemplateSource], tuple[str, str, str]],
    ) -> None:
        self._scope, self._layers_of, self._key_of = scope, layers_of, key_of
        self._parts: dict[str, dict[str, _GraphEntry]] = {}

    def __getitem__(self, name: str) -> dict[str, _GraphEntry]:
        if name not in self._parts:
            self._parts[name] = self._part(name)
        return self._parts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(("nodes", "sources"))

    def __len__(self) -> int:
        return 2

    def _part(self, name: str) -> dict[str, _GraphEntry]:
        if name == "nodes":
            return {node.unique_id: _GraphEntry("a node", self._node(node)) for node in self._scope.nodes}
        if name == "sources":
            return {source.unique_id: _GraphEntry("a source", self._source(source)) for source in self._scope.sources}
        raise NotRenderable(f"graph.{name} is not known without dbt")

    def _node(self, node: TemplateNode) -> dict[str, Any]:
        config = self._layers_of(node) if node.config is None else dict(node.config)
        known = {
            "unique_id": node.unique_id,
            "name": node.name,
            "resource_type": node.kind,
            "package_name": node.package,
            "version": node.version or None,
            "config": config,
            "meta": config.get("meta") or {},
            "tags": config.get("tags") or [],
            "original_file_path": node.path,
        }
        if node.relation_key is not None:
            known |= dict(zip(("database", "schema", "alias"), node.relation_key, strict=True))
        return known

    def _source(self, source: TemplateSource) -> dict[str, Any]:
        database, schema, identifier = self._key_of(source)
        return {
            "unique_id": source.unique_id,
            "name": source.table,
            "source_name": source.source,
            "resource_type": "source",
            "package_name": source.package,
            "database": database,
            "schema": schema,
            "identifier": identifier,
        }
