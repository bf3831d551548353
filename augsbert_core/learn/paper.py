"""What the paper found, as data: Thakur, Reimers, Daxenberger and Gurevych, Augmented SBERT (NAACL 2021).

Only values that could be checked are here. A cell that could not be is None, never a guess. Scores are × 100,
as the paper prints them: Spearman's ρ for Spanish-STS and BWS, F1 for Quora-QP and MRPC.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Fact:
    """One finding: a sentence, where it stands (a table, figure or section), and what to know about it."""

    text: str
    source: str
    note: str = ""


@dataclass(frozen=True)
class Cell:
    """A value as printed; spread: one standard deviation over the seeds, where it is printed."""

    value: float
    spread: float | None = None


@dataclass(frozen=True)
class PaperTable:
    """One table of the paper. columns, rows: key → title as shown; cells: (column, row) → what is printed there.

    A column and row of the table without a cell could not be checked.
    """

    place: str
    title: str
    measure: str
    columns: Mapping[str, str]
    rows: Mapping[str, str]
    cells: Mapping[tuple[str, str], Cell] = field(default_factory=dict)
    note: str = ""

    def cell(self, column: str, row: str) -> Cell | None:
        """What is printed there, None when it could not be checked. ValueError for a name not in the table."""
        if column not in self.columns:
            raise ValueError(f"{self.place} has no column {column!r}: {', '.join(self.columns)}.")
        if row not in self.rows:
            raise ValueError(f"{self.place} has no row {row!r}: {', '.join(self.rows)}.")
        return self.cells.get((column, row))


STRATEGIES = {
    "random": "Random",
    "kde": "KDE",
    "bm25": "BM25",
    "semantic": "Semantic search",
    "bm25+semantic": "BM25 + semantic",
}
"""The five ways to choose pairs: the workbench's key → title."""

_IN_DOMAIN = {
    "spanish-sts": "Spanish-STS",
    "bws-cross-topic": "BWS, cross-topic",
    "bws-in-topic": "BWS, in-topic",
    "quora-qp": "Quora-QP",
    "mrpc": "MRPC",
}

_TABLE_5: dict[str, tuple[tuple[float, float | None] | None, ...]] = {
    "baseline": ((30.27, None), (5.53, None), (6.98, None), None, None),
    "none": ((72.07, 2.05), (60.54, 0.99), (63.77, 2.29), (74.66, 0.31), (84.39, 0.51)),
    "random": ((62.05, 2.53), (59.95, 0.70), (64.54, 1.90), (73.42, 0.74), (82.28, 0.38)),
    "kde": ((74.67, 1.01), (61.49, 0.71), (69.76, 0.50), (79.31, 0.46), (84.33, 0.27)),
    "bm25": ((75.08, 1.94), (61.48, 0.73), (68.63, 0.79), (79.01, 0.45), (85.46, 0.52)),
    "semantic": ((74.99, 2.30), (61.05, 1.02), (68.06, 0.93), (77.20, 0.41), (82.42, 0.32)),
    "bm25+semantic": (
        (76.24, 1.42),
        (59.41, 0.98),
        (63.30, 1.34),
        (72.45, 0.77),
        (82.68, 0.33),
    ),
}

PAPER: dict[str, PaperTable] = {
    "table5": PaperTable(
        place="Table 5",
        title="In-domain: the bi-encoder with and without silver pairs",
        measure="Score × 100, mean and standard deviation over 10 seeds",
        columns=_IN_DOMAIN,
        rows={
            "baseline": "Baseline without training",
            "cross-encoder": "Cross-encoder (upper bound)",
            "none": "Gold only (lower bound)",
            "nlpaug": "Words replaced (NLPAug)",
            **STRATEGIES,
        },
        cells={
            (column, row): Cell(*cell)
            for row, cells in _TABLE_5.items()
            for column, cell in zip(_IN_DOMAIN, cells, strict=True)
            if cell is not None
        },
        note="The rows of the cross-encoder and of NLPAug could not be checked and are left out.",
    ),
    "table6": PaperTable(
        place="Table 6",
        title="Domain adaptation: trained on one community's questions, tested on another's",
        measure="AUC(0.05): area under the ROC curve up to 5 % false positives",
        columns={
            "askubuntu": "AskUbuntu",
            "quora": "Quora",
            "sprint": "Sprint",
            "superuser": "SuperUser",
        },
        rows={
            "source-only": "Bi-encoder of the source alone (lower bound)",
            "augsbert": "Labelled by the source's cross-encoder",
            "in-domain": "Bi-encoder with the target's gold (upper bound)",
        },
        note="The values could not be checked and are left out.",
    ),
    "table11": PaperTable(
        place="Table 11",
        title="Silver pairs that each strategy made",
        measure="Pairs",
        columns=_IN_DOMAIN,
        rows=STRATEGIES,
        cells={
            ("spanish-sts", "bm25"): Cell(3_964),
            ("spanish-sts", "kde"): Cell(230_364),
            ("spanish-sts", "random"): Cell(911_072),
        },
        note="The three sizes are listed in the order BM25, KDE, random. Others could not be checked and are left out.",
    ),
}
"""The paper's tables by key. Read them with `value`, `spread` and `gain`."""

