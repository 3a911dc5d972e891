"""A platform that was found to be there: its transport, its version and what it offers."""

from __future__ import annotations

from dataclasses import dataclass

from connectors.openmetadata.transport.http import Http


@dataclass(frozen=True, slots=True)
class Platform:
    """The platform behind `http`; `capabilities` is what it offers beyond OpenMetadata's contract.

    `store` tells its data from those of another that takes its place; "" where it does not say.
    """

    http: Http
    version: str
    capabilities: frozenset[str] = frozenset()
    store: str = ""

    def close(self) -> None:
        self.http.close()
