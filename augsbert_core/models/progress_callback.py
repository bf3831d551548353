"""The Trainer's eyes and ears: progress, stopping, dev scores, checkpoints. Import inside functions only."""

import math
import time
from collections.abc import Callable
from typing import Any

from transformers import TrainerCallback

from augsbert_core.errors import Stopped, WorkbenchError
from augsbert_core.models.checkpoints import Best, Checkpoints
from augsbert_core.models.trainer import full_precision
from augsbert_core.models.training import TrainingPlan, TrainingTask, dev_score
from augsbert_core.progress import Report, ShouldStop

LOGS = 100
REPORT_SECONDS = 1.0
LOG_SECONDS = 5.0


class ProgressCallback(TrainerCallback):
    """Called by the Trainer after every step; says when to log, to save and to stop."""

    def __init__(
        self,
        task: TrainingTask,
        checkpoints: Checkpoints,
        plan: TrainingPlan,
        report: Report,
        should_stop: ShouldStop,
        checkpoint_seconds: float,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.task = task
        self.checkpoints = checkpoints
        self.plan = plan
        self.report = report
        self.should_stop = should_stop
        self.checkpoint_seconds = checkpoint_seconds
        self.log_every = max(plan.n_steps // LOGS, 1)
        self.now = now
        self.stopped = False
        self.scored_step = 0
        self.dev_curve: list[tuple[int, float]] = []
        self.threshold: float | None = None
        self.first_step = 0
        self.step = 0
        self.loss: float | None = None
        self.seconds_before = 0.0
        self.paused = 0.0
        self.began = self.saved_at = self.logged_at = self.reported_at = self.now()
        self.ended: float | None = None

    # --- what the Trainer calls ---

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.begin(state.global_step, control)

    def begin(self, step: int, control: Any) -> None:
        """Take up what the checkpoint of a step knew; 0 begins anew."""
        self.step = self.first_step = step
        self.began = self.saved_at = self.logged_at = self.now()
        notes = self.checkpoints.notes(step)
        self.seconds_before = notes.get("seconds", 0.0)
        self.scored_step = int(notes.get("scored_step", 0))
        self.threshold = notes.get("threshold")
        self.dev_curve = self.checkpoints.dev_curve(step)
        if step:
            self.report(self._fraction(), f"Resumed at step {step:,} of {self.plan.n_steps:,}")
        if self._scores(step) and self.scored_step < step:
            self._score_dev(control)
            if not self.stopped:
                self._complete()

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.step = state.global_step
        if self.should_stop():
            self._stop(control)
            return
        if self._scores(self.step):
            self._score_dev(control)
        last = self.plan.is_over(self.step, self.dev_curve)
        if last:
            control.should_training_stop = True
            control.should_save = control.should_save or self.plan.pauses
        elif self.now() - self.saved_at >= self.checkpoint_seconds:
            control.should_save = True
        due = self.now() - self.logged_at >= LOG_SECONDS
        if self.step % self.log_every == 0 or due or last:
            control.should_log = True
        elif self.now() - self.reported_at >= REPORT_SECONDS:
            self._say()

    def on_log(
        self, args: Any, state: Any, control: Any, logs: dict[str, float] | None = None, **_: Any
    ) -> None:
        if logs and "loss" in logs:
            self.logged_at = self.now()
            self.loss = logs["loss"]
            if not math.isfinite(self.loss):
                raise WorkbenchError(
                    f"Training has diverged: after step {self.step:,} the loss is no finite number. Choose a lower "
                    "learning rate."
                )
            self._say({"loss": logs["loss"], "learning_rate": logs["learning_rate"]})

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._complete()
        self.saved_at = self.now()

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.ended = self.now()

    # --- times ---

    def seconds(self) -> float:
        """Seconds so far, those before an interruption included."""
        return self.seconds_before + (self.ended or self.now()) - self.began

    def examples_per_second(self) -> float:
        """Pairs per second in this process, while training only."""
        busy = (self.ended or self.now()) - self.began - self.paused
        return (self.step - self.first_step) * self.plan.pairs_per_step / max(busy, 1e-9)

    # --- steps of our own ---

    def _scores(self, step: int) -> bool:
        """Whether the dev pairs are scored after a step; a pause ends with a score, too."""
        pause = self.plan.pauses and step == self.plan.end and len(self.task.dev_scores) > 0
        return step in self.plan.dev_steps or pause

    def _complete(self) -> None:
        notes = {
            "seconds": self.seconds(),
            "scored_step": self.scored_step,
            "dev_curve": self.dev_curve,
            "threshold": self.threshold,
        }
        self.checkpoints.complete(self.step, notes)

    def _score_dev(self, control: Any) -> None:
        began = self.now()
        self.report(self._fraction(), f"Scoring the dev pairs after step {self.step:,}")
        try:
            with self.task.vocabulary.complete(), full_precision(self.task.model):
                predicted = self.task.predict(self.should_stop)
        except Stopped:
            self._stop(control)
            return
        score, threshold = dev_score(self.task.metric, self.task.dev_scores, predicted)
        self.scored_step, self.threshold = self.step, threshold
        if score is not None:
            self.dev_curve.append((self.step, score))
            self._keep_best(Best(self.step, score, threshold))
        self.paused += self.now() - began
        shown = "undefined" if score is None else f"{score:.4f}"
        message = (
            f"Dev {self.task.metric} {shown} after step {self.step:,} of {self.plan.n_steps:,}"
        )
        values = {} if score is None else {"dev_score": score}
        self.report(self._fraction(), message, values, self.step)

    def _keep_best(self, found: Best) -> None:
        # The score of a pause is one that an uninterrupted training would not have looked at.
        if found.step not in self.plan.dev_steps:
            return
        best = self.checkpoints.best()
        if best is None or found.score > best.score:
            self.checkpoints.keep_best(self.task.model, found)

    def _stop(self, control: Any) -> None:
        self.stopped = True
        control.should_save = True
        control.should_training_stop = True

    def _say(self, values: dict[str, float] | None = None) -> None:
        self.reported_at = self.now()
        speed = self.examples_per_second()
        left = (self.plan.end - self.step) * self.plan.pairs_per_step / max(speed, 1e-9)
        parts = [f"Step {self.step:,} of {self.plan.n_steps:,}"]
        parts += [f"loss {self.loss:.4f}"] if self.loss is not None else []
        parts += [f"{speed:.0f} pairs/s", f"about {left:.0f} s of training left"]
        self.report(self._fraction(), " · ".join(parts), values, self.step)

    def _fraction(self) -> float:
        return min(self.step / self.plan.end, 1.0)
