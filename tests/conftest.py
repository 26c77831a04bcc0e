"""Set-up of all tests."""

from hypothesis import settings

# The same examples in every run: a search that finds something new in somebody else's run helps nobody.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("laws", settings.get_profile("steady"))
settings.load_profile("steady")
