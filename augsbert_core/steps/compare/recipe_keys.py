"""When are two runs the same recipe? When what they were told differs in nothing but chance and place."""

import contextlib
import json
import re
from dataclasses import asdict
from typing import Any

from augsbert_core.errors import WorkbenchError
from augsbert_core.options import (
    AugmentOptions,
    BiEncoderOptions,
    CrossEncoderOptions,
    DrawOptions,
    KeepOptions,
    LabelOptions,
    SampleOptions,
    StratifiedOptions,
    from_json,
)
from augsbert_core.storage import candidates, runs, silver_sets
from augsbert_core.storage.database import Workspace

PLACE = ("device", "checkpoint_seconds")
"""Options that change nothing but where and how often; with "seed" they are no part of a recipe."""

OPTIONS: dict[str, type] = {
    "train-bi-encoder": BiEncoderOptions,
    "train-cross-encoder": CrossEncoderOptions,
    "sample": SampleOptions,
    "label": LabelOptions,
    "keep": KeepOptions,
    "sample-stratified": StratifiedOptions,
    "augment": AugmentOptions,
    "draw": DrawOptions,
}
"""Steps whose options are read with their defaults, so that runs of older versions have full recipes too."""

SILVER_SETS = ("silver_set_id", "exclude_silver_sets", "corrections_of", "decisions_from")
"""Options that name silver sets."""

RUN = re.compile(r"run:(\d+)")


class RecipeKeys:
    """Reads recipes from the store, each run and set once.

    with_seeds: keep the seeds of the run and of all runs behind it; two runs of one key are then repeats.
    """

    def __init__(self, workspace: Workspace, *, with_seeds: bool) -> None:
        self.workspace = workspace
        self.left_out = PLACE if with_seeds else (*PLACE, "seed")
        self.known: dict[tuple[str, int], Any] = {}

    def of_run(self, run_id: int) -> Any:
        """What a run was told, with runs and sets that it names replaced by their own recipes."""
        return self._once("run", run_id, self._run)

    def of_silver_set(self, set_id: int) -> Any:
        """How a silver set came about: sampling, labeler, and the rule that kept it."""
        return self._once("silver set", set_id, self._silver_set)

    def _once(self, what: str, number: int, read: Any) -> Any:
        key = (what, number)
        if key not in self.known:
            # Whatever is gone, or refers to itself, is known by its number alone.
            self.known[key] = {what: number}
            with contextlib.suppress(WorkbenchError):
                self.known[key] = read(number)
        return self.known[key]

    def _run(self, run_id: int) -> Any:
        run = runs.get_run(self.workspace, run_id)
        told = json.loads(run.options)
        if run.step in OPTIONS:
            told = json.loads(json.dumps(asdict(from_json(OPTIONS[run.step], run.options))))
        return {"step": run.step, **self._told(told)}

    def _silver_set(self, set_id: int) -> Any:
        one = silver_sets.get_silver_set(self.workspace, set_id)
        sampling = candidates.get_candidate_set(self.workspace, one.candidate_set_id).run_id
        made = dict(self.of_run(one.run_id))
        if one.strategy == "stratified-kde":
            made.pop("c", None)  # what came out, not what was asked for: it moves with the seed
        return {"sampled": self.of_run(sampling), "made": made}

    def _told(self, value: Any, name: str = "") -> Any:
        if isinstance(value, dict):
            return {
                key: self._told(item, key)
                for key, item in value.items()
                if key not in self.left_out
            }
        if isinstance(value, list):
            return [self._told(item, name) for item in value]
        if isinstance(value, int) and name in SILVER_SETS:
            return self.of_silver_set(value)
        if isinstance(value, int) and name == "candidate_set_id":
            return self._once("candidate set", value, self._candidate_set)
        if isinstance(value, str) and RUN.search(value):
            return RUN.sub(lambda found: as_key(self.of_run(int(found[1]))), value)
        return value

    def _candidate_set(self, set_id: int) -> Any:
        return self.of_run(candidates.get_candidate_set(self.workspace, set_id).run_id)


def as_key(recipe: Any) -> str:
    """A recipe as text: equal for equal recipes."""
    return json.dumps(recipe, sort_keys=True)
