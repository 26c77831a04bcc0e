"""Cautions about a design in words."""

from collections.abc import Iterator

from sizer.base import units
from sizer.base.quantities import by_count, grouped, plain, probability_text, si, significant
from sizer.perf.availability.goodput import USUAL_BYTES_PER_GPU
from sizer.physical.capacity import node_limits
from sizer.physical.notes import PlanNoteKind
from sizer.physical.platform import OS_RESERVE_BYTES, page_cache_bytes
from sizer.physical.roles import NetworkRole
from sizer.present import words
from sizer.present.facts.storage_tiers import TIER_CONTENTS, system_text
from sizer.present.text.plan import note_sentences
from sizer.present.words import listed, plural
from sizer.sizing.assumptions import StorageLevelTaken
from sizer.sizing.design.decisions import StorageChoice
from sizer.sizing.design.storage_need import FAR_ABOVE
from sizer.sizing.reasons import (
    BudgetOfPricedLines,
    DesignWarning,
    FewerGpusUsed,
    ManySmallFiles,
    RateNeed,
    StorageDecision,
    StorageNeed,
    UnknownReadRate,
)
from sizer.sizing.result import DesignAnswer
from sizer.sizing.stages.gpu_memory import MemoryAnswer
from sizer.sizing.stages.sharding import Sharding

_SHARDING = {
    Sharding.NONE: "",
    Sharding.OPTIMIZER: "; optimizer state divided over all GPUs, activations recomputed",
    Sharding.STATE: "; weights, gradients and optimizer state divided over all GPUs (FSDP), activations recomputed",
    Sharding.EMBEDDINGS: "; embedding tables divided over all GPUs, trained by plain SGD without optimizer state",
    Sharding.LAYOUT: "; divided as the parallel layout says",
}


def memory_text(memory: MemoryAnswer) -> str:
    """Need, memory and probability of a fit: "9.1 of 16 GiB per GPU; fits: 97 %; largest batch: 285"."""
    need, has = (value / units.GIB for value in (memory.need_bytes, memory.memory_bytes))
    if memory.sharding is Sharding.LAYOUT:
        return (
            f"{plain(need, 3)} of {plain(has, 3)} GiB per GPU; probability that it fits: "
            f"{probability_text(memory.probability)}; "
            f"micro batches of {by_count(memory.largest_batch, 'one sequence', f'{memory.largest_batch} sequences')}"
        )
    fits = f"probability that it fits: {probability_text(memory.probability)}"
    if memory.has_run:
        fits = "your run shows that it fits" if memory.is_guess else "published runs show that it fits"
    # The need is a median; a batch that may take as much as the upper end of a guess still has to fit.
    largest = "largest batch that surely fits" if memory.is_guess else "largest batch that fits"
    again = "; activations recomputed" if memory.is_recomputed else ""
    guess = "; its activations are estimated" if memory.is_guess else ""
    return (
        f"{plain(need, 3)} of {plain(has, 3)} GiB per GPU{guess}; {fits}; "
        f"{largest}: {_rounded_down(memory.largest_batch)}{_SHARDING[memory.sharding]}{again}"
    )


