"""The app behind nginx with a login, configured as the documentation says it."""

import base64
import hashlib
import http.client
import os
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.factories.examples import ROOT
from tests.ui.browser.driving import HOST, free_port, served

NGINX = os.environ.get("SIZER_NGINX", "")
LOGIN = {"Authorization": "Basic " + base64.b64encode(b"ada:lovelace").decode()}
SOCKET = {
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Version": "13",
}
_START_SECONDS = 20

pytestmark = [pytest.mark.proxy, pytest.mark.skipif(not NGINX, reason="SIZER_NGINX names no nginx")]


def documented() -> str:
    """The configuration in docs/serve-a-team.md."""
    text = (ROOT / "docs" / "serve-a-team.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```nginx\n(.*?)```", text, re.DOTALL)
    return str(block)


@contextmanager
def nginx(folder: Path, upstream_port: int) -> Iterator[int]:
    """Port of nginx with the documented configuration in front of a port."""
    port = free_port()
    digest = base64.b64encode(hashlib.sha1(b"lovelace").digest()).decode()  # a form of password that nginx reads
    (folder / "users").write_text(f"ada:{{SHA}}{digest}\n")
    settings = documented().replace("127.0.0.1:8501", f"127.0.0.1:{upstream_port}")
    settings = settings.replace("/etc/nginx/sizer-users", str(folder / "users"))
    top, _, locations = settings.partition("location")
    places = "".join(
        f"{name}_temp_path {folder}/{name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"daemon off;\nerror_log stderr;\npid {folder}/pid;\nevents {{}}\nhttp {{\naccess_log off;\n{places}{top}"
        f"server {{\nlisten 127.0.0.1:{port};\nlocation{locations}}}\n}}\n"
    )
    folder.chmod(0o755)
    with (folder / "nginx.log").open("w") as log:
        command = [
            NGINX,
            "-p",
            str(folder),
            "-c",
            str(folder / "nginx.conf"),
            "-g",
            "user root;" if os.getuid() == 0 else "",
        ]
        server = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            end = time.monotonic() + _START_SECONDS
            while time.monotonic() < end:
                assert server.poll() is None, (folder / "nginx.log").read_text()
                with closing(socket.socket()) as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            yield port
        finally:
            server.terminate()
            server.wait(timeout=20)


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Port of nginx in front of the app."""
    folder = tmp_path_factory.mktemp("app")
    variables = {"SIZER_APP_HOSTS": HOST, "SIZER_APP_BASE_PATH": "/sizer", "SIZER_USER_HEADER": "X-Forwarded-User"}
    with served(folder, **variables) as port, nginx(tmp_path_factory.mktemp("nginx"), port) as found:
        yield found


def ask(port: int, path: str, headers: dict[str, str], host: str = HOST) -> http.client.HTTPResponse:
    """Answer to one request, read unless it opens a web socket."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=20)) as wire:
        wire.putrequest("GET", path, skip_host=True)
        for name, value in {"Host": host, **headers}.items():
            wire.putheader(name, value)
        wire.endheaders()
        answer = wire.getresponse()
        if answer.status != 101:
            answer.read()
        return answer


PATHS = ("/sizer/", "/sizer/bill", "/sizer/_stcore/health", "/sizer/_stcore/stream", "/sizer/_stcore/upload_file/x/y")


@pytest.mark.parametrize("path", PATHS)
def test_without_a_login_nothing_is_served(app, path):
    assert ask(app, path, {}).status == 401
    wrong = {"Authorization": "Basic " + base64.b64encode(b"ada:babbage").decode()}
    assert ask(app, path, wrong).status == 401


def test_with_a_login_pages_have_their_headers_once(app):
    answer = ask(app, "/sizer/", LOGIN)
    assert answer.status == 200
    for name in ("Content-Security-Policy", "X-Frame-Options", "X-Content-Type-Options", "Referrer-Policy"):
        assert len(answer.headers.get_all(name)) == 1


def test_web_sockets_of_the_own_pages_pass_and_of_others_do_not(app):
    stream = "/sizer/_stcore/stream"
    assert ask(app, stream, {**SOCKET, "Origin": f"http://{HOST}"}).status == 401
    assert ask(app, stream, {**LOGIN, **SOCKET, "Origin": f"http://{HOST}"}).status == 101
    assert ask(app, stream, {**LOGIN, **SOCKET, "Origin": "http://elsewhere.test"}).status == 403


def test_a_name_that_the_app_does_not_list_is_refused(app):
    assert ask(app, "/sizer/", LOGIN, host="rebound.test").status == 421


def test_the_name_of_the_user_is_that_of_the_login_whatever_a_browser_sends(tmp_path):
    seen: list[list[str]] = []

    class Upstream(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.headers.get_all("X-Forwarded-User") or [])
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Upstream) as upstream:
        thread = Thread(target=upstream.serve_forever)
        thread.start()
        with nginx(tmp_path, upstream.server_address[1]) as port:
            assert ask(port, "/sizer/", {**LOGIN, "X-Forwarded-User": "root"}).status == 204
        upstream.shutdown()
        thread.join()
    assert seen == [["ada"]]
