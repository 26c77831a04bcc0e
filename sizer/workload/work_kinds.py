"""Kinds of workload: what differs between them, read by code that serves all of them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class WorkKind:
    """One kind of workload."""

    name: str
    is_laid_out: bool  # a layout divides the model over the GPUs, and sets its rate, memory and batch
    reads_data: bool  # samples come from the storage; requests of users come from the network
    has_files: bool  # a sample is a file of its own where the data set says so; of tokens many lie in one
    # Share of the reads after the first epoch that a server's cache serves; None: that depends on its memory.
    cache_hits: float | None
    trains_language: bool  # its rate is one over days, checkpoints and restarts included; a stack and a layout set it
    compares_one_gpu: bool  # its scaling is shown against one GPU, which holds the model; else the fewest servers

    @property
    def rereads(self) -> bool:
        """Whether epochs after the first read the same samples, which a cache may hold."""
        return self.cache_hits is None


# Vision, speech, recommenders: epochs read the same samples again, and each GPU holds the model.
NETWORK = WorkKind("network", False, True, True, None, False, True)
# Training of a language model: every token is read once.
LANGUAGE = WorkKind("language", True, True, False, 0.0, True, False)
# A language model in use: its weights are read when a server starts.
SERVING = WorkKind("serving", True, False, False, 1.0, False, True)


def kind_of(*, trains_language: bool, serves: bool) -> WorkKind:
    """The kind of a workload."""
    return LANGUAGE if trains_language else SERVING if serves else NETWORK
