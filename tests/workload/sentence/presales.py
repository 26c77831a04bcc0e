"""What presales engineers and their customers write, and how a colleague reads it: written before any run.

Each entry: the sentence; every value of the request that it means, as ``path = value`` (``w.`` is the first workload);
what has to be asked back ("" where nothing is missing); words that cannot be part of a request.
"""

from typing import Any, NamedTuple


class Expected(NamedTuple):
    """The reading of one sentence."""

    sentence: str
    values: dict[str, Any]
    asks: str = ""
    unread: tuple[str, ...] = ()


R50, R90 = {"w.dnn": "resnet50"}, {"w.recipe": "resnet50-90-epochs"}
DAY, NIGHT = {"w.target.time_to_train_s": "1 d"}, {"w.target.time_to_train_s": "12 h"}


def rate(value: int, unit: str = "images") -> dict[str, Any]:
    """A target rate."""
    return {"w.target.samples_per_s": f"{value} {unit}/s"}


def gpus(count: int) -> dict[str, Any]:
    """A target number of GPUs."""
    return {"w.target.gpus_busy": count}


def job(people: int) -> dict[str, Any]:
    """The team that is assumed where only the number of people is known."""
    return {
        "team.data_scientists": people,
        "team.wait_s": "30 min",
        "team.job.0.name": "Training job",
        "team.job.0.gpus": 1,
        "team.job.0.jobs_a_day_each": 1,
        "team.job.0.duration_s": "4 h",
    }


MOST = {"w.target.maximum": "rate"}
V100 = {
    "platforms.gpus": [
        *("v100-pcie-16gb", "v100-pcie-32gb", "v100-sxm2-16gb", "v100-sxm2-32gb", "v100-sxm3-32gb", "v100s-pcie-32gb"),
    ]
}

