"""The beginning of a text file: a hint at its delimiter, and a sample of its lines to judge it by."""

import re

_SAMPLE_CHARACTERS = 256 * 1024
_HINT = re.compile(
    r"""(?P<quote>"?)sep=(?P<delimiter>[^\w\s"']|[\t ])(?P=quote)[ ]*(?:\r\n?|\n)""", re.IGNORECASE
)


def without_hint(text: str, notes: list[str]) -> tuple[str, int, str | None]:
    """The text with the line that tells Excel the delimiter emptied, how many lines that were, and the delimiter."""
    hint = _HINT.match(text)
    if hint is None:
        return text, 0, None
    notes.append(
        f"The first line, {hint[0].strip()}, says what delimits the columns; it is no row."
    )
    return "\n" + text[hint.end() :], 1, hint["delimiter"]


def sample_of(text: str) -> str:
    """The beginning of a text up to the end of a line, without lines that are blank."""
    n_blank = len(text) - len(text.lstrip())
    at = max(text.rfind("\n", 0, n_blank), text.rfind("\r", 0, n_blank)) + 1
    parts: list[str] = []
    size = 0
    while at < len(text) and size < _SAMPLE_CHARACTERS:
        piece = text[at : at + _SAMPLE_CHARACTERS]
        if at + len(piece) < len(text):
            piece = piece[: max(piece.rfind("\n"), piece.rfind("\r")) + 1] or piece
        at += len(piece)
        lines = [line for line in piece.splitlines(keepends=True) if not line.isspace()]
        parts += lines
        size += sum(map(len, lines))
    return "".join(parts)
