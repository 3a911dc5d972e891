"""Rendering as its owner sees it: templates go to a process that is killed when one overruns its time or memory."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from connectors.dbt._template_scope import TemplateScope
from connectors.scratch import scratch_folder
from ingestion.errors import ParseMemory, ParseTimeout
from ingestion.parsing.sandbox.process import Limits, Sandbox

_PROCESS = "connectors.dbt._renderer"


@dataclass(frozen=True, slots=True)
class RenderedModel:
    """A model's SQL, more than one where `is_incremental()` makes a difference, and the ids of what it reads.

    `other_ways` are the same by other types of the columns that it asks for; `reason` is why there is none, and `line`
    where in the template (0: unknown).
    """

    texts: tuple[str, ...] = field(default=(), repr=False)
    read: tuple[str, ...] = ()
    ephemeral: tuple[str, ...] = ()
    line: int = 0
    reason: str = ""
    other_ways: tuple[tuple[str, ...], ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class NodeConfig:
    """What a node's config says when all its layers are together, and where the node stands.

    `assumed` is why the key is no more than likely, "" where it is sure.
    """

    config: Mapping[str, Any] = field(default_factory=dict)
    relation_key: tuple[str, str, str] = ("", "", "")
    assumed: str = ""


class RenderingProcess:
    """Renders templates of scopes, each with the time and memory of one statement. Closed, it leaves nothing behind."""

    def __init__(self, limits: Limits) -> None:
        self._sandbox = Sandbox(limits)
        self._closing = ExitStack()
        self._folder = self._closing.enter_context(scratch_folder("dbt"))
        self._scopes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._sandbox.close()
        self._closing.close()

    def configure(self, scope: TemplateScope, texts: Mapping[str, str]) -> dict[str, NodeConfig]:
        """The config of each node by its id, given its text; an empty one where that cannot be had."""
        asked = [{"do": "configure", "node": unique_id, "text": text} for unique_id, text in texts.items()]
        answers = self._ask(scope, asked)
        return {unique_id: _node_config(reply) for unique_id, reply in zip(texts, answers, strict=True)}

    def keys_of_sources(self, scope: TemplateScope) -> dict[str, tuple[str, str, str]]:
        """The key of each source of the scope that can be told, by its id."""
        asked = [{"do": "source", "node": source.unique_id} for source in scope.sources]
        answers = self._ask(scope, asked)
        return {
            source.unique_id: _relation_key(reply)
            for source, reply in zip(scope.sources, answers, strict=True)
            if "relation_key" in reply
        }

    def render(
        self, scope: TemplateScope, texts: Mapping[str, str], *, lenient: bool = False
    ) -> dict[str, RenderedModel]:
        """What became of each text, by the id of its node; `lenient`: without what is not at hand."""
        do = "render leniently" if lenient else "render"
        asked = [{"do": do, "node": unique_id, "text": text} for unique_id, text in texts.items()]
        answers = self._ask(scope, asked)
        return {unique_id: _rendered_model(reply) for unique_id, reply in zip(texts, answers, strict=True)}

    def _ask(self, scope: TemplateScope, asked: Sequence[Mapping[str, str]]) -> list[dict[str, Any]]:
        if not asked:
            return []
        self._scopes += 1
        file = self._folder / f"scope_{self._scopes}.json"
        file.write_text(scope.to_json(), "utf-8")
        replies = self._sandbox.parse(_PROCESS, [(json.dumps(one), str(file)) for one in asked])
        return [
            json.loads(reply.symbolic) if reply.symbolic else {"line": 0, "reason": _overrun(reply.reason)}
            for reply in replies
        ]


def _overrun(reason: str) -> str:
    return {ParseTimeout.code: "overruns its time", ParseMemory.code: "overruns its memory"}.get(
        reason, "cannot be rendered"
    )


def _rendered_model(reply: Mapping[str, Any]) -> RenderedModel:
    if "texts" not in reply:
        return RenderedModel(line=int(reply.get("line", 0)), reason=str(reply.get("reason", "cannot be rendered")))
    ways = tuple(tuple(texts) for texts in reply["other_ways"])
    read, ephemeral = tuple(reply["read"]), tuple(reply["ephemeral"])
    return RenderedModel(tuple(reply["texts"]), read, ephemeral, int(reply["line"]), other_ways=ways)


def _node_config(reply: Mapping[str, Any]) -> NodeConfig:
    assumed = reply.get("assumed", reply.get("reason", ""))
    return NodeConfig(reply.get("config", {}), _relation_key(reply), assumed)


def _relation_key(reply: Mapping[str, Any]) -> tuple[str, str, str]:
    database, schema, identifier = reply.get("relation_key", ("", "", ""))
    return str(database), str(schema), str(identifier)
