"""What job ran a statement: a tag or labels beside it, or the comment that a tool writes into it.

dbt writes JSON before or after the statement (its documentation: "query-comment"), Airflow's integrations and others
key='value' pairs (sqlcommenter's specification), Looker, Metabase and Hex a line of their own. Only the names of jobs
are taken, without what is another in every run: what else a comment holds may be anybody's data.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from ingestion.model.job_names import LONGEST, stable_name

_COMMENT = re.compile(r"/\*|--")
"""What begins one."""
# A word is entered once, at its start: what stands before its first letter is passed over there.
_PAIR = re.compile(r"(?<![\w.-])(?:[^\WA-Za-z_]|[.-])*+([A-Za-z_][\w.-]*+)\s*+=\s*+'((?:[^'\\]|\\.)*+)'")
_TAG_PAIR = re.compile(r"(?<![\w-])(?:[^\WA-Za-z_]|-)*+([A-Za-z_][\w-]*+)[=:]([^;,=:]*+)")
_BAND_KEY = re.compile(r"(?<!\w)[^\WA-Za-z]*+([A-Za-z]\w*+)=")
_LOOKED_AT = 4096
"""Characters at either end of a statement, where such comments stand."""

_KEYS = (
    ("dbt", ("node_id", "dbt_model", "model")),
    ("airflow", ("dag_id", "task_id")),
    ("airflow", ("airflow_dag_id", "airflow_task_id")),
    ("airflow", ("airflow_dag", "airflow_task")),
    ("airflow", ("dag", "task")),
)
"""By tool: the keys whose values make a job's name."""

_USUAL_KEYS = ("job", "job_name", "pipeline", "app")
"""Of nobody in particular: in a tag they name the job, in a comment they may be anything."""

_TOOLS = (("Looker Query Context", "looker"), ("Metabase::", "metabase"), ("Hex query metadata:", "hex"))
_DBT_NODE = re.compile(r"[a-z_]++(?:\.[\w-]++)++")
_NO_JOBS = frozenset(
    {
        "default", "null", "none", "[]", "{}", "psql", "pg_dump", "pg_restore", "sql*plus", "sql developer",
        "jdbc thin client", "dbms_scheduler", "postgresql jdbc driver", "microsoft jdbc driver for sql server",
    }
)  # fmt: skip
_CLIENT = re.compile(r"dbeaver|pgadmin|datagrip|\(TNS V", re.IGNORECASE)
"""What a program calls itself where nobody named the job."""


def job_of(tag: str | None, text: str | None) -> str | None:
    """The name of the job, the same in every run of it; None where neither its tag nor a comment in its text tells one.

    What a tool says of itself, in the tag or else in the text, goes before a tag of any other kind.
    """
    own, usual = _of_tag((tag or "").strip())
    return own or _of_text(text or "") or usual


def _of_tag(tag: str) -> tuple[str | None, str | None]:
    """The name by a tool's own keys, and any other."""
    if not tag or tag.lower() in _NO_JOBS or _CLIENT.search(tag):
        return None, None
    if tag[0] in "{[":
        values = _object_of(tag)
    elif tag.startswith("=") and ";" in tag:  # Teradata's query band: of the session, of the transaction
        values = dict(_band(tag))
    elif "=" in tag or "airflow_dag_id:" in tag:
        values = dict(_TAG_PAIR.findall(tag))
    else:
        return None, stable_name(tag, declared=False)
    return _of_tool(values), _usual(values)


def _band(written: str) -> Iterator[tuple[str, str]]:
    for pair in written.split(";")[:-1]:
        if key := _BAND_KEY.search(pair):
            yield key[1], pair[key.end() :]


def has_comment(text: str | None) -> bool:
    """Whether a text may have a comment, and so the name of a job."""
    return text is not None and ("/*" in text or "--" in text)


def _of_text(text: str) -> str | None:
    if not has_comment(text):
        return None
    ends = (text,) if len(text) <= 2 * _LOOKED_AT else (text[:_LOOKED_AT], text[-_LOOKED_AT:])
    for comment in (found for end in ends for found in _comments(end)):
        if job := _of_comment(comment):
            return job
    return None


def _comments(text: str) -> Iterator[str]:
    last_end, position = text.rfind("*/"), 0
    while found := _COMMENT.search(text, position):
        begin = position = found.end()
        if found.group() == "--":
            line_end = text.find("\n", begin)
            position = line_end if line_end >= 0 else len(text)
            yield text[begin:position].strip()
        elif begin <= last_end:
            end = text.index("*/", begin)
            position = end + 2
            yield text[begin:end].strip()


def _of_comment(comment: str) -> str | None:
    if comment.startswith("{"):
        values = _object_of(comment)
        return _of_tool(values) or _usual(values)
    tool = next((tool for begin, tool in _TOOLS if comment.startswith(begin)), None)
    if tool is not None:
        return tool
    if "=" not in comment or "'" not in comment:  # most comments of a log, and a pair has both
        return None
    return _of_tool({key: unquote(value) for key, value in _PAIR.findall(comment)})


def _object_of(written: str) -> dict[str, str]:
    """The texts in an object, or in a list of {key, value}, by their keys as tools spell them."""
    try:
        value = json.loads(written)
    except (ValueError, RecursionError):
        return {}
    if isinstance(value, list):
        value = {one.get("key"): one.get("value") for one in value if isinstance(one, dict)}
    return value if isinstance(value, dict) else {}


def _of_tool(values: Mapping[Any, Any]) -> str | None:
    plain = _plain(values)
    for tool, keys in _KEYS:
        parts = [plain[key] for key in keys if plain.get(key)]
        if parts:
            return _tools_name(tool, parts)
    return None


def _tools_name(tool: str, parts: Sequence[str]) -> str | None:
    if tool == "dbt":
        whole = len(parts[0]) <= LONGEST and _DBT_NODE.fullmatch(parts[0])
        name = parts[0] if whole else stable_name(parts[0], declared=True)
    else:
        found = (stable_name(part, declared=True) for part in parts)
        name = ".".join(part for part in found if part)
    return f"{tool} {name}" if name else None


def _usual(values: Mapping[Any, Any]) -> str | None:
    plain = _plain(values)
    return next((stable_name(plain[key], declared=True) for key in _USUAL_KEYS if plain.get(key)), None)


def _plain(values: Mapping[Any, Any]) -> dict[str, str]:
    return {str(key).lower().replace("-", "_"): value for key, value in values.items() if isinstance(value, str)}
