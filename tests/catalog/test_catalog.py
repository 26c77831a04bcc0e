"""The shipped catalogue: it loads, its files agree with each other, and spot values are those of their sources."""

import datetime

import pytest

from sizer.base.resources import data_dir
from sizer.catalog.checks import check_catalog
from sizer.catalog.items import Item
from sizer.catalog.links import LinkType
from sizer.catalog.loader import shipped_catalog
from sizer.catalog.model import Catalog, statements
from sizer.catalog.sale import Sale, of_generation, orderable_on, sale_on, usable_gpus
from sizer.catalog.schema import CATEGORIES, Port
from tests.factories.examples import catalog

GIB = 2**30


def test_every_file_is_an_item(catalog: Catalog) -> None:
    for folder in CATEGORIES:
        files = {file.stem for file in (data_dir("catalog") / folder).glob("*.toml")}
        assert files == set(catalog.folder(folder)), folder


def test_the_files_agree_with_each_other(catalog: Catalog) -> None:
    assert check_catalog(catalog) == []


def test_every_assumption_is_explained(catalog: Catalog) -> None:
    assumptions = catalog.assumptions()
    assert assumptions
    assert all(said.note for said in assumptions)
    # The form of the V225G's GPUs, and their number, are published nowhere.
    assert ("v225g", "n_gpus") in {(said.item, said.field) for said in assumptions}


def test_a_bracket_of_watts_is_tdp_to_supply_rating(catalog: Catalog) -> None:
    """Hand calculation: 4 x 300 W + 2 x 150 W; one 2,000 W supply left (Dell guide 2018, Tables 2 and 3)."""
    server = catalog.servers["c4140"]
    gpu, cpu = catalog.gpus[server.gpus[0]], catalog.cpus["xeon-gold-6148"]
    assert server.power_low_w is not None
    assert server.power_high_w is not None
    assert gpu.tdp_w is not None
    assert cpu.tdp_w is not None
    assert server.power_low_w.value == 4 * gpu.tdp_w.value + 2 * cpu.tdp_w.value == 1500
    assert server.power_high_w.value == 2000


def test_main_memory_holds_the_memory_of_all_gpus(catalog: Catalog) -> None:
    """Dell guide 2018, memory recommendation: at least the sum of the GPUs' memory."""
    for server in catalog.servers.values():
        if server.role == "gpu":
            assert server.n_gpus is not None
            assert server.memory_bytes is not None
            most = max(catalog.gpus[name].memory_bytes.value for name in server.gpus)
            # GB300 racks have more HBM (20 TB) than memory of the Grace processors (17 TB).
            assert server.memory_bytes.value >= server.n_gpus.value * most or server.id == "gb300-nvl72", server.id


