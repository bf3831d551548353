"""Two sentences to be read against each other, the words that differ marked, or, where most do, those they share."""

import html
from collections.abc import Sequence

import streamlit as st

from augsbert_core.word_diff import Span, tokens_of, word_diff

LABELS = ("Sentence 1", "Sentence 2")

LEAST_SHARED = 0.2
"""Where less of the words is shared, marks on all others would only make the sentences hard to read."""

# Styles stand at the elements: a sheet would have to be sent again with every pair, and colours follow the theme.
_PAIR = "display:flex;flex-wrap:wrap;gap:0.75rem"
_SIDE = (
    "flex:1 1 17rem;min-width:0;border:1px solid color-mix(in srgb, currentColor 18%, transparent);"
    "border-radius:0.5rem;padding:0.7rem 1rem 0.9rem"
)
_LABEL = "font-size:0.8rem;opacity:0.7;margin-bottom:0.25rem"
_TEXT = (
    "font-family:'Source Serif',Georgia,serif;font-size:{size}rem;line-height:1.5;max-height:{height}vh;"
    "overflow:auto;white-space:pre-line;overflow-wrap:anywhere;unicode-bidi:plaintext"
)
_MARK = (
    "color:inherit;background:color-mix(in srgb, #c4830f 26%, transparent);border-radius:0.2em;"
    "text-decoration:underline 2px #c4830f;text-underline-offset:0.22em"
)
_SHARED_MARK = (
    "color:inherit;background:color-mix(in srgb, #2c8c86 22%, transparent);border-radius:0.2em;"
    "text-decoration:underline 2px dotted #2c8c86;text-underline-offset:0.22em"
)
_NOTE = "flex-basis:100%;font-size:0.8rem;opacity:0.7"


def show_pair(
    text1: str, text2: str, *, labels: tuple[str, str] = LABELS, diff: bool = True
) -> None:
    """Show two sentences in large type, one above the other where there is no room; texts are shown as they are.

    labels: what stands above each. diff: mark words as `marked_pair` does, by colour and underline.
    """
    st.html(pair_html(text1, text2, labels=labels, diff=diff))


def pair_html(
    text1: str, text2: str, *, labels: tuple[str, str] = LABELS, diff: bool = True
) -> str:
    """The HTML of `show_pair`; everything that users wrote is escaped."""
    shown1, shown2, note = html.escape(text1), html.escape(text2), ""
    if diff:
        shown1, shown2, note = marked_pair(text1, text2)
    longest = max(len(text1), len(text2))
    style = _TEXT.format(size=1.4 if longest <= 200 else 1.2 if longest <= 600 else 1.05, height=45)
    # Keyboards reach a text that scrolls only when it can have the focus.
    sides = "".join(
        _side(label, shown, style, focus=len(text) > 600)
        for label, shown, text in zip(labels, (shown1, shown2), (text1, text2), strict=True)
    )
    return f'<div class="aug-pair" style="{_PAIR}">{sides}{note}</div>'


def marked_pair(text1: str, text2: str) -> tuple[str, str, str]:
    """Both sentences with words marked, and a note for the small print, all escaped HTML.

    Marked are the words that only one of them has; where less than `LEAST_SHARED` of the words is shared, those that
    are, and the note says so. Otherwise the note is "".
    """
    spans1, spans2 = word_diff(text1, text2)
    n_words = [sum(_n_words(span.text) for span in spans) for spans in (spans1, spans2)]
    n_shared = sum(_n_words(span.text) for span in spans1 if span.same)
    if 2 * n_shared >= LEAST_SHARED * sum(n_words):
        return _marked(spans1, _MARK, same=False), _marked(spans2, _MARK, same=False), ""
    told = (
        "Marked: the few words that both sentences have."
        if n_shared
        else "Hardly a word in common: nothing is marked."
    )
    note = f'<div class="aug-note" style="{_NOTE}">{told}</div>'
    return (
        _marked(spans1, _SHARED_MARK, same=True),
        _marked(spans2, _SHARED_MARK, same=True),
        note,
    )


def _marked(spans: Sequence[Span], style: str, *, same: bool) -> str:
    """One sentence with its spans of one kind marked, escaped. A shared sign or space alone says nothing."""
    return "".join(
        _mark(span.text, style)
        if span.same == same and (not same or _n_words(span.text))
        else html.escape(span.text)
        for span in spans
    )


def _mark(text: str, style: str) -> str:
    """A piece of a sentence marked, but for the white space at its ends: a mark there would touch the next word."""
    inner = text.strip()
    before, _, after = text.partition(inner) if inner else (text, "", "")
    marked = f'<mark style="{style}">{html.escape(inner)}</mark>' if inner else ""
    return f"{before}{marked}{after}"


def _n_words(text: str) -> int:
    return sum(any(sign.isalnum() for sign in token) for token in tokens_of(text))


def _side(label: str, shown: str, style: str, *, focus: bool) -> str:
    reach = ' tabindex="0"' if focus else ""
    return (
        f'<div style="{_SIDE}"><div style="{_LABEL}">{html.escape(label)}</div>'
        f'<div class="aug-sentence" dir="auto" style="{style}"{reach}>{shown}</div></div>'
    )
