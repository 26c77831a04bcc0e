"""Import and export of NetBox device types.

What the files say is restated from the community library (CC0 1.0), the sources nbx and nbx-fork of the catalogue; the
schema is the library's own.
"""

import tomllib
from pathlib import Path

import pytest

from sizer.base.errors import MAX_FAULTS, RequestError
from sizer.catalog.checks import check_catalog
from sizer.catalog.loader import load_catalog, shipped_catalog
from sizer.catalog.model import Catalog
from sizer.catalog.netbox.importer import Imported, import_device_type, link_of
from sizer.catalog.schema import Device
from tests.catalog.netbox_samples import interfaces, ports, table

HEAD = "---\nmanufacturer: {maker}\nmodel: {model}\nslug: a-slug\nu_height: {height}\nis_full_depth: true\n"


def device(maker: str, model: str, *ports: str, height: str = "1", **more: str) -> str:
    """Text of a device-type file."""
    lines = "".join(f"{key}: {value}\n" for key, value in more.items())
    listed = "interfaces:\n" + "".join(ports) if ports else ""
    return HEAD.format(maker=maker, model=model, height=height) + lines + listed


def power(count: int, type_: str = "iec-60320-c14", **draws: int) -> str:
    """Value of the key power-ports."""
    said = "".join(f"\n    {key}: {value}" for key, value in draws.items())
    return "".join(f"\n  - name: PSU{number}\n    type: {type_}{said}" for number in range(1, count + 1))


MGMT = interfaces("mgmt0", 1, "1000base-t", mgmt_only=True)
SB7890 = device(
    "Mellanox",
    "SB7890",
    interfaces("IB1/", 36, "infiniband-edr"),
    weight="11.0",
    weight_unit="kg",
    airflow="rear-to-front",
    **{"power-ports": power(2, maximum_draw=332)},
)
SB7800 = device(
    "Mellanox",
    "SB7800",
    interfaces("IB1/", 36, "100gbase-x-qsfp28"),
    MGMT,
    **{"power-ports": power(2, maximum_draw=460)},
)
SX6036 = device(
    "Mellanox",
    "SX6036",
    interfaces("mgmt", 2, "1000base-t", mgmt_only=True),
    interfaces("IB1/", 36, "40gbase-x-qsfpp"),
    **{"power-ports": power(2, maximum_draw=500)},
)
QM8700 = device("Mellanox", "QM8700", interfaces("IB1/", 40, "200gbase-x-qsfp56"), MGMT)
S5232F = device(
    "Dell",
    "PowerSwitch S5232F-ON",
    interfaces("eth", 32, "100gbase-x-qsfp28"),
    interfaces("sfp", 2, "10gbase-x-sfpp"),
    MGMT,
    **{"power-ports": power(2, maximum_draw=635, allocated_draw=360)},
)
ARISTA = device(
    "Arista",
    "DCS-7050CX3-32S-F",
    interfaces("Ethernet", 32, "100gbase-x-qsfp28"),
    interfaces("Ethernet3", 2, "10gbase-x-sfpp"),
    interfaces("Management1", 1, "1000base-t", mgmt_only=True),
    weight="20",
    weight_unit="lb",
    part_number="DCS-7050CX3-32S-F",
    **{"module-bays": "\n  - name: PSU 0\n    position: '0'\n  - name: PSU 1\n    position: '1'"},
)
R740XD = device(
    "Dell",
    "PowerEdge R740xd",
    interfaces("Gig-E ", 4, "1000base-t"),
    interfaces("iDRAC", 1, "1000base-t", mgmt_only=True),
    height="2",
    **{"power-ports": power(2), "module-bays": "\n  - name: NUMA 0 - PCIe slot 1 - FH\n    position: PCIe-1"},
)
DL360 = device(
    "HPE",
    "ProLiant DL360 Gen10",
    interfaces("iLO", 1, "1000base-t", mgmt_only=True),
    weight="13.04",
    weight_unit="kg",
    part_number="P19766-B21",
    **{"module-bays": "\n  - name: PSU Bay 1\n  - name: PSU Bay 2\n  - name: Embedded LOM"},
)


def asked(result: Imported) -> set[str]:
    """Fields of the questions."""
    return {name for question in result.questions for name in question.partition(":")[0].split(", ")}


