"""What stood before the log begins: schema files first, then the catalog."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

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


def catalog_schemas(
    schemas: Sequence[Schemas], resolver: Resolver, *, registers: bool = False, in_any_case: bool = False
) -> SchemaProvider:
    """Schemas and keys by `schemas`, the first one first, and the catalog behind `resolver`; each is asked for once.

    Where the run `registers` what it meets, what an earlier one registered is no evidence of where a name stands.
    `in_any_case`: the databases and schemas of `schemas` may be meant by names that differ in case alone.
    """
    asked = _Asked(schemas, resolver, registers=registers)
    if in_any_case:
        asked.find_in_any_case()
    return SchemaProvider(asked.schema, asked.elsewhere, asked.expect)


class _Asked:
    """What was asked for: of a log that names more than the resolver remembers, each name is still asked for once."""

    def __init__(self, schemas: Sequence[Schemas], resolver: Resolver, *, registers: bool) -> None:
        self._resolver = resolver
        self._registers = registers
        self._columns: dict[RelationKey, Columns] = {}
        for layer in reversed(schemas):
            self._columns.update(layer)
        self._in_any_case: defaultdict[RelationKey, list[RelationKey]] = defaultdict(list)
        self._elsewhere: dict[Mention, RelationKey | None] = {}

    def schema(self, key: RelationKey) -> Columns:
        if key not in self._columns:
            self._columns[key] = self._in_files(key) or _columns_of(self._resolver.resolve(*key.mention))
        return self._columns[key]

    def find_in_any_case(self) -> None:
        """Lets what is known now be found by a database and a schema that differ in case alone."""
        for key in self._columns:
            self._in_any_case[_without_case(key)].append(key)

    def _in_files(self, key: RelationKey) -> Columns:
        """The columns of the only table whose database or schema differs from a key's in case alone."""
        same = self._in_any_case.get(_without_case(key), ())
        return self._columns[same[0]] if len(same) == 1 else None

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
        unasked = [key for key in keys if key not in self._columns]
        for key, resolution in zip(unasked, self._resolver.resolve_all(key.mention for key in unasked), strict=True):
            self._columns[key] = self._in_files(key) or _columns_of(resolution)
        unplaced = [
            mention
            for mention, found in possible.items()
            if mention not in self._elsewhere and all(self._columns[key] is None for key in found)
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
    return replace(key, parts=(*(part.casefold() for part in key.parts[:-1]), key.table))


def _columns_of(found: Resolution) -> Columns:
    if not isinstance(found, Resolved):
        return None
    return found.entity.columns if found.entity.columns_complete else ()
