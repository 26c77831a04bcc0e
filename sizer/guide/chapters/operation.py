"""Chapter from plan to operation: steps, management servers, mounts, network settings, and a job that runs."""

import math
import re
from collections.abc import Iterable, Iterator
from typing import Any

from sizer.base import units
from sizer.base.quantities import by_count, grouped
from sizer.calibrate.cases import link_level
from sizer.guide.acceptance.tests import load_test_options
from sizer.guide.context import GuideContext
from sizer.guide.engineer.operation import phases_table
from sizer.physical.networks.counts import in_band_role
from sizer.physical.networks.ports import nodes_of
from sizer.physical.roles import NetworkRole
from sizer.present.text.layouts import recompute_text
from sizer.present.text.plan import network_name
from sizer.sizing.result import DesignAnswer, WorkloadAnswer

# Containers that their maker publishes by release with the test programs of collectives in them.
_PYTORCH, _NEMO = "nvcr.io/nvidia/pytorch:{}-py3", "nvcr.io/nvidia/nemo:{}"
# Frameworks whose processes do not find each other by an address in the environment.
_NOT_TORCH = (
    *("tensorflow", "tensorrt", "mxnet", "caffe", "caffe2", "nnabla", "oneflow", "paddlepaddle", "hugectr", "sinian"),
    *("MaxText", "PaxML"),
)
_RELEASE = re.compile(r"\d\d\.\d\d")
# Number formats as Megatron's programs name them, where these are no names of their own.
_FORMATS = {
    "fp8": "bf16 --fp8-format hybrid",
    "mxfp8": "bf16 --fp8-format e4m3 --fp8-recipe mxfp8",
    "fp4": "bf16 --fp4-format e2m1",
    "nvfp4": "bf16 --fp4-format e2m1",
}
# Of a job over the upper end of its time: start, evaluations, a restart.
_SLACK = 1.2


def content(context: GuideContext) -> dict[str, Any]:
    """What ``sections/operation.html`` prints."""
    design, performs = context.design, context.serves or not context.is_single
    return {
        # Of one server the engineer's file has them.
        "phases": None
        if context.is_single
        else phases_table(design, context.data.ingest, context.head_node is not None),
        "management": management_text(context),
        "mount": mount_line(design),
        "network": list(network_settings(design)),
        # Each model in use has a command of its own; one training is an example for all, of a cluster: on one server
        # nothing of it depends on the design.
        "scripts": [
            (answer.workload.name, answer.serving is not None, script)
            for number, answer in enumerate(context.answers)
            if ((performs and number == 0) or answer.serving is not None) and (script := job_script(context, answer))
        ],
    }


def management_text(context: GuideContext) -> str:
    """What the management servers of the design do, and what more of them would add."""
    count = context.n_head_nodes
    if not count:
        if context.result.request.team is not None:
            return (
                "Users log in to the server itself, which queues their jobs with Slurm (free of charge): controller "
                "and node on one machine, GPUs as a counted resource, a partition for each kind of job, and limits of "
                "memory and cores, so that no job slows another. While the server is down, nothing runs."
            )
        return "There is no management server: each GPU server starts its replicas at boot."
    shared = (
        " Keep homes and the state of the scheduler on storage that both reach, and confirm failover and its licence "
        "with the vendor of the cluster manager."
    )
    if count > 2:
        return (
            "Two of the management servers are head nodes in redundancy: deployment, scheduler and homes move to the "
            f"second when the first fails. {by_count(count - 2, 'The third one takes', 'The others take')} log-ins, "
            f"builds and monitoring, so that users do not slow the scheduler.{shared}"
        )
    if count == 2:
        return (
            "Two head nodes in redundancy run deployment, scheduler and homes; the second one takes log-ins and "
            f"monitoring as long as the first works.{shared}"
        )
    platform = context.design.platform
    serves = platform.storage.kind == "nfs-server" and platform.storage.server is not None
    text = (
        f"One management server runs deployment, scheduler, homes, log-ins{', files' if serves else ''} and monitoring"
    )
    built = context.built
    if built is None:
        return f"{text}; while it is down, running jobs continue and no new one starts."
    return (
        f"{text}; while it is down, running jobs continue and no new one starts. The option “As we would build it” of "
        "the first chapter has redundant head nodes and its price."
    )


