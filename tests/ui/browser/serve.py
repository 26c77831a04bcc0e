"""``sizer app`` of the tests: it opens on the example of V100 whose fields and numbers they know."""

from sizer.cli import main
from sizer.ui import state

state.FIRST_EXAMPLE = "dgx1-f800-resnet50"
main()
