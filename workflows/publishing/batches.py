"""What to remember of a batch once its target has taken it, and how many are sent at once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from connectors.sink import TargetBatch
from ingestion.contribution import Contribution
from workflows.state.acknowledgements import ContributionDigest, ContributionKey, PublishedState

_SIGHTING = frozenset({"firstSeen", "lastSeen", "records", "count", "jobs"})


def chunks(batches: Iterable[TargetBatch], size: int) -> Iterator[list[TargetBatch]]:
    """The batches, in their order, in lists of at most `size` contributions; one that is larger is alone."""
    chunk: list[TargetBatch] = []
    held = 0
    for batch in batches:
        if chunk and held + batch.size > size:
            yield chunk
            chunk, held = [], 0
        chunk.append(batch)
        held += batch.size
    if chunk:
        yield chunk


def without_orders(batch: TargetBatch) -> TargetBatch:
    """As the next run will make it: orders to end one producer's word are given once."""
    return replace(batch, replacements=tuple(one for one in batch.replacements if one.producer is None))


def published_state(batch: TargetBatch) -> PublishedState:
    """What to remember of a batch once the target has taken it."""
    rendered = ([request.to_json(), [one.to_json() for one in request.contributions]] for request in batch.requests)
    contents = sorted(json.dumps(one, sort_keys=True) for one in rendered)
    contents += sorted(json.dumps(replacement.to_json(), sort_keys=True) for replacement in batch.replacements)
    return PublishedState(batch.target.type, _digest(contents), contribution_digests(batch))


def contribution_digests(batch: TargetBatch) -> dict[ContributionKey, ContributionDigest]:
    """What each producer says of the batch's target."""
    found: dict[ContributionKey, list[tuple[str, Contribution]]] = {}
    for request in batch.requests:
        for contribution in request.contributions:
            producer = contribution.producer
            key = ContributionKey(str(producer.kind), producer.key, str(contribution.source))
            found.setdefault(key, []).append((request.edge.from_entity.id, contribution))
    return {key: _contribution_digest(contributions) for key, contributions in found.items()}


def _contribution_digest(found: Sequence[tuple[str, Contribution]]) -> ContributionDigest:
    digest = _digest(sorted(source + _meaning(contribution) for source, contribution in found))
    first = [c.first_seen for _source, c in found if c.first_seen is not None]
    last = [c.last_seen for _source, c in found if c.last_seen is not None]
    timed = len(first) == len(last) == len(found)
    return ContributionDigest(digest, min(first) if timed else None, max(last) if timed else None)


def _meaning(contribution: Contribution) -> str:
    """What is said, without how often, when and in which job."""
    contents = contribution.to_json()
    return json.dumps({name: contents[name] for name in contents if name not in _SIGHTING}, sort_keys=True)


def _digest(texts: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode() + b"\0")
    return digest.hexdigest()
