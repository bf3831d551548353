"""Small files that are never half written."""

import os
from pathlib import Path


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a small file in one move, so that whoever reads it finds the old content or the new. Text is UTF-8."""
    temporary = path.with_suffix(".tmp")
    temporary.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    os.replace(temporary, path)
