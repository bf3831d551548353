"""What columns are called in the sentence-pair files of this world, and what counts as a number."""

import math
import re


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_STEMS = _words(
    "sentence sent s text question q string str argument arg phrase document doc title segment "
    "utterance snippet passage paragraph query input premise"
)
# "#1 String" of MRPC tidies to "1string", hence the numbers in front.
PAIR_NAMES: tuple[tuple[str, str], ...] = (
    *((stem + one, stem + two) for one, two in (("1", "2"), ("a", "b")) for stem in _STEMS),
    *(
        (one + stem, two + stem)
        for one, two in (("1", "2"), ("first", "second"))
        for stem in _STEMS
    ),
    ("premise", "hypothesis"),
    *((stem + "0", stem + "1") for stem in ("set", "pair", "sentences", "texts", "sentence")),
    ("context", "hypothesis"),
    ("sentence", "paraphrase"),
    ("anchor", "positive"),
    ("source", "target"),
    ("left", "right"),
    ("first", "second"),
    ("a", "b"),
)
SCORE_NAMES = _words(
    "score goldscore similarityscore relatednessscore humanscore averagescore meanscore similarity "
    "relatedness sim rating gold isduplicate duplicate isparaphrase paraphrase quality label labels "
    "noisylabel"
)
LABEL_NAMES = _words(
    "goldlabel entailmentjudgment entailmentjudgement entailmentlabel label labels class entailment relation "
    "judgment judgement"
)
TRIPLET_NAMES: tuple[tuple[str, str, str], ...] = (
    ("anchor", "positive", "negative"),
    ("query", "positive", "negative"),
    ("sentence1", "sentence2", "sentence3"),
    ("sent0", "sent1", "hardneg"),
)
SENTENCE_NAMES = _words("sentence sentences text texts question query utterance content document")
SPLIT_NAMES = _words("split partition subset set semevalset")
GROUP_NAMES = _words("genre group topic domain category")
ID_NAMES = _words(
    "id sourceid pairid questionpairid sentencepairid exampleid rowid uid guid sid index idx"
)
"""What the column is called that names each row; ids of single sentences are not among them."""
_OTHER_NAMES = _words(
    "year source source1 source2 filename file url qid1 qid2 1id 2id captionid promptid dataset oldindex "
    "entailmentab entailmentba sentenceaoriginal sentenceboriginal sentenceadataset sentencebdataset "
    "sentence1parse sentence2parse sentence1binaryparse sentence2binaryparse label1 label2 label3 label4 label5 "
    # those of the workbench's own exports
    "sourcefile sourceline scaledscore labelerscore status correction rank samplerscore bm25rank semanticrank "
    "strategy labeler ordergap labelspread annotator reviewedat"
)
SPLIT_WORDS = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("dev", "development", "val", "valid", "validation", "trial"), "dev"),
    **dict.fromkeys(("test", "testing"), "test"),
}
# Words too short or too common in running text to prove that a line is a header.
_WEAK_NAMES = {"a", "b", "first", "second", "left", "right", "set"}
_TELLING_NAMES = (
    {name for pair in PAIR_NAMES for name in pair}
    | {name for names in TRIPLET_NAMES for name in names}
    | {"goldlabel", *SCORE_NAMES, *SENTENCE_NAMES}
) - _WEAK_NAMES
_KNOWN_NAMES = _TELLING_NAMES | {*SPLIT_NAMES, *GROUP_NAMES, *ID_NAMES, *LABEL_NAMES, *_OTHER_NAMES}
NLI_LABELS = ("entailment", "neutral", "contradiction")
"""What a premise says about a hypothesis; in files also 0, 1 and 2, in this order, as in SNLI."""
_NLI_WORDS = {label: label for label in NLI_LABELS} | {
    "contradictory": "contradiction",  # XNLI
    "e": "entailment",  # ANLI
    "n": "neutral",
    "c": "contradiction",
}
_DECIMAL_COMMA = re.compile(r"\s*[+-]?[0-9]+,[0-9]+\s*")
_MISSING_WORDS = {"", "-", "?", "na", "n/a", "nan", "none", "null", "inf", "-inf"}
_NAME_LIKE = re.compile(r"[\w#./() -]{1,40}")


def tidy(name: str) -> str:
    """A column name without case, spaces and punctuation: "Sentence_1" and "sentence 1" are one."""
    return "".join(character for character in name.lower() if character.isalnum())


def parse_number(cell: str) -> float | None:
    """The number in a cell (perhaps NaN or infinite), "4,5" read as 4.5; None when there is none.

    White space around it and a typographic minus are harmless; digits of other scripts are no number.
    """
    if not cell.isascii():
        cell = cell.strip().replace("\N{MINUS SIGN}", "-")
        if not cell.isascii():
            return None
    try:
        value = float(cell)
    except ValueError:
        return float(cell.replace(",", ".")) if _DECIMAL_COMMA.fullmatch(cell) else None
    return None if "_" in cell else value


def is_number(cell: str) -> bool:
    """Whether a cell holds one finite number."""
    value = parse_number(cell)
    return value is not None and math.isfinite(value)


def nli_label(cell: str) -> str | None:
    """The word for an NLI label, written as a word or its letter in any case or as 0, 1, 2; None for anything else."""
    word = cell.strip().lower()
    if word in _NLI_WORDS:
        return _NLI_WORDS[word]
    value = parse_number(word)
    return NLI_LABELS[int(value)] if value in (0.0, 1.0, 2.0) else None


def count_known_names(cells: list[str]) -> int:
    """How many cells are names of columns that we know; 0 unless a sentence or score is among them."""
    tidied = [tidy(cell) for cell in cells[:100]]
    if not any(name in _TELLING_NAMES for name in tidied):
        return 0
    return sum(name in _KNOWN_NAMES for name in tidied)


def looks_like_header(first: list[str], others: list[list[str]]) -> bool:
    """Whether the first row names the columns, judged against up to a few hundred other rows."""
    cells = [cell.strip() for cell in first[:100]]
    if not any(cells) or any(is_number(cell) for cell in cells):
        return False
    if count_known_names(cells) >= sum(map(bool, cells)) / 2:
        return True
    return _names_above_numbers(cells, [row for row in others if len(row) == len(first)])


def _names_above_numbers(cells: list[str], others: list[list[str]]) -> bool:
    """Short names above a column of numbers and above longer texts: a header in unknown words."""
    if len(others) < 2 or not all(map(_could_be_name, cells)):
        return False
    has_numbers = False
    for column, cell in enumerate(cells):
        below = [row[column] for row in others]
        if sum(map(is_number, below)) >= 0.9 * len(below):
            has_numbers = True
        elif sum(len(text.split()) for text in below) <= len(cell.split()) * len(below):
            return False
    return has_numbers


def _could_be_name(cell: str) -> bool:
    return (
        cell.lower() not in _MISSING_WORDS
        and _NAME_LIKE.fullmatch(cell) is not None
        and not cell.endswith(".")
        and len(cell.split()) <= 3
    )
