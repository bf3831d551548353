"""Best-worst scaling: which tuples judges see, what their answers score, and how far the scores can be trusted."""

from augsbert_core.best_worst.design import (
    TUPLE_SIZE,
    count_tuples,
    design,
    next_tuple,
    remaining_tuples,
    tuple_order,
)
from augsbert_core.best_worst.reliability import Reliability, spearman_brown, split_half_reliability
from augsbert_core.best_worst.scoring import appearances, score, to_unit
from augsbert_core.best_worst.simulation import (
    Study,
    expected_recovery,
    find_noise,
    recovery,
    simulate,
)

__all__ = [
    "TUPLE_SIZE",
    "Reliability",
    "Study",
    "appearances",
    "count_tuples",
    "design",
    "expected_recovery",
    "find_noise",
    "next_tuple",
    "recovery",
    "remaining_tuples",
    "score",
    "simulate",
    "spearman_brown",
    "split_half_reliability",
    "to_unit",
    "tuple_order",
]
