"""Many requests at once: tables in, one table out, on threads, processes or a Dask cluster, resumable."""

import os

# Arrow's own pool reserves a gigabyte of addresses, which a limit of the user counts as used.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
