"""One HTTP request over the standard library. Redirects are never followed, because they could send the token elsewhere."""

from __future__ import annotations

import contextlib
import http.client
import re
import socket
import time
from typing import Callable
from urllib.parse import urlsplit

from .errors import GateUnavailable
from .steps import Request, Response, Result

#: Seconds after which a request without an answer fails, in addition to its wait.
_patience = 10

#: Maximum size of an answer in bytes.
_longest_answer = 4 * 1024 * 1024

#: Sends one request with these headers. It may be closed from another thread.
Transport = Callable[[Request, "dict[str, str]", "Closing"], Result]


class Closing:
    """Ends a request from another thread."""

    def __init__(self) -> None:
        self._connection: http.client.HTTPConnection | None = None

    def watch(self, connection: http.client.HTTPConnection) -> None:
        """Remembers the connection of the request."""
        self._connection = connection

    def close(self) -> None:
        """Closes the connection, if there is one."""
        sock = None if self._connection is None else self._connection.sock
        if sock is not None:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)


def http_transport(url: str) -> Transport:
    """Returns the transport to a gate. Raises ValueError for an address that is not HTTP."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
        raise ValueError("url must be an HTTP address without credentials, such as https://HOST")
    base = parts.path if parts.path.endswith("/") else f"{parts.path}/"
    create = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    host, port, place = parts.hostname, parts.port, parts.netloc

    def send(request: Request, headers: dict[str, str], closing: Closing) -> Result:
        within = request.wait + _patience
        until = time.monotonic() + within
        connection = create(host, port, timeout=within)
        closing.watch(connection)
        try:
            body = None if request.body is None else request.body.encode()
            connection.request(request.method, f"{base}{request.path}", body, headers)
            response = connection.getresponse()
            parts: list[bytes] = []
            size = 0
            while chunk := response.read1(65_536):
                size += len(chunk)
                if size > _longest_answer:
                    raise GateUnavailable("the answer of the gate is too long", response.status)
                if time.monotonic() > until:
                    raise TimeoutError
                parts.append(chunk)
            names = {name.lower(): value for name, value in response.getheaders()}
            return Response(response.status, names, b"".join(parts))
        except TimeoutError:
            return "the gate did not answer in time"
        except (OSError, http.client.HTTPException) as error:
            return f"the gate at {place} cannot be reached ({_cause(error)})"
        finally:
            connection.close()

    return send


def _cause(error: Exception) -> str:
    """Returns why a connection failed, without the number of the error."""
    text = getattr(error, "strerror", None) or str(error)
    return " ".join(text.split()) or type(error).__name__


def headers_of(request: Request, token: str | None) -> dict[str, str]:
    """Returns the headers of a request. Raises ValueError for a token that a header cannot have."""
    headers = {"Accept": "application/json"}
    if request.body is not None:
        headers["Content-Type"] = "application/json"
    if request.wait > 0:
        headers["Prefer"] = f"wait={request.wait}"
    if token is not None:
        # The error of the standard library would quote the token.
        if not re.fullmatch(r"[\x21-\x7e]+", token):
            raise ValueError("the token has characters that a header cannot have; check where it is read")
        headers["Authorization"] = f"Bearer {token}"
    return headers
