"""Schema files: DDL on disk that says which columns the tables have that the log only reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ingestion.analysis.statement_names import CREATING_KINDS, without_schema
from ingestion.dialects import fold
from ingestion.errors import ConfigError
from ingestion.model import Column
from ingestion.names.namespaces import RelationKey, place_created
from ingestion.parsing.parser_pool import Limits, ParseRequest, ThreadedParser
from ingestion.statements import classify, split
from ingestion.symbolic import loads
from workflows.config import SchemaFile
from workflows.config.namespaces import SourceSettings, namespace_of

Schemas = Mapping[RelationKey, tuple[Column, ...]]


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
    database, schema = (fold(name or "", dialect, quoted=True) for name in (file.database, file.schema))
    path = (schema,) if schema else ()
    namespace = namespace_of(database, path, settings)
    schemas: dict[RelationKey, tuple[Column, ...]] = {}
    requests = (ParseRequest(str(statement.line), statement.text, dialect) for statement in wanted)
    for outcome in parser.parse(requests):
        if outcome.symbolic is None:
            raise ConfigError(f"{file.path}:{outcome.key}: this CREATE TABLE cannot be read as {dialect}")
        for change in without_schema(loads(outcome.symbolic)).changes:
            if change.columns:
                schemas[place_created(change.name, namespace, None)] = change.columns
    return schemas
