"""``sizer api``: requests and sentences over HTTP, answered with the document of ``sizer size --json``.

Each answer is made in a worker process with a budget of time and memory. Callers share nothing: there are no sessions,
the library of designs is not read, and parts and prices of an own folder are used for callers with the token alone.
"""

import hmac
import os
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sizer import __version__
from sizer.base.errors import BudgetError, OutputError, RequestError, SizerError
from sizer.base.worker_process import within_budget
from sizer.ui.app_server.gate import is_allowed, is_own_origin
from sizer.ui.app_server.settings import Serving
from sizer.ui.app_server.start import check_port

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request

PORT = 8502
TOKEN_VARIABLE = "SIZER_API_TOKEN"
MAX_BODY_BYTES = 65_536
MOST_WAITING = 64  # requests at a time; further ones are to try again
# Media types of a request, and what it is then.
_FORMS = {"application/json": "json", "application/toml": "toml", "text/plain": "sentence"}
_STATUSES = {
    400: "The body is empty, or not UTF-8.",
    401: "The token is not that of the server.",
    403: "The page that asks is not of this server.",
    413: f"The body has more than {MAX_BODY_BYTES:,} bytes.",
    415: "The media type is none of the three.",
    421: "The server does not answer to this host name.",
    422: "The request is not valid, or has no answer; the message names the key.",
    503: "The answer takes more time or memory than a request may, or too many requests wait.",
}


class ApiError(Exception):
    """What a caller is told instead of an answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def answer(written: str, form: str, folder: str) -> dict[str, Any]:
    """The answer to one request.

    Raises SizerError if the request is not valid, or has no answer.
    """
    from sizer.export.design_json import answer_document
    from sizer.workload.need import read_words
    from sizer.workload.request import SizingRequest
    from sizer.workload.sentence.reading import READ_FROM_A_FILE

    catalog = _catalog(folder)
    if form == "sentence":
        return answer_document(read_words(written, catalog), catalog)
    request = SizingRequest.from_text(written, "toml" if form == "toml" else "json")
    plain = request.model_dump(mode="json", exclude_unset=True)
    return answer_document(replace(READ_FROM_A_FILE, request=plain), catalog)


@lru_cache(maxsize=2)
def _catalog(folder: str) -> Any:
    from sizer.catalog.loader import load_catalog

    return load_catalog(overlay=Path(folder) if folder else None)


def application(hosts: tuple[str, ...] = (), folder: str = "", token: str = "") -> "Starlette":
    """The service as an ASGI application.

    ``hosts``: host names that it answers to besides IP addresses and localhost. ``folder``: own parts and prices, for
    callers with the token. ``token``: token of these callers; "" where there are none.
    """
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.exceptions import HTTPException
    from starlette.requests import Request
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    waiting: set[int] = set()

    def check(request: Request) -> bool:
        """Refuse other hosts, pages and tokens; whether the caller has the token."""
        names = request.headers.getlist("host")
        if len(names) != 1 or not is_allowed(names[0], hosts):
            raise ApiError(421, "this server does not answer to that host name; its operator can add it with --hosts")
        if not is_own_origin(request.headers.getlist("origin"), names[0], hosts):
            raise ApiError(403, "a page of another server may not ask")
        given = request.headers.get("authorization")
        if given is None:
            return False
        if not token or not hmac.compare_digest(given.encode(), f"Bearer {token}".encode()):
            raise ApiError(401, "the token is not that of this server; without one the public catalogue answers")
        return True

    async def sized(request: Request) -> JSONResponse:
        has_token = check(request)
        form, written = await _body(request)
        if len(waiting) >= MOST_WAITING:
            raise ApiError(503, "too many requests wait; try again later")
        waiting.add(id(request))
        try:
            arguments = (written, form, folder if has_token else "")
            return JSONResponse(await run_in_threadpool(within_budget, answer, *arguments))
        except BudgetError as error:
            raise ApiError(503, str(error)) from None
        except SizerError as error:
            raise ApiError(422, str(error)) from None
        finally:
            waiting.discard(id(request))

    async def described(request: Request) -> JSONResponse:
        check(request)
        return JSONResponse(openapi())

    async def refused(_: Request, error: Exception) -> JSONResponse:
        status = error.status if isinstance(error, ApiError) else 500
        message = str(error) if isinstance(error, ApiError) else "an error of the program; report it with the request"
        if isinstance(error, HTTPException):
            status, message = error.status_code, f"{error.detail}: POST /size or GET /openapi.json"
        return JSONResponse({"error": {"status": status, "message": message}}, status)

    return Starlette(
        routes=[Route("/size", sized, methods=["POST"]), Route("/openapi.json", described)],
        exception_handlers={ApiError: refused, HTTPException: refused, Exception: refused},
    )


async def _body(request: "Request") -> tuple[str, str]:
    """What kind of request it is, and its text."""
    form = _FORMS.get(request.headers.get("content-type", "text/plain").partition(";")[0].strip().lower())
    if form is None:
        raise ApiError(415, f"write Content-Type as one of {', '.join(_FORMS)}")
    content = b""
    async for part in request.stream():
        content += part
        if len(content) > MAX_BODY_BYTES:
            raise ApiError(413, f"a request has at most {MAX_BODY_BYTES:,} bytes")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise ApiError(400, "the body is not UTF-8 text") from None
    if not text.strip():
        raise ApiError(400, "the body is empty; write a request, or a sentence as text/plain")
    return form, text


def openapi() -> dict[str, Any]:
    """The service in OpenAPI."""
    error = {
        "type": "object",
        "properties": {
            "error": {
                "type": "object",
                "properties": {"status": {"type": "integer"}, "message": {"type": "string"}},
            }
        },
    }
    text = {"schema": {"type": "string"}}
    table = {"schema": {"type": "object", "description": "A request, as in its file."}}
    answers: dict[str, Any] = {
        str(status): {"description": words, "content": {"application/json": {"schema": error}}}
        for status, words in _STATUSES.items()
    }
    answers["200"] = {
        "description": "The document of sizer size --json: a design; or of a need that is not complete, or that no "
        "design meets, the request as read with what is asked or refused.",
        "content": {"application/json": {"schema": {"type": "object"}}},
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "Sizing of GPU clusters", "version": __version__},
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "paths": {
            "/size": {
                "post": {
                    "summary": "Size one request.",
                    "security": [{}, {"token": []}],
                    "requestBody": {
                        "required": True,
                        "content": {media: table if form == "json" else text for media, form in _FORMS.items()},
                    },
                    "responses": dict(sorted(answers.items())),
                }
            }
        },
    }


def run(serving: Serving, catalog_dir: Path | None) -> None:
    """Serve until it is interrupted.

    Raises RequestError if own parts and prices are given and no token protects them. Raises OutputError if the port
    is in use or may not be opened, or the server is not installed.
    """
    token = os.environ.get(TOKEN_VARIABLE, "")
    if catalog_dir is not None and not token:
        raise RequestError(f"--catalog: own parts and prices need a token; set {TOKEN_VARIABLE}")
    folder = "" if catalog_dir is None else str(catalog_dir.resolve())
    _catalog(folder)  # its faults belong on the terminal
    check_port(serving)
    try:
        import uvicorn

        served = application(serving.hosts, folder, token)
    except ModuleNotFoundError:
        raise OutputError("the service needs Starlette and Uvicorn; install dl-cluster-configurator[ui]") from None
    print(f"http://{serving.address}:{serving.port}/openapi.json", flush=True)  # noqa: T201
    uvicorn.run(served, host=serving.address, port=serving.port, access_log=False, server_header=False)
