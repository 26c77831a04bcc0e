"""Talk about equipment that is there, that goes, or that is capped; and of rates of fabrics and kinds of storage.

What a server's ports carry together: the data sheets of DGX H100 and DGX B200 give eight ports of 400 Gbit/s, so a
server of 3.2 Tbit/s is one of these and no DGX A100 with eight of 200 Gbit/s.
"""

from tests.workload.sentence.presales import DAY, R50, R90, Expected, gpus, job, rate
from tests.workload.sentence.presales_language import H100, L8, L70, LORA, TUNED, on, time, tokens

NFS = {
    "platforms.storage": [
        *("head-node-nfs", "hnas", "hnas-4100", "isilon-f800", "isilon-f810", "isilon-h500", "isilon-h5600"),
        *("isilon-h600", "netapp-a1k", "netapp-a900", "nfs-generic", "powerscale-a310", "powerscale-f210"),
        *("powerscale-f710", "powerscale-f910"),
    ]
}
H100_WITH_8_NDR = [*("as-8125gs-tnhr", "cray-xd670", "dgx-h100", "lenovo-sr685av3", "sys-821ge-tnhr", "xe9680")]

EQUIPMENT = (
    # What is there
    Expected(
        "We train ResNet-50 on ImageNet with 6 DGX-1 today and want to be done in 2 hours",
        R50 | R90 | {"w.dataset": "imagenet", "w.target.time_to_train_s": "2 h", "existing.servers.dgx-1": 6},
    ),
    Expected(
        "Customer has 8 Supermicro servers with 8 V100 32 GB each, wants 60,000 images/s for ResNet-50",
        R50 | rate(60_000),
        asks="server",
    ),
    Expected("We already own 4 A100 servers; ResNet-50 in a day", R50 | R90 | DAY, asks="server"),
    Expected(
        "Extend our 12 node H100 cluster so that pretraining Llama 3 8B on 1T tokens takes 60 days instead of 100",
        L8 | tokens(1e12) | time("60 d"),
        asks="server",
    ),
    # What goes
    Expected("Our 16 V100 reach end of life: upgrade from them, ResNet-50 in 4 hours", R50 | R90 | time("4 h")),
    Expected(
        "We bought 64 A100 80GB in 2021, end of life in 2026: replace them; ResNet-50 in a day, power budget of 50 kW",
        R50 | R90 | DAY | {"limits.power_w": 50e3},
    ),
    Expected("Replace our 4 DGX-1, out of warranty next year, ResNet-50 at 60k images/s", R50 | rate(60_000)),
    # A number of GPUs next to a time caps the servers
    Expected(
        "Llama 3 70B on 1 trillion tokens, 32 H100 within 60 days",
        L70 | tokens(1e12) | time("60 d") | H100 | {"limits.servers": 4},
    ),
    # Fabrics and storage by what they deliver
    Expected(
        "Llama 3 8B, 64 H100, 3.2 Tb/s per node",
        L8 | gpus(64) | H100 | {"platforms.servers": H100_WITH_8_NDR, "platforms.fabrics": ["ndr", "400gbe"]},
    ),
    Expected(
        "Llama 3 8B, 64 H100, 400 Gb/s per GPU, InfiniBand only",
        # Those of four GPUs have four such ports.
        L8 | gpus(64) | H100 | {"platforms.fabrics": ["ndr"]},
    ),
    Expected("Train ResNet-50, storage over NFS, 5000 images/s", R50 | rate(5000) | NFS),
    Expected(
        "ResNet-50 at 5000 images/s from F800 over NFS", R50 | rate(5000) | {"platforms.storage": ["isilon-f800"]}
    ),
    Expected(
        "ResNet-50 on 16 GPUs, a parallel file system",
        R50
        | gpus(16)
        | {
            "platforms.storage": [
                *("ai400x2", "ai400x2-turbo", "ai400x3", "ibm-sss6000", "iei-as13000", "wekaio", "wekapod-nitro"),
                *("wekapod-prime", "yanrong-f8000x"),
            ]
        },
    ),
    Expected(
        "ResNet-50 on 16 GPUs, 40 TB of images, 20 GB/s of reads",
        R50 | gpus(16) | {"w.dataset_bytes": "40 TB", "data.minimum_read_bytes_per_s": "20 GB/s"},
    ),
    Expected(
        "20,000 images per second for Inception v4, storage from NetApp, Cisco switches",
        {"w.dnn": "inception-v4", "platforms.storage": ["netapp-a1k", "netapp-a900"]} | rate(20_000),
        unread=("Cisco switches",),
    ),
    Expected("ResNet-50 on 16 GPUs, 10 GbE uplink", R50 | gpus(16), unread=("10 GbE", "uplink")),
    # How often, how much, and growth
    Expected(
        "Fine-tune Llama 2 70B with LoRA on 20k samples, 5 times a day, on as few H200 as possible",
        {"w.dnn": "llama-2-70b", "w.tokens": 20_000 * 4096.0, "rank_by": "gpus"}
        | LORA
        | time("4.8 h")
        | on("h200-sxm-141gb"),
    ),
    Expected("Retrain ResNet-50 four times a day", R50 | R90 | time("6 h")),
    Expected(
        "Classify 100 million images per night with ResNet-152, cheapest possible",
        # 1e8 images in 12 h of 3,600 s: 2,314.8 images/s, to four digits
        {"w.dnn": "resnet152", "w.task": "validation-inference", "rank_by": "cost"} | rate(2315),
    ),
    Expected("ResNet-50 at 20k img/s, 50 percent growth per year", R50 | rate(20_000) | {"growth.target": 1.5}),
    Expected(
        "ResNet-50 at 20k img/s, annual data growth of 30%, tolerant to a server failure",
        R50 | rate(20_000) | {"growth.data": 1.3, "resilience.keeps_targets_without": ["server"]},
    ),
    Expected(
        "5 researchers on bare metal with Slurm, fine-tuning Llama 3 8B on 1 million examples in 2 days",
        L8 | TUNED | time("2 d") | job(5) | {"w.tokens": 1_000_000 * 8192.0},
    ),
)
