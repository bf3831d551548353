"""Parallel files, one line for each pair: sentences in one or two files, their scores in another."""

import json
import re
from collections.abc import Sequence
from itertools import combinations, permutations

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.column_names import is_number
from augsbert_core.importing.decoding import decode

_SENTENCES = {"input", "inputs", "sentences", "pairs"}
_SCORES = {"gs", "gold", "goldstandard", "score", "scores", "sim", "sims", "label", "labels"}
_FIRST = {"a", "s1", "sent1", "sentence1", "source", "src", "left", "text1"}
_SECOND = {"b", "s2", "sent2", "sentence2", "target", "tgt", "right", "text2"}
_TEXT_ENDINGS = {"txt", "toks", "tsv", "tok", "text", "gs", "input", "scores", "labels", ""}
_STRUCTURED = re.compile(
    r"\.(csv|json|jsonl|ndjson|parquet|arrow|feather|xlsx|xls|gz|zip)$", re.IGNORECASE
)
_MAX_FILES = 200

File = tuple[str, bytes]


def join_parallel_files(files: Sequence[File]) -> list[File]:
    """Files that belong together line by line as one of JSON lines each: score and sentences; the others unchanged.

    Recognised by name, as SemEval distributes STS (STS.input.MSRpar.txt, two sentences with a tab between on each
    line, and STS.gs.MSRpar.txt, a score on each) and SICK as trees (a.toks, b.toks, sim.txt), or, for two or three
    files alone, by shape: as many lines, all of one numbers. A line without a score stays, with an empty score. The
    joined file stands where its first part stood, and its name is theirs with " + " between. WorkbenchError: files
    that belong together by name have unequal numbers of lines.
    """
    groups = _groups_by_name(files) if len(files) <= _MAX_FILES else []
    if not groups and len(files) in (2, 3):
        groups = _group_by_shape(files)
    joined = {group[0]: _join(group, files) for group in groups}
    # A joined file stands at its first part, wherever that is among the roles.
    at = {min(group): joined[group[0]] for group in groups}
    inside = {place for group in groups for place in group}
    return [
        at.get(place, file)
        for place, file in enumerate(files)
        if place in at or place not in inside
    ]


def _groups_by_name(files: Sequence[File]) -> list[tuple[int, ...]]:
    """Places of the files of each group: sentences, or first and second sentences, and then scores."""
    parts: dict[tuple[str, ...], dict[str, list[int]]] = {}
    for place, (name, _) in enumerate(files):
        for key, role in _readings(name):
            parts.setdefault(key, {}).setdefault(role, []).append(place)
    groups: list[tuple[int, ...]] = []
    taken: set[int] = set()
    for roles in parts.values():
        for wanted in (("input", "gs"), ("first", "second", "gs")):
            if not all(len(roles.get(role, ())) == 1 for role in wanted):
                continue
            group = tuple(roles[role][0] for role in wanted)
            if len(set(group)) == len(group) and not taken & set(group) and _fit(group, files):
                groups.append(group)
                taken.update(group)
    return groups


def _readings(name: str) -> list[tuple[tuple[str, ...], str]]:
    """What a file name may say: the words that its partners share, and the role that it has among them."""
    if _STRUCTURED.search(name):
        return []
    folder, _, base = name.replace("\\", "/").rpartition("/")
    words = [word for word in re.split(r"[^0-9A-Za-z]+", base.lower()) if word]
    readings = []
    for place, word in enumerate(words):
        rest = words[:place] + words[place + 1 :]
        # The ending says how a file is written, not which pairs it holds: a.toks goes with sim.txt.
        if rest and place < len(words) - 1 and rest[-1] in _TEXT_ENDINGS:
            rest = rest[:-1]
        for role, names in (
            ("input", _SENTENCES), ("gs", _SCORES), ("first", _FIRST), ("second", _SECOND)
        ):  # fmt: skip
            if word in names:
                readings.append(((folder.lower(), *rest), role))
    return readings


def _fit(group: tuple[int, ...], files: Sequence[File]) -> bool:
    """Whether the contents bear out what the names say: numbers in the last file, sentences in the others."""
    *sentences, scores = (_lines(*files[place]) for place in group)
    # The names have said it, so a few broken scores are rows to reject, not another kind of file.
    if not _are_scores(scores, at_least=0.5):
        return False
    if len(sentences) == 1:
        return _are_pairs(sentences[0])
    return not any(map(_are_scores, sentences))


def _group_by_shape(files: Sequence[File]) -> list[tuple[int, ...]]:
    if any(_STRUCTURED.search(name) for name, _ in files):
        return []
    contents = [_lines(name, data) for name, data in files]
    if len(files) == 3:
        return _three_by_shape(contents)
    for sentences, scores in permutations(range(2), 2):
        if (
            len(contents[sentences]) == len(contents[scores])
            and _are_scores(contents[scores])
            and _are_pairs(contents[sentences])
        ):
            return [(sentences, scores)]
    return []


def _three_by_shape(contents: list[list[str]]) -> list[tuple[int, ...]]:
    """Two files of sentences in the order given, and one of scores; sentences with tabs are tables of their own."""
    if len(set(map(len, contents))) > 1:
        return []
    for first, second in combinations(range(3), 2):
        scores = 3 - first - second
        if (
            _are_scores(contents[scores])
            and not any(_are_scores(contents[place]) for place in (first, second))
            and not any("\t" in line for place in (first, second) for line in contents[place])
        ):
            return [(first, second, scores)]
    return []


def _lines(name: str, data: bytes) -> list[str]:
    """The lines of a file, blank ones too, as they count; none where it is no text."""
    try:
        text = decode(data, name).text
    except WorkbenchError:
        return []
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def _are_scores(lines: list[str], at_least: float = 1.0) -> bool:
    """Whether each line, or this share of them, is one number, or blank where a pair was not scored."""
    scored = [line for line in lines if line.strip()]
    return bool(scored) and sum(map(is_number, scored)) >= at_least * len(scored)


def _are_pairs(lines: list[str]) -> bool:
    """Whether nearly all lines that are not blank hold two texts with a tab between, and more where sources follow."""
    full = [line.split("\t") for line in lines if line.strip()]
    pairs = sum(
        len(cells) > 1 and not (is_number(cells[0]) or is_number(cells[1])) for cells in full
    )
    return bool(full) and pairs >= 0.9 * len(full)


def _join(group: tuple[int, ...], files: Sequence[File]) -> File:
    names = [files[place][0] for place in group]
    *sentences, scores = (_lines(*files[place]) for place in group)
    _check_counts(names, [*map(len, sentences), len(scores)])
    if len(sentences) == 1:
        cells = [line.split("\t") for line in sentences[0]]
    else:
        cells = [list(pair) for pair in zip(*sentences, strict=True)]
    rows = [
        json.dumps({"score": score.strip(), **dict(zip(_names(len(row)), row, strict=True))})
        for score, row in zip(scores, cells, strict=True)
    ]
    return " + ".join(names), ("\n".join(rows) + "\n").encode("ascii")


def _names(n_cells: int) -> list[str]:
    """Sources and ids may follow the second sentence."""
    return ["sentence1", "sentence2", *(f"column {n}" for n in range(3, n_cells + 1))][:n_cells]


def _check_counts(names: list[str], counts: list[int]) -> None:
    if len(set(counts)) > 1:
        told = ", ".join(f"{name} has {n:,}" for name, n in zip(names, counts, strict=True))
        raise WorkbenchError(
            f"These files belong together line by line, but have unequal numbers of lines: {told}. "
            "Give the two files of the same set, or import them one by one."
        )
