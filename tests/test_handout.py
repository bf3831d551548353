"""The hand-out: what is said in it, and that no text of the facts is ever read as markup."""

from dataclasses import asdict, replace
from datetime import UTC, datetime
from html.parser import HTMLParser

from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from augsbert_core.learn.handout import HandoutFacts, LessonFacts, html, markdown, tally
from augsbert_core.learn.lessons import LESSONS
from augsbert_core.learn.paper import Fact
from augsbert_core.steps import learn
from augsbert_core.storage.lessons import LessonProgress
from augsbert_core.ui.learn_handout import handout_facts

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


def all_revealed() -> HandoutFacts:
    """The hand-out of somebody who has seen all eight steps, with the shipped results."""
    times = learn.Times(0.6, None, 0.01, 0.02, 500.0, 200.0, 2.0, 96, "cpu")
    judged = [
        {"sentence1": "A dog runs.", "sentence2": "A dog walks.", "score": 0.8, "mine": 0.5},
        {"sentence1": "A cat.", "sentence2": "A car.", "score": 0.1, "mine": None},
    ]
    details = {"encoders": {"times": asdict(times)}, "labelling": {"judged": judged}}
    progress = {
        lesson.key: LessonProgress(
            person="Ada",
            lesson=lesson.key,
            answer="",
            answered_at="2026-11-30",
            revealed_at="2026-11-30",
            details=details.get(lesson.key, {}),
        )
        for lesson in LESSONS
    }
    return handout_facts("Ada", progress, datetime(2026, 11, 30, tzinfo=UTC))


def test_no_two_rows_of_a_lesson_have_the_same_name() -> None:
    for lesson in all_revealed().lessons:
        names = [name for name, _ in lesson.rows]
        assert len(set(names)) == len(names), lesson.title


def test_the_seventh_step_can_be_answered_from_its_rows() -> None:
    lesson = all_revealed().lessons[6]
    rows = dict(lesson.rows)
    assert rows["Small student · AugSBERT · BM25"] == (
        "70.2 (62.6 to 76.6); +3.5 (+0.3 to +6.9) against gold only"
    )
    assert "−2.1 to +1.7" in rows["Full student · AugSBERT · BM25"]
    assert rows["Small student · Gold only, as many steps"] == "66.7 (58.7 to 73.6)"
    assert "same test pairs" in lesson.rows_note
    assert "**" not in lesson.rows_note


def test_the_labeler_of_the_old_topics_is_called_so() -> None:
    rows = dict(all_revealed().lessons[7].rows)
    assert "Labeler of the old topics" in rows
    assert "against the student of the old topics" in rows["AugSBERT: silver of the new topics"]


def test_a_pair_that_was_not_scored_is_no_score() -> None:
    rows = dict(all_revealed().lessons[4].rows)
    assert rows["A dog runs. / A dog walks."] == "you 2.5, labeler 4.0"
    assert rows["A cat. / A car."] == "not scored by you, labeler 0.5"


def test_misprints_of_the_paper_are_for_the_teacher() -> None:
    facts = all_revealed()
    assert "72,3540" not in html(facts)
    assert "72,3540" in html(facts, teacher=True)


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
    assert "1 of 2 predictions right" in text
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
