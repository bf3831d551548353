"""Training recipes: the stages that a bi-encoder goes through, and presets with a name in the field."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from augsbert_core.errors import WorkbenchError
from augsbert_core.options import BiEncoderOptions, Stage
from augsbert_core.steps.recipe_text import from_toml, left_out, to_toml

__all__ = [
    "OVERRIDES",
    "PRESETS",
    "Preset",
    "apply_preset",
    "from_toml",
    "gold_only_twin",
    "left_out",
    "stage_options",
    "stages_of",
    "to_toml",
    "uses",
    "without_silver",
]

OVERRIDES = (
    "epochs", "max_steps", "learning_rate", "batch_size", "schedule", "warmup_ratio", "weight_decay", "scale",
)  # fmt: skip
"""What a stage may say for itself; None takes the run's own."""


@dataclass(frozen=True)
class Preset:
    """A recipe with a name. why: what it does, in one sentence. told: options that it sets besides stages.

    needs: kinds of data that must be there: "gold", "silver", "nli", "triplets".
    """

    title: str
    why: str
    stages: tuple[Stage, ...] = ()
    told: Mapping[str, Any] = field(default_factory=dict)
    needs: tuple[str, ...] = ("gold",)


_WARM = {"schedule": "warmup", "warmup_ratio": 0.1}
_NLI_SOFTMAX = Stage("nli", "softmax", epochs=1, batch_size=16, learning_rate=2e-5)
_NLI_MNRL = Stage("nli", "mnrl", epochs=1, batch_size=64, learning_rate=2e-5, scale=20.0)
_STS = Stage("gold", "cosine", epochs=4, batch_size=16, learning_rate=2e-5)
_STS_SHORT = replace(_STS, epochs=2)
_COSENT = Stage("gold", "cosent", epochs=1, batch_size=16, learning_rate=2e-5, scale=20.0)

PRESETS: dict[str, Preset] = {
    "sts": Preset(
        "STS: gold pairs, cosine",
        "The cosine of each gold pair is brought to its score, with linear warm-up and decay: the usual "
        "fine-tuning on STS data (Reimers & Gurevych 2019).",
        told={**_WARM, "loss": "cosine", "silver_set_id": None},
    ),
    "nli": Preset(
        "NLI: softmax",
        "Learns to tell entailment, contradiction and neutral pairs apart from u, v and |u − v|: how the first "
        "sentence-BERT was made; gold only chooses the checkpoint.",
        (_NLI_SOFTMAX,),
        _WARM,
        ("nli",),
    ),
    "nli_mnrl": Preset(
        "NLI: ranking",
        "Each premise must find what it entails among the batch, against its contradiction as a hard negative: "
        "the stronger use of NLI data.",
        (_NLI_MNRL,),
        {**_WARM, "hard_negatives": True},
        ("nli",),
    ),
    "sts_nli": Preset(
        "NLI softmax, then STS",
        "First the classes of NLI pairs, then the cosines of the gold pairs: the two stages of sentence-BERT.",
        (_NLI_SOFTMAX, _STS),
        _WARM,
        ("nli", "gold"),
    ),
    "sts_nli_mnrl": Preset(
        "NLI ranking, then STS",
        "First ranking on NLI with hard negatives, then the cosines of the gold pairs.",
        (_NLI_MNRL, _STS),
        {**_WARM, "hard_negatives": True},
        ("nli", "gold"),
    ),
    "sts_nli_mnrl_cosent": Preset(
        "NLI ranking, STS, then CoSENT",
        "Ranking on NLI (1 epoch), cosines of the gold pairs (2), and at last CoSENT on gold (1), which only asks "
        "that pairs come in the right order, as Spearman's correlation does.",
        (_NLI_MNRL, _STS_SHORT, _COSENT),
        {**_WARM, "hard_negatives": True, "scale": 20.0},
        ("nli", "gold"),
    ),
    "sts_nli_mnrl_aoe": Preset(
        "NLI ranking, STS, then AnglE",
        "Ranking on NLI (1 epoch), cosines of the gold pairs (2), and at last AnglE on gold (1): the order of "
        "pairs by their angle in complex space, where the cosine's slope would vanish.",
        (_NLI_MNRL, _STS_SHORT, replace(_COSENT, loss="angle")),
        {**_WARM, "hard_negatives": True, "scale": 20.0},
        ("nli", "gold"),
    ),
    "wikipedia_triplet": Preset(
        "Triplets: margin",
        "A sentence must lie closer to one of its own section than to one of another section of the same "
        "article, by a margin: sections of Wikipedia, or any triplets.",
        (Stage("triplets", "triplet", epochs=1, batch_size=16, learning_rate=2e-5),),
        _WARM,
        ("triplets",),
    ),
    "wikipedia_triplet_mnrl": Preset(
        "Triplets: ranking",
        "The same triplets, but each anchor must find its positive among the whole batch, with its own negative "
        "as the hardest.",
        (Stage("triplets", "mnrl", epochs=1, batch_size=64, learning_rate=2e-5, scale=20.0),),
        {**_WARM, "hard_negatives": True},
        ("triplets",),
    ),
    "augsbert": Preset(
        "AugSBERT: gold and silver, shuffled",
        "Gold and silver pairs together, cosine, learning rate 2e-5, batch 16, 10 % warm-up: the paper's recipe "
        "(§3.1).",
        told={
            **_WARM,
            "loss": "cosine",
            "learning_rate": 2e-5,
            "batch_size": 16,
            "mixing": "shuffled",
            "use_gold": True,
        },
        needs=("gold", "silver"),
    ),
    "silver_gold": Preset(
        "Silver first, then gold",
        "Learns from the many uncertain silver pairs first and ends on the few certain gold pairs, so that gold has "
        "the last word.",
        told={**_WARM, "loss": "cosine", "mixing": "silver-first", "use_gold": True},
        needs=("silver", "gold"),
    ),
    "symmetric": Preset(
        "Both directions, low rate",
        "Each pair as (A, B) and (B, A), learning rate 1e-5, 2 epochs, 10 % warm-up, weight decay 0.01. The swap "
        "mostly adds volume: compare at equal steps.",
        told={
            **_WARM,
            "loss": "cosine",
            "symmetric": True,
            "learning_rate": 1e-5,
            "epochs": 2,
            "weight_decay": 0.01,
        },
    ),
}
"""Name → recipe, from the plainest on. Other options stay as they are, such as base, layers and seed."""


