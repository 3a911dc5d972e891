"""Which relation a name means: a statement's own qualification, and the session's defaults for what it leaves out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ingestion.model.digests import digest
from ingestion.model.lineage import NameKind, TableName
from ingestion.model.storage_paths import canonical_path

QUALIFIED_PARTS = 3

# PostgreSQL's alias of the session's own schema, T-SQL's temp database (tempdb..#t), Snowflake has none.
_TEMPORARY_SCHEMAS = frozenset({"pg_temp", "tempdb", "session", ""})
_LOCAL = "#"
"""How T-SQL's temporary tables begin, whatever stands before them."""
UNREADABLE = "\ufdd0"
"""How a database or schema begins that no text tells: with what Unicode has as no character, since a table may be
called `?`.
"""


@dataclass(frozen=True, slots=True)
class Namespace:
    """Where a session looks for unqualified names: its database, and its schemas in order.

    After `SET search_path TO web, public` in the database shop: `Namespace("shop", ("web", "public"))`.
    """

    database: str = ""
    search_path: tuple[str, ...] = ()


Mention = tuple[TableName, Namespace]
"""A name, and where it was said."""


def unreadable(text: str) -> str:
    """The database or schema that a `text` does not tell: `USE {{ db }}`.

    What is looked for there is none of what is looked for elsewhere, and has the name that its statement gives it.
    """
    return f"{UNREADABLE}{digest(text)}"


def is_readable(parts: Sequence[str]) -> bool:
    """Whether none of the parts of a key is one that a text does not tell; those left out may be."""
    return not any(part.startswith(UNREADABLE) for part in parts)


def readable(parts: Sequence[str]) -> tuple[str, ...]:
    """The last parts of a key, as far back as all of them are known: of ("shop", "", "t") that is t alone."""
    unknown = [number for number, part in enumerate(parts) if not part or part.startswith(UNREADABLE)]
    return tuple(parts[unknown[-1] + 1 :]) if unknown else tuple(parts)


@dataclass(frozen=True, slots=True)
class NamespaceDefaults:
    """Where a session looks for names of which the log does not say.

    `two_level`: the platform has no schemas below databases, so a session's database is what stands for a schema.
    """

    database: str
    schema: str
    two_level: bool = False

    def namespace(self, database: str, search_path: tuple[str, ...]) -> Namespace:
        """The namespace of a session with these, each "" or () where the log leaves it out."""
        path = search_path or ((self.schema,) if self.schema else ())
        if self.two_level:
            return Namespace(self.database, search_path or ((database,) if database else path))
        return Namespace(database or self.database, path)


@dataclass(frozen=True, slots=True, order=True)
class RelationKey:
    """A relation's key: (database, schema, table), "" for what is not known; linked servers make it longer.

    `session` is set for temporary relations, which other sessions cannot see.
    """

    parts: tuple[str, ...]
    kind: NameKind = NameKind.TABLE
    session: str | None = None

    def __hash__(self) -> int:
        # As often as a name's: what differs in kind or session alone is told apart by comparison.
        return hash(self.parts)

    @property
    def table(self) -> str:
        return self.parts[-1]

    @property
    def schema(self) -> str:
        return self.parts[-2] if len(self.parts) > 1 else ""

    @property
    def database(self) -> str:
        return self.parts[-3] if len(self.parts) > QUALIFIED_PARTS - 1 else ""

    @property
    def mention(self) -> tuple[TableName, Namespace]:
        """The key as a name that leaves nothing to a session."""
        return TableName(self.parts, kind=self.kind), Namespace()

    def __str__(self) -> str:
        return ".".join(part for part in self.parts if part and not part.startswith(UNREADABLE))


def candidates(name: TableName, namespace: Namespace) -> tuple[RelationKey, ...]:
    """The keys that `name` may mean, in the order in which the session looks.

    `SELECT a FROM t` with the search path (web, public) in shop: shop.web.t, then shop.public.t; `web.t`: shop.web.t.
    """
    if name.kind is NameKind.PATH:
        return (RelationKey((canonical_path(name.dotted),), name.kind),)
    if name.kind is NameKind.FUNCTION:
        return _function_keys(name, namespace)
    if len(name.parts) >= QUALIFIED_PARTS:
        return (RelationKey(name.parts),)
    if len(name.parts) == QUALIFIED_PARTS - 1:
        return (RelationKey((namespace.database, *name.parts)),)
    return tuple(RelationKey((namespace.database, schema, name.table)) for schema in namespace.search_path or ("",))


def _function_keys(name: TableName, namespace: Namespace) -> tuple[RelationKey, ...]:
    """A table function's name is one part, as it is written; it is looked up like a table's, whatever its case."""
    parts = tuple(part.strip('"`[]').casefold() for part in name.dotted.split("."))
    keys = candidates(TableName(parts), namespace)
    return tuple(RelationKey(tuple(part.casefold() for part in key.parts), name.kind) for key in keys)


def created_key(name: TableName, namespace: Namespace, session: str | None) -> RelationKey:
    """The key of a relation that is created under `name`; `session` is given for a temporary one.

    `CREATE TABLE t AS …` stands in the first schema of the search path. A temporary relation keeps only its own name:
    its schema is the session's, whatever the search path says. `CREATE TEMPORARY TABLE web.t …` names one of its own.
    """
    if session is not None and may_be_temporary(name):
        return RelationKey((name.table,), name.kind, session)
    return replace(candidates(name, namespace)[0], session=session)


def meant_key(
    name: TableName, namespace: Namespace, session: str | None, exists: Callable[[RelationKey], bool]
) -> RelationKey:
    """The key that `name` means to a session: its temporary relation, else the first that exists, else the first.

    After `CREATE TEMP TABLE t …` `FROM t` means that one, though shop.web.t exists; `FROM web.t` never does, but behind
    `CREATE TEMP TABLE web.t …`.
    """
    own = temporary_keys(name, namespace, session) if session is not None else ()
    keys = candidates(name, namespace)
    return next((key for key in (*own, *keys) if exists(key)), keys[0])


def temporary_keys(name: TableName, namespace: Namespace, session: str) -> tuple[RelationKey, ...]:
    """The keys that a temporary relation of the session has, if `name` means one, in the order in which it looks."""
    if name.kind is not NameKind.TABLE:
        return ()
    qualified = tuple(replace(key, session=session) for key in candidates(name, namespace))
    return (RelationKey((name.table,), name.kind, session), *qualified) if may_be_temporary(name) else qualified


def may_be_temporary(name: TableName) -> bool:
    """Whether a name may mean a relation of the session itself: `t`, `pg_temp.t`, `tempdb.dbo.#t` may, `web.t` not."""
    of_session = len(name.parts) == 1 or name.parts[-2].lower() in _TEMPORARY_SCHEMAS
    return of_session or name.table.startswith(_LOCAL)
