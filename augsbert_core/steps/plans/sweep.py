"""The same recipe with other learning rates, batch sizes or values of top-k."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from augsbert_core.errors import WorkbenchError
from augsbert_core.options import (
    BatchOptions,
    BiEncoderOptions,
    CrossEncoderOptions,
    PlannedRun,
    SampleOptions,
)
from augsbert_core.steps.plans.parts import (
    Silver,
    bounded,
    labelling,
    measuring,
    planned,
    sampling,
    seeds_from,
)


@dataclass(frozen=True)
class Grid:
    """Values that a sweep tries. source: where they come from, for people."""

    source: str
    learning_rates: tuple[float, ...] = ()
    batch_sizes: tuple[int, ...] = ()
    top_ks: tuple[int, ...] = ()


GRIDS = {
    "top-k": Grid(
        "the values of k in tables 9 and 10 of the AugSBERT paper (Thakur et al. 2020)",
        top_ks=(3, 5, 7, 9, 12, 18),
    ),
    "bert": Grid(
        "what the authors of BERT recommend to try (Devlin et al. 2019, appendix A.3)",
        learning_rates=(2e-5, 3e-5, 5e-5),
        batch_sizes=(16, 32),
    ),
    "rates": Grid(
        "1e-5 and 2e-5 are the AugSBERT paper's for cross-encoder and bi-encoder on BERT-base, the rest is ours: "
        "small models need higher ones",
        learning_rates=(1e-5, 2e-5, 5e-5, 1e-4, 2e-4),
    ),
}
"""Presets: name → values and their source."""


def sweep(
    recipe: BiEncoderOptions | CrossEncoderOptions,
    *,
    learning_rates: Sequence[float] = (),
    batch_sizes: Sequence[int] = (),
    top_ks: Sequence[int] = (),
    sample: SampleOptions | None = None,
    labeler: str = "",
    num_runs: int = 1,
    seed_step: int = 1,
    split: str = "",
) -> BatchOptions:
    """Train the recipe with every combination of the values; without values of one kind its own stays.

    top_ks: for a bi-encoder: `sample` with each k, labelled by `labeler`. num_runs: seeds per combination.
    The best on dev is marked; measuring the test split is off by default, for choosing by test scores would
    spoil them. WorkbenchError: no values, a value out of range, or too many runs.
    """
    _check(recipe, learning_rates, batch_sizes, top_ks, labeler)
    plan: list[PlannedRun] = []
    for k in sorted(set(top_ks)):
        plan += _silver_for(replace(sample or SampleOptions(), top_k=k), labeler, recipe)
    seeds = seeds_from(recipe.seed, num_runs, seed_step)
    targets = []
    every_k: list[int | None] = [*sorted(set(top_ks))] or [None]
    for rate, size, top_k in product(
        sorted(set(learning_rates)) or [recipe.learning_rate],
        sorted(set(batch_sizes)) or [recipe.batch_size],
        every_k,
    ):
        group = _group(rate, size, top_k)
        for seed in seeds:
            key = f"{group}, seed {seed}".replace(".", "·")
            options: Any = replace(recipe, learning_rate=rate, batch_size=size, seed=seed)
            step = "train-bi-encoder" if _is_bi(recipe) else "train-cross-encoder"
            set_of = f"{{silver-{top_k}.silver_set_id}}"
            silver = {} if top_k is None else {"silver_set_id": set_of}
            plan.append(planned(key, step, options, group=group, references=silver))
            targets.append(f"run:{{{key}.run_id}}")
    if split:
        plan.append(measuring("measured", targets, split, recipe.seed, recipe.device))
    return BatchOptions(
        kind="sweep",
        title=f"{len(targets) // len(seeds)} settings",
        runs=bounded(plan),
        seed=recipe.seed,
        device=recipe.device,
    )


def _silver_for(
    sample: SampleOptions, labeler: str, recipe: BiEncoderOptions | CrossEncoderOptions
) -> list[PlannedRun]:
    """Candidates of one top-k and their labels; pairs that a smaller k has labelled are not scored again."""
    k, device = sample.top_k, recipe.device
    silver = Silver(sample, labeler=labeler)
    sampled = replace(sampling(silver, device)[0], key=f"candidates-{k}")
    label = labelling(silver, recipe.seed, device, key=f"silver-{k}", labeler=labeler)
    told = label.options.replace("{candidates.", f"{{candidates-{k}.")
    return [sampled, replace(label, options=told)]


def _group(rate: float, size: int, top_k: int | None) -> str:
    mantissa, exponent = f"{rate:.2e}".split("e")
    found = f"rate {float(mantissa):g}e{int(exponent)}, batch {size}"
    return found if top_k is None else f"{found}, top-{top_k}"


def _is_bi(recipe: BiEncoderOptions | CrossEncoderOptions) -> bool:
    return isinstance(recipe, BiEncoderOptions)


def _check(
    recipe: BiEncoderOptions | CrossEncoderOptions,
    rates: Sequence[float],
    sizes: Sequence[int],
    top_ks: Sequence[int],
    labeler: str,
) -> None:
    if not (rates or sizes or top_ks):
        raise WorkbenchError(
            "A sweep needs values: learning rates, batch sizes or values of top-k."
        )
    if wrong := [rate for rate in rates if not 0 < rate <= 1]:
        raise WorkbenchError(f"{wrong[0]:g} is no learning rate; one lies above 0 and up to 1.")
    if wrong := [size for size in sizes if size < 1]:
        raise WorkbenchError(f"{wrong[0]} is no batch size; take 1 or more.")
    if wrong := [k for k in top_ks if k < 1]:
        raise WorkbenchError(f"{wrong[0]} is no top-k; take 1 or more.")
    if top_ks and not _is_bi(recipe):
        raise WorkbenchError("top-k chooses silver for a bi-encoder; a labeler is trained on gold.")
    if top_ks and not labeler:
        raise WorkbenchError("A sweep over top-k needs a labeler (run:ID or a model).")
