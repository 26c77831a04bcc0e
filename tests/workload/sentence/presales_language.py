"""Sentences about language models and today's systems, as presales engineers and their customers write them."""

from typing import Any

from tests.factories.examples import catalog
from tests.workload.sentence.presales import MOST, Expected, gpus, job

L8, L70, L405 = {"w.dnn": "llama-3-8b"}, {"w.dnn": "llama-3-70b"}, {"w.dnn": "llama-3.1-405b"}
L2, QWEN7 = {"w.dnn": "llama-2-70b"}, {"w.dnn": "qwen2.5-7b"}
LORA, TUNED = {"w.method": "lora"}, {"w.method": "fine-tuning"}


def tokens(count: float) -> dict[str, Any]:
    """Training length in tokens."""
    return {"w.tokens": count}


def time(written: str) -> dict[str, Any]:
    """A target time to train."""
    return {"w.target.time_to_train_s": written}


def rate(per_s: float) -> dict[str, Any]:
    """A target rate in tokens."""
    return {"w.target.tokens_per_s": per_s}


def on(*names: str) -> dict[str, Any]:
    """GPUs that are allowed."""
    return {"platforms.gpus": list(names)}


def server(*names: str) -> dict[str, Any]:
    """Servers that are allowed."""
    return {"platforms.servers": list(names)}


H100, H200, B200, A100 = on("h100-sxm-80gb"), on("h200-sxm-141gb"), on("b200-sxm-180gb"), on("a100-sxm-80gb")

_SERVERS = [one for one in catalog().servers.values() if one.role == "gpu" and one.orderable]
# Whatever the catalogue holds of a vendor, as files are added.
LENOVO = [one.id for one in _SERVERS if one.vendor == "Lenovo"]
AMD = sorted(
    {key for one in _SERVERS for key in one.gpus if catalog().gpus[key].vendor == "AMD"}, key=list(catalog().gpus).index
)

