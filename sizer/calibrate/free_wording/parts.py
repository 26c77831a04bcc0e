"""GPU, server, links and neural network that the free wording of a row means.

Each function returns an id of the catalogue, or None where the wording means something that the catalogue lacks.
Where a missing detail changes the prediction, a note beside the id says what was assumed.
"""

import re
from collections.abc import Sequence

from sizer.base.faults import shown
from sizer.calibrate.free_wording.vocabulary import note, vocabulary
from sizer.calibrate.free_wording.wording import plain
from sizer.calibrate.modern.wordings import gpus_named
from sizer.calibrate.observations import Observation
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Gpu

# Boards with other chips resolve to none, also where they share the architecture (Titan V).
_OTHER_GPU = re.compile(
    r"(?:gtx|rtx|gt|titan|radeon|mi|tpu|gaudi|ascend)[0-9]*[a-z]?|quadro|geforce|jetson|xavier|turing|ampere|hopper|"
    r"maxwell|kepler|g[vpahkm]1?[0-9]{2}|[kmtahbl][0-9]{1,3}[a-z]?|p(?:4|6|40)"
)
_MEMORY = re.compile(r"(12|16|32)gi?b?")
_GPU_WORDS = re.compile(r"nvidia|tesla|gpus?|cards?|volta|pascal|x|[0-9]{1,4}x?")
# Part of the name of a server that the catalogue lacks -> form factor and memory of its GPUs.
_FORM_OF_SERVER = (
    ("dgx-station", "dgxs", ""),
    ("pcie", "pcie", ""),
    ("sxm3", "sxm3", ""),
    ("sxm2", "sxm2", ""),
    ("p3dn", "sxm2", "32"),
    ("aws-p3", "sxm2", ""),
)
_OTHER_SERVER = re.compile(r"a100|h100|gen9|gen11|plus|like|equivalent|similar|class|style|vs|station")

_INFINIBAND = re.compile(r"(?:[0-9]{1,2}x)?(hdr100|hdr|edr|fdr|qdr)(?:200|100|56|14)?")
_INFINIBAND_OF_RATE = {"200": "hdr", "100": "edr", "56": "fdr", "40": "qdr"}
_OTHER_LINK = re.compile(r"ndr|xdr|sdr|ddr|opa|omni|omnipath|aries|slingshot|nvlink[0-9]?|nvswitch|myrinet|tofu")
_RATE = re.compile(
    r"(?<![0-9])([0-9]{1,3})-?(?:g|gb|ge|gbe|gige|gbps|gbit|gbits|gigabit)(?![a-z0-9])"
    r"|(?:ethernet|eth|gbe|ib|infiniband|roce|efa|hdr)-([0-9]{2,3})(?![0-9a-z])"
)
_PROTOCOLS = {"efa": "efa", "roce": "roce", "rdma": "rdma", "iwarp": "rdma", "tcp": "tcp", "ipoib": "tcp"}
_INTRA = ("nvlink1", "nvlink2", "nvswitch", "pcie3")
_NVLINK = re.compile(r"(?<![a-z0-9])(?:nvlink-?(?:v|gen|version)?-?([0-9]{1,3})?|nv[0-9]{1,2})(?![0-9a-z])")
_PCIE = re.compile(
    r"(?<![a-z0-9])(?:pci-?e(?:xpress)?-?(?:gen|v)?-?([1-6])?|pci|pix|pxb|phb|node|sys|qpi|upi)(?![0-9a-z])"
)


def _hyphened(text: str) -> str:
    """Latin letters and digits of a text in lower case, one hyphen for everything between them."""
    return re.sub(r"[^a-z0-9]+", "-", plain(text)).strip("-")


