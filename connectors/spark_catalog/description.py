"""What DESCRIBE TABLE EXTENDED tells of a relation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ingestion.dialects import dialect_of
from ingestion.model import Column
from ingestion.plans.text.name_mapping import plain_parts
from ingestion.routines.definition import quote_name

_SPARK = dialect_of("spark")
_TEXT = "View Text"
_NAMESPACE = "View Catalog and Namespace"
_OUTPUTS = "View Query Output Columns"


@dataclass(frozen=True, slots=True)
class Description:
    """A relation's columns, and what else is told of it, by the names that Spark gives these things."""

    columns: tuple[Column, ...]
    details: Mapping[str, str]

    @classmethod
    def of(cls, rows: Iterable[tuple[str, str]]) -> Description:
        """From the rows of the answer: columns up to the first empty or commented name, details after it."""
        columns: list[Column] = []
        details: dict[str, str] = {}
        listing = True
        for name, value in rows:
            listing = listing and bool(name) and not name.startswith("#")
            if listing:
                columns.append(Column(name, value))
            elif name and not name.startswith("#"):
                details.setdefault(name, value)
        return cls(tuple(columns), details)

    @property
    def query(self) -> str:
        """The query behind a view, "" where it has none."""
        return self.details.get(_TEXT, "")

    @property
    def namespace(self) -> tuple[str, ...]:
        """The catalog and the namespace in which the bare names of a view's query stand."""
        return plain_parts(self.details[_NAMESPACE]) if self.details.get(_NAMESPACE) else ()

    @property
    def outputs(self) -> tuple[str, ...]:
        """The columns that a view's query had when it was defined, by position those of the view."""
        listed = self.details.get(_OUTPUTS, "").strip()[1:-1]
        return tuple(plain_parts(name)[0] for name in listed.split(", ")) if listed else ()

    def statement(self, name: str) -> str:
        """CREATE VIEW under `name`, as the view stands: its own column names over what its query gave them from.

        A star in the query means the columns of its day: what its tables were given since is no part of the view.
        """
        query, given = self.query.strip().rstrip(";"), [column.name for column in self.columns]
        outputs = self.outputs
        if len(outputs) != len(given):
            return f"CREATE VIEW {name} AS {query}"
        if "*" in query and len({output.lower() for output in outputs}) == len(outputs):
            query = f"SELECT {_list_text(outputs)} FROM ({query})"
        renamed = [output.lower() for output in outputs] != [column.lower() for column in given]
        columns = f" ({_list_text(given)})" if renamed else ""
        return f"CREATE VIEW {name}{columns} AS {query}"


def dotted_name(parts: Iterable[str]) -> str:
    """A name of several parts as Spark's SQL has it, quoted so that it means what it says."""
    return ".".join(quote_name(part, _SPARK) for part in parts)


def _list_text(names: Iterable[str]) -> str:
    return ", ".join(quote_name(name, _SPARK) for name in names)
