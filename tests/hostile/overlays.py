"""Folders with parts of a user: files that are damaged, absurd, or not what their place asks for."""

from tests.hostile.harness import Entry, command

GPU = "own/gpus/v100-sxm2-16gb.toml"


def checked(name: str, files: dict[str, str | bytes], *says: str, status: int = 3) -> Entry:
    """An overlay handed to ``sizer catalog check``; paths lie in the folder ``own``."""
    return Entry(name, command, ("catalog", "check", "--catalog", "own"), files, status, says)


ENTRIES = (
    checked("no folder", {}, "own", "not a folder"),
    checked("a file", {"own": "x"}, "own", "not a folder"),
    checked("unknown folder", {"own/gpu/a.toml": ""}, "own/gpu", "did you mean 'gpus'"),
    checked("not TOML", {GPU: "id = "}, GPU, "not valid TOML"),
    checked("binary", {GPU: bytes(range(256))}, GPU, "not UTF-8"),
    checked("other id", {GPU: 'id = "other"'}, GPU, "differs from the file's name"),
    checked("unknown key", {GPU: 'id = "v100-sxm2-16gb"\ncolour = "red"'}, GPU, "colour", "unknown key"),
    checked("deep", {GPU: f"id = {'[' * 100_000}"}, GPU, "not valid TOML"),
    checked("text file among parts", {"own/gpus/a.txt": "x"}, "own/gpus/a.txt", ".toml"),
)
