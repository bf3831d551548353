"""What benchmarks/label_errors.py plants, and how it counts what was found."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

SCRIPT = Path(__file__).resolve().parent.parent / "benchmarks" / "label_errors.py"


@pytest.fixture(scope="module")
def benchmark_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("benchmark_label_errors", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_a_share_of_the_pairs_gets_a_score_that_is_far_away(
    benchmark_script: ModuleType, tmp_path: Path
) -> None:
    rng = np.random.default_rng(1)
    scores = np.round(5 * rng.random(200), 1)
    lines = [f"g\tf\ty\t{n}\t{score}\tone {n}\tother {n}" for n, score in enumerate(scores)]
    path = tmp_path / "train.tsv"
    path.write_text("\n".join([*lines, *lines[:20]]), encoding="utf-8")
    found = benchmark_script.plant(path, 100, 0.05, 42)
    assert found == benchmark_script.plant(path, 100, 0.05, 42)
    assert len({one.sentence1 for one in found}) == len(found) == 100
    wrong = [one for one in found if one.shift]
    assert len(wrong) == 5
    for one in found:
        true = scores[int(one.sentence1.split()[1])]
        assert one.score - one.shift == pytest.approx(true)
        assert one.score in scores
    assert min(abs(one.shift) for one in wrong) >= 1


def test_a_ranking_is_judged_as_elsewhere(benchmark_script: ModuleType) -> None:
    rng = np.random.default_rng(2)
    shift = np.zeros(200)
    shift[:10] = [1.0, -1.5, 2.0, -2.5, 3.0, 3.0, 4.0, -5.0, 1.0, 1.0]
    doubt = np.round(rng.random(200) + (shift != 0) * 0.5, 1)  # with ties
    found = benchmark_script.figures(doubt, shift)
    assert found["auc"] == pytest.approx(roc_auc_score(shift != 0, doubt))
    assert found["auc_interval"][0] < found["auc"] < found["auc_interval"][1]
    perfect = benchmark_script.figures((shift != 0).astype(float), shift)
    assert perfect["precision"] == {"5%": 1.0, "10%": 0.5}
    assert perfect["recall"] == {"5%": 1.0, "10%": 1.0}
    sizes = benchmark_script.by_shift((shift != 0).astype(float), shift)
    assert [(row["n"], row["found"]) for row in sizes] == [(4, 4), (2, 2), (4, 4)]


def test_chance_finds_its_share(benchmark_script: ModuleType) -> None:
    told = benchmark_script.chance(1000, 50, 0.05)
    rng = np.random.default_rng(3)
    draws = rng.hypergeometric(50, 950, 50, size=20_000) / 50
    assert told["mean"] == 0.05
    assert np.mean(draws <= told["high"]) >= 0.975 > np.mean(draws < told["high"])
