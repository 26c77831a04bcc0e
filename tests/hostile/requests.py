"""Request files that are damaged, absurd or of another kind."""

import os

from tests.hostile.harness import Entry, command

# A request that is sized, in the parts that the entries change.
HEAD = 'schema_version = 1\ntitle = "Plain"\ndate = 2026-11-21\nconfidence = 0.5\n'
HEAD += 'platforms = { servers = ["dgx-1"], storage = ["isilon-f800"] }\n'
WORKLOAD = (
    '[[workload]]\nname = "Training"\ndnn = "resnet50"\nstack = "tf-cnn-benchmarks-ngc18.09"\nprecision = "mixed"\n'
    'batch_per_gpu = 256\ndataset = "imagenet"\n'
)
TARGET = 'target = { samples_per_s = "5000 images/s" }\n'
PLAIN = HEAD + WORKLOAD + TARGET


def piped(arguments: tuple[str, ...]) -> None:
    """The command with a named pipe, which nobody writes into, as its file."""
    os.mkfifo(arguments[1])
    try:
        command(arguments)
    finally:
        os.unlink(arguments[1])


def sized(name: str, text: str | bytes, *says: str, status: int = 2, file: str = "request.toml") -> Entry:
    """A request file handed to ``sizer size``."""
    return Entry(name, command, ("size", file), {file: text}, status, says)


ENTRIES = (
    sized("empty", "", "workload"),
    sized("only a comment", "# nothing\n", "workload"),
    sized("a list", "[1, 2]", "request", file="request.json"),
    sized("null", "null", "request", file="request.json"),
    sized("a number", "17", "request", file="request.json"),
    sized("not TOML", "title = \n", "not valid TOML", "line 1"),
    sized("not JSON", "{'title': 1}", "not valid JSON", "line 1", file="request.json"),
    sized("cut JSON", '{"title": "Plain", "workload": [{"dnn": "res', "not valid JSON", file="request.json"),
    sized("binary", bytes(range(256)), "not UTF-8"),
    sized("latin-1", PLAIN.replace("Plain", "Pl\xe4in").encode("latin-1"), "not UTF-8"),
    sized("UTF-16", PLAIN.encode("utf-16"), "not UTF-8"),
    sized("deep JSON", "[" * 100_000, "not valid JSON", file="request.json"),
    sized("deep TOML", f"a = {'[' * 100_000}", "not valid TOML"),
    sized("huge integer", f"confidence = {'9' * 50_000}\n", "not valid TOML"),
    sized("two megabytes", "# " + "x" * 2_000_000, "larger than"),
    sized("repeated key", HEAD + HEAD, "not valid TOML"),
    sized("unknown key", 'flavour = "sweet"\n' + PLAIN, "flavour", "unknown key"),
    sized("a text as workload", HEAD + 'workload = [""]', "workload[0]"),
    sized("unknown key like a type's name", "A = 1\n" + PLAIN, "unknown key 'A'"),
    sized("misspelt key", PLAIN.replace("title", "titles"), "did you mean 'title'"),
    sized("confidence NaN", PLAIN.replace("0.5", "nan"), "confidence"),
    sized("confidence infinite", PLAIN.replace("0.5", "inf"), "confidence"),
    sized("confidence of 1.5", PLAIN.replace("0.5", "1.5"), "confidence"),
    sized("date without a day", PLAIN.replace("2026-11-21", '"November"'), "date"),
    sized("negative rate", PLAIN.replace("5000 images/s", "-5000 images/s"), "samples_per_s"),
    sized("rate without a unit of rate", PLAIN.replace("5000 images/s", "5000 images"), "samples_per_s"),
    sized("rate beyond all clusters", PLAIN.replace("5000 images/s", "900 Mimages/s"), "GPUs", status=4),
    sized("unknown network", PLAIN.replace("resnet50", "resnet51"), "not in the catalogue"),
    sized("network with a path", PLAIN.replace("resnet50", "../../etc/passwd"), "dnn"),
    sized("two targets", PLAIN.replace("}", ", gpus_busy = 4 }"), "target"),
    sized("no target", HEAD + WORKLOAD, "target"),
    sized("batch of zero", PLAIN.replace("256", "0"), "batch_per_gpu"),
    sized("a server that nobody sells", PLAIN + "[existing.servers]\nisilon-f800 = 1\n", "existing.servers"),
    sized("none of a server", PLAIN + "[existing.servers]\ndgx-1 = 0\n", "existing.servers.dgx-1", "at least 1"),
    sized("batch as text", PLAIN.replace("256", '"many"'), "batch_per_gpu"),
    sized("schema of tomorrow", PLAIN.replace("schema_version = 1", "schema_version = 99"), "schema_version"),
    sized(
        "repeated JSON key", '{"title": "a", "title": "b"}', "'title' is given twice", "keep one", file="request.json"
    ),
    sized("byte-order mark", b"\xef\xbb\xbf" + PLAIN.encode(), status=0),
    sized("capital ending", PLAIN, status=0, file="REQUEST.TOML"),
    Entry("a device", command, ("size", "/dev/zero"), says=("/dev/zero", "a device or a pipe; give a file")),
    Entry("a pipe", piped, ("size", "request.toml"), says=("request.toml", "a device or a pipe; give a file")),
    Entry("a pipe of a batch", piped, ("batch", "request.csv", "--out", "t.parquet"), says=("request.csv", "a pipe")),
    Entry("terminal as a file", command, ("size", "/dev/null"), says=("/dev/null", "give a file")),
    sized("HTML in the title", PLAIN.replace('"Plain"', '"<script>alert(1)</script>"'), status=0),
    sized("formula in the title", PLAIN.replace('"Plain"', "\"=cmd|'/c calc'!A0\""), status=0),
    sized("markup in the title", PLAIN.replace('"Plain"', '"[bold][/]{{ 7*7 }} %s ${x}"'), status=0),
    Entry("no such file", command, ("size", "missing.toml"), says=("missing.toml", "cannot be read")),
    Entry("a folder", command, ("size", "."), says=("is a folder; give a file",)),
    Entry("an unknown ending", command, ("size", "a.yaml"), {"a.yaml": PLAIN}, says=("a.yaml", ".toml")),
    Entry("a name of 5,000 letters", command, ("size", "x" * 5_000), says=("cannot be read",)),
)
