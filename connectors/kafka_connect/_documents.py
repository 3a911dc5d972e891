"""The configurations of connectors as people keep them and as a worker answers with them: the same keys each time.

`{"name": "orders", "config": {"connector.class": …}}`, the config alone, a list of either, what `expand=info` gives,
`name=…` and `connector.class=…` as properties, and Strimzi's `kind: KafkaConnector` in YAML.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

import yaml

from connectors.assets import UnreadFile
from connectors.dashboards.files import ExportedFile
from connectors.dashboards.servers import ToolServer
from connectors.kafka_connect.settings import ConnectWorker
from ingestion.errors import ConfigError

ENDINGS = (".json", ".properties", ".yaml", ".yml")
CLASS = "connector.class"
_STRIMZI = "KafkaConnector"
_BLANKS = " \t\f"
_END_OF_KEY = re.compile(r"((?:\\.|[^\\=: \t\f])*)[ \t\f]*[=:]?[ \t\f]*(.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|(.?))", re.DOTALL)
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_MOST_CONNECTORS = 20_000


@dataclass(frozen=True, slots=True)
class Connector:
    """A connector: its settings as texts, and where it stands. `topics`: those that its worker has seen it use."""

    name: str
    config: Mapping[str, str] = field(repr=False)
    location: str
    topics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ConnectorDocuments:
    """All connectors that were read, the files that are of something else, and those that could not be read."""

    connectors: tuple[Connector, ...]
    foreign: tuple[str, ...] = ()
    unread: tuple[UnreadFile, ...] = ()


def documents_of_files(files: Iterable[ExportedFile]) -> ConnectorDocuments:
    """The connectors in these files."""
    found: list[Connector] = []
    foreign: list[str] = []
    unread: list[UnreadFile] = []
    for file in files:
        location = f"{file.name}:1"
        try:
            own = list(_of_file(file))
        except _UnreadableError as error:
            unread.append(UnreadFile(location, str(error)))
            continue
        found += own
        if not own:
            foreign.append(location)
    return ConnectorDocuments(tuple(found), tuple(foreign), tuple(unread))


def documents_of_worker(settings: ConnectWorker) -> ConnectorDocuments:
    """The connectors of a worker, with the topics that it has seen them use. Raises ConfigError and TargetDown."""
    server = ToolServer("Kafka Connect", settings.host_port or "")
    if settings.username is not None and settings.password is not None:
        both = f"{settings.username}:{settings.password.get_secret_value()}"
        server.headers["Authorization"] = f"Basic {base64.b64encode(both.encode()).decode()}"
    answer = server.get("connectors", {"expand": "info"})
    found, unread = [], []
    if not isinstance(answer, dict):
        raise ConfigError(f"{settings.host_port} does not list connectors as Kafka Connect does: is hostPort right?")
    for name, one in sorted(answer.items()):
        located = list(_of_json({name: one}, "", f"connectors/{name}:1"))
        if not located:
            unread.append(UnreadFile(f"connectors/{name}:1", "the worker tells no configuration of it"))
        found += [Connector(it.name, it.config, it.location, _active_topics(server, it.name)) for it in located]
    return ConnectorDocuments(tuple(found), (), tuple(unread))


def _active_topics(server: ToolServer, name: str) -> tuple[str, ...]:
    """None where the worker is too old to tell them, or is told not to."""
    try:
        answer = server.get(f"connectors/{name}/topics")
    except ConfigError:
        return ()
    seen = answer.get(name) if isinstance(answer, dict) else None
    topics = seen.get("topics") if isinstance(seen, dict) else None
    return tuple(sorted(one for one in topics if isinstance(one, str))) if isinstance(topics, list) else ()


class _UnreadableError(Exception):
    pass


def _of_file(file: ExportedFile) -> Iterator[Connector]:
    if file.problem:
        raise _UnreadableError(file.problem)
    ending = PurePosixPath(file.name).suffix.lower()
    stem = PurePosixPath(file.name).stem
    if ending == ".properties":
        config = _properties(file.text)
        if CLASS in config:
            yield Connector(config.get("name", stem), config, f"{file.name}:1")
        return
    for number, document in enumerate(_values(file.text, ending)):
        for one in _of_json(document, stem, f"{file.name}:1"):
            yield Connector(one.name, one.config, one.location if not number else f"{file.name}:1#{one.name}")


def _values(text: str, ending: str) -> list[Any]:
    try:
        if ending == ".json":
            return [json.loads(text)]
        # Other files of a deployment are templates: what is no connector is not read.
        return [one for one in yaml.safe_load_all(text) if one] if _STRIMZI in text or CLASS in text else []
    except yaml.YAMLError:
        raise _UnreadableError("it is no YAML, or is cut") from None
    except (ValueError, RecursionError):
        raise _UnreadableError("it is no JSON, or is cut") from None


def _of_json(value: Any, name: str, location: str) -> Iterator[Connector]:
    """The connectors in a value of any of the forms."""
    values = value if isinstance(value, list) else [value]
    for count, one in enumerate(one for one in values if isinstance(one, dict)):
        if count >= _MOST_CONNECTORS:
            raise _UnreadableError(f"it has more than {_MOST_CONNECTORS} connectors")
        yield from _of_object(one, name, location if not count else f"{location}#{count}")


def _of_object(value: Mapping[str, Any], name: str, location: str) -> Iterator[Connector]:
    if CLASS in value:
        yield Connector(str(value.get("name") or name), _texts(value), location)
    elif isinstance(value.get("config"), dict) and CLASS in value["config"]:
        config = _texts(value["config"])
        yield Connector(str(value.get("name") or config.get("name") or name), config, location)
    elif value.get("kind") == _STRIMZI and isinstance(value.get("spec"), dict):
        spec, metadata = value["spec"], value.get("metadata")
        own = metadata.get("name") if isinstance(metadata, dict) else None
        config = _texts(spec["config"]) if isinstance(spec.get("config"), dict) else {}
        yield Connector(str(own or name), {CLASS: str(spec.get("class") or ""), **config}, location)
    else:
        for key, one in value.items():
            inner = one.get("info", one) if isinstance(one, dict) else None
            listed = inner.get("config") if isinstance(inner, dict) else None
            if isinstance(inner, dict) and isinstance(listed, dict) and CLASS in listed:
                yield Connector(str(inner.get("name") or key), _texts(listed), location)


def _texts(config: Mapping[str, Any]) -> dict[str, str]:
    """The settings as Connect has them: all values are texts there."""
    return {str(key).strip(): _text(value) for key, value in config.items() if not isinstance(value, dict | list)}


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value).strip()


def _properties(text: str) -> dict[str, str]:
    """The settings of a file of properties, as Java reads it: `a\\.b`, `\\u00e9`, and lines that a backslash joins."""
    found = {}
    for line in _whole_lines(text):
        mark = _END_OF_KEY.match(line)
        if mark is None or not mark[1]:
            continue
        found[_without_escapes(mark[1])] = _without_escapes(mark[2]).strip()
    return found


def _whole_lines(text: str) -> Iterator[str]:
    """The lines, each with those that go on with it: an odd number of backslashes at its end says so."""
    begun = ""
    for line in text.splitlines():
        bare = line.lstrip(_BLANKS)
        if not begun and bare[:1] in ("#", "!"):
            continue
        begun += bare
        if (len(begun) - len(begun.rstrip("\\"))) % 2:
            begun = begun[:-1]
            continue
        yield begun
        begun = ""
    yield begun


def _without_escapes(written: str) -> str:
    return _ESCAPE.sub(lambda one: chr(int(one[1], 16)) if one[1] else _ESCAPES.get(one[2], one[2]), written)
