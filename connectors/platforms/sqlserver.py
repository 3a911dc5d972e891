"""SQL Server's Query Store and Extended Events, as their pages in Microsoft's documentation have them.

sys.query_store_query_text, sys.query_store_query and sys.query_store_runtime_stats, joined. Parameters of a statement
stand before it in parentheses.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import NamedTuple

from connectors.platforms.profile import (
    MICROSECONDS,
    OTHERWISE,
    Entry,
    ExportProfile,
    FieldsInText,
    Row,
    TextLog,
    marks,
)
from ingestion.model.outcomes import Outcome

QUERY_STORE = ExportProfile(
    name="SQL Server Query Store",
    services=frozenset({"Mssql", "AzureSQL", "Synapse", "MicrosoftFabric"}),
    marks=marks("query_sql_text"),
    columns={
        "text": ("query_sql_text",),
        "start_time": ("last_execution_time", "first_execution_time"),
        "duration": ("avg_duration", "last_duration"),
        "database": ("database_name",),
        "schema": ("object_schema_name",),
    },
    units={"avg_duration": MICROSECONDS, "last_duration": MICROSECONDS},
    states={
        "execution_type": {"3": Outcome.FAILED, "4": Outcome.FAILED},
        "execution_type_desc": {"aborted": Outcome.FAILED, "exception": Outcome.FAILED},
    },
    outcome_in="sys.query_store_runtime_stats",
    noise=re.compile(r"^\s*\(\s*@[^()]*(?:\([^()]*\)[^()]*)*\)"),
)


# Extended Events: the XML of sys.fn_xe_file_target_read_file, of a ring buffer or a file, and the columns that
# Management Studio exports. A batch, a remote call and each statement have an event as it begins and one as it ends.

_EVENT, _EVENT_END = re.compile(r"<event\b([^<>]*+)>"), re.compile("</event>")
_VALUE, _VALUE_END = re.compile(r"<(?:data|action)\b([^<>]*+)>"), re.compile("</(?:data|action)>")
_SHOWN, _SHOWN_END = re.compile("<text>()"), re.compile("</text>")
_STORED, _STORED_END = re.compile("<value>()"), re.compile("</value>")
_ATTRIBUTE = re.compile(r"(?<!\w)(\w++)\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)')")
_BEGUN = ("sql_batch_starting", "rpc_starting", "sql_statement_starting", "sp_statement_starting")
_ENDED = ("sql_batch_completed", "rpc_completed", "sql_statement_completed", "sp_statement_completed")


class _Element(NamedTuple):
    """An element of a text: what stands in its opening tag and in it, where it begins, and where what follows does."""

    attributes: str
    content: str
    start: int
    end: int


def _elements(xml: str, opening: re.Pattern[str], closing: re.Pattern[str]) -> Iterator[_Element]:
    """The elements that are closed; one that is not ends the search, which else would begin anew at each."""
    at = 0
    while (opened := opening.search(xml, at)) is not None:
        closed = closing.search(xml, opened.end())
        if closed is None:
            return
        at = closed.end()
        yield _Element(opened[1], xml[opened.end() : closed.start()], opened.start(), at)


def _fields_of_event(xml: str) -> dict[str, str]:
    """An event's attributes, and its data and actions by name: what is shown of a value, else the value."""
    event = next(_elements(xml, _EVENT, _EVENT_END), None)
    if event is None:
        raise ValueError("no event")
    found = _attributes(event.attributes)
    for one in _elements(event.content, _VALUE, _VALUE_END):
        shown = next(_elements(one.content, _SHOWN, _SHOWN_END), None)
        value = shown or next(_elements(one.content, _STORED, _STORED_END), None)
        name = _attributes(one.attributes).get("name")
        if name:
            found.setdefault(name, _plain_xml(value.content) if value is not None else "")
    return found


def _attributes(tag: str) -> dict[str, str]:
    return {name: html.unescape(double or single) for name, double, single in _ATTRIBUTE.findall(tag)}


def _plain_xml(text: str) -> str:
    if text.startswith("<![CDATA["):
        return text.removeprefix("<![CDATA[").removesuffix("]]>")
    return html.unescape(text)


_EVENT_NAMES = {
    **dict.fromkeys(_BEGUN, Outcome.NOT_A_STATEMENT),
    **dict.fromkeys(_ENDED),
    OTHERWISE: Outcome.NOT_A_STATEMENT,
}

EXTENDED_EVENTS = ExportProfile(
    name="SQL Server Extended Events",
    services=frozenset({"Mssql", "AzureSQL", "Synapse", "MicrosoftFabric"}),
    marks=marks(
        "event_data object_name",
        "event_data timestamp_utc",
        "event_data file_offset",
        "name timestamp batch_text",
        "name timestamp_utc statement",
        "name timestamp statement client_app_name",
        "name timestamp statement server_principal_name",
    ),
    own_marks=marks("event_data", "batch_text result", "name timestamp statement duration"),
    columns={
        "text": ("batch_text", "statement", "sql_text"),
        "start_time": ("timestamp", "timestamp_utc"),
        "duration": ("duration",),
        "user": ("server_principal_name", "username", "nt_username", "session_server_principal_name"),
        "session": ("session_id",),
        "database": ("database_name",),
        "query_type": ("name",),
        "failure": ("error_number",),
        "job": ("client_app_name",),
    },
    units={"duration": MICROSECONDS},
    states={
        "name": {"": None} | _EVENT_NAMES,
        "result": dict.fromkeys(("1", "2", "error", "abort", "aborted"), Outcome.FAILED),
    },
    inside=(FieldsInText("event_data", _fields_of_event),),
    noise=QUERY_STORE.noise,
)


def _event_rows(entries: Iterator[Entry]) -> Iterator[tuple[int, Row]]:
    """Each event of a file, however its lines break; what follows the last one is a part of none."""
    first, held, last = 0, "", 0
    for number, text in entries:
        first, held = (first if held else number), held + text
        end = 0
        for event in _elements(held, _EVENT, _EVENT_END):
            # several on one line are told apart all the same
            last = max(first + held.count("\n", 0, event.start), last + 1)
            yield last, [held[event.start : event.end]]
            end = event.end
        first += held.count("\n", 0, end)
        held = held[end:] if "<event" in held[end:] else ""


EVENT_FILE = TextLog(
    name="SQL Server Extended Events, XML",
    begins=re.compile(r"\A(?:\s*+<(?:event\s|[^\n]*<event\s)|[^\n]*</event>\s*+<event\s)"),
    columns=("event_data",),
    rows=_event_rows,
    profile=EXTENDED_EVENTS,
    banner=re.compile(r"\A\s*+(?:<\?xml\b|</?(?:Events|RingBufferTarget)\b)"),
)
