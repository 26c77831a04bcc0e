"""Sentences that count samples, state their length, write numbers in words, or tell what is there and who asks.

Tokens of an epoch are worked out by hand: 100,000 samples of 4,096 tokens are 409.6 million; "32k" of a sequence are
32 x 1,024 = 32,768 tokens.
"""

from tests.workload.sentence.presales import MOST, R50, R90, Expected, gpus, job
from tests.workload.sentence.presales_language import B200, H100, H200, L8, L70, LORA, TUNED, on, server, time, tokens

MISTRAL = {"w.dnn": "mistral-7b"}
CONTINUED = {"w.method": "continued"}
BERT_MLPERF = {"w.dnn": "bert-large", "w.dataset": "wikipedia-bert", "w.recipe": "bert-large-mlperf-v5.0"}
A100_40 = on("a100-sxm-40gb")


def documents(length: int) -> dict[str, int]:
    """A mean length of documents."""
    return {"w.document_tokens": length}


def sequences(length: int) -> dict[str, int]:
    """A length of sequences."""
    return {"w.sequence_tokens": length}


LENGTHS = (
    # A number of samples with the length of each
    Expected(
        "Fine-tune Llama 3 70B on 100k samples of 4096 tokens for 3 epochs in 8 hours",
        L70 | TUNED | tokens(409.6e6) | documents(4096) | {"w.epochs": 3.0} | time("8 h"),
    ),
    Expected(
        "Fine-tune Llama 3 8B on 50,000 documents of 2,000 tokens each in one day",
        L8 | TUNED | tokens(100e6) | documents(2000) | time("1 d"),
    ),
    Expected(
        "Llama 3 8B LoRA on 20k examples of 1000 tokens in 2 hours",
        L8 | LORA | tokens(20e6) | documents(1000) | time("2 h"),
    ),
    Expected(
        "LoRA of Llama 3 8B on 10k conversations of 800 tokens in 2 hours",
        L8 | LORA | tokens(8e6) | documents(800) | time("2 h"),
    ),
    Expected(
        "Fine-tune Llama 3 8B on 50k documents with 2,000 tokens in one day",
        L8 | TUNED | tokens(100e6) | documents(2000) | time("1 d"),
    ),
    Expected(
        "Fine-tune Llama 3 8B on 50k 2,000-token documents in one day",
        L8 | TUNED | tokens(100e6) | documents(2000) | time("1 d"),
    ),
    Expected(
        "Fine-tune Llama 3 8B on 100k samples, 4096 tokens, in 8 hours",
        L8 | TUNED | tokens(409.6e6) | documents(4096) | time("8 h"),
    ),
    Expected(
        "Fine-tune Llama 3 8B on 100k samples in 8 hours, 4096 tokens each",
        L8 | TUNED | tokens(409.6e6) | documents(4096) | time("8 h"),
    ),
    Expected(
        "Fine-tune Llama 3 8B on 100k samples with 400M tokens in total in 8 hours",
        L8 | TUNED | tokens(400e6) | time("8 h"),
    ),
    # Longer than the 8,192 tokens of the model: the sequences hold them. 100,000 x 32,768 = 3,276,800,000
    Expected(
        "Fine-tune Llama 3 8B on 100k samples of 32k tokens in 8 hours",
        L8 | TUNED | tokens(3_276_800_000.0) | documents(32_768) | sequences(32_768) | time("8 h"),
    ),
    Expected(
        "Llama 3 8B on 100,000 sequences of 4096 tokens with 8 H100",
        L8 | tokens(409.6e6) | sequences(4096) | gpus(8) | H100,
    ),
    # A length of sequences next to a training length
    Expected(
        "Continue pre-training Llama 3 70B at 32k tokens on 50B tokens in 10 days with MI300X",
        L70 | CONTINUED | tokens(50e9) | sequences(32_768) | time("10 d") | on("mi300x-192gb"),
    ),
    Expected(
        "Pre-train Llama 3 70B at 32k tokens on 2T tokens in 60 days on B200",
        L70 | tokens(2e12) | sequences(32_768) | time("60 d") | B200,
    ),
    Expected(
        "Pre-train Llama 3 70B on 2T tokens in 60 days on B200, each sample 8k tokens",
        L70 | tokens(2e12) | sequences(8192) | time("60 d") | B200,
    ),
    Expected(
        "Llama 3 8B on 1T tokens, batch of 1024 sequences of 4096 tokens, 30 days",
        L8 | tokens(1e12) | sequences(4096) | {"w.batch_sequences": 1024} | time("30 d"),
    ),
    Expected("Llama 3 8B, 8k tokens, 1T tokens, 30 days", L8 | tokens(1e12) | time("30 d"), asks="layout"),
    # The size in a name is no number of tokens
    Expected(
        "What is the most Llama 3 8B tokens per second for 1 million euros on H200? One euro is 1.15 dollars.",
        L8 | MOST | {"limits.budget": 1e6, "currency": "EUR", "exchange_rate_usd": 1.15} | H200,
    ),
    Expected(
        "As many Llama 3 8B tokens per second as possible with 40 kW per rack and 2 racks of B200",
        L8 | MOST | {"limits.rack_power_w": 40e3, "limits.racks": 2} | B200,
    ),
    Expected(
        "How many tokens per second can we get with Llama 3 8B for 1 million dollars?",
        L8 | MOST | {"limits.budget": 1e6},
    ),
    # Memory of GPUs is no data set
    Expected(
        "We own 2 DGX A100 with 40GB GPUs and want to fine-tune Mistral 7B on 100M tokens in one day",
        MISTRAL | TUNED | tokens(100e6) | time("1 d") | A100_40 | {"existing.servers.dgx-a100": 2},
    ),
    Expected("ResNet-50 on 16 GPUs with 80 GB per GPU", R50 | gpus(16), unread=("80 GB per GPU",)),
    # A recipe that starts from a checkpoint does not train from scratch
    Expected(
        "Pre-train BERT-large from scratch in 10 minutes on B200",
        BERT_MLPERF | time("10 min") | B200,
        unread=("from scratch",),
    ),
    # Numbers in words
    Expected("Llama 3 8B on sixty-four H100", L8 | gpus(64) | H100),
    Expected("Llama 3 8B on one hundred and twenty-eight H100", L8 | gpus(128) | H100),
    Expected("Llama 3 8B on two thousand forty-eight H100", L8 | gpus(2048) | H100),
    Expected("Llama 3 8B on one thousand two hundred H100", L8 | gpus(1200) | H100),
    Expected("Llama 3 8B on two trillion tokens in thirty-five days", L8 | tokens(2e12) | time("35 d")),
    Expected("a team of forty-two users, ResNet-50 on sixteen GPUs", R50 | gpus(16) | job(42)),
    # What is there, and who asks: four servers with eight GPUs each
    Expected(
        "We have 4 DGX H100 and want to pretrain Llama 3 8B on 1T tokens, how long will it take?",
        L8 | tokens(1e12) | gpus(32) | server("dgx-h100") | {"existing.servers.dgx-h100": 4},
    ),
    Expected(
        "Small lab of 4 people, we fine-tune Llama 3 8B on 100M tokens in a day, do we need a cluster?",
        L8 | TUNED | tokens(100e6) | time("1 d"),
    ),
    Expected(
        "Small lab of 4 people wants to fine-tune Qwen2.5 7B with LoRA on 20k examples of 1000 tokens; do we need a "
        "cluster?",
        {"w.dnn": "qwen2.5-7b"} | LORA | tokens(20e6) | documents(1000),
        asks="target",
    ),
    Expected("our team of 8 researchers retrains ResNet-50 in a day", R50 | R90 | time("1 d")),
    Expected("GPT-2 on 8 A100", {"w.dnn": "gpt-2-xl"} | gpus(8) | on("a100-sxm-80gb")),
    # What is not held
    Expected("GPT-J 6B on 8 A100", gpus(8) | on("a100-sxm-80gb"), asks="unavailable"),
)
