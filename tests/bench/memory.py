"""Largest memory that a process held."""

from pathlib import Path


def peak_megabytes(process: int | str = "self") -> float:
    """Largest resident set of a process since its program was started. [MB]

    ``ru_maxrss`` would begin with that of the process which started it.
    """
    (line,) = [
        line
        for line in Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines()
        if line.startswith("VmHWM:")
    ]
    return int(line.split()[1]) * 1024 / 1e6
