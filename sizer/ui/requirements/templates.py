"""Needs to start from, by what people do: each is a sentence that can be edited."""

TEMPLATES = {
    "University lab": "30 researchers share 32 V100 for ResNet-50, jobs of 4 GPUs for 6 hours, as cheap as possible",
    "Medical imaging": "Train 3D U-Net on 12 TB of CT scans, 8 V100 32 GB",
    "Autonomous driving": "Train SSD on 200 TB of camera images of 500 kB at 8,000 images/s, all-flash, NDR",
    "Fine-tune a language model": "Fine-tune Llama 3 70B with LoRA on 500 million tokens overnight on H200",
    "Pre-train a language model": "Pre-train Llama 3 8B on 1 trillion tokens in 30 days on H100 with NDR InfiniBand",
    "SuperPOD unit": "Train Llama 3 70B on 248 H100 in DGX H100 servers over NDR, AI400X2 Turbo, 41 kW per rack",
    "BasePOD of eight servers": "Train Llama 3 70B on 8 DGX B200",
    "One NVL72 rack": "Train Llama 3 70B on one NVL72",
    "Image team": "Train ResNet-50 on ImageNet overnight",
    "Nightly inference": "Batch inference with GoogLeNet on a test set of 200 million images of 113 kB every night",
    "Extend a cluster": "We already have 2 DGX-1 and 4 F800 nodes; train ResNet-50 at 40,000 images/s",
    "What for this budget?": "What can we get for 500,000 USD? ResNet-50",
}
