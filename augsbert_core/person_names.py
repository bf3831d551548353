"""The names that scores and decisions are kept under, and other single lines: cleaned the same wherever they are written."""

from augsbert_core.errors import WorkbenchError

LONGEST_PERSON = 200
"""Characters of the longest name of an annotator, a judge, an adjudicator or whoever decides."""

LONGEST_SUMMARY = 1000
"""Characters of the longest summary of an edit."""


def clean_line(text: str, longest: int) -> str:
    """A text as one line that a file and a screen can hold, cut at its longest.

    Left out: space around it and twice in it, and whatever does not print (NUL, marks that turn the writing around,
    halves of a character).
    """
    seen = "".join(one for one in str(text) if one.isprintable() or one.isspace())
    return " ".join(seen.split())[:longest].rstrip()


def checked_person(name: str) -> str:
    """The name of a person as it is kept. WorkbenchError: nothing of it can be read, or it is far too long."""
    found = clean_line(name, len(str(name)))
    if not found or len(found) > LONGEST_PERSON:
        raise WorkbenchError(
            f"A person needs a name of 1 to {LONGEST_PERSON} characters that can be read. Give another one."
        )
    return found