def mount_line(design: DesignAnswer) -> str:
    """The command that mounts the data on every server; "" of drives in the servers and of other clients."""
    storage = design.platform.storage
    if storage.kind not in ("nfs-server", "scale-out-nas"):
        return ""
    several = ",nconnect=8" if design.platform.gpu.generation not in ("pascal", "volta") else ""
    export = "/ifs/data" if "onefs" in _items(design) else "/data"
    return f"mount -t nfs -o vers=3,proto=tcp,hard,rsize=1048576,wsize=1048576{several} storage:{export} /data"


def network_settings(design: DesignAnswer) -> Iterator[str]:
    """Settings of the compute fabric, by its kind."""
    kind = design.platform.fabric
    if design.n_servers < 2 or design.platform.has_replicas_apart:
        return
    if kind.is_infiniband:
        rails = " in each rail" if max(net.rails for net in design.quantities.networks) > 1 else ""
        fabrics = [net for net in design.quantities.networks if net.kind.is_infiniband and int(net.leaves[0])]
        own = ", those of the storage included" if len(fabrics) > 1 else ""
        yield (
            f"InfiniBand: one subnet manager{rails} of each fabric{own}, with a standby on another switch or the head "
            "node; MTU 4096; adaptive routing on where available."
        )
        yield "On the servers: one adapter for each pair of GPU and port as in the node's figure; GPUDirect RDMA on."
    elif link_level(kind.id).endswith("/rdma"):
        yield (
            "RoCE v2: MTU 9000 on every port; DSCP 26 in a lossless queue of its own (PFC on priority 3 only), ECN "
            "marking on that queue, DSCP 48 for congestion notification."
        )
        yield "The same class on servers and switches; PFC watchdog on; check that no other traffic uses priority 3."
    else:
        yield f"{kind.name} carries gradients over TCP: MTU 9000 on every port, RDMA off in the collective library."


def _items(design: DesignAnswer) -> set[str]:
    return {part.item for part in design.quantities.components if int(part.quantity[0])}


# Examples of interfaces of the networks that operating systems use where they have none of their own.
_INTERFACES = {NetworkRole.STORAGE: "storage0", NetworkRole.COMPUTE: "fabric0"}


def _collective_settings(design: DesignAnswer) -> Iterator[str]:
    kind = design.platform.fabric
    if design.n_servers < 2:
        return
    network = in_band_role(design.platform)
    name = _INTERFACES.get(network, "mgmt0").ljust(10)
    yield f"export NCCL_SOCKET_IFNAME={name} # interface of the {network_name(network)}, for start-up only"
    if kind.is_infiniband:
        yield "export NCCL_IB_HCA=mlx5              # adapters of the compute fabric; storage adapters excluded with ^"
    elif link_level(kind.id).endswith("/rdma"):
        yield "export NCCL_IB_HCA=mlx5              # adapters of the compute fabric; storage adapters excluded with ^"
        yield "export NCCL_IB_GID_INDEX=3           # RoCE v2 over IPv4 (show_gids)"
        yield "export NCCL_IB_TC=104                # DSCP 26 in its lossless queue"
    else:
        yield "export NCCL_IB_DISABLE=1             # gradients over TCP"


