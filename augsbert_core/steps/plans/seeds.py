"""The same recipe over several seeds."""

from dataclasses import replace

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


def multi_run(
    bi: BiEncoderOptions,
    *,
    cross: CrossEncoderOptions | None = None,
    candidates: SampleOptions | int | None = None,
    labeler: str = "",
    both_orders: bool = False,
    num_runs: int = 3,
    seed_step: int = 1,
    gold_only: bool = True,
    split: str = "test",
) -> BatchOptions:
    """Train the recipe `num_runs` times, from its seed on in steps of `seed_step`.

    With `cross`, the labeler is trained anew with every seed and labels the candidates for that student; with
    `labeler` one given labeler labels them once, and only the student is reseeded. Candidates are sampled once.
    Without candidates the recipe's own silver set is used, or gold alone. gold_only: also train the twin
    without silver for as many steps, per seed. split: where all are measured; "" measures nowhere.
    """
    silver = Silver(candidates, cross, labeler, both_orders)
    silver.check()
    plan = sampling(silver, bi.device)
    if silver.is_labelled_here and cross is None:
        plan.append(labelling(silver, bi.seed, bi.device, key="silver", labeler=labeler))
    for number, seed in enumerate(seeds_from(bi.seed, num_runs, seed_step)):
        plan += _one_seed(bi, silver, seed, gold_only=gold_only, split=split, first=number == 0)
    return BatchOptions(
        kind="multi-run",
        title=f"{num_runs} seeds",
        runs=bounded(plan),
        notes=_notes(silver),
        seed=bi.seed,
        device=bi.device,
    )


def _one_seed(
    bi: BiEncoderOptions, silver: Silver, seed: int, *, gold_only: bool, split: str, first: bool
) -> list[PlannedRun]:
    plan: list[PlannedRun] = []
    targets = baselines(bi) if first else []
    student = replace(bi, seed=seed)
    reference: dict[str, object] = {}
    with_silver = silver.is_labelled_here or bi.silver_set_id is not None or bool(bi.stages)
    if silver.is_labelled_here:
        source = "silver"
        if silver.cross is not None:
            source, key = f"silver-{seed}", f"labeler-{seed}"
            cross = replace(silver.cross, seed=seed, device=bi.device)
            plan.append(planned(key, "train-cross-encoder", cross, group=LABELER))
            by = f"run:{{{key}.run_id}}"
            plan.append(labelling(silver, seed, bi.device, key=source, labeler=by))
            targets.append(by)
        reference = {"silver_set_id": f"{{{source}.silver_set_id}}"}
    key, group = f"student-{seed}", AUGMENTED if with_silver else "Gold-only"
    plan.append(planned(key, "train-bi-encoder", student, group=group, references=reference))
    targets.append(f"run:{{{key}.run_id}}")
    if gold_only and with_silver:
        twin, steps = f"gold-{seed}", f"{{{key}.n_steps}}"
        plan.append(
            planned(
                twin,
                "train-bi-encoder",
                gold_twin(student),
                group=GOLD_ONLY,
                references={"max_steps": steps},
            )
        )
        targets.append(f"run:{{{twin}.run_id}}")
    if split:
        plan.append(measuring(f"measured-{seed}", targets, split, bi.seed, bi.device))
    return plan


def _notes(silver: Silver) -> tuple[str, ...]:
    if silver.is_labelled_here and silver.cross is None:
        return (
            "One labeler for all seeds: the spread shows the student's seeds alone, not the labeler's.",
        )
    return ()
