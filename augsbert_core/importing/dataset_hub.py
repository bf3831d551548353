"""Datasets of the Hugging Face hub: their data files are downloaded, their scripts are not."""

import os
import re
from pathlib import Path
from typing import Any

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.column_names import SPLIT_WORDS
from augsbert_core.importing.dataset_folders import read_dataset_folder
from augsbert_core.importing.dataset_shards import File, is_data_file

_REPO = re.compile(r"([A-Za-z0-9][\w.-]*)(/[A-Za-z0-9][\w.-]*)?")
_CONVERTED = "refs/convert/parquet"
_MAX_BYTES = 2 * 1024**3
_SHOWN = 12


def hub_dataset_files(repo: str, revision: str | None = None) -> list[File]:
    """(name, content) of the data files of a dataset on the hub, shards put together.

    repo: "owner/name", or "owner/name/folder" for one configuration of several. revision: a branch, tag or commit; a
    dataset that has only a script is taken from the hub's own conversion to Parquet. A dataset downloaded before is
    also found offline. WorkbenchError: no such dataset, no connection, several configurations, or too much data.
    """
    name, folder = _parse(repo)
    if _is_offline():
        return _prefixed(_snapshot(name, revision, None), name, folder)
    for branch in [revision] if revision else [None, _CONVERTED]:
        info = _ask(name, branch)
        files = {
            one.rfilename: one.size or 0
            for one in info.siblings or []
            if is_data_file(one.rfilename)
        }
        if files:
            chosen = _choose(files, name, folder)
            _check_size(sum(files[one] for one in chosen), name)
            return _prefixed(_snapshot(name, info.sha or branch, chosen), name, folder)
    raise WorkbenchError(
        f"The dataset {name} has no Parquet, JSON or CSV files that can be read without running its script. "
        "Download it as files and import those."
    )


def _parse(repo: str) -> tuple[str, str]:
    """The name of the dataset, and the folder of a configuration or ""."""
    parts = repo.strip().removeprefix("https://huggingface.co/datasets/").strip("/").split("/")
    name, folder = "/".join(parts[:2]), "/".join(parts[2:])
    if not _REPO.fullmatch(name) or len(name) > 96 or "--" in name or ".." in repo:
        raise WorkbenchError(
            f"{repo!r} is no dataset of the hub. Write it as owner/name, with letters, digits, '.', '-' and '_'."
        )
    return name, folder


def _is_offline() -> bool:
    from huggingface_hub import constants

    return bool(constants.HF_HUB_OFFLINE) or os.environ.get("HF_HUB_OFFLINE", "0") in ("1", "true")


def _ask(name: str, revision: str | None) -> Any:
    from huggingface_hub import HfApi

    try:
        return HfApi().dataset_info(name, revision=revision, files_metadata=True, timeout=30)
    except Exception as error:  # noqa: BLE001 (the hub client fails in a dozen unrelated ways)
        raise _refused(name, error) from None


def _refused(name: str, error: Exception) -> WorkbenchError:
    why = " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__
    return WorkbenchError(
        f"The dataset {name} could not be downloaded: {why}. Check its name and the connection, or download the files "
        "elsewhere and import those."
    )


def _choose(files: dict[str, int], name: str, folder: str) -> list[str]:
    """The data files of the dataset, or of the folder that is asked for."""
    chosen = [one for one in files if not folder or one.startswith(f"{folder}/")]
    folders = {one.partition("/")[0] for one in files if "/" in one}
    tops = sorted(one for one in folders if one != "data" and one.lower() not in SPLIT_WORDS)
    shown = ", ".join(tops[:_SHOWN]) + (", …" if len(tops) > _SHOWN else "")
    if not chosen:
        raise WorkbenchError(
            f"The dataset {name} has no folder {folder!r}. It has: {shown or 'no folders'}."
        )
    if not folder and len(tops) > 1:
        raise WorkbenchError(
            f"The dataset {name} has several configurations: {shown}. Name one of them, for example {name}/{tops[0]}."
        )
    return sorted(chosen)


def _check_size(n_bytes: int, name: str) -> None:
    if n_bytes > _MAX_BYTES:
        raise WorkbenchError(
            f"The dataset {name} has {n_bytes / 1024**3:.1f} GB of data files, more than the "
            f"{_MAX_BYTES / 1024**3:.0f} GB that are read at once. Download the files that are needed and import those."
        )


def _snapshot(name: str, revision: str | None, files: list[str] | None) -> Path:
    """The folder of the downloaded files. files: which; None takes what an earlier download left."""
    from huggingface_hub import snapshot_download

    try:
        path = snapshot_download(
            name,
            repo_type="dataset",
            revision=revision,
            allow_patterns=[_literal(one) for one in files] if files else None,
            local_files_only=files is None,
        )
    except Exception as error:  # noqa: BLE001 (the hub client fails in a dozen unrelated ways)
        if files is None:
            raise WorkbenchError(
                f"The dataset {name} was not downloaded before, and the workbench is offline (HF_HUB_OFFLINE is set). "
                "Unset it, or import the files of the dataset."
            ) from None
        raise _refused(name, error) from None
    return Path(path)


def _literal(name: str) -> str:
    """A file name as a pattern that matches only itself."""
    return re.sub(r"([*?\[])", r"[\1]", name)


def _prefixed(path: Path, name: str, folder: str) -> list[File]:
    """The files below a folder of the snapshot, named after the dataset."""
    place = path / folder if folder else path
    if not place.is_dir():
        raise WorkbenchError(f"The dataset {name} has no folder {folder!r}.")
    prefix = f"{name}/{folder}".rstrip("/")
    # The snapshot's own folder is named after the commit.
    return [
        (prefix + inner.removeprefix(place.name), data)
        for inner, data in read_dataset_folder(place)
    ]
