"""Fields of the request: document details, workloads and their targets."""

from typing import get_args

from sizer.base import quantities
from sizer.base.quantities import BYTES, FLOP, LATENCY, REQUESTS_PER_S, SAMPLES_PER_S, SECONDS, TOKENS_PER_S
from sizer.catalog.labels import capital
from sizer.catalog.sample_formats import FORMAT_NAMES
from sizer.ui.request_form.field import (
    Columns,
    Count,
    Day,
    Dropdown,
    FormField,
    Percentage,
    PlainNumber,
    Quantity,
    Segments,
    Text,
)
from sizer.ui.request_form.language_model import LANGUAGE_MODEL_FIELDS
from sizer.ui.request_form.options import capitalized_name, names_by_id
from sizer.ui.session_catalog import catalog
from sizer.workload.custom_network import NetworkKind
from sizer.workload.request import Access, Cache, RankBy, Task

_CURRENCIES = ("USD", "EUR", "GBP", "CHF", "JPY")

DOCUMENT: Columns = (
    (
        FormField(("title",), "Title", "Heading of the documents.", Text(), "Deep-learning cluster"),
        FormField(("customer",), "Customer", "Printed on all documents and part of the file names.", Text(), "none"),
    ),
    (
        FormField(
            ("date",), "Quote date", "Printed on the documents. The quote validity starts here.", Day(), name="Date"
        ),
        FormField(
            ("needed_by",),
            "Date of need",
            "Day on which the cluster must be there. The bill shows by when to order, what comes too late, and whose "
            "sale or service ends too soon. Default: none.",
            Day(),
        ),
        FormField(
            ("currency",),
            "Currency",
            "Prices in another currency need an exchange rate; without one those lines need a quote.",
            Dropdown({code: code for code in _CURRENCIES}, "USD"),
        ),
        FormField(
            ("exchange_rate_usd",),
            "Exchange rate, USD for one {currency}",
            "Converts prices and price ranges that are in USD. A budget in another currency needs it unless the price "
            "book has prices in that currency. Default: none.",
            PlainNumber(1e-6, 1e4),
            name="Exchange rate",
        ),
    ),
)

NAME = FormField(("workload", "name"), "Name", "Name of this workload in pages and documents.", Text(), "workload")
TASK = FormField(
    ("workload", "task"),
    "Task",
    "Training; batch inference on a test set (forward passes only); or a language model in use: serving to people or "
    "programs that wait, and generation for which nobody waits. Default: training.",
    Segments({task: capitalized_name(task) for task in get_args(Task)}, "training"),
)
DATASET_BYTES = FormField(
    ("workload", "dataset_bytes"),
    "Data set size",
    "Size of the whole data set on storage, with its unit: 22.2 TB, 20 TiB, 500 GB. "
    "Default: samples × sample size of the selected data set; of a language model 4 bytes a token.",
    Quantity(BYTES),
    "samples × sample size",
)
CONFIDENCE = FormField(
    ("confidence",),
    "Sizing confidence",
    "Probability that the design meets all targets together. Default: 90 %, "
    "so one design in ten would miss its target.",
    Percentage((0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99), 0.9),
    name="Confidence",
)

