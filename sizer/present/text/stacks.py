"""The default software stack of a workload in words: why it was taken and what it is worth."""

from sizer.base.quantities import by_count, grouped
from sizer.sizing.result import StackAlternative, WorkloadAnswer
from sizer.workload.stack_choice import StackEvidence

_EVIDENCE = {
    StackEvidence.NETWORK: "the newest stack measured with this network",
    StackEvidence.FAMILY: "the newest stack measured with networks of this family",
    StackEvidence.FEW_RATES: "the newest stack measured with this network or its family; few rates are published",
    StackEvidence.FRAMEWORK: "the newest stack of a framework that was measured with this network or its family",
    StackEvidence.SEVERAL_FAMILIES: "the newest stack measured with several kinds of network, but not with this one",
    StackEvidence.NONE: "the newest stack in the catalogue; it has no published rate of this network",
    StackEvidence.OWN_CODE: "what most people train networks of their own with",
}


def default_stack_texts(answer: WorkloadAnswer) -> tuple[str, ...]:
    """Why the stack is the default, and servers with the others; empty where the request names the stack."""
    choice, default, older = answer.stack_choice, answer.stack_default, answer.rate_stack
    if older is not None:
        derived = f"the rate is derived from published runs of {older.name} ({older.released.value})"
        if choice is None:
            return (f"{older.name} is older than the GPU and does not run on it: {derived}; use {answer.stack.name}.",)
        return (f"Software: {answer.stack.name}; {derived}. State yours.",)
    if choice is None:
        return ()
    reason = (
        f"Default software stack: {answer.stack.name} ({answer.stack.released.value}), {_EVIDENCE[choice.evidence]}."
    )
    if default is None or not default.alternatives:
        return (f"{reason} State yours if it is another.",)
    worth = [
        f"It needs {_servers(default.n_servers)}",
        *(f"{_kind(other, answer)} needs {_servers(other.n_servers)}" for other in default.alternatives),
    ]
    return (f"{reason} {'; '.join(worth)}. State yours if it is another.",)


def stack_worth_text(answer: WorkloadAnswer) -> str:
    """The stack of a workload, and what the choice is worth in servers: one sentence or two.

    Of a language model the best measured stack is the default, and its alternatives are compared under Performance.
    """
    if answer.rate_stack is not None:
        return default_stack_texts(answer)[0]
    named = f"{answer.workload.name} runs on {answer.stack.name} ({answer.stack.released.value})."
    default = answer.stack_default
    if answer.workload.stack is not None:
        return f"{named} The request names this software stack."
    if default is None or not default.alternatives:
        return f"{named} It is the default software stack."
    oldest, *faster = default.alternatives
    worth = f"With {oldest.stack.name} ({oldest.stack.released.value}) the request needs {_servers(oldest.n_servers)}"
    others = "".join(f", with {one.stack.name} {_servers(one.n_servers)}" for one in faster)
    return f"{named} It is the default software stack. {worth}{others} instead of {_servers(default.n_servers)}."


def _kind(other: StackAlternative, answer: WorkloadAnswer) -> str:
    assert answer.stack_default is not None  # it holds the alternative
    is_oldest = other is answer.stack_default.alternatives[0]
    kind = "the oldest one measured as well" if is_oldest else "the fastest one"
    return f"{kind}, {other.stack.name} ({other.stack.released.value}),"


def _servers(count: int | None) -> str:
    if count is None:
        return "more than four times as many servers"
    return by_count(count, "one server", f"{grouped(count)} servers")
