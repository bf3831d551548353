"""Mined negatives as files that other trainers read: JSON lines per query, CSV per positive."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from augsbert_core.exporting.files import write_csv, write_json_lines


@dataclass(frozen=True)
class MinedQuery:
    """A query with its positives, and for each positive its own negatives."""

    query: str
    positives: list[str]
    negatives: list[list[str]]


def write_negatives(
    folder: Path, mined: Sequence[MinedQuery], per_positive: int
) -> tuple[Path, Path]:
    """Write negatives.jsonl and negatives.csv into a folder; returns both paths.

    JSON lines: query, positives, negatives (of all its positives). CSV: query, positive, negative_1 …; texts
    that a spreadsheet would take for formulas have a quote before them, so programs should read the JSON lines.
    """
    as_lines, as_table = folder / "negatives.jsonl", folder / "negatives.csv"
    with as_lines.open("w", encoding="utf-8", newline="\n") as file:
        rows = (
            (one.query, one.positives, [text for own in one.negatives for text in own])
            for one in mined
        )
        write_json_lines(file, ("query", "positives", "negatives"), rows)
    names = [f"negative_{number}" for number in range(1, per_positive + 1)]
    with as_table.open("w", encoding="utf-8-sig", newline="") as file:
        table = (
            (one.query, positive, *negatives, *[None] * (per_positive - len(negatives)))
            for one in mined
            for positive, negatives in zip(one.positives, one.negatives, strict=True)
        )
        write_csv(file, ("query", "positive", *names), table)
    return as_lines, as_table
