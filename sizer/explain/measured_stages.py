"""Parts of a step of a network of MLPerf, as the fit of its published runs has them."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from sizer.base.quantities import NARROW_SPACE, grouped, si, significant
from sizer.explain.inputs import StageInput, number
from sizer.sizing.design.evaluated_design import WorkloadOnDesign
from sizer.sizing.stages import measured_rates
from sizer.sizing.stages.platform_columns import compute_groups

FORMULA = "C = c · m · g · b / (t launch + b · t sample + t inside + t between), t between = 2 (m − 1)/m · E / B server"
_NOTE = "fitted to the runs of MLPerf Training"


@dataclass(frozen=True)
class StepPart:
    """A fitted part of a step."""

    symbol: str
    label: str
    value: float
    unit: str = ""  # ms, B or none

    def text(self, digits: int) -> str:
        """Value with its unit."""
        if self.unit == "B":
            return si(self.value, "B", digits)
        return significant(self.value, digits) + (f"{NARROW_SPACE}{self.unit}" if self.unit else "")


def measured_parts(model: WorkloadOnDesign) -> Iterator[StepPart]:
    """Every fitted part of a step, and how far the size of the design lies from them."""
    group = compute_groups([model.platform])[0][0]
    cols, work = model.run.cols, model.work
    used, nic = int(cols.gpus_per_server[0]), float(cols.exchange_bytes_per_s[0])
    system = measured_rates.system_on(work.mlperf, group, used, nic, model.catalog)
    parts, batch, servers = system.parts(), work.batch_per_gpu, model.n_servers
    step_s = parts.launch_s + batch * parts.sample_s
    yield StepPart("t sample", "Arithmetic and memory traffic of a sample on one GPU", 1e3 * parts.sample_s, "ms")
    yield StepPart("t launch", "Fixed part of a step, independent of the batch", 1e3 * parts.launch_s, "ms")
    if parts.inside_s:
        inside_s = 2 * (used - 1) / used * parts.inside_s
        step_s += inside_s
        yield StepPart("t inside", "Exchange inside a server that computing does not hide", 1e3 * inside_s, "ms")
    if servers > 1:
        step_s += 2 * (servers - 1) / servers * parts.exchange_bytes / nic
        yield StepPart("E", "Bytes between servers that computing does not hide", parts.exchange_bytes, "B")
    modelled = servers * used * batch / step_s
    rate = math.exp(float(system.rate(servers, batch).log))
    yield StepPart("c", "Rate of the published sizes nearby over that of these parts", rate / modelled)


def gpu_inputs(model: WorkloadOnDesign) -> tuple[StageInput, ...]:
    """Inputs of :data:`FORMULA` on a design."""
    cols = model.run.cols
    return (
        StageInput("m, servers", grouped(model.n_servers), note="search"),
        StageInput("g, GPUs of a server that the job uses", number(float(cols.gpus_per_server[0]))),
        StageInput("b, samples per GPU and step", grouped(model.work.batch_per_gpu), note="request, or published"),
        *(
            StageInput(f"{part.symbol}, {part.label[:1].lower()}{part.label[1:]}", part.text(5), note=_NOTE)
            for part in measured_parts(model)
        ),
        StageInput("B server, line rate between servers", si(float(cols.exchange_bytes_per_s[0]), "B/s", 3)),
    )
