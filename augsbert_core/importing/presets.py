"""Well-known files of sentence pairs, recognised by their header or shape."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from augsbert_core.importing.column_names import (
    TRIPLET_NAMES,
    is_number,
    parse_number,
    tidy,
)
from augsbert_core.importing.columns import (
    Columns,
    holds_nli_labels,
    is_stsb_shape,
    is_tagged,
    sample_rows,
    with_named,
)
from augsbert_core.importing.scores import known_labels, parse_scores, tidy_word
from augsbert_core.importing.table import Table
from augsbert_core.importing.texts import is_blank
from augsbert_core.pairs import ScoreRange

_MOST = 0.9
_STSB_GENRES = {"main-captions", "main-forum", "main-forums", "main-news"}
_VOTES = re.compile(r"\(([0-5]), ([0-5])\)")


@dataclass(frozen=True)
class Preset:
    """A well-known format. title: for the screen, "STS Benchmark". kinds: the kinds of content that such a file
    can be imported as, the usual one first. columns: of that kind. score_range, labels: as the format defines them;
    None and () when it leaves them open."""

    name: str
    title: str
    kinds: tuple[str, ...]
    columns: Columns
    score_range: ScoreRange | None = None
    labels: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class _Named:
    """A format known by its header, whose names are written as `tidy` writes them.

    needs: names that must all be there. Each other field: names of one column, the first that is there counts.
    is_binary: scores are 0 or 1, nothing else. words: how scores are written, with their values. is_tsv: among
    text files, those separated by tabs alone.
    """

    name: str
    title: str
    needs: str
    pair: tuple[str, str]
    score: str = ""
    label: str = ""
    negative: str = ""
    split: str = ""
    group: str = ""
    source_id: str = ""
    score_range: tuple[float, float] | None = None
    is_binary: bool = False
    words: tuple[tuple[str, float], ...] = ()
    is_tsv: bool = False

    @property
    def kinds(self) -> tuple[str, ...]:
        if self.negative:
            return ("triplets",)
        scored = ("pairs",) if self.score else ()
        labelled = ("nli", "triplets") if self.label else ()
        return (*scored, *labelled, "unlabelled-pairs")

    def preset(self, table: Table, kind: str) -> Preset | None:
        """The format with the columns of this kind; None when the header or the scores are not its own."""
        header = [tidy(name) for name in table.header or []]
        is_foreign = self.is_tsv and table.format == "text" and table.delimiter != "\t"
        if is_foreign or kind not in self.kinds or not set(self.needs.split()) <= set(header):
            return None

        def find(names: str) -> int | None:
            return next((header.index(name) for name in names.split() if name in header), None)

        first, second = (header.index(name) for name in self.pair)
        columns = Columns(
            first,
            second,
            find(self.score) if kind == "pairs" else None,
            find(self.split) if kind == "pairs" else None,
            find(self.group) if kind.endswith("pairs") else None,
            find(self.label) if kind in ("nli", "triplets") else None,
            find(self.negative),
            find(self.source_id) if kind.endswith("pairs") else None,
        )
        if None in columns.told[: 2 if kind == "unlabelled-pairs" else 3]:
            return None
        if any(header.count(header[position]) > 1 for position in columns.used):
            return None
        if not self._has_own_scores(table, find(self.score)):
            return None
        scale = ScoreRange(*self.score_range) if self.score_range else None
        return Preset(self.name, self.title, self.kinds, columns, scale, self.words)

    def _has_own_scores(self, table: Table, position: int | None) -> bool:
        """Whether nearly all scores are written as this format writes them, whatever kind is asked for."""
        if position is None or not (self.is_binary or self.words):
            return True
        own = {word for word, _ in self.words}
        cells = [row[position] for row in sample_rows(table) if len(row) > position]
        cells = [cell for cell in cells if cell.strip()]
        known = sum(tidy_word(c) in own if own else parse_number(c) in (0.0, 1.0) for c in cells)
        return bool(cells) and known >= _MOST * len(cells)


_BY_HEADER: tuple[_Named, ...] = (
    _Named(
        "stsb-glue",
        "STS Benchmark (GLUE)",
        "genre filename year oldindex sentence1 sentence2",
        ("sentence1", "sentence2"),
        score="score",
        group="genre",
        source_id="index",
        score_range=(0, 5),
    ),
    _Named(
        "stsb",
        "STS Benchmark",
        "genre year score sentence1 sentence2",
        ("sentence1", "sentence2"),
        score="score",
        split="split",
        group="genre",
        source_id="sid id index",
        score_range=(0, 5),
    ),
    _Named(
        "sick",
        "SICK",
        "sentencea sentenceb relatednessscore",
        ("sentencea", "sentenceb"),
        score="relatednessscore",
        label="entailmentjudgment entailmentlabel label",
        split="semevalset",
        source_id="pairid id",
        score_range=(1, 5),
    ),
    _Named(
        "mrpc",
        "Microsoft Research Paraphrase Corpus (MRPC)",
        "quality 1string 2string",
        ("1string", "2string"),
        score="quality",
        score_range=(0, 1),
        is_binary=True,
    ),
    _Named(
        "quora",
        "Quora question pairs",
        "question1 question2 isduplicate",
        ("question1", "question2"),
        score="isduplicate",
        source_id="id",
        score_range=(0, 1),
        is_binary=True,
    ),
    _Named(
        "aspect",
        "UKP argument aspect similarity, labels in two classes",
        "topic sentence1 sentence2 label",
        ("sentence1", "sentence2"),
        score="label",
        group="topic",
        score_range=(0, 1),
        words=(("dtorcd", 0.0), ("ns", 0.0), ("ss", 1.0), ("hs", 1.0)),
    ),
    _Named(
        "bws",
        "BWS argument similarity",
        "topic argument1 argument2 score",
        ("argument1", "argument2"),
        score="score",
        group="topic",
    ),
    _Named(
        "paws",
        "PAWS",
        "id sentence1 sentence2 label",
        ("sentence1", "sentence2"),
        score="label",
        source_id="id",
        score_range=(0, 1),
        is_binary=True,
        is_tsv=True,
    ),
    _Named(
        "paws",
        "PAWS",
        "id sentence1 sentence2 noisylabel",
        ("sentence1", "sentence2"),
        score="noisylabel",
        source_id="id",
        score_range=(0, 1),
        is_binary=True,
    ),
    *(
        _Named("nli", title, f"{one} {two} {label}", (one, two), label=label)
        for title, one, two, label in (
            ("SNLI or MultiNLI", "sentence1", "sentence2", "goldlabel"),
            ("NLI pairs, as in AllNLI", "premise", "hypothesis", "label"),
            ("NLI pairs, as in ANLI", "context", "hypothesis", "label"),
            ("NLI pairs, as in AllNLI", "sentence1", "sentence2", "label"),
        )
    ),
    *(
        _Named("triplets", f"triplets ({', '.join(names)})", " ".join(names), names[:2], negative=names[2])
        for names in TRIPLET_NAMES
    ),
    *(
        _Named(
            "named-pairs",
            f"sentence pairs as MTEB and sentence-transformers name them (sentence1, sentence2, {score})",
            f"sentence1 sentence2 {score}",
            ("sentence1", "sentence2"),
            score=score,
        )
        for score in ("score", "label")
    ),
)  # fmt: skip


def recognise(table: Table, kind: str) -> Preset | None:
    """The well-known format of a table that is to be read as this kind of content; None when it is none.

    At least nine in ten rows of a sample are usable under it. A score range is given only where the format defines
    one and the scores reach beyond 1 where it does: STS Benchmark files with scores divided by 5 are about as common.
    """
    for find in (*(known.preset for known in _BY_HEADER), *_BY_SHAPE):
        preset = find(table, kind)
        if preset is not None and _fits(table, preset, kind):
            named = replace(preset, columns=with_named(table, preset.columns, kind))
            return replace(named, score_range=_defined_range(table, preset))
    return None


# Formats known by their shape: they come without a header.


def _stsb_shape(table: Table, kind: str) -> Preset | None:
    """Genre, source, year, id, score and two sentences; perhaps separated by commas, where the genres prove it."""
    if not is_stsb_shape(table) and not _names_stsb_genres(table):
        return None
    columns = Columns(5, 6, 4 if kind == "pairs" else None, group=0, source_id=3)
    return _scored("stsb", "STS Benchmark", kind, columns, ScoreRange(0, 5))


def _names_stsb_genres(table: Table) -> bool:
    sample = sample_rows(table)
    fitting = sum(
        len(row) >= 7 and row[0] in _STSB_GENRES and is_number(row[4]) and not is_number(row[5])
        for row in sample
    )
    return table.header is None and fitting >= _MOST * len(sample)


def _pit_shape(table: Table, kind: str) -> Preset | None:
    """Topic id, topic, two tweets, votes or a rating, and the tweets again with tags."""
    sample = sample_rows(table)
    is_pit = table.header is None and table.delimiter == "\t"
    if not is_pit or sum(map(_is_pit_row, sample)) < _MOST * len(sample):
        return None
    # Five people voted in train and dev; an expert gave 0 to 5 in test.
    votes = tuple((f"({yes}, {5 - yes})", float(yes)) for yes in range(6))
    columns = Columns(2, 3, 4 if kind == "pairs" else None, group=1)
    preset = _scored("pit", "Twitter paraphrases (PIT 2015)", kind, columns, ScoreRange(0, 5))
    return replace(preset, labels=votes) if preset and kind == "pairs" else preset


def _is_pit_row(row: list[str]) -> bool:
    if len(row) != 7 or not is_number(row[0]) or not is_tagged(row[5]) or not is_tagged(row[6]):
        return False
    return is_number(row[4]) or _VOTES.fullmatch(row[4].strip()) is not None


def _three_columns(table: Table, kind: str) -> Preset | None:
    """A score and two sentences, as SemEval files are joined, or two sentences and a score."""
    if table.header is not None or table.format != "text":
        return None
    score = {"\t": 0, ",": 2}.get(table.delimiter)
    if score is None:
        return None
    texts = [position for position in range(3) if position != score]
    sample = sample_rows(table)
    fitting = sum(
        len(row) == 3
        and (is_number(row[score]) or not row[score].strip())
        and not any(is_number(row[position]) for position in texts)
        for row in sample
    )
    if fitting < _MOST * len(sample):
        return None
    columns = Columns(texts[0], texts[1], score if kind == "pairs" else None)
    if score == 0:
        return _scored("semeval", "SemEval STS (score, sentence 1, sentence 2)", kind, columns)
    return _scored("stsb-csv", "CSV of sentence 1, sentence 2 and score", kind, columns)


def _scored(
    name: str, title: str, kind: str, columns: Columns, scale: ScoreRange | None = None
) -> Preset | None:
    kinds = ("pairs", "unlabelled-pairs")
    return Preset(name, title, kinds, columns, scale) if kind in kinds else None


_BY_SHAPE: tuple[Callable[[Table, str], Preset | None], ...] = (
    _pit_shape,
    _stsb_shape,
    _three_columns,
)


# Whether the rows are what the format says


def _fits(table: Table, preset: Preset, kind: str) -> bool:
    columns = preset.columns
    if columns.label is not None and not holds_nli_labels(table, columns.label):
        return False
    sample = sample_rows(table)
    last = columns.used[-1]
    whole = [row for row in sample if len(row) > last and _has_texts(row, columns)]
    if not sample or len(whole) < _MOST * len(sample):
        return False
    if columns.score is None:
        return True
    # Pairs of SemEval without a score are left out as such, and say nothing about the format.
    cells = [row[columns.score] for row in whole if row[columns.score].strip()]
    values = parse_scores(cells, dict(preset.labels) or known_labels(cells)).values
    scale = preset.score_range or ScoreRange(-1e11, 1e11)
    usable = ((values >= scale.low) & (values <= scale.high)).sum()
    return bool(cells) and bool(usable >= _MOST * len(cells))


def _has_texts(row: list[str], columns: Columns) -> bool:
    texts = (columns.sentence1, columns.sentence2, columns.negative)
    return not any(is_blank(row[position]) for position in texts if position is not None)


def _defined_range(table: Table, preset: Preset) -> ScoreRange | None:
    scale, at = preset.score_range, preset.columns.score
    if scale is None or at is None or scale.high <= 1:
        return scale if at is not None else None
    cells = [row[at] for row in sample_rows(table) if len(row) > at]
    values = parse_scores(cells, dict(preset.labels)).values
    return scale if bool((values > 1).any()) else None
