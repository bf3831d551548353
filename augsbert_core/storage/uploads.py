"""Files that came in through the browser and that a job reads later."""

import contextlib
import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from augsbert_core.errors import WorkbenchError
from augsbert_core.storage.database import Workspace, reading


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
    found = _inside(workspace, path)
    if not found.is_file():
        raise WorkbenchError("The uploaded file is no longer there. Upload it again.")
    return found


def read_upload(workspace: Workspace, path: str) -> bytes:
    """The content of an uploaded file."""
    return require_upload(workspace, path).read_bytes()


def waiting_uploads(workspace: Workspace, run_ids: Sequence[int]) -> list[str]:
    """The files that the background imports among these runs were to read."""
    marks = ", ".join("?" * len(run_ids))
    with reading(workspace) as db:
        rows = db.execute(
            f"SELECT options FROM run WHERE step = 'import-files' AND id IN ({marks})",
            list(run_ids),
        ).fetchall()
    return [file["path"] for (options,) in rows for file in json.loads(options)["files"]]


def forget_uploads(workspace: Workspace, paths: Iterable[str], read_by: int | None = None) -> None:
    """Remove uploaded files, but for those that a run besides `read_by` is still to read."""
    for path in paths:
        with reading(workspace) as db:
            wanted = db.execute(
                "SELECT 1 FROM run WHERE step = 'import-files' AND state <> 'done' AND id IS NOT ?"
                " AND instr(options, ?) LIMIT 1",
                [read_by, path],
            ).fetchone()
        if not wanted:
            found = _inside(workspace, path)
            found.unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # other files are in the folder, or it is gone
                found.parent.rmdir()


def _inside(workspace: Workspace, path: str) -> Path:
    uploads = (workspace.home / "uploads").resolve()
    found = (workspace.home / path).resolve()
    if uploads not in found.parents:
        raise WorkbenchError("The uploaded file is no longer there. Upload it again.")
    return found