def suggest_gpu(catalog: Catalog, row: Observation) -> tuple[str, str] | None:
    """Id of the GPU that a row names, and what was assumed; None for other chips."""
    if row.gpu in catalog.gpus:
        return row.gpu, ""
    newer = [catalog.gpus[id_] for id_ in gpus_named(row.gpu) if id_ in catalog.gpus]
    if newer:
        return newer[0].id, _left_open(row.gpu, newer)
    name = re.sub(r"pci-e(?=-|$)", "pcie", _hyphened(row.gpu))
    name = re.sub(r"(v100s?|p100)(?=sxm|pcie|fhhl|dgxs|[0-9]{2}g)|([0-9]x)(?=v100|p100)", r"\1\2-", name)
    words = re.sub(r"([0-9]{2})-g(?=i?b?(?:-|$))", r"\1g", name).split("-")
    chip = next((chip for word, chip in vocabulary().chips.items() if word in words), None)
    if chip is None or any(_OTHER_GPU.fullmatch(word) for word in words):
        return None
    reasons = []
    form = next((vocabulary().form_factors[word] for word in words if word in vocabulary().form_factors), "")
    memory = next((found[1] for word in words if (found := _MEMORY.fullmatch(word))), "")
    if not form and chip != "v100s":  # sold in one form only
        form, memory_there, why = _form_there(catalog, row, "p100" if chip == "p100" else "v100", words)
        memory = memory or memory_there
        reasons.append(why)
    left = [
        w
        for w in words
        if w not in vocabulary().chips and w not in vocabulary().form_factors and not _MEMORY.fullmatch(w)
    ]
    reasons += [note("ignored", shown(word)) for word in left if not _GPU_WORDS.fullmatch(word)][:1]
    board = _nearest_board(catalog, chip, form, memory, reasons)
    if board is None:
        return None
    return board.id, note("read-as", shown(row.gpu), board.name, ", ".join(reasons)) if reasons else ""


def _left_open(written: str, gpus: Sequence[Gpu]) -> str:
    """Note on what a wording that can mean any of several GPUs leaves open, read as the first of them; "" for one."""
    forms, sizes = {gpu.form_factor.value for gpu in gpus}, {gpu.memory_bytes.value for gpu in gpus}
    reasons = [note(key) for key, facts in (("form-factor", forms), ("memory", sizes)) if len(facts) > 1]
    return note("read-as", shown(written), gpus[0].name, ", ".join(reasons)) if reasons else ""


def _form_there(catalog: Catalog, row: Observation, chip: str, words: list[str]) -> tuple[str, str, str]:
    """Form factor and memory that the server or the link of a row implies, and the reason."""
    name = _hyphened(row.server)
    memory = next((found[1] for word in name.split("-") if (found := _MEMORY.fullmatch(word))), "")
    known = suggest_server(catalog, row)
    if known is not None and catalog.servers[known].gpus:
        server = catalog.servers[known]
        form = catalog.gpus[server.gpus[0]].form_factor.value
        return ("sxm2" if chip == "p100" and form == "sxm3" else form), memory, note("form-factor-of", server.name)
    for part, form_there, memory_there in _FORM_OF_SERVER:
        if part in name:
            return form_there, memory or memory_there, note("form-factor-of", shown(row.server))
    link = suggest_intra_link(row.intra_link)
    if link is not None:
        form_there = catalog.gpu_links[link].form_factors[0]
        return ("sxm2" if chip == "p100" and form_there == "sxm3" else form_there), memory, note("form-factor-of", link)
    # "pascal" alone is the word of the tests of 2017, which ran on the PCIe board.
    return ("pcie" if "pascal" in words and "p100" not in words else "sxm2"), memory, note("form-factor")


def _nearest_board(catalog: Catalog, chip: str, form: str, memory: str, reasons: list[str]) -> Gpu | None:
    """Board of a chip nearest to a form factor and memory; what differs or was assumed joins the reasons."""
    form = "pcie" if chip == "v100s" else form
    same_form = [gpu for gpu in catalog.gpus.values() if re.fullmatch(rf"{chip}-{form}-[0-9]+gb", gpu.id)]
    usual = "32" if form == "sxm3" else "16"
    wanted = f"{chip}-{form}-{memory or usual}gb"
    if len(same_form) > 1 and not memory:
        reasons.append(note("memory"))
    if same_form and memory and wanted not in catalog.gpus:
        reasons.append(note("memory-unknown", memory))
    if not same_form:
        reasons.append(note("board-unknown", form.upper()))
        wanted = f"{chip}-sxm2-{memory or usual}gb"
        same_form = [gpu for gpu in catalog.gpus.values() if gpu.id.startswith(f"{chip}-")]
    if wanted in catalog.gpus:
        return catalog.gpus[wanted]
    return next((gpu for gpu in same_form if f"-{usual}gb" in gpu.id), next(iter(same_form), None))


