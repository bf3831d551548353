"""What the name of a file says about its rows."""

import re

_SPLIT_WORDS = (
    ("train", r"train"),
    ("dev", r"dev(set|elopment)?(?![a-z])|valid|val(?![a-z])"),
    ("test", r"test|eval|held"),
)


def shown_name(name: str) -> str:
    """A file name as it can be shown and stored: bytes that are no text, and control characters, are written out.

    "lat\\udcff.csv" → "lat\\xff.csv". A name without any comes back as it is.
    """
    if name.isprintable():
        return name
    return "".join(one if one.isprintable() else _written_out(one) for one in name)


def _written_out(character: str) -> str:
    code = ord(character)
    # Python keeps a byte of a name that is no text as one of these, which are no characters.
    if code < 0x80 or 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code & 0xFF:02x}"
    return character.encode("ascii", "backslashreplace").decode("ascii")


def shorten(text: str, limit: int = 100) -> str:
    """A text for a message: its beginning and its end where it is long; see `shown_name`."""
    text = shown_name(text)
    return text if len(text) <= limit else f"{text[: limit // 2]}…{text[-(limit // 2) :]}"


def split_in_name(name: str) -> str | None:
    """The split that a file name speaks of: "stsb-train.tsv" → "train"; None when it says nothing.

    The word begins where a word of the name does: "latest.csv" and "retrieval.csv" are no test files. A name with
    two splits in it says nothing either.
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", re.split(r"[/\\]", name)[-1]).lower()
    found = [split for split, words in _SPLIT_WORDS if re.search(rf"(?<![a-z])(?:{words})", spaced)]
    return found[0] if len(found) == 1 else None
