"""Sentences about parallel layouts, packing, sizes and several trainings, with what an architect reads in them."""

from typing import Any

from tests.workload.sentence.presales import Expected, gpus
from tests.workload.sentence.presales_language import H100, H200, L8, L70, LORA, TUNED, on, time, tokens


def pins(**values: Any) -> dict[str, Any]:
    """What is fixed of the layout."""
    return {f"w.layout.{key}": value for key, value in values.items()}


ON_64 = gpus(64) | H100
TRAIN_70 = L70 | ON_64
# The second of two trainings.
SECOND = "workload.1."

LAYOUTS = (
    # Degrees by their abbreviations and words (Megatron-LM, torchtitan)
    Expected(
        "Llama 3 70B, TP 8, PP 4, micro batch 1, on 64 H100", TRAIN_70 | pins(tensor=8, pipeline=4, micro_batch=1)
    ),
    Expected(
        "Llama 3 70B, tp=8 pp=4 vpp=5 cp=2, mbs=1, gbs=512, 256 H100",
        L70
        | gpus(256)
        | H100
        | pins(tensor=8, pipeline=4, chunks=5, context=2, micro_batch=1)
        | {"w.batch_sequences": 512},
    ),
    Expected(
        "Llama 3 70B with 8-way tensor parallelism and pipeline parallel 4 on 64 H100",
        TRAIN_70 | pins(tensor=8, pipeline=4),
    ),
    Expected(
        "DeepSeek V3 with EP 64 and PP16 on 2048 H200",
        {"w.dnn": "deepseek-v3"} | gpus(2048) | H200 | pins(expert=64, pipeline=16),
    ),
    Expected("data parallel 8, tensor parallel 8, Llama 3 70B, 64 H100", TRAIN_70 | pins(data=8, tensor=8)),
    Expected("TP=16 Llama 3 70B on 64 H100", TRAIN_70 | pins(tensor=16)),
    Expected("micro batch of 2, Llama 3 8B, 16 H100", L8 | gpus(16) | H100 | pins(micro_batch=2)),
    Expected("microbatch size 4, Llama 3 8B, 16 H100", L8 | gpus(16) | H100 | pins(micro_batch=4)),
    # The batch of one GPU is not that of all
    Expected("local batch size 2, Llama 3 8B, 64 H100", L8 | ON_64, unread=("local", "batch", "2")),
    # Sharding: FSDP and ZeRO-3 divide weights, too; ZeRO-1 the optimizer state (arXiv:1910.02054)
    Expected("Llama 3 8B with FSDP on 64 H100", L8 | ON_64 | pins(sharding="all")),
    Expected("Llama 3 8B with ZeRO stage 1 on 64 H100", L8 | ON_64 | pins(sharding="optimizer")),
    Expected(
        "Llama 3 70B with DeepSpeed ZeRO-3 on 64 H100",
        TRAIN_70 | pins(sharding="all") | {"w.stack": "deepspeed"},
    ),
    Expected("Llama 3 70B with ZeRO-2 on 64 H100", TRAIN_70, asks="layout"),
    Expected("Llama 3 8B with NotAStack and FSDP on 64 H100", L8 | ON_64 | pins(sharding="all"), unread=("NotAStack",)),
    Expected("Llama 3 70B with Megatron-Unknown on 64 H100", TRAIN_70, unread=("Megatron-Unknown",)),
    # Recomputation
    Expected("Llama 3 8B on 64 H100, full activation recompute", L8 | ON_64 | pins(recompute="full")),
    Expected("Llama 3 8B on 64 H100, selective recomputation", L8 | ON_64 | pins(recompute="selective")),
    Expected("Llama 3 8B on 64 H100 without activation recomputation", L8 | ON_64 | pins(recompute="none")),
    Expected("Llama 3 8B on 64 H100, activation recompute", L8 | ON_64, asks="layout"),
    # Packing: a context of 4k holds 4,096 tokens
    Expected(
        "SFT of Llama 3.1 70B on 100M tokens packed to 4k sequences in under 6 hours",
        L70 | tokens(1e8) | time("6 h") | {"w.packing": True, "w.sequence_tokens": 4096},
    ),
    Expected(
        "instruction tuning of 500 token documents, packed, Llama 3 8B, 64 H100",
        L8 | ON_64 | {"w.document_tokens": 500, "w.packing": True},
    ),
    Expected(
        "Llama 3 8B, unpacked documents of 500 tokens, 64 H100",
        L8 | ON_64 | {"w.document_tokens": 500, "w.packing": False},
    ),
    # Batches in tokens: 2,000,000 / 8,192 is 244.1 sequences, 4,000,000 / 8,192 is 488.3
    Expected("Llama 3 8B on 64 H100 with 2 million token batch", L8 | ON_64 | {"w.batch_sequences": 244}),
    Expected("Llama 3 8B on 64 H100, 4M tokens per step", L8 | ON_64 | {"w.batch_sequences": 488}),
    # Spellings
    Expected(
        "pre train Llama 3 8B w/ 300bn tokens, 10 days, 8k ctx",
        L8 | tokens(3e11) | time("10 d") | {"w.sequence_tokens": 8192},
    ),
    Expected("Llama 3 70B, context 32k, 64 H100", TRAIN_70 | {"w.sequence_tokens": 32_768}),
    Expected("Qwen3 235B on 256 GB300", {"w.dnn": "qwen3-235b-a22b"} | gpus(256) | on("gb300-278gb")),
    Expected("Llama 3 8B, 300 Milliarden Token, 64 H100", L8 | ON_64 | tokens(3e11)),
    Expected("finetune llama-70b w/ lora on 64 H100, 50M tokens", L70 | LORA | ON_64 | tokens(5e7)),
    Expected("Lamma 3 8B, 100B tokens in 3 days", tokens(1e11) | time("3 d"), asks="network"),
    # A price of tokens or hours is no budget in all
    Expected(
        "Llama 3 8B pre-training, budget $0.50 per million tokens, 64 H100",
        L8 | ON_64 | {"ownership.cost_per_million_tokens": 0.5},
    ),
    Expected(
        "cheapest cost per 1M tokens, Llama 3 8B, 64 H100", L8 | ON_64 | {"rank_by": "cost"}, unread=("per 1M tokens",)
    ),
    Expected("Llama 3 8B on 64 H100 at 3 USD per GPU hour", L8 | ON_64, unread=("3 USD per GPU hour",)),
    # Mixtures of experts by their numbers
    Expected("pretrain a MoE with 64 experts, 8 active, 30B total, on 64 H100", ON_64, asks="network"),
    Expected("Train a 5T MoE with 256 experts on 64 H100", ON_64, asks="network"),
    Expected("Mixtral 8x7B MoE with 8 experts on 64 H100", {"w.dnn": "mixtral-8x7b"} | ON_64),
    # Sizes in other units
    Expected("train a 100M parameter LLM on 64 H100", ON_64 | {"w.dnn.name": "0.1B model", "w.dnn.parameters": 1e8}),
    Expected("a 5T parameter model on 64 H100", ON_64 | {"w.dnn.name": "5000B model", "w.dnn.parameters": 5e12}),
    # Two trainings
    Expected(
        "pretraining of 8B on 1T tokens and fine-tune of 70B on 64 H100", L8 | tokens(1e12) | ON_64, asks="network"
    ),
    Expected(
        "pretraining of Llama 3 8B on 1T tokens and fine-tune of Llama 3 70B on 64 H100",
        L8
        | tokens(1e12)
        | ON_64
        | {
            f"{SECOND}name": "Llama 3 70B fine-tuning",
            f"{SECOND}dnn": "llama-3-70b",
            f"{SECOND}method": "fine-tuning",
            f"{SECOND}target.gpus_busy": 64,
        },
    ),
    Expected(
        "pretrain Llama 3 8B on 1T tokens and fine-tune it on 2B tokens, 64 H100",
        L8
        | tokens(1e12)
        | ON_64
        | {
            f"{SECOND}name": "Llama 3 8B fine-tuning",
            f"{SECOND}dnn": "llama-3-8b",
            f"{SECOND}method": "fine-tuning",
            f"{SECOND}tokens": 2e9,
            f"{SECOND}target.gpus_busy": 64,
        },
    ),
    Expected("fine-tune a pretrained Llama 3 8B on 64 H100", L8 | TUNED | ON_64),
    Expected(
        "Our 13B dense model and Llama 3 70B on 64 H100",
        TRAIN_70
        | {
            f"{SECOND}name": "13B model training",
            f"{SECOND}dnn.name": "13B model",
            f"{SECOND}dnn.parameters": 13e9,
            f"{SECOND}target.gpus_busy": 64,
        },
    ),
)
