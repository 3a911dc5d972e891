"""A policy from its YAML file."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from ingestion.errors import ConfigError
from ingestion.policies.rules import Policy
from workflows.config.explain import explain
from workflows.config.yaml.document import parse_document
from workflows.policy.models import PolicyModel
from workflows.sql_files.sql_files import sql_text


def load_policy(file: Path) -> Policy:
    """The policy in `file`. Raises ConfigError, with the file, line and field of each problem."""
    document = parse_document(sql_text(file), str(file))
    try:
        return PolicyModel.model_validate(document.content).policy()
    except ValidationError as error:
        problems = explain(error, document, PolicyModel)
        raise ConfigError("; ".join(map(str, problems))) from None
