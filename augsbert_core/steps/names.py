"""What runs, strategies and rules are called, from what a step is told."""

from typing import Any

from augsbert_core.options import (
    AugmentOptions,
    BatchOptions,
    BiEncoderOptions,
    CrossEncoderOptions,
    DrawOptions,
    EvaluateOptions,
    GateOptions,
    ImportFilesOptions,
    KeepOptions,
    LabelErrorsOptions,
    LabelOptions,
    NegativesOptions,
    PreviewOptions,
    ReproduceOptions,
    RerankOptions,
    SampleOptions,
    SeedStudyOptions,
    StratifiedOptions,
    StudentScoresOptions,
    TaskOptions,
    TransferOptions,
)
from augsbert_core.sampling import STRATEGY_NAMES


def describe(step: str, options: Any) -> str:
    """A short name for a run, from what the step is told."""
    match options:
        case CrossEncoderOptions():
            return f"Cross-encoder from {model_label(options.base)}{_cross_data(options)}"
        case BiEncoderOptions():
            layers = f", {options.layers} layers" if options.layers else ""
            steps = f", {options.max_steps} steps" if options.max_steps else ""
            seeds = f", best of {options.seeds} seeds" if options.seeds > 1 else ""
            model = f"Bi-encoder from {model_label(options.base)}{layers}"
            return f"{model}: {data_label(options)}{silver_choice(options)}{steps}{seeds}"
        case ImportFilesOptions():
            return "Import of " + ", ".join(file.name for file in options.files)
        case SeedStudyOptions():
            return f"Study of {options.seeds} seeds of a {options.model}"
        case SampleOptions():
            return strategy_label(options.strategy, options)
        case AugmentOptions():
            return f"Copies of gold with words replaced by {model_label(options.model)}"
        case StratifiedOptions():
            return f"{STRATEGY_NAMES['stratified-kde']}: {options.n_keep:,} pairs wanted"
        case PreviewOptions():
            if options.candidate_set_id is None:
                return f"Check labeler {labeler_label(options.labeler)}"
            return f"Preview of {options.n_pairs:,} labels for candidate set {options.candidate_set_id}"
        case TaskOptions():
            what = "Audit" if options.purpose == "audit" else "Annotation"
            return options.name or f"{what} of {options.n_pairs:,} pairs"
        case StudentScoresOptions():
            return (
                f"Scores of {labeler_label(options.model)} for silver set {options.silver_set_id}"
            )
        case LabelErrorsOptions():
            return f"Likely label errors, {options.folds} folds"
        case KeepOptions():
            return f"{rule_label(options)} of silver set {options.silver_set_id}"
        case LabelOptions():
            labeler = labeler_label(options.labeler)
            orders = ", both orders" if options.both_orders else ""
            return f"Labels for candidate set {options.candidate_set_id} by {labeler}{orders}"
        case GateOptions():
            return f"Labelers against gold alone on {options.split}"
        case RerankOptions():
            count = len(options.rerankers)
            return f"{count} reranker{'s' * (count != 1)} on {options.depth} candidates per query"
        case NegativesOptions():
            return (
                f"{options.per_positive} negatives per positive by {source_label(options.source)}"
            )
        case EvaluateOptions():
            return f"Evaluation on {options.split}"
        case TransferOptions():
            file = model_label(options.data)
            return f"Transfer of {len(options.targets)} models to {file}"
        case DrawOptions():
            return f"{options.n_pairs:,} pairs drawn from candidate set {options.candidate_set_id}"
        case ReproduceOptions():
            return f"Run {options.run_id} again"
        case BatchOptions():
            return f"{BATCH_NAMES.get(options.kind, 'Batch')}: {options.title}".removesuffix(": ")
        case _:
            return step


BATCH_NAMES = {
    "multi-run": "Several seeds",
    "sweep": "Sweep",
    "will-silver-help": "Will silver help?",
    "learning-curve": "Learning curve",
    "domain-adaptation": "New domain",
    "retrain": "Retrain with corrections",
}
"""Kind of batch → its name on the screen."""


def data_label(options: BiEncoderOptions) -> str:
    """What a student learns from, "gold + silver set 3", "NLI, then gold"."""
    names = {
        "gold": "gold",
        "silver": f"silver set {options.silver_set_id}",
        "gold+silver": f"gold + silver set {options.silver_set_id}",
        "nli": "NLI",
        "triplets": "triplets",
    }
    if options.stages:
        begun = options.stages[options.first_stage - 1 :]
        return ", then ".join(names.get(stage.data, stage.data) for stage in begun)
    if options.silver_set_id is None:
        return "gold only"
    if not options.use_gold:
        return f"{names['silver']} only"
    return names["gold+silver"] if options.mixing == "shuffled" else f"{names['silver']}, then gold"


def silver_choice(options: BiEncoderOptions | CrossEncoderOptions) -> str:
    """How a training takes people's decisions on its silver set, where not as usual: ", corrections as gold"."""
    if options.silver_set_id is None:
        return ""
    told = {
        ", raw silver scores": options.silver_scores == "raw",
        ", rejected pairs kept": options.keep_rejected,
        ", corrections as gold": options.promote,
    }
    return "".join(words for words, is_so in told.items() if is_so)


def _cross_data(options: CrossEncoderOptions) -> str:
    if options.corrections_of is None:
        return silver_choice(options)
    return f" with corrections of silver set {options.corrections_of}{silver_choice(options)}"


def strategy_label(strategy: str, options: SampleOptions) -> str:
    """A strategy with the parameter that matters, "BM25 top-5"."""
    if strategy == "uploaded":
        return "Uploaded pairs"
    if strategy == "nlpaug":
        return "Words replaced (NLPAug)"
    return STRATEGY_NAMES.get(strategy, strategy).replace("top-k", f"top-{options.top_k}")


def rule_label(options: KeepOptions) -> str:
    """A rule for keeping pairs with its parameter, "KDE, c = 0.5"."""
    if options.rule == "kde":
        return f"KDE, c = {options.c:.3g}"
    if options.rule == "classification":
        return "Positives and matched negatives"
    return f"Rank up to {options.max_rank}"


def labeler_label(text: str) -> str:
    """A labeler for people: "run 3 + run 7", or the last part of a name or folder."""
    return " + ".join(model_label(part.replace("run:", "run ")) for part in text.split(" + "))


def model_label(name: str) -> str:
    """The last part of a model name or folder, for people; with its layers where it is cut: "MODEL, 2 layers"."""
    name, at, layers = name.partition("@layers=")
    size = f", {layers} layer{'' if layers == '1' else 's'}" if at else ""
    return (name.rstrip("/\\").replace("\\", "/").rsplit("/", 1)[-1] or name) + size


def source_label(source: str) -> str:
    """What finds near sentences, for people: "BM25", "run 3" or a model's name."""
    if source == "bm25":
        return "BM25"
    return model_label(source.replace("run:", "run ").removeprefix("model:"))
