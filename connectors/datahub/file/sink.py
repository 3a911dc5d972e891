"""Writes proposals to a file as DataHub's own file sink does, for `datahub ingest` with the source file.

The file has what changed since it was taken away. Taken in twice it changes nothing more, as its order is kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from connectors.datahub.delivery import DatahubSink, changes_of
from connectors.datahub.file.settings import DatahubFileSettings
from connectors.private_files import replaced_text
from connectors.sink import SinkRun
from ingestion.errors import ConfigError

if TYPE_CHECKING:
    from connectors.datahub.changes import Proposal


@contextmanager
def open_sink(settings: DatahubFileSettings, run: SinkRun[object]) -> Iterator[DatahubSink]:
    """The file, after what is in it. Raises ConfigError where that is of another kind."""
    changes = changes_of(settings, run)
    yield DatahubSink(changes, _ProposalFile(settings.filename, _proposals_in(settings.filename)).append)


def _proposals_in(file: Path) -> list[Any]:
    try:
        found = json.loads(file.read_bytes())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise ConfigError(f"{file} cannot be read ({error.strerror})") from None
    except ValueError:
        found = None
    if not isinstance(found, list):
        raise ConfigError(f"{file} is no list of proposals: name another file")
    return found


class _ProposalFile:
    def __init__(self, file: Path, proposals: list[Any]) -> None:
        self._file = file
        self._proposals = proposals

    def append(self, proposals: Sequence[Proposal]) -> None:
        """The file with these behind the others, whole or as it was. Raises ConfigError."""
        if not proposals:
            return
        wanted = [*self._proposals, *map(as_in_files, proposals)]
        try:
            with replaced_text(self._file) as out:
                out.write("[\n" + ",\n".join(json.dumps(one) for one in wanted) + "\n]\n")
        except OSError as error:
            raise ConfigError(f"{self._file} cannot be written ({error.strerror})") from None
        self._proposals = wanted


def as_in_files(proposal: Proposal) -> Any:
    """A proposal as DataHub's file sink writes it: its aspect as JSON, not as a text of JSON."""
    from datahub.emitter.mcp import MetadataChangeProposalWrapper

    if isinstance(proposal, MetadataChangeProposalWrapper):
        return proposal.to_obj(simplified_structure=True)
    written = proposal.to_obj()
    return {**written, "aspect": {"json": json.loads(written["aspect"]["value"])}}
