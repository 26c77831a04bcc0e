"""Software bill of materials of the wheel, as CycloneDX JSON: ``python -m tools.sbom FILE``, or ``make sbom``.

Its packages are those of ``requirements.lock``, with the hashes that an installation holds them to.
"""

import json
import re
import sys
import uuid
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PROJECT = "dl-cluster-configurator"
_PINNED = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^ ;\\]+)(?: *; *(?P<marker>[^\\]+?))? *\\?$")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def components(lock: str) -> list[dict[str, Any]]:
    """A component for each package of a lock file."""
    found: list[dict[str, Any]] = []
    for line in lock.splitlines():
        if pinned := _PINNED.match(line):
            name, version = pinned["name"], pinned["version"]
            purl = f"pkg:pypi/{name}@{version}"
            found.append({"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl})
            found[-1] |= {"hashes": [], **_licence(name)}
            if pinned["marker"]:  # of some systems or versions of Python only
                found[-1]["properties"] = [{"name": f"{PROJECT}:marker", "value": pinned["marker"]}]
        elif hashed := _HASH.search(line):
            found[-1]["hashes"].append({"alg": "SHA-256", "content": hashed[1]})
    return found


def _licence(name: str) -> dict[str, Any]:
    """What the installed package states of its licence; nothing where it is not installed or states none."""
    try:
        stated = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return {}
    if expression := stated.get("License-Expression"):
        return {"licenses": [{"expression": expression}]}
    names = [one.rpartition(" :: ")[2] for one in stated.get_all("Classifier", []) if one.startswith("License :: ")]
    names = names or [one for one in stated.get_all("License", []) if "\n" not in one]  # else the whole text
    return {"licenses": [{"license": {"name": one}} for one in names]} if names else {}


def document(lock: str, version: str) -> dict[str, Any]:
    """The whole bill. The same lock and version give the same bytes: no time, and a serial number that follows."""
    parts = components(lock)
    purl = f"pkg:pypi/{PROJECT}@{version}"
    own = {"type": "application", "bom-ref": purl, "name": PROJECT, "version": version, "purl": purl}
    own["licenses"] = [{"license": {"id": "Apache-2.0"}}]
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, purl + lock)}",
        "version": 1,
        "metadata": {"component": own},
        "components": parts,
        "dependencies": [{"ref": purl, "dependsOn": [part["bom-ref"] for part in parts]}],
    }


def main() -> None:
    """Write the bill of this checkout."""
    from sizer import __version__

    path = Path(sys.argv[1])
    path.parent.mkdir(parents=True, exist_ok=True)
    bill = document((ROOT / "requirements.lock").read_text("utf-8"), __version__)
    path.write_text(json.dumps(bill, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    print(f"{path}: {len(bill['components'])} packages")


if __name__ == "__main__":
    main()
