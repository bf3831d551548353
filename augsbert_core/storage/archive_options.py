"""What options of a run can hold besides the types that their class declares: words that steps know, numbers they can use.

Runs that are done have passed the checks of their step, so nothing else was ever written.
"""

import math
from collections.abc import Mapping
from typing import Any

from augsbert_core.pairs import SPLITS, TASKS
from augsbert_core.scales import SCALES
from augsbert_core.storage.archive_references import NESTED, json_object
from augsbert_core.storage.archive_shapes import is_json, is_number, is_positive

AT_LEAST_ONE = {
    "batch_size", "epochs", "max_length", "max_steps", "layers", "hidden", "top_k", "n_keep", "per_pair", "top",
    "per_positive", "depth", "folds", "seeds", "first_stage", "gold_repeats", "gold_limit", "n_pairs", "max_passes",
    "max_rank", "limit", "pilot", "candidate_set_id", "silver_set_id", "run_id", "n_scores",
    "corrections_of", "decisions_from",
}  # fmt: skip
"""Whole numbers that are 1 or more wherever they are set."""

ABOVE_ZERO = {
    "learning_rate", "scale", "bandwidth", "share", "c", "tuples_per_pair",
}  # fmt: skip
FROM_ZERO = {
    "silver_weight", "warmup_ratio", "weight_decay", "patience", "rounds", "warm_start_pairs", "k1", "b", "relevant_from",
    "positive_from", "negative_below", "seed_stop", "checkpoint_seconds", "negatives_per_positive",
}  # fmt: skip

MOST = {
    "layers": 1000, "stages": 100, "runs": 1000, "seeds": 100_000, "per_positive": 10**6, "depth": 10**6,
    "batch_size": 10**7, "max_length": 10**7, "top_k": 10**9, "n_scores": 1000,
}  # fmt: skip
"""The largest numbers, and the longest lists, under some names."""

LEAST_DIVISOR = 1e-12
"""What is above zero is at least this: dividing by less gives no number."""

WORDS: dict[str, set[str]] = {
    "split": {*SPLITS, ""},
    "task": set(TASKS),
    "kind": {"pairs", "unlabelled-pairs", "sentences", "nli", "triplets"},
    "split_way": {"auto", "components", "pairs", "stratified", "groups"},
    "subsample": {"first", "random", "balanced", "groups"},
    "leaks": {"keep", "pairs", "sentences"},
    "repeats": {"keep", "mean", "first", "drop"},
    "search": {"auto", "exact", "ann"},
    "stop_words": {"none", "english", "frequent"},
    "rule": {"kde", "classification", "top-k"},
    "mixing": {"shuffled", "silver-first"},
    "schedule": {"warmup", "constant"},
    "negatives": {"none", "random", "mined"},
    "warm_start": {"auto", "on", "off"},
    "silver_scores": {"corrected", "raw"},
    "purpose": {"gold", "audit"},
    "scale": {*SCALES, "custom"},
    "queue": {
        "random", "density-gap", "disagreement", "order-gap", "seed-spread", "threshold", "like-corrected",
        "score-strata",
    },
    "loss": {
        "cosine", "cosent", "angle", "mnrl", "softmax", "triplet", "bce", "mse", "ranknet", "lambda", "listnet",
    },
    "model": {"bi-encoder", "cross-encoder"},
    "data": {"gold", "silver", "gold+silver", "nli", "triplets"},
}  # fmt: skip
"""Words by the name of the option. Options that name models, columns or devices may be any text."""

HAS_OWN_WORDS = {
    "transfer": {"data"},
    "batch": {"kind"},
    "augment": {"model"},
    "annotate": {"kind"},
}
"""Steps in which a name means something else."""

TRAINING = "train-bi-encoder"
DIVIDES = {"train-cross-encoder", TRAINING}
"""Steps whose batch size and epochs must be there: estimates divide by them."""


def wrong_option(step: str, told: Mapping[str, Any]) -> str | None:
    """The first option that the step can never have been told, None when all are possible."""
    if step in DIVIDES and (missing := {"batch_size", "epochs"} - told.keys()):
        return sorted(missing)[0]
    if not is_json(told):
        return next((key for key, value in told.items() if not is_json(value)), "options")
    return _wrong(told, HAS_OWN_WORDS.get(step, set()))


def _wrong(told: Mapping[str, Any], free: set[str]) -> str | None:
    for name, value in told.items():
        if not _is_possible(name, value, free):
            return name
        if name in NESTED and isinstance(value, str):
            nested = json_object(value) or {}
            if (
                found := wrong_option(TRAINING, nested)
                if name == "recipe"
                else _wrong(nested, free)
            ):
                return found
        parts = value if isinstance(value, list) else [value]
        for part in parts:
            if isinstance(part, dict) and (found := _wrong(part, free)):
                return found
    first, stages = told.get("first_stage"), told.get("stages")
    if isinstance(first, int) and isinstance(stages, list) and first > max(len(stages), 1):
        return "first_stage"
    return None


def _is_possible(name: str, value: Any, free: set[str]) -> bool:
    if value is None:
        return True
    if isinstance(value, str):
        if name in NESTED:
            return json_object(value) is not None and is_json(json_object(value))
        return name in free or name not in WORDS or value in WORDS[name]
    if isinstance(value, list):
        return len(value) <= MOST.get(name, math.inf)
    if not is_number(value):
        return True  # flags and objects
    if name in AT_LEAST_ONE and isinstance(value, int) and not is_positive(value):
        return False
    least = LEAST_DIVISOR if name in ABOVE_ZERO else 0.0 if name in FROM_ZERO else -math.inf
    return bool(least <= value <= MOST.get(name, math.inf))
