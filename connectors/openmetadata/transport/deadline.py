"""A bound in time for a whole answer, its header included: a socket's own timeout begins again with each byte."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable
from http.client import HTTPResponse
from socket import socket
from typing import TYPE_CHECKING, Any

from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.poolmanager import PoolManager

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


class Deadline(threading.local):
    """When the answer that a thread is waiting for must be complete, by `clock`."""

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__()
        self.clock = clock
        self.at = float("inf")

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return self.at - self.clock()


class DeadlineAdapter(HTTPAdapter):
    """Connections, `size` at most to one place, whose answers are read no longer than `deadline` allows."""

    def __init__(self, deadline: Deadline, size: int) -> None:
        self._pools = _pools(deadline)
        super().__init__(pool_connections=2, pool_maxsize=size, max_retries=0)

    def init_poolmanager(self, *arguments: Any, **options: Any) -> None:
        super().init_poolmanager(*arguments, **options)
        self.poolmanager.pool_classes_by_scheme = self._pools

    def proxy_manager_for(self, proxy: str, **options: Any) -> PoolManager:
        manager: PoolManager = super().proxy_manager_for(proxy, **options)
        manager.pool_classes_by_scheme = self._pools
        return manager


def _pools(deadline: Deadline) -> dict[str, type[HTTPConnectionPool]]:
    class Response(HTTPResponse):
        def __init__(self, sock: socket, *arguments: Any, **options: Any) -> None:
            super().__init__(sock, *arguments, **options)
            self.fp = io.BufferedReader(_BoundedReader(self.fp, sock, deadline))

    class Plain(HTTPConnection):
        response_class = Response

    class Secure(HTTPSConnection):
        response_class = Response

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = Plain

    class SecurePool(HTTPSConnectionPool):
        ConnectionCls = Secure

    return {"http": PlainPool, "https": SecurePool}


class _BoundedReader(io.RawIOBase):
    """A socket's file, each reading of which may take as long as is left. Raises TimeoutError when nothing is."""

    def __init__(self, file: io.BufferedReader, sock: socket, deadline: Deadline) -> None:
        super().__init__()
        self._file = file
        self._sock = sock
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int | None:
        left = self._deadline.left
        if left <= 0:
            raise TimeoutError
        before = self._sock.gettimeout()
        self._sock.settimeout(left if before is None else min(before, left))
        try:
            return self._file.raw.readinto(memoryview(buffer).cast("B"))
        finally:
            self._sock.settimeout(before)

    def close(self) -> None:
        self._file.close()
        super().close()
