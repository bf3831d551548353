"""What each step can be told. Frozen, plain values, saved with the run before work starts."""

import json
import math
from dataclasses import asdict, fields
from typing import Any, TypeVar

from augsbert_core.errors import WorkbenchError
from augsbert_core.options.annotating import (
    LabelErrorsOptions,
    StudentScoresOptions,
    TaskOptions,
)
from augsbert_core.options.batches import BatchOptions, DrawOptions, PlannedRun
from augsbert_core.options.exporting import PushOptions, ReproduceOptions
from augsbert_core.options.importing import ImportedFile, ImportFilesOptions, ImportOptions
from augsbert_core.options.measuring import (
    EvaluateOptions,
    GateOptions,
    NegativesOptions,
    RerankOptions,
    TransferOptions,
)
from augsbert_core.options.models import BUNDLED_MODEL
from augsbert_core.options.silver import (
    AugmentOptions,
    KeepOptions,
    LabelOptions,
    PreviewOptions,
    SampleOptions,
    StratifiedOptions,
)
from augsbert_core.options.training import (
    BiEncoderOptions,
    CrossEncoderOptions,
    SeedStudyOptions,
    Stage,
    student_defaults,
)

__all__ = [
    "BUNDLED_MODEL",
    "AugmentOptions",
    "BatchOptions",
    "BiEncoderOptions",
    "CrossEncoderOptions",
    "DrawOptions",
    "EvaluateOptions",
    "GateOptions",
    "ImportFilesOptions",
    "ImportOptions",
    "ImportedFile",
    "KeepOptions",
    "LabelErrorsOptions",
    "LabelOptions",
    "NegativesOptions",
    "Options",
    "PlannedRun",
    "PreviewOptions",
    "PushOptions",
    "ReproduceOptions",
    "RerankOptions",
    "SampleOptions",
    "SeedStudyOptions",
    "Stage",
    "StratifiedOptions",
    "StudentScoresOptions",
    "TaskOptions",
    "TransferOptions",
    "from_json",
    "student_defaults",
    "to_json",
]

Options = (
    ImportOptions
    | ImportFilesOptions
    | CrossEncoderOptions
    | SampleOptions
    | AugmentOptions
    | LabelOptions
    | PreviewOptions
    | StratifiedOptions
    | KeepOptions
    | BiEncoderOptions
    | SeedStudyOptions
    | EvaluateOptions
    | GateOptions
    | RerankOptions
    | NegativesOptions
    | DrawOptions
    | TransferOptions
    | BatchOptions
    | ReproduceOptions
    | TaskOptions
    | StudentScoresOptions
    | LabelErrorsOptions
)
OptionsType = TypeVar("OptionsType")


def to_json(options: Any) -> str:
    """The options as JSON with sorted keys, so that equal options give equal text.

    WorkbenchError: a number is not finite, which no step can use and no database can read.
    """
    told = asdict(options)
    _refuse_infinite("", told)
    return json.dumps(told, sort_keys=True, allow_nan=False)


def _refuse_infinite(place: str, value: Any) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise WorkbenchError(f"{place} must be a finite number, not {value}.")
    if isinstance(value, dict):
        for name, item in value.items():
            _refuse_infinite(f"{place}.{name}" if place else name, item)
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value, 1):
            _refuse_infinite(f"{place} {number}", item)


def from_json(options_class: type[OptionsType], text: str) -> OptionsType:
    """The inverse of `to_json`; keys that this version does not know are left out."""
    return _build(options_class, json.loads(text))


def _build(options_class: type[OptionsType], stored: dict[str, Any]) -> OptionsType:
    values = {}
    for field in fields(options_class):  # type: ignore[arg-type]
        if field.name not in stored:
            continue
        value = stored[field.name]
        if isinstance(value, list):
            of = field.metadata.get("of")
            value = tuple(_build(of, item) if of else item for item in value)
        values[field.name] = value
    return options_class(**values)
