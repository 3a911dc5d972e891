"""The tools over streamable HTTP: on the machine itself, or behind a token."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings

from connectors.catalog.http.middleware import LOOPBACK, AccessMiddleware, AccessRules
from connectors.catalog.mcp.answers import CatalogAnswers
from connectors.catalog.mcp.tools import mcp_server
from connectors.web_server import HttpProtocol, WebServer, listen, server_thread, url_of
from ingestion.errors import ConfigError

_MOST_BODY = 4 << 20
_STOP_SECONDS = 5
PATH = "/mcp"


@dataclass(frozen=True, slots=True)
class McpAddress:
    """Where to listen; `token` is what callers send as a bearer; `names` are the hosts that they may call it by.

    `host` is one of the names already, unless it stands for every address of the machine.
    """

    host: str
    port: int
    token: str | None = None
    names: tuple[str, ...] = ()

    def check(self) -> None:
        """Raises ConfigError where others could read the catalog, or call it by a name that is nobody's."""
        if self.host not in LOOPBACK and not self.token:
            raise ConfigError(
                f"host {self.host} can be reached by other machines: set a token (--token) or listen on 127.0.0.1"
            )
        if self.token is not None and not self.token.isascii():
            raise ConfigError("the token must be plain ASCII: it travels in an HTTP header")
        if _is_every_address(self.host) and not self.names:
            raise ConfigError(f"{self.host} is no name that clients call: add --allow-host with the one that they do")

    def security(self) -> TransportSecuritySettings:
        """The hosts and origins that calls may name: another web page's DNS name, made to lead here, is none."""
        own = [] if _is_every_address(self.host) else [self.host]
        hosts = [_url_host(name) for name in dict.fromkeys([*own, *self.names, *LOOPBACK])]
        allowed = [each for host in hosts for each in (host, f"{host}:*")]
        origins = [f"{scheme}://{each}" for scheme in ("http", "https") for each in allowed]
        return TransportSecuritySettings(
            enable_dns_rebinding_protection=True, allowed_hosts=allowed, allowed_origins=origins
        )


def _is_every_address(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return not host


def _url_host(host: str) -> str:
    return f"[{host}]" if ":" in host else host


@contextmanager
def running_mcp(answers: CatalogAnswers, address: McpAddress) -> Iterator[str]:
    """Serves the tools in a thread during the block, which gets their URL. Raises ConfigError as `check` does."""
    address.check()
    server = mcp_server(answers)
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=_MOST_BODY,
        transport_security=address.security(),
        host=address.host,
    )
    guarded = AccessMiddleware(app, AccessRules(token=address.token, hosts=None, max_body=_MOST_BODY))
    settings = uvicorn.Config(
        guarded, http=HttpProtocol, log_config=None, log_level="warning", access_log=False, server_header=False,
        lifespan="on", timeout_graceful_shutdown=_STOP_SECONDS,
    )  # fmt: skip
    listener = listen(address.host, address.port, "choose another port (0 takes any free one)")
    with listener, server_thread(WebServer(settings), listener, "mcp"):
        yield f"{url_of(listener, address.host)}{PATH}"
