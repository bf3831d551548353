"""The hand-out of a lesson: what was asked, answered, seen live, and what the paper found, to print or to keep."""

import re
from dataclasses import dataclass
from html import escape

from augsbert_core.learn.paper import Fact


@dataclass(frozen=True)
class LessonFacts:
    """One lesson as it went. answer: what the person said, "" when not answered; correct: the right answer in words;
    right: whether it was, None when there is nothing to judge. rows: live results as (what, value) texts;
    rows_note: where they are from. teacher_note: shown only when asked for."""

    title: str
    idea: str
    question: str
    answer: str = ""
    right: bool | None = None
    correct: str = ""
    rows: tuple[tuple[str, str], ...] = ()
    rows_note: str = ""
    paper: tuple[Fact, ...] = ()
    teacher_note: str = ""


@dataclass(frozen=True)
class HandoutFacts:
    """All that a hand-out says. date: as it shall be printed. footer: one line at the end."""

    title: str
    person: str
    date: str
    lessons: tuple[LessonFacts, ...]
    footer: str = ""


def markdown(facts: HandoutFacts, *, teacher: bool = False) -> str:
    """The hand-out as Markdown; no text of the facts is read as markup."""
    parts = [f"# {_md(facts.title)}", _md(_byline(facts)), _md(_tally_text(facts))]
    for number, lesson in enumerate(facts.lessons, start=1):
        parts += [f"## {number}. {_md(lesson.title)}", _md(lesson.idea)]
        if lesson.question:
            parts.append(f"**Question:** {_md(lesson.question)}")
            parts.append("\n".join(f"- {name}: {_md(text)}" for name, text in _answers(lesson)))
        if lesson.rows:
            table = ["| What was seen | Value |", "|---|---|"]
            table += [f"| {_md(name)} | {_md(text)} |" for name, text in lesson.rows]
            parts.append("\n".join(table))
        if lesson.rows_note:
            parts.append(_md(lesson.rows_note))
        if lesson.paper:
            found = [f"- {_md(fact.text)} ({_md(_source(fact))})" for fact in lesson.paper]
            parts.append("\n".join(["**What the paper found**", "", *found]))
        if teacher and lesson.teacher_note:
            parts.append(f"**For the teacher:** {_md(lesson.teacher_note)}")
    if facts.footer:
        parts += ["---", _md(facts.footer)]
    return "\n\n".join(part for part in parts if part) + "\n"


def html(facts: HandoutFacts, *, teacher: bool = False) -> str:
    """The hand-out as one printable page (A4): no scripts, nothing fetched, every text escaped."""
    title = escape(facts.title)
    lessons = "\n".join(
        _lesson_html(number, lesson, teacher)
        for number, lesson in enumerate(facts.lessons, start=1)
    )
    footer = f"<footer>{escape(facts.footer)}</footer>\n" if facts.footer else ""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>\n{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        f'<header>\n<h1>{title}</h1>\n<p class="by">{escape(_byline(facts))}</p>\n'
        f"{_tally_html(facts)}</header>\n{lessons}\n{footer}</main>\n</body>\n</html>\n"
    )


def tally(facts: HandoutFacts) -> tuple[int, int]:
    """How many answers were right, of how many that can be judged."""
    judged = [lesson.right for lesson in facts.lessons if lesson.right is not None]
    return sum(judged), len(judged)


def _byline(facts: HandoutFacts) -> str:
    return " · ".join(text for text in (facts.person, facts.date) if text)


def _source(fact: Fact) -> str:
    return fact.source if not fact.note else f"{fact.source}. {fact.note.rstrip('.')}"


def _answers(lesson: LessonFacts) -> list[tuple[str, str]]:
    """The prediction, the verdict in words (never by colour alone), and the right answer."""
    said = lesson.answer or "not answered"
    verdict = {True: " ✓ right", False: " ✗ not right", None: ""}[lesson.right]
    lines = [("Prediction", said + verdict)]
    if lesson.correct:
        lines.append(("Answer", lesson.correct))
    return lines


def _tally_text(facts: HandoutFacts) -> str:
    right, judged = tally(facts)
    return f"{right} of {judged} predictions right" if judged else ""


def _tally_html(facts: HandoutFacts) -> str:
    told = _tally_text(facts)
    return f'<p class="by">{told}</p>\n' if told else ""


