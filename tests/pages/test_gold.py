"""Gold: look before an import, import, look at what came in, take it back."""

from collections.abc import Callable

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from augsbert_core.options import ImportOptions
from augsbert_core.steps.import_data import import_file
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.gold import gold_scores
from augsbert_core.storage.projects import count_project, create_project
from augsbert_core.storage.records import Project
from tests.conftest import GOLD_CSV
from tests.pages.conftest import words_on

OpenPage = Callable[..., AppTest]

ROWS = "A dog barks.\tA dog is barking.\t4.5\nIt rains.\tHe *sleeps* <b>now</b>.\t0\nA.\tB.\t5\n"


@pytest.fixture
def empty(workspace: Workspace) -> Project:
    return create_project(workspace, "Empty")


def table(app: AppTest, *columns: str) -> pd.DataFrame:
    """The first table on the page that has these columns."""
    frames = [element.value for element in app.dataframe]
    return next(frame for frame in frames if set(columns) <= set(frame.columns))


def choose(app: AppTest, label: str, value: object) -> AppTest:
    """Pick in the selectbox with this label."""
    box = next(box for box in app.selectbox if box.label == label)
    return box.set_value(value).run()


def upload(app: AppTest, name: str, data: str) -> AppTest:
    return app.file_uploader[0].upload(name, data.encode(), "text/csv").run()


def test_without_a_project_the_page_says_where_to_go(open_page: OpenPage) -> None:
    app = open_page("gold")
    assert not app.exception
    assert "There is no project yet" in words_on(app)


def test_an_empty_project_begins_with_the_import(open_page: OpenPage, empty: Project) -> None:
    app = open_page("gold")
    assert not app.exception
    assert len(app.file_uploader) == 1
    assert "200 MB" in app.file_uploader[0].label


def test_a_file_is_previewed_before_anything_is_written(
    open_page: OpenPage, workspace: Workspace, empty: Project
) -> None:
    app = upload(open_page("gold"), "pairs.tsv", ROWS)
    assert not app.exception
    assert [metric.value for metric in app.metric] == ["3", "3", "0"]
    assert "Scores look like **0 to 5**" in words_on(app)
    assert list(table(app, "Sentence 2", "Score")["Sentence 2"])[1] == "He *sleeps* <b>now</b>."
    assert count_project(workspace, empty.id).gold == 0

    app.button(key="pairs-import").click().run()
    assert not app.exception
    assert count_project(workspace, empty.id).gold == 3
    assert sorted(gold_scores(workspace, empty.id)) == [0.0, 0.9, 1.0]
    assert "3 rows read, 3 kept, 0 rejected" in words_on(app)


def test_the_declared_range_wins_over_the_guess(
    open_page: OpenPage, workspace: Workspace, empty: Project
) -> None:
    app = upload(open_page("gold"), "pairs.tsv", ROWS)
    highest = next(box for box in app.number_input if box.label == "Highest possible score")
    highest.set_value(10.0).run()
    app.button(key="pairs-import").click().run()
    assert max(gold_scores(workspace, empty.id)) == 0.5


def test_rejected_rows_are_listed_with_line_and_reason(open_page: OpenPage, empty: Project) -> None:
    good = "".join(
        f"Dog {number} barks.\tDog {number} sleeps.\t{number % 6}\n" for number in range(40)
    )
    app = upload(open_page("gold"), "pairs.tsv", good + "Only one cell\nA.\tC.\tnine\n")
    assert [metric.value for metric in app.metric] == ["42", "40", "2"]
    rejected = table(app, "Line", "Reason")
    assert list(rejected["Line"]) == [41, 42]
    assert "not a number" in rejected["Reason"].iloc[1]


def test_unrecognised_columns_are_asked_for(open_page: OpenPage, empty: Project) -> None:
    app = upload(
        open_page("gold"), "odd.csv", "p,q,r,s\nA dog.,1,A cat.,2\nIt rains.,1,He runs.,0\n"
    )
    assert not app.exception
    assert "Choose them above" in words_on(app)
    for label, position in (("Sentence 1", 0), ("Sentence 2", 2), ("Score", 3)):
        choose(app, label, position)
    assert not app.exception
    assert app.metric[1].value == "2"


def test_a_file_that_is_no_table_is_a_sentence_not_a_traceback(
    open_page: OpenPage, empty: Project
) -> None:
    app = upload(open_page("gold"), "empty.csv", "")
    assert not app.exception
    assert len(app.error) == 1


