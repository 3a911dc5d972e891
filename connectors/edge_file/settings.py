"""`sink.config` of the sink edge-file: which file."""

from __future__ import annotations

import hashlib
from typing import ClassVar

from pydantic import Field

from connectors.fields import FilePath, Positive
from connectors.sink import SinkSettings


class EdgeFileSettings(SinkSettings):
    written_to: ClassVar[str] = "a CSV file of edges"
    one_writer: ClassVar[bool] = True

    path: FilePath = Field(description="The file; it is made where it is missing, and holds what stands now.")
    bulk_sink_batch_size: Positive = Field(
        default=20_000, description="Edges after which the file is written: all of it, each time."
    )

    @property
    def location(self) -> str:
        return str(self.path)

    def identity(self, catalog: str) -> str:
        digest = hashlib.sha256(f"{self.path.absolute()} {catalog}".encode()).hexdigest()
        return f"edge-file {digest[:32]}"


SETTINGS = EdgeFileSettings
