"""The hand-out: what is said in it, and that no text of the facts is ever read as markup."""

from dataclasses import replace
from html.parser import HTMLParser

from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from augsbert_core.learn.handout import HandoutFacts, LessonFacts, html, markdown, tally
from augsbert_core.learn.paper import Fact

SAMPLING = LessonFacts(
    title="Five ways to choose pairs",
    idea="Which pairs are chosen decides what can be learned.",
    question="Which strategy gives the most pairs below 0.2?",
    answer="Random pairs",
    right=True,
    correct="Random pairs, 93 %",
    rows=(("Random pairs", "93 %"), ("BM25", "21 %")),
    rows_note="Measured on this computer.",
    paper=(Fact("Random did harm.", "Table 5", "Spanish-STS."),),
    teacher_note="8 minutes.",
)
FACTS = HandoutFacts(
    title="Augmented SBERT, hands on",
    person="Ada",
    date="30 November 2026",
    lessons=(SAMPLING, LessonFacts("Label", "Silver.", "How many?", right=False, correct="Ten")),
    footer="Made with the AugSBERT Workbench.",
)


class Seen(HTMLParser):
    """The tags of a page, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(f"{name}={value}" for name, value in attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def plain(text: str) -> str:
    return " ".join(text.split())


def test_the_page_says_what_was_asked_answered_seen_and_found() -> None:
    text = plain(Seen(html(FACTS)).text)
    for part in (
        "Augmented SBERT, hands on",
        "Ada · 30 November 2026",
        "1 of 2 predictions right",
        "1. Five ways to choose pairs",
        "Random pairs ✓ right",
        "Random pairs, 93 %",
        "not answered ✗ not right",
        "Random did harm. Table 5. Spanish-STS",
        "Made with the AugSBERT Workbench.",
    ):
        assert part in text


def test_the_page_is_self_contained_and_for_a4() -> None:
    page = html(FACTS)
    assert "size: A4" in page
    for fetched in ("<script", "http://", "https://", "url(", "@import", "<link", "<img"):
        assert fetched not in page


def test_notes_for_the_teacher_only_when_asked_for() -> None:
    assert "8 minutes." not in html(FACTS)
    assert "8 minutes" not in markdown(FACTS)
    assert "8 minutes." in html(FACTS, teacher=True)
    assert "For the teacher" in markdown(FACTS, teacher=True)


def test_a_prediction_that_nobody_judges_has_no_verdict() -> None:
    facts = replace(FACTS, lessons=(replace(SAMPLING, right=None),))
    assert tally(facts) == (0, 0)
    assert not set("✓✗") & set(html(facts))
    assert tally(FACTS) == (1, 2)


def test_markdown_reads_as_the_page_does() -> None:
    text = markdown(FACTS)
    assert text.startswith("# Augmented SBERT, hands on\n\nAda · 30 November 2026\n")
    assert "## 1. Five ways to choose pairs" in text
    assert "| Random pairs | 93 % |" in text
    tags = Seen(MarkdownIt("commonmark").enable("table").render(text)).tags
    assert [tag for tag, _ in tags if tag in {"h1", "h2", "table"}] == ["h1", "h2", "table", "h2"]


any_text = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp"))
    | st.sampled_from(list("<>&\"'`*_[]()#|\\-+.!~1 \n$:")),
    min_size=1,
    max_size=40,
).filter(str.strip)
nasty = st.sampled_from(
    [
        "<script>alert(1)</script>",
        "</style><img src=x onerror=alert(1)>",
        '"><b>bold</b>',
        "&lt;b&gt; &amp; &#60;",
        "[link](javascript:alert(1))",
        "![i](x) `code` **b** | cell |",
        "1. # - + > ~~~",
        "--- | ---",
        "<!-- comment",
        "]]>",
        "http://example.org www.example.org",
    ]
)


def filled(text: str) -> HandoutFacts:
    """Facts all of whose texts are this one."""
    lesson = LessonFacts(
        text, text, text, text, True, text, ((text, text),), text, (Fact(text, text, text),), text
    )
    return HandoutFacts(text, text, text, (lesson,), text)


@settings(max_examples=150, deadline=None)
@given(any_text | nasty)
def test_no_text_becomes_markup_of_the_page(text: str) -> None:
    seen = Seen(html(filled(text), teacher=True))
    assert seen.tags == Seen(html(filled("x"), teacher=True)).tags
    assert text in seen.text


@settings(max_examples=150, deadline=None)
@given(any_text | nasty)
def test_no_text_becomes_markup_of_the_markdown(text: str) -> None:
    reader = MarkdownIt("commonmark").enable("table")
    seen = Seen(reader.render(markdown(filled(text), teacher=True)))
    expected = Seen(reader.render(markdown(filled("x"), teacher=True)))
    assert seen.tags == expected.tags
    assert plain(text) in plain(seen.text)
