"""Talk of presales engineers about today's clusters: replaced equipment, racks, team shares, growth of load."""

from tests.workload.sentence.presales import MOST, R50, Expected, gpus, job
from tests.workload.sentence.presales import rate as image_rate
from tests.workload.sentence.presales_language import (
    B200,
    H100,
    H200,
    L8,
    L70,
    L405,
    LORA,
    TUNED,
    on,
    server,
    time,
    tokens,
)

BERT = {"w.dnn": "bert-large", "w.dataset": "wikipedia-bert"}
DDN = {"platforms.storage": ["ai400x2", "ai400x2-turbo", "ai400x3"]}


def losses(*what: str) -> dict[str, object]:
    """What may fail, one at a time."""
    return {"resilience.keeps_targets_without": list(what)}


DGX1 = {"platforms.servers": ["dgx-1"]}
RACKS_OF_15_KW = {"limits.rack_power_w": 15e3}

TALK = (
    # What is replaced limits nothing
    Expected(
        "Need a refresh of our 3 DGX A100s, Llama 3 8B fine-tuning, eight H200s should do", L8 | TUNED | gpus(8) | H200
    ),
    Expected(
        "MI300X instead of H100: Llama 2 70B LoRA, 64 GPUs, 400 GbE RoCE fabric",
        {"w.dnn": "llama-2-70b"} | LORA | gpus(64) | on("mi300x-192gb") | {"platforms.fabrics": ["400gbe"]},
    ),
    Expected(
        "Replace twelve V100 servers by H200; same workload: BERT pretraining in 2 days for 40 epochs",
        BERT | {"w.epochs": 40.0} | time("2 d") | H200,
    ),
    Expected(
        "we're migrating from 32 V100 to H200 NVL, ResNet-50 150k images/s",
        R50 | image_rate(150_000) | on("h200-nvl-141gb"),
    ),
    # Racks and their power; "RFP", "OEM" and the like say nothing
    Expected(
        "RFP: minimum 1.2 PB usable flash storage, 64 H100 GPUs, training Llama 3 70B, air-cooled, 40 kW racks",
        L70
        | gpus(64)
        | H100
        | {
            "data.minimum_capacity_bytes": "1.2 PB",
            "platforms.storage_tier": "performance",
            "limits.rack_power_w": 40e3,
            "site.cooling": "air",
        },
    ),
    Expected(
        "two 42U racks at 17 kW each, no liquid cooling, H100 PCIe, ResNet-50 at 100k img/s",
        R50
        | image_rate(100_000)
        | on("h100-pcie-80gb")
        | {"limits.racks": 2, "limits.rack_power_w": 17e3, "site.cooling": "air"},
    ),
    Expected(
        "Cluster for pretraining Qwen3 8B: 1 trillion tokens in 45 days, 100 kW cap, no more than 25 kW per rack",
        {"w.dnn": "qwen3-8b", "limits.power_w": 100e3, "limits.rack_power_w": 25e3} | tokens(1e12) | time("45 d"),
    ),
    Expected(
        "Could you spec something like 2 racks of GB200 NVL72 for Llama 3.1 405B pretraining?",
        L405 | gpus(144) | server("gb200-nvl72"),
    ),
    Expected(
        "Max out 300 kW with B300s for pretraining Llama 3 70B",
        L70 | MOST | {"limits.power_w": 300e3} | on("b300-sxm-270gb"),
    ),
    # Servers by the name of their GPUs
    Expected(
        "A genomics institute with 60 staff scientists wants 3 nodes of HGX B200 to fine tune Llama 3 70B",
        L70 | TUNED | gpus(24) | B200 | job(60),
    ),
    Expected(
        "They want 4 nodes with H100 and NDR for Mixtral 8x7B pretraining",
        {"w.dnn": "mixtral-8x7b", "platforms.fabrics": ["ndr"]} | gpus(32) | H100,
    ),
    Expected(
        "one 8x MI300X box, Llama 3 8B LoRA, 200 GbE RoCEv2",
        L8 | LORA | gpus(8) | on("mi300x-192gb") | {"platforms.fabrics": ["200gbe"]},
    ),
    Expected(
        "Looking for 4 x DGX H200 with 400G InfiniBand and DDN storage to fine-tune Llama 3.1 70B",
        L70 | TUNED | gpus(32) | server("dgx-h200") | DDN | {"platforms.fabrics": ["ndr"]},
    ),
    # People
    Expected(
        "20 users each needing one A100, PyTorch, medical U-Net 3D, 50 TB data",
        {"w.dnn": "unet3d", "w.dataset": "kits19", "w.dataset_bytes": "50 TB", "w.stack": "pytorch-ngc21.03"}
        | gpus(20)
        | on("a100-sxm-80gb")
        | job(20),
    ),
    Expected(
        "startup, 6 engineers each with 2 H100, fine-tuning Llama 3 8B, $3M cap",
        L8 | TUNED | gpus(12) | H100 | job(6) | {"team.job.0.gpus": 2, "limits.budget": 3e6},
    ),
    # Growth and redundancy
    Expected(
        "Pilot with 1 server, then growing 50% a year over 5 years; ResNet-50 at 8k img/s",
        R50 | image_rate(8000) | {"limits.servers": 1, "growth.target": 1.5, "growth.years": 5},
    ),
    Expected(
        "ResNet-50 at 60k img/s, data growth of 40% per year for 3 years, 100G Ethernet",
        R50 | image_rate(60_000) | {"growth.data": 1.4, "growth.years": 3, "platforms.fabrics": ["100gbe"]},
    ),
    Expected(
        "ResNet-50 at 20k img/s, redundancy N+1",
        R50 | image_rate(20_000) | {"resilience.keeps_targets_without": ["server"]},
    ),
    # Everything else
    Expected(
        "We have $2.5M to spend on H100s for training Llama 3 8B, get me the most throughput",
        L8 | MOST | H100 | {"limits.budget": 2.5e6},
    ),
    Expected(
        "DLRM on Criteo 1TB in under 30 minutes with A100s",
        {"w.dnn": "dlrm", "w.dataset": "criteo-1tb", "w.recipe": "dlrm-mlperf-v2.1"}
        | time("30 min")
        | on("a100-sxm-80gb"),
    ),
    Expected(
        "Customer wants to pre-train a 13B parameter LLM on 2T tokens in about three weeks, they're eyeing B200.",
        {"w.dnn.name": "13B model", "w.dnn.parameters": 13e9} | tokens(2e12) | time("3 weeks") | B200,
    ),
    Expected(
        "Automotive OEM, 3 PB of camera frames at 2 MB each, SSD detector, 16 DGX-1, InfiniBand",
        {
            "w.dnn": "ssd-resnet34",
            "w.dataset": "coco",
            "w.dataset_bytes": "3 PB",
            "w.sample_bytes": "2 MB",
            "platforms.fabrics": ["edr"],
        }
        | gpus(128)
        | server("dgx-1"),
    ),
    Expected(
        "Hospital group, 8 radiologists, 30 TB of CT scans, 3D U-Net, 16 GPUs, air-cooled racks of 15 kW",
        {"w.dnn": "unet3d", "w.dataset": "kits19", "w.dataset_bytes": "30 TB", "site.cooling": "air"}
        | RACKS_OF_15_KW
        | gpus(16)
        | job(8),
    ),
    # Something to ask back
    Expected("GPT-J 6B fine-tuning on 4 L40S", gpus(4) | on("l40s-48gb"), asks="unavailable"),
    Expected(
        "Our budget tops out at EUR 900.000; train BERT-large as fast as we can", BERT, asks="number", unread=("EUR",)
    ),
    # Power of a rack, whichever way round it is said
    Expected("Llama 3 8B on 16 B200, rack power limit 12 kW", L8 | gpus(16) | B200 | {"limits.rack_power_w": 12e3}),
    Expected("Llama 3 8B on 16 B200, rack density of 15 kW", L8 | gpus(16) | B200 | {"limits.rack_power_w": 15e3}),
    Expected("Llama 3 8B on 16 B200, power per rack 17 kW", L8 | gpus(16) | B200 | {"limits.rack_power_w": 17e3}),
    Expected("Llama 3 8B on 16 B200, our racks deliver 10-17 kW", L8 | gpus(16) | B200 | {"limits.rack_power_w": 17e3}),
    Expected("Llama 3 8B on 16 B200, each rack gets 15 kW", L8 | gpus(16) | B200 | {"limits.rack_power_w": 15e3}),
    Expected("Llama 3 8B on 16 B200, our racks have 40 kW in total", L8 | gpus(16) | B200 | {"limits.power_w": 40e3}),
    # The most in a day is a rate, and no time to train
    Expected("The most tokens per day of Llama 3 8B within 100 kW", L8 | MOST | {"limits.power_w": 100e3}),
    Expected("As many tokens a day as possible for Llama 3 8B within 1 MW", L8 | MOST | {"limits.power_w": 1e6}),
    # What is owned is there; it is no limit of what is bought
    Expected(
        "4 DGX H100 owned, train Llama 3 70B on 200 billion tokens in 60 days",
        L70 | tokens(200e9) | time("60 d") | {"existing.servers.dgx-h100": 4},
    ),
    Expected(
        "Our 4 DGX H100 should train Llama 3 70B on 100 billion tokens in 90 days",
        L70 | tokens(100e9) | time("90 d") | {"existing.servers.dgx-h100": 4},
    ),
    Expected("20 V100 nodes (DGX-1) owned, ResNet-50 at 60k images/s", R50 | image_rate(60_000) | DGX1, asks="server"),
    # Exclusions that follow the name
    Expected(
        "Llama 3 8B on 16 H100, InfiniBand is not allowed",
        L8 | gpus(16) | H100 | {"platforms.fabrics": ["800gbe", "400gbe", "200gbe"]},
    ),
    Expected("Llama 3 8B on 16 H100, liquid cooling is not possible", L8 | gpus(16) | H100 | {"site.cooling": "air"}),
    Expected(
        "Llama 3 8B on 16 H100, NetApp is excluded",
        L8 | gpus(16) | H100 | {"platforms.forbidden_storage": ["netapp-a1k", "netapp-a900"]},
    ),
    Expected(
        "Llama 3 8B on 16 H100, NetApp storage preferred",
        L8 | gpus(16) | H100 | {"platforms.prefer_vendors": ["NetApp"]},
    ),
    # Losses: kinds of switches, and several in a list
    Expected("Llama 3 8B on 16 H100, must survive the loss of a leaf switch", L8 | gpus(16) | H100 | losses("switch")),
    Expected("Llama 3 8B on 16 H100, must survive a leaf switch failure", L8 | gpus(16) | H100 | losses("switch")),
    Expected(
        "Llama 3 8B on 16 H100, must survive the loss of a server and a storage node",
        L8 | gpus(16) | H100 | losses("server", "storage-node"),
    ),
    Expected(
        "Llama 3 8B on 16 H100, tolerates the failure of one node, one switch or one power feed",
        L8 | gpus(16) | H100 | losses("server", "switch", "feed"),
    ),
    # An offer of rented GPUs
    Expected(
        "Llama 3 8B on 16 H100, rent or buy at 2.50 USD per GPU-hour over 3 years",
        L8 | gpus(16) | H100 | {"rental.per_gpu_hour": 2.5, "rental.years": 3},
    ),
    Expected(
        "Llama 3 8B on 16 H100, the cloud costs $3/GPU/h: buy or rent",
        L8 | gpus(16) | H100 | {"rental.per_gpu_hour": 3.0},
    ),
    # What fills the storage; "a 100" is no A100
    Expected(
        "Fill 2 PB over a 100 Gbit/s link, ResNet-50 at 50000 images/s on H100",
        R50 | image_rate(50_000) | H100 | {"w.dataset_bytes": "2 PB", "data.source_bytes_per_s": "100 Gbit/s"},
    ),
    Expected(
        "ResNet-50 on 300 TB at 3000 images/s, fed over 1 Gbit/s",
        R50 | image_rate(3000) | {"w.dataset_bytes": "300 TB", "data.source_bytes_per_s": "1 Gbit/s"},
    ),
    Expected(
        "Train Llama 3 70B on 1T tokens in 30 days on H100; double the load every year for 3 years",
        L70 | tokens(1e12) | time("30 d") | H100 | {"growth.target": 2.0, "growth.years": 3},
    ),
)