TARGETS = {
    "samples_per_s": "Throughput",
    "tokens_per_s": "Throughput in tokens",
    "time_to_train_s": "Time to train",
    "gpus_busy": "Number of GPUs",
    "maximum": "The most that the limits give",
    "requests_per_s": "Requests a second",
    "concurrent_requests": "Requests in flight at once",
    "active_users": "Active users",
    "users": "Users in all",
}
TARGET_FIELDS = {
    "samples_per_s": FormField(
        ("workload", "target", "samples_per_s"),
        "Minimum rate",
        "Samples per second of the whole cluster, after the first epoch. Default: none; one target is required.",
        Quantity(SAMPLES_PER_S),
    ),
    "tokens_per_s": FormField(
        ("workload", "target", "tokens_per_s"),
        "Minimum rate",
        "Tokens per second of the whole cluster. Default: none; one target is required.",
        Quantity(TOKENS_PER_S),
        name="Minimum rate in tokens",
    ),
    "time_to_train_s": FormField(
        ("workload", "target", "time_to_train_s"),
        "Maximum time to train",
        "From the start to the end of the last epoch, including evaluations. Default: none; one target is required.",
        Quantity(SECONDS),
    ),
    "gpus_busy": FormField(
        ("workload", "target", "gpus_busy"),
        "GPUs in total",
        "The whole cluster has at least this many GPUs, and storage and network supply data to all of them at full "
        "rate. Default: none; one target is required.",
        Count(),
    ),
    "maximum": FormField(
        ("workload", "target", "maximum"),
        "What is to be as high as possible",
        "The limits decide the size: set a budget, or the power, racks, rack units or servers that there may be.",
        Dropdown({"rate": "Rate in samples per second"}),
        name="Maximum",
    ),
    "requests_per_s": FormField(
        ("workload", "target", "requests_per_s"),
        "Requests a second",
        "Arrivals in the peak hour, with their unit or without: 10 requests/s, 5000 requests/h. Default: none; one "
        "target is required.",
        Quantity(REQUESTS_PER_S),
    ),
    "concurrent_requests": FormField(
        ("workload", "target", "concurrent_requests"),
        "Requests in flight at once",
        "Requests that are answered at the same time, each no slower than the limits. Default: none; one target is "
        "required.",
        Count(1_000_000_000),
    ),
    "active_users": FormField(
        ("workload", "target", "active_users"),
        "Active users",
        "People who ask, read and ask again in the peak hour; their requests an hour are those of the use. Default: "
        "none; one target is required.",
        Count(1_000_000_000),
    ),
    "users": FormField(
        ("workload", "target", "users"),
        "Users in all",
        "All who may ask; a share of them is active in the peak hour. Default: none; one target is required.",
        Count(1_000_000_000),
    ),
}
USE = FormField(
    ("workload", "use"),
    "Use",
    "Sets the lengths, limits and requests an hour that are not given; each is listed as an assumption. Default: chat.",
    Dropdown(
        {
            "chat": "Chat",
            "rag": "Answers from documents (RAG)",
            "code": "Code completion",
            "summary": "Summaries",
            "reasoning": "Reasoning",
        },
        "chat",
    ),
)
INPUT_TOKENS = FormField(
    ("workload", "input_tokens"),
    "Tokens into a request",
    "Mean length of the prompt with all that it carries. Default: that of the use.",
    Count(10_000_000),
    "as the use",
)
OUTPUT_TOKENS = FormField(
    ("workload", "output_tokens"),
    "Tokens out of a request",
    "Mean length of the answer. Default: that of the use.",
    Count(1_000_000),
    "as the use",
)
PREFIX_CACHED = FormField(
    ("workload", "prefix_cached"),
    "Share of the input in a cache",
    "Of earlier prompts, such as a common system prompt; 0 to 0.999. Default: that of the use.",
    PlainNumber(0.0, 0.999),
    "as the use",
)
FIRST_TOKEN = FormField(
    ("workload", "first_token_s"),
    "Limit of the first token",
    "At the percentile of the limits, with its unit: 2 s, 450 ms. Default: that of the use; none of a generation.",
    Quantity(LATENCY),
    "as the use",
)
TOKEN_TIME = FormField(
    ("workload", "token_s"),
    "Limit of each later token",
    "At the percentile of the limits: 50 ms are 20 tokens a second. Default: that of the use; none of a generation.",
    Quantity(LATENCY),
    "as the use",
)
PERCENTILE = FormField(
    ("workload", "latency_percentile"),
    "Percentile of the limits",
    "Share of the requests that keep each limit. Default: 95 %.",
    Dropdown({50: "50 %", 90: "90 %", 95: "95 %", 99: "99 %"}, 95),
)
ENGINE = FormField(
    ("workload", "engine"),
    "Serving engine",
    "Default: not named, a mixture of those in use with the spread between them.",
    Dropdown({}),
)
CACHE_PRECISION = FormField(
    ("workload", "cache_precision"),
    "Keys and values",
    "Number format of the cache. Default: BF16 of vLLM and SGLang, else FP8 with weights of 8 bits or fewer.",
    Dropdown({"": "as the engine has it", "bf16": "BF16", "fp8": "FP8"}),
)
SERVING = (USE, INPUT_TOKENS, OUTPUT_TOKENS, PREFIX_CACHED)
SERVING_LIMITS = (FIRST_TOKEN, TOKEN_TIME, PERCENTILE)
EPOCHS = FormField(("workload", "epochs"), "Epochs", "Passes over the data set.", PlainNumber(0.1, 100_000.0))

