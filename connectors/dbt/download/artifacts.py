"""The artifacts of a project, copied to a folder."""

from __future__ import annotations

from pathlib import Path

from connectors.dbt.download.buckets import BucketDownload
from connectors.dbt.download.http import HttpDownload
from connectors.dbt.download.places import ARTIFACTS, ArtifactPlace, HttpArtifacts


def download_artifacts(place: ArtifactPlace, folder: Path) -> dict[str, Path]:
    """The artifacts that there are at a place, as files in `folder`, by their names.

    Raises ConfigError where one is refused, is too large or has to be there and is not; TargetDown where nothing
    answers.
    """
    source = HttpDownload(place) if isinstance(place, HttpArtifacts) else BucketDownload(place)
    found: dict[str, Path] = {}
    for name in ARTIFACTS:
        file = folder / f"{name}.json"
        if source.copy(name, file):
            found[name] = file
    return found
