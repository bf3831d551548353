"""Replicates of every measured model on the same resampled pairs, computed once."""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import Any

import numpy as np

from augsbert_core import metrics
from augsbert_core.steps.figures import statistic

SEED = 42
MOST_KEPT = 512
"""Rows of replicates that are remembered, 40 kB each for 10,000 resamples."""

_kept: OrderedDict[str, np.ndarray] = OrderedDict()
_lock = Lock()


def replicates_of(
    metric: str, gold: np.ndarray, evaluations: Sequence[dict[str, Any]]
) -> list[np.ndarray]:
    """Each evaluation's statistic on the same resamples: float32, NaN where undefined.

    Known by their content, so a score that was measured anew is resampled anew.
    """
    keys = [_key(metric, gold, evaluation) for evaluation in evaluations]
    with _lock:
        todo = {key: one for key, one in zip(keys, evaluations, strict=True) if key not in _kept}
    if todo:
        found = metrics.replicates(
            [statistic(metric, one["threshold"]) for one in todo.values()],
            gold,
            [one["predictions"] for one in todo.values()],
            resamples=metrics.resamples_for(len(gold)),
            seed=SEED,
        )
        _keep(dict(zip(todo, found.astype(np.float32), strict=True)))
    with _lock:
        known = [_kept.get(key) for key in keys]
    # Another thread may have pushed a row out in between.
    return [
        row if row is not None else replicates_of(metric, gold, [one])[0]
        for row, one in zip(known, evaluations, strict=True)
    ]


def _keep(found: dict[str, np.ndarray]) -> None:
    with _lock:
        _kept.update(found)
        while len(_kept) > max(MOST_KEPT, len(found)):
            _kept.popitem(last=False)


def _key(metric: str, gold: np.ndarray, evaluation: dict[str, Any]) -> str:
    digest = hashlib.blake2b(f"{metric} {evaluation['threshold']}".encode(), digest_size=16)
    digest.update(np.ascontiguousarray(gold).tobytes())
    digest.update(np.ascontiguousarray(evaluation["predictions"]).tobytes())
    return digest.hexdigest()
