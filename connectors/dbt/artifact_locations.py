"""Where dbt's artifacts may lie: under addresses of their own, or together in a bucket."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

ARTIFACTS = ("manifest", "catalog", "run_results", "sources")
"""The names of the files, without .json; nothing can be read without the first."""


@dataclass(frozen=True, slots=True)
class HttpArtifacts:
    """The address of each artifact that there is, and the headers to ask with, which may be secrets."""

    urls: Mapping[str, str] = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


class BucketKind(StrEnum):
    """The object stores, by the scheme of their addresses."""

    S3 = "s3"
    GCS = "gs"


@dataclass(frozen=True, slots=True)
class BucketArtifacts:
    """A folder of a bucket that has the artifacts, in it or below it.

    `options` are those of pyarrow's file system of that kind, secrets in clear: none, and the credentials are those of
    the environment. `credentials_file` is that of a Google service account.
    """

    kind: BucketKind
    bucket: str
    prefix: str = ""
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    credentials_file: str | None = None

    @property
    def address(self) -> str:
        """The folder as an address."""
        return f"{self.kind}://{self.path}"

    @property
    def path(self) -> str:
        """The folder, its bucket first."""
        return "/".join(part.strip("/") for part in (self.bucket, self.prefix) if part.strip("/"))


ArtifactLocation = HttpArtifacts | BucketArtifacts
