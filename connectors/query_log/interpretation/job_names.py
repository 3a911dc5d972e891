"""What job ran a statement: a tag or labels beside it, or the comment that a tool writes into it.

dbt writes JSON before or after the statement (its documentation: "query-comment"), Airflow's integrations and others
key='value' pairs (sqlcommenter's specification), Looker and Metabase a line of their own. Only the names of jobs are
taken: what else a comment holds may be anybody's data.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

_COMMENT = re.compile(r"/\*|--")
"""What begins one."""
# A word is entered once, at its start: what stands before its first letter is passed over there.
_PAIR = re.compile(r"(?<![\w.-])(?:[^\WA-Za-z_]|[.-])*+([A-Za-z_][\w.-]*+)\s*+=\s*+'((?:[^'\\]|\\.)*+)'")
_BAND_KEY = re.compile(r"(?<!\w)[^\WA-Za-z]*+([A-Za-z]\w*+)=")
_LOOKED_AT = 4096
"""Characters at either end of a statement, where such comments stand."""

_LONGEST = 200
_KEYS = (
    ("dbt", ("node_id", "dbt_model", "model")),
    ("airflow", ("dag_id", "task_id")),
    ("airflow", ("airflow_dag", "airflow_task")),
    ("airflow", ("dag", "task")),
    ("job", ("job", "job_name", "pipeline", "name", "app")),
)
"""By tool: the keys whose values make a job's name."""

_TOOLS = (("Looker Query Context", "looker"), ("Metabase::", "metabase"))
_NO_JOBS = frozenset({"", "default", "null", "none", "[]", "{}"})


def job_of(tag: str | None, text: str | None) -> str | None:
    """The name of the job, by its tag or else by a comment in its text; None where neither tells one."""
    return _of_tag(tag or "") or _of_text(text or "")


def _of_tag(tag: str) -> str | None:
    plain = tag.strip()
    if plain.lower() in _NO_JOBS:
        return None
    if plain[0] in "{[":
        return _of_json(plain)
    if plain.startswith("=") and ";" in plain:  # Teradata's query band: of the session, of the transaction
        return _name_in(dict(_band(plain)))
    return plain if len(plain) <= _LONGEST else None


def _band(written: str) -> Iterator[tuple[str, str]]:
    for pair in written.split(";")[:-1]:
        if key := _BAND_KEY.search(pair):
            yield key[1], pair[key.end() :]


def _of_text(text: str) -> str | None:
    if "/*" not in text and "--" not in text:
        return None
    ends = (text,) if len(text) <= 2 * _LOOKED_AT else (text[:_LOOKED_AT], text[-_LOOKED_AT:])
    for comment in (found for end in ends for found in _comments(end)):
        if job := _of_comment(comment):
            return job
    return None


def _comments(text: str) -> Iterator[str]:
    last_end, place = text.rfind("*/"), 0
    while found := _COMMENT.search(text, place):
        begin = place = found.end()
        if found.group() == "--":
            line_end = text.find("\n", begin)
            place = line_end if line_end >= 0 else len(text)
            yield text[begin:place].strip()
        elif begin <= last_end:
            end = text.index("*/", begin)
            place = end + 2
            yield text[begin:end].strip()


def _of_comment(comment: str) -> str | None:
    if comment.startswith("{"):
        return _of_json(comment)
    tool = next((tool for begin, tool in _TOOLS if comment.startswith(begin)), None)
    if tool is not None:
        return tool
    return _name_in({key: unquote(value) for key, value in _PAIR.findall(comment)}, own_keys_only=True)


def _of_json(written: str) -> str | None:
    """The name in an object, or in a list of {key, value}."""
    try:
        value = json.loads(written)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, list):
        value = {one.get("key"): one.get("value") for one in value if isinstance(one, dict)}
    return _name_in(value) if isinstance(value, dict) else None


def _name_in(values: Mapping[Any, Any], *, own_keys_only: bool = False) -> str | None:
    """`own_keys_only`: just what tools write themselves, no key that may be in any comment."""
    plain = {str(key).lower().replace("-", "_"): value for key, value in values.items() if isinstance(value, str)}
    for tool, keys in _KEYS[:-1] if own_keys_only else _KEYS:
        parts = [plain[key] for key in keys if plain.get(key)]
        if parts:
            name = parts[0] if tool in ("dbt", "job") else ".".join(parts)
            return (name if tool == "job" else f"{tool} {name}")[:_LONGEST]
    return None
