"""Artifacts that lie elsewhere, brought to this machine's disk for as long as they are read."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property, partial
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import requests
import urllib3
from pyarrow import fs
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential

from connectors.dbt.artifact_locations import ARTIFACTS, ArtifactLocation, BucketArtifacts, BucketKind, HttpArtifacts
from connectors.dbt.artifacts import url_without_secrets
from ingestion.errors import ConfigError, RetryableError, TargetDown

LARGEST = 4 << 30
"""Bytes; manifests of a hundred megabytes are large."""

BLOCK_BYTES = 1 << 20
"""Bytes that are copied at a time."""

_REDIRECTS = 5
_BUSY = 429
_BROKEN = 500

_BUCKET_SECONDS = (10.0, 60.0)
"""To connect, and for each answer."""
_BUCKET_ATTEMPTS = 3
_MANIFESTS_SHOWN = 3
_CREDENTIALS = "GOOGLE_APPLICATION_CREDENTIALS"
_CODE = re.compile(r"AWS Error (\w+)|google::cloud::Status\((\w+)")
_REFUSED = re.compile(r"ACCESS_DENIED|INVALID_ACCESS_KEY|SIGNATURE|TOKEN|PERMISSION_DENIED|UNAUTHENTICATED|EXPIRED")
_MISSING = re.compile(r"NO_SUCH|NOT_FOUND|RESOURCE_NOT_FOUND")


# Copies of artifacts, no larger than is sensible.


def _write_copy(blocks: Iterable[bytes], file: Path, origin: str, largest: int = LARGEST) -> None:
    """Writes the blocks of what is at `origin` (without secrets). Raises ConfigError where it is beyond `largest`."""
    size = 0
    with file.open("wb") as stream:
        for block in blocks:
            size += len(block)
            if size > largest:
                raise ConfigError(f"{origin}: over {largest >> 20} MB: is this an artifact of dbt's?")
            stream.write(block)


# Artifacts behind web addresses: an artifact store of a CI, a web server, a presigned link.


@dataclass(frozen=True, slots=True)
class HttpLimits:
    """`timeout`: seconds to connect, and between two blocks; `whole`: for one file; `largest`: bytes of it."""

    timeout: tuple[float, float] = (10.0, 60.0)
    whole: float = 900.0
    largest: int = LARGEST
    attempts: int = 3
    wait: float = 1.0


@dataclass(frozen=True, slots=True)
class HttpDownload:
    """Copies what is at the addresses of `artifacts`; its errors name no user, no query and no header's value."""

    artifacts: HttpArtifacts
    limits: HttpLimits = field(default_factory=HttpLimits)

    def copy(self, name: str, file: Path) -> bool:
        """Whether there is an address for the artifact, which is then in `file`.

        Raises ConfigError where the answer is a refusal or no such file, TargetDown where none comes.
        """
        url = self.artifacts.urls.get(name)
        if url is None:
            return False
        policy = Retrying(
            retry=retry_if_exception_type(RetryableError),
            stop=stop_after_attempt(self.limits.attempts),
            wait=wait_exponential(multiplier=self.limits.wait, max=30),
            reraise=True,
        )
        try:
            policy(self._copy, url, file)
        except RetryableError as error:
            raise TargetDown(f"{url_without_secrets(url)} {error}: is it up, and can this machine reach it?") from None
        return True

    def _copy(self, url: str, file: Path) -> None:
        origin = url_without_secrets(url)
        try:
            with requests.Session() as session:
                _write_copy(self._blocks(session, url), file, origin, self.limits.largest)
        except (requests.exceptions.InvalidHeader, requests.exceptions.InvalidURL, requests.exceptions.MissingSchema):
            problem = "is no address that can be asked, or one of dbtHttpHeaders is no header"
        except requests.exceptions.SSLError:
            problem = "has a certificate that is not trusted: name its authority in REQUESTS_CA_BUNDLE"
        except (requests.RequestException, urllib3.exceptions.HTTPError):
            raise RetryableError("does not answer, or breaks off") from None
        else:
            return
        raise ConfigError(f"{origin} {problem}")

    def _blocks(self, session: requests.Session, url: str) -> Iterator[bytes]:
        end = time.monotonic() + self.limits.whole
        with self._response(session, url) as response:
            for block in response.iter_content(BLOCK_BYTES):
                if time.monotonic() > end:
                    raise RetryableError(f"takes longer than {self.limits.whole:g} s")
                yield block

    def _response(self, session: requests.Session, url: str) -> requests.Response:
        """The answer with the file. The headers go to no other host: what redirects may name any."""
        first, here = urlsplit(url), url
        for _ in range(_REDIRECTS):
            own = urlsplit(here)[:2] == first[:2]
            headers: Mapping[str, str] = self.artifacts.headers if own else {}
            response = session.get(
                here, headers=headers, stream=True, timeout=self.limits.timeout, allow_redirects=False
            )
            if not response.is_redirect:
                _check(response, here)
                return response
            here = urljoin(here, response.headers["Location"])
            response.close()
        raise ConfigError(f"{url_without_secrets(url)} redirects more than {_REDIRECTS} times")


def _check(response: requests.Response, url: str) -> None:
    status = response.status_code
    if response.ok:
        return
    response.close()
    if status == _BUSY or status >= _BROKEN:
        raise RetryableError(f"answers {status}")
    advice = "check dbtHttpHeaders" if status in (401, 403) else "check the address"
    raise ConfigError(f"{url_without_secrets(url)} answers {status}: {advice}")


# Artifacts in a bucket of an object store, read with pyarrow's file systems.


@dataclass(frozen=True)
class _BucketDownload:
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
                _write_copy(iter(partial(stream.read, BLOCK_BYTES), b""), file, origin, LARGEST)
        return True

    @cached_property
    def _files(self) -> Any:
        options = dict(self.artifacts.options)
        if self.artifacts.kind is BucketKind.GCS:
            return fs.GcsFileSystem(retry_time_limit=timedelta(seconds=sum(_BUCKET_SECONDS)), **options)
        retries = fs.AwsStandardS3RetryStrategy(max_attempts=_BUCKET_ATTEMPTS)
        connect, request = _BUCKET_SECONDS
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
            some = ", ".join(found[:_MANIFESTS_SHOWN])
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


# The artifacts of a project, copied to a folder.


def download_artifacts(location: ArtifactLocation, folder: Path) -> dict[str, Path]:
    """The artifacts that there are at a location, as files in `folder`, by their names.

    Raises ConfigError where one is refused, is too large or has to be there and is not; TargetDown where nothing
    answers.
    """
    source = HttpDownload(location) if isinstance(location, HttpArtifacts) else _BucketDownload(location)
    found: dict[str, Path] = {}
    for name in ARTIFACTS:
        file = folder / f"{name}.json"
        if source.copy(name, file):
            found[name] = file
    return found
