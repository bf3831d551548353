"""Where an interrupted training goes on: complete checkpoints, and the best model so far."""

import json
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from augsbert_core.errors import WorkbenchError
from augsbert_core.files import write_whole

COMPLETE = "complete.json"
BEST = "best.json"
OWNER = "training.json"


@dataclass(frozen=True)
class Best:
    """The best dev score so far, the step it was reached at, and its threshold (F1 only)."""

    step: int
    score: float
    threshold: float | None


class Checkpoints:
    """The folder of one training's checkpoints; those of another training are removed.

    fingerprint: says which training it is. A checkpoint counts only once `complete` has marked it, so a
    folder that was being written when the process was killed is never resumed from. started_over: there
    were checkpoints, but of other pairs or options.
    """

    def __init__(self, folder: Path, fingerprint: str) -> None:
        self.folder = folder
        owner = folder / OWNER
        self.started_over = owner.is_file() and owner.read_text(encoding="utf-8") != fingerprint
        if not owner.is_file() or owner.read_text(encoding="utf-8") != fingerprint:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            write_whole(owner, fingerprint)

    def make_room(self, n_kept: int, n_trained: int) -> None:
        """Refuse a training whose checkpoints and model would fill the disk.

        n_kept: bytes of the model when it is saved. n_trained: bytes of the weights that are trained. A
        checkpoint is those and the two moments of AdamW; while a third one is being written the oldest of two
        is still there, and so are the best weights; in the end the model joins two checkpoints.
        WorkbenchError names the space needed and the space that is free.
        """
        checkpoint, best = 3 * n_trained, n_trained
        needed = best + 2 * checkpoint + max(checkpoint, n_kept)
        here = sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())
        free = shutil.disk_usage(self.folder).free
        if needed - here > free:
            raise WorkbenchError(
                f"This training needs about {needed / 1e9:.2f} GB for its checkpoints and the model in "
                f"{self.folder.parent}, but only {free / 1e9:.2f} GB are free there. Free some space, choose a "
                "smaller model or fewer layers, or move the workspace to a larger disk."
            )

    def latest(self) -> Path | None:
        """The newest complete checkpoint; half-written ones are deleted on the way."""
        complete: dict[int, Path] = {}
        for path in self.folder.glob("checkpoint-*"):
            if (path / COMPLETE).is_file():
                complete[step_of(path)] = path
            else:
                shutil.rmtree(path, ignore_errors=True)
        return complete[max(complete)] if complete else None

    def complete(self, step: int, notes: dict[str, Any]) -> None:
        """Mark the checkpoint of a step as fully written, with what the next process must know."""
        write_whole(self.folder / f"checkpoint-{step}" / COMPLETE, json.dumps(notes))

    def notes(self, step: int) -> dict[str, Any]:
        """What `complete` was told about a step; empty when there is no such checkpoint."""
        path = self.folder / f"checkpoint-{step}" / COMPLETE
        return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}

    def dev_curve(self, step: int) -> list[tuple[int, float]]:
        """The (step, dev score) that were known when the checkpoint of a step was written."""
        return [(int(at), float(score)) for at, score in self.notes(step).get("dev_curve", [])]

    def best(self) -> Best | None:
        """The best dev score so far, if any was defined."""
        path = self.folder / BEST
        return Best(**json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else None

    def keep_best(self, model: Any, best: Best) -> None:
        """Store the model as the best so far. The record moves on only after the weights are whole."""
        from safetensors.torch import save_model

        save_model(model, str(self._weights(best.step)))
        write_whole(self.folder / BEST, json.dumps(asdict(best)))
        for path in self.folder.glob("best-*.safetensors"):
            if path != self._weights(best.step):
                path.unlink()

    def load_best(self, model: Any) -> None:
        """Put the best weights into the model."""
        from safetensors.torch import load_model

        best = self.best()
        if best is not None:
            load_model(model, str(self._weights(best.step)))

    def remove(self) -> None:
        """Delete everything: the training is over."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _weights(self, step: int) -> Path:
        return self.folder / f"best-{step}.safetensors"


def step_of(checkpoint: Path) -> int:
    """The optimiser step after which a checkpoint was written."""
    return int(checkpoint.name.removeprefix("checkpoint-"))
