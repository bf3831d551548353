"""The keys of the work view, and how keys are shown."""

import html
from collections.abc import Sequence

from augsbert_core.storage.records import AnnotationTask

KEYS = (
    ("skip", "Skip", "s", ":material/skip_next:", "Leave this pair out. It comes once more at the end."),
    ("flag", "Flag", "f", ":material/flag:", "Mark a pair that is broken or worth a talk, or take the mark away."),
    ("undo", "Undo", "u", ":material/undo:", "Take back your last score, skip or flag; again for the one before."),
    ("back", "Back", "left", None, "Look at the pair before this one. A new score replaces the old one."),
    ("forward", "Next", "right", None, "Look at the pair after this one, without a score."),
    ("suggest", "Suggestion", "m", ":material/lightbulb:", "Show what the model says, if it has a score. It is "
     "recorded that you saw it."),
    ("help", "Help", "h", ":material/keyboard:", "Show all keys, or hide them."),
)  # fmt: skip
"""Action, label, key, icon, what it does."""

Key = tuple[str, str, str, str | None, str]


def keys_of(task: AnnotationTask) -> list[Key]:
    """The keys of a task. An audit is blind: it has none for the suggestion."""
    return [key for key in KEYS if not (task.purpose == "audit" and key[0] == "suggest")]


KEY_NAMES = {"left": "←", "right": "→"}

_CAP = (
    "display:inline-block;min-width:1.6em;text-align:center;border:1px solid color-mix(in srgb, currentColor 35%, "
    "transparent);border-radius:0.3em;padding:0 0.3em;font-size:0.8em;font-family:inherit"
)


def key_cap(key: str) -> str:
    """A key as it stands on the keyboard, as HTML."""
    return f'<kbd style="{_CAP}">{html.escape(KEY_NAMES.get(key, key.upper()))}</kbd>'


def key_caps(keys: Sequence[str], labels: Sequence[str]) -> str:
    """Levels with their keys in one line, as HTML; labels are escaped."""
    caps = "".join(
        f'<span style="white-space:nowrap">{key_cap(key)} {html.escape(label)}</span>'
        for key, label in zip(keys, labels, strict=True)
    )
    return (
        '<div style="display:flex;flex-wrap:wrap;gap:0.3rem 1rem;font-size:0.9rem">'
        f'<span style="opacity:0.7">Keys</span>{caps}</div>'
    )


def help_html(task: AnnotationTask, labels: Sequence[str]) -> str:
    """All keys of the work view, as HTML; labels are escaped."""
    lines = "".join(
        f'<div style="break-inside:avoid;display:flex;gap:0.6em;align-items:baseline"><span>{key_cap(key)}</span>'
        f'<span><b>{html.escape(label)}</b> <span style="opacity:0.75">{html.escape(what)}</span></span></div>'
        for _, label, key, _, what in keys_of(task)
    )
    return (
        f'<div class="aug-keys" style="font-size:0.9rem;line-height:1.8">{key_caps([level.key for level in task.levels], labels)}'
        f'<div style="columns:20rem;margin-top:0.5rem">{lines}</div></div>'
    )