MISPRINTS = (
    Fact(
        "A silver size is printed as “72,3540”.",
        "Table 11",
        "Whether 723,540 is meant, or 72,354, cannot be told.",
    ),
    Fact(
        "82.42 in one place is 82.39 in another.",
        "Table 5",
        "Table 5 has 82.42 for MRPC with semantic search, and so has this page.",
    ),
    Fact(
        "A gap of 8.2 points that the text names is found between no two values of its table.",
        "Text on the results; tried here with table 5",
        "So it is not repeated here.",
    ),
)
"""What does not agree with itself in the paper. For teachers, so that nobody looks for the mistake at home."""

_MISPRINTS_BESIDE = {"labelling": MISPRINTS[:1], "student": MISPRINTS[1:]}


def value(table: str, column: str, row: str) -> float | None:
    """The value printed there, None when it could not be checked: `value("table5", "spanish-sts", "bm25")`.

    ValueError for a table, column or row that there is not.
    """
    cell = _table(table).cell(column, row)
    return None if cell is None else cell.value


def spread(table: str, column: str, row: str) -> float | None:
    """One standard deviation over the paper's seeds; None when not printed or not checked."""
    cell = _table(table).cell(column, row)
    return None if cell is None else cell.spread


def gain(column: str, row: str) -> float | None:
    """Table 5: what a strategy adds to gold alone, in points; None when either value is missing."""
    after, before = value("table5", column, row), value("table5", column, "none")
    return None if after is None or before is None else round(after - before, 2)


def table_rows(table: str, column: str) -> list[tuple[str, str]]:
    """One data set's checked values, as (title, text) in the paper's order: "75.08 ± 1.94", "230,364"."""
    found = _table(table)
    rows = []
    for row, title in found.rows.items():
        cell = found.cell(column, row)
        if cell is not None:
            rows.append((title, _text(cell)))
    return rows


def facts_for(lesson: str) -> list[Fact]:
    """What the paper found about a lesson's subject; ValueError for an unknown lesson."""
    if lesson not in _FACTS:
        raise ValueError(f"There is no lesson {lesson!r}: {', '.join(_FACTS)}.")
    return list(_FACTS[lesson])


def misprints_for(lesson: str) -> list[Fact]:
    """What a teacher should know when a student looks up what `facts_for` says of a lesson."""
    return list(_MISPRINTS_BESIDE.get(lesson, ()))


def _table(key: str) -> PaperTable:
    if key not in PAPER:
        raise ValueError(f"No table {key!r}: {', '.join(PAPER)}.")
    return PAPER[key]


def _text(cell: Cell) -> str:
    """As printed: sizes as whole numbers, scores with two decimals and their spread."""
    if cell.value == int(cell.value) and cell.spread is None:
        return f"{int(cell.value):,}"
    return f"{cell.value:.2f}" + ("" if cell.spread is None else f" ± {cell.spread:.2f}")


def _at(column: str, row: str, table: str = "table5") -> str:
    """A value inside a sentence."""
    cell = _table(table).cell(column, row)
    if cell is None:
        raise ValueError(f"{table} has no checked value for {column}, {row}.")
    return f"{int(cell.value):,}" if table == "table11" else f"{cell.value:.2f}"


def _gained(column: str, row: str) -> str:
    points = gain(column, row)
    if points is None:
        raise ValueError(f"No checked gain for {column}, {row}.")
    return f"{points:+.2f}".replace("-", "−")


FIGURES = {
    "fig1": Fact(
        "The cross-encoder is often the better judge; the bi-encoder needs far more training data to come near.",
        "Abstract and figure 1 (English STS Benchmark, score against training size)",
        "The figure's values are not printed, so no numbers are given here.",
    ),
    "fig6": Fact(
        "Seeds differ by points on small gold sets. 5 seeds began, and after 20 % of the steps the best on dev "
        "went on alone.",
        "Section 3.1 and figure 6",
    ),
}
"""What the paper found beside the two figures that this demo draws with numbers of its own."""

BESIDE_FIGURE = {"labeler": "fig1", "student": "fig6"}
"""Lesson → the figure beside which its fact of `FIGURES` is shown."""

