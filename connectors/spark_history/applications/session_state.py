"""The current catalog and namespace of each session, followed through its USE statements."""

from __future__ import annotations

import re

from connectors.spark_history.applications.executions import ExecutedStatement
from ingestion.plans.text.name_mapping import QUALIFIED, SESSION_CATALOG, NameMapping

DEFAULT_NAMESPACE = "default"

_SET_NAMESPACE = re.compile(
    r"SetCatalogAndNamespace.*?\nArguments: \S*?CatalogManager\S*, (?:(?P<catalog>[\w-]+), )?"
    r"(?:(?:List|ArraySeq|ArrayBuffer|Vector|WrappedArray)\()?(?P<namespace>[\w.-]+)",
    re.DOTALL,
)
_SET_COMMAND = re.compile(r"(?:SetNamespaceCommand|SetCatalogCommand)[^\n]{0,80}\nArguments: \[?(?P<name>[^\],\n]+)")
_USE = re.compile(
    r"^\s*USE\s+(?:(?:NAMESPACE|DATABASE|SCHEMA)\s+)?(?P<name>(?:`[^`]+`|[\w-]+)(?:\.(?:`[^`]+`|[\w-]+))*)\s*+(?:;\s*+)?+$",
    re.IGNORECASE,
)


class SessionDefaults:
    """What an unqualified name means in each session of an application."""

    def __init__(self, names: NameMapping) -> None:
        self._names = names
        self._current: dict[str, tuple[str, str]] = {}

    def of(self, session: str) -> tuple[str | None, str | None]:
        """The session's database and schema, in the names of the catalog that lineage is published to."""
        catalog, namespace = self._current.get(session, (SESSION_CATALOG, DEFAULT_NAMESPACE))
        mapped = self._names.table((catalog, namespace, "_")).parts
        return (mapped[-3] if len(mapped) >= QUALIFIED else None), (mapped[-2] if len(mapped) > 1 else None)

    def current(self, session: str) -> tuple[str, str]:
        """The session's catalog and namespace as Spark names them."""
        return self._current.get(session, (SESSION_CATALOG, DEFAULT_NAMESPACE))

    def follow(self, statement: ExecutedStatement) -> None:
        """Note what a USE statement set, told by its text or by its plan."""
        text = _USE.match(statement.text) if statement.text else None
        if text:
            parts = [part.strip("`") for part in re.findall(r"`[^`]+`|[\w-]+", text.group("name"))]
            self._set(statement.spark_session, parts)
            return
        for plan in statement.plans:
            command = _SET_NAMESPACE.search(plan)
            if command:
                namespace = command.group("namespace")
                self._set(statement.spark_session, [part for part in (command.group("catalog"), namespace) if part])
                return
            simple = _SET_COMMAND.search(plan)
            if simple:
                self._set(statement.spark_session, [simple.group("name").strip("` ")])
                return

    def _set(self, session: str, parts: list[str]) -> None:
        catalog, _ = self._current.get(session, (SESSION_CATALOG, DEFAULT_NAMESPACE))
        self._current[session] = (parts[0] if len(parts) > 1 else catalog, parts[-1])
