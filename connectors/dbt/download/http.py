"""Artifacts behind web addresses: an artifact store of a CI, a web server, a presigned link."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import requests
import urllib3
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential

from connectors.dbt.download.copies import LARGEST, PIECE, write_copy
from connectors.dbt.download.places import HttpArtifacts
from connectors.dbt.target.json_stream import url_without_secrets
from ingestion.errors import ConfigError, RetryableError, TargetDown

_REDIRECTS = 5
_BUSY = 429
_BROKEN = 500


@dataclass(frozen=True, slots=True)
class HttpLimits:
    """`timeout`: seconds to connect, and between two pieces; `whole`: for one file; `largest`: bytes of it."""

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
                write_copy(self._pieces(session, url), file, origin, self.limits.largest)
        except (requests.exceptions.InvalidHeader, requests.exceptions.InvalidURL, requests.exceptions.MissingSchema):
            problem = "is no address that can be asked, or one of dbtHttpHeaders is no header"
        except requests.exceptions.SSLError:
            problem = "has a certificate that is not trusted: name its authority in REQUESTS_CA_BUNDLE"
        except (requests.RequestException, urllib3.exceptions.HTTPError):
            raise RetryableError("does not answer, or breaks off") from None
        else:
            return
        raise ConfigError(f"{origin} {problem}")

    def _pieces(self, session: requests.Session, url: str) -> Iterator[bytes]:
        end = time.monotonic() + self.limits.whole
        with self._response(session, url) as response:
            for piece in response.iter_content(PIECE):
                if time.monotonic() > end:
                    raise RetryableError(f"takes longer than {self.limits.whole:g} s")
                yield piece

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
