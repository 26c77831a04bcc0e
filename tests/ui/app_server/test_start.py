"""How the app is served: flags, variables of the environment, the port, and whether a server is well."""

import re
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from streamlit import config
from typer.testing import CliRunner

from sizer.base.errors import OutputError, RequestError
from sizer.cli import app
from sizer.library.opening import LIBRARY
from sizer.ui.app_server import settings, start
from sizer.ui.app_server.settings import Serving, serving
from sizer.ui.designs import saving
from sizer.ui.session_catalog import CATALOG_FOLDER
from tests.factories.examples import ROOT

SCRIPT = "<script>alert(1)</script>"
VARIABLES = (
    settings.ADDRESS_VARIABLE,
    settings.PORT_VARIABLE,
    settings.HOSTS_VARIABLE,
    settings.BASE_PATH_VARIABLE,
    settings.MAX_UPLOAD_VARIABLE,
    settings.USER_HEADER_VARIABLE,
)


def test_nothing_said_serves_this_machine_only():
    assert serving({}) == Serving("127.0.0.1", 8501, "", 2)
    assert start.settings()["server_address"] == "127.0.0.1"


def test_a_flag_rules_over_the_environment_and_the_environment_over_the_default():
    environment = {
        "SIZER_APP_ADDRESS": "0.0.0.0",
        "SIZER_APP_PORT": " 9000 ",
        "SIZER_APP_BASE_PATH": "/tools/sizer/",
        "SIZER_APP_MAX_UPLOAD_MB": "5",
    }
    assert serving(environment) == Serving("0.0.0.0", 9000, "tools/sizer", 5)
    assert serving(environment, address="::1", port=9001, base_path="") == Serving("::1", 9001, "", 5)
    assert serving({"SIZER_APP_PORT": ""}).port == 8501
    hosts = {"SIZER_APP_HOSTS": "sizer.example.com, Sizer,"}
    assert serving(hosts).hosts == ("sizer.example.com", "sizer")
    assert serving(hosts, hosts="a.test").hosts == ("a.test",)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        *((settings.ADDRESS_VARIABLE, bad) for bad in ("example", "1.2.3", "127.0.0.1:80", SCRIPT, "unix:///x")),
        *((settings.PORT_VARIABLE, bad) for bad in ("0", "-1", "65536", "8e3", "eighty", "9" * 5_000, "٨٥٠١")),
        *((settings.BASE_PATH_VARIABLE, bad) for bad in ("..", "a/../b", "a b", "a/b/c", "?x", SCRIPT, "http://x")),
        *(
            (settings.HOSTS_VARIABLE, bad)
            for bad in ("a b", "*", "http://x", "x:80", "-x", "a..b", "x" * 64, SCRIPT, "é")
        ),
        *((settings.MAX_UPLOAD_VARIABLE, bad) for bad in ("0", "201", "2 GB", "1.5")),
        *((settings.USER_HEADER_VARIABLE, bad) for bad in ("X User", "X-User:", "é", SCRIPT)),
    ],
)
def test_a_bad_variable_is_one_sentence_that_names_it(variable, value):
    with pytest.raises(RequestError) as refused:
        serving({variable: value})
    said = str(refused.value)
    assert said.startswith(f"{variable} = ")
    assert len(said) < 250
    assert "\n" not in said


@pytest.mark.parametrize(
    ("flag", "value"), [("address", "here"), ("port", 0), ("port", -1), ("port", 65_536), ("base_path", "a/b/c")]
)
def test_a_bad_flag_is_one_sentence_that_names_it(flag, value):
    with pytest.raises(RequestError, match=rf"^--{flag.replace('_', '-')} "):
        serving({}, **{flag: value})


def test_the_command_says_what_is_wrong_and_ends_with_its_status(monkeypatch):
    monkeypatch.setenv("SIZER_APP_PORT", "none")
    result = CliRunner().invoke(app, ["app"])
    assert isinstance(result.exception, RequestError)
    assert "SIZER_APP_PORT = 'none' is not a port" in str(result.exception)
    assert result.exception.exit_status == 2


def test_a_busy_port_is_one_sentence():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(OutputError, match=rf"^port {port} of 127\.0\.0\.1 is in use; choose another with --port$"):
            start.check_port(Serving(port=port))


def test_an_address_of_another_machine_is_one_sentence():
    # 192.0.2.0/24 is set aside for documents (RFC 5737): no machine has it.
    with pytest.raises(OutputError, match=r"^192\.0\.2\.1 is not an address of this machine"):
        start.check_port(Serving(address="192.0.2.1"))


@pytest.mark.parametrize(
    ("chosen", "url"),
    [
        (Serving(), "http://127.0.0.1:8501/_stcore/health"),
        (Serving("0.0.0.0", 9000, "tools/sizer"), "http://127.0.0.1:9000/tools/sizer/_stcore/health"),
        (Serving("::", 9000), "http://[::1]:9000/_stcore/health"),
    ],
)
def test_the_machine_asks_itself_for_health(chosen, url):
    assert chosen.health_url == url


class _Answer(BaseHTTPRequestHandler):
    """Answers as a server that is well under /well/, and as something else elsewhere."""

    def do_GET(self) -> None:
        self.send_response(503 if self.path.startswith("/ill/") else 200)
        self.end_headers()
        self.wfile.write(b"ok" if self.path == "/well/_stcore/health" else b"<html>")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the name that the base class gives it)
        """Say nothing."""


@pytest.fixture
def port() -> Iterator[int]:
    """Port of a server that answers questions for health."""
    server = HTTPServer(("127.0.0.1", 0), _Answer)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


def test_health_is_ok_or_one_sentence(port, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")  # the question takes no proxy
    assert start.check_health(Serving(port=port, base_path="well")).endswith("/well/_stcore/health")
    for path, words in (("ill", "status 503"), ("other", "another program answers there")):
        with pytest.raises(OutputError, match=words):
            start.check_health(Serving(port=port, base_path=path))
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with pytest.raises(OutputError, match="no answer"):
            start.check_health(Serving(port=unused.getsockname()[1]))


def test_the_settings_are_flags_that_streamlit_knows():
    flags = {**start.settings(), **Serving().flags()}
    known = {name.replace(".", "_") for name in config._config_options_template}
    assert set(flags) <= known
    assert flags["browser_gatherUsageStats"] is False
    assert flags["client_showErrorDetails"] in ("none", "type")
    assert len(flags["theme_fontFaces"]) == 4
    assert flags.get("server_enableXsrfProtection", True) is True
    assert flags.get("server_enableCORS", True) is True


def test_every_variable_is_in_the_help_and_in_the_document():
    texts = [CliRunner().invoke(app, ["app", "--help"]).stdout, (ROOT / "docs" / "serve-a-team.md").read_text("utf-8")]
    for text in texts:
        for variable in (*VARIABLES, CATALOG_FOLDER, LIBRARY, saving.USER):
            assert variable in text


def test_the_document_names_the_limits_of_the_code():
    text = (ROOT / "docs" / "serve-a-team.md").read_text("utf-8")
    rows = {row[0]: row for row in (re.split(r"\s*\|\s*", line.strip("| ")) for line in text.splitlines()) if row[0]}
    assert f"{settings.MAX_UPLOAD_MB}" in rows[f"`{settings.MAX_UPLOAD_VARIABLE}`"][1]
    assert f"{settings.PORT}" in rows[f"`{settings.PORT_VARIABLE}`"][1]
    assert settings.ADDRESS in rows[f"`{settings.ADDRESS_VARIABLE}`"][1]
