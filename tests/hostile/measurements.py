"""Files of measurements for ``sizer validate``: damaged, endless, or with characters that end the renderer."""

from sizer.calibrate.observations import COLUMNS
from tests.hostile.harness import Entry, command

_HEAD = ",".join(COLUMNS)
_ROW = {
    **dict.fromkeys(COLUMNS, ""),
    "id": "a",
    "source": "b",
    "where": "c",
    "basis": "table",
    "task": "training",
    "dnn": "resnet50",
    "framework": "tensorflow",
    "software": "tf",
    "precision": "mixed",
    "gpu": "v100-sxm2-16gb",
    "server": "dgx-1",
    "servers": "1",
    "gpus": "8",
    "data": "synthetic",
    "quantity": "samples_per_s",
    "value": "6000",
}
_REPORT = ("validate", "rows.csv", "--json")


def _text(**changes: str) -> str:
    return f"{_HEAD}\n{','.join({**_ROW, **changes}.values())}\n"


def _checked(name: str, text: str | bytes, *says: str, status: int = 6) -> Entry:
    return Entry(name, command, _REPORT, {"rows.csv": text}, status, says)


ENTRIES = (
    *(
        _checked(f"{name} in {column}", _text(**{column: f"a{character}b"}), "rows.csv:2", column, "U+")
        for name, character in (("bell", "\x07"), ("escape", "\x1b"), ("reversal", "\u202e"), ("none", "\ufffe"))
        for column in ("id", "source", "where", "software", "server", "notes")
    ),
    *(
        _checked(f"a value of {value!r}", _text(value=value), "rows.csv:2", "value")
        for value in ("", "nan", "inf", "-1", "1e300", "1_000", "=1+1", "6000 images/s")
    ),
    _checked("empty", "", "rows.csv:1", "column"),
    _checked("binary", bytes(range(256)), "UTF-8"),
    _checked("an open quote", f'{_HEAD}\n"a,b\n', "rows.csv:2", "quotation mark"),
    _checked("twenty-one megabytes", b"x" * 21_000_000, "larger than"),
    _checked("the same row twice", _text() + _text().splitlines()[1] + "\n", "used by", "unique"),
    _checked("a cell of 10,000 letters", _text(notes="x" * 10_000), "notes", "longer than"),
    Entry("a device", command, ("validate", "/dev/zero"), {}, 6, ("/dev/zero", "a device or a pipe; give a file")),
    Entry("no such file", command, ("validate", "missing.csv"), {}, 6, ("missing.csv", "cannot be read")),
)
