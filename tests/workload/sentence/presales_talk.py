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
)
