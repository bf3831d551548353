"""A guideline is obeyed as Markdown, but nothing in it loads by itself."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from augsbert_core.ui.annotate_guideline import without_images

PIECES = (
    "![", "!", "[", "]", "(", ")", "](", "\\", "`", "``", "*", "**", ">", "- ", "\n", "\n\n", "    ", "\t", " ", "<", ">",
    "http://127.0.0.1/p.png", "[a]: http://127.0.0.1/p.png\n", "a", "p", '"t"', "&#33;", "&excl;", "\u200b", "\u2060",
    ":red[", "$", "|", "~~", "\r", "\f", "\0", "\\!",
)  # fmt: skip


def tokens(text: str) -> list[str]:
    found = []
    for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text):
        found += [token.type, *(child.type for child in token.children or [])]
    return found


@pytest.mark.parametrize(
    "text",
    [
        "![p](http://127.0.0.1/p.png)",
        "![p][a]\n\n[a]: http://127.0.0.1/p.png",
        "![a]\n\n[a]: <http://127.0.0.1/p.png> 'title'",
        "![a][]\n\n[a]: http://127.0.0.1/p.png",
        "[![p](http://127.0.0.1/p.png)](http://127.0.0.1/)",
        "![p\nq](\nhttp://127.0.0.1/p.png\n)",
        "\\\\![p](http://127.0.0.1/p.png)",
        "> - ![p](<http://127.0.0.1/p.png> 'x')",
        "!![![p](http://127.0.0.1/p.png)](http://127.0.0.1/q.png)",
    ],
)
def test_an_image_in_any_syntax_is_no_image_any_more(text: str) -> None:
    assert "image" in tokens(text)  # else this test shows nothing
    assert "image" not in tokens(without_images(text))


@settings(max_examples=500, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_no_text_at_all_holds_an_image(text: str) -> None:
    assert "image" not in tokens(without_images(text))


def test_all_else_stays_as_it_was_written() -> None:
    text = "**5** the same!\n\n- [more](http://127.0.0.1/) \\[x\\]\n\n$a! [b]$ `!x`"
    assert without_images(text) == text
    assert "link_open" in tokens(without_images("![p](http://127.0.0.1/p.png)"))
