"""What the parent of all entries imports once. It starts no thread: processes are forked from it at any moment."""

import os

# Before numpy is imported: its library of linear algebra would start threads.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import sizer.batch.run
import sizer.catalog.loader
import sizer.cli
import sizer.documents
import sizer.library.library
import sizer.questions.verdict.simplest_design
import sizer.sizing.size
import sizer.ui.bill.page
import sizer.ui.sharing
import sizer.workload.sentence.reader  # noqa: F401
from sizer.calibrate.calibration import stored_calibration
from sizer.calibrate.language.calibration import language_calibration
from sizer.catalog.loader import load_catalog

CATALOG = load_catalog()
stored_calibration()
language_calibration()
