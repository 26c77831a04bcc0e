"""Names known in the field that a sentence may give and the catalogue may lack.

A name that the catalogue holds is read as the catalogue's. These only tell what kind of thing a name is, so that the
nearest part of the catalogue can be offered; a part with an unknown name is recognized by the words around it.
"""

_NAMES = {
    "gpu": """
        A16, A2, B100, K80, M40, P4, P40, RTX 4090, RTX 3090, RTX 8000, Quadro, GeForce, MI50, MI100, MI210, MI250,
        MI300, MI400, MI450, Gaudi 2, TPU, TPU v3, TPU v4, Titan V, Hopper, Ampere, Rubin Ultra, Trainium, A5000,
        2080 Ti, 3090, 4090, 5090
    """,
    "server": """
        DGX Station, DGX SuperPOD, XE8545, PowerEdge XE8545, PowerEdge R740, XL675d, XL645d, SR670, Cisco UCS, UCS C480,
        Inspur, Gigabyte, AC922, Power9, NVL36, GB200 NVL36, NVL4, HGX Rubin, NVL144, Rubin NVL144, NVL576
    """,
    "storage": """
        FlashBlade EXA, A3I, EXAScaler, Lustre, GPFS, Spectrum Scale, BeeGFS, FlashArray, Unity, PowerStore, ECS, S3,
        MinIO, Hammerspace, F900, F600, F200, A200, A2000, StorageGRID, FAS, AFF A400, Nimble, Alletra
    """,
    "token": """
        Llama 7B, Llama 13B, Llama 1B, GPT-4, GPT-J, GPT-NeoX, GPT-NeoX 20B, Mistral Large, Falcon, Falcon 7B,
        Falcon 40B, Falcon 180B, Qwen, Qwen 72B, Gemma, Gemma 2 27B, Gemma 3, Phi, Phi-3, Phi-4, ChatGPT, PaLM, Claude,
        OPT, OPT 175B, LLaVA, GLM, Command R, Yi 34B, StarCoder, OLMo, Granite, DBRX
    """,
    "sequence": """
        T5, RoBERTa, DistilBERT, XLNet, Whisper, DeepSpeech, LSTM, ELECTRA, Jasper, Wav2Vec, AlphaFold, AlphaFold 2,
        AlphaFold 3, OpenFold, ESM, ESM-2, Evo
    """,
    "image": """
        EfficientNet, EfficientNet-B0, EfficientNet-B4, EfficientNet-B7, MobileNet, MobileNet v2, MobileNet v3,
        DenseNet, DenseNet-121, DenseNet-201, YOLO, YOLOv3, YOLOv4, YOLOv5, YOLOv8, ViT, Vision Transformer, ViT-B,
        ViT-L, Swin, Swin Transformer, CLIP, DINO, Faster R-CNN, DETR, SegFormer, DeepLab, SDXL, GAN, StyleGAN,
        ResNet-18, ResNet-34, ResNeXt, ResNeXt-101, SqueezeNet, ShuffleNet, NASNet, Xception, ConvNeXt, 2D U-Net, LeNet,
        ResNet-200, CycleGAN
    """,
    "volume": """
        V-Net, nnU-Net, MedicalNet, 3D ResNet, Swin UNETR, UNETR
    """,
    "user-item pair": """
        Wide and Deep, DeepFM, Two-tower, DCN
    """,
    "precision": """
        FP64, INT8, INT4, TF32, double precision
    """,
    "fabric": """
        HDR, HDR100, NDR, XDR, 200 GbE, 400 GbE, 800 GbE, 200GbE, Omni-Path, OmniPath, RoCE, Slingshot, 50 GbE, FDR, QDR
    """,
}
# By kind; that of a network is what it reads, as ``sample`` in the catalogue says.
ELSEWHERE: dict[str, tuple[str, ...]] = {
    kind: tuple(" ".join(name.split()) for name in names.split(",")) for kind, names in _NAMES.items()
}
