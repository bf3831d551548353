"""The keys of the work view: which there are, how they are shown, and which presses count."""

import html
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from augsbert_core.storage.records import AnnotationTask

QUIET_SECONDS = 0.15
"""A key that comes sooner after a pair is drawn was pressed before it could be seen, and was meant for the pair before."""

REPEAT_SECONDS = 0.8
"""A key that has been silent for so long was pressed anew: one that is held down comes again sooner (X11 waits 660 ms
before the first time, Windows and GNOME 500; on a busy machine later ones reach the server up to 600 ms apart)."""

TOO_SOON = "Key ignored: the pair had only just appeared."
HELD_DOWN = "Key ignored: it is held down, or came twice. Let go of it for a second."

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


TUPLE_KEYS = (
    ("1", "1 to 4", "First the most similar pair, then the least similar. The second key saves."),
    ("Backspace", "Back", "Pick another pair as the most similar."),
    ("s", "Skip", "The tuple comes back once, after all others."),
    ("u", "Undo", "Take back your last pick, or your last answer; again for the one before."),
    ("h", "Help", "Show all keys, or hide them."),
)
"""Of best-worst tasks: key, label, what it does."""

KEY_NAMES = {"left": "←", "right": "→", "Backspace": "⌫"}

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
    levels = key_caps([level.key for level in task.levels], labels)
    return keys_html([(key, label, what) for _, label, key, _, what in keys_of(task)], levels)


def keys_html(keys: Sequence[tuple[str, str, str]], levels: str = "") -> str:
    """Keys with what each does, as HTML. keys: key, label, what; levels: HTML that stands above them."""
    lines = "".join(
        f'<div style="break-inside:avoid;display:flex;gap:0.6em;align-items:baseline"><span>{key_cap(key)}</span>'
        f'<span><b>{html.escape(label)}</b> <span style="opacity:0.75">{html.escape(what)}</span></span></div>'
        for key, label, what in keys
    )
    return (
        f'<div class="aug-keys" style="font-size:0.9rem;line-height:1.8">{levels}'
        f'<div style="columns:20rem;margin-top:0.5rem">{lines}</div></div>'
    )


@dataclass
class KeyGuard:
    """Tells a key that is meant for the pair on the screen from one that is held down, or was meant for the pair before.

    The browser does not say whether a key repeats. A key that differs from the last one was pressed anew: it counts
    `QUIET_SECONDS` after the pair was there. The same key could be repeating, and has to have been silent.

    shown_at: when the pair was there for the first time, None before. last, last_at: the key that came last, and when.
    """

    shown_at: float | None = None
    last: Hashable = None
    last_at: float | None = None

    def new_pair(self) -> None:
        """Another pair is to be drawn."""
        self.shown_at = None

    def drawn(self, now: float) -> None:
        """The view is drawn to its end: from now on the pair can be read."""
        if self.shown_at is None:
            self.shown_at = now

    def refusal(self, key: Hashable, now: float, *, judges: bool = True) -> str:
        """Take note of a key; returns why it does not count, "" when it does.

        judges: it decides on the pair, which has to have been seen for that.
        """
        told = ""
        if key == self.last and self.last_at is not None and now - self.last_at < REPEAT_SECONDS:
            told = HELD_DOWN
        elif judges and (self.shown_at is None or now - self.shown_at < QUIET_SECONDS):
            told = TOO_SOON
        self.last, self.last_at = key, now
        return told


def score_label(task: AnnotationTask, labels: Sequence[str], score: float) -> str:
    """A score as the level that it was given by, or else as a number on the scale of the task."""
    for level, label in zip(task.levels, labels, strict=True):
        if abs(level.score - score) < 1e-9:
            return label
    return suggestion_text(task, labels, score)


def suggestion_text(task: AnnotationTask, labels: Sequence[str], score: float) -> str:
    """A model's score: a number on the scale of the labels, or, on one of words, from 0 to 1 with the nearest word."""
    try:
        low, high = float(labels[0]), float(labels[-1])
    except ValueError:
        nearest = min(range(len(labels)), key=lambda place: abs(task.levels[place].score - score))
        return f"{score:.2f} from 0 to 1, nearest to {labels[nearest]}"
    return f"{low + score * (high - low):.2f}"