# (item, field, value, source): the number as printed there, in SI units.
SPOTS = [
    ("v100-sxm2-16gb", "memory_bytes", 16 * GIB, "dell-ready-ai-nvidia-2018"),
    ("v100-sxm2-16gb", "peak_mixed_flop_per_s", 125e12, "litgpt-flops"),
    ("v100-sxm2-16gb", "nvlink_bytes_per_s", 150e9, "dell-ready-ai-nvidia-2018"),  # one direction, page 17
    ("v100-sxm2-16gb", "tdp_w", 300, "dell-ready-ai-nvidia-2018"),
    ("v100-pcie-16gb", "peak_mixed_flop_per_s", 112e12, "dell-ready-ai-nvidia-2018"),
    ("v100-pcie-16gb", "tdp_w", 250, "dell-ready-ai-nvidia-2018"),
    ("p100-sxm2-16gb", "peak_mixed_flop_per_s", 21.2e12, "launch-price-calc"),
    ("xeon-gold-6148", "cores", 20, "intel-csv"),
    ("xeon-e5-2698-v4", "tdp_w", 135, "intel-csv"),
    ("dgx-1", "height_u", 3, "runai-dgx"),
    ("dgx-1", "power_max_w", 3500, "dgx1-guide-cited"),
    ("dgx-1", "memory_bytes", 512 * GIB, "dell-isilon-dgx1-blog-2018"),
    ("dgx-2", "power_max_w", 10_000, "dcd-dgx2"),
    ("c4140", "memory_bytes", 384 * GIB, "dell-ready-ai-nvidia-2018"),
    ("c4140", "weight_kg", 22.225, "boavizta"),
    ("isilon-f800", "power_max_w", 1764, "udt-hw"),
    ("isilon-f800", "weight_kg", 77, "udt-hw"),
    ("isilon-f800", "max_nodes", 252, "onefs-overview"),
    ("isilon-f800", "cache_bytes_per_node", 256 * GIB, "infohub-vxblock"),
    ("isilon-f800", "back_end_flat_nodes", 32, "infohub-vxblock"),
    ("isilon-f800", "end_of_service", "2029-05", "ps-hw-concepts"),
    ("isilon-f800", "node_read_high_bytes_per_s", 540e9 / 144, "dell-ready-ai-nvidia-2018"),
    ("head-node-nfs", "usable_bytes", 120e12, "dell-ready-ai-nvidia-2018"),
    ("wekaio", "usable_share", 0.8, "weka-319"),
    ("wekaio", "min_nodes", 6, "weka-319"),
    ("sb7800", "latency_s", 90e-9, "tw-switch-cat"),
    ("sb7890", "power_max_w", 332, "nbx"),
    ("s5232f-on", "power_max_w", 635, "norcams"),
    ("z9100-on", "end_of_sale", "2023-01-31", "h16346"),
    ("celestica-d4040", "end_of_sale", "2021-03-31", "h16346"),
]


@pytest.mark.parametrize(("item_id", "field", "value", "source"), SPOTS)
def test_spot_value(catalog: Catalog, item_id: str, field: str, value: object, source: str) -> None:
    fact = getattr(catalog.item(item_id), field)
    assert fact.value == value
    assert fact.source == source


def test_work_and_parameters_of_dense_language_models_follow_from_their_shape(catalog: Catalog) -> None:
    dense = [dnn for dnn in catalog.dnns.values() if dnn.transformer is not None and dnn.transformer.experts == 1]
    assert "gpt-2-xl" in [dnn.id for dnn in dense]
    for dnn in dense:
        shape = dnn.transformer
        assert shape is not None
        attention = 2 * shape.hidden * shape.head_size * (shape.heads + shape.kv_heads)
        layers = shape.layers * (attention + (3 if shape.gated else 2) * shape.hidden * shape.ffn)
        embedding = shape.hidden * shape.vocabulary
        assert dnn.forward_flop.value == pytest.approx(2 * (layers + embedding), rel=5e-4), dnn.id
        assert dnn.parameters.value == pytest.approx(layers + 2 * embedding, rel=5e-4), dnn.id
    assert catalog.dnns["qwen3.5-397b-a17b"].parameters.value == 397e9  # as its file states; 0.9 % above its shape


def test_rates_derived_from_published_numbers(catalog: Catalog) -> None:
    """Arithmetic shown in the notes, done again."""
    f800, apollo = catalog.storage["isilon-f800"], catalog.storage["apollo-nvme"]
    assert f800.node_read_low_bytes_per_s is not None
    assert apollo.node_read_low_bytes_per_s is not None
    # 19,895 MB/s over eight nodes (Dell EMC and NVIDIA blog 2018, large images); the catalogue keeps four digits.
    assert f800.node_read_low_bytes_per_s.value == pytest.approx(19_895e6 / 8, rel=5e-4)
    # 17,000 images/s of 3 x 224 x 224 bytes (WekaIO blog 2018); printed as "around", kept to three digits.
    assert apollo.node_read_low_bytes_per_s.value == pytest.approx(17_000 * 3 * 224 * 224, rel=5e-3)
    # FDR: 4 lanes of 14.0625 Gbit/s with 64b/66b coding, InfiniBand architecture specification.
    assert catalog.gateways["sx6036"].uplink_bytes_per_s.value == pytest.approx(4 * 14.0625e9 * 64 / 66 / 8, rel=1e-3)


