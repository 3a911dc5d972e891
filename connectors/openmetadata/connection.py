"""Where a metadata platform is and how to get in: checked before the first call is made."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from ingestion.errors import ConfigError

NO_TOKEN = "no_token"
_MAX_PATH = 1024


@dataclass(frozen=True, slots=True)
class Connection:
    """How to reach the platform: the fields of openMetadataServerConfig that change something.

    `verify` False accepts any certificate, a text is the PEM file of the authorities to trust. Times are seconds;
    `answer_seconds` bounds one answer from its first byte asked for to its last. `connections` is how many threads
    share the client.
    """

    host_port: str
    jwt_token: str = field(default=NO_TOKEN, repr=False)
    verify: bool | str = True
    client_certificate: tuple[str, str] | str | None = None
    extra_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    validate_version: bool = True
    connect_seconds: float = 10.0
    read_seconds: float = 60.0
    answer_seconds: float = 120.0
    connections: int = 10


def local_files(connection: Connection) -> list[str]:
    """The files of this machine that the client reads: no other machine can make it from the connection alone."""
    given = connection.client_certificate
    files = [connection.verify, *([given] if isinstance(given, str) else given or ())]
    return [str(file) for file in (*files, _token_file(connection.jwt_token)) if isinstance(file, str | Path)]


def base_url(host_port: str) -> str:
    """The URL of the API, ending in /api, whether or not `host_port` says so. Raises ConfigError."""
    parts = urlsplit(host_port.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError("hostPort must be a URL such as http://openmetadata:8585/api")
    if "@" in parts.netloc:
        raise ConfigError("hostPort must not hold a user or password; put the token into securityConfig.jwtToken")
    if parts.query or parts.fragment:
        raise ConfigError("hostPort must end in /api, without ? or #")
    try:
        port = parts.port
    except ValueError:
        raise ConfigError("hostPort has a port that is not a number between 0 and 65535") from None
    path = parts.path.rstrip("/").removesuffix("/v1")
    if not path.endswith("/api"):
        path += "/api"
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}{'' if port is None else f':{port}'}{path}"


def is_loopback(host_port: str) -> bool:
    """Whether the platform runs on this very machine."""
    host = urlsplit(host_port.strip()).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")


class BearerToken:
    """The bearer token: given as it is, or read from a file, which is read again when the token is refused."""

    def __init__(self, given: str) -> None:
        self._file = _token_file(given)
        self._value = _check_token(given.strip()) if self._file is None else self._read(self._file)

    @property
    def value(self) -> str:
        return self._value

    def refresh(self) -> bool:
        """Reads the file again; whether that gave another token than before."""
        if self._file is None:
            return False
        before, self._value = self._value, self._read(self._file)
        return self._value != before

    def redact(self, text: str) -> str:
        """The text without the token, wherever a server has echoed it."""
        return text if self._value in ("", NO_TOKEN) else text.replace(self._value, "***")

    def _read(self, path: Path) -> str:
        try:
            return _check_token(path.read_text(encoding="utf-8").strip())
        except (OSError, UnicodeDecodeError):
            raise ConfigError(f"securityConfig.jwtToken: the file {path} cannot be read") from None


def check_headers(headers: Mapping[str, str]) -> None:
    """Raises ConfigError, naming the header and never its value, when one cannot be sent."""
    for name, value in headers.items():
        if not name.isascii() or not all(character.isalnum() or character in "-_" for character in name):
            raise ConfigError(f"extraHeaders: {name!r} is not the name of a header")
        if not _sendable(value):
            raise ConfigError(f"extraHeaders: the value of {name} holds characters that a header cannot carry")


def check_tls(connection: Connection) -> None:
    """Raises ConfigError, naming the file, where a certificate or key cannot be used; unused ones are not read."""
    if not connection.host_port.strip().lower().startswith("https"):
        return
    if isinstance(connection.verify, str):
        try:
            ssl.create_default_context(cafile=connection.verify)
        except OSError as error:
            reason = error.strerror if not isinstance(error, ssl.SSLError) else "it holds no PEM certificate"
            raise ConfigError(f"sslConfig.caCertificate: {connection.verify} cannot be used: {reason}") from None
    if connection.client_certificate is not None:
        given = connection.client_certificate
        certificate, key = (given, None) if isinstance(given, str) else given
        try:
            ssl.create_default_context().load_cert_chain(certificate, key, lambda: b"")
        except OSError:
            named = " and ".join(filter(None, (certificate, key)))
            raise ConfigError(f"sslConfig: {named} cannot be used: a PEM certificate and its key, unlocked") from None


def _token_file(given: str) -> Path | None:
    text = given.strip()
    looks_like_path = text.startswith(("/", "./", "../", "~"))
    if not looks_like_path and (len(text) > _MAX_PATH or text.startswith("ey")):
        return None
    path = Path(text).expanduser()
    try:
        if path.is_file():
            return path
    except (OSError, ValueError):
        return None
    if looks_like_path:
        raise ConfigError(f"securityConfig.jwtToken names the file {path}, which is not there")
    return None


def _check_token(token: str) -> str:
    if not token or not _sendable(token):
        raise ConfigError("securityConfig.jwtToken is empty or holds characters that a token never has")
    return token


def _sendable(value: str) -> bool:
    return value.isprintable() and value.isascii() and value == value.strip()
