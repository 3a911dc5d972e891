"""Relations and columns as templates handle them: names that print as the warehouse's SQL has them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import cycle
from typing import Any

from connectors.dbt.rendering.failures import NotRenderable
from ingestion.dialects import dialect_of
from ingestion.dialects.definition import Fold
from ingestion.routines.definition import quote_name

_BARE_NAME = re.compile(r"[A-Za-z_]\w*")
_PARTS = ("database", "schema", "identifier", "metadata")


@dataclass(frozen=True)
class TemplateRelation(Mapping[str, Any]):
    """A relation's name in its parts, as dbt's own objects have them (mappings too); prints as the quoted name.

    `cte` is the name of the WITH item where it is an ephemeral model, which has no place.
    """

    database: str | None
    schema: str | None
    identifier: str
    dialect: str = "ansi"
    cte: str = ""

    def __str__(self) -> str:
        return self.cte or relation_name(self.place, self.dialect)

    def __getitem__(self, name: str) -> Any:
        values = (self.database, self.schema, self.identifier, self.metadata)
        return dict(zip(_PARTS, values, strict=True))[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_PARTS)

    def __len__(self) -> int:
        return len(_PARTS)

    @property
    def place(self) -> tuple[str, str, str]:
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


TYPE_ASKED = "the type of a column asks the warehouse"


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


TypeAnswer = Callable[[], bool]


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


def relation_name(place: tuple[str, str, str], dialect: str) -> str:
    """A place as dbt writes it in the dialect: in quotes, but where bare names are in upper case."""
    rules = dialect_of(dialect)
    parts = place[1:] if rules.two_level and place[1] else place
    bare = rules.relations.bare is Fold.UPPER
    return ".".join(part if bare and _BARE_NAME.fullmatch(part) else quote_name(part, rules) for part in parts if part)
