"""What is published together: everything that is said of one target, and what to remember of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ingestion.contribution import Contribution
from ingestion.entities import EntityReference
from ingestion.lineage_request import AddLineageRequest, Replacement
from workflows.state.acknowledgements import ContributionDigest, ContributionKey, PublishedState

_SIGHTING = frozenset({"firstSeen", "lastSeen", "records", "count"})


@dataclass(frozen=True, slots=True)
class TargetBatch:
    """Everything that is said of one target, which is sent whole or not at all."""

    target: EntityReference
    requests: tuple[AddLineageRequest, ...] = ()
    replacements: tuple[Replacement, ...] = ()

    @property
    def size(self) -> int:
        """Contributions."""
        return sum(len(request.contributions) for request in self.requests)

    def without_orders(self) -> TargetBatch:
        """As the next run will make it: orders to end one producer's word are given once."""
        return replace(self, replacements=tuple(one for one in self.replacements if one.producer is None))

    def acknowledgement(self) -> PublishedState:
        """What to remember of it once the target has taken it."""
        said = sorted(json.dumps(_content(request), sort_keys=True) for request in self.requests)
        said += sorted(json.dumps(replacement.to_json(), sort_keys=True) for replacement in self.replacements)
        return PublishedState(self.target.type, _digest(said), self._contribution_digests())

    def _contribution_digests(self) -> dict[ContributionKey, ContributionDigest]:
        spoken: dict[ContributionKey, list[tuple[str, Contribution]]] = {}
        for request in self.requests:
            for contribution in request.contributions:
                contribution_key = ContributionKey(
                    str(contribution.producer.kind), contribution.producer.key, str(contribution.source)
                )
                spoken.setdefault(contribution_key, []).append((request.edge.from_entity.id, contribution))
        return {contribution_key: _contribution_digest(words) for contribution_key, words in spoken.items()}


def target_batches(requests: Sequence[AddLineageRequest], replacements: Sequence[Replacement]) -> list[TargetBatch]:
    """The requests by target, in their order."""
    targets: dict[str, EntityReference] = {}
    by_target: dict[str, tuple[list[AddLineageRequest], list[Replacement]]] = {}
    for request in requests:
        target = targets.setdefault(request.edge.to_entity.id, request.edge.to_entity)
        by_target.setdefault(target.id, ([], []))[0].append(request)
    for replacement in replacements:
        target = targets.setdefault(replacement.to_entity.id, replacement.to_entity)
        by_target.setdefault(target.id, ([], []))[1].append(replacement)
    return [TargetBatch(targets[name], tuple(asked), tuple(ended)) for name, (asked, ended) in by_target.items()]


def _contribution_digest(spoken: Sequence[tuple[str, Contribution]]) -> ContributionDigest:
    digest = _digest(sorted(source + _meaning(contribution) for source, contribution in spoken))
    first = [c.first_seen for _source, c in spoken if c.first_seen is not None]
    last = [c.last_seen for _source, c in spoken if c.last_seen is not None]
    timed = len(first) == len(last) == len(spoken)
    return ContributionDigest(digest, min(first) if timed else None, max(last) if timed else None)


def _content(request: AddLineageRequest) -> object:
    return [request.to_json(), [contribution.to_json() for contribution in request.contributions]]


def _meaning(contribution: Contribution) -> str:
    """What is said, without how often and when."""
    said = contribution.to_json()
    return json.dumps({name: said[name] for name in said if name not in _SIGHTING}, sort_keys=True)


def _digest(texts: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode() + b"\0")
    return digest.hexdigest()
