"""Queues: which pairs of a pool people see, in which order, and why. Arrays in, positions and reasons out."""

from augsbert_core.queues.density_gap import choose_density_gap
from augsbert_core.queues.likeness import word_likeness
from augsbert_core.queues.pool import Chosen, Mistake, Pool, Similarity
from augsbert_core.queues.ranked import (
    choose_disagreement,
    choose_like_corrected,
    choose_order_gap,
    choose_seed_spread,
    choose_threshold,
)
from augsbert_core.queues.registry import Choose, Queue, choose
from augsbert_core.queues.simple import choose_random, choose_score_strata

QUEUES: dict[str, Queue] = {
    "random": Queue(
        "Random",
        "Every pair is as likely as any other: what is measured on them holds for all.",
        ("candidates", "silver", "gold"),
        (),
        choose_random,
    ),
    "density-gap": Queue(
        "Density gaps",
        "Pairs from score regions that hold few gold pairs, by their estimated score, so that the whole scale is "
        "covered.",
        ("candidates", "silver"),
        ("scores",),
        choose_density_gap,
    ),
    "disagreement": Queue(
        "Disagreement",
        "Pairs on which labeler and bi-encoder differ most: one of the two is wrong there.",
        ("silver",),
        ("scores", "students"),
        choose_disagreement,
    ),
    "order-gap": Queue(
        "Order gap",
        "Pairs that the labeler scores differently when their sentences change places. Needs a set labelled in "
        "both orders.",
        ("silver",),
        ("order_gaps",),
        choose_order_gap,
    ),
    "seed-spread": Queue(
        "Seed spread",
        "Pairs on which the members of an averaged labeler differ most. Needs a set labelled by several models.",
        ("silver",),
        ("spreads",),
        choose_seed_spread,
    ),
    "threshold": Queue(
        "Near the threshold",
        "Pairs whose estimated score is nearest to the decision threshold, where a small error changes the class.",
        ("candidates", "silver"),
        ("scores", "threshold"),
        choose_threshold,
    ),
    "like-corrected": Queue(
        "Like corrected mistakes",
        "Pairs with words like those that people corrected by much: the labeler may be wrong there too.",
        ("candidates", "silver", "gold"),
        ("similarity",),
        choose_like_corrected,
    ),
    "score-strata": Queue(
        "Equal numbers per score region",
        "The labeler's scores are cut into five regions, and as many pairs are drawn at random from each: the "
        "sample for an audit.",
        ("silver",),
        ("scores",),
        choose_score_strata,
    ),
}
"""Name → queue, in the order in which they are offered."""

__all__ = [
    "QUEUES",
    "Choose",
    "Chosen",
    "Mistake",
    "Pool",
    "Queue",
    "Similarity",
    "choose",
    "word_likeness",
]
