"""GPUs of a compute node in their places, the links between them, and the PCIe lines that reach each of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

from sizer.drawings.node_facts import Part
from sizer.drawings.parts import LINE_SIZE, small_room
from sizer.drawings.shapes import Box, Link, text_width

Point = tuple[float, float]

NVLINK_STROKE, PCIE_STROKE = 2.2, 0.9
_GPU_H = 32.0
# Hybrid cube mesh and fully connected four: a grid with room for the links between the boxes.
_MESH_W, _MESH_GAP = 60.0, 48.0
_FULL_W, _FULL_GAP_X, _FULL_GAP_Y = 92.0, 96.0, 48.0
# GPU numbers of the mesh by row and column. The second four are mirrored, so that links between partners stay short.
_MESH_ROWS = ((0, 1, 5, 4), (2, 3, 7, 6))
_PARTNER = 4  # GPU n of the first four is joined to GPU n + 4
# Rows of GPUs on a bus: room for a PCIe lane on the left of each box and an NVLink lane on its right.
_ROW_GAP, _ROW_STEP, _LANE = 9.0, 20.0, 3.0
_MOST_IN_A_ROW = 10
_ROW_LENGTH = 8
_BAR_H, _BAR_GAP = 36.0, 26.0
# How far a PCIe line runs beside a box of the mesh, and an NVLink above or below a row of it.
_BESIDE, _AROUND = 6.0, 13.0


@dataclass
class Placed:
    """Boxes and links of the GPUs; ``bottom`` is where they end."""

    boxes: list[Box] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    bottom: float = 0.0

    def box(self, number: int) -> Box:
        """Box of a GPU."""
        return next(box for box in self.boxes if box.id == gpu_id(number))

    def nvlink(self, one: Box, other: Box, *points: Point) -> None:
        """Link between two GPUs, or between a GPU and the switches."""
        self.links.append(Link(f"{one.id}--{other.id}", one.id, other.id, points, NVLINK_STROKE, "exchange"))

    def pcie(self, source: Box, gpu: Box, *points: Point) -> None:
        """PCIe line from a box above all GPUs, whose lower edge it leaves at the first point's x."""
        way = ((points[0][0], source.bottom), *points)
        self.links.append(Link(f"{source.id}--{gpu.id}", source.id, gpu.id, way, PCIE_STROKE, "other"))


def gpu_id(number: int) -> str:
    """Name of a GPU's box."""
    return f"gpu-{number}"


def _gpu(number: int, x: float, y: float, width: float) -> Box:
    title = f"GPU {number}"
    if text_width(title, LINE_SIZE) > small_room(width):
        title = str(number)
    return Box(gpu_id(number), x, y, width, _GPU_H, title, role="gpu", small=True)


def cube_mesh(source: Box, left: float, width: float, top: float) -> Placed:
    """Eight GPUs as a hybrid cube mesh: two fully connected fours, and one pair between each two partners.

    The name stands for a cube with a GPU at each corner, all twelve edges joined and the diagonals of two opposite
    faces: 16 pairs (NVIDIA, "DGX-1 with Tesla V100 system architecture", white paper). That a DGX-1 is built so is in
    dell-isilon-dgx1-blog-2018, runai-dgx and zhihu-nvlink; which pairs hold two links is in none of them.
    """
    found = Placed()
    start = left + (width - 4 * _MESH_W - 3 * _MESH_GAP) / 2
    first = top + 2 * _AROUND
    for row, numbers in enumerate(_MESH_ROWS):
        for column, number in enumerate(numbers):
            x, y = start + column * (_MESH_W + _MESH_GAP), first + row * (_GPU_H + _MESH_GAP)
            found.boxes.append(_gpu(number, x, y, _MESH_W))
    for four in (range(_PARTNER), range(_PARTNER, 2 * _PARTNER)):
        _join_all(found, four)
    for number in range(_PARTNER):
        _join_partners(found, number)
    _pcie_of_grid(found, source)
    found.bottom = found.box(_PARTNER).bottom + _MESH_GAP + _GPU_H + _AROUND
    return found


