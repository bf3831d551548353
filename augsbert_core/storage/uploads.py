"""Files that came in through the browser and that a job reads later."""

import hashlib
import re
from pathlib import Path

from augsbert_core.storage.database import Workspace


def keep_upload(workspace: Workspace, name: str, data: bytes) -> Path:
    """Write the file into the workspace and return its path; the same bytes are kept once."""
    digest = hashlib.sha256(data).hexdigest()[:12]
    folder = workspace.home / "uploads" / digest
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / (re.sub(r"[^\w.-]+", "_", Path(name).name).lstrip(".") or "upload")
    if not path.exists():
        path.write_bytes(data)
    return path
