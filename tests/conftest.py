"""Set-up of all tests."""

import os

from hypothesis import settings

# One thread of linear algebra a process: of two workers on two cores each would wait for the other's, and the
# benchmarks are of one core. Before numpy is imported, which starts them.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

# The same examples in every run: a search that finds something new in somebody else's run helps nobody.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.load_profile("steady")
