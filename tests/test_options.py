"""Options are saved with the run and come back equal."""

import pytest

from augsbert_core.errors import WorkbenchError
from augsbert_core.options import (
    BiEncoderOptions,
    CrossEncoderOptions,
    EvaluateOptions,
    ImportOptions,
    LabelOptions,
    SampleOptions,
    Stage,
    from_json,
    student_defaults,
    to_json,
)

EXAMPLES = [
    ImportOptions(columns=("a", "b", "c"), score_range=(0.0, 5.0), ratios=(70.0, 15.0, 15.0)),
    CrossEncoderOptions(learning_rate=1e-5, epochs=1),
    SampleOptions(top_k=7, variant="lucene"),
    LabelOptions(candidate_set_id=3, labeler="run:1"),
    BiEncoderOptions(layers=2, silver_set_id=4),
    EvaluateOptions(targets=("run:1", "jaccard"), split="dev"),
]


@pytest.mark.parametrize("options", EXAMPLES, ids=lambda options: type(options).__name__)
def test_options_survive_storing(options: object) -> None:
    assert from_json(type(options), to_json(options)) == options


def test_an_option_of_another_version_is_left_out() -> None:
    assert from_json(SampleOptions, '{"top_k": 9, "from_the_future": true}') == SampleOptions(
        top_k=9
    )


def test_a_small_student_takes_a_higher_rate() -> None:
    assert student_defaults(2) == BiEncoderOptions(layers=2, learning_rate=1e-4)
    assert student_defaults(6) == BiEncoderOptions(layers=6)
    assert student_defaults(None) == BiEncoderOptions()


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_numbers_that_are_not_finite_are_refused(value: float) -> None:
    with pytest.raises(WorkbenchError, match="silver_weight must be a finite number"):
        to_json(BiEncoderOptions(silver_weight=value))
    with pytest.raises(WorkbenchError, match=r"stages 1\.scale must be a finite number"):
        to_json(BiEncoderOptions(stages=(Stage(scale=value),)))
