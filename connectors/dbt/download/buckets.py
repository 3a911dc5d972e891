"""Artifacts in a bucket of an object store, read with pyarrow's file systems."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from pyarrow import fs

from connectors.dbt.download.copies import LARGEST, PIECE, write_copy
from connectors.dbt.download.places import ARTIFACTS, BucketArtifacts, BucketKind
from ingestion.errors import ConfigError, TargetDown

_SECONDS = (10.0, 60.0)
"""To connect, and for each answer."""
_ATTEMPTS = 3
_SHOWN = 3
_CREDENTIALS = "GOOGLE_APPLICATION_CREDENTIALS"
_CODE = re.compile(r"AWS Error (\w+)|google::cloud::Status\((\w+)")
_REFUSED = re.compile(r"ACCESS_DENIED|INVALID_ACCESS_KEY|SIGNATURE|TOKEN|PERMISSION_DENIED|UNAUTHENTICATED|EXPIRED")
_MISSING = re.compile(r"NO_SUCH|NOT_FOUND|RESOURCE_NOT_FOUND")


@dataclass(frozen=True)
class BucketDownload:
    """Copies the artifacts in a folder of a bucket; its errors say no more than the store's own code."""

    artifacts: BucketArtifacts

    def copy(self, name: str, file: Path) -> bool:
        """Whether the folder has the artifact, which is then in `file`.

        Raises ConfigError where there is no manifest or it is refused, TargetDown where the store does not answer.
        """
        path = f"{self._folder}/{name}.json"
        origin = f"{self.artifacts.kind}://{path}"
        with self._translating_errors(origin):
            if self._files.get_file_info(path).type is not fs.FileType.File:
                return False
            with self._files.open_input_stream(path) as stream:
                write_copy(iter(partial(stream.read, PIECE), b""), file, origin, LARGEST)
        return True

    @cached_property
    def _files(self) -> Any:
        options = dict(self.artifacts.options)
        if self.artifacts.kind is BucketKind.GCS:
            return fs.GcsFileSystem(retry_time_limit=timedelta(seconds=sum(_SECONDS)), **options)
        retries = fs.AwsStandardS3RetryStrategy(max_attempts=_ATTEMPTS)
        connect, request = _SECONDS
        return fs.S3FileSystem(retry_strategy=retries, connect_timeout=connect, request_timeout=request, **options)

    @cached_property
    def _folder(self) -> str:
        """The folder with the manifest: that which is named, or the only one below it that has one."""
        path, manifest = self.artifacts.path, f"{ARTIFACTS[0]}.json"
        with self._translating_errors(self.artifacts.address):
            if self._files.get_file_info(f"{path}/{manifest}").type is fs.FileType.File:
                return path
            below = self._files.get_file_info(fs.FileSelector(path, allow_not_found=True, recursive=True))
        found: list[str] = sorted(one.path.rpartition("/")[0] for one in below if one.path.endswith(f"/{manifest}"))
        if not found:
            raise ConfigError(f"{self.artifacts.address} has no {manifest}, nor has a folder below it")
        if len(found) > 1:
            some = ", ".join(found[:_SHOWN])
            raise ConfigError(
                f"{self.artifacts.address} has {len(found)} manifests: name one in dbtObjectPrefix ({some})"
            )
        return found[0]

    @contextmanager
    def _translating_errors(self, origin: str) -> Iterator[None]:
        """Tells the store's errors by what can be done: their own text may quote anything."""
        with _credentials(self.artifacts.credentials_file):
            try:
                yield
                return
            except OSError as error:
                match = _CODE.search(str(error))
                code = next(filter(None, match.groups())) if match else ""
                missing = isinstance(error, FileNotFoundError) or bool(_MISSING.search(code))
        if missing:
            raise ConfigError(f"{origin}: no such bucket or file")
        if _REFUSED.search(code):
            raise ConfigError(
                f"{origin} is refused ({code}): check dbtSecurityConfig, or the environment's credentials"
            )
        raise TargetDown(f"{origin} cannot be read ({code or 'no answer'}): is the store up, and the region right?")


@contextmanager
def _credentials(file: str | None) -> Iterator[None]:
    """Google's library finds a service account by this variable alone."""
    before = os.environ.get(_CREDENTIALS)
    if file is not None:
        os.environ[_CREDENTIALS] = file
    try:
        yield
    finally:
        if file is not None and before is None:
            del os.environ[_CREDENTIALS]
        elif before is not None:
            os.environ[_CREDENTIALS] = before
