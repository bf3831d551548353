"""Training that is stopped, crashes or is killed, and then goes on.

The dev pairs are training pairs here: the last weights are then the best ones, so those that are kept and compared
have seen every step.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from augsbert_core.errors import Stopped, WorkbenchError
from augsbert_core.models.training import TrainingResult
from augsbert_core.pairs import ScoredPairs
from tests import tiny_training
from tests.tiny_training import (
    KINDS,
    NO_DEV,
    TRAIN,
    assert_same_weights,
    make_base,
    nli_rows,
    options,
    triplet_rows,
)

SEEN = ScoredPairs(TRAIN.sentences1[:30], TRAIN.sentences2[:30], TRAIN.scores[:30])


def train(kind, chosen, folder, data=TRAIN, dev=SEEN, **kwargs) -> TrainingResult:
    return tiny_training.train(kind, chosen, folder, data, dev, **kwargs)


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> str:
    return make_base(tmp_path_factory.mktemp("base"))


@pytest.fixture(scope="module")
def uninterrupted(base, tmp_path_factory) -> dict[str, tuple[Path, TrainingResult]]:
    trained = tiny_training.train_both(base, tmp_path_factory.mktemp("uninterrupted"), dev=SEEN)
    assert [result.best_step for _, result in trained.values()] == [18, 18]
    return trained


class Crash(Exception):
    """Stands for a killed process: it leaves everything as it was at that moment."""


def crash_at(step: int):
    """A report that ends the run as soon as the given step is reported."""

    def report(fraction, message, metrics=None, at=None):
        if at == step and metrics and "loss" in metrics:
            raise Crash

    return report


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("step", [4, 6, 13], ids=["mid-epoch", "end of epoch", "last epoch"])
def test_a_crashed_run_ends_like_an_uninterrupted_one(kind, step, base, tmp_path, uninterrupted):
    """Dropout is on, so this also shows that the random state is restored."""
    chosen = options(kind, base)
    with pytest.raises(Crash):
        train(kind, chosen, tmp_path, report=crash_at(step), checkpoint_seconds=0)
    assert not (tmp_path / "model").exists()
    steps = []

    def report(fraction, message, metrics=None, at=None):
        if metrics and "loss" in metrics:
            steps.append(at)

    result = train(kind, chosen, tmp_path, report=report)
    assert steps[0] == step  # the checkpoint before the crash was step - 1
    expected_folder, expected = uninterrupted[kind]
    assert_same_weights(tmp_path, expected_folder)
    assert (result.n_steps, result.best_step) == (expected.n_steps, expected.best_step)
    assert result.dev_curve == expected.dev_curve


def test_a_half_written_checkpoint_is_skipped(base, tmp_path, uninterrupted):
    chosen = options("bi_encoder", base)
    with pytest.raises(Crash):
        train("bi_encoder", chosen, tmp_path, report=crash_at(9), checkpoint_seconds=0)
    newest = tmp_path / "checkpoints" / "checkpoint-8"
    (newest / "complete.json").unlink()
    (newest / "weights.safetensors").write_bytes(b"half of the weig")
    train("bi_encoder", chosen, tmp_path)
    assert_same_weights(tmp_path, uninterrupted["bi_encoder"][0])


def test_a_run_without_any_complete_checkpoint_starts_again(base, tmp_path, uninterrupted):
    chosen = options("bi_encoder", base)
    with pytest.raises(Crash):
        train("bi_encoder", chosen, tmp_path, report=crash_at(9))
    train("bi_encoder", chosen, tmp_path)
    assert_same_weights(tmp_path, uninterrupted["bi_encoder"][0])


@pytest.mark.parametrize("kind", KINDS)
def test_stopping_leaves_a_checkpoint_to_go_on_from(kind, base, tmp_path, uninterrupted):
    calls = []

    def should_stop() -> bool:
        calls.append(None)
        return len(calls) > 12

    chosen = options(kind, base)
    with pytest.raises(Stopped):
        train(kind, chosen, tmp_path, should_stop=should_stop)
    marks = list((tmp_path / "checkpoints").glob("checkpoint-*/complete.json"))
    assert len(marks) == 1
    train(kind, chosen, tmp_path)
    assert_same_weights(tmp_path, uninterrupted[kind][0])


def test_stopping_while_the_dev_pairs_are_scored_does_not_lose_that_score(
    base, tmp_path, uninterrupted
):
    scoring = threading.Event()

    def report(fraction, message, metrics=None, step=None):
        if message.startswith("Scoring the dev pairs after step 9"):
            scoring.set()

    chosen = options("cross_encoder", base)
    with pytest.raises(Stopped):
        train("cross_encoder", chosen, tmp_path, report=report, should_stop=scoring.is_set)
    scored = []

    def listen(fraction, message, metrics=None, step=None):
        if metrics and "dev_score" in metrics:
            scored.append(step)

    train("cross_encoder", chosen, tmp_path, report=listen)
    assert scored[0] == 9
    assert_same_weights(tmp_path, uninterrupted["cross_encoder"][0])


def test_checkpoints_of_another_training_are_not_resumed(base, tmp_path, uninterrupted):
    with pytest.raises(Crash):
        train(
            "bi_encoder",
            options("bi_encoder", base, seed=5),
            tmp_path,
            report=crash_at(9),
            checkpoint_seconds=0,
        )
    train("bi_encoder", options("bi_encoder", base), tmp_path)
    assert_same_weights(tmp_path, uninterrupted["bi_encoder"][0])


KILLED = """
import json, sys
from pathlib import Path
from augsbert_core.models.bi_encoder import train_bi_encoder
from augsbert_core.options import BiEncoderOptions
from tests.test_resuming import SEEN, TRAIN

