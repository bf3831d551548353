"""The compare table: every model of a project on one split, run by run and by recipe."""

from augsbert_core.steps.compare.groups import Grouped, grouped
from augsbert_core.steps.compare.models import KINDS, model_target
from augsbert_core.steps.compare.table import (
    INTEGERS,
    ROW_COLUMNS,
    Comparison,
    as_json_rows,
    comparison,
)
from augsbert_core.steps.compare.twin import equal_step_options

__all__ = [
    "INTEGERS",
    "KINDS",
    "ROW_COLUMNS",
    "Comparison",
    "Grouped",
    "as_json_rows",
    "comparison",
    "equal_step_options",
    "grouped",
    "model_target",
]
