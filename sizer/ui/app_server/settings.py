"""How the app is served: flags of ``sizer app``, else variables of the environment, else defaults."""

import ipaddress
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from sizer.base.errors import RequestError
from sizer.base.faults import shown

T = TypeVar("T")

ADDRESS = "127.0.0.1"
PORT = 8501
MAX_UPLOAD_MB = 2
# Variables of the environment. The folder laid over the catalogue and the library have theirs beside their code.
ADDRESS_VARIABLE = "SIZER_APP_ADDRESS"
PORT_VARIABLE = "SIZER_APP_PORT"
HOSTS_VARIABLE = "SIZER_APP_HOSTS"
BASE_PATH_VARIABLE = "SIZER_APP_BASE_PATH"
MAX_UPLOAD_VARIABLE = "SIZER_APP_MAX_UPLOAD_MB"
USER_HEADER_VARIABLE = "SIZER_USER_HEADER"

_PORTS = (1, 65_535)
# A request or a price book has some kilobytes; the upper end is generous.
_UPLOADS_MB = (1, 200)
# Streamlit's pages look for the server in the part of their address before their own name, three parts at most.
_PATH_PARTS = 2
_PART = re.compile(r"[A-Za-z0-9][A-Za-z0-9._~-]{0,49}")
_HOST = re.compile(r"(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*")
_MAX_HOSTS = 50
_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,59}")
# Addresses that mean every network of the machine, and how the machine itself reaches them.
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}


@dataclass(frozen=True)
class Serving:
    """Where and how the app listens, and the host names that it answers to besides IP addresses and localhost.

    ``base_path`` is empty, or without slashes at its ends: 'tools/sizer'.
    """

    address: str = ADDRESS
    port: int = PORT
    base_path: str = ""
    max_upload_mb: int = MAX_UPLOAD_MB
    hosts: tuple[str, ...] = ()

    @property
    def is_everywhere(self) -> bool:
        """Whether other machines reach it by every network of this one."""
        return self.address in _EVERYWHERE

    @property
    def health_url(self) -> str:
        """Address that answers 'ok' to this machine while the server is well."""
        host = _EVERYWHERE.get(self.address, self.address)
        host = f"[{host}]" if ":" in host else host
        return f"http://{host}:{self.port}/{f'{self.base_path}/' if self.base_path else ''}_stcore/health"

    def flags(self) -> dict[str, object]:
        """The same under the names of Streamlit's flags."""
        return {
            "server_address": self.address,
            "server_port": self.port,
            "server_baseUrlPath": self.base_path,
            "server_maxUploadSize": self.max_upload_mb,
        }


def serving(
    environment: Mapping[str, str],
    *,
    address: str | None = None,
    port: int | None = None,
    base_path: str | None = None,
    hosts: str | None = None,
) -> Serving:
    """How to serve: a flag that is given, else its variable, else the default.

    ``environment``: variables of the process. ``address``, ``port``, ``base_path``, ``hosts``: Flags; None where the
    flag was not given. Raises RequestError if a value is not allowed; the error names the flag or the variable.
    """
    user_header(environment)
    return Serving(
        _chosen(_address, "--address", address, ADDRESS_VARIABLE, environment, ADDRESS),
        _chosen(_port, "--port", None if port is None else str(port), PORT_VARIABLE, environment, PORT),
        _chosen(_base_path, "--base-path", base_path, BASE_PATH_VARIABLE, environment, ""),
        _chosen(_max_upload_mb, "", None, MAX_UPLOAD_VARIABLE, environment, MAX_UPLOAD_MB),
        _chosen(_hosts, "--hosts", hosts, HOSTS_VARIABLE, environment, ()),
    )


def user_header(environment: Mapping[str, str]) -> str:
    """Name of the HTTP header in which a proxy says who the user is; empty: there is none.

    Raises RequestError if the variable holds no name of a header.
    """
    name = environment.get(USER_HEADER_VARIABLE, "").strip()
    if name and not _HEADER.fullmatch(name):
        raise RequestError(
            f"{USER_HEADER_VARIABLE} = {shown(name)} is not an HTTP header name; write for example X-Forwarded-User"
        )
    return name


def _chosen(
    read: Callable[[str, str], T], flag: str, given: str | None, variable: str, environment: Mapping[str, str], usual: T
) -> T:
    if given is not None:
        return read(given, flag)
    text = environment.get(variable, "").strip()
    return read(text, f"{variable} =") if text else usual


def _address(text: str, name: str) -> str:
    if text == "localhost":
        return ADDRESS
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        raise RequestError(
            f"{name} {shown(text)} is not an IP address; write {ADDRESS} (this machine only) or 0.0.0.0 (all networks)"
        ) from None


def _hosts(text: str, name: str) -> tuple[str, ...]:
    hosts = [part.strip().lower() for part in text.split(",") if part.strip()]
    wrong = next((host for host in hosts if not _HOST.fullmatch(host)), None)
    if wrong is not None:
        raise RequestError(
            f"{name} {shown(wrong)} is not a host name; write names without port, for example sizer.example.com"
        )
    if len(hosts) > _MAX_HOSTS:
        raise RequestError(f"{name} has {len(hosts)} host names; at most {_MAX_HOSTS} are allowed")
    return tuple(hosts)


def _port(text: str, name: str) -> int:
    return _whole(text, name, _PORTS, "is not a port; choose a number")


def _max_upload_mb(text: str, name: str) -> int:
    return _whole(text, name, _UPLOADS_MB, "is not an upload size in megabytes; choose a number")


def _whole(text: str, name: str, ends: tuple[int, int], fault: str) -> int:
    low, high = ends
    value = int(text) if re.fullmatch("[0-9]{1,6}", text) else -1
    if not low <= value <= high:
        typed = text if re.fullmatch("-?[0-9]{1,9}", text) else shown(text)
        raise RequestError(f"{name} {typed} {fault} from {low} to {high}")
    return value


def _base_path(text: str, name: str) -> str:
    parts = [part for part in text.split("/") if part]
    if len(parts) > _PATH_PARTS or not all(_PART.fullmatch(part) for part in parts):
        raise RequestError(
            f"{name} {shown(text)} is not a base path; write one or two parts of letters, digits, '.', '_', '~' "
            "and '-', for example /sizer"
        )
    return "/".join(parts)
