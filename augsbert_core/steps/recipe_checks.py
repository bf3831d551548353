"""What can be known to be wrong with a recipe before a job is queued, and how many steps it will take."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.models.losses import LOSSES, WEIGHTED_LOSSES, rows_for
from augsbert_core.models.pair_losses import check_loss
from augsbert_core.models.pooling import POOLINGS
from augsbert_core.options import BiEncoderOptions, CrossEncoderOptions, Stage
from augsbert_core.pairs import ScoredPairs, TrainingRows
from augsbert_core.steps.promotion import check_corrections, promoted
from augsbert_core.steps.recipes import stage_options, stages_of, uses
from augsbert_core.steps.training_data import DATA, TrainingOptions, read_gold, read_stage
from augsbert_core.storage import silver_sets
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.nli import count_nli
from augsbert_core.storage.projects import count_project
from augsbert_core.storage.records import Project
from augsbert_core.storage.silver_bins import silver_status_counts
from augsbert_core.storage.triplets import count_triplets

FITTING: dict[str, tuple[str, ...]] = {
    "cosine": ("gold", "silver", "gold+silver"),
    "cosent": ("gold", "silver", "gold+silver"),
    "angle": ("gold", "silver", "gold+silver"),
    "mnrl": DATA,
    "softmax": ("nli",),
    "triplet": DATA,
}
"""Loss → the data that it can learn from."""

MIXINGS = ("shuffled", "silver-first")
SCHEDULES = ("warmup", "constant")
SILVER_SCORES = ("corrected", "raw")


@dataclass(frozen=True)
class StagePlan:
    """What a stage will read. n_rows: rows that the loss makes of the data."""

    data: str
    loss: str
    n_rows: int
    n_steps: int


def check_recipe(workspace: Workspace, project: Project, options: BiEncoderOptions) -> None:
    """WorkbenchError: the recipe cannot be trained as it is, with the place and the remedy."""
    check_shape(options)
    counts = count_project(workspace, project.id)
    if uses(options, "silver"):
        check_silver(workspace, project, options)
    if uses(options, "gold"):
        _check_gold(workspace, project, options, counts.train)
    if uses(options, "nli") and not sum(count_nli(workspace, project.id).values()):
        raise WorkbenchError(
            f"This recipe trains on NLI pairs, and project {project.name!r} has none. "
            "Import a file of premise, hypothesis and label on the Gold page first."
        )
    if uses(options, "triplets") and not count_triplets(workspace, project.id):
        raise WorkbenchError(
            f"This recipe trains on triplets, and project {project.name!r} has none. "
            "Import a file of anchor, positive and negative on the Gold page first."
        )
    check_seeds(options, counts.dev)
    check_limit(options)


def check_shape(options: BiEncoderOptions) -> None:
    """What can be seen in the options alone."""
    _one_of("pooling", options.pooling, POOLINGS)
    _one_of("mixing", options.mixing, MIXINGS)
    _one_of("schedule", options.schedule, SCHEDULES)
    _check_silver_choice(options, uses_gold=uses(options, "gold"))
    stages = stages_of(options)
    for number, stage in enumerate(stages, 1):
        place = f"Stage {number}: " if len(stages) > 1 else ""
        _check_stage(place, stage)
        weighed = stage.data == "gold+silver" and options.silver_weight != 1.0
        if weighed and stage.loss not in WEIGHTED_LOSSES:
            raise WorkbenchError(
                f"{place}Loss {stage.loss!r} knows no weights, so the silver weight must be 1, not "
                f"{options.silver_weight:g}. Losses with weights: {', '.join(sorted(WEIGHTED_LOSSES))}."
            )
    if options.stages and (not options.use_gold or options.mixing != "shuffled"):
        raise WorkbenchError(
            "A recipe with stages says in each stage what it trains on. Take out mixing and silver only, or "
            "take out the stages."
        )
    if not 1 <= options.first_stage <= len(stages):
        raise WorkbenchError(
            f"Training cannot begin at stage {options.first_stage}: the recipe has {len(stages)}."
        )
    if not options.use_gold and options.silver_set_id is None:
        raise WorkbenchError(
            "Training on silver alone needs a silver set. Choose one, or train on gold."
        )
    if options.silver_weight <= 0 or options.gold_repeats < 1:
        raise WorkbenchError(
            f"Silver weight {options.silver_weight:g} and gold repeats {options.gold_repeats} must be above 0. "
            "To leave silver out, choose no silver set; to leave gold out, train on silver alone."
        )


def _check_stage(place: str, stage: Stage) -> None:
    _one_of(f"{place}data", stage.data, DATA)
    _one_of(f"{place}loss", stage.loss, LOSSES)
    if stage.schedule is not None:
        _one_of(f"{place}schedule", stage.schedule, SCHEDULES)
    fitting = FITTING.get(stage.loss, DATA)
    if stage.data not in fitting:
        raise WorkbenchError(
            f"{place}Loss {stage.loss!r} cannot learn from {stage.data}. It learns from {', '.join(fitting)}."
        )


def _one_of(name: str, value: str, known: Iterable[str]) -> None:
    names = list(known)
    if value not in names:
        said = f"{name} {value!r} is not known. Choose one of {', '.join(names)}."
        raise WorkbenchError(said[:1].upper() + said[1:])


def _check_silver_choice(options: TrainingOptions, *, uses_gold: bool) -> None:
    """What the options say about corrections, alone."""
    _one_of("silver_scores", options.silver_scores, SILVER_SCORES)
    if options.promote and options.silver_set_id is not None and not uses_gold:
        raise WorkbenchError(
            "Corrected and accepted pairs are to count as gold, and this recipe trains on silver alone. Take out "
            "promote, or train on gold too."
        )


def _check_gold(
    workspace: Workspace, project: Project, options: TrainingOptions, n_train: int
) -> None:
    """WorkbenchError: neither imported gold nor promoted silver pairs."""
    if not n_train and not len(promoted(workspace, project, options)):
        raise WorkbenchError(
            f"Project {project.name!r} has no gold pairs in the training split. "
            "Import some on the Gold page first."
        )


def check_silver(workspace: Workspace, project: Project, options: TrainingOptions) -> None:
    """WorkbenchError: there is no such silver set, or it cannot be trained on."""
    set_id = options.silver_set_id
    if set_id is None:
        raise WorkbenchError(
            "This recipe trains on silver pairs, and no silver set is chosen. Label candidates on the Silver "
            "page first, then choose the set."
        )
    chosen = silver_sets.get_silver_set(workspace, set_id)
    if chosen.project_id != project.id:
        raise WorkbenchError(f"Silver set {set_id} belongs to another project.")
    if not chosen.is_complete:
        raise WorkbenchError(
            f"Silver set {set_id} is only labelled in part ({chosen.n_pairs:,} of "
            f"{chosen.n_candidates:,} pairs). Resume its job on the Jobs page, then train."
        )
    if count_silver_rows(workspace, options):
        return
    if options.promote:
        raise WorkbenchError(
            f"All pairs of silver set {set_id} that are not rejected count as gold, so no silver is left. Train on "
            "them without promote, or on another set."
        )
    raise WorkbenchError(
        f"Silver set {set_id} has no pair that is not rejected. Accept some, or choose another set."
    )


def count_silver_rows(workspace: Workspace, options: TrainingOptions) -> int:
    """How many pairs of the silver set are trained on as silver; 0 without a set."""
    if options.silver_set_id is None:
        return 0
    counts = silver_status_counts(workspace, options.silver_set_id)
    left_out = 0 if options.keep_rejected else counts["rejected"]
    left_out += counts["corrected"] + counts["accepted"] if options.promote else 0
    return sum(counts.values()) - left_out


def count_gold_rows(
    workspace: Workspace, project: Project, options: TrainingOptions, n_train: int
) -> int:
    """How many pairs count as gold: n_train imported ones up to the limit, and what is promoted."""
    n_imported = min(n_train, options.gold_limit or n_train)
    return n_imported + len(promoted(workspace, project, options))


def check_seeds(options: TrainingOptions, n_dev: int) -> None:
    """WorkbenchError: seed optimisation was asked for where it cannot be done."""
    if options.seeds < 1:
        raise WorkbenchError(
            f"{options.seeds} seeds cannot be tried. Give 1 for none, or 2 and more."
        )
    if options.seeds == 1:
        return
    if isinstance(options, BiEncoderOptions) and len(stages_of(options)) > 1:
        raise WorkbenchError(
            f"Seed optimisation needs a recipe of one stage; this one has {len(stages_of(options))}. "
            "Try one seed, or train one stage."
        )
    if not 0 < options.seed_stop < 1:
        raise WorkbenchError(
            f"The share of steps after which seeds are compared must lie between 0 and 1, not be "
            f"{options.seed_stop:g}. The paper took 0.2."
        )
    if not n_dev:
        raise WorkbenchError(
            "Seed optimisation chooses the seed by its dev score, and there are no dev pairs. "
            "Import some into the dev split, or try one seed."
        )


def check_limit(options: TrainingOptions) -> None:
    """WorkbenchError: the limit of gold pairs is none."""
    if options.gold_limit is not None and options.gold_limit < 1:
        raise WorkbenchError(
            f"A limit of {options.gold_limit} gold pairs leaves nothing. Give 1 or more, or train on silver alone."
        )


def plan(
    workspace: Workspace, project: Project, options: BiEncoderOptions
) -> tuple[StagePlan, ...]:
    """Rows and optimiser steps of each stage that will be trained, early stopping left aside.

    Where a loss reads every row, counts in the store are enough; otherwise the rows are read.
    """
    plans = []
    begun = stages_of(options)[options.first_stage - 1 :]
    for number, stage in enumerate(begun):
        told = stage_options(options, stage, is_first=not number)
        n_rows = _count_rows(workspace, project, told, stage)
        plans.append(StagePlan(stage.data, stage.loss, n_rows, count_steps(n_rows, told)))
    return tuple(plans)


def count_steps(n_rows: int, options: TrainingOptions) -> int:
    """Optimiser steps of so many rows: the given limit, else the epochs' worth."""
    if options.max_steps is not None:
        return max(options.max_steps, 1)
    return max(options.epochs, 1) * math.ceil(n_rows / options.batch_size)


