"""Runs hostile inputs, each in a process of its own with limits, and looks at what is left of it.

An :class:`Entry` is one input: the files that it puts into an empty folder, what is called there, and the status and
the words that it must end with. The tables of entries stand in the modules beside this one, one for each surface.
Processes are forked from a parent that has imported everything, so that an entry costs what it does and no start.
"""

import faulthandler
import json
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from unicodedata import category

from sizer.base.errors import SizerError
from sizer.cli import main


# The kernel ends an entry that computes longer, and refuses more memory: limits, no measurements. RLIMIT_DATA counts
# what a process may write; RLIMIT_AS would count the 4 GB of addresses that the chart engine reserves and never uses.
@dataclass(frozen=True)
class Limits:
    """What an entry may take."""

    cpu_s: int = 20
    most_bytes: int = 1_000_000_000
    # An entry that waits for something is ended as well, however slow the machine.
    wait_s: float = 60


_USUAL_LIMITS = Limits()
# A message is read on a terminal: at most this many lines (faults of a request or overlay, one a line).
_MOST_LINES = 30
_LONGEST_MESSAGE = 6_000
_NO_FILES: Mapping[str, str | bytes] = {}


@dataclass(frozen=True)
class Entry:
    """One hostile input.

    Attributes
    ----------
    name : str
        Unique in its table.
    call : callable
        What runs in the folder, with ``argument``; a function of a module, so that a process can be told of it.
    argument : object
        Of the call, such as the arguments of the command.
    files : mapping of str to (str or bytes)
        Put into the folder beforehand, by their paths in it.
    status : int
        Exit status; 0 where the input is hostile but harmless.
    says : tuple of str
        Words of the message: the place and what to do. Empty where the status is 0 and nothing needs to be said.
    leaves : tuple of str
        Names of files or folders that the input makes; everything else must be as it was.
    """

    name: str
    call: Callable[..., object]
    argument: object
    files: Mapping[str, str | bytes] = field(default_factory=lambda: _NO_FILES)
    status: int = 2
    says: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ended:
    """How an entry ended."""

    status: int  # negative: the signal that ended the process
    stdout: str
    stderr: str
    left: tuple[str, ...]  # files and folders that were not there before
    cpu_s: float = 0.0
    peak_bytes: float = 0.0


def command(arguments: tuple[str, ...]) -> None:
    """The command line with these arguments."""
    sys.argv = ["sizer", *arguments]
    main()


def asked(name: str, data: object, *says: str, status: int = 2) -> Entry:
    """Any data as a request file, handed to ``sizer size``."""
    return Entry(name, command, ("size", "request.json"), {"request.json": json.dumps(data)}, status, says)


def overlaid(name: str, file: str, text: str | bytes, *says: str) -> Entry:
    """One file of an overlay, handed to ``sizer catalog check``."""
    path = f"own/{file}"
    return Entry(name, command, ("catalog", "check", "--catalog", "own"), {path: text}, 3, (path, *says))


def fact(item: str, key: str, value: object, **cells: str) -> str:
    """A part of the catalogue with one fact."""
    told = {"source": "a", "where": "b", **cells}
    rest = "".join(f'{name} = "{text}"\n' for name, text in told.items())
    return f'id = "{item}"\n[{key}]\nvalue = {value}\nbasis = "datasheet"\n{rest}'


def run(entry: Entry, limits: Limits = _USUAL_LIMITS) -> Ended:
    """Run an entry in an empty folder, under the limits."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.hostile.warm"])
    with tempfile.TemporaryDirectory(prefix="hostile-") as place:
        folder, out, err, used = (Path(place) / name for name in ("folder", "out", "err", "used"))
        folder.mkdir()
        Path(place).chmod(0o755)  # an entry may run as another user
        for name, content in entry.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content)
        before = _names(folder)
        process = context.Process(target=_limited, args=(entry.call, entry.argument, folder, out, err, limits))
        process.start()
        process.join(limits.wait_s)
        if process.is_alive():
            process.kill()
            process.join()
        assert process.exitcode is not None
        left = tuple(sorted(_names(folder) - before))
        cpu_s, peak_bytes = map(float, (_text(used) or "nan nan").split())
        return Ended(process.exitcode, _text(out), _text(err), left, cpu_s, peak_bytes)


def _names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def _limited(call: Callable[..., object], argument: object, folder: Path, out: Path, err: Path, limits: Limits) -> None:
    """Call with the limits on, in the folder, with what is written in two files."""
    os.setpgid(0, 0)
    used = os.open(folder.parent / "used", os.O_WRONLY | os.O_CREAT)  # a call may go on as another user
    for stream, path in ((1, out), (2, err)):
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(handle, stream)
    # The streams of the parent may be bound to something else.
    sys.stdout, sys.stderr = (open(stream, "w", encoding="utf-8", closefd=False) for stream in (1, 2))  # noqa: SIM115
    os.chdir(folder)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (limits.cpu_s, limits.cpu_s + 5))
    resource.setrlimit(resource.RLIMIT_DATA, (limits.most_bytes, limits.most_bytes))
    faulthandler.register(signal.SIGXCPU, sys.stderr, chain=True)  # where it was when its time was over
    status: object = 0
    try:
        call(argument)
    except SizerError as error:
        sys.stderr.write(f"sizer: {error}\n")
        status = error.exit_status
    except SystemExit as end:
        status = end.code
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    usage = resource.getrusage(resource.RUSAGE_SELF)
    os.write(used, f"{usage.ru_utime + usage.ru_stime} {usage.ru_maxrss * 1024}".encode())
    # Threads of a library must not keep a process that has its answer.
    os._exit(status if isinstance(status, int) else 0 if status is None else 1)


def check(entry: Entry) -> None:
    """Run an entry and hold it against what it must do.

    Raises
    ------
    AssertionError
        If it ends otherwise, its message is none for a user, or it leaves something behind.
    """
    ended = run(entry)
    message = ended.stderr
    assert ended.status == entry.status, _told(ended)
    assert "Traceback" not in message + ended.stdout, _told(ended)
    for words in entry.says:
        assert words in message, f"{words!r} is missing: {_told(ended)}"
    if entry.status:
        lines = message.strip().splitlines()
        assert lines, "no message"
        assert len(lines) <= _MOST_LINES, _told(ended)
        assert len(message) <= _LONGEST_MESSAGE, _told(ended)
        assert entry.says, "an entry that is refused says which place and remedy the message names"
        assert all(letter == "\n" or category(letter)[0] != "C" for letter in message), ascii(message[:500])
    made = {name.split(os.sep)[0] for name in ended.left}
    assert made == set(entry.leaves), f"left: {ended.left}"
    hidden = [name for name in ended.left if Path(name).name.startswith(".")]
    assert not hidden, f"left: {hidden}"


def _told(ended: Ended) -> str:
    return f"status {ended.status}; {ended.stderr[:2000]} {ended.stdout[:300]}"