SENTENCES = (
    # Rates
    Expected("Need 40,000 images/s on ResNet-50.", R50 | rate(40000)),
    Expected("resnet 50 @ 40k img/sec please", R50 | rate(40000)),
    Expected("Resnet50 training, 40 000 images per second", R50 | rate(40000)),
    Expected(
        "vgg16 with 12k imgs/s on HPE servers",
        {"w.dnn": "vgg16", "platforms.servers": ["cray-xd670", "hpe-dl380a"]} | rate(12000),
    ),
    Expected("between 20,000 and 30,000 images/s with ResNet-50", R50 | rate(30000)),
    Expected("Inception v4, 5-6k images/s", {"w.dnn": "inception-v4"} | rate(6000)),
    Expected("GNMT at 1.5M sentences a minute", {"w.dnn": "gnmt", "w.dataset": "wmt-en-de"} | rate(25000, "sentences")),
    Expected("We'd like about 3.6 million pictures an hour through GoogLeNet", {"w.dnn": "googlenet"} | rate(1000)),
    Expected("RESNET-101 >= 8000 frames/s", {"w.dnn": "resnet101"} | rate(8000)),
    Expected(
        "SE-ResNeXt-50 at a minimum of 9000 samples/sec over EDR InfiniBand",
        {"w.dnn": "se-resnext50", "platforms.fabrics": ["edr"]} | rate(9000),
    ),
    # Times
    Expected("Train ResNet-50 in a day", R50 | R90 | DAY),
    Expected("Hi team, customer wants ResNet50 overnight, thanks!", R50 | R90 | NIGHT),
    Expected(
        "resnet-152 within 48hrs",
        {"w.dnn": "resnet152", "w.recipe": "resnet152-90-epochs", "w.target.time_to_train_s": "48 h"},
    ),
    Expected("ResNet-50, 90 epochs, in under an hour", R50 | {"w.epochs": 90.0, "w.target.time_to_train_s": "1 h"}),
    Expected(
        "BERT pre-training in a week, 40 epochs",
        {"w.dnn": "bert-large", "w.dataset": "wikipedia-bert", "w.epochs": 40.0, "w.target.time_to_train_s": "1 weeks"},
    ),
    Expected("3D U-Net in a day, 1000 epochs", {"w.dnn": "unet3d", "w.dataset": "kits19", "w.epochs": 1000.0} | DAY),
    Expected("vgg-19 for 74 epochs in half a day", {"w.dnn": "vgg19", "w.epochs": 74.0} | NIGHT),
    Expected("They retrain ResNet-50 every night", R50 | R90 | NIGHT),
    Expected(
        "mask rcnn should finish in less than 3 hours",
        {
            "w.dnn": "mask-rcnn",
            "w.dataset": "coco",
            "w.recipe": "mask-rcnn-mlperf-v3.1",
            "w.target.time_to_train_s": "3 h",
        },
    ),
    Expected("ResNet-50 in 2 to 3 days", R50 | R90 | {"w.target.time_to_train_s": "2 d"}),
    Expected("Resnet 50 done in one and a half days", R50 | R90 | {"w.target.time_to_train_s": "1.5 d"}),
    Expected(
        "AlexNet, 60 epochs, 30 mins", {"w.dnn": "alexnet", "w.epochs": 60.0, "w.target.time_to_train_s": "30 min"}
    ),
    # GPUs
    Expected("16 V100 for ResNet-50", R50 | gpus(16) | V100),
    Expected("Quote for 64x V100 running resnet50", R50 | gpus(64) | V100),
    Expected("ResNet-50 on sixteen V100s", R50 | gpus(16) | V100),
    Expected(
        "8 x V100 32GB, 3D UNet",
        {
            "w.dnn": "unet3d",
            "w.dataset": "kits19",
            "platforms.gpus": ["v100-pcie-32gb", "v100-sxm2-32gb", "v100-sxm3-32gb", "v100s-pcie-32gb"],
        }
        | gpus(8),
    ),
    Expected(
        "32 Tesla V100 SXM2 16 GB GPUs, Inception-v3",
        {"w.dnn": "inception-v3", "platforms.gpus": ["v100-sxm2-16gb"]} | gpus(32),
    ),
    Expected("keep 24 gpus busy w/ resnet50", R50 | gpus(24)),
    Expected(
        "4 DGX-1 and F800 for ResNet-50",
        R50 | gpus(32) | {"platforms.servers": ["dgx-1"], "platforms.storage": ["isilon-f800"]},
    ),
    Expected(
        "two DGX-2 for BERT",
        {"w.dnn": "bert-large", "w.dataset": "wikipedia-bert", "platforms.servers": ["dgx-2"]} | gpus(32),
    ),
    Expected(
        "ResNet-50 on 10 Dell EMC C4140 with WekaIO",
        R50 | gpus(40) | {"platforms.servers": ["c4140"], "platforms.storage": ["wekaio"]},
    ),
    Expected("40-48 GPUs for VGG-16", {"w.dnn": "vgg16"} | gpus(48)),
    # Budgets, power, racks
    Expected("as fast as possible within 500,000 USD, ResNet-50", R50 | MOST | {"limits.budget": 500000}),
    Expected("What can I get for $1.2M? Running ResNet-50.", R50 | MOST | {"limits.budget": 1200000}),
    Expected(
        "Budget 750k€ (1 € = 1.15 USD), ResNet-50, as quick as possible",
        R50 | MOST | {"limits.budget": 750000, "currency": "EUR", "exchange_rate_usd": 1.15},
    ),
    Expected(
        "ResNet-50 20000 images/s, budget is half a million dollars", R50 | rate(20000) | {"limits.budget": 500000}
    ),
    Expected("resnet50 at 10k images/s, max 25 kW", R50 | rate(10000) | {"limits.power_w": 25000}),
    Expected(
        "ResNet-50, 30,000 images/s, no more than 12kW per rack", R50 | rate(30000) | {"limits.rack_power_w": 12000}
    ),
    Expected("ResNet-50 as fast as possible in two racks", R50 | MOST | {"limits.racks": 2}),
    Expected("must fit in 20U: resnet50 6000 images/s", R50 | rate(6000) | {"limits.rack_units": 20}),
    Expected("resnet-50 at 5000 images/s as cheap as possible", R50 | rate(5000) | {"rank_by": "cost"}),
    Expected("cheapest way to do ResNet-50 in a day", R50 | R90 | DAY | {"rank_by": "cost"}),
    Expected("Lowest power option for VGG-16 @ 3000 images/s", {"w.dnn": "vgg16", "rank_by": "watts"} | rate(3000)),
    Expected("ResNet-50 at 20k images/s with the smallest footprint", R50 | rate(20000) | {"rank_by": "rack-units"}),
    Expected(
        "The budget is between 400k and 500k USD; ResNet-50 at 15000 images/s",
        R50 | rate(15000) | {"limits.budget": 500000},
    ),
    Expected(
        "GBP 300k at 1.31 USD per GBP, ResNet-50, maximum throughput",
        R50 | MOST | {"limits.budget": 300000, "currency": "GBP", "exchange_rate_usd": 1.31},
    ),
    Expected(
        "one rack, 15 kW, best possible speed for Inception-v3",
        {"w.dnn": "inception-v3", "limits.racks": 1, "limits.power_w": 15000} | MOST,
    ),
    Expected(
        "ResNet-50, 25000 images/s, under 1.5 million dollars and 40 kW",
        R50 | rate(25000) | {"limits.budget": 1500000, "limits.power_w": 40000},
    ),
    Expected(
        "ResNet-50 at 8000 images/s; we have room for 1 rack with 10 kilowatts",
        R50 | rate(8000) | {"limits.racks": 1, "limits.power_w": 10000},
    ),
    # Data
    Expected("40 TB of images, ResNet-50, 10,000 images/s", R50 | rate(10000) | {"w.dataset_bytes": "40 TB"}),
    Expected(
        "ResNet50 on 22 TB of 113 kB images at 40000 images/s",
        R50 | rate(40000) | {"w.dataset_bytes": "22 TB", "w.sample_bytes": "113 kB"},
    ),
    Expected("resnet-50, dataset size 150GB, 5k img/s", R50 | rate(5000) | {"w.dataset_bytes": "150 GB"}),
    Expected(
        "ImageNet on ResNet-50 in 4 hours", R50 | R90 | {"w.dataset": "imagenet", "w.target.time_to_train_s": "4 h"}
    ),
    Expected("SSD on COCO at 2000 images/s", {"w.dnn": "ssd-resnet34", "w.dataset": "coco"} | rate(2000)),
    Expected("U-Net on KiTS19, 8 GPUs", {"w.dnn": "unet3d", "w.dataset": "kits19"} | gpus(8)),
    Expected(
        "14 million photos, 110 kB each, ResNet-50, 20000 images/s",
        R50
        | rate(20000)
        | {
            "w.dataset.name": "Own data",
            "w.dataset.n_samples": 14e6,
            "w.dataset.sample_bytes": "110 kB",
            "w.dataset.format": "raw files",
        },
    ),
    Expected(
        "2 million images in 10 TB, inception-v4, 5000 images/s",
        {
            "w.dnn": "inception-v4",
            "w.dataset.name": "Own data",
            "w.dataset.n_samples": 2e6,
            "w.dataset.sample_bytes": 5e6,
            "w.dataset.format": "raw files",
        }
        | rate(5000),
    ),
    Expected("20 to 30 TB of pictures, ResNet-50, 16 GPUs", R50 | gpus(16) | {"w.dataset_bytes": "30 TB"}),
    Expected(
        "ResNet-50 on 16 GPUs with at least 500 TB usable", R50 | gpus(16) | {"data.minimum_capacity_bytes": "500 TB"}
    ),
    Expected(
        "ResNet-50 at 20000 images/s from all-flash storage",
        R50 | rate(20000) | {"platforms.storage_tier": "performance"},
    ),
    Expected(
        "ResNet-50, 6000 images/s, local NVMe drives only", R50 | rate(6000) | {"platforms.storage_tier": "local"}
    ),
    Expected("ResNet-50 8 GPUs 1.5 TB RAM per server", R50 | gpus(8) | {"platforms.host_memory_bytes": "1.5 TB"}),
    # Vendors and equipment
    Expected(
        "ResNet-50 at 30000 images/s, Dell servers and Isilon storage",
        R50
        | rate(30000)
        | {
            "platforms.servers": [
                *("dell-xe7740", "dell-xe8640", "dell-xe9640", "r760xa", "xe7745", "xe9680", "xe9680-mi300x"),
                *("xe9680l", "xe9780", "xe9785l"),
            ],
            "platforms.storage": ["isilon-f800", "isilon-f810", "isilon-h500", "isilon-h5600", "isilon-h600"],
        },
    ),
    Expected("prefer HPE, ResNet-50 at 9000 images/s", R50 | rate(9000) | {"platforms.prefer_vendors": ["HPE"]}),
    Expected("Customer is a Dell shop. ResNet-50, 16 GPUs", R50 | gpus(16) | {"platforms.prefer_vendors": ["Dell"]}),
    Expected(
        "No HPE please; ResNet-50 at 20000 images/s",
        R50 | rate(20000) | {"platforms.forbidden_servers": ["cray-xd670", "hpe-dl380a"]},
    ),
    Expected(
        "anything but DGX-2 and DGX-2H, ResNet-50, 32 GPUs",
        R50 | gpus(32) | {"platforms.forbidden_servers": ["dgx-2", "dgx-2h"]},
    ),
    Expected(
        "Apollo 6500 + WekaIO, GoogLeNet inference on the test set, 40k images/s",
        {
            "w.dnn": "googlenet",
            "w.task": "validation-inference",
            "platforms.servers": ["apollo-6500"],
            "platforms.storage": ["wekaio"],
        }
        | rate(40000),
    ),
    Expected("resnet50 over 100GbE at 20k images/s", R50 | rate(20000) | {"platforms.fabrics": ["100gbe"]}),
    Expected(
        "Infiniband fabric, NVIDIA DGX-1, resnet-50 @ 30000 img/s",
        R50 | rate(30000) | {"platforms.fabrics": ["edr"], "platforms.servers": ["dgx-1"]},
    ),
    Expected("ResNet-50 in FP32 at 3000 images/s", R50 | rate(3000) | {"w.precision": "fp32"}),
    Expected("mixed-precision ResNet-50, 20000 images/s", R50 | rate(20000) | {"w.precision": "mixed"}),
    Expected("We already have 4 DGX-1; ResNet-50 at 80000 images/s", R50 | rate(80000) | {"existing.servers.dgx-1": 4}),
    Expected(
        "extend our existing cluster of 6 C4140 to 40000 images/s on ResNet-50",
        R50 | rate(40000) | {"existing.servers.c4140": 6},
    ),
    Expected(
        "there are already 2 Apollo 6500 and 4 F800 nodes in place, need ResNet-50 in a day",
        R50 | R90 | DAY | {"existing.servers.apollo-6500": 2, "existing.storage_nodes.isilon-f800": 4},
    ),
    Expected("ResNet-50 with MXNet and DALI at 20000 images/s", R50 | rate(20000) | {"w.stack": "mxnet-ngc20.12-dali"}),
    Expected("ResNet-50 at 5,000 images/s on one server", R50 | rate(5000) | {"limits.servers": 1}),
    # People
    Expected("10 data scientists, ResNet-50, 16 GPUs", R50 | gpus(16) | job(10)),
    Expected("A team of 25 researchers sharing 32 V100s for ResNet-50 work", R50 | gpus(32) | V100 | job(25)),
    Expected(
        "lab with 40 PhD students, each two training jobs a day, ResNet-50 on 64 GPUs",
        R50 | gpus(64) | job(40) | {"team.job.0.jobs_a_day_each": 2},
    ),
    Expected(
        "12 users, jobs of 4 GPUs for 6 hours, ResNet-50, 48 gpus",
        R50 | gpus(48) | job(12) | {"team.job.0.gpus": 4, "team.job.0.duration_s": "6 h"},
    ),
    Expected(
        "15 engineers, jobs should start within 10 minutes, resnet50, 16 GPUs",
        R50 | gpus(16) | job(15) | {"team.wait_s": "10 min"},
    ),
    # Everything else
    Expected(
        "ResNet-50 at 30000 images/s, must survive the loss of a server",
        R50 | rate(30000) | {"resilience.keeps_targets_without": ["server"]},
    ),
    Expected(
        "ResNet-50 16 GPUs, N+1 servers and redundant switches",
        R50 | gpus(16) | {"resilience.keeps_targets_without": ["server", "switch"]},
    ),
    Expected(
        "resnet50 20k img/s, redundant head nodes, 95% confidence",
        R50 | rate(20000) | {"resilience.keeps_targets_without": ["head-node"], "confidence": 0.95},
    ),
    Expected(
        "ResNet-50, 20000 images/s, data doubles every year for 4 years",
        R50 | rate(20000) | {"growth.data": 2.0, "growth.years": 4},
    ),
    Expected("ResNet-50, 16 GPUs, data grows by 30% per year", R50 | gpus(16) | {"growth.data": 1.3}),
    Expected(
        "ResNet-50 at 20k images/s, 5-year TCO at 0.20 EUR/kWh",
        R50 | rate(20000) | {"ownership.years": 5, "ownership.electricity_per_kwh": 0.2, "currency": "EUR"},
    ),
    Expected("Needed by March 2028: ResNet-50, 40 GPUs", R50 | gpus(40) | {"needed_by": "2028-03-01"}),
    Expected(
        "nightly inference on a test set, GoogLeNet, 20,000 images/s",
        {"w.dnn": "googlenet", "w.task": "validation-inference"} | rate(20000),
    ),
    Expected("NCF recommender, 4 GPUs", {"w.dnn": "ncf", "w.dataset": "movielens-20m"} | gpus(4)),
    Expected(
        "RN50, 90 epochs, 2.5h, FP16, InfiniBand EDR",
        R50
        | {"w.epochs": 90.0, "w.target.time_to_train_s": "2.5 h", "w.precision": "mixed", "platforms.fabrics": ["edr"]},
    ),
    # Today's systems
    Expected("64 H100 for ResNet-50", R50 | gpus(64) | {"platforms.gpus": ["h100-sxm-80gb"]}),
    Expected("fine-tune Llama 70B on 16 V100", {"w.dnn": "llama-3-70b", "w.method": "fine-tuning"} | gpus(16) | V100),
    Expected(
        "ResNet-50 at 20000 images/s on Dell PowerEdge XE9680",
        R50 | rate(20000) | {"platforms.servers": ["xe9680"]},
    ),
    # Something to ask back
    Expected("ResNet-50 for 10 data scientists", R50 | job(10), asks="target"),
    Expected("We want to train a ResNet in a day", DAY, asks="network"),
    Expected("64 Gaudi 3 for ResNet-50", R50, asks="unavailable"),
    Expected("3D U-Net in a day", {"w.dnn": "unet3d", "w.dataset": "kits19", "w.recipe": "unet3d-mlperf-v4.0"} | DAY),
    Expected(
        "3D U-Net in a day on DGX-1",
        {"w.dnn": "unet3d", "w.dataset": "kits19", "platforms.servers": ["dgx-1"]} | DAY,
        asks="length",
    ),
    Expected("as cheap as possible, ResNet-50", R50 | {"rank_by": "cost"}, asks="target"),
    Expected("ResNet-50 at 40.000 images/s", R50, asks="number"),
    Expected("ResNet-50 as fast as possible", R50, asks="limit"),
    Expected(
        "training and inference of GoogLeNet at 10000 images/s", {"w.dnn": "googlenet"} | rate(10000), asks="task"
    ),
    Expected("ResNet-50 at 20000 images/s on Dell PowerEdge XE8545", R50 | rate(20000), asks="unavailable"),
    # What is no part of a request is named, not swallowed
    Expected(
        "ResNet-50, 16 GPUs, in Frankfurt with liquid cooling",
        R50 | gpus(16) | {"site.cooling": "liquid"},
        unread=("Frankfurt",),
    ),
    Expected("ResNet-50 in a day on at most 16 GPUs", R50 | R90 | DAY, unread=("at most 16 GPUs",)),
)
