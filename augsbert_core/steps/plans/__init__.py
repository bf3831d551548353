"""Plans: options in, `BatchOptions` out. A plan computes nothing and writes nothing; the step `batch` carries it out."""

from augsbert_core.steps.names import BATCH_NAMES
from augsbert_core.steps.plans.adaptation import domain_adaptation
from augsbert_core.steps.plans.curve import learning_curve
from augsbert_core.steps.plans.retrain import retrain
from augsbert_core.steps.plans.seeds import multi_run
from augsbert_core.steps.plans.silver_help import will_silver_help
from augsbert_core.steps.plans.sweep import GRIDS, sweep

__all__ = [
    "GRIDS",
    "PLANS",
    "domain_adaptation",
    "learning_curve",
    "multi_run",
    "retrain",
    "sweep",
    "will_silver_help",
]

PLANS = BATCH_NAMES
"""Kind of batch → its name on the screen."""
