"""Finished chunks on disk: what a batch that was killed goes on from, and what its table is merged from."""

import contextlib
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from sizer.base.errors import OutputError
from sizer.batch.columns import schema, widened

# Rows that are held at a time while parts are merged, and of a row group of the file.
_ROWS_AT_ONCE = 16_384
_PART_NAME = re.compile(r"[0-9a-f]{64}\.arrow(\.[^.]*\.new)?|\..*\.new")


class Parts:
    """Folder of parts beside the file that they become.

    A part is named by the digest of everything that its rows depend on (requests with their places, catalogue,
    calibration, version of the program), so a part that is there is the right one: nothing else needs to be noted
    down, and what changed since is made again.
    """

    def __init__(self, target: Path) -> None:
        self.target = target
        self.folder = target.with_name(f"{target.name}.parts")
        with _writing(self.folder):
            if target.is_dir():
                raise IsADirectoryError(None, "a folder of that name is in the way")
            self.folder.mkdir(parents=True, exist_ok=True)
            # Refused before the work, not after it.
            with tempfile.NamedTemporaryFile(prefix=".", suffix=".new", dir=self.folder):
                pass

    def _path(self, digest: str) -> Path:
        return self.folder / f"{digest}.arrow"

    def names(self, digest: str) -> frozenset[str] | None:
        """Columns of a finished part, or None where there is none that can be read."""
        try:
            with pa.memory_map(str(self._path(digest))) as source, pa.ipc.open_file(source) as part:
                return frozenset(part.schema.names)
        except (OSError, pa.ArrowException):
            return None

    def write(self, digest: str, rows: pa.Table) -> None:
        """Store a part: a reader sees it whole or not at all."""
        path = self._path(digest)
        with _writing(path):
            handle, name = tempfile.mkstemp(prefix=f"{path.name}.", suffix=".new", dir=self.folder)
            with os.fdopen(handle, "wb") as stream, pa.ipc.new_file(stream, rows.schema) as writer:
                writer.write_table(rows)
            Path(name).replace(path)

    def merge(self, digests: Sequence[str], names: Iterable[str], metadata: Mapping[str, str]) -> Path:
        """Write the table of all parts in this order, whole, and remove the parts."""
        columns = schema(names, metadata)
        with _writing(self.target):
            handle, name = tempfile.mkstemp(prefix=f".{self.target.name}.", suffix=".new", dir=self.target.parent)
            try:
                with os.fdopen(handle, "wb") as stream:
                    with pq.ParquetWriter(stream, columns, compression="zstd") as writer:
                        self._copy(digests, columns, writer)
                    stream.flush()
                    os.fsync(stream.fileno())
                umask = os.umask(0o077)
                os.umask(umask)
                Path(name).chmod(0o666 & ~umask)
                Path(name).replace(self.target)
            except BaseException:
                with contextlib.suppress(OSError):
                    Path(name).unlink()
                raise
        self._remove()
        return self.target

    def _copy(self, digests: Sequence[str], columns: pa.Schema, writer: pq.ParquetWriter) -> None:
        held: list[pa.Table] = []
        for digest in digests:
            try:
                with pa.OSFile(str(self._path(digest))) as source:
                    held.append(widened(pa.ipc.open_file(source).read_all(), columns))
            except (OSError, pa.ArrowException) as error:
                raise OutputError(
                    f"{self._path(digest)}: a part is gone or damaged ({error}); "
                    "does another run write the same table? The same call makes only that part again"
                ) from None
            if sum(part.num_rows for part in held) >= _ROWS_AT_ONCE:
                writer.write_table(pa.concat_tables(held))
                held.clear()
        if held:
            writer.write_table(pa.concat_tables(held))

    def _remove(self) -> None:
        """Remove the parts, also those of requests that have changed since; what else lies there stays."""
        with contextlib.suppress(OSError):
            for path in self.folder.iterdir():
                if _PART_NAME.fullmatch(path.name):
                    path.unlink()
            self.folder.rmdir()


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from error
