"""``sizer fabric``, ``project`` and ``layout``: a single fabric, a given cluster, and ways to divide a model."""

from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from sizer.cli.documents import AsJson, CatalogDir, print_answer, print_document


def fabric_command(
    end_points: Annotated[
        int | None, typer.Argument(help="Number of end points to connect, over all rails.", metavar="END_POINTS")
    ] = None,
    nodes: Annotated[
        int | None, typer.Option(help="Servers, instead of END_POINTS: the fabric is then rail-optimised.")
    ] = None,
    links_per_node: Annotated[int, typer.Option(help="Links of each server, one for each GPU index (rail).")] = 8,
    unit: Annotated[
        int | None,
        typer.Option(help="Servers of a scalable unit (SU). Default: as many as a leaf has ports down.", metavar="N"),
    ] = None,
    full_units: Annotated[
        bool,
        typer.Option("--full-units", help="Build leaves and uplinks for full units, also for a partly filled one."),
    ] = False,
    other_ports: Annotated[
        int,
        typer.Option(
            "--ufm-ports", "--other-ports", help="Further ports on the leaves: UFM appliances, management servers."
        ),
    ] = 0,
    switch: Annotated[
        str | None, typer.Option(help="Switch from the catalogue, e.g. sb7800, qm9700, q3400-ra.")
    ] = None,
    ports: Annotated[
        int | None,
        typer.Option(help="Ports per switch, instead of --switch. 64 x 800G run as 128 x 400G: --ports 128."),
    ] = None,
    oversubscription: Annotated[
        float | None,
        typer.Option(
            help="Oversubscription ratio: ports down to ports up of a leaf. 1 is non-blocking (default); "
            "a storage fabric has 4:3 towards the servers."
        ),
    ] = None,
    rails: Annotated[
        int,
        typer.Option("--rails", "--planes", help="Number of separate, identical networks (rails kept apart, planes)."),
    ] = 1,
    network: Annotated[
        Literal["compute", "storage", "in-band"],
        typer.Option(
            help="compute: fat tree. storage: two ports of each server on a pair of leaves, storage devices on leaves "
            "of their own. in-band: pairs of connected leaves."
        ),
    ] = "compute",
    storage_ports: Annotated[int, typer.Option(help="Ports of storage devices, with --network storage.")] = 0,
    storage_link_share: Annotated[
        float, typer.Option(help="Rate of a storage port over that of a switch port: 0.5 for 200 on 400 Gbit/s.")
    ] = 1.0,
    pair: Annotated[
        bool, typer.Option("--pair", help="Two switches connected to each other where one would do (BasePOD).")
    ] = False,
    links_per_cable: Annotated[
        int, typer.Option(help="Links that one cable carries: 2 for twin-port cables and 2x breakouts.")
    ] = 1,
    ports_per_module: Annotated[
        int, typer.Option(help="Ports of one cage and module: 2 for twin-port OSFP. Modules are counted by cage.")
    ] = 1,
    as_json: AsJson = False,
    catalog_dir: CatalogDir = None,
) -> None:
    """Design a fabric of up to three tiers: switches, cables and modules.

    One scalable unit of a DGX H100 SuperPOD: sizer fabric --nodes 31 --ufm-ports 4 --ports 64
    """
    given: dict[str, Any] = dict(locals())  # its options are the fields of the question
    from sizer.catalog.loader import load_catalog
    from sizer.physical.networks.single_fabric import FabricAsked, single_fabric
    from sizer.present.text.plan import fabric_text

    asked = FabricAsked(**{field.name: given[field.name] for field in fields(FabricAsked)})
    fabric = single_fabric(asked, load_catalog(overlay=catalog_dir) if switch is not None else None)
    if as_json:
        print_document("fabric", **vars(fabric))
    else:
        print(fabric_text(fabric))


