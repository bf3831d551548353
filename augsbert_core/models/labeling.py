"""The labeler: a cross-encoder that scores candidate pairs."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.models.catalog import load_cross_encoder
from augsbert_core.models.inference import run_rows, sigmoid
from augsbert_core.models.tokens import tokenize_rows
from augsbert_core.progress import ShouldStop, never, stop_if

# Tokenised together and sorted by length once more, in batches.
BATCHES_AT_ONCE = 32


@dataclass(frozen=True)
class Labeler:
    """A cross-encoder with one trained output, loaded on a device."""

    location: str
    device: str
    model: Any


def load_labeler(location: str, device: str, max_length: int | None = None) -> Labeler:
    """Load a trained cross-encoder by name or folder.

    Raises WorkbenchError when it has no trained head or more than one output.
    """
    model = load_cross_encoder(location, device, max_length=max_length)
    _overwrite_in_gelu(model)
    return Labeler(location, device, model)


def label_batches(
    labeler: Labeler,
    sentences1: list[str],
    sentences2: list[str],
    *,
    batch_size: int = 64,
    should_stop: ShouldStop = never,
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Score pairs in batches of like length, the longest first, each pair exactly once.

    batch_size: at most so many pairs; on a CPU long pairs come in smaller batches (`inference.run_rows`). On
    a CUDA card the model computes in float16, whose scores differ by less than 0.01 from float32's.
    Yields (positions in the input, raw logits, scores in [0, 1]): int64 and two float32 arrays. The
    sigmoid is taken once, in float32, whatever activation the model was saved with.
    Raises Stopped between batches, and WorkbenchError when a logit is not a finite number.
    """
    characters = np.array([len(a) + len(b) for a, b in zip(sentences1, sentences2, strict=True)])
    order = np.argsort(-characters, kind="stable")
    for start in range(0, len(order), batch_size * BATCHES_AT_ONCE):
        stop_if(should_stop)
        chunk = order[start : start + batch_size * BATCHES_AT_ONCE]
        rows = tokenize_rows(labeler.model, [(sentences1[i], sentences2[i]) for i in chunk])
        for places, values in run_rows(
            labeler.model, rows, "scores", batch_size=batch_size, half=True, should_stop=should_stop
        ):
            logits = values.reshape(-1)
            if not np.isfinite(logits).all():
                raise WorkbenchError(
                    f"The labeler {labeler.location} gives scores that are no finite numbers, so its "
                    "weights are damaged: choose another labeler or train it again."
                )
            yield chunk[places], logits, sigmoid(logits)


def _overwrite_in_gelu(model: Any) -> None:
    """Let GELU write over its input, the widest of all intermediate results, which nothing else reads.

    Only for scoring: training needs the input again. Saves about a twentieth of the time on a CPU.
    """
    import torch
    from transformers.activations import GELUActivation

    class OverwritingGelu(torch.nn.Module):
        def forward(self, values: Any) -> Any:
            return torch.ops.aten.gelu_(values)

    for module in model.modules():
        if type(getattr(module, "intermediate_act_fn", None)) is GELUActivation:
            module.intermediate_act_fn = OverwritingGelu()
