"""Kinds of work that people ask for and no request can state yet: each is refused by its name, never read as training.

One table for sentences and request files. What comes next to it is named with each kind.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

_USERS = r"(?:users?|employees|staff|customers?|clients|callers|subscribers|seats|citizens)"
_MANY_USERS = rf"\d[\d,. ]{{0,10}}k? ?(?:\w+ )?{_USERS}\b"
# Few people may share a cluster to train; hundreds use what was trained.
_HUNDREDS = (
    r"(?<![\d.,])(?:\d{3,7}|\d{1,3}[ ,.]\d{3}|\d{1,3}k) ?(?:\w+ )?"
    r"(?:people|persons|workers|colleagues|students|pupils|developers|engineers|programmers|agents|patients)\b"
)
_NAME = "\x00"  # stands in the place of a name of the catalogue
_TEXTS = (
    r"(?:tokens?|texts?|synthetic|captions?|summaries|answers|responses|translations|completions|prompts|questions"
    r"|queries)"
)
_PASSAGES = r"(?:documents?|texts?|pages?|passages?|chunks?|articles?|e-?mails?|paragraphs?|PDFs?|tickets?|corpus)"


Networks = Literal["language", "other", "unknown"]


_ALL: tuple[Networks, ...] = ("language", "other", "unknown")


@dataclass(frozen=True)
class Sign:
    """Words that tell a kind of work: in texts about which networks, and whether also where something is trained."""

    words: re.Pattern[str]
    networks: tuple[Networks, ...] = _ALL
    with_training: bool = True


@dataclass(frozen=True)
class Kind:
    """A kind of work that is not sized yet.

    Attributes
    ----------
    tasks : tuple of str
        What a request file calls it, its usual name first.
    refusal : str
        What it is, that it is not sized, and what comes nearest.
    signs : tuple of Sign
    is_training : bool
        Whether it is itself called a training, so that words of training tell no other work.
    """

    tasks: tuple[str, ...]
    refusal: str
    signs: tuple[Sign, ...]
    is_training: bool = False


def _always(*patterns: str) -> Sign:
    return Sign(re.compile("|".join(patterns), re.I))


def _with_language(*patterns: str) -> Sign:
    """Words that have another meaning with other networks."""
    return Sign(re.compile("|".join(patterns), re.I), ("language",))


def _as_purpose(*patterns: str, networks: tuple[Networks, ...] = ("language", "unknown")) -> Sign:
    """What a model is for; where something is trained, these words say no more than that."""
    return Sign(re.compile("|".join(patterns), re.I), networks, with_training=False)


# The first that a text tells counts: what names the work exactly stands before what names its use.
KINDS = (
    Kind(
        ("reinforcement-learning", "reinforcement", "rl", "rlhf", "grpo", "ppo", "dpo", "post-training"),
        "post-training by reinforcement or preference (GRPO, PPO, DPO, RLHF) generates or scores answers between its "
        "steps and is not sized yet; the nearest that can be sized is fine-tuning on the same tokens",
        (
            _always(
                r"\b(?:G[RS]PO|PPO|DPO|KTO|ORPO|DAPO|RLOO|RLHF|RLAIF|RLVR|RL(?! (?:team|group)))\b",
                r"\breinforcement (?:learning|training|(?:fine|post)[ -]?\w+)\b",
                r"\bpreference (?:optimi[sz]ation|tuning|training|alignment|learning)\b",
                r"\breward[ -]model\w*|\bpost[ -]?train(?:s|ing|ed)?\b(?! (?:quant|eval|valid))",
            ),
        ),
        is_training=True,
    ),
    Kind(
        ("distillation", "distill", "knowledge-distillation"),
        "distillation runs a teacher next to the student that is trained, and is not sized yet; the nearest that can "
        "be sized is the training of the student alone",
        (
            _always(
                # "DeepSeek-R1-Distill" names a model.
                r"(?<![\w-])(?<!R1 )(?:knowledge )?distil(?:l|ls|led|ling|l?ations?)\b(?!-)",
                r"\bteacher[ -](?:student|model|network)",
            ),
        ),
        is_training=True,
    ),
    Kind(
        ("embeddings", "embedding", "text-embedding", "indexing"),
        "computing embeddings of documents is not sized yet; the nearest that can be sized is batch inference of a "
        "vision network on as many samples",
        (
            _always(
                r"\b(?:embed(?:ding|dings)?|vectori[sz]\w+|index(?:ing)?)(?! ?tables?)"
                rf"(?: (?:[^\s,.;]|[,.](?=\d))+){{0,7}}? {_PASSAGES}\b",
            ),
            _with_language(r"\bembed(?:s|dings?)?\b(?![ -](?:table|layer|dim|param|weight|size|vector))"),
            _as_purpose(r"\b(?:document|text|sentence|passage)s? embeddings?\b", networks=_ALL),
            _as_purpose(r"\bvector (?:database|store|index)\b|\b(?:compute|create|calculate|produce) embeddings\b"),
        ),
    ),
    Kind(
        ("generation", "text-generation", "batch-generation", "offline-inference", "synthetic-data"),
        "generating text or images in batches (also translation, summaries, transcription, labels) is not sized yet; "
        "the nearest that can be sized is training on as much, or batch inference of a vision network",
        (
            _always(
                r"\b(?:text|token|answer|caption|(?:synthetic )?data) generation\b",
                rf"(?<!to )(?<!can )(?<!that )(?<!which )\bgenerat(?:e|ing)\b(?=[^.;]{{0,50}}\b{_TEXTS}\b)",
            ),
            _with_language(r"\b(?:offline|batch(?:ed)?) (?:inferenc\w+|generation|processing|completions?)\b"),
            _as_purpose(rf"\bgenerates?\b(?=[^.;]{{0,50}}\b{_TEXTS}\b)|\bsummari[sz](?:e|ing|ation)\b"),
            _as_purpose(
                r"\btranscri(?:be|bing|ption)\b",
                r"(?:^|[:;,.] ?|\bto |\band |\bwe )generate\b(?=[^.;]{0,30}\b(?:images?|pictures?|videos?|clips?)\b)",
                networks=_ALL,
            ),
            _as_purpose(
                r"\b(?:classif(?:y|ying)|label(?:l?ing)?|annotat(?:e|ing)|extract(?:ing|ion)?|translat(?:e|ing|ion)"
                r"|tag(?:ging)?|rewrit(?:e|ing))\b",
                networks=("language",),
            ),
        ),
    ),
    Kind(
        ("agents", "agent"),
        "AI agents call a served language model many times for each task, and serving is not sized yet; the nearest "
        "that can be sized is the training or fine-tuning of their model",
        (
            _as_purpose(r"\b(?:AI|LLM|autonomous|coding|voice|software)[ -]agents?\b|\bagentic\b"),
            _as_purpose(r"\bagents?\b", networks=("language",)),
        ),
    ),
    Kind(
        ("serving", "inference", "production-inference", "online-inference", "chat", "rag"),
        "serving a model to users or programs (inference) is not sized yet; the nearest that can be sized is its "
        "training or fine-tuning, or batch inference of a vision network on a test set",
        (
            _always(
                r"\b(?:real[ -]?time|online|production|interactive|low[ -]latency|live) "
                r"(?:inferenc\w+|serving|predictions?)",
                r"\b(?:models?|LLMs?|inference) serving\b|\binference (?:server|service|endpoint|API)s?\b",
                rf"\bserv(?:e|es|ing) (?:(?:our|the|an?|own|this|of|trained|fine-?tuned) )*"
                rf"(?:(?={_NAME})|(?:it|them|models?|requests?|traffic|queries|customers?|LLMs?|predictions?)\b)",
                r"\binferenc\w+\b[^.;]{0,60}\bin production\b",
                rf"\b(?:inferenc\w+|serving)(?: \S+){{0,4}}? (?:for|to) {_MANY_USERS}",
                r"\b(?:vLLM|TensorRT-LLM|SGLang|TGI|TTFT|TPOT|QPS|RPS)\b",
                r"\btime to first token\b|\bfirst token (?:under|below|in|within)\b|\bms (?:per|a|each) \w* ?token\b",
                r"\b(?:requests?|queries|prompts|messages|calls)"
                r"(?: ?/ ?s(?:ec)?| (?:per|a|each) (?:second|minute|hour|day))\b",
                r"\b(?:tokens?(?: ?/ ?s(?:ec)?| (?:per|a) second)|latency) (?:per|for each) "
                r"(?:user|request|session|query)\b",
                r"\bconcurrent (?:requests|sessions|chats|queries|streams|conversations)\b",
            ),
            _with_language(
                r"\bserv(?:e|es|ing)\b|\bhosting\b",
                r"\b(?:inferenc\w+|inferring|infer|scoring|predictions?|replay\w*)\b",
                rf"\b(?:host|deploy(?:ing)?)(?= (?:an? |our |the |own |of )*{_NAME})",
                rf"\b(?:answer|complet)(?:e|es|ing) {_TEXTS}\b",
            ),
            _as_purpose(
                r"\b(?:chat ?bots?|chat ?GPT|chats?|chatting|assistants?|co-?pilots?|RAG"
                r"|retrieval[ -]augmented\w*|help ?desk|knowledge bases?)\b",
                r"\bquestion[ -]answering\b|\bQ ?& ?A\b|\bsemantic search\b|\bcode completion\b",
            ),
            _as_purpose(
                r"\bvalidat\w+\b(?! (?:loss|accuracy))|\bAPIs?\b", _MANY_USERS, _HUNDREDS, networks=("language",)
            ),
        ),
    ),
)

# Of a training; "our trained Llama" and "a fine-tuned model" are trained already.
_TRAINS = re.compile(
    r"\b(?:re-?|pre[ -]?)?train(?:s|ing|ings)?\b|\bfine[ -]?tun(?:e|es|ing)\b|\b(?:q?lora|peft|sft)\b"
    rf"|\b(?:(?:re-?|pre[ -]?)?trained|fine[ -]?tuned)\b(?! (?:(?:version|copy|weights) of )?(?:{_NAME}|\w*models?\b"
    r"|networks?\b|LLMs?\b|weights\b|version\b))|\b(?:epochs?|pre-?train\w*)\b",
    re.I,
)
_CLAUSE = re.compile(r"(?:,|\b(?:and|then|plus|followed by|as well as)\b)[ ,]*(?:then |later |also |to )*$", re.I)


@dataclass(frozen=True)
class ToldKind:
    """A kind of work in a text: its words; and next to a training the clause that tells it, else None."""

    kind: Kind
    start: int
    end: int
    clause: tuple[int, int] | None


def kind_in(text: str, networks: Networks) -> ToldKind | None:
    """The kind of work that a text tells and that is not sized yet.

    Parameters
    ----------
    text : str
        With NUL in the place of names of the catalogue.
    networks : str
        Whether the text is about language models, about other networks, or says neither.
    """
    trains = _TRAINS.search(text)
    for kind in KINDS:
        is_trained = trains is not None and not kind.is_training
        signs = (sign for sign in kind.signs if networks in sign.networks and (sign.with_training or not is_trained))
        match = next((match for sign in signs if (match := sign.words.search(text))), None)
        if match is not None:
            clause = _clause(text, match.start(), match.end()) if is_trained else None
            return ToldKind(kind, match.start(), match.end(), clause)
    return None


def _clause(text: str, start: int, end: int) -> tuple[int, int]:
    """The clause around some words: from the conjunction before it to the next stop or conjunction."""
    joined = _CLAUSE.search(text[:start])
    stop = re.compile(r"[.;]|,? (?:and|then) (?=\w*(?:train|tun))", re.I).search(text, end)
    return (joined.start() if joined else start), (stop.start() if stop else len(text))


def of_file(*allowed: str) -> Callable[[object], object]:
    """Validator of a key that names a kind of work: one that is not sized is refused by its name."""

    def check(value: object) -> object:
        name = value.lower().replace("_", "-").replace(" ", "-") if isinstance(value, str) else ""
        kind = next((kind for kind in KINDS if name in kind.tasks), None)
        if kind is not None:
            raise ValueError(f"{value!r}: {kind.refusal}; write {' or '.join(map(repr, allowed))}")
        return value

    return check
