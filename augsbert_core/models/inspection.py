"""Look into model folders: which head a base has, and how far two models' weights are apart."""

from dataclasses import dataclass
from pathlib import Path

from augsbert_core.errors import WorkbenchError
from augsbert_core.models.catalog import is_sentence_encoder, resolve_model
from augsbert_core.models.model_folders import count_outputs

ATTENTION_POOLING = Path(__file__).with_name("attention_pooling.py")
"""The one module of ours that a model may need; it imports nothing of the workbench."""


def head_kind(base: str, hidden: int | None) -> str:
    """Which head training a cross-encoder from a base begins with.

    "own": the base's trained one. "pooled": a new output on a sentence encoder's pooled tokens. "cls": a new one
    with a hidden layer on [CLS]. "plain": the new head of the architecture. WorkbenchError: no such model.
    """
    if count_outputs(Path(resolve_model(base).location)) == 1:
        return "own"
    if is_sentence_encoder(base):
        return "pooled"
    return "plain" if hidden is None else "cls"


@dataclass(frozen=True)
class WeightsDifference:
    """How far the weights of two models are apart. largest: of one number; None when their shapes differ."""

    n_weights: int
    n_different: int
    largest: float | None

    @property
    def is_identical(self) -> bool:
        return self.n_different == 0 and self.largest is not None


def compare_weights(first: Path, second: Path) -> WeightsDifference:
    """Compare all safetensors of two model folders, tensor by tensor, so that only one of each is in memory.

    WorkbenchError: one of the folders has no weights.
    """
    files = [_weight_files(folder) for folder in (first, second)]
    if files[0].keys() != files[1].keys():
        return WeightsDifference(0, 0, None)
    total = different = 0
    largest = 0.0
    for name in files[0]:
        found = _compare_files(files[0][name], files[1][name])
        if found is None:
            return WeightsDifference(total, different, None)
        total, different = total + found[0], different + found[1]
        largest = max(largest, found[2])
    return WeightsDifference(total, different, largest)


def _weight_files(folder: Path) -> dict[str, Path]:
    found = {
        path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*.safetensors"))
    }
    if not found:
        raise WorkbenchError(f"The model folder {folder.name} has no weights to compare.")
    return found


def _compare_files(first: Path, second: Path) -> tuple[int, int, float] | None:
    """(weights, different ones, largest difference); None when names or shapes differ."""
    from safetensors import safe_open

    total = different = 0
    largest = 0.0
    with safe_open(first, framework="pt") as one, safe_open(second, framework="pt") as other:
        if set(one.keys()) != set(other.keys()):
            return None
        for name in one.keys():  # noqa: SIM118 (the file is no mapping)
            here, there = one.get_tensor(name), other.get_tensor(name)
            if here.shape != there.shape:
                return None
            gap = (here.double() - there.double()).abs()
            total += gap.numel()
            different += int((gap > 0).sum())
            largest = max(largest, float(gap.max()) if gap.numel() else 0.0)
    return total, different, largest
