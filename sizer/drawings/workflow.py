"""From labelled data to a validated model, and the hardware of the design that each step uses.

The steps and the way back from validation to training are those of dell-isilon-dgx1-blog-2018; production inference is
out of scope there and here.
"""

from collections.abc import Iterator
from itertools import pairwise

from sizer.base.quantities import by_count, grouped
from sizer.catalog.sample_formats import HOST_STEPS, SampleFormat
from sizer.drawings.cluster import Cluster
from sizer.drawings.palette import COLUMN_PX
from sizer.drawings.parts import LINE_SIZE, TITLE_SIZE
from sizer.drawings.shapes import Box, Drawing, Label, Link, wrapped
from sizer.sizing.result import DesignAnswer

_GAP, _EDGE = 22.0, 1.0
_TOP, _LEAST_H, _LINE_H, _TITLE_H = 6.0, 110.0, 12.6, 13.7
# The way forth from the top of the boxes, the way back from their lower end, and how far it runs below them.
_FORTH, _BACK, _BELOW = 24.0, 16.0, 22.0
# Room that a box keeps left and right of its text, as well as above and below it, and lines that are never passed.
_SIDES, _MAX_LINES = 22.0, 12
_STROKE = 1.4
NO_BREAK = "\u00a0"
_TEXT = 9.5


def workflow(design: DesignAnswer) -> Drawing:
    """Drawing of the workflow on a design.

    ``design``: its storage, processors and GPUs are named at the steps that use them.
    """
    steps = _Steps(design)
    parts = [
        ("ingest", "Ingest", steps.ingest(), "storage", False),
        ("transform", "Transform", steps.transform(), "decode", False),
        ("train", "Train", steps.train(), "gpu", not steps.trains),
        ("validate", "Validate", steps.validate(), "gpu", False),
        (
            "inference",
            "Production inference",
            ["out of scope: single requests, served by other systems"],
            "hairline",
            True,
        ),
    ]
    width = (COLUMN_PX - 2 * _EDGE - (len(parts) - 1) * _GAP) / len(parts)
    said = [wrapped("; ".join(lines), LINE_SIZE, width - _SIDES, max_lines=_MAX_LINES) for _, _, lines, _, _ in parts]
    titles = [wrapped(title, TITLE_SIZE, width - _SIDES, semibold=True, max_lines=2) for _, title, *_ in parts]
    texts = [_TITLE_H * len(title) + _LINE_H * len(lines) for title, lines in zip(titles, said, strict=True)]
    height = max(_LEAST_H, _SIDES + max(texts))
    boxes = [
        Box(id_, _EDGE + place * (width + _GAP), _TOP, width, height, title, said[place], role, quiet=quiet)
        for place, (id_, title, _, role, quiet) in enumerate(parts)
    ]
    links = [_forth(one, other) for one, other in pairwise(boxes)]
    labels: tuple[Label, ...] = ()
    bottom = _TOP + height + 4
    if steps.trains:
        train, validate = boxes[2], boxes[3]
        links.append(_back(validate, train))
        middle = (train.centre_x + validate.centre_x) / 2
        text = f"again, until {steps.end()}"
        labels = (Label(middle, train.bottom + _BELOW + 12, text, _TEXT, "muted", anchor="middle"),)
        bottom = train.bottom + _BELOW + 20
    return Drawing(COLUMN_PX, bottom, _title(design, steps), tuple(boxes), tuple(links), (), labels)


def _forth(one: Box, other: Box) -> Link:
    y = _TOP + _FORTH
    is_outside = other.id == "inference"
    return Link(
        f"{one.id}--{other.id}",
        one.id,
        other.id,
        ((one.right + 1, y), (other.x - 1, y)),
        _STROKE,
        "muted",
        dashed=is_outside,
        arrow=True,
    )


def _back(validate: Box, train: Box) -> Link:
    """Below both boxes and into the left of the training, where an arrow points on."""
    x, y = train.x - _GAP / 2, train.bottom + _BELOW
    start = validate.centre_x
    end = train.bottom - _BACK
    way = ((start, validate.bottom), (start, y), (x, y), (x, end), (train.x - 1, end))
    return Link("validate--train", validate.id, train.id, way, _STROKE, "muted", arrow=True)


