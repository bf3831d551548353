"""What plans are made of: planned runs, seeds, and the gold-only twin."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar

from augsbert_core.errors import WorkbenchError
from augsbert_core.options import (
    BiEncoderOptions,
    CrossEncoderOptions,
    EvaluateOptions,
    LabelOptions,
    PlannedRun,
    SampleOptions,
)
from augsbert_core.steps.batch import MOST_RUNS
from augsbert_core.steps.compare import model_target
from augsbert_core.steps.recipes import without_silver

Number = TypeVar("Number", int, float)

GOLD_ONLY = "Gold-only, equal steps"
AUGMENTED = "AugSBERT"
LABELER = "Cross-encoder"


def planned(
    key: str,
    step: str,
    options: Any,
    *,
    group: str = "",
    project_id: int | None = None,
    references: Mapping[str, object] | None = None,
) -> PlannedRun:
    """A run of a batch. references: options that take the result of an earlier run, as "{KEY.FIELD}"."""
    told = json.dumps(asdict(options) | dict(references or {}), sort_keys=True)
    return PlannedRun(key, step, told, group, project_id)


def seeds_from(first: int, number: int, step: int) -> list[int]:
    """So many seeds. WorkbenchError: fewer than one, or twice the same."""
    if number < 1:
        raise WorkbenchError(f"{number} runs are none. Take at least 1.")
    if number > 1 and step < 1:
        raise WorkbenchError(
            f"With a seed step of {step} all runs would be the same. Take 1 or more."
        )
    return [first + place * step for place in range(number)]


def numbers_in(text: str, kind: Callable[[str], Number], place: str = "") -> list[Number]:
    """Numbers with commas or spaces between them. WorkbenchError names one that is none. place: where they stand."""
    found = []
    for part in text.replace(",", " ").split():
        try:
            found.append(kind(part))
        except ValueError:
            named = f"{place}: " if place else ""
            raise WorkbenchError(f"{named}{part!r} is no number of this kind.") from None
    return found


def bounded(plan: Sequence[PlannedRun]) -> tuple[PlannedRun, ...]:
    """The plan as it is. WorkbenchError: it has too many runs."""
    if len(plan) > MOST_RUNS:
        raise WorkbenchError(
            f"This would be {len(plan):,} runs; {MOST_RUNS} are the most in one batch. "
            "Take fewer values, or fewer seeds."
        )
    return tuple(plan)


def gold_twin(bi: BiEncoderOptions) -> BiEncoderOptions:
    """The recipe without silver, as one stage. Its steps come from the run it is compared with."""
    return replace(without_silver(bi), stages=(), first_stage=1)


@dataclass(frozen=True)
class Silver:
    """Where the silver of a plan comes from. Runs that are planned already are named by their keys.

    candidates: a planned sampling, or the id of a candidate set. cross: how the labeler is trained anew for
    each seed; without it `labeler` scores them.
    """

    candidates: SampleOptions | int | None = None
    cross: CrossEncoderOptions | None = None
    labeler: str = ""
    both_orders: bool = False

    @property
    def is_labelled_here(self) -> bool:
        """Whether the plan labels candidates; else the recipe's own silver set is used, if it has one."""
        return self.candidates is not None

    def check(self) -> None:
        """WorkbenchError: candidates without a labeler, or a labeler without candidates."""
        if self.is_labelled_here and self.cross is None and not self.labeler:
            raise WorkbenchError(
                "No labeler is chosen: train one per seed, or name one (run:ID or a model)."
            )


def sampling(silver: Silver, device: str) -> list[PlannedRun]:
    """The sampling of a plan, once for all seeds; nothing when a candidate set exists."""
    if not isinstance(silver.candidates, SampleOptions):
        return []
    return [planned("candidates", "sample", replace(silver.candidates, device=device))]


def labelling(silver: Silver, seed: int, device: str, *, key: str, labeler: str) -> PlannedRun:
    """Label the plan's candidates. labeler: "run:{KEY.run_id}" of a planned one, or a given one."""
    given = silver.candidates if isinstance(silver.candidates, int) else 0
    options = LabelOptions(given, labeler, both_orders=silver.both_orders, seed=seed, device=device)
    sampled = {} if given else {"candidate_set_id": "{candidates.candidate_set_id}"}
    return planned(key, "label", options, references=sampled)


def measuring(key: str, targets: Sequence[str], split: str, seed: int, device: str) -> PlannedRun:
    """Measure models; a target may hold a reference."""
    options = EvaluateOptions(tuple(targets), split=split, seed=seed, device=device)
    return planned(key, "evaluate", options)


def baselines(bi: BiEncoderOptions) -> list[str]:
    """What every comparison needs: the untrained student, and plain word overlap."""
    return [model_target(bi.base, bi.layers), "jaccard"]
