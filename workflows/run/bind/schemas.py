"""What stood before the log begins: schema files first, then the catalog."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from connectors.source import Schemas
from ingestion.analysis.analyzer import CREATING_KINDS, without_schema
from ingestion.analysis.symbolic import loads
from ingestion.binding.timeline import SchemaProvider
from ingestion.dialects import fold
from ingestion.errors import ConfigError
from ingestion.model.lineage import Column, TableName
from ingestion.model.namespaces import QUALIFIED_PARTS, Mention, Namespace, RelationKey, candidates, created_key
from ingestion.parsing.parser_pool import ThreadedParser
from ingestion.parsing.sandbox.process import Limits
from ingestion.parsing.tiers import ParseRequest
from ingestion.resolution import PREFETCHED, FoundBy, Resolution, Resolved, Resolver
from ingestion.statements import classify, split
from workflows.config import SchemaFile
from workflows.config.namespaces import SourceSettings, namespace_of

Columns = Sequence[Column] | None


# Schema files: DDL on disk that says which columns the tables have that the log only reads.


def read_schemas(files: Iterable[SchemaFile], dialect: str, settings: SourceSettings, limits: Limits) -> Schemas:
    """The columns that the CREATE TABLE statements of the files declare.

    Raises ConfigError for a file that cannot be read, or whose CREATE TABLE cannot be.
    """
    schemas: dict[RelationKey, tuple[Column, ...]] = {}
    with ThreadedParser(1, limits) as parser:
        for file in files:
            schemas.update(_schemas_of(file, dialect, settings, parser))
    return schemas


def _schemas_of(
    file: SchemaFile, dialect: str, settings: SourceSettings, parser: ThreadedParser
) -> dict[RelationKey, tuple[Column, ...]]:
    try:
        text = file.path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"schema file {file.path} cannot be read as UTF-8 text") from error
    wanted = [
        statement for statement in split(text, dialect) if classify(statement.text, dialect).kind in CREATING_KINDS
    ]
    database, schema = (fold(name or "", dialect, quoted=True) for name in (file.database, file.schema_))
    path = (schema,) if schema else ()
    namespace = namespace_of(database, path, settings)
    schemas: dict[RelationKey, tuple[Column, ...]] = {}
    requests = (ParseRequest(str(statement.line), statement.text, dialect) for statement in wanted)
    for outcome in parser.parse(requests):
        if outcome.symbolic is None:
            raise ConfigError(f"{file.path}:{outcome.key}: this CREATE TABLE cannot be read as {dialect}")
        for change in without_schema(loads(outcome.symbolic)).changes:
            if change.columns:
                schemas[created_key(change.name, namespace, None)] = change.columns
    return schemas


# The catalog, asked for the tables that no file has.


@dataclass(frozen=True, slots=True)
class StatedSchemas:
    """The columns that files and live databases state, the same for all shards of a log.

    `in_any_case`: the keys by what is left of each without the case of its database and its schema; none where names
    that differ in case alone are two.
    """

    columns: Mapping[RelationKey, Columns] = field(default_factory=dict)
    in_any_case: Mapping[RelationKey, Sequence[RelationKey]] = field(default_factory=dict)

    @classmethod
    def of(cls, schemas: Sequence[Schemas], *, in_any_case: bool = False) -> StatedSchemas:
        """Those of `schemas`, the first one first."""
        columns: dict[RelationKey, Columns] = {}
        for layer in reversed(schemas):
            columns.update(layer)
        same: defaultdict[RelationKey, list[RelationKey]] = defaultdict(list)
        for key in columns if in_any_case else ():
            same[_without_case(key)].append(key)
        return cls(columns, dict(same))

    def in_other_case(self, key: RelationKey) -> Columns:
        """The columns of the only table whose database or schema differs from a key's in case alone."""
        same = self.in_any_case.get(_without_case(key), ()) if self.in_any_case else ()
        return self.columns[same[0]] if len(same) == 1 else None


def catalog_schemas(stated: StatedSchemas, resolver: Resolver, *, registers: bool = False) -> SchemaProvider:
    """Schemas and keys by what is `stated`, and the catalog behind `resolver`; each is asked for once.

    Where the run `registers` what it meets, what an earlier one registered is no evidence of where a name stands.
    """
    asked = _Asked(stated, resolver, registers=registers)
    return SchemaProvider(asked.schema, asked.elsewhere, asked.expect)


class _Asked:
    """What was asked for: of a log that names more than the resolver remembers, each name is still asked for once."""

    def __init__(self, stated: StatedSchemas, resolver: Resolver, *, registers: bool) -> None:
        self._resolver = resolver
        self._registers = registers
        self._stated = stated
        self._columns: dict[RelationKey, Columns] = {}
        self._elsewhere: dict[Mention, RelationKey | None] = {}

    def schema(self, key: RelationKey) -> Columns:
        if key not in self._columns:
            self._columns[key] = (
                self._stated.columns[key]
                if key in self._stated.columns
                else self._stated.in_other_case(key) or _columns_of(self._resolver.resolve(*key.mention))
            )
        return self._columns[key]

    def elsewhere(self, name: TableName, namespace: Namespace) -> RelationKey | None:
        if (name, namespace) not in self._elsewhere:
            self._elsewhere[name, namespace] = self._key_of(name, self._resolver.resolve(name, namespace))
        return self._elsewhere[name, namespace]

    def expect(self, names: Iterable[Mention]) -> None:
        mentions = list(dict.fromkeys(names))
        # some at a time: their entities need not all be held, and no name is asked for again which is a key too
        for start in range(0, len(mentions), PREFETCHED):
            self._expect(mentions[start : start + PREFETCHED])

    def _expect(self, mentions: Sequence[Mention]) -> None:
        possible = {mention: candidates(*mention) for mention in mentions}
        keys = dict.fromkeys(key for found in possible.values() for key in found)
        unasked = [key for key in keys if key not in self._columns and key not in self._stated.columns]
        for key, resolution in zip(unasked, self._resolver.resolve_all(key.mention for key in unasked), strict=True):
            self._columns[key] = self._stated.in_other_case(key) or _columns_of(resolution)
        unplaced = [
            mention
            for mention, found in possible.items()
            if mention not in self._elsewhere and all(self.schema(key) is None for key in found)
        ]
        for mention, resolution in zip(unplaced, self._resolver.resolve_all(unplaced), strict=True):
            self._elsewhere[mention] = self._key_of(mention[0], resolution)

    def _key_of(self, name: TableName, found: Resolution) -> RelationKey | None:
        if not isinstance(found, Resolved) or found.found_by is not FoundBy.ONLY_ONE:
            return None
        entity = found.entity
        if self._registers and entity.filed_from_log:
            return None
        service = name.parts[:-QUALIFIED_PARTS]
        return RelationKey((*service, entity.database, entity.schema, entity.name))


def _without_case(key: RelationKey) -> RelationKey:
    """A key whose database and schema have no case: where a session says them, the case is its exporter's."""
    return RelationKey((*(part.casefold() for part in key.parts[:-1]), key.table), key.kind, key.session)


def _columns_of(found: Resolution) -> Columns:
    if not isinstance(found, Resolved):
        return None
    return found.entity.columns if found.entity.columns_complete else ()
