"""Free wording of GPUs, servers, links and networks: expectations follow from the naming rules of the vendors."""

import pytest

from sizer.calibrate.cases import link_protocol, observed_link_bytes_per_s
from sizer.calibrate.free_wording.parts import (
    suggest_dnn,
    suggest_gpu,
    suggest_intra_link,
    suggest_link,
    suggest_server,
)
from sizer.calibrate.free_wording.suggest import with_ids
from tests.calibrate.wording_rows import CATALOG, row_of


@pytest.mark.parametrize(
    ("gpu", "server", "link", "found"),
    [
        ("v100", "", "", "v100-sxm2-16gb"),
        ("v100", "dgx-1", "", "v100-sxm2-16gb"),
        ("v100", "NVIDIA DGX-2H", "", "v100-sxm3-32gb"),
        ("v100", "", "nvswitch", "v100-sxm3-32gb"),
        ("v100", "", "nvlink2", "v100-sxm2-16gb"),
        ("v100", "", "PCIe 3.0", "v100-pcie-16gb"),
        ("v100", "R740 PCIe", "", "v100-pcie-16gb"),
        ("v100", "DGX-1 32GB", "", "v100-sxm2-32gb"),
        ("v100", "aws-p3dn.24xlarge", "", "v100-sxm2-32gb"),
        ("v100-32gb", "dss8440", "", "v100-pcie-32gb"),
        ("V100-SXM2", "", "", "v100-sxm2-16gb"),
        ("v100sxm2", "", "pcie3", "v100-sxm2-16gb"),
        ("v100-sxm3", "", "", "v100-sxm3-32gb"),
        ("v100-sxm3-32gb-h", "", "", "v100-sxm3-32gb"),
        ("v100-pcie", "", "", "v100-pcie-16gb"),
        ("v100-nvlink", "", "", "v100-sxm2-16gb"),
        ("volta", "", "", "v100-sxm2-16gb"),
        ("V100S", "", "", "v100s-pcie-32gb"),
        ("8x V100 FHHL", "", "", "v100-fhhl-16gb"),
        ("p100", "", "", "p100-sxm2-16gb"),
        ("p100", "", "pcie3", "p100-pcie-16gb"),
        ("P100-PCIE-12GB", "", "", "p100-pcie-12gb"),
        ("pascal", "", "", "p100-pcie-16gb"),
    ],
)
def test_gpu_by_its_words_server_and_link(gpu, server, link, found):
    assert suggest_gpu(CATALOG, row_of(gpu=gpu, server=server, intra_link=link))[0] == found


@pytest.mark.parametrize("gpu", ["tesla-v100-sxm2-16gb", "NVIDIA Tesla V100-SXM2-16GB", "v100_sxm2_16_gb", "v100s"])
def test_gpu_that_is_fully_named_needs_no_note(gpu):
    assert suggest_gpu(CATALOG, row_of(gpu=gpu))[1] == ""


@pytest.mark.parametrize("gpu", ["v100", "v100-sxm2", "v100-sxm2-12gb", "v100-sxm3-32gb-h"])
def test_gpu_that_is_partly_named_has_a_note(gpu):
    note = suggest_gpu(CATALOG, row_of(gpu=gpu))[1]
    assert note.startswith(f"{gpu!r} read as Tesla V100")
    assert note.endswith(".")


@pytest.mark.parametrize(
    "gpu", ["", "k80", "t4", "p40", "m40", "gtx1080ti", "RTX 2080", "Titan V", "Quadro GV100", "v1000", "MI50"]
)
def test_other_chips_are_no_gpu_of_the_catalogue(gpu):
    assert suggest_gpu(CATALOG, row_of(gpu=gpu, server="dgx-1")) is None


@pytest.mark.parametrize("folder", ["gpus", "servers", "dnns"])
def test_ids_resolve_to_themselves(folder):
    for name in CATALOG.folder(folder):
        (row,) = with_ids([row_of(**{folder[:-1]: name})], CATALOG)
        assert getattr(row, folder[:-1]) == name
        assert (row.gpu_id, row.server_id, row.assumed) == ("", "", "")


@pytest.mark.parametrize(
    ("server", "found"),
    [
        ("nvidia-dgx-1", "dgx-1"),
        ("dgx1", "dgx-1"),
        ("DGX-1 32GB", "dgx-1"),
        ("dgx-1v", "dgx-1"),
        ("dgx-1-p100", "dgx-1"),  # the same host
        ("DGX2", "dgx-2"),
        ("dgx2h", "dgx-2h"),
        ("hpe-apollo-6500", "apollo-6500"),
        ("HPE Apollo 6500 Gen10 (XL270d)", "apollo-6500"),
        ("dell-c4140", "c4140"),
        ("PowerEdge C4140 configuration K", "c4140"),
        ("c4140-b", "c4140-pcie"),
        ("DSS8440", "dss-8440"),
        ("Hitachi UCP RS V225G", "v225g"),
        ("", None),
        ("generic-8x-v100-sxm2", None),
        ("aws-p3.16xlarge", None),
        ("dgx-a100", "dgx-a100"),
        ("dgx-station", None),
        ("dgx-10", None),
        ("dgx-1-like", None),
        ("apollo-6500-gen9", None),
    ],
)
def test_servers(server, found):
    assert suggest_server(CATALOG, row_of(server=server)) == found


