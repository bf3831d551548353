"""Scores against the number of gold pairs (paper, figure 1)."""

from collections.abc import Sequence
from dataclasses import replace

from augsbert_core.errors import WorkbenchError
from augsbert_core.options import (
    BatchOptions,
    BiEncoderOptions,
    CrossEncoderOptions,
    PlannedRun,
    SampleOptions,
)
from augsbert_core.steps.plans.parts import (
    AUGMENTED,
    GOLD_ONLY,
    LABELER,
    Silver,
    baselines,
    bounded,
    gold_twin,
    labelling,
    measuring,
    planned,
    sampling,
    seeds_from,
)

FRACTIONS = (0.1, 0.25, 0.5, 1.0)

SEES_ALL_GOLD = (
    "The silver set is the same at every size: its labeler may have learnt from gold pairs that the student does not "
    "see, so the curve with silver flatters at the small sizes."
)


def learning_curve(
    bi: BiEncoderOptions,
    n_gold: int,
    *,
    fractions: Sequence[float] = FRACTIONS,
    num_runs: int = 1,
    seed_step: int = 1,
    cross: CrossEncoderOptions | None = None,
    candidates: SampleOptions | int | None = None,
    split: str = "test",
) -> BatchOptions:
    """Train on parts of the gold pairs, without silver and, if there is any, with it.

    n_gold: training pairs there are. With `cross` and candidates, the labeler of each size sees the same
    part of gold as its student, which is drawn with the seed; its own curve is that of a cross-encoder
    (figure 1). Without `cross`, the recipe's silver set is added at every size.
    """
    sizes = gold_sizes(n_gold, fractions)
    silver = Silver(candidates, cross)
    silver.check()
    plan = sampling(silver, bi.device)
    targets: list[str] = []
    for seed in seeds_from(bi.seed, num_runs, seed_step):
        for size in sizes:
            plan += _one_point(replace(bi, seed=seed), silver, size, targets)
    if split:
        plan.append(measuring("measured", [*baselines(bi), *targets], split, bi.seed, bi.device))
    fixed = cross is None and bi.silver_set_id is not None
    return BatchOptions(
        kind="learning-curve",
        title=f"{', '.join(f'{size:,}' for size in sizes)} gold pairs",
        runs=bounded(plan),
        notes=(SEES_ALL_GOLD,) if fixed else (),
        seed=bi.seed,
        device=bi.device,
    )


def gold_sizes(n_gold: int, fractions: Sequence[float]) -> list[int]:
    """The numbers of gold pairs, growing. WorkbenchError: no fraction, or one outside (0, 1]."""
    if not fractions:
        raise WorkbenchError(
            "A learning curve needs fractions of the gold pairs, such as 0.25 and 1."
        )
    if wrong := [share for share in fractions if not 0 < share <= 1]:
        raise WorkbenchError(
            f"{wrong[0]:g} is no fraction of the gold pairs; take above 0 and up to 1."
        )
    if n_gold < 1:
        raise WorkbenchError(
            "There are no gold training pairs. Import some on the Gold page first."
        )
    return sorted({max(1, round(share * n_gold)) for share in fractions})


def _one_point(
    bi: BiEncoderOptions, silver: Silver, size: int, targets: list[str]
) -> list[PlannedRun]:
    plan: list[PlannedRun] = []
    at = f"{size}-{bi.seed}"
    reference: dict[str, object] = {}

    def add(
        key: str, step: str, options: object, series: str, references: dict[str, object]
    ) -> None:
        plan.append(
            planned(key, step, options, group=f"{series} · {size:,} gold", references=references)
        )
        targets.append(f"run:{{{key}.run_id}}")

    if silver.is_labelled_here and silver.cross is not None:
        cross = replace(silver.cross, gold_limit=size, seed=bi.seed, device=bi.device)
        add(f"labeler-{at}", "train-cross-encoder", cross, LABELER, {})
        by = f"run:{{labeler-{at}.run_id}}"
        plan.append(labelling(silver, bi.seed, bi.device, key=f"silver-{at}", labeler=by))
        reference = {"silver_set_id": f"{{silver-{at}.silver_set_id}}"}
    student = replace(bi, gold_limit=size)
    if not reference and bi.silver_set_id is None:
        add(f"gold-{at}", "train-bi-encoder", student, "Gold-only", {})
        return plan
    add(f"student-{at}", "train-bi-encoder", student, AUGMENTED, reference)
    steps = f"{{student-{at}.n_steps}}"
    add(f"gold-{at}", "train-bi-encoder", gold_twin(student), GOLD_ONLY, {"max_steps": steps})
    return plan
