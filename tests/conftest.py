"""Set-up of all tests."""

from hypothesis import settings

# The same examples in every run: a search that finds something new in somebody else's run helps nobody.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.load_profile("steady")