def test_ports_of_the_published_designs(catalog: Catalog) -> None:
    """DGX-1: MLPerf v0.6 system file; C4140, R740xd, SB7800 and S3048-ON: Dell guide 2018."""

    def count(item_id: str, kind: str) -> int:
        ports = getattr(catalog.item(item_id), "ports")  # noqa: B009 - Item has no ports, these items do
        return sum(port.count for port in ports if port.kind.id == kind and port.use != "bmc")

    assert count("dgx-1", "edr") == 4
    assert count("c4140", "edr") == 1
    assert count("r740xd", "edr") == 1
    assert count("sb7800", "edr") == 36
    assert count("s3048-on", "1gbe") == 48 + 1  # and its own management port
    assert count("sx6036", "fdr") == 36


def test_grade_a_is_not_passed_over_silently(catalog: Catalog) -> None:
    """A value of a lower grade than one of its alternates needs a reason in its note."""
    for item in (item for _, item in catalog.items()):
        for said in statements(item):
            grade = catalog.sources[said.source].grade
            better = [other for other in said.alternates if catalog.sources[other.source].grade < grade]
            assert said.note or not better, f"{item.id}: {said.field}"


def test_orderable_devices_can_be_put_in_a_rack(catalog: Catalog) -> None:
    def placeable(item: Item) -> bool:
        return all(getattr(item, name) is not None for name in ("height_u", "depth_m", "weight_kg", "power_inlets"))

    devices = [*catalog.servers.values(), *catalog.switches.values(), *catalog.gateways.values()]
    bare = {item.id for item in devices if item.orderable and not placeable(item)}
    # Weights of director switches stand in a manual that no public copy shows.
    assert bare == {"cs7500", "cs7510", "cs7520"}


CATALOG = shipped_catalog()


def test_sale_of_dgx_h100_ended_in_january_2025():
    """ "rackula", source 17: end of sale on 25 January 2025."""
    server = CATALOG.servers["dgx-h100"]
    assert sale_on(CATALOG, server, datetime.date(2025, 1, 25)) is Sale.ENDS_LATER
    assert sale_on(CATALOG, server, datetime.date(2025, 1, 26)) is Sale.ENDED
    assert server not in orderable_on(CATALOG, CATALOG.servers.values(), datetime.date(2026, 11, 25))


def test_servers_of_a_generation_take_its_gpus():
    found = {item.id for item in of_generation(CATALOG.servers.values(), "cdna4", dict(CATALOG.gpus))}
    assert found == {"xe9785l", "cisco-c885a-mi350x"}


def test_which_gpus_can_be_ordered_follows_from_their_dates_and_successors():
    """Ends by the generation after the successor: Turing by Hopper, Ampere by Blackwell, CDNA 2 by CDNA 4.

    Rubin and MI455X were announced for the second half of 2026; H800 and H20 were made for a market that is closed.
    """
    day = datetime.date(2026, 11, 28)
    ended = {name for name in CATALOG.gpus if sale_on(CATALOG, CATALOG.gpus[name], day) is Sale.ENDED}
    assert ended >= {"t4-16gb", "a10-24gb", "a30-24gb", "a40-48gb", "rtx-a6000-48gb", "mi250x-128gb"}
    assert ended >= {"h800-sxm-80gb", "h20-sxm-96gb"}
    assert not ended & {"gh200-96gb", "gh200-144gb", "l4-24gb", "l40-48gb", "rtx-6000-ada-48gb", "mi300a-128gb"}
    for name in ("rubin-288gb", "mi455x-432gb"):
        assert sale_on(CATALOG, CATALOG.gpus[name], day) is Sale.NOT_YET
    assert sale_on(CATALOG, CATALOG.servers["r750xa"], day) is Sale.ENDED


