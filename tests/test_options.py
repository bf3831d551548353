"""Options are saved with the run and come back equal."""

import pytest

from augsbert_core.options import (
    BiEncoderOptions,
    CrossEncoderOptions,
    EvaluateOptions,
    ImportOptions,
    LabelOptions,
    SampleOptions,
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
