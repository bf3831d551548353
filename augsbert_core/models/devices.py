"""Which devices can compute, found without importing torch."""

import ctypes
import importlib.util
import os
import platform
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from augsbert_core.errors import WorkbenchError

CPU_INFO = Path("/proc/cpuinfo")


@lru_cache(maxsize=1)
def _available() -> tuple[str, ...]:
    cards = tuple(f"cuda:{index}" for index in range(_count_cuda()))
    apple = ("mps",) if platform.system() == "Darwin" and platform.machine() == "arm64" else ()
    return (*cards, *apple, "cpu")


def available_devices() -> list[str]:
    """The devices that models can run on, best first; the last is always "cpu".

    Names are "cuda:0", "cuda:1", …, "mps" and "cpu". Importing torch would take seconds, so this asks
    the CUDA driver itself, once per process.
    """
    return list(_available())


def resolve_device(requested: str) -> str:
    """The device that a request means: "auto" is the best one, "cuda" the first card.

    Raises WorkbenchError for a device that this machine does not have.
    """
    devices = available_devices()
    if requested == "auto":
        return devices[0]
    wanted = "cuda:0" if requested == "cuda" else requested
    if wanted not in devices:
        raise WorkbenchError(
            f"Device {requested!r} is not available. This machine offers: auto, {', '.join(devices)}."
        )
    return wanted


def claim_device(device: str) -> str:
    """Make one CUDA card the only one this process sees, and return its new name.

    The training libraries spread over every visible card and start at the first. A job has a process
    of its own, so hiding the other cards is the plain way to stay on the chosen one. It works only
    before CUDA is first used in the process; "cpu", "mps" and a lone card come back unchanged.
    """
    if not device.startswith("cuda:") or len([d for d in available_devices() if "cuda" in d]) < 2:
        return device
    index = int(device.removeprefix("cuda:"))
    visible = [name for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if name]
    os.environ["CUDA_VISIBLE_DEVICES"] = visible[index] if visible else str(index)
    _available.cache_clear()
    return "cuda:0"


def autocast_dtype(device: str) -> Any:
    """torch.bfloat16 where the device computes in it natively, else None.

    CUDA cards since compute capability 8; CPUs with avx512_bf16 or amx_bf16. Elsewhere bfloat16 is
    emulated and slower than float32.
    """
    if device.startswith("cuda"):
        import torch

        return torch.bfloat16 if torch.cuda.is_bf16_supported(including_emulation=False) else None
    if device == "cpu" and _cpu_has_bfloat16():
        import torch

        return torch.bfloat16
    return None


def _cpu_has_bfloat16() -> bool:
    try:
        flags = CPU_INFO.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return re.search(r"\b(avx512_bf16|amx_bf16)\b", flags) is not None


def _count_cuda() -> int:
    if not _torch_has_cuda():
        return 0
    try:
        driver = ctypes.CDLL("nvcuda.dll" if platform.system() == "Windows" else "libcuda.so.1")
    except OSError:
        return 0
    count = ctypes.c_int(0)
    if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return 0
    return count.value


def _torch_has_cuda() -> bool:
    """Whether the installed torch was built for CUDA; it writes that into torch/version.py."""
    spec = importlib.util.find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        return False
    version = Path(spec.submodule_search_locations[0], "version.py")
    try:
        text = version.read_text(encoding="utf-8")
    except OSError:
        return False
    return re.search(r"^cuda\b[^=]*=\s*['\"]", text, re.MULTILINE) is not None
