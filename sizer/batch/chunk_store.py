"""Finished chunks on disk: an interrupted batch continues from them, and its table is merged from them."""

import contextlib
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from sizer.base.errors import OutputError
from sizer.base.folders import make_folders, replacing
from sizer.base.run_lock import taken
from sizer.batch.columns import schema, widened

# Rows in memory while chunks are merged, and in a row group of the file.
_ROWS_AT_ONCE = 16_384
# Bytes of the checksum that a part begins with.
_CHECKSUM_BYTES = 32
_PART_NAME = re.compile(r"[0-9a-f]{64}\.arrow(\.[^.]*\.new)?|\..*\.new")


class _DamagedError(Exception):
    """A part is not as it was written."""


def _checksum(digest: str, rows: memoryview) -> bytes:
    """Checksum of a part; it covers the name, so that no part can replace another."""
    total = sha256(digest.encode())
    total.update(rows)
    return total.digest()


class ChunkStore:
    """Folder of finished chunks next to the file that they become.

    A chunk's file is named by the digest of everything that its rows depend on (requests with their places, catalogue,
    calibration, version of the program), and begins with a checksum of this name and the rows. A chunk whose inputs
    changed since, whose file is damaged, or was altered or swapped with another, is sized again.
    """

    def __init__(self, target: Path) -> None:
        self.target = target
        self.folder = target.with_name(f"{target.name}.parts")
        with _writing(self.folder):
            if target.is_dir():
                raise IsADirectoryError(None, "a folder has this name")
            make_folders(self.folder)
            # Refused before the work, not after it.
            with tempfile.NamedTemporaryFile(prefix=".", suffix=".new", dir=self.folder):
                pass

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other runs off the chunks.

        Raises
        ------
        OutputError
            If another run makes the same table.
        """
        with contextlib.ExitStack() as stack:
            with _writing(self.folder):
                is_free = stack.enter_context(taken(self.folder))
            if not is_free:
                raise OutputError(f"{self.target}: another run is making this table; wait for it, or give another name")
            yield

    def _path(self, digest: str) -> Path:
        return self.folder / f"{digest}.arrow"

    def names(self, digest: str) -> frozenset[str] | None:
        """Columns of a finished chunk; None where there is none that is as it was written."""
        try:
            return frozenset(self._rows(digest).schema.names)
        except (OSError, pa.ArrowException, _DamagedError):
            return None

    def _rows(self, digest: str) -> pa.Table:
        content = memoryview(self._path(digest).read_bytes())
        checksum, rows = content[:_CHECKSUM_BYTES], content[_CHECKSUM_BYTES:]
        if checksum != _checksum(digest, rows):
            raise _DamagedError("its checksum differs")
        return pa.ipc.open_file(pa.py_buffer(rows)).read_all()

    def write(self, digest: str, rows: pa.Table) -> None:
        """Store a chunk: a reader sees it whole or not at all."""
        path = self._path(digest)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, rows.schema) as writer:
            writer.write_table(rows)
        content = memoryview(sink.getvalue())
        with _writing(path), replacing(path) as stream:
            stream.write(_checksum(digest, content))
            stream.write(content)

    def merge(self, digests: Sequence[str], names: Iterable[str], metadata: Mapping[str, str]) -> Path:
        """Write the table of all chunks in this order, whole, and remove the chunks."""
        columns = schema(names, metadata)
        with (
            _writing(self.target),
            replacing(self.target) as stream,
            pq.ParquetWriter(stream, columns, compression="zstd") as writer,
        ):
            self._copy(digests, columns, writer)
        self._remove()
        return self.target

    def _copy(self, digests: Sequence[str], columns: pa.Schema, writer: pq.ParquetWriter) -> None:
        buffered: list[pa.Table] = []
        for digest in digests:
            try:
                buffered.append(widened(self._rows(digest), columns))
            except (OSError, pa.ArrowException, _DamagedError) as error:
                raise OutputError(
                    f"{self._path(digest)}: a finished chunk is missing or damaged ({error}); "
                    "Repeat the call: it sizes only that chunk again"
                ) from None
            if sum(part.num_rows for part in buffered) >= _ROWS_AT_ONCE:
                writer.write_table(pa.concat_tables(buffered))
                buffered.clear()
        if buffered:
            writer.write_table(pa.concat_tables(buffered))

    def _remove(self) -> None:
        """Remove all chunks, also those of requests that have changed since; other files stay."""
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
