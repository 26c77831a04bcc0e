"""The HTTP service: what it answers, whom it refuses, and its budget."""

import asyncio
import json
import tomllib
from typing import Any

import pytest

from sizer.base.errors import BudgetError, InfeasibleError
from sizer.base.worker_process import within_budget
from sizer.batch.work import mapped_request
from sizer.export import design_json
from sizer.ui.app_server import api
from sizer.workload.need import read_words
from sizer.workload.request import SizingRequest
from tests.cli.running import run
from tests.factories.examples import catalog

TOML = b"[[workload]]\ndnn = 'resnet50'\ntarget = {gpus_busy = 8}\n[platforms]\nservers = ['dgx-1']\n"
# One of each kind; each is complete.
SENTENCES = (
    "ResNet-50 at 9,000 images/s with 140 kB on DGX-1",
    "Llama 3 8B on 300B tokens in 40 days on 48 H100",
    "Llama 3 70B chat for 80 users",
    "summarise 90,000 contracts of 4k tokens a day with Llama 3 70B",
    "Inception-v3 at 6,000 images/s, without V100",
    "ResNet-50 at 9,000 images/s, at most CHF 400'000",
    "Qwen2.5-Coder 32B fine-tuning on 200M tokens in a day",
    "pre-train 2.7B parameters on 60B tokens in 2 weeks",
    "ResNet-50 at 9,000 images/s, 2 DGX-2 already there",
    "LoRA of Llama 3 8B, 12k samples x 600 tokens, 3 hours",
)


def call(
    body: bytes = b"", path: str = "/size", method: str = "POST", app: Any = None, **headers: str
) -> tuple[int, dict[str, Any]]:
    """Status and document of one call, without a server."""
    return asyncio.run(_called(body, path, method, app or api.application(), headers))


async def _called(body: bytes, path: str, method: str, app: Any, headers: dict[str, str]) -> tuple[int, dict[str, Any]]:
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    given = {"host": "localhost:8502", **{key.replace("_", "-"): value for key, value in headers.items()}}
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [(key.encode(), value.encode()) for key, value in given.items()],
    }
    await app(scope, receive, send)
    return sent[0]["status"], json.loads(b"".join(message.get("body", b"") for message in sent[1:]))


@pytest.mark.parametrize(
    ("status", "arguments"),
    [
        (421, {"body": b"x", "host": "evil.test"}),
        (403, {"body": b"x", "origin": "http://evil.test"}),
        (403, {"path": "/openapi.json", "method": "GET", "origin": "http://evil.test"}),
        (401, {"body": b"x", "authorization": "Bearer guess"}),
        (413, {"body": b"x" * 65_537}),
        (415, {"body": b"x", "content_type": "application/xml"}),
        (400, {"body": b"\xff"}),
        (400, {"body": b" "}),
        (404, {"path": "/library"}),
        (405, {"method": "GET"}),
    ],
)
def test_what_is_refused_has_one_form(status: int, arguments: dict[str, Any]) -> None:
    found, document = call(**arguments)
    assert found == status
    assert set(document) == {"error"}
    assert document["error"]["status"] == status
    assert document["error"]["message"]


def test_own_parts_are_for_callers_with_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    folders: list[str] = []
    monkeypatch.setattr(api, "within_budget", lambda *arguments: folders.append(arguments[3]) or {})
    app = api.application(folder="/srv/own", token="secret")
    assert call(b"ResNet-50", app=app) == (200, {})
    assert call(b"ResNet-50", app=app, authorization="Bearer secret") == (200, {})
    assert call(b"ResNet-50", app=app, authorization="Bearer other")[0] == 401
    assert folders == ["", "/srv/own"]


def test_a_request_is_answered_with_the_document_of_the_command() -> None:
    status, document = call(TOML, content_type="application/toml")
    assert (status, document["kind"], document["design"]["n_gpus"]) == (200, "design", 8)
    status, document = call(b"Llama 3 8B on H100")
    assert (status, document["kind"]) == (200, "need")
    assert document["asked"]
    status, document = call(b'{"workload": []}', content_type="application/json")
    assert status == 422
    assert "workload" in document["error"]["message"]


def test_an_answer_has_a_budget_of_processor_time() -> None:
    with pytest.raises(BudgetError, match=r"0\.01 s of a processor or 2 GiB"):
        within_budget(api.answer, "train Llama 3 70B on 1,000 H100", "sentence", "", cpu_s=0.01)


@pytest.mark.parametrize("n_callers", [50, 80])
def test_callers_at_once_get_each_their_own_answer_or_are_to_try_again(n_callers: int) -> None:
    async def all_at_once() -> list[tuple[int, dict[str, Any]]]:
        app, bodies = api.application(), [b"Llama 3 8B on %d H100" % n for n in range(10, 10 + n_callers)]
        return await asyncio.gather(*(_called(body, "/size", "POST", app, {}) for body in bodies))

    answers = asyncio.run(all_at_once())
    served = [(n, document) for n, (status, document) in enumerate(answers, 10) if status == 200]
    assert len(served) == min(n_callers, api.MOST_WAITING)
    assert {status for status, _ in answers} <= {200, 503}
    assert [n for n, document in served if document["request"]["workload"][0]["target"] != {"gpus_busy": n}] == []


def test_the_service_is_described() -> None:
    status, document = call(path="/openapi.json", method="GET")
    assert status == 200
    assert set(document["paths"]["/size"]["post"]["requestBody"]["content"]) == {
        "application/json",
        "application/toml",
        "text/plain",
    }


@pytest.mark.parametrize("sentence", SENTENCES)
def test_app_command_service_and_batch_read_alike(sentence: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def unanswered(*_: object) -> None:
        raise InfeasibleError("not sized here")

    monkeypatch.setattr(design_json, "size", unanswered)
    of_app = SizingRequest.from_dict(read_words(sentence, catalog()).request)
    of_command = SizingRequest.from_dict(tomllib.loads(run("size", sentence, "--explain").stdout))
    of_service = SizingRequest.from_dict(api.answer(sentence, "sentence", "")["request"])
    assert of_app == of_command == of_service == mapped_request({"sentence": sentence}, catalog(), "row")