def _title(design: DesignAnswer, steps: "_Steps") -> str:
    n_gpus = gpus_at_work(design)
    count = grouped(n_gpus) if n_gpus == design.n_gpus else f"{grouped(n_gpus)} of {grouped(design.n_gpus)}"
    gpus = by_count(design.n_gpus, "the one GPU", f"the same {count} GPUs")
    if steps.trains:
        return f"Training and validation run on {gpus}; production inference is out of scope"
    validates = by_count(n_gpus, "one GPU validates", f"{grouped(n_gpus)} GPUs validate")
    return f"{validates[0].upper() + validates[1:]} trained models here; training is not asked of this design"


def gpus_at_work(design: DesignAnswer) -> int:
    """GPUs that the workload with the most of them runs on; others are spare."""
    return max(design.gpus_at_work(answer) for answer in design.workloads)


class _Steps:
    """What each step uses of a design."""

    def __init__(self, design: DesignAnswer) -> None:
        self.design, self.cluster = design, Cluster(design)
        tasks = {answer.workload.task for answer in design.workloads}
        self.trains = "training" in tasks

    def ingest(self) -> Iterator[str]:
        """Where the labelled data go."""
        platform = self.design.platform
        if platform.attachment == "local":
            yield f"into the local drives of each server: {platform.storage.name}"
        elif self.cluster.head_serves_files:
            yield "onto the head node, which serves the files"
        elif platform.attachment == "lan":
            yield f"into {platform.storage.name}, existing"
        else:
            yield f"into {self.cluster.storage_title()}"
        if platform.gateway is not None and self.cluster.count("gateway"):
            yield f"through the gateway {platform.gateway.name}"

    def transform(self) -> Iterator[str]:
        """What happens to samples on their way: beforehand, on the hosts, or on the GPUs."""
        answers = self.design.workloads
        formats = {answer.sample_format for answer in answers}
        images = formats & {SampleFormat.JPEG, SampleFormat.SLIDES}
        loaders = {answer.stack.loader for answer in answers if answer.sample_format in images}
        if SampleFormat.TENSORS in formats:
            yield "in advance; decoded tensors are stored"
        if "dali" in loaders:
            yield "during training: decode on the GPUs"
        if loaders - {"dali"}:
            yield f"during training: decode, crop and scale on the processors of {self._servers()}"
        for found in sorted(formats - images - {SampleFormat.TENSORS}):
            yield f"during training: {HOST_STEPS[found]} on the processors of {self._servers()}"

    def train(self) -> Iterator[str]:
        """GPUs, and what carries the gradients."""
        if not self.trains:
            yield "not asked of this design"
            return
        design = self.design
        yield self._gpus()
        if design.n_servers > 1:
            yield f"gradients over {design.platform.fabric.name.replace(' ', NO_BREAK)}"
        elif design.n_gpus > 1:
            yield "gradients stay in the server"

    def validate(self) -> Iterator[str]:
        """The forward pass over data that training has not seen."""
        if not self.trains:
            yield self._gpus()
        yield "forward pass only" if not self.trains else "the same GPUs, forward pass only"
        yield "held-back samples from the storage"

    def end(self) -> str:
        """What ends the training: a number of tokens, an accuracy, or either of several workloads."""
        trained = [answer for answer in self.design.workloads if answer.workload.task == "training"]
        tokens = [not answer.kind.rereads for answer in trained]
        if all(tokens):
            return "all tokens are read"
        return "tokens are read or the accuracy is reached" if any(tokens) else "the accuracy is reached"

    def _gpus(self) -> str:
        return f"{grouped(gpus_at_work(self.design))}{NO_BREAK}× {self.design.platform.gpu.name}"

    def _servers(self) -> str:
        server = self.design.platform.server
        count = self.design.n_servers
        return f"{grouped(count)}{NO_BREAK}× {server.name}" if count > 1 else server.name
