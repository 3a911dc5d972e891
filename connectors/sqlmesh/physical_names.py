"""What SQLMesh calls the tables of a model's versions: `sqlmesh__shop.shop__orders__2719104535` is `shop.orders`.

A log that ran a project has those alone: each version of a model is a table of its own, and views by the names of the
models (`shop.orders`, in an environment `shop__dev.orders`) stand before them. By the models' names the log tells what
the project does: whichever version was filled, its rows are the model's.
"""

from __future__ import annotations

import re

from ingestion.model.outcomes import Outcome

_QUOTE = r"[\"`\[\]]?"
# a quote belongs to a part of the name only where both of its ends do: in `p.sqlmesh__shop.…` it is the whole path's
_PHYSICAL = re.compile(
    r"(?P<open>[\"`\[])?sqlmesh__(?P<schema>\w+?)(?(open)[\"`\]])\s*\.\s*(?P<inner>[\"`\[])?"
    r"(?:(?P=schema)__)?(?P<table>\w+?)__\d{6,}(?:__(?:dev|temp|tmp|schema_tmp)\w*)?(?!\w)(?(inner)[\"`\]])",
    re.IGNORECASE,
)
_VIEW = re.compile(
    rf"\s*create\s+(?:or\s+(?:replace|alter)\s+)?view\s+(?:if\s+not\s+exists\s+)?(?P<view>[\w.\"`\[\]$-]+)"
    rf"[^;]*?\bas\s*\(?\s*select\s+(?:\*|[^;]*?)\s+from\s+(?:[\w\"`\[\]$-]+\s*\.\s*)?{_PHYSICAL.pattern}"
    rf"{_QUOTE}(?:\s+(?:as\s+)?[\w\"`]+)?\s*\)?\s*;?\s*\Z",
    re.IGNORECASE,
)
_ENVIRONMENT = re.compile(
    rf"(?<!\w)(?P<open>{_QUOTE})(?P<schema>(?=\w+?__\w)\w++)(?P<between>{_QUOTE}\s*+\.\s*+{_QUOTE})(?P<table>\w++)"
)
_DROPPED = re.compile(r"\s*(?:drop|alter|comment|grant|analyze|vacuum)\b", re.IGNORECASE)
_NOT_IN_NAMES = str.maketrans("", "", '"`[]')


def by_model_names(models: frozenset[tuple[str, str]], text: str) -> tuple[str, str | None]:
    """A statement of a log by the names of models, and why it is skipped, None where it is not.

    `models` are (schema, name) in lower case. The view by which a model is read, in whatever environment, is the model
    itself here, and a version that is dropped is not.
    """
    if "__" not in text or _DROPPED.match(text):
        return text, None
    found = _VIEW.match(text)
    if found is not None:
        schema, _, name = found["view"].translate(_NOT_IN_NAMES).lower().rpartition(".")
        schema = schema.rpartition(".")[2]
        model = (found["schema"].lower(), found["table"].lower())
        if name == model[1] and schema.partition("__")[0] in (model[0], model[0].partition("__")[0]):
            return text, Outcome.DEFINITION
    named = _PHYSICAL.sub(_model_name, text)
    return _ENVIRONMENT.sub(lambda match: _without_environment(match, models), named), None


def _without_environment(match: re.Match[str], models: frozenset[tuple[str, str]]) -> str:
    """`shop__dev.orders` as the model `shop.orders`, where the project has it."""
    schema, _, environment = match["schema"].partition("__")
    if not environment or (schema.lower(), match["table"].lower()) not in models:
        return match.group()
    return f"{match['open']}{schema}{match['between']}{match['table']}"


def _model_name(match: re.Match[str]) -> str:
    return f"{_with_quotes(match['schema'], match['open'])}.{_with_quotes(match['table'], match['inner'])}"


def _with_quotes(name: str, opening: str | None) -> str:
    return f"{opening or ''}{name}{']' if opening == '[' else opening or ''}"