def overlaid(tmp_path: Path, *results: tuple[Imported, str]) -> Catalog:
    for result, folder in results:
        file = tmp_path / "mine" / folder / f"{result.item_id}.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(result.toml, encoding="utf-8")
    return load_catalog(overlay=tmp_path / "mine")


def test_facts_of_a_switch_carry_their_source_and_place():
    data = table(SB7890)
    assert (data["id"], data["name"], data["vendor"]) == ("sb7890", "SB7890", "Mellanox")
    for field, value in (("height_u", 1), ("weight_kg", 11.0), ("power_inlets", 2), ("inlet_kind", "c14")):
        assert data[field]["value"] == value
        assert data[field]["basis"] == "published"
        assert data[field]["source"] == "nbx"
        assert data[field]["where"].startswith("file.yaml, ")
    assert ports(data) == [("edr", 36, "any")]
    assert data["ports"][0]["where"] == "file.yaml, interfaces IB1/1 to IB1/36"
    assert data["features"]["airflow"]["value"] == "rear to front"
    assert "[features]" not in import_device_type(SB7890, "f").toml  # as in the files of the catalogue


@pytest.mark.parametrize("form", ["\ufeff{}", "{}\n...\n", "# note\n{}"])
def test_a_file_of_any_editor_is_read(form):
    assert table(form.format(GOOD).replace("\n", "\r\n")) == table(GOOD)


@pytest.mark.parametrize(
    ("text", "high", "typical"),
    [
        # maximum_draw is per inlet; with 1+1 supplies the two are not added.
        (SB7890, 332, None),
        (SB7800, 460, None),
        (S5232F, 635, 360),
        (device("A", "B", MGMT, **{"power-ports": power(1, maximum_draw=200)}), 200, None),
        (device("A", "B", MGMT, **{"power-ports": power(4, "iec-60320-c20", maximum_draw=1000)}), 3000, None),
    ],
)
def test_draw_is_that_of_the_inlets_that_remain(text, high, typical):
    data = table(text)
    assert data["power_high_w"]["value"] == high
    assert data["power_high_w"]["basis"] == "derived"
    assert "maximum_draw" in data["power_high_w"]["note"]
    assert data.get("power_typical_w", {}).get("value") == typical
    assert ("power_low_w" in asked(import_device_type(text, "f"))) == (typical is None)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # The library types these InfiniBand switches as Ethernet; they go by their model.
        (SB7800, [("edr", 36, "any"), ("1gbe", 1, "management")]),
        (QM8700, [("hdr", 40, "any"), ("1gbe", 1, "management")]),
        (SX6036, [("1gbe", 2, "management"), ("fdr", 36, "any")]),
        (S5232F, [("100gbe", 32, "any"), ("10gbe", 2, "any"), ("1gbe", 1, "management")]),
        (R740XD, [("1gbe", 4, "any"), ("1gbe", 1, "bmc")]),
        (DL360, [("1gbe", 1, "bmc")]),
    ],
)
def test_ports_are_counted_by_kind_and_use(text, found):
    data = table(text)
    assert ports(data) == found
    for port in data["ports"]:
        if port["kind"] in ("edr", "hdr", "fdr"):
            assert (port["basis"], "InfiniBand switch" in port["note"]) == ("derived", True)


@pytest.mark.parametrize(
    ("name", "use"),
    [
        ("BMC", "bmc"),
        ("iDRAC", "bmc"),
        ("iDRAC9", "bmc"),
        ("iLO 5", "bmc"),
        ("IPMI", "bmc"),
        ("XCC", "bmc"),
        ("mgmt0", "management"),
        ("Bilo", "management"),
        ("BMCA", "management"),
    ],
)
def test_controllers_are_known_by_name(name, use):
    assert ports(table(device("A", "B", interfaces(name, 1, "1000base-t", mgmt_only=True)))) == [("1gbe", 1, use)]


@pytest.mark.parametrize(
    ("weight", "unit", "kg"),
    # 20 lb x 0.45359237 kg/lb; 16 oz are a pound.
    [("20", "lb", 9.072), ("16", "oz", 0.454), ("850", "g", 0.85), ("13.04", "kg", 13.04)],
)
def test_weights_are_kilograms(weight, unit, kg):
    assert table(device("A", "B", MGMT, weight=weight, weight_unit=unit))["weight_kg"]["value"] == kg