def test_pasted_text_is_imported_too(
    open_page: OpenPage, workspace: Workspace, empty: Project
) -> None:
    app = open_page("gold")
    app.segmented_control(key="pairs-way").set_value("Pasted text").run()
    app.text_area[0].set_value(ROWS).run()
    assert not app.exception
    app.button(key="pairs-import").click().run()
    assert count_project(workspace, empty.id).gold == 3


def test_files_named_after_splits_become_these_splits(
    open_page: OpenPage, workspace: Workspace, empty: Project
) -> None:
    app = open_page("gold")
    app.file_uploader[0].upload("x-train.tsv", ROWS.encode(), "text/csv")
    app.file_uploader[0].upload("x-test.tsv", b"Q.\tR.\t1\nS.\tT.\t2.5\n", "text/csv").run()
    assert not app.exception
    app.button(key="pairs-import").click().run()
    counts = count_project(workspace, empty.id)
    assert (counts.train, counts.dev, counts.test) == (3, 0, 2)


def test_the_overview_counts_warns_and_lists(
    open_page: OpenPage, workspace: Workspace, project: Project
) -> None:
    more = "It rains in the city.\tA boy plays the guitar.\t1\nOne.\tOne.\t5\nOne.\tOne.\t4\n"
    options = ImportOptions(score_range=(0.0, 5.0), split="train")
    import_file(workspace, project.id, more.encode(), "more.tsv", options)
    app = open_page("gold")
    assert not app.exception
    assert [metric.value for metric in app.metric] == ["8", "3", "3", "0"]
    shown = words_on(app)
    assert "1 of 18 sentences occur in more than one split" in shown
    assert "Pairs with more than one score: 1" in shown
    assert len(app.dataframe[0].value) == 14


def test_the_table_is_searched_as_typed(open_page: OpenPage, project: Project) -> None:
    app = open_page("gold")
    app.text_input(key="gold-search").set_value("GUITAR").run()
    assert len(app.dataframe[0].value) == 2
    app.text_input(key="gold-search").set_value("100%_'").run()
    assert not app.exception
    assert "No gold pair matches" in words_on(app)


def test_gold_of_another_range_is_not_asked_for_again(
    open_page: OpenPage, project: Project
) -> None:
    app = open_page("gold")
    app.session_state["gold-tab"] = "Import gold pairs"
    app = upload(app.run(), "pairs.tsv", ROWS)
    assert "Scores run from **0 to 5**, like the gold pairs already here" in words_on(app)


def test_the_same_file_twice_is_a_user_error(
    open_page: OpenPage, workspace: Workspace, project: Project
) -> None:
    app = open_page("gold")
    app.session_state["gold-tab"] = "Import gold pairs"
    app = upload(app.run(), "gold.csv", GOLD_CSV)
    assert not app.exception
    assert "is in the project already" in app.error[0].value
    assert not [button for button in app.button if button.key == "pairs-import"]
    assert count_project(workspace, project.id).gold == 11


def test_sentences_join_the_pool_and_an_import_can_be_taken_back(
    open_page: OpenPage, workspace: Workspace, project: Project
) -> None:
    app = open_page("gold")
    app.session_state["gold-tab"] = "Import unlabelled text"
    app = upload(app.run(), "more.txt", "A first sentence.\nA second one.\n")
    app.button(key="sentences-import").click().run()
    assert count_project(workspace, project.id).unlabelled_sentences == 2

    removals = [button for button in app.button if button.label == "Remove for good"]
    assert len(removals) == 2
    removals[-1].click().run()
    assert not app.exception
    assert count_project(workspace, project.id).gold == 0


def test_a_split_column_must_be_named_before_it_is_used(
    open_page: OpenPage, empty: Project
) -> None:
    data = "s1,s2,score,part\nA dog.,A cat.,2,train\nIt rains.,He runs.,0,test\nX.,Y.,5,train\n"
    app = upload(open_page("gold"), "pairs.csv", data)
    way = next(found for found in app.segmented_control if found.label == "Train, dev and test")
    way.set_value("column").run()
    assert len(app.metric) == 0
    assert "Choose the column that says train, dev or test above" in words_on(app)
    choose(app, "Split", 3)
    assert not app.exception
    assert list(table(app, "Split", "Score")["Split"]) == ["train", "test", "train"]
