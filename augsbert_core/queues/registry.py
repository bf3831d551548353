"""What a queue is, and how one is asked."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.queues.pool import Chosen, Pool


class Choose(Protocol):
    """Choose n pairs of a pool, n at most its size; fewer where a value that is needed is not known."""

    def __call__(self, pool: Pool, n: int, rng: np.random.Generator) -> Chosen: ...


NEEDED = {
    "scores": "estimated scores",
    "students": "the scores of a second model",
    "order_gaps": "labels in both orders",
    "spreads": "labels of several models",
    "threshold": "a decision threshold",
    "similarity": "pairs that people have corrected",
}


@dataclass(frozen=True)
class Queue:
    """A way to choose pairs. title, help: for people. sources: "candidates", "silver" or "gold", where it can be used.
    needs: the fields of `Pool` that must be there. choose: the function itself."""

    title: str
    help: str
    sources: tuple[str, ...]
    needs: tuple[str, ...]
    function: Choose


def choose(queue: Queue, pool: Pool, n: int, rng: np.random.Generator) -> Chosen:
    """The next n pairs of a pool by this queue, each with its reason; the same for the same generator state.

    More than there are is lowered, with a notice. Pairs without a value that the queue needs are never chosen.
    WorkbenchError: n is below 1, the pool is empty, or lacks what the queue needs.
    """
    if n < 1:
        raise WorkbenchError(f"The number of pairs is {n}. Give 1 or more.")
    if not pool.size:
        raise WorkbenchError("There is no pair to choose from.")
    for name in queue.needs:
        if getattr(pool, name) is None:
            raise WorkbenchError(
                f"The queue {queue.title!r} needs {NEEDED[name]}, and there are none. Choose another queue."
            )
    found = queue.function(pool, min(n, pool.size), rng)
    if not len(found):
        raise WorkbenchError(
            f"The queue {queue.title!r} found no pair: it needs "
            f"{' and '.join(NEEDED[name] for name in queue.needs)}, which no pair has. Choose another queue."
        )
    if len(found) == n:
        return found
    lowered = f"The number of pairs was lowered from {n:,} to {len(found):,}: there are no more to choose from."
    return Chosen(
        found.positions,
        found.reasons,
        found.strata,
        found.stratum_sizes,
        [lowered, *found.notices],
    )
