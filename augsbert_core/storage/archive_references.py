"""Where one row of a project speaks of another by number, outside of foreign keys, and of files by path.

A project that moves to another workspace gets new numbers. Besides the columns that are foreign keys, numbers of
runs, candidate sets and silver sets stand in

- options and metrics (JSON): under the names in `RUN_KEYS`, `CANDIDATE_KEYS` and `SILVER_KEYS`, and as "run:N" in
  texts (labelers, targets, encoders, rerankers …), also in JSON that is a text within JSON (`NESTED`);
- `silver_set.labeler` and `evaluation.target`: "run:3", "run:3 + run:7";
- sentences for people (`PROSE`, names of runs, notices): "run 3", "silver set 4", "candidate set 2";
- what people did, in the ways that `storage.archive_human` tells.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

from augsbert_core.errors import WorkbenchError
from augsbert_core.storage.archive_shapes import DEEPEST

RUN_KEYS = {
    "run_id", "run_ids", "parent_run_id", "labeler_run_id", "target_run_id", "new_run_id",
    "reproduced_run_id", "student_run_id", "gold_only_run_id", "import_run_ids",
}  # fmt: skip
CANDIDATE_KEYS = {"candidate_set_id", "whole_set_id"}
SILVER_KEYS = {
    "silver_set_id", "pool_set_id", "exclude_silver_sets", "corrections_of", "decisions_from",
}  # fmt: skip
PROJECT_KEYS = {"project_id"}

NESTED = {"options", "recipe"}
"""Options that hold the options of another run as a JSON text."""

PROSE = {
    "sentence", "estimate_sentence", "notes", "notices", "name", "title", "group", "best",
}  # fmt: skip
"""Texts that the workbench writes for people."""

PLACES = {
    "base", "encoder", "student", "labeler", "labelers", "model", "source", "first_stage", "baseline", "targets",
    "rerankers", "recommended", "target", "member",
}  # fmt: skip
"""Options and results that name models, maybe by folder."""

FILES = {"data", "path", "file"}
"""Options that name a file."""

LEFT_BEHIND = {"jsonl", "csv", "pushed_to"}
"""Results that only mean something where they were made: files in the run's folder, someone's repository."""

NO_PROJECT = -1
"""Stands for a project that did not come along; no project has this number."""

_TARGET = re.compile(r"\brun:(\d{1,18})(?!\d)")
_PROSE = re.compile(r"\b(run|silver set|candidate set) (\d{1,18})(?![\d.,]*\d)", re.IGNORECASE)


@dataclass
class Numbers:
    """New numbers of one kind of thing. known: old number → new one.

    What is spoken of but did not come along gets a number from `spare` on, so that it cannot be taken for something
    else that has the old number here.
    """

    known: dict[int, int]
    spare: int
    lost: dict[int, int] = field(default_factory=dict)

    def present(self, old: int) -> int:
        """The new number of a row that must be there. WorkbenchError: it is not."""
        if old not in self.known:
            raise WorkbenchError(
                f"The archive's database is not whole: a row speaks of number {old}, which is not in it. "
                "Export the project again."
            )
        return self.known[old]

    def mentioned(self, old: int) -> int:
        """The new number of what a text or an option speaks of."""
        if old in self.known:
            return self.known[old]
        return self.lost.setdefault(old, self.spare + len(self.lost))

    @property
    def last(self) -> int:
        """The largest number given out."""
        return self.spare + len(self.lost) - 1


@dataclass(frozen=True)
class NewNumbers:
    """The new numbers of a project and of what it holds."""

    project: tuple[int, int]
    runs: Numbers
    candidate_sets: Numbers
    silver_sets: Numbers

    def in_json(self, value: Any, *, prose: bool = True) -> Any:
        """Options or metrics with new numbers. prose: look into texts too, which imports' own are not for."""
        return self._in_json(value, "", prose)

    def in_target(self, text: str) -> str:
        """A labeler or target with new numbers, "run:3 + run:7"."""
        return _TARGET.sub(lambda found: f"run:{self.runs.mentioned(int(found[1]))}", text)

    def in_prose(self, text: str) -> str:
        """A sentence for people with new numbers; what did not come along keeps its own."""
        numbers = {
            "run": self.runs,
            "silver set": self.silver_sets,
            "candidate set": self.candidate_sets,
        }

        def new(found: re.Match[str]) -> str:
            number = int(found[2])
            return f"{found[1]} {numbers[found[1].lower()].known.get(number, number)}"

        return _PROSE.sub(new, text)

    def _in_json(self, value: Any, key: str, prose: bool) -> Any:
        if isinstance(value, dict):
            return {
                self.in_target(name) if prose else name: self._in_json(item, name, prose)
                for name, item in value.items()
            }
        if isinstance(value, list):
            return [self._in_json(item, key, prose) for item in value]
        if isinstance(value, int) and not isinstance(value, bool):
            return self._number(value, key)
        if isinstance(value, str) and prose:
            return self._text(value, key)
        return value

    def _number(self, value: int, key: str) -> int:
        if key in RUN_KEYS:
            return self.runs.mentioned(value)
        if key in CANDIDATE_KEYS:
            return self.candidate_sets.mentioned(value)
        if key in SILVER_KEYS:
            return self.silver_sets.mentioned(value)
        if key in PROJECT_KEYS:
            return self.project[1] if value == self.project[0] else NO_PROJECT
        return value

    def _text(self, value: str, key: str) -> str:
        if key in NESTED and (nested := json_object(value)) is not None:
            return json.dumps(self.in_json(nested), sort_keys=True)
        value = self.in_target(value)
        return self.in_prose(value) if key in PROSE else value


