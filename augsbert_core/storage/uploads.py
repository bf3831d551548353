"""Files that came in through the browser and that a job reads later."""

import hashlib
import re
from pathlib import Path

from augsbert_core.errors import WorkbenchError
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


def require_upload(workspace: Workspace, path: str) -> Path:
    """The file that `keep_upload` has written. WorkbenchError: it is gone, or no such file."""
    uploads = (workspace.home / "uploads").resolve()
    found = (workspace.home / path).resolve()
    if uploads not in found.parents or not found.is_file():
        raise WorkbenchError("The uploaded file is no longer there. Upload it again.")
    return found


def read_upload(workspace: Workspace, path: str) -> bytes:
    """The content of an uploaded file."""
    return require_upload(workspace, path).read_bytes()


def forget_upload(workspace: Workspace, path: str) -> None:
    """Remove an uploaded file that was read, and its folder when that is empty."""
    found = require_upload(workspace, path)
    found.unlink()
    if not any(found.parent.iterdir()):
        found.parent.rmdir()