def suggest_server(catalog: Catalog, row: Observation) -> str | None:
    """Server of the catalogue with the same host; it may have held other GPUs."""
    if row.server in catalog.servers:
        return row.server
    name = _hyphened(row.server)
    if any(_OTHER_SERVER.fullmatch(word) for word in name.split("-")):
        return None
    for server, pattern in vocabulary().servers.items():
        found = re.search(rf"(?<![a-z0-9])(?:{pattern})(?![a-z0-9])", name)
        if found and server in catalog.servers:
            said = f"{_hyphened(row.gpu)}-{name.replace(found[0], '', 1)}".split("-")
            has_pcie = "pcie" in said or row.intra_link.startswith("pcie")
            return "c4140-pcie" if server == "c4140" and has_pcie else server
    return None


def suggest_link(text: str, catalog: Catalog) -> tuple[str, str] | None:
    """Link between servers in the words of :func:`~sizer.calibrate.cases.observed_link_bytes_per_s`, and the note."""
    rate_name, _, said = text.partition("-")
    if rate_name in catalog.links and said in ("", "roce", "rdma", "tcp", "efa"):
        return text, ""
    name = _hyphened(text)
    words = name.split("-")
    if any(_OTHER_LINK.fullmatch(word) for word in words):
        return None
    found, reason = _link_kind(name, words)
    if found not in catalog.links:
        return None
    protocol = next((usual for word, usual in _PROTOCOLS.items() if any(w.startswith(word) for w in words)), "")
    if found in _INFINIBAND_OF_RATE.values() and protocol != "tcp":
        protocol = ""  # InfiniBand is crossed by RDMA
    if re.search(r"(?<![a-z0-9])[2-9]-?x", name):
        reason = ", ".join(filter(None, (reason, note("ports"))))
    assumed = note("read-as", shown(text), catalog.links[found].name, reason) if reason else ""
    return f"{found}-{protocol}" if protocol else found, assumed


def _link_kind(name: str, words: list[str]) -> tuple[str, str]:
    """Kind of link and what was assumed; empty where the words name none."""
    rates = {rate for pair in _RATE.findall(name) for rate in pair if rate}
    rate = rates.pop() if len(rates) == 1 else ""
    generations = {found[1] for word in words if (found := _INFINIBAND.fullmatch(word))}
    if len(generations) == 1:
        generation = generations.pop()
        if generation == "hdr100" or (generation == "hdr" and rate == "100"):
            return "edr", note("hdr100")
        return generation, note("ethernet-too") if rate and _INFINIBAND_OF_RATE.get(rate) != generation else ""
    if generations or rates:
        return "", ""
    if any(word.startswith(("ib", "infiniband")) for word in words):
        return _INFINIBAND_OF_RATE.get(rate, ""), ""
    if "efa" in words and not rate:
        return "100gbe", note("efa-rate")
    if not rate:
        return ("1gbe", "") if "gige" in words or "gigabit" in words else ("", "")
    is_ethernet = re.search(r"gbe|gige|ge(?:-|$)|eth|roce|tcp|efa|iwarp", name)
    return f"{rate}gbe", "" if is_ethernet else note("ethernet")


def suggest_intra_link(text: str) -> str | None:
    """Link between the GPUs of a server: ``nvlink1``, ``nvlink2``, ``nvswitch`` or ``pcie3``."""
    if text in _INTRA:
        return text
    name = _hyphened(text)
    if re.search(r"(?<![a-z0-9])(?:nv-?|nvlink-?)switch", name):
        return "nvswitch"
    nvlink = _NVLINK.search(name) or re.search(r"nvlink()(?![a-z0-9])|(?<![a-z0-9])cube-mesh", name)
    if nvlink is not None:
        generation = nvlink[1] or "2"
        return f"nvlink{generation}" if generation in ("1", "2") else None
    pcie = _PCIE.search(name)
    # The GPUs of the catalogue have no newer PCIe than 3.
    return None if pcie is None or pcie[1] in ("1", "2") else "pcie3"


def suggest_dnn(catalog: Catalog, text: str) -> tuple[str, str] | None:
    """Id of the neural network that a text names, and what was assumed."""
    if text in catalog.dnns:
        return text, ""
    alias = _hyphened(text).replace("-", "")
    dnn = next((dnn for dnn, words in vocabulary().dnns.items() if alias in words), "")
    if dnn not in catalog.dnns:
        dnn = next((dnn for dnn in catalog.dnns if dnn.replace("-", "") == alias), "") if alias else ""
    if not dnn:
        return None
    reason = vocabulary().dnns_assumed.get(alias)
    return dnn, note("read-as", shown(text), catalog.dnns[dnn].name, reason) if reason else ""