def test_no_server_takes_what_is_announced_or_has_no_published_rates():
    assert not {"rubin-288gb", "mi455x-432gb", "gaudi3-128gb"} & set(usable_gpus(CATALOG))
    assert {"mi250x-128gb", "t4-16gb", "gh200-96gb"} <= set(usable_gpus(CATALOG))


# black-forest-labs/flux, src/flux/util.py, flux-schnell.
HIDDEN, DOUBLE_BLOCKS, SINGLE_BLOCKS, HEADS = 3072, 19, 38, 24
CHANNELS, TEXT, VECTOR, TIME = 64, 4096, 768, 256
# mlcommons/training, text_to_image/README.md: 256 x 256 images as 32 x 32 latents, in patches of 2 x 2; T5 of 256.
IMAGE_TOKENS, TEXT_TOKENS = 256, 256


def linear(inputs: int, outputs: int) -> int:
    """Weights and biases."""
    return inputs * outputs + outputs


def test_parameters_follow_from_the_shape():
    """A double block has two streams of modulation, qkv, norms of a head, projection and MLP; the others have one."""
    h, norms = HIDDEN, 2 * HIDDEN // HEADS
    stream = linear(h, 6 * h) + linear(h, 3 * h) + norms + linear(h, h) + linear(h, 4 * h) + linear(4 * h, h)
    single = linear(h, 3 * h) + linear(h, 7 * h) + norms + linear(5 * h, h)
    embeddings = linear(TIME, h) + linear(h, h) + linear(VECTOR, h) + linear(h, h)
    ends = linear(CHANNELS, h) + linear(TEXT, h) + linear(h, CHANNELS) + linear(h, 2 * h)
    found = shipped_catalog().dnns["flux-1"].parameters.value
    assert found == DOUBLE_BLOCKS * 2 * stream + SINGLE_BLOCKS * single + embeddings + ends
    assert found == pytest.approx(11.9e9, rel=0.002)  # as MLPerf prints it


def test_arithmetic_follows_from_the_shape():
    """Weights of a stream count for its own tokens, those of a single block for all, modulation once a sample."""
    h, tokens = HIDDEN, IMAGE_TOKENS + TEXT_TOKENS
    double = 12 * h * h * IMAGE_TOKENS + 12 * h * h * TEXT_TOKENS + 2 * 6 * h * h
    single = 12 * h * h * tokens + 3 * h * h
    attention = 2 * tokens * tokens * h
    ends = CHANNELS * h * IMAGE_TOKENS + TEXT * h * TEXT_TOKENS + h * CHANNELS * IMAGE_TOKENS + 2 * h * h
    once = TIME * h + VECTOR * h + 2 * h * h
    multiply_adds = DOUBLE_BLOCKS * double + SINGLE_BLOCKS * single + ends + once
    multiply_adds += (DOUBLE_BLOCKS + SINGLE_BLOCKS) * attention
    assert shipped_catalog().dnns["flux-1"].forward_flop.value == pytest.approx(2 * multiply_adds, rel=1e-3)


def test_the_data_set_is_as_large_as_its_read_me_says():
    """About 2.5 TB with the samples of the evaluation."""
    data = shipped_catalog().datasets["cc12m-flux-encodings"]
    assert data.n_validation_samples is not None
    samples = data.n_samples.value + data.n_validation_samples.value
    assert samples * data.sample_bytes.value == pytest.approx(2.5e12, rel=0.03)


WHERE = {"basis": "assumed", "source": "assumption", "where": ""}


def port(kind: LinkType, use: str) -> Port:
    return Port.model_validate({"kind": kind, "count": 1, "use": use, **WHERE})


def test_slower_links_run_on_ports_of_adapters_alone():
    links = catalog().links
    kind = next(link for link in links.values() if link.adapter_links is not None and link.adapter_links.value)
    slower = links[kind.adapter_links.value[0]]
    assert port(kind, "compute").runs(slower)
    assert port(kind, "storage-network").runs(slower)
    assert not port(kind, "any").runs(slower)  # of a switch or of storage: its file says which it runs
    assert port(kind, "any").runs(kind)
