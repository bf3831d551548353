"""What the name of a file says about its rows."""

import re

_SPLIT_WORDS = (
    ("train", r"train"),
    ("dev", r"dev(set|elopment)?(?![a-z])|valid|val(?![a-z])"),
    ("test", r"test|eval|held"),
)


def split_in_name(name: str) -> str | None:
    """The split that a file name speaks of: "stsb-train.tsv" → "train"; None when it says nothing.

    The word begins where a word of the name does: "latest.csv" and "retrieval.csv" are no test files. A name with
    two splits in it says nothing either.
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", re.split(r"[/\\]", name)[-1]).lower()
    found = [split for split, words in _SPLIT_WORDS if re.search(rf"(?<![a-z])(?:{words})", spaced)]
    return found[0] if len(found) == 1 else None
