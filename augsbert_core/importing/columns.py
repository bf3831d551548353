"""Which column of a table holds what: by the names in its header, by its shape, or as told."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.column_names import (
    GROUP_NAMES,
    ID_NAMES,
    LABEL_NAMES,
    PAIR_NAMES,
    SCORE_NAMES,
    SENTENCE_NAMES,
    SPLIT_NAMES,
    TRIPLET_NAMES,
    is_number,
    nli_label,
    tidy,
)
from augsbert_core.importing.scores import known_labels
from augsbert_core.importing.table import Table

# What `--columns` names, in order, for each kind of content.
KINDS = {
    "pairs": ("sentence 1", "sentence 2", "score"),
    "unlabelled-pairs": ("sentence 1", "sentence 2"),
    "sentences": ("sentence",),
    "nli": ("premise", "hypothesis", "label"),
    "triplets": ("anchor", "positive", "negative"),
}
_STSB_WIDTHS = frozenset((7, 8, 9))
_STSB_GROUP, _STSB_ID, _STSB_SCORE, _STSB_SENTENCE1, _STSB_SENTENCE2 = 0, 3, 4, 5, 6
_SAMPLE_ROWS = 1000
_MOST = 0.9


@dataclass(frozen=True)
class Columns:
    """0-based positions of the columns that are used; None where the table has no such column.

    label: of NLI rows, also of those that triplets are made of. negative: of triplets, whose anchor and positive are
    sentence1 and sentence2. source_id: the file's own name of each row. word: what the score was called before it
    became a number, in files that the workbench has written.
    """

    sentence1: int
    sentence2: int | None = None
    score: int | None = None
    split: int | None = None
    group: int | None = None
    label: int | None = None
    negative: int | None = None
    source_id: int | None = None
    word: int | None = None

    @property
    def used(self) -> list[int]:
        """The positions in use, in ascending order."""
        every = (*self.told, self.split, self.group, self.source_id, self.word)
        return sorted(position for position in every if position is not None)

    @property
    def told(self) -> tuple[int | None, ...]:
        """The positions in the order of `KINDS`: the two sentences and what stands beside them."""
        beside = (self.score, self.label, self.negative)
        third = next((position for position in beside if position is not None), None)
        return self.sentence1, self.sentence2, third


def guess_columns(table: Table, kind: str) -> Columns:
    """The columns that a content of this kind needs, with split, group and id where they are named.

    kind: a key of `KINDS`. By header names first, then by shape: STS Benchmark (7 to 9 tab-separated
    columns: genre, source, year, id, score, sentence 1, sentence 2, …), or exactly as many columns as
    are needed. Triplets are found in NLI files, too, as premise, hypothesis and label. WorkbenchError, naming the columns seen and how to choose, when that is not possible.
    """
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, not {kind!r}")
    if kind == "sentences":
        return Columns(_guess_sentence(table))
    if kind in _GUESSERS:
        found = _GUESSERS[kind](table)
    else:
        found = _guess_pair(table, with_score=kind == "pairs")
    if found is None:
        raise _no_guess(table, kind)
    return with_named(table, found, kind)


def choose_columns(table: Table, names: Sequence[str], kind: str) -> Columns:
    """The columns that the user names, in the order of `KINDS`.

    names: header names or 0-based positions as text. Split, group and id are still found by name. A third column of
    triplets that holds NLI labels is the label: triplets are then made of the NLI pairs.
    """
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, not {kind!r}")
    needed = KINDS[kind]
    if len(names) != len(needed):
        raise WorkbenchError(
            f"{len(names)} columns were given ({', '.join(names)}), but {kind} need {len(needed)}: "
            f"{', '.join(needed)}."
        )
    positions = [find_column(table, name) for name in names]
    for index, position in enumerate(positions):
        if position in positions[:index]:
            raise WorkbenchError(
                f"Column {names[index]!r} was given twice. "
                f"Name {len(needed)} different columns: {', '.join(needed)}."
            )
    as_nli = kind == "triplets" and holds_nli_labels(table, positions[2])
    return with_named(table, _as_columns(positions, "nli" if as_nli else kind), kind)


def _as_columns(positions: Sequence[int], kind: str) -> Columns:
    second, third = [*positions[1:], None, None][:2]
    if kind == "nli":
        return Columns(positions[0], second, label=third)
    if kind == "triplets":
        return Columns(positions[0], second, negative=third)
    return Columns(positions[0], second, third)


def find_column(table: Table, name: str) -> int:
    """The position of the column with this header name, or with this 0-based position as text."""
    header = table.header or []
    wanted = name.strip()
    for same in (
        lambda column: column == wanted,
        lambda column: column.lower() == wanted.lower(),
        lambda column: tidy(column) == tidy(wanted) != "",
    ):
        found = [position for position, column in enumerate(header) if same(column)]
        if len(found) > 1:
            raise WorkbenchError(
                f"Column {name!r} occurs {len(found)} times. "
                f"Give its position instead: {' or '.join(map(str, found))}."
            )
        if found:
            return found[0]
    if wanted.isascii() and wanted.isdigit() and len(wanted) < 10 and int(wanted) < _width(table):
        return int(wanted)
    if table.header is None and wanted in (cell.strip() for row in table.rows[:1] for cell in row):
        raise WorkbenchError(
            f"Column {name!r} stands in the first row, which was not taken for a header. Say that the first row is "
            "the header (--header)."
        )
    raise WorkbenchError(
        f"There is no column {name!r}. {_columns_seen(table)} "
        "Give one of these names, or a position counted from 0."
    )


def is_stsb_shape(table: Table) -> bool:
    """Whether nearly all rows look like STS Benchmark: 7 to 9 tab columns with a number in column 4, then texts."""
    if table.delimiter != "\t" or not _allows_stsb(_tidy_header(table)):
        return False
    sample = sample_rows(table)
    return bool(sample) and sum(map(_is_stsb_row, sample)) >= _MOST * len(sample)


def _allows_stsb(header: list[str]) -> bool:
    """A header, if any, does not say that the sentences are elsewhere."""
    pairs = [(one, two) for one, two in PAIR_NAMES if one in header and two in header]
    here = (_STSB_SENTENCE1, _STSB_SENTENCE2)
    return all((header.index(one), header.index(two)) == here for one, two in pairs)


def _is_stsb_row(row: list[str]) -> bool:
    if len(row) not in _STSB_WIDTHS or not is_number(row[_STSB_SCORE]):
        return False
    return not is_number(row[_STSB_SENTENCE1]) and not is_tagged(row[_STSB_SENTENCE1])


def is_tagged(text: str) -> bool:
    """Whether every word carries tags, as in "New/B-geo-loc/NNP/B-NP/O": the columns after a tweet in PIT 2015."""
    words = text.split()
    return bool(words) and all(word.count("/") >= 3 for word in words)


def sample_rows(table: Table) -> list[list[str]]:
    """Up to a thousand rows, evenly spread over the table."""
    return table.rows[:: max(1, -(-len(table.rows) // _SAMPLE_ROWS))]


def allowed_widths(table: Table) -> frozenset[int]:
    """How many cells a row may have; any other row is ragged, and its cells cannot be trusted."""
    if is_stsb_shape(table):
        return _STSB_WIDTHS
    return frozenset((_width(table),))


def _width(table: Table) -> int:
    if table.header is not None:
        return len(table.header)
    counts: dict[int, int] = {}
    for row in table.rows:
        counts[len(row)] = counts.get(len(row), 0) + 1
    return max(counts, key=lambda width: (counts[width], width), default=0)


def _tidy_header(table: Table) -> list[str]:
    return [tidy(name) for name in (table.header or [])]


def _first_named(header: list[str], names: Sequence[str], taken: Sequence[int]) -> int | None:
    for name in names:
        if name in header and header.index(name) not in taken:
            return header.index(name)
    return None


def _guess_pair(table: Table, with_score: bool) -> Columns | None:
    header = _tidy_header(table)
    for one, two in PAIR_NAMES:
        if one in header and two in header:
            pair = (header.index(one), header.index(two))
            score = _guess_score(table, header, pair) if with_score else None
            return None if with_score and score is None else Columns(pair[0], pair[1], score)
    twins = _twins(header)
    if twins is not None:
        score = _guess_score(table, header, twins) if with_score else None
        return None if with_score and score is None else Columns(*twins, score)
    if is_stsb_shape(table):
        score = _STSB_SCORE if with_score else None
        return Columns(_STSB_SENTENCE1, _STSB_SENTENCE2, score)
    return _guess_by_count(table, with_score)


def _twins(header: list[str]) -> tuple[int, int] | None:
    """Two columns with one and the same name of a sentence."""
    for name in SENTENCE_NAMES:
        if header.count(name) == 2:
            first = header.index(name)
            return first, header.index(name, first + 1)
    return None


def _guess_score(table: Table, header: list[str], pair: tuple[int, int]) -> int | None:
    named = _first_named(header, SCORE_NAMES, pair)
    if named is not None:
        return named
    others = [position for position in range(len(header)) if position not in pair]
    return others[0] if len(others) == 1 and _holds_scores(table, others[0]) else None


def _guess_by_count(table: Table, with_score: bool) -> Columns | None:
    """Exactly two texts, or two texts and one column of numbers, else of well-known words, wherever it stands."""
    width = _width(table)
    if width == 2 and not with_score:
        return Columns(0, 1)
    if width != 3:
        return None
    numeric = [position for position in range(width) if _is_numeric(table, position)]
    if not numeric:
        numeric = [position for position in range(width) if _holds_scores(table, position)]
    if len(numeric) != 1:
        return None
    first, second = (position for position in range(width) if position not in numeric)
    return Columns(first, second, numeric[0] if with_score else None)


def _guess_nli(table: Table) -> Columns | None:
    """A named pair and a label known by its name or its cells, or three columns of which one holds NLI labels."""
    header, width = _tidy_header(table), _width(table)
    for one, two in sorted(PAIR_NAMES, key=lambda names: names != ("premise", "hypothesis")):
        if one in header and two in header:
            pair = (header.index(one), header.index(two))
            label = _first_named(header, LABEL_NAMES, pair)
            if label is None:
                others = (p for p in range(min(width, 100)) if p not in pair)
                sure = [p for p in others if holds_nli_labels(table, p)]
                label = sure[0] if len(sure) == 1 else None
            return None if label is None else Columns(*pair, label=label)
    if width != 3:
        return None
    labels = [position for position in range(3) if _share_of_labels(table, position) >= _MOST]
    if len(labels) != 1:
        return None
    first, second = (position for position in range(3) if position not in labels)
    return Columns(first, second, label=labels[0])


def _share_of_labels(table: Table, position: int) -> float:
    cells = _cells(table, position)
    known = sum(nli_label(cell) is not None or cell.strip() in ("-", "-1") for cell in cells)
    return known / max(len(cells), 1)


def holds_nli_labels(table: Table, position: int) -> bool:
    """Whether a column surely holds NLI labels: words, or numbers with a 2, as 0 and 1 alone are a yes or no."""
    if _share_of_labels(table, position) < _MOST:
        return False
    labels = [cell for cell in _cells(table, position) if nli_label(cell) is not None]
    return any(not is_number(cell) or nli_label(cell) == "contradiction" for cell in labels)


def _guess_triplet(table: Table) -> Columns | None:
    """Three named sentences, an NLI file to make triplets of, or three columns, none of them of numbers."""
    header = _tidy_header(table)
    for names in TRIPLET_NAMES:
        if all(name in header for name in names):
            return _as_columns([header.index(name) for name in names], "triplets")
    nli = _guess_nli(table)
    if nli is not None and nli.label is not None and holds_nli_labels(table, nli.label):
        return nli
    if _width(table) != 3 or any(_is_numeric(table, position) for position in range(3)):
        return None
    return Columns(0, 1, negative=2)


_GUESSERS: dict[str, Callable[[Table], Columns | None]] = {
    "nli": _guess_nli,
    "triplets": _guess_triplet,
}


def _guess_sentence(table: Table) -> int:
    header, width = _tidy_header(table), _width(table)
    if width == 1:
        return 0
    if any(one in header and two in header for one, two in PAIR_NAMES) or is_stsb_shape(table):
        raise WorkbenchError(
            f"This is a file of pairs, not of single sentences. {_columns_seen(table)} Import it as "
            "unlabelled-pairs, or name the one column to use, for example --columns "
            f"{table.header[0] if table.header else _STSB_SENTENCE1}."
        )
    named = _first_named(header, SENTENCE_NAMES, ())
    if named is not None:
        return named
    texts = [position for position in range(min(width, 50)) if not _is_numeric(table, position)]
    if len(texts) == 1 and width <= 50:
        return texts[0]
    raise _no_guess(table, "sentences")


def _is_numeric(table: Table, position: int) -> bool:
    """Whether a column holds numbers; blank cells aside, as not every pair of SemEval has a score."""
    cells = [cell for cell in _cells(table, position) if cell.strip()]
    return bool(cells) and sum(map(is_number, cells)) >= _MOST * len(cells)


def _holds_scores(table: Table, position: int) -> bool:
    return _is_numeric(table, position) or bool(known_labels(_cells(table, position)))


def _cells(table: Table, position: int) -> list[str]:
    return [row[position] for row in sample_rows(table) if len(row) > position]


def with_named(table: Table, columns: Columns, kind: str) -> Columns:
    """The columns, and those of split, group and id that are known by name or shape and not among them yet."""
    if kind not in ("pairs", "unlabelled-pairs"):
        return columns
    header = _tidy_header(table)
    is_stsb = is_stsb_shape(table)

    def fill(columns: Columns, what: str, names: Sequence[str], stsb: int | None) -> Columns:
        if getattr(columns, what) is not None:
            return columns
        found = _first_named(header, names, columns.used)
        if found is None and is_stsb and stsb not in columns.used:
            found = stsb
        return replace(columns, **{what: found})  # type: ignore[arg-type]

    if kind == "pairs":
        columns = fill(columns, "split", SPLIT_NAMES, None)
        if "scaledscore" in header:
            columns = fill(columns, "word", ("label",), None)
    columns = fill(columns, "group", GROUP_NAMES, _STSB_GROUP)
    return fill(columns, "source_id", ID_NAMES, _STSB_ID)


def _no_guess(table: Table, kind: str) -> WorkbenchError:
    needed = KINDS[kind]
    seen = f"The columns for {', '.join(needed)} were not recognised. {_columns_seen(table)} "
    if _width(table) == 1:
        return WorkbenchError(f"{seen}Sentences without pairs come in with --kind sentences.")
    example = ",".join(name.replace(" ", "").upper() for name in needed)
    error = f"{seen}Name them, in this order, with --columns {example} (names, or positions counted from 0)."
    if kind == "pairs" and _width(table) == 2:
        error += " Two sentences without a score come in with --kind unlabelled-pairs."
    return WorkbenchError(error)


def _columns_seen(table: Table) -> str:
    """The columns by position and name, or by the first row where there is no header."""
    width = _width(table)
    if table.header is not None:
        names = [f"{position} {name[:40]!r}" for position, name in enumerate(table.header[:12])]
    else:
        row = next((row for row in table.rows if len(row) == width), [])
        names = [f"{position} ({cell[:30]!r}, …)" for position, cell in enumerate(row[:12])]
    if width > 12:
        names.append("…")
    word = "column" if width == 1 else "columns"
    return f"The file has {width} {word}: {', '.join(names)}."
