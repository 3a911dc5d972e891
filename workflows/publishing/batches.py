"""What to remember of a batch once its target has taken it, and how many are sent at once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from connectors.sink import TargetBatch
from ingestion.contribution import Contribution
from ingestion.model import Json
from workflows.state.acknowledgements import ContributionDigest, ContributionKey, PublishedState

_MOST_COLUMNS = 50_000
"""That contributions of one call speak of."""


def chunks(batches: Iterable[TargetBatch], size: int) -> Iterator[list[TargetBatch]]:
    """The batches, in their order, in lists of at most `size` contributions; one that is larger is alone.

    Of wide tables fewer go together: what a target works on for a minute, it may not answer in time.
    """
    chunk: list[TargetBatch] = []
    held = columns = 0
    for batch in batches:
        width = batch.columns
        if chunk and (held + batch.size > size or columns + width > _MOST_COLUMNS):
            yield chunk
            chunk, held, columns = [], 0, 0
        chunk.append(batch)
        held += batch.size
        columns += width
    if chunk:
        yield chunk


def without_orders(batch: TargetBatch) -> TargetBatch:
    """As the next run will make it: orders to end one producer's word are given once."""
    return replace(batch, replacements=tuple(one for one in batch.replacements if one.producer is None))


def published_state(batch: TargetBatch) -> PublishedState:
    """What to remember of a batch once the target has taken it."""
    contents: list[str] = []
    words: dict[ContributionKey, list[_SourcedContribution]] = {}
    for request in batch.requests:
        # what a request has contributions of says nothing beside them
        contents_of_request = ["{}" if request.contributions else _text(request.to_json())]
        for contribution in request.contributions:
            one = _SourcedContribution.of(request.edge.from_entity.id, contribution)
            words.setdefault(_key_of(contribution), []).append(one)
            contents_of_request += [one.meaning, one.sightings]
        contents.append("\0".join((*request.edge.key, *contents_of_request)))
    contents.sort()
    contents += sorted(_text(replacement.to_json()) for replacement in batch.replacements)
    return PublishedState(batch.target.type, _digest(contents), {key: _word(found) for key, found in words.items()})


@dataclass(frozen=True, slots=True)
class _SourcedContribution:
    """What one contribution says of an edge from `source`, and apart from that how often, when and in which job."""

    source: str
    meaning: str
    sightings: str
    first: float | None
    last: float | None

    @classmethod
    def of(cls, source: str, contribution: Contribution) -> _SourcedContribution:
        texts = contribution.meaning_text(), contribution.sightings_text()
        return cls(source, *texts, contribution.first_seen, contribution.last_seen)


def _key_of(contribution: Contribution) -> ContributionKey:
    producer = contribution.producer
    return ContributionKey(str(producer.kind), producer.key, str(contribution.source))


def _word(found: Sequence[_SourcedContribution]) -> ContributionDigest:
    digest = _digest(sorted(one.source + one.meaning for one in found))
    first = [one.first for one in found if one.first is not None]
    last = [one.last for one in found if one.last is not None]
    timed = len(first) == len(last) == len(found)
    return ContributionDigest(digest, min(first) if timed else None, max(last) if timed else None)


def _text(value: Json) -> str:
    return json.dumps(value, sort_keys=True)


def _digest(texts: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode() + b"\0")
    return digest.hexdigest()
