"""``python -m sizer.cli``."""

from sizer.cli import main

main()
