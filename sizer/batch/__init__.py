"""Many requests at once: tables in, one table out, on threads, processes or a Dask cluster, resumable."""
