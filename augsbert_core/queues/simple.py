"""Queues that draw at random: from all pairs, or as many from each score region."""

import numpy as np

from augsbert_core.queues.pool import Chosen, Pool

N_STRATA = 5
"""An audit cuts the labeler's scores into so many regions of equal width."""


def choose_random(pool: Pool, n: int, rng: np.random.Generator) -> Chosen:
    """n pairs, uniformly without replacement."""
    positions = rng.permutation(pool.size)[:n]
    return Chosen(positions, ["drawn at random"] * len(positions))


def choose_score_strata(
    pool: Pool, n: int, rng: np.random.Generator, *, n_strata: int = N_STRATA
) -> Chosen:
    """As many pairs of each stratum of the scores as of any other, in an order that tells nothing about the stratum.

    Strata are of equal width on [0, 1], at most n of them, so that each that holds a pair is met at least once. One with
    fewer pairs than its share is taken whole, and the others give the rest. The reason keeps quiet about the
    stratum, as an audit is blind.
    """
    scores = np.asarray(pool.scores, dtype=np.float64)
    known = np.flatnonzero(np.isfinite(scores))
    n_strata = max(1, min(n_strata, n))
    stratum = np.minimum((scores[known] * n_strata).astype(np.int64), n_strata - 1)
    sizes = np.bincount(stratum, minlength=n_strata)
    shares = equal_shares(sizes, min(n, len(known)))
    shuffled = rng.permutation(len(known))
    ordered = shuffled[np.argsort(stratum[shuffled], kind="stable")]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    drawn = [
        ordered[start : start + share] for start, share in zip(starts[:-1], shares, strict=True)
    ]
    places = rng.permutation(np.concatenate(drawn))
    empty = int(np.count_nonzero(sizes == 0))
    notices = [f"{empty} of {n_strata} score regions hold no pair."] if empty and len(known) else []
    n_met = n_strata - empty
    return Chosen(
        known[places],
        [f"drawn at random, as many from each of {n_met} score regions"] * len(places),
        stratum[places],
        sizes[stratum[places]].astype(np.int64),
        notices,
    )


def equal_shares(sizes: np.ndarray, n: int) -> np.ndarray:
    """n shared out as evenly as the sizes allow: int64, none above its size. n is at most the sum of the sizes.

    What cannot be shared out evenly goes to the first parts that have room.
    """
    shares = np.zeros(len(sizes), dtype=np.int64)
    left = n
    while left > 0:
        room = np.flatnonzero(shares < sizes)
        each = max(left // len(room), 1)
        more = np.minimum(sizes[room] - shares[room], each)
        more[np.cumsum(more) > left] = 0
        shares[room] += more
        left = n - int(shares.sum())
    return shares