def test_what_a_file_does_not_say_is_absent_and_asked_for():
    result = import_device_type(ARISTA, "a.yaml")
    data = tomllib.loads(result.toml)
    for field in ("depth_m", "power_inlets", "inlet_kind", "power_max_w"):
        assert field not in data
        assert field in asked(result)
    assert "PSU 0, PSU 1" in result.toml  # also beside the facts, as a comment
    assert data["skus"] == [{"value": "DCS-7050CX3-32S-F", "source": "nbx", "where": "a.yaml, part_number"}]
    odd = import_device_type(
        device("A", "B", interfaces("x", 4, "1.6tbase-cr8-osfp-xd"), interfaces("v", 1, "virtual")), "f"
    )
    assert ports(tomllib.loads(odd.toml)) == []
    assert any("4 × 1.6tbase-cr8-osfp-xd (x1 to x4)" in question for question in odd.questions)
    mixed = device("A", "B", MGMT, **{"power-ports": power(1) + power(1, "iec-60320-c13")})
    assert "inlet_kind" in asked(import_device_type(mixed, "f"))


def test_an_unknown_key_is_named_with_its_place():
    text = device("A", "B", MGMT, **{"weights": "3", "power-ports": power(2, maximum_drow=3)})
    remarks = [question for question in import_device_type(text, "f.yaml").questions if "is not imported" in question]
    assert remarks == [
        "f.yaml:7:10: key 'weights' is not imported; it is unknown; did you mean 'weight'?",
        "f.yaml:11:19: key 'maximum_drow' is not imported; it is unknown; did you mean 'maximum_draw'?",
    ]


def test_thousands_of_unknown_keys_are_some_remarks_and_a_count():
    text = device("A", "B", MGMT, **{f"x{number}": "3" for number in range(1000)})
    remarks = [question for question in import_device_type(text, "f.yaml").questions if "not imported" in question]
    assert len(remarks) == MAX_FAULTS + 1
    assert str(1000 - MAX_FAULTS) in remarks[-1]


def test_a_rate_of_thousands_of_digits_is_no_link():
    assert link_of(f"{'9' * 5000}gbase-x", shipped_catalog().links) is None


def test_imports_load_as_an_overlay_and_pass_the_check(tmp_path):
    shipped = shipped_catalog()
    files = [(text, "switches") for text in (SB7800, QM8700, S5232F, ARISTA)]
    results = [
        (import_device_type(text, "file.yaml", folder, catalog=shipped), folder)
        for text, folder in (*files, (SX6036, "gateways"), (R740XD, "servers"), (DL360, "servers"))
    ]
    catalog = overlaid(tmp_path, *results)
    assert check_catalog(catalog) == []
    for result, folder in results:
        item = catalog.folder(folder)[result.item_id]
        assert isinstance(item, Device)
        assert item.height_u is not None
        # A new item waits for its open facts; one of the catalogue stays what it was.
        assert item.orderable == (result.item_id in shipped.folder(folder))


def test_of_an_item_of_the_catalogue_only_gaps_are_filled(tmp_path):
    shipped = shipped_catalog()
    # 231 W measured with active cables stands in the catalogue; the supplies are rated 500 W.
    result = import_device_type(SX6036, "f.yaml", "gateways", catalog=shipped)
    assert result.questions == ("power_max_w: 231 W in the catalogue, at most 500 W in the file; the first stays",)
    assert tomllib.loads(result.toml) == {"id": "sx6036"}
    # Ports, inlets, weight and draw of the SB7700 are assumed there.
    text = SB7890.replace("SB7890", "SB7700").replace("u_height: 1", "u_height: 2").replace("11.0", "12.0")
    result = import_device_type(text, "f.yaml", catalog=shipped)
    assert set(tomllib.loads(result.toml)) == {
        "id",
        "height_u",
        "weight_kg",
        "power_high_w",
        "power_inlets",
        "inlet_kind",
        "features",
        "ports",
    }
    assert asked(result) == set()
    changed = overlaid(tmp_path, (result, "switches")).switches["sb7700"]
    assert changed.weight_kg is not None
    assert (changed.name, changed.weight_kg.value) == (shipped.switches["sb7700"].name, 12.0)
    # A published height stays; the other one is told.
    sn2700 = device("Mellanox", "SN2700", MGMT, height="2")
    assert "height_u: 1 in the catalogue, 2 in the file; the catalogue's stays" in (
        import_device_type(sn2700, "f.yaml", catalog=shipped).questions
    )


