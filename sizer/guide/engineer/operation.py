"""Chapter on operation: deployment, failures, maintenance and spare parts."""

from collections.abc import Iterator
from typing import Any

from sizer.base.quantities import by_count, duration
from sizer.guide.context import GuideContext
from sizer.physical.networks.counts import in_band_role
from sizer.present import words
from sizer.present.tables import Table, fact_table
from sizer.present.text.plan import network_name
from sizer.questions.data.analysis import IngestPlan
from sizer.questions.data.text import ENTRY_NAMES
from sizer.questions.failures.text import failures_table, maintenance_table
from sizer.sizing.result import DesignAnswer


def phases_table(design: DesignAnswer, ingest: IngestPlan, has_head: bool) -> Table:
    """Deployment phases in order, each with its completion criterion."""
    phases = enumerate(_phases(design, ingest, has_head), 1)
    rows = ((f"{number}. {name}", work, done) for number, (name, work, done) in phases)
    titles = ("Phase", "Work", "Complete when")
    return fact_table("phases", "Deployment phases", rows, titles=titles, widths=(18, 42, 40), style="")


def _phases(design: DesignAnswer, ingest: IngestPlan, has_head: bool) -> Iterator[tuple[str, str, str]]:
    plan = design.plan
    devices = words.plural(len(plan.devices), "device")
    drawn = any(len(rack.devices) > 1 for rack in plan.racks)
    where = "as shown in the rack elevations" if drawn else "in the lowest units of a rack each"
    if design.is_workstation:
        yield "Place", "Connect the workstation to a wall socket and the LAN", "It starts, and its fans are not covered"
    else:
        yield (
            "Room",
            "Racks in place, both feeds live, cooling running",
            "Each feed alone carries the load given in the chapter on power and racks",
        )
        yield (
            "Racking",
            f"Mount {devices} {where}",
            "Every device is in its planned rack unit, and blanking panels close the open units",
        )
    if plan.n_links:
        yield (
            "Cabling",
            f"Install {words.plural(plan.n_links, 'cable')} from cables.csv; inspect and clean the ends of fibres",
            "Every link runs at its planned rate, and both ends are labelled",
        )
    if has_head:
        yield (
            "Head node",
            "Install a cluster manager, the optional one of the bill or your own, and deploy the servers from it",
            f"All servers boot one image and respond on the {network_name(in_band_role(design.platform))}",
        )
    else:
        yield (
            "System",
            f"Install operating system, drivers and containers on {by_count(design.n_servers, 'the', 'every')} server",
            "The driver lists every GPU",
        )
    if design.storage_nodes:
        yield (
            "Storage",
            "Create the storage cluster, set its protection level, export the file system",
            "Usable capacity equals that in the chapter on data and storage",
        )
    serves = design.only_serves
    data = f"Copy the model weights to {design.platform.storage.name}" if serves else _ingest_text(design, ingest)
    yield "Models" if serves else "Data", data, "Number and total size of the files match the source"
    balanced = [one.serving for one in design.workloads if one.serving is not None and one.serving.replicas > 1]
    if any(one.work.first_token_s is not None for one in balanced):
        where = " that holds its session's prompts" if any(one.prefix_bytes for one in balanced) else ""
        yield (
            "Load balancer",
            f"Register every replica; send each request to the one{where or ' with the fewest in flight'}",
            "A replica that is switched off gets no request" + (", and a session stays at one" if where else ""),
        )
    yield (
        "Acceptance",
        "Run the acceptance tests, from single components to the full system",
        "Every test passes, or the cause of each miss is found and fixed",
    )
    yield (
        "Handover",
        f"{'Brief the operators' if serves else 'Train the users'}; hand over the guide with the measured results",
        "The first requests keep their limits" if serves else "The first user job runs at the accepted rate",
    )


def _ingest_text(design: DesignAnswer, ingest: IngestPlan) -> str:
    """Ingest of the data by the route of the plan, with the shortest time that its links allow."""
    text = f"Copy the data sets to {(design.platform.capacity_storage or design.platform.storage).name}"
    route = ingest.chosen
    if route is None:
        return text
    name = ENTRY_NAMES[route.entry]
    text += f" {name[0].lower()}{name[1:]}"
    if route.published_s is not None:
        return f"{text}; {duration(route.published_s)} at the only published write rate"
    return text if route.least_s is None else f"{text}; at least {duration(route.least_s)}"


def content(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/operation.html`` prints."""
    design = context.design
    return {
        # The guide of a cluster has them.
        "phases": phases_table(design, context.data.ingest, has_head=False) if context.is_single else None,
        "maintenance": maintenance_table(context.failures, serves=context.only_serves),
        "failures": failures_table(context.failures, context.answers),
        "only_serves": context.only_serves,
        "spares": spares(context),
    }


def spares(context: GuideContext) -> list[str]:
    """Spare parts to stock. No source gives failure rates, so quantities depend on the support contract."""
    lines = ["One cable of each type and length in the cable list, and one power cord of each type."]
    head, server = context.head_node, context.design.platform.server
    if head is not None:
        if head.cpu is not None and server.cpu is not None and head.cpu.value == server.cpu.value:
            lines.append("Head node and GPU servers use the same processors and can share spare parts.")
        else:
            lines.append("Head node and GPU servers use different processors: stock processors and memory for both.")
    if context.design.storage_nodes:
        lines.append("Storage drives, in the quantity that the support contract does not replace on the same day.")
    return lines
