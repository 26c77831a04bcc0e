"""Places in long calculations at which the program that runs them may end them or make them wait.

A server ends the work of a visitor who is gone, and lets short work of others go first. The command and a batch set
nothing: there a calculation is ended with its process.
"""

from collections.abc import Callable

_asked: Callable[[], None] | None = None


def ask_at_pause_points(asked: Callable[[], None] | None) -> None:
    """What every pause point calls, in the thread of the calculation; it ends it by raising. None: nothing."""
    global _asked
    _asked = asked


def pause_point() -> None:
    """Let the program end this calculation or make it wait; called in loops, every few milliseconds."""
    if _asked is not None:
        _asked()
