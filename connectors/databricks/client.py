"""A workspace's REST API of external lineage, and what its answers mean.

The calls are made here and not by Databricks' own library: they are eight of plain JSON, and an error is to end a run,
an edge or nothing by rules that it does not have.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

import requests
import urllib3
from requests.auth import AuthBase
from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt

from connectors.databricks.names import End, Relationship
from connectors.databricks.settings import DatabricksSettings
from ingestion.errors import ConfigError, Rejected, RetryableError, TargetDown

Answer = Mapping[str, Any]

_ROOT = "/api/2.0/lineage-tracking/"
_LINEAGE, _METADATA = "external-lineage", "external-metadata"
_NEEDED = ("name", "system_type", "entity_type")
_LARGEST_PAGE = 1000
_RETRIED = frozenset({408, 425, 429})
_NO_ADDRESS = frozenset({"", "ENDPOINT_NOT_FOUND", "FEATURE_DISABLED"})
"""The error codes of a 404 that is not about one table or object, but about the whole API."""
_FIRST_WAIT, _LONGEST_WAIT = 1.0, 60.0
"""Seconds before a call is tried again; each further wait is twice as long, and as long as the answer asks for."""
_MOST_OF_A_MESSAGE = 300
_PRIVILEGES = (
    "CREATE EXTERNAL METADATA on the metastore, MODIFY on the objects, SELECT on the tables that are read and MODIFY "
    "on those that are written"
)


class _NotThere(Rejected):
    """There is no such table, path or object (404)."""


class AlreadyThere(Rejected):
    """Somebody else has made it."""


class Workspace:
    """Where the calls go. Each raises Rejected, ConfigError without the token, and TargetDown."""

    def __init__(self, settings: DatabricksSettings, session: requests.Session) -> None:
        self._host = settings.host
        self._timeout = settings.timeout_sec
        self._tries = settings.retry_max_times + 1
        self._token = settings.token.get_secret_value()
        self._session = session
        self._session.auth = _Bearer(self._token)
        self._has_answered = False

    def check(self) -> None:
        """Raises ConfigError where the API is not there, or not for this token."""
        self._send("GET", _METADATA, {"page_size": "1"})

    def read_object(self, name: str) -> Answer | None:
        """An external metadata object, None where there is none of this name."""
        try:
            return self._send("GET", _object(name))
        except _NotThere:
            return None

    def create_object(self, body: Answer) -> Answer:
        """Raises AlreadyThere besides."""
        return self._send("POST", _METADATA, body=body)

    def set_columns(self, found: Answer, columns: list[str]) -> Answer:
        """Has an object that was found these columns. What no object may lack is sent too, and stays as it is."""
        body = {key: found[key] for key in _NEEDED if key in found}
        return self._send(
            "PATCH", _object(str(found.get("name"))), {"update_mask": "columns"}, {**body, "columns": columns}
        )

    def delete_object(self, name: str) -> None:
        """It may be gone already."""
        try:
            self._send("DELETE", _object(name))
        except _NotThere:
            return

    def relationships(self, end: End, direction: str) -> Iterator[Answer]:
        """Those of an end, in the direction UPSTREAM or DOWNSTREAM; none where the end is not there."""
        asked = {**end.parameters("object_info"), "lineage_direction": direction, "page_size": str(_LARGEST_PAGE)}
        while True:
            try:
                page = self._send("GET", _LINEAGE, asked)
            except _NotThere:
                return
            for one in page.get("external_lineage_relationships") or ():
                found = one.get("external_lineage_info") if isinstance(one, dict) else None
                if isinstance(found, dict):
                    yield found
            if not page.get("next_page_token"):
                return
            asked = {**asked, "page_token": str(page["next_page_token"])}

    def create_relationship(self, relationship: Relationship, body: Answer) -> Answer:
        """`body`: its columns and properties. Raises AlreadyThere besides."""
        return self._send("POST", _LINEAGE, body={**_ends(relationship), **body})

    def update_relationship(self, relationship: Relationship, body: Answer) -> Answer:
        """Changes what the body has."""
        mask = {"update_mask": ",".join(sorted(body))}
        return self._send("PATCH", _LINEAGE, mask, {**_ends(relationship), **body})

    def delete_relationship(self, relationship: Relationship) -> None:
        """It may be gone already."""
        prefix = "external_lineage_relationship"
        source = relationship.source.parameters(f"{prefix}.source")
        try:
            self._send("DELETE", _LINEAGE, {**source, **relationship.target.parameters(f"{prefix}.target")})
        except _NotThere:
            return

    def _send(
        self, method: str, path: str, parameters: Mapping[str, str] | None = None, body: Answer | None = None
    ) -> Answer:
        policy = Retrying(
            retry=retry_if_exception_type(RetryableError),
            stop=stop_after_attempt(self._tries),
            wait=_wait,
            sleep=time.sleep,
            reraise=True,
        )
        try:
            found: Answer = policy(self._attempt, method, path, parameters, body)
        except RetryableError as error:
            raise TargetDown(f"Databricks at {self._host} does not answer ({error}): run again later") from None
        return found

    def _attempt(self, method: str, path: str, parameters: Mapping[str, str] | None, body: Answer | None) -> Answer:
        try:
            answer = self._session.request(
                method,
                f"{self._host}{_ROOT}{path}",
                params=parameters,
                json=body,
                timeout=self._timeout,
                allow_redirects=False,
            )
        except requests.exceptions.SSLError:
            problem: Exception = ConfigError(
                f"{self._host} has a certificate that is not trusted: name its authority in REQUESTS_CA_BUNDLE"
            )
        except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
            problem = RetryableError(type(error).__name__)
        else:
            return self._value(answer, f"{method} {path.partition('/')[0]}")
        raise problem  # out here, so that no request with its headers hangs on the error

    def _value(self, answer: requests.Response, call: str) -> Answer:
        status = answer.status_code
        content = _json(answer)
        if 300 <= status < 400 or (status == 200 and content is None and not self._has_answered):
            raise ConfigError(f"{self._host} answers {call} with a page: sink.config.host is the workspace's address")
        if status >= 500 or status in _RETRIED:
            raise RetryableError(str(status), _seconds(answer.headers.get("Retry-After", "")))
        if status < 300 and content is not None:
            self._has_answered = True
            return content
        if status < 300:
            raise RetryableError("half an answer, or a page")
        raise self._refusal(status, content or {}, call)

    def _refusal(self, status: int, content: Answer, call: str) -> Exception:
        code = str(content.get("error_code") or "")
        message = " ".join(str(content.get("message") or "").replace(self._token, "***").split())
        reason = ": ".join(filter(None, (f"{status} {code}".strip(), message[:_MOST_OF_A_MESSAGE])))
        if status == 401:
            return ConfigError(f"{self._host} refuses the token ({reason}): set sink.config.token to one that is valid")
        if status == 403:
            return ConfigError(f"{self._host} does not allow {call} ({reason}): the token's owner needs {_PRIVILEGES}")
        if status == 404 and code in _NO_ADDRESS:
            return ConfigError(
                f"{self._host} has no external lineage ({reason}): sink.config.host is the address of a workspace with "
                "Unity Catalog, where external lineage, a public preview, is on"
            )
        kind = {404: _NotThere, 409: AlreadyThere}.get(status, Rejected)
        return AlreadyThere(reason) if code.endswith("ALREADY_EXISTS") else kind(reason)


class _Bearer(AuthBase):
    """The token; without it an entry for the host in ~/.netrc would go in its place."""

    def __init__(self, token: str) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {self._token}"
        return request


def _object(name: str) -> str:
    return f"{_METADATA}/{quote(name, safe='')}"


def _ends(relationship: Relationship) -> dict[str, Any]:
    return {"source": relationship.source.to_json(), "target": relationship.target.to_json()}


def _json(answer: requests.Response) -> Answer | None:
    """The object that an answer is, an empty one where it has no body; None of anything else."""
    if not answer.content.strip():
        return {}
    try:
        found = json.loads(answer.content)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _wait(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome is not None else None
    asked = error.retry_after if isinstance(error, RetryableError) else None
    return min(max(asked or 0.0, _FIRST_WAIT * 2.0 ** (state.attempt_number - 1)), _LONGEST_WAIT)


def _seconds(header: str) -> float | None:
    return float(header) if header.strip().isdecimal() else None
