"""`sink.config` of the sink datahub-file: which file, and what the services are called in DataHub."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from connectors.datahub.settings import DatahubSettings
from connectors.fields import FilePath, Positive


class DatahubFileSettings(DatahubSettings):
    written_to: ClassVar[str] = "a file that DataHub ingests"
    one_writer: ClassVar[bool] = True

    filename: FilePath = Field(
        default=Path("datahub.json"), description="The file: what changed since it was taken away."
    )
    bulk_sink_batch_size: Positive = Field(
        default=20_000, description="Edges after which the file is written: all of it, each time."
    )

    @property
    def location(self) -> str:
        return str(self.filename)

    def identity(self, catalog: str) -> str:
        named = f"{self.filename.absolute()} {self.env} {sorted(self.services.items())} {catalog}"
        return f"datahub-file {hashlib.sha256(named.encode()).hexdigest()[:32]}"


SETTINGS = DatahubFileSettings
