"""What the user wants to import: files, pasted text, or a dataset folder; kept until it is imported or replaced."""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import streamlit as st

from augsbert_core.errors import WorkbenchError
from augsbert_core.explain.phrases import many
from augsbert_core.fence import may_open
from augsbert_core.importing.containers import expand
from augsbert_core.importing.dataset_folders import read_dataset_folder
from augsbert_core.importing.dataset_hub import hub_dataset_files
from augsbert_core.importing.parallel import join_parallel_files
from augsbert_core.ui.widgets import as_text, user_errors

FILE_TYPES = ("csv", "tsv", "txt", "json", "jsonl", "ndjson", "parquet", "xlsx", "gz", "zip")
WAYS = ("Files", "Pasted text", "Folder or hub")
FEWEST_KEPT = 8
Found = TypeVar("Found")


@dataclass(frozen=True)
class Source:
    """One file or pasted text. key: changes whenever the content does."""

    name: str
    data: bytes
    key: str


@dataclass(frozen=True)
class Chosen:
    """What was chosen in one way of choosing. told: what was unpacked or joined, in plain sentences."""

    sources: tuple[Source, ...] = ()
    told: tuple[str, ...] = ()


def choose_sources(prefix: str, example: str) -> list[Source]:
    """Files, pasted text or a dataset; empty until there is something.

    What was chosen stays chosen while the user looks at another tab or page.
    """
    way = st.segmented_control(
        "Where from",
        WAYS,
        default=WAYS[0],
        required=True,
        key=f"{prefix}-way",
        persist_state="session",
        help="Files of this computer, rows copied from a spreadsheet, or a dataset by folder or by its name on "
        "the hub.",
    )
    if way == "Pasted text":
        return _pasted(prefix, example)
    if way == "Folder or hub":
        _dataset(prefix)
    else:
        _files(prefix)
    kept = _kept(prefix, str(way))
    for told in kept.told:
        st.caption(f":material/join: {as_text(told)}")
    return list(kept.sources)


def _generation(prefix: str) -> int:
    return int(st.session_state.get(f"{prefix}-generation", 0))


def _kept(prefix: str, way: str) -> Chosen:
    found: Chosen = st.session_state.get(f"{prefix}-chosen-{way}", Chosen())
    return found


def _keep(prefix: str, way: str, chosen: Chosen) -> None:
    st.session_state[f"{prefix}-chosen-{way}"] = chosen


def _files(prefix: str) -> None:
    key = f"{prefix}-files-{_generation(prefix)}"
    limit = st.get_option("server.maxUploadSize")
    uploads = st.file_uploader(
        "CSV, TSV, TXT, JSON, Parquet or Excel, also packed as .gz or .zip; "
        f"up to {limit} MB each, several at once, such as train, dev and test",
        type=FILE_TYPES,
        accept_multiple_files=True,
        key=key,
        help="Columns, separator and encoding are found out by trying; you see the result before anything is stored.",
        on_change=lambda: st.session_state.update({f"{prefix}-changed": True}),
    )
    # Another tab or page empties the uploader without a change by the user: what was chosen then stays.
    if st.session_state.pop(f"{prefix}-changed", False) or uploads:
        files = tuple(Source(file.name, file.getvalue(), file.file_id) for file in uploads)
        _keep_files(prefix, "Files", files)
    elif kept := _kept(prefix, "Files").sources:
        with st.container(horizontal=True, vertical_alignment="center"):
            names = ", ".join(as_text(source.name) for source in kept[:6])
            more = f" and {len(kept) - 6} more" if len(kept) > 6 else ""
            st.markdown(f":material/attach_file: Still chosen: {names}{more}")
            st.button(
                "Forget",
                type="tertiary",
                icon=":material/close:",
                key=f"{prefix}-forget",
                on_click=forget_sources,
                args=(prefix,),
                help="Takes the files off this form; what was imported stays.",
            )


def _pasted(prefix: str, example: str) -> list[Source]:
    text = st.text_area(
        "One row per line",
        key=f"{prefix}-text-{_generation(prefix)}",
        height=180,
        placeholder=example,
        persist_state="session",
        help="Paste from a spreadsheet or type; columns are split by tabs, commas, semicolons or bars, found out "
        "by trying.",
    )
    if not text.strip():
        return []
    data = text.encode("utf-8", "replace")
    return [Source("pasted text", data, hashlib.sha256(data).hexdigest())]


