"""Which folders of this machine a name typed on a page may open: all of them, unless a class shares the machine."""

import os
from pathlib import Path

FENCE = "AUGSBERT_FENCE"
"""The environment variable that names the one folder in which models and data may lie; unset: no limit."""


def may_open(folder: Path) -> bool:
    """Whether a folder lies within the fence; links and ".." are followed first."""
    fence = os.environ.get(FENCE)
    return not fence or folder.resolve().is_relative_to(Path(fence).resolve())


def is_fenced() -> bool:
    """Whether names typed on a page may not open any folder of this machine."""
    return bool(os.environ.get(FENCE))
