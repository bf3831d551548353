"""What the user wants to import: uploaded files or pasted text, read and planned once per change."""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import streamlit as st

from augsbert_core.importing.reading import read_table
from augsbert_core.importing.table import Table
from augsbert_core.options import ImportOptions, to_json
from augsbert_core.steps.import_plan import ImportPlan, plan_import

CACHE_ENTRIES = 8
FILE_TYPES = ("csv", "tsv", "txt")
SPLIT_IN_NAME = (
    ("train", r"train"),
    ("dev", r"dev|valid|\bval\b|_val|val_"),
    ("test", r"test|eval|held"),
)
Found = TypeVar("Found")


@dataclass(frozen=True)
class Source:
    """One file or pasted text. key: changes whenever the content does."""

    name: str
    data: bytes
    key: str


def choose_sources(prefix: str, example: str) -> list[Source]:
    """Uploaded files or pasted text; empty until there is something."""
    generation = st.session_state.get(f"{prefix}-generation", 0)
    way = st.segmented_control(
        "Where from",
        ["Files", "Pasted text"],
        default="Files",
        required=True,
        key=f"{prefix}-way",
        label_visibility="collapsed",
    )
    if way == "Files":
        limit = st.get_option("server.maxUploadSize")
        uploads = st.file_uploader(
            f"CSV, TSV or TXT, up to {limit} MB each; several at once, such as train, dev and test",
            type=FILE_TYPES,
            accept_multiple_files=True,
            key=f"{prefix}-files-{generation}",
        )
        return [Source(file.name, file.getvalue(), file.file_id) for file in uploads]
    text = st.text_area(
        "One row per line",
        key=f"{prefix}-text-{generation}",
        height=180,
        placeholder=example,
        persist_state="session",
    )
    if not text.strip():
        return []
    data = text.encode()
    return [Source("pasted text", data, hashlib.sha256(data).hexdigest())]


def forget_sources(prefix: str) -> None:
    """Empty the uploader and the text box, after an import."""
    key = f"{prefix}-generation"
    st.session_state[key] = st.session_state.get(key, 0) + 1
    st.session_state.pop("import-cache", None)


def table_of(source: Source) -> Table:
    """The source as a table. WorkbenchError when it is none."""
    return _once(f"table {source.key}", lambda: read_table(source.data, source.name))


def plan_of(source: Source, options: ImportOptions) -> ImportPlan:
    """What the source would bring in under these options. WorkbenchError when nothing."""
    key = f"plan {source.key} {to_json(options)}"
    return _once(key, lambda: plan_import(source.data, source.name, options))


def _once(key: str, make: Callable[[], Found]) -> Found:
    """Keep the last few results of this session, so that a click elsewhere reads no file again."""
    cache: dict[str, Found] = st.session_state.setdefault("import-cache", {})
    if key not in cache:
        made = make()
        while len(cache) >= CACHE_ENTRIES:
            cache.pop(next(iter(cache)))
        cache[key] = made
    return cache[key]


def split_in_name(name: str) -> str | None:
    """The split that a file name speaks of: "stsb-train.tsv" → "train"; None when it says nothing."""
    stem = name.lower().rsplit(".", 1)[0]
    found = [split for split, pattern in SPLIT_IN_NAME if re.search(pattern, stem)]
    return found[0] if len(found) == 1 else None
