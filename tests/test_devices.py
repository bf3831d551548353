"""Devices are found without torch, and a missing one is a user error."""

import subprocess
import sys
import time

import pytest

from augsbert_core.errors import WorkbenchError
from augsbert_core.models import devices


@pytest.fixture(autouse=True)
def forget_devices():
    devices._available.cache_clear()
    yield
    devices._available.cache_clear()


def test_the_cpu_is_always_there_and_last():
    assert devices.available_devices()[-1] == "cpu"
    assert devices.resolve_device("cpu") == "cpu"


def test_auto_takes_the_best_device(monkeypatch):
    monkeypatch.setattr(devices, "_count_cuda", lambda: 2)
    assert devices.available_devices()[:2] == ["cuda:0", "cuda:1"]
    assert devices.resolve_device("auto") == devices.resolve_device("cuda") == "cuda:0"
    assert devices.resolve_device("cuda:1") == "cuda:1"


def test_a_device_that_is_not_there_is_named_with_those_that_are(monkeypatch):
    monkeypatch.setattr(devices, "_count_cuda", lambda: 0)
    with pytest.raises(WorkbenchError, match=r"'cuda:3' is not available.*auto, .*cpu"):
        devices.resolve_device("cuda:3")


def test_a_chosen_card_becomes_the_only_one(monkeypatch):
    monkeypatch.setattr(devices, "_count_cuda", lambda: 3)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,5,6")
    assert devices.claim_device("cpu") == "cpu"
    assert devices.claim_device("cuda:1") == "cuda:0"
    assert devices.os.environ["CUDA_VISIBLE_DEVICES"] == "5"


def test_a_torch_without_cuda_has_no_cards(monkeypatch, tmp_path):
    (tmp_path / "version.py").write_text("cuda: Optional[str] = None\n")
    spec = devices.importlib.util.spec_from_loader("torch", None, is_package=True)
    spec.submodule_search_locations = [str(tmp_path)]
    monkeypatch.setattr(devices.importlib.util, "find_spec", lambda name: spec)
    assert not devices._torch_has_cuda()
    (tmp_path / "version.py").write_text("cuda: Optional[str] = '12.9'\n")
    assert devices._torch_has_cuda()


def test_bfloat16_only_where_the_cpu_has_it(monkeypatch, tmp_path):
    import torch

    info = tmp_path / "cpuinfo"
    monkeypatch.setattr(devices, "CPU_INFO", info)
    info.write_text("flags : fma avx2 avx512f\n")
    assert devices.autocast_dtype("cpu") is None
    info.write_text("flags : fma avx2 avx512f avx512_bf16\n")
    assert devices.autocast_dtype("cpu") is torch.bfloat16
    assert devices.autocast_dtype("mps") is None


def test_finding_devices_is_quick():
    started = time.perf_counter()
    devices.available_devices()
    assert time.perf_counter() - started < 0.5  # a card's driver may need its time


@pytest.mark.parametrize(
    "module",
    ["catalog", "devices", "training", "cross_encoder", "bi_encoder", "labeling", "evaluation"],
)
def test_importing_does_not_import_torch(module):
    program = (
        f"import sys, augsbert_core.models.{module}\n"
        "sys.exit(bool({'torch', 'transformers', 'sentence_transformers'} & set(sys.modules)))"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
