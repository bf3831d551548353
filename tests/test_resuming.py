"""Training that is stopped, crashes or is killed, and then goes on."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from augsbert_core.errors import Stopped
from augsbert_core.models.training import TrainingResult
from tests.tiny_training import (
    KINDS,
    assert_same_weights,
    make_base,
    options,
    train,
    train_both,
)


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> str:
    return make_base(tmp_path_factory.mktemp("base"))


@pytest.fixture(scope="module")
def uninterrupted(base, tmp_path_factory) -> dict[str, tuple[Path, TrainingResult]]:
    return train_both(base, tmp_path_factory.mktemp("uninterrupted"))


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
    assert result.dev_score == expected.dev_score


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
import json, os, signal, sys
from pathlib import Path
import numpy as np
from augsbert_core.models.bi_encoder import train_bi_encoder
from augsbert_core.options import BiEncoderOptions
from tests.tiny_training import DEV, TRAIN

def report(fraction, message, metrics=None, step=None):
    if step == 11:
        os.kill(os.getpid(), signal.SIGKILL)

train_bi_encoder(TRAIN, DEV, BiEncoderOptions(**json.loads(sys.argv[1])), Path(sys.argv[2]),
                 task="regression", device="cpu", report=report, checkpoint_seconds=0)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL on Windows")
def test_a_killed_process_is_resumed_by_another(base, tmp_path, uninterrupted):
    chosen = options("bi_encoder", base)
    arguments = [json.dumps(vars(chosen)), str(tmp_path)]
    root = Path(__file__).parent.parent
    # As many threads as here, so that sums are added up in the same order.
    environment = os.environ | {"PYTHONPATH": str(root), "OMP_NUM_THREADS": "1"}
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, *arguments], cwd=root, env=environment, check=False
    )
    assert killed.returncode == -signal.SIGKILL
    train("bi_encoder", chosen, tmp_path)
    assert_same_weights(tmp_path, uninterrupted["bi_encoder"][0])