TOKENS = FormField(
    ("workload", "tokens"),
    "Tokens",
    "Tokens that the model is trained on in all, with or without a unit: 1 trillion tokens, 200 B. A time to train "
    "needs them. Default: not given.",
    Quantity(quantities.TOKENS),
    "not given",
)
SEQUENCE_TOKENS = FormField(
    ("workload", "sequence_tokens"),
    "Tokens of a sequence",
    "Length that the model is trained with. Default: as the model is usually pre-trained, else 8192.",
    Count(1_048_576, 128),
    "as the model",
    name="Sequence",
)
BATCH_SEQUENCES = FormField(
    ("workload", "batch_sequences"),
    "Sequences of a step",
    "Global batch over all GPUs. Default: 4 to 16 million tokens by the number of GPUs; 64 sequences where all "
    "parameters are fine-tuned, 8 where adapters are trained.",
    Count(1_000_000),
    "usual",
    name="Global batch",
)
METHOD = FormField(
    ("workload", "method"),
    "What is trained",
    "Pre-training from random weights, continued pre-training or fine-tuning of all parameters, or adapters (LoRA) "
    "next to the frozen model. Default: pre-training.",
    Dropdown(
        {
            "full": "Pre-training",
            "continued": "Continued pre-training",
            "fine-tuning": "Fine-tuning of all parameters",
            "lora": "Adapters (LoRA)",
        },
        "full",
    ),
)
LANGUAGE = (TOKENS, SEQUENCE_TOKENS, BATCH_SEQUENCES, METHOD)
DOCUMENT_TOKENS = FormField(
    ("workload", "document_tokens"),
    "Tokens of a document",
    "Mean length of the documents, at whose ends attention ends. Default: a document fills a sequence.",
    Count(1_048_576),
    "a whole sequence",
)
PACKING = FormField(
    ("workload", "packing"),
    "Documents in a sequence",
    "Several documents fill a sequence, or each is padded to its length; padding needs the tokens of a document. "
    "Default: packed.",
    Dropdown({True: "Packed", False: "One each, padded"}, True),
    name="Packing of documents",
)

STACK = FormField(
    ("workload", "stack"),
    "Software stack",
    "Framework, release and input pipeline. Newer software has nearly doubled the rate on the same GPU. "
    "Default: the newest well-measured stack.",
    Dropdown({}),
)
NUMBER_FORMAT = FormField(
    ("workload", "precision"),
    "Number format",
    "Of the matrix products of a language model; GPUs without the format are excluded. Default: BF16.",
    Dropdown(
        {
            "mixed": "BF16",
            "fp16": "FP16",
            "fp8": "FP8",
            "mxfp8": "MXFP8 (rated as FP8)",
            "fp4": "FP4",
            "nvfp4": "NVFP4 (rated as FP4)",
            "mxfp4": "MXFP4 (serving only)",
            "int4": "INT4 (serving only)",
        },
        "mixed",
    ),
)
PRECISION = FormField(
    ("workload", "precision"),
    "Precision",
    "Mixed precision runs on tensor cores. Default: mixed.",
    Segments({"mixed": "Mixed precision", "fp32": "Single precision"}, "mixed"),
)
BATCH = FormField(
    ("workload", "batch_per_gpu"),
    "Batch per GPU",
    "Samples per step and GPU. Default: 128, or 64 in single precision, which fits 16 GB for ImageNet networks.",
    Count(65_536),
    "default",
)
SAMPLE_BYTES = FormField(
    ("workload", "sample_bytes"),
    "Sample size",
    "Mean size of one sample on storage. Default: that of the selected data set.",
    Quantity(BYTES),
)
SAMPLE_FORMAT = FormField(
    ("workload", "sample_format"),
    "Sample format",
    "What the processors read and prepare for one sample. Default: derived from the data set and the neural network.",
    Dropdown({"": "derived"} | {kind.value: capital(name) for kind, name in FORMAT_NAMES.items()}),
)
ACCESS = FormField(
    ("workload", "access"),
    "Access pattern",
    "Order in which each server reads the data set; it decides how much a cache can hold. Default: random, every "
    "server reads the whole set.",
    Dropdown({kind: capitalized_name(kind) for kind in get_args(Access)}, "random"),
)
CACHE = FormField(
    ("workload", "cache"),
    "Server cache",
    "Page cache: memory of the server. Pinned: a cache that never evicts. Default: page cache.",
    Dropdown({kind: capitalized_name(kind) for kind in get_args(Cache)}, "page-cache"),
)
RANK_BY = FormField(
    ("rank_by",),
    "Rank platforms by",
    "Without a criterion, platforms are ranked by cost if all prices are known; otherwise they are listed by size.",
    Dropdown({"": "Cost, if all prices are known", **{rank: capitalized_name(rank) for rank in get_args(RankBy)}}),
    name="Ranked by",
)

