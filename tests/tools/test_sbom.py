"""The bill of materials lists what the lock pins, with its hashes, and follows from it alone."""

import json
import re
import tomllib
from collections import Counter

from tools.sbom import ROOT, components, document

LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")


def test_every_pinned_package_is_listed_once_with_all_its_hashes() -> None:
    parts = components(LOCK)
    assert Counter(part["name"] for part in parts) == Counter(re.findall(r"(?m)^([\w.-]+)==", LOCK))
    assert sum(len(part["hashes"]) for part in parts) == LOCK.count("--hash=sha256:")
    assert all(part["hashes"] for part in parts)
    everywhere = [part for part in parts if "properties" not in part]  # others are not installed on every system
    assert [part["name"] for part in everywhere if not part.get("licenses")] == []


def test_the_form_is_that_of_cyclonedx() -> None:
    bill = document(LOCK, "1.2.3")
    assert (bill["bomFormat"], bill["specVersion"], bill["version"]) == ("CycloneDX", "1.6", 1)
    references = [bill["metadata"]["component"]["bom-ref"], *(part["bom-ref"] for part in bill["components"])]
    assert len(set(references)) == len(references)
    (edges,) = bill["dependencies"]
    assert [edges["ref"], *edges["dependsOn"]] == references
    assert json.dumps(document(LOCK, "1.2.3")) == json.dumps(bill)


def test_the_licence_is_the_one_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (stated,) = document(LOCK, "1")["metadata"]["component"]["licenses"]
    assert stated["license"]["id"] == project["license"]
    assert all("Apache License" in (ROOT / name).read_text(encoding="utf-8") for name in project["license-files"])
