"""Fields of a language model of one's own, and of what is fixed of its parallel layout."""

from sizer.ui.request_form.field import Checkbox, Count, Dropdown, FormField, PlainNumber, Text

_DNN, _LAYOUT = ("workload", "dnn"), ("workload", "layout")

MODEL_NAME = FormField((*_DNN, "name"), "Name", "Name of the model in the documents.", Text())
PARAMETERS = FormField(
    (*_DNN, "parameters"),
    "Parameters",
    "A usual dense decoder of this size: 13e9 for 13 billion.",
    PlainNumber(1e6, 1e13),
)
SHAPE = (
    FormField((*_DNN, "layers"), "Layers", "Transformer blocks.", Count(10_000)),
    FormField((*_DNN, "hidden"), "Hidden size", "Width of the model.", Count(1_000_000, 16)),
    FormField((*_DNN, "heads"), "Attention heads", "Default: heads of 128.", Count(10_000), "hidden / 128"),
    FormField(
        (*_DNN, "kv_heads"),
        "Heads of keys and values",
        "Fewer than attention heads where these share them (GQA). Default: as many.",
        Count(10_000),
        "attention heads",
    ),
    FormField(
        (*_DNN, "ffn"),
        "Feed-forward size",
        "Inner width of a block. Default: 3.5 times the hidden size.",
        Count(10_000_000, 16),
        "3.5 × hidden",
    ),
    FormField((*_DNN, "vocabulary"), "Vocabulary", "Tokens of the vocabulary.", Count(10_000_000, 2), "128256"),
)
EXPERTS = (
    FormField((*_DNN, "experts"), "Experts", "Of a mixture. Default: a dense model.", Count(100_000), "1"),
    FormField(
        (*_DNN, "active_experts"), "Experts of a token", "How many experts each token is routed to.", Count(10_000), "1"
    ),
    FormField((*_DNN, "expert_ffn"), "Width of an expert", "Inner width.", Count(10_000_000), "feed-forward"),
    FormField((*_DNN, "shared_experts"), "Shared experts", "Used by every token.", Count(1000, 0), "0"),
)
_SHARDING = {
    "": "as the software stack does",
    "none": "nothing",
    "optimizer": "optimizer state (ZeRO 1)",
    "all": "all state (FSDP, ZeRO 3)",
}
_RECOMPUTE = {"": "the least that fits", "none": "none", "selective": "selective", "full": "full"}
LAYOUT = (
    FormField((*_LAYOUT, "tensor"), "Tensor parallelism", "GPUs that share each layer.", Count(131_072), "searched"),
    FormField((*_LAYOUT, "pipeline"), "Pipeline stages", "Groups of layers.", Count(131_072), "searched"),
    FormField((*_LAYOUT, "chunks"), "Chunks of a stage", "Virtual pipeline, interleaved.", Count(131_072), "searched"),
    FormField((*_LAYOUT, "context"), "Context parallelism", "GPUs that share a sequence.", Count(131_072), "searched"),
    FormField((*_LAYOUT, "expert"), "Expert parallelism", "GPUs that share the experts.", Count(131_072), "searched"),
    FormField((*_LAYOUT, "data"), "Data parallelism", "Replicas of the model.", Count(131_072), "searched"),
    FormField((*_LAYOUT, "micro_batch"), "Micro batch", "Sequences at a time.", Count(131_072), "searched"),
    FormField((*_LAYOUT, "sharding"), "Divided over replicas", "State of the training.", Dropdown(_SHARDING)),
    FormField((*_LAYOUT, "recompute"), "Recomputed activations", "Saves memory, takes time.", Dropdown(_RECOMPUTE)),
    FormField(
        (*_LAYOUT, "across_servers"),
        "Tensor parallelism across servers",
        "Over more GPUs than NVLink connects; two to four times slower.",
        Checkbox(),
    ),
)
LANGUAGE_MODEL_FIELDS = (*SHAPE, *EXPERTS, *LAYOUT)
