"""What people corrected by hand in Headwater's own catalog; a plain OpenMetadata keeps no rejections."""

from __future__ import annotations

from connectors.openmetadata.transport.platform import Platform
from ingestion.model import Json

CORRECTIONS = "corrections"


def rejected_edges(platform: Platform) -> frozenset[tuple[str, str]]:
    """The edges, by the ids of their ends, that nobody reads since a person rejected them. Raises TargetDown."""
    if CORRECTIONS not in platform.capabilities:
        return frozenset()
    answer: Json = platform.http.get("headwater/corrections", {"limit": 1}) or {"rejectedEdges": ()}
    return frozenset((str(edge["fromEntity"]), str(edge["toEntity"])) for edge in answer["rejectedEdges"])