def test_c4140_with_pcie_boards_is_the_other_build():
    assert suggest_server(CATALOG, row_of(server="dell-c4140", gpu="v100-pcie-16gb")) == "c4140-pcie"


@pytest.mark.parametrize(
    ("text", "link"),
    [
        ("edr", "edr"),
        ("ib-edr", "edr"),
        ("infiniband-edr", "edr"),
        ("100gb-ib", "edr"),
        ("EDR InfiniBand, 100 Gb/s", "edr"),
        ("hdr", "hdr"),
        ("hdr100", "edr"),
        ("200G InfiniBand", "hdr"),
        ("fdr", "fdr"),
        ("56 Gbit/s InfiniBand", "fdr"),
        ("100gbe", "100gbe"),
        ("100GbE RoCEv2", "100gbe-roce"),
        ("roce-100", "100gbe-roce"),
        ("25gbe-tcp", "25gbe-tcp"),
        ("TCP over 25 Gbit/s Ethernet", "25gbe-tcp"),
        ("10gbe", "10gbe"),
        ("10GigE", "10gbe"),
        ("ethernet-100g", "100gbe"),
        ("100gbe-efa", "100gbe-efa"),
        ("efa", "100gbe-efa"),
        ("IPoIB EDR", "edr-tcp"),
        ("2x25GbE", "25gbe"),
        ("gigabit ethernet", "1gbe"),
        ("", None),
        ("infiniband", None),
        ("ethernet", None),
        ("ndr", "ndr"),
        ("200gbe", "200gbe"),
        ("omni-path-100", None),
        ("nvlink", None),
        ("edr or fdr", None),
    ],
)
def test_links_between_servers(text, link):
    found = suggest_link(text, CATALOG)
    assert (found and found[0]) == link
    if found is not None:
        assert observed_link_bytes_per_s(found[0], CATALOG.links) > 0
        assert link_protocol(found[0]) in ("rdma", "tcp", "efa")


@pytest.mark.parametrize("text", ["hdr100", "efa", "2x25gbe", "fdr/40gbe", "100gbps"])
def test_assumed_links_have_a_note(text):
    assert suggest_link(text, CATALOG)[1].startswith(f"{text!r} read as ")


@pytest.mark.parametrize(
    ("text", "link"),
    [
        ("nvlink", "nvlink2"),
        ("nvlink-v2", "nvlink2"),
        ("NVLink 2.0", "nvlink2"),
        ("nvlink2", "nvlink2"),
        ("nvlink1", "nvlink1"),
        ("NVLink gen 1", "nvlink1"),
        ("nvswitch", "nvswitch"),
        ("NVLink switch", "nvswitch"),
        ("pcie", "pcie3"),
        ("pcie3", "pcie3"),
        ("pcie-gen3", "pcie3"),
        ("PCIe 3.0 x16", "pcie3"),
        ("pix", "pcie3"),
        ("nvlink3", None),
        ("edr", None),
        ("", None),
    ],
)
def test_links_between_gpus(text, link):
    assert suggest_intra_link(text) == link


@pytest.mark.parametrize(
    ("text", "dnn"),
    [
        ("resnet-50", "resnet50"),
        ("ResNet50", "resnet50"),
        ("resnet50-v1.5", "resnet50"),
        ("resnet50_v1.5", "resnet50"),
        ("rn50", "resnet50"),
        ("resnet-152", "resnet152"),
        ("inception3", "inception-v3"),
        ("inception_v3", "inception-v3"),
        ("inception4", "inception-v4"),
        ("vgg-16", "vgg16"),
        ("ssd", "ssd-resnet34"),
        ("ssd-r34", "ssd-resnet34"),
        ("maskrcnn", "mask-rcnn"),
        ("mask_rcnn", "mask-rcnn"),
        ("bert", "bert-large"),
        ("bert-large-uncased", "bert-large"),
        ("gnmt", "gnmt"),
        ("transformer", "transformer-big"),
        ("GoogLeNet", "googlenet"),
        ("inception-v1", "googlenet"),
        ("ncf", "ncf"),
        ("3D U-Net", "unet3d"),
        ("bert-base", None),
        ("resnext50", None),
        ("resnet50-vd", None),
        ("ssd-mobilenet", None),
        ("inception-resnet-v2", None),
        ("", None),
        ("-", None),
    ],
)
def test_dnns(text, dnn):
    found = suggest_dnn(CATALOG, text)
    assert (found and found[0]) == dnn
