"""Device types of the NetBox library, restated for tests."""

import tomllib
from typing import Any

from sizer.catalog.netbox.importer import Folder, import_device_type


def interfaces(prefix: str, count: int, type_: str, *, mgmt_only: bool = False) -> str:
    """Interface entries ``prefix1`` and so on; one alone is called as the prefix."""
    names = [prefix] if count == 1 else [f"{prefix}{number}" for number in range(1, count + 1)]
    more = "    mgmt_only: true\n" if mgmt_only else ""
    return "".join(f"  - name: {name}\n    type: {type_}\n{more}" for name in names)


def table(text: str, folder: Folder = "switches") -> dict[str, Any]:
    return tomllib.loads(import_device_type(text, "some/file.yaml", folder).toml)


def ports(data: dict[str, Any]) -> list[tuple[str, int, str]]:
    return [(port["kind"], port["count"], port["use"]) for port in data.get("ports", ())]
