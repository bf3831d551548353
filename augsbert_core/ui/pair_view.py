"""Two sentences to be read against each other, the words that differ marked."""

import html
from collections.abc import Sequence

import streamlit as st

from augsbert_core.word_diff import Span, word_diff

LABELS = ("Sentence 1", "Sentence 2")

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
    "color:inherit;background:color-mix(in srgb, #d9951a 26%, transparent);border-radius:0.2em;"
    "text-decoration:underline 2px #c98a1b;text-underline-offset:0.22em"
)


def show_pair(
    text1: str, text2: str, *, labels: tuple[str, str] = LABELS, diff: bool = True
) -> None:
    """Show two sentences in large type, one above the other where there is no room; texts are shown as they are.

    labels: what stands above each. diff: mark the words that only one of them has, by colour and underline.
    """
    st.html(pair_html(text1, text2, labels=labels, diff=diff))


def pair_html(
    text1: str, text2: str, *, labels: tuple[str, str] = LABELS, diff: bool = True
) -> str:
    """The HTML of `show_pair`; everything that users wrote is escaped."""
    spans1, spans2 = word_diff(text1, text2) if diff else ([Span(text1, True)], [Span(text2, True)])
    longest = max(len(text1), len(text2))
    style = _TEXT.format(size=1.4 if longest <= 200 else 1.2 if longest <= 600 else 1.05, height=45)
    sides = _side(labels[0], spans1, style) + _side(labels[1], spans2, style)
    return f'<div class="aug-pair" style="{_PAIR}">{sides}</div>'


def sentence_html(spans: Sequence[Span]) -> str:
    """One sentence with the words that the other lacks marked, escaped."""
    return "".join(
        html.escape(span.text)
        if span.same
        else f'<mark style="{_MARK}">{html.escape(span.text)}</mark>'
        for span in spans
    )


def _side(label: str, spans: Sequence[Span], style: str) -> str:
    # Keyboards reach a text that scrolls only when it can have the focus.
    focus = ' tabindex="0"' if sum(len(span.text) for span in spans) > 600 else ""
    return (
        f'<div style="{_SIDE}"><div style="{_LABEL}">{html.escape(label)}</div>'
        f'<div class="aug-sentence" dir="auto" style="{style}"{focus}>{sentence_html(spans)}</div></div>'
    )