def project_command(
    request_file: Annotated[Path, typer.Argument(help="Request file with the workload.", metavar="REQUEST")],
    server: Annotated[str, typer.Option(help="Server, e.g. dgx-1.")],
    servers: Annotated[int, typer.Option(help="Number of servers.")],
    storage: Annotated[str, typer.Option(help="Storage, e.g. isilon-f800.")],
    storage_nodes: Annotated[int, typer.Option(help="Number of storage nodes; 0 for local drives.")] = 0,
    gpu: Annotated[str | None, typer.Option(help="GPU. Default: the default GPU of the server.")] = None,
    gpus_per_server: Annotated[int | None, typer.Option(help="GPUs used per server. Default: all.")] = None,
    stack: Annotated[str | None, typer.Option(help="Software stack. Default: as in the request.")] = None,
    fabric: Annotated[str | None, typer.Option(help="Fabric: edr, ndr, 100gbe ... Default: the fastest.")] = None,
    as_json: AsJson = False,
    catalog_dir: CatalogDir = None,
) -> None:
    """Predict the performance of a given cluster."""
    from sizer.catalog.loader import load_catalog
    from sizer.export.design_json import projection_document
    from sizer.guide.plain_text import projection_text
    from sizer.sizing.project import project
    from sizer.workload.request import SizingRequest

    design = project(
        SizingRequest.from_file(request_file),
        load_catalog(overlay=catalog_dir),
        server=server,
        servers=servers,
        storage=storage,
        storage_nodes=storage_nodes,
        gpu=gpu,
        gpus_per_server=gpus_per_server,
        stack=stack,
        fabric=fabric,
    )
    print_answer(as_json, projection_document, projection_text, design)


def layout_command(
    model: Annotated[
        str,
        typer.Argument(
            help="Language model of the catalogue, e.g. 'Llama 3 70B'; or a name for --shape.", metavar="MODEL"
        ),
    ],
    gpus: Annotated[int, typer.Argument(help="Number of GPUs.", metavar="GPUS")],
    gpu: Annotated[str, typer.Option(help="GPU by its id or name, e.g. H100, b200-sxm-180gb.")] = "H100",
    shape: Annotated[
        str | None, typer.Option(help="Another model: '13B', or 'layers=40 hidden=5120 heads=40 kv_heads=8 ...'.")
    ] = None,
    sequence: Annotated[int, typer.Option(help="Tokens of a sequence.")] = 8192,
    batch: Annotated[int | None, typer.Option(help="Sequences of a step, all GPUs together. Default: 2 a GPU.")] = None,
    precision: Annotated[str, typer.Option(help="Number format: fp16, bf16, fp8, mxfp8, fp4, nvfp4.")] = "bf16",
    software: Annotated[str, typer.Option(help="Software stack, e.g. NeMo, torchtitan, MaxText.")] = "NeMo",
    lora: Annotated[bool, typer.Option("--lora", help="Train adapters; the model itself is frozen.")] = False,
    tensor: Annotated[int | None, typer.Option(help="Fix tensor parallelism.")] = None,
    pipeline: Annotated[int | None, typer.Option(help="Fix pipeline parallelism.")] = None,
    context: Annotated[int | None, typer.Option(help="Fix context parallelism.")] = None,
    expert: Annotated[int | None, typer.Option(help="Fix expert parallelism.")] = None,
    chunks: Annotated[int | None, typer.Option(help="Fix the chunks of a pipeline stage.")] = None,
    data: Annotated[int | None, typer.Option(help="Fix data parallelism.")] = None,
    micro_batch: Annotated[int | None, typer.Option(help="Fix the sequences of a micro batch.")] = None,
    sharding: Annotated[str | None, typer.Option(help="Divide over replicas: none, optimizer or all (FSDP).")] = None,
    recompute: Annotated[str | None, typer.Option(help="Recompute activations: none, selective or full.")] = None,
    across_servers: Annotated[bool, typer.Option(help="Allow tensor parallelism over the network.")] = False,
    count: Annotated[int, typer.Option(help="Layouts to show.", min=1, max=100)] = 5,
    as_json: AsJson = False,
    catalog_dir: CatalogDir = None,
) -> None:
    """Find the fastest way to divide the training of a language model over GPUs: rate, memory, time of a step."""
    given: dict[str, Any] = dict(locals())  # some options are the degrees that a layout may fix
    from sizer.calibrate.language.calibration import language_calibration
    from sizer.catalog.loader import load_catalog
    from sizer.present.text.layouts import layouts_text
    from sizer.sizing.stages.language_rates import LayoutQuestion, language_model, model_name, search_layouts
    from sizer.workload.transformer.custom_transformer import shape_from_text
    from sizer.workload.transformer.layout_pins import LayoutPins, layout_pins

    catalog = load_catalog(overlay=catalog_dir)
    own = None if shape is None else shape_from_text(model, shape)
    question = LayoutQuestion(
        model=model if own is not None else language_model(catalog, model).id,
        gpu=gpu,
        gpus=gpus,
        sequence=sequence,
        batch=2 * gpus if batch is None else batch,
        precision=precision,
        software=software,
        kind="lora" if lora else "pretrain",
        pins=layout_pins({name: given[name] for name in LayoutPins.model_fields}),
        shape=own,
    )
    search = search_layouts(question, catalog, language_calibration(), count)
    if as_json:
        print_document("layouts", **vars(search))
    else:
        print(layouts_text(search, model_name(question, catalog)))