def _lesson_html(number: int, lesson: LessonFacts, teacher: bool) -> str:
    parts = [f"<h2>{number}. {escape(lesson.title)}</h2>"]
    if lesson.idea:
        parts.append(f"<p>{escape(lesson.idea)}</p>")
    if lesson.question:
        answers = "".join(
            f"<dt>{name}</dt><dd>{escape(text)}</dd>" for name, text in _answers(lesson)
        )
        parts.append(
            f'<div class="ask"><p class="question">{escape(lesson.question)}</p>'
            f"<dl>{answers}</dl></div>"
        )
    if lesson.rows:
        rows = "".join(
            f'<tr><th scope="row">{escape(name)}</th><td>{escape(text)}</td></tr>'
            for name, text in lesson.rows
        )
        parts.append(f"<table><caption>What was seen</caption><tbody>{rows}</tbody></table>")
    if lesson.rows_note:
        parts.append(f'<p class="note">{escape(lesson.rows_note)}</p>')
    if lesson.paper:
        found = "".join(
            f'<li>{escape(fact.text)} <span class="source">{escape(_source(fact))}</span></li>'
            for fact in lesson.paper
        )
        parts.append(f"<h3>What the paper found</h3>\n<ul>{found}</ul>")
    if teacher and lesson.teacher_note:
        parts.append(
            f'<p class="teacher"><strong>For the teacher.</strong> {escape(lesson.teacher_note)}</p>'
        )
    return "<section>\n" + "\n".join(parts) + "\n</section>"


_INLINE = re.compile(r"([\\`*_\[\]<>|~$&])")
_AT_START = re.compile(r"^(?:([-+#=])|(\d{1,9})([.)])(?=\s|$))")


def _md(text: str) -> str:
    """One line of plain text in Markdown: what could be markup is escaped, line breaks become spaces."""
    line = _INLINE.sub(r"\\\1", " ".join(text.split()))
    return _AT_START.sub(lambda m: f"\\{m[1]}" if m[1] else f"{m[2]}\\{m[3]}", line)


_STYLE = """\
@page { size: A4; margin: 18mm 16mm; }
:root { color-scheme: light; }
body { margin: 0; background: #fff; color: #22282b;
  font: 11pt/1.45 system-ui, -apple-system, "Segoe UI", "Helvetica Neue", Arial, sans-serif; }
main { max-width: 178mm; margin: 0 auto; padding: 8mm 6mm; }
h1 { font: 600 21pt/1.2 Georgia, "Times New Roman", serif; margin: 0 0 2mm; }
h2 { font: 600 14pt/1.25 Georgia, "Times New Roman", serif; margin: 0 0 2mm; break-after: avoid; }
h3 { font-size: 10.5pt; margin: 4mm 0 1mm; break-after: avoid; }
p { margin: 0 0 2.5mm; }
p, dd, dt, th, td, li, h1, h2 { overflow-wrap: anywhere; }
header { border-bottom: 2px solid #c4830f; padding-bottom: 3mm; margin-bottom: 6mm; }
.by { color: #535d63; margin: 0; }
section { margin: 0 0 7mm; }
.ask, table, .teacher, li { break-inside: avoid; }
.ask { border-left: 3px solid #4688bc; padding: 1.5mm 0 1.5mm 4mm; margin: 3mm 0; }
.question { font-weight: 600; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .8mm 4mm; margin: 0; }
dt { color: #535d63; }
dd { margin: 0; }
table { border-collapse: collapse; width: 100%; margin: 3mm 0 1.5mm; font-size: 10pt; }
caption { text-align: left; font-weight: 600; padding-bottom: 1mm; }
th, td { border-top: 1px solid #dcd8cf; padding: 1.2mm 3mm 1.2mm 0; text-align: left;
  font-weight: 400; vertical-align: top; }
td { text-align: right; padding-right: 0; font-variant-numeric: tabular-nums; }
.note, .source { color: #535d63; font-size: 9.5pt; }
.source::before { content: "\\2014\\00a0"; }
ul { margin: 0; padding-left: 5mm; }
li { margin: 0 0 1.2mm; }
.teacher { background: #f3f1ec; padding: 2.5mm 4mm; border-radius: 1.5mm;
  print-color-adjust: exact; -webkit-print-color-adjust: exact; }
footer { border-top: 1px solid #dcd8cf; padding-top: 2mm; color: #535d63; font-size: 9.5pt; }
@media print { main { max-width: none; padding: 0; } }
"""
