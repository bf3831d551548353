"""What an import can be told."""

from dataclasses import dataclass, field

SPLIT_WAYS = ("auto", "components", "pairs", "stratified", "groups")
SUBSAMPLES = ("first", "random", "balanced", "groups")
LEAKS = ("keep", "pairs", "sentences")


@dataclass(frozen=True)
class ImportOptions:
    """How a file of pairs or sentences is read.

    kind: "pairs" (scored gold pairs), "unlabelled-pairs", "sentences", "nli" (premise, hypothesis, label) or
    "triplets" (anchor, positive, negative; or an NLI file, whose pairs are then made into triplets).
    encoding, delimiter, header, quoting, sheet: how the bytes become a table; None finds out. sheet: of an Excel
    workbook, or the name of a file in a zip archive or of a split in a dataset folder.
    task: "regression" or "classification"; None takes classification when all scores are 0 or 1.
    columns: names or 0-based positions (as text) of sentence 1, sentence 2 and score; None guesses.
    split_column, group_column, id_column: name or position; None guesses, "" leaves it unread.
    labels: scores written as words, each "word=score" on the declared range; () takes well-known words alone.
    limit, subsample: so many rows only, the "first" of the file, drawn at "random", equally many of each score
    ("balanced") or of each group ("groups").
    split: put every row in this split; "" takes a split column when there is one, else `split_way`.
    split_way: how rows without a split are dealt to train, dev and test by `ratios`: by connected "components" of
    shared sentences, by "pairs", "stratified" on the score, by "groups" (each group whole; `group_splits`, each
    "group=split", fixes some), or "auto": components when the ratios can then be met, else pairs.
    leaks: what happens to rows of train (and dev) whose pair, or one of whose sentences, is held out in a later
    split: "keep" them, or leave those out that share "pairs" or "sentences".
    repeats: what happens to pairs that occur more than once: "keep", "mean", "first" or "drop".
    """

    kind: str = "pairs"
    encoding: str | None = None
    delimiter: str | None = None
    header: bool | None = None
    quoting: bool | None = None
    sheet: str | None = None
    task: str | None = None
    columns: tuple[str, ...] | None = None
    split_column: str | None = None
    group_column: str | None = None
    id_column: str | None = None
    score_range: tuple[float, float] | None = None
    labels: tuple[str, ...] = ()
    limit: int | None = None
    subsample: str = "first"
    split: str = ""
    split_way: str = "auto"
    ratios: tuple[float, float, float] = (80.0, 10.0, 10.0)
    group_splits: tuple[str, ...] = ()
    leaks: str = "keep"
    repeats: str = "keep"
    seed: int = 42


@dataclass(frozen=True)
class ImportedFile:
    """One file that a background import reads. path: inside the workspace; name: as the user knows it."""

    path: str
    name: str
    options: str
    """`ImportOptions` as JSON."""


@dataclass(frozen=True)
class ImportFilesOptions:
    """The files of one background import; all of them come in, or none."""

    files: tuple[ImportedFile, ...] = field(default=(), metadata={"of": ImportedFile})
    seed: int = 42