def json_object(text: str) -> dict[str, Any] | None:
    """The object that a JSON text holds; None when it holds something else, a number that is none, or is too deep."""
    try:
        found = json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and not _is_deeper(found, DEEPEST) else None


def _is_deeper(value: Any, levels: int) -> bool:
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return levels < 0 or any(_is_deeper(item, levels - 1) for item in items)


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        _refuse(text)
    return value


# --- paths -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Places:
    """Paths of the machine that a project comes from, and what takes their place: the last part of each."""

    names: Mapping[str, str]

    def in_text(self, text: str) -> str:
        """The text without those paths."""
        return self._pattern.sub(lambda found: self.names[found[0]], text) if self.names else text

    def in_json(self, value: Any) -> Any:
        """The same for every text in options or metrics, nested JSON included."""
        if isinstance(value, dict):
            return {
                self.in_text(key): self._member(key, item)
                for key, item in value.items()
                if key not in LEFT_BEHIND
            }
        if isinstance(value, list):
            return [self.in_json(item) for item in value]
        return self.in_text(value) if isinstance(value, str) else value

    def _member(self, key: str, item: Any) -> Any:
        if isinstance(item, str) and key in NESTED and (nested := json_object(item)) is not None:
            return json.dumps(self.in_json(nested), sort_keys=True)
        if isinstance(item, str) and key in FILES:
            return _last_part(item) or item
        return self.in_json(item)

    @property
    def _pattern(self) -> re.Pattern[str]:
        longest_first = sorted(self.names, key=len, reverse=True)
        return re.compile(
            r"(?<![\w/\\.~-])(?:" + "|".join(map(re.escape, longest_first)) + r")(?![\w/\\-])"
        )


def places_in(told: Iterable[Mapping[str, Any]], texts: Iterable[str]) -> Places:
    """The folders that options and metrics, and texts of labelers and targets, name models by."""
    found: dict[str, None] = {}
    for one in told:
        _walk(one, "", found.setdefault)
    for text in texts:
        _paths(text, found.setdefault)
    names: dict[str, str] = {}
    for path in sorted(found):
        name = stem = f"./{_last_part(path) or 'model'}"
        number = 1
        while name in names.values():
            number += 1
            name = f"{stem}-{number}"
        names[path] = name
    return Places(names)


def _walk(value: Any, key: str, add: Callable[[str], object]) -> None:
    if isinstance(value, dict):
        for name, item in value.items():
            _walk(item, name, add)
    elif isinstance(value, list):
        for item in value:
            _walk(item, key, add)
    elif isinstance(value, str):
        if key in NESTED and (nested := json_object(value)) is not None:
            _walk(nested, "", add)
        elif key in PLACES:
            _paths(value, add)


def _paths(text: str, add: Callable[[str], object]) -> None:
    for part in re.split(r"\s\+\s", text):
        path = re.sub(r"^(model|cross|nlpaug):", "", part.strip())
        path = re.sub(r"@layers=\d+$", "", path)
        if is_path(path):
            add(path)


def is_path(name: str) -> bool:
    """Whether a model's name is a path on some machine, and not a name on the hub."""
    starts = name.startswith(("/", "~", "./", "../", "\\", ".\\", "..\\"))
    drive = re.match(r"[A-Za-z]:[\\/]", name) is not None
    return len(name) > 2 and (starts or drive or "/../" in name or name.count("/") > 1)


def _last_part(path: str) -> str:
    """The last part of a path of any system, "" when it has none that could be a name."""
    is_windows = "\\" in path or re.match(r"[A-Za-z]:", path) is not None
    name = PureWindowsPath(path).name if is_windows else PurePosixPath(path).name
    return "" if name in (".", "..") else name
