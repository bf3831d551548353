"""The paper's numbers as data: they agree with each other and with what the paper's text says of them."""

import re
from itertools import combinations

import pytest

from augsbert_core.learn import paper
from augsbert_core.learn.lessons import LESSONS
from augsbert_core.sampling import SAMPLERS


def test_a_value_and_its_spread_by_table_data_set_and_strategy() -> None:
    assert paper.value("table5", "spanish-sts", "none") == 72.07
    assert paper.value("table5", "spanish-sts", "bm25") == 75.08
    assert paper.spread("table5", "spanish-sts", "bm25") == 1.94
    assert paper.value("table5", "spanish-sts", "kde") == 74.67
    assert paper.value("table5", "spanish-sts", "random") == 62.05
    sizes = [paper.value("table11", "spanish-sts", row) for row in ("bm25", "kde", "random")]
    assert sizes == [3_964, 230_364, 911_072]


def test_what_could_not_be_checked_is_left_out_and_said() -> None:
    assert paper.value("table5", "mrpc", "nlpaug") is None
    assert paper.spread("table5", "mrpc", "nlpaug") is None
    assert paper.value("table6", "sprint", "augsbert") is None
    assert paper.gain("mrpc", "nlpaug") is None
    for table in paper.PAPER.values():
        missing = len(table.columns) * len(table.rows) - len(table.cells)
        assert not missing or "could not be checked" in table.note


@pytest.mark.parametrize(
    "where",
    [("table7", "mrpc", "bm25"), ("table5", "stsb", "bm25"), ("table5", "mrpc", "bm26")],
)
def test_an_unknown_name_is_an_error_that_lists_the_known_ones(where: tuple[str, str, str]) -> None:
    with pytest.raises(ValueError, match=r"table5|spanish-sts|bm25"):
        paper.value(*where)


def test_every_cell_has_a_column_and_a_row() -> None:
    for table in paper.PAPER.values():
        for column, row in table.cells:
            assert table.cell(column, row) is not None


def test_the_five_strategies_are_the_workbenchs_own_and_complete_in_table_5() -> None:
    assert set(paper.STRATEGIES) <= set(SAMPLERS)
    table = paper.PAPER["table5"]
    for column in table.columns:
        for row in ("none", *paper.STRATEGIES):
            assert paper.value("table5", column, row) is not None
            assert paper.spread("table5", column, row) is not None


def test_gains_are_what_the_abstract_says_one_to_six_points() -> None:
    best = {
        column: max(paper.gain(column, row) or 0.0 for row in ("kde", "bm25", "semantic"))
        for column in paper.PAPER["table5"].columns
    }
    assert {round(points) for points in best.values()} <= {1, 2, 3, 4, 5, 6}
    assert max(best.values()) == best["bws-in-topic"] == 5.99
    assert paper.gain("spanish-sts", "random") == -10.02


def test_both_searches_together_are_below_bm25_on_four_of_five() -> None:
    table = paper.PAPER["table5"]
    below = [
        column
        for column in table.columns
        if table.cells[column, "bm25+semantic"].value < table.cells[column, "bm25"].value
    ]
    assert len(below) == 4
    assert "spanish-sts" not in below


def test_no_two_values_of_a_data_set_are_8_2_points_apart() -> None:
    """So that the note on the text's gap of 8.2 points is true of what is given here."""
    table = paper.PAPER["table5"]
    for column in table.columns:
        values = [cell.value for (name, _), cell in table.cells.items() if name == column]
        gaps = [round(abs(one - two), 1) for one, two in combinations(values, 2)]
        assert 8.2 not in gaps


def test_the_misprints_are_told_and_the_value_used_is_named() -> None:
    told = " ".join(f"{fact.text} {fact.note}" for fact in paper.MISPRINTS)
    for printed in ("72,3540", "82.42", "82.39", "8.2"):
        assert printed in told
    assert paper.value("table5", "mrpc", "semantic") == 82.42


def test_misprints_are_told_to_teachers_and_are_no_finding() -> None:
    beside = [fact for lesson in LESSONS for fact in paper.misprints_for(lesson.key)]
    assert beside == list(paper.MISPRINTS)
    assert not any(fact in paper.facts_for(lesson.key) for lesson in LESSONS for fact in beside)


def test_all_pairs_of_10_000_sentences() -> None:
    (fact, *_) = paper.facts_for("encoders")
    assert f"{10_000 * 9_999 // 2:,}" in fact.text


def test_every_lesson_has_facts_and_every_fact_names_its_place() -> None:
    for lesson in LESSONS:
        facts = paper.facts_for(lesson.key)
        assert facts
        for fact in facts:
            assert re.search(r"(?i)table|figure|section|abstract", fact.source), fact
            assert fact.text.endswith((".", "”."))
    with pytest.raises(ValueError, match="adaptation"):
        paper.facts_for("dessert")


def test_every_number_with_two_decimals_in_a_fact_is_in_a_table() -> None:
    table = paper.PAPER["table5"]
    known = {f"{cell.value:.2f}" for cell in table.cells.values()} | {"82.39"}
    known |= {
        f"{abs(paper.gain(column, row) or 0):.2f}"
        for column in table.columns
        for row in paper.STRATEGIES
    }
    for lesson in LESSONS:
        for fact in paper.facts_for(lesson.key):
            for number in re.findall(r"\d+\.\d\d\b", fact.text.replace("AUC(0.05)", "")):
                assert number in known, fact


def test_rows_for_a_table_on_the_page() -> None:
    rows = dict(paper.table_rows("table5", "spanish-sts"))
    assert rows["BM25"] == "75.08 ± 1.94"
    assert rows["Baseline without training"] == "30.27"
    assert paper.table_rows("table11", "spanish-sts") == [
        ("Random", "911,072"),
        ("KDE", "230,364"),
        ("BM25", "3,964"),
    ]
