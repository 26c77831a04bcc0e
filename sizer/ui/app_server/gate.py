"""What every request to the server passes: the hosts that it answers to, the headers of its pages, the browser's name.

A page on the internet can make its own name lead to this machine and then read the app as its own ("DNS rebinding").
Its requests carry that name, so the server answers to IP addresses, to localhost and to the listed names only.
A page of another server may open a socket to this one; its browser names it as the origin, which is then not this host.
"""

import asyncio
import ipaddress
import secrets
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from http.cookies import CookieError, SimpleCookie
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

# Names this browser among those that use the server; no script reads it, and no page of another site sends it.
COOKIE = "sizer-browser"
_COOKIE_SECONDS = 30 * 24 * 3600
_POLICY_VIOLATION = 1008
# Where files are sent to. A refused one is answered so late, and its connection closed: what else it would send is
# never read.
_UPLOADS, _REFUSED_UPLOAD_S = "/_stcore/upload_file/", 1.0
# Counts of calls by function, which Streamlit shows to whoever asks.
_INTERNAL = "/_stcore/metrics"
_PORTS = {"http": ":80", "https": ":443"}
# Streamlit writes style and start scripts into its page, draws charts by functions that it compiles from text, and
# runs them in workers of its own; everything comes from this server.
_CONTENT_POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "media-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self' data: blob:",
        "worker-src 'self' blob:",
        "frame-src 'self' data: blob:",
        "frame-ancestors 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "object-src 'none'",
    )
)
HEADERS = (
    (b"content-security-policy", _CONTENT_POLICY.encode()),
    (b"x-frame-options", b"DENY"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
)


def is_allowed(host: str, names: Sequence[str]) -> bool:
    """Whether the server answers to a ``Host`` header: an IP address, localhost or a listed name, with any port.

    Examples
    --------
    >>> [is_allowed(host, ["sizer.example.com"]) for host in ("127.0.0.1:8501", "[::1]", "sizer.example.com", "x.test")]
    [True, True, True, False]
    """
    name = host.strip().lower()
    if name.startswith("["):
        name, bracket, port = name[1:].partition("]")
        if not bracket or (port and not port.startswith(":")):
            return False
        port = port.removeprefix(":")
    else:
        name, _, port = name.partition(":")
    if port and not (port.isascii() and port.isdigit()):
        return False
    name = name.removesuffix(".")
    return name == "localhost" or name in names or _is_address(name)


def is_own_origin(origins: Sequence[str], host: str, names: Sequence[str]) -> bool:
    """Whether the page that opens a socket is one of this server: its origin is the host asked, or a listed name.

    Programs that are no browser send no origin. A listed name is one without a port: that of a proxy.

    Examples
    --------
    >>> [is_own_origin([o], "localhost:8501", ["a.test"]) for o in ("http://localhost:8501", "http://localhost:3000")]
    [True, False]
    """
    if len(origins) != 1:
        return not origins
    scheme, _, asked = origins[0].strip().lower().partition("://")
    port = _PORTS.get(scheme)
    return port is not None and asked.removesuffix(port) in (host.strip().lower().removesuffix(port), *names)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class Gate:
    """Wraps the application of the server.

    ``names``: host names that it answers to besides IP addresses and localhost, in lower case.
    """

    def __init__(self, app: Application, names: Sequence[str] = ()) -> None:
        self._app, self._names = app, tuple(names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request or web socket."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        hosts = _values(scope, b"host")
        if len(hosts) != 1 or not is_allowed(hosts[0], self._names):
            await _refuse(scope, send)
        elif str(scope.get("path", "")).rstrip("/").endswith(_INTERNAL):
            await _answer(send, 404, b"There is no such page.\n")
        elif scope["type"] == "websocket":
            if is_own_origin(_values(scope, b"origin"), hosts[0], self._names):
                await self._app(scope, receive, send)
            else:
                await _refuse(scope, send)
        else:
            is_upload = _UPLOADS in str(scope.get("path", ""))
            await self._app(scope, receive, _with_headers(send, _new_cookie(scope), is_upload=is_upload))


async def _refuse(scope: Scope, send: Send) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
        return
    text = b"This server does not answer to that host name; its operator can add it with --hosts or SIZER_APP_HOSTS.\n"
    await _answer(send, 421, text)


async def _answer(send: Send, status: int, text: bytes) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(text)).encode()), *HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text})


def _with_headers(send: Send, cookie: bytes | None, *, is_upload: bool) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            is_refused = is_upload and message["status"] >= 400
            if is_refused:
                await asyncio.sleep(_REFUSED_UPLOAD_S)
            own = {name for name, _ in HEADERS}
            headers = [pair for pair in message.get("headers", ()) if pair[0].lower() not in own]
            is_page = any(name.lower() == b"content-type" and b"text/html" in value for name, value in headers)
            extra = [(b"set-cookie", cookie)] if cookie is not None and is_page else []
            extra += [(b"connection", b"close")] if is_refused else []
            message = {**message, "headers": [*headers, *HEADERS, *extra]}
        await send(message)

    return sending


def _new_cookie(scope: Scope) -> bytes | None:
    """Cookie that names the browser; None where it has one."""
    given = SimpleCookie()
    try:
        given.load("; ".join(_values(scope, b"cookie")))
    except CookieError:
        given = SimpleCookie()
    if COOKIE in given and given[COOKIE].value:
        return None
    is_secure = scope.get("scheme") == "https" or _values(scope, b"x-forwarded-proto") == ["https"]
    secure = "; Secure" if is_secure else ""
    name = f"{COOKIE}={secrets.token_urlsafe(24)}"
    return f"{name}; Path=/; Max-Age={_COOKIE_SECONDS}; HttpOnly; SameSite=Lax{secure}".encode()


def _values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope.get("headers", ()) if key.lower() == name]
