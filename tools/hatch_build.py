"""Build hook: the wheel carries the data folders; an editable install reads them where they lie."""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

DATA = {
    "catalog": "sizer/_data/catalog",
    "reports": "sizer/_data/reports",
    "examples": "sizer/_data/examples",
    "requirements.lock": "sizer/_data/requirements.lock",
    ".streamlit/config.toml": "sizer/_data/streamlit.toml",
}


class DataHook(BuildHookInterface):
    """Adds the data folders to a wheel, not to an editable install: there they would be stale copies."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "editable":
            build_data["force_include"].update(DATA)