def _dataset(prefix: str) -> None:
    """A dataset folder of this computer, or a dataset of the Hugging Face hub."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        place = st.text_input(
            "Dataset folder on this computer, or dataset on the Hugging Face hub",
            key=f"{prefix}-dataset",
            placeholder="/home/me/stsb  or  sentence-transformers/stsb",
            help="A folder that `Dataset.save_to_disk` has written, or the name of a dataset on the hub. "
            "Only the data are read; no code that comes with a dataset is run.",
            persist_state="session",
        )
        revision = st.text_input(
            "Revision",
            key=f"{prefix}-revision",
            placeholder="newest",
            width=150,
            help="Of a hub dataset: a branch, tag or commit. A folder has none.",
            persist_state="session",
        )
        pressed = st.button(
            "Read it",
            icon=":material/folder_open:",
            key=f"{prefix}-read-dataset",
            help="Reads all its splits; a hub dataset is downloaded first.",
        )
    if not pressed:
        return
    _keep(prefix, "Folder or hub", Chosen())
    with user_errors(), st.spinner("Reading the dataset"):
        if not place.strip():
            raise WorkbenchError("Name a folder or a dataset first.")
        files = tuple(
            Source(name, data, hashlib.sha256(data).hexdigest())
            for name, data in read_dataset(place.strip(), revision.strip())
        )
        _keep_files(prefix, "Folder or hub", files)


def read_dataset(place: str, revision: str) -> list[tuple[str, bytes]]:
    """The files of a dataset folder, or of a hub dataset when there is no such folder.

    WorkbenchError: there is neither, or it is a folder of a machine that a class shares.
    """
    folder = Path(place).expanduser()
    if folder.exists() and may_open(folder):
        return read_dataset_folder(folder)
    if re.fullmatch(r"[\w.-]+(/[\w.-]+)?", place):
        return hub_dataset_files(place, revision or None)
    raise WorkbenchError(
        f"There is no folder {place}. Give the path of a dataset folder, or a name on the hub such as "
        "sentence-transformers/stsb."
    )


def _keep_files(prefix: str, way: str, files: tuple[Source, ...]) -> None:
    """Unpack and join what was chosen, once; on an error nothing is chosen."""
    key = "|".join(file.key for file in files)
    if st.session_state.get(f"{prefix}-unpacked-{way}") == key:
        return
    _keep(prefix, way, Chosen())
    with user_errors():
        _keep(prefix, way, unpack(files))
        st.session_state[f"{prefix}-unpacked-{way}"] = key


def unpack(files: Sequence[Source]) -> Chosen:
    """Archives of several files as these files, and files that belong together line by line as one.

    WorkbenchError: an archive is damaged or too large.
    """
    told: list[str] = []
    parts: list[Source] = []
    for file in files:
        members = expand(file.data, file.name)
        if len(members) == 1:
            # One file by whatever name: read as it came, so that its content is known again.
            parts.append(file)
            continue
        told.append(f"{file.name} holds {many(len(members), 'file')}.")
        parts += [
            Source(name, data, f"{file.key}:{number}")
            for number, (name, data) in enumerate(members)
        ]
    by_name = {part.name: part for part in parts}
    joined = []
    for number, (name, data) in enumerate(join_parallel_files([(p.name, p.data) for p in parts])):
        known = by_name.get(name)
        if known is not None and known.data is data:
            joined.append(known)
            continue
        joined.append(Source(name, data, f"{'|'.join(part.key for part in parts)}:{number}"))
        told.append(f"Read together, line by line: {name}.")
    return Chosen(tuple(joined), tuple(told))


def forget_sources(prefix: str) -> None:
    """Empty the uploader and the text box, after an import."""
    st.session_state[f"{prefix}-generation"] = _generation(prefix) + 1
    for way in WAYS:
        for what in ("chosen", "unpacked"):
            st.session_state.pop(f"{prefix}-{what}-{way}", None)
    st.session_state.pop("import-cache", None)


def once(key: str, make: Callable[[], Found], files: int = 1) -> Found:
    """Keep the last few results of this session, so that a click elsewhere reads no file again.

    files: how many files are looked at together; a few results are kept for each.
    """
    cache: dict[str, Any] = st.session_state.setdefault("import-cache", {})
    made: Found = cache.pop(key) if key in cache else make()
    while len(cache) >= FEWEST_KEPT + 2 * files:
        cache.pop(next(iter(cache)))
    cache[key] = made
    return made
