"""Speed of language models: layouts of one model on one platform, a request over all of today's platforms, the fit."""

from typing import Any

from sizer.calibrate.language.calibration import calibrate, language_calibration
from sizer.calibrate.language.cases import load_language_rows
from sizer.catalog.loader import load_catalog
from sizer.sizing.size import size
from sizer.sizing.stages.language_rates import LayoutQuestion, judged_sizes, search_sizes
from sizer.workload.request import SizingRequest

MOST_SERVERS, GPUS_PER_SERVER, SEQUENCES = 2048, 8, 512


def test_layouts_of_one_to_2048_servers(benchmark: Any) -> None:
    catalog, calibration = load_catalog(), language_calibration()
    gpus = [servers * GPUS_PER_SERVER for servers in judged_sizes(MOST_SERVERS, 1)]
    batches = [-(-SEQUENCES // n) * n for n in gpus]
    question = LayoutQuestion("llama-3-70b", "h100-sxm-80gb", GPUS_PER_SERVER, sequence=8192, batch=1)

    found = benchmark(search_sizes, question, gpus, batches, catalog, calibration)
    benchmark.extra_info.update(sizes=len(gpus), layouts=sum(one.n_judged for one in found))


def test_a_request_over_all_platforms_of_today(benchmark: Any) -> None:
    catalog = load_catalog()
    number = iter(range(1_000_000))

    def asked() -> tuple[tuple[Any, ...], dict[str, Any]]:
        # A number of tokens in a step that was never asked for: no layout is remembered.
        work = {
            "dnn": "llama-3-70b",
            "tokens": 1e12,
            "sequence_tokens": 8192 + 128 * next(number),
            "target": {"time_to_train_s": "60 d"},
        }
        return (SizingRequest.from_dict({"workload": [work]}), catalog), {}

    benchmark.pedantic(size, setup=asked, rounds=5, warmup_rounds=1)


def test_the_joint_fit(benchmark: Any) -> None:
    rows, catalog = load_language_rows(), load_catalog()
    benchmark.pedantic(calibrate, args=(rows, catalog), rounds=2)