_FACTS: dict[str, tuple[Fact, ...]] = {
    "encoders": (
        Fact(
            "Finding the most similar two of 10,000 sentences takes 49,995,000 passes of a cross-encoder, about "
            "65 hours; a bi-encoder encodes each sentence once and needs about 5 seconds.",
            "Sentence-BERT (Reimers and Gurevych 2019), abstract",
            "On a graphics card of 2019; your machine's own times are measured here.",
        ),
        FIGURES["fig1"],
    ),
    "gold": (
        Fact(
            "The densities of gold and of silver are compared before the student is trained, for pairs drawn at random "
            "are almost all dissimilar.",
            "Section 3.1 and figure 4",
        ),
        Fact(
            f"With gold alone the bi-encoder reached {_at('spanish-sts', 'none')} on Spanish-STS and "
            f"{_at('bws-in-topic', 'none')} on BWS (in-topic).",
            "Table 5",
            "Mean of 10 seeds, Spearman's ρ × 100.",
        ),
    ),
    "labeler": (
        FIGURES["fig1"],
        Fact(
            "The labeler was BERT-base with learning rate 1e-5 and batches of 16; hidden layers of 200 and 400 units "
            "were tried on its head.",
            "Section 5",
        ),
        Fact(
            "The cross-encoder is the upper bound: a student learns from its scores, so that it can hardly pass it.",
            "Table 5",
            "Its own row could not be checked, so no number is given here.",
        ),
    ),
    "sampling": (
        Fact(
            f"Spanish-STS: BM25 {_at('spanish-sts', 'bm25')}, semantic search {_at('spanish-sts', 'semantic')}, KDE "
            f"{_at('spanish-sts', 'kde')}, random {_at('spanish-sts', 'random')}; without silver "
            f"{_at('spanish-sts', 'none')}.",
            "Table 5",
            "Random pairs did harm: worse than no silver at all.",
        ),
        Fact(
            "Two sentences drawn at random are almost never similar, so random silver is heavily negative.",
            "Section 3.1",
        ),
        Fact(
            "BM25 is fast but finds only pairs that share words; semantic search finds those that do not.",
            "Section 3.1",
        ),
        Fact("Values of k from 3 to 18 were tried.", "Tables 9 and 10"),
    ),
    "labelling": (
        Fact(
            f"Spanish-STS: BM25 took {_at('spanish-sts', 'bm25', 'table11')} silver pairs, KDE "
            f"{_at('spanish-sts', 'kde', 'table11')}, random {_at('spanish-sts', 'random', 'table11')}. The "
            "fewest pairs gave the best of the three scores.",
            "Tables 11 and 5",
        ),
    ),
    "density": (
        Fact(
            "Random silver is skewed towards dissimilar pairs; KDE keeps of a large random pool what follows gold.",
            "Section 3.1 and figure 4",
        ),
        Fact(
            f"On Spanish-STS following gold paid: random {_at('spanish-sts', 'random')}, KDE "
            f"{_at('spanish-sts', 'kde')}. But BM25, which follows nothing, was as good: "
            f"{_at('spanish-sts', 'bm25')}.",
            "Table 5",
        ),
    ),
    "student": (
        Fact(
            "The student trains on gold and silver shuffled together: learning rate 2e-5, batches of 16.",
            "Sections 3.1 and 5",
        ),
        FIGURES["fig6"],
        Fact(
            f"Largest gain: {_gained('bws-in-topic', 'kde')} points (BWS in-topic, KDE, "
            f"{_at('bws-in-topic', 'none')} → {_at('bws-in-topic', 'kde')}), the abstract’s “up to 6 points”.",
            "Table 5 and abstract",
        ),
        Fact(
            f"BM25 against gold alone: {_gained('spanish-sts', 'bm25')} on Spanish-STS, "
            f"{_gained('bws-cross-topic', 'bm25')} and {_gained('bws-in-topic', 'bm25')} on BWS, "
            f"{_gained('quora-qp', 'bm25')} on Quora-QP, {_gained('mrpc', 'bm25')} on MRPC; random on Spanish-STS: "
            f"{_gained('spanish-sts', 'random')}.",
            "Table 5",
        ),
        Fact(
            f"BM25 and semantic search together were best on Spanish-STS ({_at('spanish-sts', 'bm25+semantic')}) and "
            "below BM25 alone on the other four.",
            "Table 5",
        ),
    ),
    "adaptation": (
        Fact(
            "A cross-encoder trained on one community labels another's pairs, and the student learns from those: up "
            "to 37 points better than the bi-encoder of the source alone.",
            "Abstract; table 6 has the four communities",
            "The table's own values (AUC(0.05)) could not be checked, so none are given here.",
        ),
        Fact(
            "AskUbuntu, Quora, Sprint and SuperUser are compared by AUC(0.05), the area under the ROC curve up to 5 % "
            "false positives.",
            "Table 6",
        ),
    ),
}