EXPERT = (STACK, PRECISION, BATCH, SAMPLE_BYTES, SAMPLE_FORMAT, ACCESS, CACHE, RANK_BY)
LANGUAGE_EXPERT = (STACK, NUMBER_FORMAT, DOCUMENT_TOKENS, PACKING, DATASET_BYTES, ACCESS, CACHE, RANK_BY)

# A neural network and a data set that the catalogue does not hold.
CUSTOM_DNN = (
    FormField(("workload", "dnn", "name"), "Name", "Name of the network in the documents.", Text()),
    FormField(
        ("workload", "dnn", "forward_flop"),
        "Forward operations per sample",
        "2 × multiply-accumulates; ResNet-50 has 8.2 GFLOP.",
        Quantity(FLOP),
        name="Forward operations",
    ),
    FormField(
        ("workload", "dnn", "parameters"),
        "Parameters",
        "Number of weights; it sets the size of the gradients.",
        PlainNumber(1e3, 1e13),
    ),
    FormField(
        ("workload", "dnn", "embedding_parameters"),
        "Embedding parameters",
        "Of these parameters, those in tables that are looked up; they are divided over the GPUs. Default: of a "
        "network whose efficiency is that of a recommender, those that its operations do not explain; else none.",
        PlainNumber(0.0, 1e13),
        "derived",
    ),
    FormField(
        ("workload", "dnn", "input_bytes"),
        "Decoded sample size",
        "Size of one sample as the GPU receives it.",
        Quantity(BYTES),
    ),
    FormField(
        ("workload", "dnn", "kind"),
        "Kind of network",
        "The rate is that of published trainings of networks of this kind. Default: of the network that it is like.",
        Dropdown({"": "not said: all kinds, a wide interval", **{kind: kind for kind in get_args(NetworkKind)}}),
    ),
    FormField(
        ("workload", "dnn", "like"),
        "Network that it is like",
        "Network of its kind: an analogy, whose own rate is not taken.",
        Dropdown(lambda: {"": "none", **names_by_id(catalog().dnns)}),
    ),
)
CUSTOM_DATASET = (
    FormField(("workload", "dataset", "name"), "Name", "Name of the data set in the documents.", Text()),
    FormField(("workload", "dataset", "n_samples"), "Samples", "Samples per epoch.", PlainNumber(1.0, 1e15)),
    FormField(
        ("workload", "dataset", "sample_bytes"),
        "Mean sample size",
        "Mean size of one sample on storage.",
        Quantity(BYTES),
        name="Sample size",
    ),
    FormField(
        ("workload", "dataset", "format"),
        "Format",
        "Decoded tensors need no decoding on the host.",
        Dropdown({kind: kind for kind in ("raw files", "records", "decoded tensors")}, "records"),
    ),
)

WORKLOAD_FIELDS = (
    NAME,
    TASK,
    DATASET_BYTES,
    CONFIDENCE,
    *TARGET_FIELDS.values(),
    EPOCHS,
    *LANGUAGE,
    *SERVING,
    *SERVING_LIMITS,
    ENGINE,
    CACHE_PRECISION,
    DOCUMENT_TOKENS,
    PACKING,
    *EXPERT,
    *LANGUAGE_MODEL_FIELDS,
    *CUSTOM_DNN,
    *CUSTOM_DATASET,
)