def report(fraction, message, metrics=None, step=None):
    if metrics and "loss" in metrics:
        print(step, flush=True)

train_bi_encoder(TRAIN, SEEN, BiEncoderOptions(**json.loads(sys.argv[1])), Path(sys.argv[2]),
                 task="regression", device="cpu", report=report, checkpoint_seconds=0)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL on Windows")
def test_a_process_killed_at_any_moment_is_resumed_by_another(base, tmp_path, uninterrupted):
    """The kill comes from outside, in the middle of whatever follows a random step."""
    step = int(np.random.default_rng().integers(1, 17))
    chosen = options("bi_encoder", base)
    arguments = [json.dumps(vars(chosen)), str(tmp_path)]
    root = Path(__file__).parent.parent
    # As many threads as here, so that sums are added up in the same order.
    environment = os.environ | {"PYTHONPATH": str(root), "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, *arguments],
        cwd=root,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        for line in process.stdout:
            if int(line) >= step:
                process.kill()
                break
    assert process.returncode == -signal.SIGKILL, f"killed after step {step}"
    train("bi_encoder", chosen, tmp_path)
    assert_same_weights(tmp_path, uninterrupted["bi_encoder"][0])


@pytest.mark.parametrize(("loss", "rows"), [("softmax", nli_rows(40)), ("mnrl", triplet_rows(40))])
def test_other_losses_resume_with_their_own_weights_and_batches(loss, rows, base, tmp_path):
    """The classifier of softmax is trained and thrown away, so its checkpoint must hold it.

    Without dev pairs the last weights are kept, which all steps have a part in.
    """
    chosen = options("bi_encoder", base, loss=loss, epochs=2)
    train("bi_encoder", chosen, tmp_path / "whole", rows, NO_DEV)
    with pytest.raises(Crash):
        train(
            "bi_encoder",
            chosen,
            tmp_path / "crashed",
            rows,
            NO_DEV,
            report=crash_at(7),
            checkpoint_seconds=0,
        )
    train("bi_encoder", chosen, tmp_path / "crashed", rows, NO_DEV)
    assert_same_weights(tmp_path / "crashed", tmp_path / "whole")


def test_at_most_two_checkpoints_are_kept(base, tmp_path):
    found = []

    def report(fraction, message, metrics=None, at=None):
        found.append(len(list((tmp_path / "checkpoints").glob("checkpoint-*"))))

    train("bi_encoder", options("bi_encoder", base, checkpoint_seconds=0), tmp_path, report=report)
    assert max(found) == 2


# --- pauses and early ends -------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_paused_training_goes_on_as_if_it_had_not_paused(kind, base, tmp_path, uninterrupted):
    chosen = options(kind, base)
    paused = train(kind, chosen, tmp_path, stop_at=0.3)
    assert paused.n_steps == paused.best_step == 6  # 0.3 × 18, rounded up
    assert paused.dev_curve[-1] == (6, paused.dev_score)
    assert not (tmp_path / "model").exists()
    # Asked again, it has nothing to train.
    again = train(kind, chosen, tmp_path, stop_at=0.3, report=crash_at(7))
    assert (again.dev_score, again.dev_curve) == (paused.dev_score, paused.dev_curve)
    # A trial's own settings do not make another training of it.
    result = train(kind, replace(chosen, seeds=5, seed_stop=0.3), tmp_path)
    expected_folder, expected = uninterrupted[kind]
    assert_same_weights(tmp_path, expected_folder)
    assert set(result.dev_curve) - set(expected.dev_curve) == {paused.dev_curve[-1]}
    assert (result.best_step, result.n_steps) == (expected.best_step, 18)


def test_patience_ends_a_training_that_gets_no_better(base, tmp_path):
    wild = options("bi_encoder", base, learning_rate=0.3, epochs=12, patience=2)
    result = train("bi_encoder", wild, tmp_path / "early")
    scores = [score for _, score in result.dev_curve]
    assert scores.index(max(scores)) == len(scores) - 3
    assert result.n_steps == result.dev_curve[-1][0] < 72
    assert result.dev_score == max(scores)
    # The same when it pauses in between, even after its early end.
    paused = train("bi_encoder", wild, tmp_path / "paused", stop_at=0.95)
    assert paused.n_steps == result.n_steps
    train("bi_encoder", wild, tmp_path / "paused")
    assert_same_weights(tmp_path / "paused", tmp_path / "early")


def test_a_full_disk_is_told_before_training_starts(base, tmp_path, monkeypatch):
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(
        "augsbert_core.models.checkpoints.shutil.disk_usage",
        lambda path: usage._replace(free=100_000),
    )
    chosen = options("bi_encoder", base)
    with pytest.raises(WorkbenchError, match=r"about 0.00 GB .* only 0.00 GB are free there"):
        train("bi_encoder", chosen, tmp_path, report=crash_at(1))
