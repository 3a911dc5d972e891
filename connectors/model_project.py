"""A project of models as a run and `ingest lineage` take it: each a view over its query, whatever tool it is of."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from ingestion.dialects import dialect_of, fold
from ingestion.model.lineage import Column
from ingestion.model.outcomes import Outcome
from ingestion.statements.routines.definition import quote_name

_PART = re.compile(r"\"(?:[^\"]|\"\")+\"|`[^`]+`|\[[^\[\]]+\]|[\w$#-]+")
_WHOLE = re.compile(rf"(?:{_PART.pattern})(?:\s*\.\s*(?:{_PART.pattern})){{0,3}}")
_UNQUOTED = re.compile(r'(")"')

Key = tuple[str, str, str]
"""Database, schema and name, "" for what is not told."""


@dataclass(frozen=True, slots=True)
class ProjectModel:
    """A model: `text` is the statement that defines it, on the lines of its `origin`; "" where only `reads` are known.

    `reads` are the relations that a model without SQL reads, of which no column is known. `text` is a view's over the
    `queries`, where it has them: the first that fills it, and those that add rows later. `declared` are the relations
    that its tool says it reads and its text names, as that does: a text that no parser reads whole confirms not all.
    """

    key: Key
    origin: str
    text: str = field(default="", repr=False)
    reads: tuple[Key, ...] = ()
    kind: str = ""
    grains: tuple[str, ...] = ()
    queries: tuple[str, ...] = field(default=(), repr=False)
    declared: tuple[Key, ...] = ()

    @property
    def dotted(self) -> str:
        return dotted_name(self.key)


@dataclass(frozen=True, slots=True)
class ProjectFailure:
    """A model of which nothing can be read: where (`file:line`), and why; its key as far as that is known."""

    location: str
    reason: str
    key: Key = ("", "", "")

    def __str__(self) -> str:
        return ": ".join((self.location, self.reason))


@dataclass(frozen=True, slots=True)
class ModelProject:
    """A project. `columns` are of what no statement makes; `notes` are for a person.

    `default_database` is that of names without one, as its tool has it, and `session` the statement that says so.
    """

    name: str
    dialect: str
    models: tuple[ProjectModel, ...] = ()
    columns: Mapping[Key, tuple[Column, ...]] = field(default_factory=dict)
    failures: tuple[ProjectFailure, ...] = ()
    notes: tuple[str, ...] = ()
    default_database: str = ""
    session: str = ""

    @property
    def keys(self) -> tuple[Key, ...]:
        """Of all that the project makes or knows the columns of."""
        failed = (failure.key for failure in self.failures if failure.key[2])
        return (*(model.key for model in self.models), *self.columns, *failed)

    @property
    def table_edges(self) -> tuple[tuple[str, str], ...]:
        """What models without SQL read, and the models."""
        return tuple((dotted_name(read), model.dotted) for model in self.models for read in model.reads)

    def unconfirmed_reads(self, read: Iterable[tuple[str, str]]) -> Iterator[tuple[str, ProjectModel]]:
        """What models are declared to read, and by no statement do, where `read` has what these read."""
        confirmed = {(source.casefold(), target.casefold()) for source, target in read}
        for model in self.models:
            for source in map(dotted_name, model.declared):
                if (source.casefold(), model.dotted.casefold()) not in confirmed:
                    yield source, model


def view_model(key: Key, origin: str, queries: tuple[str, ...], dialect: str, kind: str) -> ProjectModel:
    """A model that is filled by the first of the `queries`, and by the others later."""
    name = quoted_name(key, dialect)
    body = queries[0] if len(queries) == 1 else " UNION ALL ".join(f"({one}\n)" for one in queries)
    return ProjectModel(key, origin, f"CREATE VIEW {name} AS {body}", (), kind, (), queries)


def quoted_name(key: Key, dialect: str) -> str:
    """A key as a statement of the dialect names it."""
    rules = dialect_of(dialect)
    return ".".join(quote_name(part, rules) for part in key if part)


def script_text(model: ProjectModel, project: ModelProject) -> str:
    """A model as statements that follow each other: what is added later reads what is there.

    They are on the lines of the model, behind what begins their session.
    """
    before = f"{project.session}; " if project.session else ""
    if len(model.queries) < 2:
        return f"{before}{model.text}"
    name = quoted_name(model.key, project.dialect)
    first, *others = model.queries
    return before + ";\n".join((f"CREATE VIEW {name} AS {first}", *(f"INSERT INTO {name} {one}" for one in others)))


def dotted_name(key: Key) -> str:
    """`database.schema.name`, without the parts that are not told."""
    return ".".join(filter(None, key))


def key_of_name(written: str, dialect: str) -> Key:
    """The key of a name as people write it, folded as the dialect does. Raises ValueError where it is no name."""
    parts = [
        fold(_UNQUOTED.sub(r"\1", part[1:-1]), dialect, quoted=True)
        if part[:1] in '"`['
        else fold(part, dialect, quoted=False)
        for part in _PART.findall(written.strip())
    ]
    if not parts or _WHOLE.fullmatch(written.strip()) is None:
        raise ValueError("no name of a relation")
    database, schema, name = ("", "", *parts)[-3:]
    return database, schema, name


def without_twins(project: ModelProject) -> ModelProject:
    """The project without models that share a name: which of them stands there nobody knows."""
    counted = Counter(model.dotted.casefold() for model in project.models)
    twins = [model for model in project.models if counted[model.dotted.casefold()] > 1]
    failures = tuple(
        ProjectFailure(model.origin, f"{Outcome.DEFINED_TWICE}: another model is called {model.dotted} too", model.key)
        for model in twins
    )
    kept = tuple(model for model in project.models if model not in twins)
    return replace(project, models=kept, failures=(*project.failures, *failures))