def job_script(context: GuideContext, answer: WorkloadAnswer) -> str:
    """A batch script that tests the collectives and starts the workload; "" without the scheduler."""
    design, items = context.design, _items(context.design)
    has_queue = "slurm" in items or context.result.request.team is not None
    if not has_queue or answer.serving is not None:
        return "" if answer.serving is None else _serve_command(design, answer)
    per_node = design.platform.gpus_per_server // nodes_of(design.platform.server)
    hosts = -(-design.gpus_at_work(answer) // per_node)
    lines = [
        "#!/bin/bash",
        f"#SBATCH --job-name={_slug(answer.workload.name)}",
        f"#SBATCH --nodes={hosts}",
        f"#SBATCH --ntasks-per-node={per_node}",
        f"#SBATCH --gpus-per-node={per_node}",
        "#SBATCH --exclusive",
        *(["#SBATCH --requeue"] if answer.job is not None else []),
        *([f"#SBATCH --time={_limit(answer)}"] if answer.time is not None else []),
        "",
        *_collective_settings(design),
        *([f"IMAGE={_image(context, answer)}"] if _container(items) else []),
        f'run() {{ srun --mpi=pmix {_container(items)} "$@"; }}',
        "",
        "# Collectives first: a slow link shows here, not after a day.",
        "run all_reduce_perf_mpi -b 1G -e 1G -g 1",
        "run all_gather_perf_mpi -b 1G -e 1G -g 1",
        "",
        *([_MEETING] if answer.stack.framework not in _NOT_TORCH else []),
        _lines("run python /workspace/train.py", _arguments(answer)),
    ]
    return "\n".join(lines)


# Where the processes of a job find each other.
_MEETING = 'export MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1) MASTER_PORT=29500'


def _lines(command: str, options: Iterable[str]) -> str:
    """A command with an option on each line, so that no line is broken where it is printed."""
    return " \\\n    ".join((command, *filter(None, options)))


def _serve_command(design: DesignAnswer, answer: WorkloadAnswer) -> str:
    found, gpus = answer.served, answer.served.gpus_of_replica
    several = found.replicas > 1 and gpus < design.platform.gpus_per_server // nodes_of(design.platform.server)
    visible = "HIP_VISIBLE_DEVICES" if design.platform.gpu.vendor == "AMD" else "CUDA_VISIBLE_DEVICES"
    own = f"{visible}={','.join(map(str, range(gpus)))} " * several
    further = "\n# Each further replica of a server takes the next GPUs and the next port." * several
    where = "that has its session's prefix" if found.prefix_bytes else "with the fewest in flight"
    model, work = f"/models/{_slug(answer.dnn.name)}", found.work
    # Twice a long request, as a power of two: the first release of a model may take less than its later ones.
    long = [work.length_at(name, 95) or getattr(work, f"{name}_tokens") for name in ("input", "output")]
    length = min(math.floor(found.longest_tokens), 2 ** math.ceil(math.log2(2 * sum(long))))
    running, is_narrow = max(1, math.floor(found.most_concurrent / found.data)), found.cache == "fp8"
    options = "\n# options.yaml: kv_cache_config.dtype: fp8" * is_narrow
    options += "\n# options.yaml: enable_attention_dp: true" * (found.data > 1)
    adapters, guesses = work.adapters > 0, found.deployment.is_speculative
    options += "\n# options.yaml: speculative_config: {decoding_type: MTP, num_nextn_predict_layers: 3}" * guesses
    options += f"\n# options.yaml: lora_config.max_lora_rank: {work.adapter_rank}" * adapters
    nodes, own_groups = found.servers_of_replica, found.data // found.servers_of_replica
    joined = f"--nnodes {nodes} --node-rank $RANK" * (nodes > 1)
    each = f"\n# On each of {nodes} servers: HEAD is the first, RANK counts from 0; vLLM: --headless from 1 on."
    groups = f"--data-parallel-size-local {own_groups} --data-parallel-start-rank $((RANK * {own_groups}))"
    vllm_joined = f"{groups} --data-parallel-address $HEAD" if own_groups else f"{joined} --master-addr $HEAD"
    loras = f"--enable-lora --max-lora-rank {work.adapter_rank}" * adapters
    parts = {
        "TensorRT-LLM": (
            *(
                f"{'trtllm-llmapi-launch ' * (nodes > 1)}trtllm-serve {model}",
                f"--tp_size {found.gpus_of_replica}",
                f"--max_seq_len {length}",
            ),
            *(f"--max_batch_size {running}", f"--ep_size {found.gpus_of_replica}" * (found.data > 1)),
            *("--extra_llm_api_options options.yaml" * bool(options), "--port 8000"),
        ),
        "SGLang": (
            f"python -m sglang.launch_server --model-path {model}",
            f"--tp {found.gpus_of_replica}",
            f"--dp {found.data} --enable-dp-attention --ep {found.gpus_of_replica}" * (found.data > 1),
            f"{joined} --dist-init-addr $HEAD:5000" * (nodes > 1),
            *("--is-embedding" * work.is_embedding, f"{loras} --max-loras-per-batch {work.adapters}" * adapters),
            *("--quantization fp8" * (found.weights == "fp8"), "--kv-cache-dtype fp8_e4m3" * is_narrow),
            "--speculative-algorithm NEXTN --speculative-num-steps 3 --speculative-num-draft-tokens 4" * guesses,
            *(f"--context-length {length}", f"--max-running-requests {running * found.data}", "--port 8000"),
        ),
    }.get(
        found.engine,
        (
            *(f"vllm serve {model}", f"--tensor-parallel-size {found.tensor}"),
            *(
                f"--data-parallel-size {found.data} --enable-expert-parallel" * (found.data > 1),
                vllm_joined * (nodes > 1),
            ),
            *("--runner pooling" * work.is_embedding, f"{loras} --max-loras {work.adapters}" * adapters),
            *("--quantization fp8" * (found.weights == "fp8"), "--kv-cache-dtype fp8" * is_narrow),
            """--speculative-config '{"method": "mtp", "num_speculative_tokens": 3}'""" * guesses,
            *("--dtype bfloat16" * (found.weights == "bf16"), f"--max-model-len {length}"),
            *(f"--max-num-seqs {running}", "--port 8000"),
        ),
    )
    return (
        f"# one of {found.replicas}; the load balancer sends each request to the replica {where}.\n"
        f"# Longer requests are refused; model and memory take {grouped(math.floor(found.longest_tokens))} tokens."
        f"{further}{each * (nodes > 1)}\n"
        f"{own}{_lines(parts[0], parts[1:])}{options if found.engine == 'TensorRT-LLM' else ''}"
    )


def load_test(answer: WorkloadAnswer) -> str:
    """The command that puts the asked load on all replicas of a model, through the load balancer."""
    found, slug = answer.served, _slug(answer.dnn.name)
    server = "--base-url http://load-balancer:8000" if found.replicas > 1 else "--base-url http://server:8000"
    return _lines("vllm bench serve", (server, f"--model /models/{slug}", *load_test_options(found)))


def _image(context: GuideContext, answer: WorkloadAnswer) -> str:
    """The container: a release of the published runs, else that of the stack, named when the job is submitted."""
    gpu = context.design.platform.gpu
    generation = context.catalog.generations.get(gpu.generation or "")
    releases = () if generation is None else generation.releases
    found = (str(one.version.value) for one in releases if "container" in one.component)
    release = next((text for text in found if _RELEASE.fullmatch(text)), "")
    if gpu.vendor == "NVIDIA" and release and answer.stack.framework not in _NOT_TORCH:
        return (_NEMO if answer.stack.framework.lower().startswith("nemo") else _PYTORCH).format(release)
    return f'"${{IMAGE:?container image of {answer.stack.name}}}"'


def _container(items: set[str]) -> str:
    mounts = "/data:/data"
    if "enroot-pyxis" in items:
        return f'--container-image="$IMAGE" --container-mounts={mounts}'
    if "singularity" in items:
        return f'singularity exec --nv --bind {mounts} "$IMAGE"'
    return ""


def _arguments(answer: WorkloadAnswer) -> Iterator[str]:
    """Settings that the rate of the design rests on, by the names of Megatron's programs."""
    found = answer.language
    yield from ("--data-path /data", "--save /data/checkpoints", "--load /data/checkpoints")
    if found is None:
        yield f"--batch-size {answer.batch_per_gpu}"
        return
    layout = found.layout
    for name, degree in (
        ("tensor-model-parallel-size", layout.tensor),
        ("pipeline-model-parallel-size", layout.pipeline),
        ("context-parallel-size", layout.context),
        ("expert-model-parallel-size", layout.expert),
    ):
        if degree > 1:
            yield f"--{name} {degree}"
    if layout.virtual > 1:
        yield f"--num-virtual-stages-per-pipeline-rank {layout.virtual}"
    if layout.is_fully_sharded:
        yield "--use-torch-fsdp2 --no-gradient-accumulation-fusion --ckpt-format torch_dist"
    elif layout.is_optimizer_sharded:
        yield "--use-distributed-optimizer"
    if layout.tensor > 1:
        yield "--sequence-parallel"
    if layout.recompute > 0:
        every = " --recompute-method uniform --recompute-num-layers 1" if layout.recompute >= 1 else ""
        yield f"--recompute-granularity {recompute_text(layout)}{every}"
    yield f"--micro-batch-size {layout.micro_batch} --global-batch-size {found.batch}"
    number_format = found.work.number_format
    yield f"--seq-length {found.work.sequence} --{_FORMATS.get(number_format, number_format)}"


def _limit(answer: WorkloadAnswer) -> str:
    assert answer.time is not None  # the caller asks only then
    hours = math.ceil(_SLACK * float(answer.time.total_s.high) / units.HOUR_S)
    return f"{hours // 24}-{hours % 24:02d}:00:00"


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-") or "job"