def test_a_gateway_has_its_two_sides_from_its_ports():
    data = table(SX6036, "gateways")
    assert (data["uplink_kind"]["value"], data["front_end_kind"]["value"]) == ("fdr", "40gbe")
    # 54.5 Gbit/s after coding, and 40 Gbit/s
    assert data["uplink_bytes_per_s"]["value"] == 54.5e9 / 8
    assert data["front_end_bytes_per_s"]["value"] == 5e9
    with pytest.raises(RequestError, match="has InfiniBand and Ethernet ports"):
        import_device_type(S5232F, "f", "gateways")


@pytest.mark.parametrize(
    ("model", "item_id"),
    [("S5232F-ON", "s5232f-on"), ("../../etc/passwd", "etc-passwd"), ("Größe 9", "gr-e-9"), ("零", "a-slug")],
)
def test_ids_are_words_of_the_model(model, item_id):
    assert import_device_type(device("A", model, MGMT), "f").item_id == item_id


def test_control_characters_of_a_file_are_refused():
    with pytest.raises(RequestError, match="name: contains a tab or line break") as refused:
        import_device_type(device("A", '"x\\n# y"', interfaces('"a\\u001b"', 1, "1000base-t")), "f.yaml")
    assert "ports[0].where: contains" in str(refused.value)


GOOD = device("A", "B", MGMT)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f.yaml: holds nothing"),
        ("- 1\n- 2\n", r"f.yaml: holds \[1, 2\]"),
        (GOOD.replace("u_height: 1", "u_height: .nan"), r"f.yaml:5:11: u_height = nan must be a number"),
        (GOOD.replace("u_height: 1", "u_height: -1"), r"f.yaml:5:11: u_height = -1 must be between 0 and 60"),
        (GOOD.replace("u_height: 1", "u_height: 0.3"), r"f.yaml:5:11: u_height = 0.3"),
        (GOOD.replace("u_height: 1", "u_height: one"), r"f.yaml:5:11: u_height = 'one'"),
        (GOOD.replace("u_height: 1\n", ""), r"f.yaml:2:1: key 'u_height' is missing"),
        (GOOD.replace("is_full_depth: true", "is_full_depth: yes"), r"f.yaml:6:16: is_full_depth = 'yes'"),
        (GOOD.replace("model: B", "model: 1e3"), r"f.yaml:3:8: model = 1000.0"),
        (GOOD + "weight: 3\n", "weight and weight_unit are given together"),
        (GOOD + "weight: 3\nweight_unit: stone\n", r"f.yaml:12:14: weight_unit = 'stone' is not one of 'kg'"),
        (GOOD + "weight: 9999999\nweight_unit: kg\n", r"weight_kg.value = 9999999.0 must be "),
        (GOOD.replace("type: 1000base-t", "type: [1]"), r"f.yaml:9:11: interfaces\[0\].type = \[1\]"),
        (GOOD.replace("    type: 1000base-t\n", ""), r"f.yaml:8:5: key 'interfaces\[0\].type' is missing"),
        (GOOD.replace("interfaces:", "interfaces: 7\nx:"), r"f.yaml:7:13: interfaces = 7"),
        (
            GOOD + "power-ports:\n  - {name: a, maximum_draw: -4}\n",
            r"f.yaml:12:29: power-ports\[0\].maximum_draw = -4 must be between 1 and 100000",
        ),
        (GOOD + "model: C\n", r"f.yaml:11:1: key 'model' stands here a second time"),
        (GOOD + "---\na: 1\n", r"f.yaml:11:1: a second document"),
        ("a: !!python/object/apply:os.system [x]\n", r"f.yaml:1:4: tag 'tag:yaml.org,2002:python"),
    ],
)
def test_a_file_that_cannot_be_understood_is_refused_with_its_place(text, message):
    with pytest.raises(RequestError, match=message):
        import_device_type(text, "f.yaml")