def _join_partners(found: Placed, number: int) -> None:
    """Straight where the partners are neighbours, else round the boxes between them."""
    one, other = found.box(number), found.box(number + _PARTNER)
    if number % 2:
        y = one.y + _GPU_H / 2
        found.nvlink(one, other, (one.right, y), (other.x, y))
        return
    is_upper = number == 0
    edge, y = (one.y, one.y - _AROUND) if is_upper else (one.bottom, one.bottom + _AROUND)
    start, end = one.centre_x + _AROUND, other.centre_x - _AROUND
    found.nvlink(one, other, (start, edge), (start, y), (end, y), (end, edge))


def fully_connected(source: Box, n_gpus: int, left: float, width: float, top: float) -> Placed:
    """Up to four GPUs, each joined to every other."""
    found = Placed()
    start = left + (width - 2 * _FULL_W - _FULL_GAP_X) / 2
    for number in range(n_gpus):
        x, y = start + number % 2 * (_FULL_W + _FULL_GAP_X), top + number // 2 * (_GPU_H + _FULL_GAP_Y)
        found.boxes.append(_gpu(number, x, y, _FULL_W))
    _join_all(found, range(n_gpus))
    _pcie_of_grid(found, source)
    found.bottom = max(box.bottom for box in found.boxes)
    return found


def _join_all(found: Placed, numbers: Sequence[int]) -> None:
    """Link every pair of a square of GPUs: sides from edge to edge, diagonals from corner to corner."""
    for one, other in combinations((found.box(number) for number in numbers), 2):
        if one.y == other.y:
            first, second = (one, other) if one.x < other.x else (other, one)
            y = one.y + _GPU_H / 2
            found.nvlink(first, second, (first.right, y), (second.x, y))
        elif one.x == other.x:
            found.nvlink(one, other, (one.centre_x, one.bottom), (one.centre_x, other.y))
        else:
            is_right = other.x > one.x
            ends = (one.right, other.x) if is_right else (one.x, other.right)
            found.nvlink(one, other, (ends[0], one.bottom), (ends[1], other.y))


def _pcie_of_grid(found: Placed, source: Box) -> None:
    """Straight down to the upper row; beside the columns to the lower one, on the side away from its square."""
    tops = min(box.y for box in found.boxes)
    columns = sorted({box.x for box in found.boxes})
    for box in found.boxes:
        if box.y == tops:
            found.pcie(source, box, (box.centre_x, box.y))
            continue
        y = box.y + _GPU_H / 2
        on_left = columns.index(box.x) % 2 == 0
        x, edge = (box.x - _BESIDE, box.x) if on_left else (box.right + _BESIDE, box.right)
        found.pcie(source, box, (x, y), (edge, y))


def in_rows(source: Box, n_gpus: int, left: float, width: float, top: float, bus: Part | None) -> Placed:
    """GPUs side by side, in rows of eight where they are many; below them what joins them all, if anything does."""
    found = Placed()
    length = n_gpus if n_gpus <= _MOST_IN_A_ROW else _ROW_LENGTH
    wide = min((width - length * _ROW_GAP) / length, _FULL_W)
    start = left + (width - length * (wide + _ROW_GAP) + _ROW_GAP) / 2
    for number in range(n_gpus):
        x, y = start + number % length * (wide + _ROW_GAP), top + number // length * (_GPU_H + _ROW_STEP)
        found.boxes.append(_gpu(number, x, y, wide))
    gpus = tuple(found.boxes)
    for box in gpus:
        y = box.y + _GPU_H / 2
        way = ((box.centre_x, box.y),) if box.y == top else ((box.x - _LANE, y), (box.x, y))
        found.pcie(source, box, *way)
    found.bottom = max(box.bottom for box in gpus)
    if bus is not None:
        _bus(found, gpus, bus, start, length * (wide + _ROW_GAP) - _ROW_GAP)
    return found


def _bus(found: Placed, gpus: Sequence[Box], part: Part, x: float, width: float) -> None:
    lowest = found.bottom
    # Lanes of the upper rows end beside the last column.
    width += 2 * _LANE if len({box.y for box in gpus}) > 1 else 0.0
    bar = Box("nvlink", x, lowest + _BAR_GAP, width, _BAR_H, part.title, part.lines, "exchange")
    found.boxes.append(bar)
    for box in gpus:
        y, lane = box.y + _GPU_H / 2, box.right + _LANE
        if box.bottom == lowest:
            found.nvlink(box, bar, (box.centre_x, box.bottom), (box.centre_x, bar.y))
        else:
            found.nvlink(box, bar, (box.right, y), (lane, y), (lane, bar.y))
    found.bottom = bar.bottom