LANGUAGE_SENTENCES = (
    # GPUs and servers
    Expected("one NVL72 for Llama 3.1 405B", L405 | gpus(72) | server("gb200-nvl72")),
    Expected("Fine-tune Llama 3 70B with LoRA on one DGX H100", L70 | LORA | gpus(8) | server("dgx-h100")),
    Expected("64 B300 for DeepSeek V3 pretraining", {"w.dnn": "deepseek-v3"} | gpus(64) | on("b300-sxm-270gb")),
    Expected("Llama 3.1 405B with 16k H100", L405 | gpus(16000) | H100),
    Expected("QLoRA fine-tuning of Llama 2 70B on a single L40S server", L2 | LORA | gpus(8) | on("l40s-48gb")),
    Expected("full fine-tune of Qwen2.5-7B on 4 A100 80GB", QWEN7 | TUNED | gpus(4) | A100),
    Expected("Qwen3 235B A22B on 32 nodes of 8 B200", {"w.dnn": "qwen3-235b-a22b"} | gpus(256) | B200),
    Expected("Llama-3-8B on two HGX H200 servers", L8 | gpus(16) | H200),
    Expected("PEFT on Llama 2 70B, 2 servers with 8 H100 each", L2 | LORA | gpus(16) | H100),
    Expected("Meta Llama 3 8B Instruct LoRA, 1 node 8xH100", L8 | LORA | gpus(8) | H100),
    Expected("16 DGX B200 for Llama 70B", L70 | gpus(128) | server("dgx-b200")),
    Expected("XE9680 with MI300X x 4, Llama 3 70B", L70 | gpus(32) | server("xe9680-mi300x")),
    Expected("HPE Cray XD670, four of them, Llama 3 70B LoRA", L70 | LORA | gpus(32) | server("cray-xd670")),
    Expected("Llama 3 8B with two DGX A100", L8 | gpus(16) | server("dgx-a100")),
    Expected("2 x SYS-821GE-TNHR, Llama 3 8B", L8 | gpus(16) | server("sys-821ge-tnhr")),
    Expected("DeepSeek R1 671B training on 512 H200", {"w.dnn": "deepseek-v3"} | gpus(512) | H200),
    Expected("RTX PRO 6000 servers for LoRA of Llama 3 8B, 8 GPUs", L8 | LORA | gpus(8) | on("rtx-pro-6000-96gb")),
    Expected("16 MI355X for Llama 3 8B FP8", L8 | gpus(16) | {"w.precision": "fp8"} | on("mi355x-288gb")),
    Expected("AMD GPUs only, Llama 3 70B, 64 GPUs", L70 | gpus(64) | on(*AMD)),
    Expected("WEKA storage, 64 H100, Llama 3 70B", L70 | gpus(64) | H100 | {"platforms.storage": ["wekaio"]}),
    Expected(
        "Customer: 12 AI engineers sharing 64 H100 for Llama 3 8B fine-tuning", L8 | TUNED | gpus(64) | H100 | job(12)
    ),
    # Tokens and days
    Expected(
        "Train gpt-oss-120b from scratch on 10T tokens within 60 days using B200 systems",
        {"w.dnn": "gpt-oss-120b"} | tokens(10e12) | time("60 d") | B200,
    ),
    Expected(
        "SFT of Qwen2.5 32B on 500 million tokens, 8 H200", {"w.dnn": "qwen2.5-32b"} | tokens(5e8) | gpus(8) | H200
    ),
    Expected(
        "continued pretraining Llama-3.1-8B, 50B tokens, one week, Dell XE9680",
        L8 | {"w.method": "continued"} | tokens(50e9) | time("1 weeks") | server("xe9680", "xe9680-mi300x"),
    ),
    Expected(
        "BF16 training of MPT-30B on 1T tokens in 20 days",
        {"w.dnn": "mpt-30b", "w.precision": "mixed"} | tokens(1e12) | time("20 d"),
    ),
    Expected("GPT-3 175B, 300B tokens, 1024 A100", {"w.dnn": "gpt-3-175b"} | tokens(300e9) | gpus(1024) | A100),
    Expected("How long does Llama 3 8B on 15T tokens take with 512 H100?", L8 | tokens(15e12) | gpus(512) | H100),
    Expected(
        "How many H100 do I need to pretrain Llama 3 8B on 2T tokens in 30 days?",
        L8 | tokens(2e12) | time("30 d") | H100,
    ),
    Expected("Domain adaptation of Llama 3 8B, 20B tokens over a weekend", L8 | tokens(20e9) | time("2 d")),
    Expected("2e12 tokens Llama 3 8B 30 days", L8 | tokens(2e12) | time("30 d")),
    Expected("500M tok of text, lora llama 3 8b in 4 hours", L8 | LORA | tokens(5e8) | time("4 h")),
    Expected("Llama 3 70B 1.5tn tokens in six weeks", L70 | tokens(1.5e12) | time("6 weeks")),
    Expected(
        "OpenAI GPT-3 on 300 billion tokens in 34 days with A100s",
        {"w.dnn": "gpt-3-175b"} | tokens(300e9) | time("34 d") | A100,
    ),
    Expected(
        "in-house chatbot: fine-tune an 8B LLM overnight on 200M tokens, one server",
        L8 | TUNED | tokens(2e8) | time("12 h") | {"limits.servers": 1},
    ),
    Expected(
        "Qwen 2.5 32B pre-training run, 5T tokens, 90 days max, under 1 MW",
        {"w.dnn": "qwen2.5-32b"} | tokens(5e12) | time("90 d") | {"limits.power_w": 1e6},
    ),
    Expected(
        "train llama3 8b from scratch in 1 week on 1T tokens, 95% confidence, cheapest",
        L8 | tokens(1e12) | time("1 weeks") | {"confidence": 0.95, "rank_by": "cost"},
    ),
    Expected(
        "30 days, 1 trillion tokens, Llama 3 70B, Lenovo servers only",
        L70 | tokens(1e12) | time("30 d") | server(*LENOVO),
    ),
    Expected(
        "fine tune Llama3-70B for 3 epochs on 100 million tokens, 16 H100",
        L70 | TUNED | tokens(1e8) | gpus(16) | H100 | {"w.epochs": 3.0},
    ),
    # Rates, sequences, batch
    Expected("We need 250,000 tokens per second pretraining Llama 3 8B", L8 | rate(250_000)),
    Expected("MI325X cluster for Llama 3 70B, 200k tok/s", L70 | rate(200_000) | on("mi325x-256gb")),
    Expected(
        "Pretraining nemotron-4 15B at 400k tokens/s on DGX B200, max 200 kW",
        {"w.dnn": "nemotron-4-15b"} | rate(400_000) | server("dgx-b200") | {"limits.power_w": 200_000},
    ),
    # 86.4 billion tokens in a day of 86,400 s
    Expected("Llama 3 70B, 86.4 billion tokens per day", L70 | rate(1e6)),
    Expected(
        "We are a Supermicro shop; Llama 3 70B at 150k tokens/s with B200",
        L70 | rate(150_000) | B200 | {"platforms.prefer_vendors": ["Supermicro"]},
    ),
    Expected(
        "128 H200, InfiniBand NDR, Llama 3 70B, sequence length 8192",
        L70 | gpus(128) | H200 | {"platforms.fabrics": ["ndr"], "w.sequence_tokens": 8192},
    ),
    Expected(
        "8x DGX H100 with 400G NDR for Llama 3 70B",
        L70 | gpus(64) | server("dgx-h100") | {"platforms.fabrics": ["ndr"]},
    ),
    Expected(
        "a 405B model on 2048 H100 in FP8, 8k context",
        L405 | gpus(2048) | H100 | {"w.precision": "fp8", "w.sequence_tokens": 8192},
    ),
    Expected(
        "Grok-1 on 64 H200, 4096-token sequences", {"w.dnn": "grok-1", "w.sequence_tokens": 4096} | gpus(64) | H200
    ),
    Expected(
        "global batch of 1024 sequences, Llama 3 70B, 64 H100", L70 | gpus(64) | H100 | {"w.batch_sequences": 1024}
    ),
    # 4,194,304 tokens in sequences of 4,096
    Expected(
        "Llama 2 70B, 4k context, batch size 4.194304M tokens, 256 H100",
        L2 | gpus(256) | H100 | {"w.sequence_tokens": 4096, "w.batch_sequences": 1024},
    ),
    # Limits, existing equipment, data, software
    Expected("as fast as possible within 5 million USD: pretrain Llama 3 8B", L8 | MOST | {"limits.budget": 5e6}),
    Expected(
        "$10M budget for pretraining Llama 3 70B, what tokens/s can we get?", L70 | MOST | {"limits.budget": 10e6}
    ),
    Expected("Llama 3 8B on 3 racks, as fast as possible", L8 | MOST | {"limits.racks": 3}),
    Expected(
        "we have 4 DGX H100 already; Llama 3 8B at 500k tokens/s", L8 | rate(500_000) | {"existing.servers.dgx-h100": 4}
    ),
    Expected("Llama 3 70B: 2 million tokens/s by end of 2027", L70 | rate(2e6) | {"needed_by": "2027-12-31"}),
    Expected(
        "Llama 3 70B pretraining, 128 GPUs, checkpoints every 30 minutes to DDN storage",
        L70
        | gpus(128)
        | {"data.checkpoint_every_s": "30 min", "platforms.storage": ["ai400x2", "ai400x2-turbo", "ai400x3"]},
    ),
    Expected("NeMo, Llama 3.1 405B, 512 H100", L405 | gpus(512) | H100 | {"w.stack": "nemo"}),
    Expected("PyTorch FSDP with torchtitan, Llama 3 8B on 16 H100", L8 | gpus(16) | H100 | {"w.stack": "torchtitan"}),
    # Something to ask back
    Expected("fine-tune Llama 70B", L70 | TUNED, asks="target"),
    Expected("64 H100", gpus(64) | H100, asks="network"),
    Expected("train a language model on 16 H100", gpus(16) | H100, asks="network"),
    Expected("pretrain a 7B model on 2 trillion tokens in 3 months", tokens(2e12) | time("90 d"), asks="network"),
    Expected("Command R on 8 H100", gpus(8) | H100, asks="unavailable"),
    Expected("four DGX B200 + VAST for Llama 3 8B", L8 | gpus(32) | server("dgx-b200"), asks="unavailable"),
    Expected("Train Llama 3 8B in a week on H100", L8 | time("1 weeks") | H100, asks="length"),
    # What is no part of a request is named
    Expected("1100 tokens/s per GPU, Llama 3 70B, 64 H100", L70 | gpus(64) | H100, unread=("1100 tokens/s per GPU",)),
    Expected(
        "BERT-large on 3 billion tokens, 16 GPUs",
        {"w.dnn": "bert-large", "w.dataset": "wikipedia-bert"} | gpus(16),
        unread=("3 billion tokens",),
    ),
)