def _count_rows(
    workspace: Workspace, project: Project, options: BiEncoderOptions, stage: Stage
) -> int:
    scored = stage.data in ("gold", "silver", "gold+silver")
    if stage.loss in ("mnrl", "triplet") and stage.data != "triplets":
        return _rows_made(workspace, project, options, stage)
    directions = 2 if options.symmetric and scored else 1
    if stage.data == "nli":
        return sum(count_nli(workspace, project.id).values())
    if stage.data == "triplets":
        return count_triplets(workspace, project.id)
    n_rows = 0
    if "gold" in stage.data.split("+"):
        n_gold = count_project(workspace, project.id).train
        n_rows += count_gold_rows(workspace, project, options, n_gold) * options.gold_repeats
    if "silver" in stage.data.split("+"):
        n_rows += count_silver_rows(workspace, options)
    return n_rows * directions


def _rows_made(
    workspace: Workspace, project: Project, options: BiEncoderOptions, stage: Stage
) -> int:
    gold_pairs = (
        read_gold(workspace, project, options)
        if "gold" in stage.data.split("+")
        else ScoredPairs([], [], np.zeros(0))
    )
    found = read_stage(workspace, project, options, stage.data, gold_pairs).rows
    rows = found if isinstance(found, TrainingRows) else TrainingRows.from_pairs(found)
    return len(rows_for(stage.loss, rows, options))


def check_cross_encoder(
    workspace: Workspace, project: Project, options: CrossEncoderOptions
) -> None:
    """WorkbenchError: a cross-encoder cannot be trained as it is told; one-class gold is not looked at here."""
    check_loss(options)
    if options.pos_weight and project.task != "classification":
        raise WorkbenchError(
            "pos_weight weighs one class against the other, but this project has graded scores. Switch it off."
        )
    if not options.use_gold and options.silver_set_id is None:
        raise WorkbenchError(
            "Training on silver alone needs a silver set. Choose one, or train on gold."
        )
    _check_silver_choice(options, uses_gold=options.use_gold)
    check_corrections(workspace, project, options)
    counts = count_project(workspace, project.id)
    if options.silver_set_id is not None:
        check_silver(workspace, project, options)
    if options.use_gold:
        _check_gold(workspace, project, options, counts.train)
    if options.silver_weight <= 0:
        raise WorkbenchError(
            f"Silver weight {options.silver_weight:g} must be above 0. To leave silver out, choose no silver set."
        )
    check_seeds(options, counts.dev)
    check_limit(options)
