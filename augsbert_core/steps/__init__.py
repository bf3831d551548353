"""The steps of the loop: each reads the store, computes, and writes the store.

A step is called with a `StepContext` and its options and returns a JSON-able result. Called again for
the same run after a crash, it continues from what is on disk and in the store.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from augsbert_core.options import (
    AugmentOptions,
    BatchOptions,
    BiEncoderOptions,
    CrossEncoderOptions,
    DrawOptions,
    EvaluateOptions,
    GateOptions,
    ImportFilesOptions,
    KeepOptions,
    LabelErrorsOptions,
    LabelOptions,
    NegativesOptions,
    PreviewOptions,
    ReproduceOptions,
    RerankOptions,
    SampleOptions,
    SeedStudyOptions,
    StratifiedOptions,
    StudentScoresOptions,
    TaskOptions,
    TransferOptions,
)
from augsbert_core.steps.augment import augment, check_augmenting
from augsbert_core.steps.batch import batch, batch_uses_device, check_batch
from augsbert_core.steps.context import StepContext
from augsbert_core.steps.draw import check_draw, draw
from augsbert_core.steps.evaluate import check_evaluation, evaluate
from augsbert_core.steps.gate import check_gate, gate
from augsbert_core.steps.import_job import check_import, import_in_background
from augsbert_core.steps.keep import check_keeping, keep
from augsbert_core.steps.label import check_labelling, label
from augsbert_core.steps.label_errors import check_label_errors, find_label_errors
from augsbert_core.steps.make_task import check_task, make_task, task_uses_device
from augsbert_core.steps.mine_negatives import check_mining, mine_negatives, mining_uses_device
from augsbert_core.steps.names import describe, model_label, rule_label, strategy_label
from augsbert_core.steps.preview import check_preview, preview
from augsbert_core.steps.reproduce import check_reproducing, reproduce
from augsbert_core.steps.rerank import check_reranking, rerank
from augsbert_core.steps.sample import check_sampling, needs_encoder, sample
from augsbert_core.steps.seed_study import check_seed_study, seed_study
from augsbert_core.steps.stratified import check_stratified, sample_stratified
from augsbert_core.steps.student_scores import check_student_scores, score_with_student
from augsbert_core.steps.train import check_training, train_bi_encoder, train_cross_encoder
from augsbert_core.steps.transfer import check_transfer, transfer
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project

__all__ = [
    "STEPS",
    "Step",
    "StepContext",
    "describe",
    "model_label",
    "rule_label",
    "strategy_label",
]


@dataclass(frozen=True)
class Step:
    """One entry of the loop.

    check: raises WorkbenchError for what can be known to be wrong before a job is queued.
    uses_device: whether it takes the CPU or GPU for long when told so; such jobs queue up.
    """

    title: str
    options_class: type
    function: Callable[[StepContext, Any], dict[str, Any]]
    check: Callable[[Workspace, Project, Any], object]
    uses_device: Callable[[Any], bool]


def always(options: Any) -> bool:
    """For steps that run a model whatever they are told."""
    return True


def no_device(options: Any) -> bool:
    """For steps that run no model."""
    return False


STEPS: dict[str, Step] = {
    "import-files": Step(
        "Import files", ImportFilesOptions, import_in_background, check_import, no_device
    ),
    "train-cross-encoder": Step(
        "Train cross-encoder", CrossEncoderOptions, train_cross_encoder, check_training, always
    ),
    "draw": Step("Draw candidates", DrawOptions, draw, check_draw, no_device),
    "sample": Step("Sample candidates", SampleOptions, sample, check_sampling, needs_encoder),
    "preview": Step("Preview labels", PreviewOptions, preview, check_preview, always),
    "label": Step("Label candidates", LabelOptions, label, check_labelling, always),
    "gate": Step("Check the labelers", GateOptions, gate, check_gate, always),
    "sample-stratified": Step(
        "Sample and label by strata", StratifiedOptions, sample_stratified, check_stratified, always
    ),
    "keep": Step("Keep silver pairs", KeepOptions, keep, check_keeping, no_device),
    "annotate": Step(
        "Choose pairs to annotate", TaskOptions, make_task, check_task, task_uses_device
    ),
    "student-scores": Step(
        "Score silver with another model",
        StudentScoresOptions,
        score_with_student,
        check_student_scores,
        always,
    ),
    "label-errors": Step(
        "Look for label errors", LabelErrorsOptions, find_label_errors, check_label_errors, always
    ),
    "augment": Step(
        "Copy gold with words replaced", AugmentOptions, augment, check_augmenting, always
    ),
    "train-bi-encoder": Step(
        "Train bi-encoder", BiEncoderOptions, train_bi_encoder, check_training, always
    ),
    "seed-study": Step("Study seeds", SeedStudyOptions, seed_study, check_seed_study, always),
    "evaluate": Step("Evaluate models", EvaluateOptions, evaluate, check_evaluation, always),
    "transfer": Step("Transfer to other texts", TransferOptions, transfer, check_transfer, always),
    "rerank": Step("Judge rerankers", RerankOptions, rerank, check_reranking, always),
    "mine-negatives": Step(
        "Mine negatives", NegativesOptions, mine_negatives, check_mining, mining_uses_device
    ),
    "reproduce": Step("Reproduce a run", ReproduceOptions, reproduce, check_reproducing, always),
    "batch": Step("Batch of runs", BatchOptions, batch, check_batch, batch_uses_device),
}
