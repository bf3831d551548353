"""What an import can be told."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ImportOptions:
    """How a file of pairs or sentences is read.

    kind: "pairs" (scored gold pairs), "unlabelled-pairs", "sentences", "nli" (premise, hypothesis, label) or
    "triplets" (anchor, positive, negative).
    columns: names or 0-based positions (as text) of sentence 1, sentence 2 and score; None guesses.
    task: "regression" or "classification"; None takes classification when all scores are 0 or 1.
    split: put every row in this split; "" takes a split column when there is one, else `ratios`.
    split_column: its name or position; None guesses, "" leaves it unread.
    repeats: what happens to pairs that occur more than once: "keep", "mean", "first" or "drop".
    """

    kind: str = "pairs"
    task: str | None = None
    columns: tuple[str, ...] | None = None
    split_column: str | None = None
    group_column: str | None = None
    score_range: tuple[float, float] | None = None
    split: str = ""
    ratios: tuple[float, float, float] = (80.0, 10.0, 10.0)
    repeats: str = "keep"
    limit: int | None = None
    seed: int = 42
