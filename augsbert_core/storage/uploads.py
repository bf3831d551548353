"""Files that came in through the browser and that a job reads later."""

import contextlib
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePath

from augsbert_core.errors import WorkbenchError
from augsbert_core.storage.database import Workspace, reading

LONGEST_NAME = 120
"""In bytes; file systems take up to 255, and one letter may be four."""


def keep_upload(workspace: Workspace, name: str, data: bytes) -> Path:
    """Write the file into the workspace and return its path; the same bytes are kept once.

    WorkbenchError: the disk is full, or the workspace cannot be written.
    """
    digest = _digest(data)
    path = workspace.home / "uploads" / digest / _safe_name(name)
    try:
        if (
            path.is_file()
            and path.stat().st_size == len(data)
            and _digest(path.read_bytes()) == digest
        ):
            return path
        path.parent.mkdir(parents=True, exist_ok=True)
        # Whole or not at all, and not in the way of another window that keeps the same file.
        handle, temporary = tempfile.mkstemp(prefix=".", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.replace(temporary, path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise WorkbenchError(
            f"{name} cannot be kept in the workspace ({error.strerror}). Make room, then choose it again."
        ) from error
    return path


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:12]


def _safe_name(name: str) -> str:
    """The name without what file systems dislike, and not too long; its ending stays."""
    plain = re.sub(r"[^\w.-]+", "_", PurePath(name.replace("\\", "/")).name).lstrip(".") or "upload"
    stem, dot, ending = plain.rpartition(".")
    room = LONGEST_NAME - len((dot + ending).encode())
    if not stem or room < 1:
        return plain.encode()[:LONGEST_NAME].decode(errors="ignore")
    return stem.encode()[:room].decode(errors="ignore") + dot + ending


def require_upload(workspace: Workspace, path: str) -> Path:
    """The file that `keep_upload` has written. WorkbenchError: it is gone, or no such file."""
    found = _inside(workspace, path)
    if not found.is_file():
        raise WorkbenchError("The uploaded file is no longer there. Upload it again.")
    return found


def read_upload(workspace: Workspace, path: str) -> bytes:
    """The content of an uploaded file. WorkbenchError: it is gone, or no longer what was uploaded."""
    found = require_upload(workspace, path)
    data = found.read_bytes()
    if _digest(data) != found.parent.name:
        raise WorkbenchError(
            f"The uploaded file {found.name} is damaged: it is not what was uploaded. Upload it again."
        )
    return data


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
