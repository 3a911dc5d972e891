"""From a YAML file to a RunConfig: read, override, interpolate, validate, check against the disk."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from ingestion.names.suggestions import nearest_file
from workflows.config.checks import Checks
from workflows.config.explain import explain
from workflows.config.models.dbt import DbtWorkflow
from workflows.config.models.headwater import SparkHistoryWorkflow, Workflow
from workflows.config.overrides import override
from workflows.config.translate import translate
from workflows.config.values import RunConfig
from workflows.config.yaml.document import Document, parse_document
from workflows.config.yaml.problems import ConfigProblem, InvalidConfig
from workflows.config.yaml.references import known_secrets, replace_references
from workflows.sql_files.sql_files import read_standard_input

_MAX_BYTES = 4 << 20
_WORKFLOWS: Mapping[str, type[Workflow]] = {"spark-history-lineage": SparkHistoryWorkflow, "dbt": DbtWorkflow}


def load_config(
    file: str | Path,
    overrides: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    *,
    may_lack_log: bool = False,
) -> RunConfig:
    """The workflow that a YAML file (`-` for standard input) describes, with `key=value` overrides.

    Relative paths in it are looked up from the working directory, then from the file's own. Raises InvalidConfig
    with every problem that was found; the first makes its text. `may_lack_log`: a log that is gone is no problem.
    """
    origin = "<stdin>" if str(file) == "-" else str(file)
    document = parse_document(_text(file, origin), origin)
    document = override(document, overrides)
    document, referred = replace_references(document, os.environ if environment is None else environment)
    workflow = _validate(document)
    checks = Checks(document, Path.cwd() if str(file) == "-" else Path(file).parent, may_lack_log=may_lack_log)
    config = translate(workflow, checks, known_secrets(document.content, referred))
    if checks.problems:
        raise InvalidConfig(sorted(checks.problems, key=lambda problem: problem.line or 0))
    return config


def _validate(document: Document) -> Workflow:
    source = document.content.get("source")
    kind = source.get("type") if isinstance(source, Mapping) else None
    model = _WORKFLOWS.get(kind.lower() if isinstance(kind, str) else "", Workflow)
    try:
        return model.model_validate(document.content)
    except ValidationError as error:
        raise InvalidConfig(explain(error, document, model)) from None


def _text(file: str | Path, origin: str) -> str:
    path = Path(file)
    try:
        if str(file) == "-":
            content = read_standard_input(_MAX_BYTES)
        else:
            with path.open("rb") as stream:
                content = stream.read(_MAX_BYTES + 1)
    except FileNotFoundError:
        hint = nearest_file(path) or "; `ingest init` writes one to start from"
        raise InvalidConfig([ConfigProblem(origin, None, "", f"no such file{hint}")]) from None
    except OSError as error:
        raise InvalidConfig([ConfigProblem(origin, None, "", f"cannot be read ({error.strerror})")]) from None
    if len(content) > _MAX_BYTES:
        raise InvalidConfig([ConfigProblem(origin, None, "", "over 4 MB: is this a workflow's YAML?")])
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InvalidConfig([ConfigProblem(origin, line, "", "not UTF-8 text")]) from None