def _rounded_down(batch: int) -> str:
    """A batch to three digits, never above it."""
    unit = 10 ** max(len(str(batch)) - 3, 0)
    return grouped(batch // unit * unit)


def host_memory_sentences(design: DesignAnswer) -> list[str]:
    """Why servers have more than their standard memory; nothing where they have the standard one."""
    platform = design.platform
    option = platform.host_memory
    if option is None:
        return []
    standard = design.plan.catalog.servers[option.server]
    before = 0.0 if standard.memory_bytes is None else standard.memory_bytes.value
    cache = page_cache_bytes(standard, platform.gpus_per_server, platform.gpu)
    held = [
        f"the {si(answer.dataset_bytes, 'B')} of {answer.workload.name}"
        for answer in design.workloads
        if answer.cache_hit_fraction >= 1 and answer.dataset_bytes > cache
    ]
    text = (
        f"Each server has {grouped(option.memory_bytes.value / units.GIB)} GiB of host memory instead of the standard "
        f"{grouped(before / units.GIB)} GiB"
    )
    if not held:
        return [f"{text}, as requested."]
    copies = platform.gpus_per_server * platform.gpu.memory_bytes.value + OS_RESERVE_BYTES
    left = si(cache, "B") if cache > 0 else "nothing"
    return [
        f"{text}: it caches {listed(held)}, so that only the first epoch reads the storage. The standard memory leaves "
        f"{left} for that after {grouped(copies / units.GIB)} GiB for the system and the buffers of the GPUs."
    ]


# What each kind of storage gives and takes.
_STORAGE_TRADE_OFFS = {
    "local": ("Nothing is shared: each server needs its own copy, and every change has to be copied to all of them."),
    "nfs-server": "One access path limits the rate of all readers, and the file server is a single point of failure.",
    "scale-out-nas": (
        "Rate and capacity grow together by the node, so a system sized for one has spare capacity of the other."
    ),
    "parallel-file-system": (
        "Every server runs the client of the file system, which has to be updated with the operating system."
    ),
}

_RATE_NEEDS = {
    RateNeed.READS: "The read rate",
    RateNeed.CHECKPOINTS: "The rate of writing checkpoints",
    RateNeed.LEVEL: "The storage level",
    RateNeed.STATED: "The requested rate of the storage",
    RateNeed.FILES: "The number of files opened a second",
    RateNeed.INGEST: "The rate of writing new data",
    RateNeed.SNAPSHOTS: "The rate of copying snapshots",
    RateNeed.RESTARTS: "The rate of loading a checkpoint at a restart",
    RateNeed.USUAL_CAPACITY: f"The usual capacity of {USUAL_BYTES_PER_GPU / 1e12:.2g} TB a GPU",
}
_USUAL = {
    RateNeed.LEVEL: " (usual for so many GPUs; another level can be stated)",
    RateNeed.USUAL_CAPACITY: " (homes, data and checkpoints of clusters that were built; another one can be stated)",
}
# A system that is fuller leaves hardly room for new data, snapshots and rebuilds.
_FULL = 0.95
_OTHER_TIER = "Name a capacity tier and state what one of its nodes reads, or let the rest stay in an object storage."


def storage_need_sentences(design: DesignAnswer) -> list[str]:
    """What decides the number of nodes; where capacity does, what the reads alone would take and what is cheaper."""
    need = design.storage_need
    if need is None or need.nodes_for_rate is None:
        return []
    full = [] if need.fill_fraction <= _FULL else [_full_text(need)]
    if need.rate_decides:
        usual = _USUAL.get(need.rate_need, "")
        capacity = words.plural(need.nodes_for_capacity, "node")
        of_rate = f"{_RATE_NEEDS[need.rate_need]}{usual} decides the number of storage nodes"
        return [f"{of_rate}, {need.nodes}; what is stored takes {capacity}.", *full]
    if need.decision is not StorageDecision.CAPACITY:
        return full
    name = design.platform.storage.name
    least = need.minimum
    forced = " for capacity" if least is None else f" for the requested {si(least.minimum_bytes, 'B')} usable"
    sentences = [
        f"Capacity decides the storage: {words.plural(need.nodes_for_capacity, 'node')} of {name}{forced}, "
        f"{need.nodes_for_rate} would do for performance."
    ]
    if need.rate_need is not RateNeed.STATED:  # beside a stated rate the share that trainings read says nothing
        used = words.percent(need.load_fraction)
        sentences[0] += f" Reads at the required rate use {used} of what the nodes deliver."
    drives, tier = need.larger_drives, need.capacity_tier
    if least is not None:
        sentences.append(
            f"Without that minimum, {words.plural(least.nodes_for_stored, 'node')} would hold the "
            f"{si(least.stored_bytes, 'B')} that are stored."
        )
    if drives is not None:
        held = "hold the data" if least is None else "have this capacity"
        sentences.append(f"With drives of {drives.drives}, {words.plural(drives.nodes, 'node')} {held}.")
    if tier is not None:
        sentences.append(
            f"Cheaper, if at most {si(tier.performance_bytes, 'B')} are read at full rate at a time: "
            f"{words.plural(tier.performance_nodes, 'node')} of {name} for performance and "
            f"{words.plural(tier.nodes, 'node')} of {tier.name} ({tier.drives}) as capacity tier."
        )
    if need.nodes_for_rate <= FAR_ABOVE * need.nodes_for_capacity and design.platform.second_tier is None:
        sentences.append(
            f"No second tier with published rates makes it better. {_OTHER_TIER}"
            if need.has_working_set
            else "State the working set, which is what trainings read for some days, and two tiers are sized; the rest "
            "may also stay in an object storage."
        )
    return [*sentences, *full]


def _full_text(need: StorageNeed) -> str:
    return f"The data fill {words.percent(need.fill_fraction)} of the usable capacity: ask for a reserve if they grow."


def storage_texts(choice: StorageChoice, design: DesignAnswer) -> list[str]:
    """The number that decided, sentence by sentence."""
    texts = []
    reads = si(choice.read_bytes_per_s, "B/s")
    if design.only_serves:
        texts.append("Requests read nothing from it; each replica loads its weights from it when it starts.")
    elif choice.low_bytes_per_s is None or choice.high_bytes_per_s is None:
        texts.append(f"The workload reads up to {reads}. No published read rate of this storage was found: measure it.")
    elif choice.low_bytes_per_s != choice.high_bytes_per_s:
        low, high = si(choice.low_bytes_per_s, "B/s"), si(choice.high_bytes_per_s, "B/s")
        share = words.percent(choice.read_bytes_per_s / choice.low_bytes_per_s)
        most = f"an upper bound of {high} is assumed" if choice.high_is_assumed else f"the vendor states {high}"
        known = "assumed until a test is published" if choice.low_is_assumed else "demonstrated in tests"
        if choice.read_bytes_per_s > choice.low_bytes_per_s:
            end = (
                f"an assumed upper bound of {high}" if choice.high_is_assumed else f"the {high} that the vendor states"
            )
            texts.append(f"The workload reads up to {reads}, between the {low} {known} and {end}.")
        else:
            texts.append(f"The workload reads up to {reads}, {share} of the {low} {known}; {most}.")
    else:
        low = si(choice.low_bytes_per_s, "B/s")
        share = words.percent(choice.read_bytes_per_s / choice.low_bytes_per_s)
        texts.append(f"The workload reads up to {reads}, {share} of the {low} that the storage delivers.")
    for tier in choice.tiers:
        if tier.usable_bytes > 0:
            fill = words.percent(tier.required_bytes / tier.usable_bytes)
            data, usable = si(tier.required_bytes, "B"), si(tier.usable_bytes, "B")
            held = f"The {TIER_CONTENTS.get(tier.content, 'data')} of {data} fill {fill} of {usable} usable"
            where = f" on {system_text(tier)}" if len(choice.tiers) > 1 else ""
            texts.append(f"{held}{where}.")
    need = choice.need
    if need is not None:
        nodes = words.plural(need.nodes, "node")
        if need.decision is StorageDecision.RATE:
            for_capacity = f", the capacity {words.plural(need.nodes_for_capacity, 'node')}"
            if 1 < need.nodes_for_capacity <= need.smallest_nodes:
                for_capacity = f"; the data fit the smallest system, {words.plural(need.smallest_nodes, 'node')}"
            level = choice.level if need.rate_need is RateNeed.LEVEL else None
            of = "" if level is None else _level_text(level)
            texts.append(f"{_RATE_NEEDS[need.rate_need]}{of} decides: it takes {nodes}{for_capacity}.")
            server = choice.file_server_bytes_per_s
            if level is not None and server is not None and level.read_bytes_per_s > server:
                texts.append(
                    f"One file server, assumed to read {si(server, 'B/s')} until a test is published, is below this "
                    "level. The level is a usual size: no target depends on it."
                )
        elif need.decision is StorageDecision.CAPACITY:
            texts += storage_need_sentences(design)
        elif need.nodes_for_rate == need.nodes_for_capacity == need.nodes:
            texts.append(f"The smallest system, {nodes}, is enough for both rate and capacity.")
    return texts


def storage_trade_off(choice: StorageChoice, design: DesignAnswer) -> str:
    """What the choice costs."""
    text = _STORAGE_TRADE_OFFS[design.platform.storage.kind]
    most = node_limits(design.platform.storage)[1]
    if choice.need is not None and choice.nodes_per_step > 1 and choice.need.nodes < most:
        text += f" It grows by {words.plural(choice.nodes_per_step, 'node')} at a time."
    return text


def _level_text(level: StorageLevelTaken) -> str:
    """A storage level that was taken because the request names none."""
    read, write = si(level.read_bytes_per_s, "B/s"), si(level.write_bytes_per_s, "B/s")
    return f" “{level.level}” of the DGX SuperPOD, {read} of reads and {write} of writes for so many GPUs,"


def design_warnings(design: DesignAnswer) -> list[str]:
    """Cautions about a design, its parts and its plan; one sentence or two each."""
    # What the loss of a feed stops is said with the feeds.
    notes = [note for note in design.plan.warnings if note.kind is not PlanNoteKind.FEW_SUPPLIES]
    # What models in use read is said with their start.
    of_parts = [
        note for note in design.quantities.notes if not (design.only_serves and note.kind is PlanNoteKind.LOCAL_COPIES)
    ]
    own = [_warning_text(warning, design) for warning in design.warnings]
    return [
        *storage_need_sentences(design),
        *host_memory_sentences(design),
        *_full_switch_texts(design),
        *own,
        *note_sentences((*of_parts, *notes)),
    ]


def _full_switch_texts(design: DesignAnswer) -> Iterator[str]:
    """That a network of one switch a rail has no ports for a further server."""
    for net in design.quantities.networks:
        devices, rails = int(net.leaves[0] + net.spines[0] + net.cores[0]), net.rails
        free, each = int(net.leaf_ports_free[0]), int(net.end_points[0]) // design.n_servers
        if net.role in (NetworkRole.COMPUTE, NetworkRole.STORAGE) and devices == rails and free < each and net.switch:
            name = design.plan.catalog.item(net.switch).name
            yield (
                f"The {by_count(rails, 'only switch', f'{rails} switches')} of the {net.role} ({name}) "
                f"{by_count(rails, 'has', 'have')} {plural(free, 'free port')}, and a further server takes {each}: "
                f"growth takes another level of switches and new cables. Keep ports free with fabric.spare_servers."
            )


def _warning_text(warning: DesignWarning, design: DesignAnswer) -> str:
    match warning:
        case UnknownReadRate():
            return (
                f"Our catalogue has no read rate of {design.platform.storage.name}: its storage figures are upper "
                "bounds at the line rate of its ports. Measure the rate, or ask the vendor."
            )
        case FewerGpusUsed(n_gpus):
            return f"The job uses {n_gpus} of the {design.platform.gpus_per_server} GPUs of each server."
        case ManySmallFiles(name, files, each):
            place = "server" if design.platform.storage.kind == "local" else "storage node"
            return (
                f"{name} opens {significant(files)} small files a second, {significant(each)} on each {place}: file "
                "systems usually open a few thousand. Pack the files into records, or measure file opens per second "
                "before ordering."
            )
        case BudgetOfPricedLines():
            return "The budget is compared with the priced lines only; lines that need a quote are additional."
