"""A reverse proxy as teams put before the app: one path of one address, pages and web sockets passed on as they are."""

import socket
import socketserver
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread

_MAX_HEAD = 64_000


@contextmanager
def proxied(path: str, upstream_port: int) -> Iterator[int]:
    """A proxy on the loopback address that passes on what stands under ``/path/``; its port. Else it answers 404.

    Notes
    -----
    One request a connection: the head is read, ``Connection: close`` is put into it unless it asks for a web socket,
    and bytes are passed on both ways. ``Host`` stays as the browser sent it.
    """

    class PassOn(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with suppress(OSError):
                _pass_on(self.request, path, upstream_port)

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

    with Server(("127.0.0.1", 0), PassOn) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


def _pass_on(client: socket.socket, path: str, upstream_port: int) -> None:
    received = b""
    while b"\r\n\r\n" not in received:
        data = client.recv(65_536)
        if not data or len(received) > _MAX_HEAD:
            return
        received += data
    head, _, body = received.partition(b"\r\n\r\n")
    request, *headers = head.split(b"\r\n")
    if not request.split(b" ")[1].startswith(f"/{path}/".encode()):
        client.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        return
    if not any(header.lower().startswith(b"upgrade:") for header in headers):
        headers = [header for header in headers if not header.lower().startswith(b"connection:")]
        headers.append(b"Connection: close")
    with socket.create_connection(("127.0.0.1", upstream_port)) as upstream:
        upstream.sendall(b"\r\n".join((request, *headers)) + b"\r\n\r\n" + body)
        there = Thread(target=_pump, args=(client, upstream), daemon=True)
        there.start()
        _pump(upstream, client)
        with suppress(OSError):
            client.shutdown(socket.SHUT_RDWR)
        there.join()


def _pump(source: socket.socket, drain: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65_536):
            drain.sendall(data)
    with suppress(OSError):
        drain.shutdown(socket.SHUT_WR)