def apply_preset(name: str, options: BiEncoderOptions) -> BiEncoderOptions:
    """The options with a preset's stages and values. WorkbenchError: there is no such preset."""
    if name not in PRESETS:
        raise WorkbenchError(f"There is no recipe {name!r}. Choose one of {', '.join(PRESETS)}.")
    preset = PRESETS[name]
    plain: dict[str, Any] = {"mixing": "shuffled", "use_gold": True} if preset.stages else {}
    return replace(options, stages=preset.stages, first_stage=1, **plain, **preset.told)


def stages_of(options: BiEncoderOptions) -> tuple[Stage, ...]:
    """The stages that a run goes through: those of its recipe, or what its options amount to."""
    if options.stages:
        return options.stages
    has_silver = options.silver_set_id is not None
    if has_silver and options.use_gold and options.mixing == "silver-first":
        return Stage("silver", options.loss), Stage("gold", options.loss)
    data = "gold" if not has_silver else "gold+silver" if options.use_gold else "silver"
    return (Stage(data, options.loss),)


def stage_options(
    options: BiEncoderOptions, stage: Stage, *, is_first: bool = True
) -> BiEncoderOptions:
    """What the trainer of one stage is told. Layers and pooling are those of the base, so of the first stage."""
    told = {name: getattr(stage, name) for name in OVERRIDES if getattr(stage, name) is not None}
    if stage.epochs is not None:
        told.setdefault("max_steps", None)
    if not is_first:
        told |= {"layers": None, "pooling": "own"}
    return replace(
        options,
        loss=stage.loss,
        mixing="shuffled",
        stages=(),
        first_stage=1,
        seeds=1,
        **told,
    )


def uses(options: BiEncoderOptions, kind: str) -> bool:
    """Whether a run trains on a kind of data: "gold", "silver", "nli" or "triplets"."""
    begun = stages_of(options)[options.first_stage - 1 :]
    return any(kind in stage.data.split("+") for stage in begun)


def without_silver(options: BiEncoderOptions) -> BiEncoderOptions:
    """The recipe on gold alone; its stages stay. Never stopped early: it has its steps to take."""
    return replace(
        options,
        silver_set_id=None,
        use_gold=True,
        mixing="shuffled",
        silver_weight=1.0,
        silver_scores="corrected",
        keep_rejected=False,
        promote=False,
        patience=0,
    )


def gold_only_twin(options: BiEncoderOptions, steps: Sequence[int]) -> BiEncoderOptions:
    """The same recipe without silver, for as many optimiser steps. steps: of each stage that the run has.

    A stage that trains on silver takes gold in its place; without stages of its own the twin has one.
    """
    plain = without_silver(options)
    if not options.stages:
        return replace(plain, max_steps=sum(steps))
    before = options.stages[: options.first_stage - 1]
    stages = [
        replace(stage, data=stage.data.replace("gold+silver", "gold").replace("silver", "gold"))
        for stage in options.stages
    ]
    limited = [
        replace(stage, max_steps=limit)
        for stage, limit in zip(stages[len(before) :], steps, strict=True)
    ]
    return replace(plain, stages=(*stages[: len(before)], *limited), max_steps=None)
