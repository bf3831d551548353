"""NLI pairs to triplets: a premise, a sentence that it entails, and one that it contradicts."""

from collections.abc import Iterable

from augsbert_core.errors import WorkbenchError
from augsbert_core.pairs import sentence_key

LabelledPair = tuple[int, str, str, str]
"""line, premise, hypothesis, label."""
Triplet = tuple[int, str, str, str]
"""line of the entailment, anchor, positive, negative."""


def triplets_from_nli(rows: Iterable[LabelledPair], name: str) -> tuple[list[Triplet], list[str]]:
    """Triplets made of NLI pairs in the order of their entailments, and notes on what was left out.

    The first sentence that a premise entails goes with the first that it contradicts, and so on: each is used once.
    A premise is one sentence however it is written. name: of the file. WorkbenchError: no triplet can be made.
    """
    keys: dict[str, str] = {}
    entailed: dict[str, list[LabelledPair]] = {}
    contradicted: dict[str, list[str]] = {}
    n_rows = 0
    for row in rows:
        n_rows += 1
        premise = row[1]
        key = keys.get(premise)
        if key is None:
            key = keys[premise] = sentence_key(premise)
        yes, no = entailed.setdefault(key, []), contradicted.setdefault(key, [])
        if row[3] == "entailment":
            yes.append(row)
        elif row[3] == "contradiction":
            no.append(row[2])
    made = sorted(
        (line, premise, positive, negative)
        for key, pairs in entailed.items()
        for (line, premise, positive, _), negative in zip(pairs, contradicted[key], strict=False)
    )
    if not made:
        raise WorkbenchError(
            f"No triplet can be made of {name}: none of its premises has both a sentence that it entails and one that "
            "it contradicts. Import it as nli, or choose a file with anchor, positive and negative."
        )
    lacking = sum(not pairs or not contradicted[key] for key, pairs in entailed.items())
    return made, _notes(len(made), n_rows, lacking, len(entailed))


def _notes(n_made: int, n_rows: int, n_lacking: int, n_premises: int) -> list[str]:
    notes = [
        f"{n_made:,} {'triplet was' if n_made == 1 else 'triplets were'} made of {n_rows:,} NLI pairs: a premise, a "
        "sentence that it entails and one that it contradicts, each of these used once. "
        f"{n_rows - 2 * n_made:,} pairs are in no triplet."
    ]
    if n_lacking:
        notes.append(
            f"{n_lacking:,} of {n_premises:,} premises have no such sentence of one kind or the other and were left out."
        )
    return notes
