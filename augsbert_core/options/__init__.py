"""What each step can be told. Frozen, plain values, saved with the run before work starts."""

import json
from dataclasses import asdict, fields
from typing import Any, TypeVar

from augsbert_core.options.batches import BatchOptions, DrawOptions, PlannedRun
from augsbert_core.options.exporting import PushOptions, ReproduceOptions
from augsbert_core.options.importing import ImportOptions
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
    "ImportOptions",
    "KeepOptions",
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
    "TransferOptions",
    "from_json",
    "student_defaults",
    "to_json",
]

Options = (
    ImportOptions
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
)
OptionsType = TypeVar("OptionsType")


def to_json(options: Any) -> str:
    """The options as JSON with sorted keys, so that equal options give equal text."""
    return json.dumps(asdict(options), sort_keys=True)


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
