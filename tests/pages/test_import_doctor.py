"""The import doctor: whatever the file, the page shows what it understood, and every choice can be overruled."""

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from augsbert_core.charts.imports import imported_scores_figure, lengths_figure
from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.overview import LENGTH_EDGES
from augsbert_core.importing.rows import Rejected
from augsbert_core.options import ImportFilesOptions, ImportOptions, from_json
from augsbert_core.pairs import ScoreRange
from augsbert_core.steps.import_data import SourceFile, import_file, import_files
from augsbert_core.storage import gold_export
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.gold import gold_scores
from augsbert_core.storage.projects import count_project, create_project, get_project
from augsbert_core.storage.queue import list_jobs
from augsbert_core.storage.records import Project
from augsbert_core.storage.runs import get_run, list_runs, update_run
from augsbert_core.storage.uploads import read_upload
from augsbert_core.ui import import_plans
from augsbert_core.ui.gold_overview import came_together
from augsbert_core.ui.import_report import length_words, reasons_of, report_json
from augsbert_core.ui.import_scores import score_words
from augsbert_core.ui.import_sources import Source, read_dataset, unpack
from tests.pages.conftest import words_on

OpenPage = Callable[..., AppTest]

SWAPPED = (
    "4.5,3,A dog barks.,A dog is barking.\n0,1,It rains.,He sleeps.\n2,2,One day.,Another day.\n"
)
"""No header, score first, and a column of numbers that is no score: nothing tells which is which."""

LEAKY = (
    "sentence1,sentence2,score,split\nA.,B.,1,train\nB.,C.,2,train\nD.,E.,3,train\nB.,A.,4,test\n"
)


@pytest.fixture
def empty(workspace: Workspace) -> Project:
    return create_project(workspace, "Empty")


@pytest.fixture
def gold(open_page: OpenPage, empty: Project) -> AppTest:
    """The Gold page of a new project, which begins with the import."""
    return open_page("gold", project=empty.id)


def upload(app: AppTest, **files: str | bytes) -> AppTest:
    """Upload files, named "a_csv" for "a.csv"."""
    for name, data in files.items():
        content = data.encode() if isinstance(data, str) else data
        app.file_uploader[0].upload(name.replace("_", "."), content, "application/octet-stream")
    app.run()
    assert not app.exception
    return app


def box(app: AppTest, label: str):
    return next(found for found in app.selectbox if found.label == label)


def choose(app: AppTest, **choices: object) -> AppTest:
    """Pick in selectboxes by label, one after the other as a user does: Sentence_1=2."""
    for label, value in choices.items():
        box(app, label.replace("_", " ")).set_value(value).run()
        assert not app.exception
    return app


def heads(app: AppTest) -> list[str]:
    """The head of the preview of the file as it is."""
    return list(app.dataframe[0].value.columns)


def stored(app: AppTest) -> pd.DataFrame:
    """The preview of what would be stored."""
    return next(f.value for f in app.dataframe if "0 to 1" in f.value.columns)


def press_import(app: AppTest, kind: str = "pairs") -> AppTest:
    app.button(key=f"{kind}-import").click().run()
    assert not app.exception
    return app


# --- how the file was read ----------------------------------------------------------------------------


def test_each_choice_stands_at_what_was_found(gold: AppTest) -> None:
    app = upload(gold, a_csv="text a;text b;score\nEin Hund.;Zwei Hunde.;1,5\nRegen.;Sonne.;0,5\n")
    found = {label: box(app, label).options[0] for label in ("Encoding", "Delimiter", "Header")}
    assert found == {
        "Encoding": "UTF-8 ✓",
        "Delimiter": "Semicolon ✓",
        "Header": "First row ✓",
    }
    assert [box(app, label).value for label in ("Sentence 1", "Sentence 2", "Score")] == [0, 1, 2]
    assert heads(app) == ["Sentence 1 ← text a", "Sentence 2 ← text b", "Score ← score"]
    assert list(stored(app)["Score"]) == [1.5, 0.5]


def test_the_preview_follows_every_choice(gold: AppTest) -> None:
    app = upload(gold, odd_csv=SWAPPED)
    assert "The columns were not recognised" in words_on(app)
    assert heads(app)[0] == "Column 1"
    assert not app.metric

    choose(app, Sentence_1=2, Sentence_2=3, Score=0)
    assert heads(app)[2] == "Sentence 1 ← Column 3"
    assert list(stored(app)["Score"]) == [4.5, 0.0, 2.0]
    choose(app, Score=1)
    assert list(stored(app)["Score"]) == [3.0, 1.0, 2.0]
    choose(app, Score=2)
    assert "One column is chosen twice" in words_on(app)
    assert not app.metric


def test_a_choice_that_breaks_the_file_can_be_taken_back(gold: AppTest) -> None:
    app = upload(gold, odd_csv="sentence1,sentence2,score\nÉté,Hiver,1\nMer,Île,0\n")
    choose(app, Encoding="utf-16")
    assert len(app.error) == 1
    assert not app.metric
    choose(app, Encoding="found")
    assert not app.error
    assert list(stored(app)["Sentence 1"]) == ["Été", "Mer"]


def test_a_header_can_be_declared_to_be_a_row(gold: AppTest) -> None:
    app = upload(gold, odd_csv="sentence1,sentence2,score\nA.,B.,1\nC.,D.,0\n")
    assert app.metric[0].value == "2"
    choose(app, Header=False)
    assert app.metric[0].value == "3"
    assert app.metric[2].value == "1"


def test_the_sheet_of_a_workbook_is_a_choice(gold: AppTest) -> None:
    book = openpyxl.Workbook()
    book.active.title = "First"
    for row in (("sentence1", "sentence2", "score"), ("A.", "B.", 1), ("C.", "D.", 5)):
        book.active.append(row)
    other = book.create_sheet("Second")
    for row in (("sentence1", "sentence2", "score"), ("E.", "F.", 2), ("G.", "H.", 3)):
        other.append(row)
    file = io.BytesIO()
    book.save(file)
    app = upload(gold, book_xlsx=file.getvalue())
    labels = [found.label for found in app.selectbox]
    assert "Encoding" not in labels
    assert box(app, "Part").options == ["First ✓", "First", "Second"]
    choose(app, Part="Second")
    assert list(stored(app)["Sentence 1"]) == ["E.", "G."]


def test_json_has_no_delimiter_to_choose(gold: AppTest) -> None:
    rows = [{"sentence1": f"A{n}.", "sentence2": f"B{n}.", "score": n} for n in range(6)]
    app = upload(gold, a_json=json.dumps(rows))
    assert "Delimiter" not in [found.label for found in app.selectbox]
    assert list(stored(app)["Score"]) == [0, 1, 2, 3, 4, 5]


def test_a_known_format_is_named(gold: AppTest) -> None:
    head = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
    app = upload(
        gold, SICK_txt=head + "7\tA dog.\tA cat.\t2.5\tNEUTRAL\n8\tA.\tB.\t5\tENTAILMENT\n"
    )
    assert any("Recognised as SICK" in found.label for found in app.get("badge")) or (
        "Recognised as SICK" in words_on(app)
    )
    assert list(stored(app)["0 to 1"]) == [0.375, 1.0]
    assert list(stored(app)["Row name"]) == ["7", "8"]


def test_texts_are_never_markdown(gold: AppTest) -> None:
    app = upload(gold, a_csv="s1,s2,score\n**bold**,<b>x</b>,1\n[a](http://b),:smile:,0\n")
    assert list(stored(app)["Sentence 1"]) == ["**bold**", "[a](http://b)"]
    assert "**bold**" not in words_on(app)


# --- several files ------------------------------------------------------------------------------------


def test_files_of_one_shape_share_their_choices(
    gold: AppTest, workspace: Workspace, empty: Project
) -> None:
    app = upload(gold, train_csv=SWAPPED, test_csv="5,1,Q.,R.\n1,4,S.,T.\n")
    choose(app, Sentence_1=2, Sentence_2=3, Score=0)
    assert [metric.value for metric in app.metric] == ["5", "5", "0"]
    press_import(app)
    counts = count_project(workspace, empty.id)
    assert (counts.train, counts.test) == (3, 2)


def test_files_of_other_shapes_are_read_each_in_its_own_way(gold: AppTest) -> None:
    app = upload(
        gold,
        a_csv="sentence1,sentence2,score\nA.,B.,1\nC.,D.,5\n",
        b_csv="3;x;E.;F.\n4;y;G.;H.\n",
    )
    assert "The files differ in their columns" in words_on(app)
    assert "b.csv: The columns were not recognised" in words_on(app).replace("\\", "")
    choose(app, File=1)
    choose(app, Sentence_1=2, Sentence_2=3, Score=0)
    assert [metric.value for metric in app.metric] == ["4", "4", "0"]
    assert list(stored(app)["Sentence 1"]) == ["E.", "G."]
    # The choices for the second file hold while the first is looked at.
    choose(app, File=0)
    assert [metric.value for metric in app.metric] == ["4", "4", "0"]
    assert list(stored(app)["Sentence 1"]) == ["A.", "C."]


def test_an_archive_of_several_files_is_unpacked() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("train.csv", "A.,B.,1\n")
        archive.writestr("test.csv", "C.,D.,0\n")
    found = unpack([Source("both.zip", packed.getvalue(), "k")])
    assert [Path(source.name).name for source in found.sources] == ["train.csv", "test.csv"]
    assert len({source.key for source in found.sources}) == 2
    assert found.told == ("both.zip holds 2 files.",)


def test_sentences_and_scores_in_two_files_are_joined(gold: AppTest) -> None:
    files = [
        Source("STS.input.MSRpar.txt", b"A dog.\tA cat.\nRain.\tSun.\n", "a"),
        Source("STS.gs.MSRpar.txt", b"2.5\n0\n", "b"),
    ]
    found = unpack(files)
    assert len(found.sources) == 1
    assert "STS.input.MSRpar.txt" in found.told[0]
    app = upload(gold, **{"STS_input_a_txt": files[0].data, "STS_gs_a_txt": files[1].data})
    assert list(stored(app)["Score"]) == [2.5, 0.0]


def test_a_damaged_archive_is_a_sentence(gold: AppTest) -> None:
    app = upload(gold, bad_zip=b"PK\x03\x04 and no more")
    assert len(app.error) == 1


def test_a_folder_of_data_files_is_read(tmp_path: Path, gold: AppTest) -> None:
    (tmp_path / "train.csv").write_text("sentence1,sentence2,score\nA.,B.,1\nC.,D.,5\n")
    app = gold
    app.segmented_control(key="pairs-way").set_value("Folder or hub").run()
    app.text_input(key="pairs-dataset").set_value(str(tmp_path)).run()
    app.button(key="pairs-read-dataset").click().run()
    assert not app.exception
    assert list(stored(app)["Sentence 2"]) == ["B.", "D."]


def test_neither_folder_nor_dataset_is_a_sentence() -> None:
    with pytest.raises(WorkbenchError, match="There is no folder /no/such/place"):
        read_dataset("/no/such/place", "")


def test_what_was_chosen_outlives_a_look_at_another_tab(gold: AppTest) -> None:
    app = upload(gold, odd_csv=SWAPPED)
    choose(app, Sentence_1=2, Sentence_2=3, Score=1)
    app.session_state["gold-tab"] = "Imports"
    app.run()
    assert not app.selectbox or all(found.label != "Score" for found in app.selectbox)
    app.session_state["gold-tab"] = "Import gold pairs"
    app.run()
    assert "Still chosen: odd" in words_on(app)
    assert list(stored(app)["Score"]) == [3.0, 1.0, 2.0]
    app.button(key="pairs-forget").click().run()
    assert not app.metric


# --- scores -------------------------------------------------------------------------------------------


def test_words_are_offered_as_scores(gold: AppTest) -> None:
    rows = "".join(
        f"A{n}.,B{n}.,{word}\n" for n, word in enumerate(("duplicate", "not_duplicate") * 3)
    )
    app = upload(gold, a_csv="s1,s2,is_duplicate\n" + rows)
    words = next(
        f.value for f in app.dataframe if "Word" in f.value.columns and "Rows" in f.value.columns
    )
    assert dict(zip(words["Word"], words["Score"], strict=True)) == {
        "duplicate": 1.0,
        "not duplicate": 0.0,
    }
    assert "the project becomes one of classification" in words_on(app)
    assert list(stored(app)["Word"])[:2] == ["duplicate", "not_duplicate"]


def test_a_few_words_among_numbers_are_no_scale_of_words() -> None:
    assert score_words(["1", "2", "4.5/5", ""]) == {}
    assert score_words(["same", "Not_Same", "same", ""]) == {"same": 2, "not same": 1}


def test_binary_gold_makes_the_project_one_of_classification(
    gold: AppTest, workspace: Workspace, empty: Project
) -> None:
    app = upload(gold, a_csv="s1,s2,score\n" + "".join(f"A{n}.,B{n}.,{n % 2}\n" for n in range(20)))
    assert "the project becomes one of classification" in words_on(app)
    press_import(app)
    assert get_project(workspace, empty.id).task == "classification"


# --- splits and rows ----------------------------------------------------------------------------------


def test_the_leak_report_counts_and_offers_a_remedy(
    gold: AppTest, workspace: Workspace, empty: Project
) -> None:
    app = upload(gold, leaky_csv=LEAKY)
    assert "Leak report" in words_on(app)
    leaks = next(f.value for f in app.dataframe if "Pairs in both" in f.value.columns)
    assert leaks.to_numpy().tolist() == [["train and test", 1, 2, 1, 2]]

    choose(app, Rows_that_share_something_with_a_later_split="sentences")
    assert "nothing is left that was not to be in two splits" in words_on(app)
    assert {metric.label: metric.value for metric in app.metric}["Left out as leaks"] == "2"
    press_import(app)
    assert count_project(workspace, empty.id).gold == 2


def test_rows_are_dealt_as_asked(gold: AppTest, workspace: Workspace, empty: Project) -> None:
    rows = "".join(f"A{n}.,B{n}.,{n % 5},{'xyz'[n % 3]}\n" for n in range(60))
    app = upload(gold, a_csv="s1,s2,score,topic\n" + rows)
    choose(app, How="groups")
    press_import(app)
    names = [column.name for column in gold_export.COLUMNS]
    frame = pd.DataFrame(gold_export.gold_export_rows(workspace, empty.id), columns=names)
    assert frame.groupby("group")["split"].nunique().eq(1).all()
    assert set(frame["split"]) == {"train", "dev", "test"}


def test_only_so_many_rows_come_in(gold: AppTest, workspace: Workspace, empty: Project) -> None:
    app = upload(gold, a_csv="s1,s2,score\n" + "".join(f"A{n}.,B{n}.,{n % 6}\n" for n in range(50)))
    limit = next(found for found in app.number_input if found.label == "Rows at most")
    limit.set_value(12).run()
    choose(app, Which="random")
    assert {m.label: m.value for m in app.metric}["Left out by the subsample"] == "38"
    press_import(app)
    assert count_project(workspace, empty.id).gold == 12


# --- large files --------------------------------------------------------------------------------------


def test_large_files_are_looked_at_by_their_head_and_imported_by_a_job(
    gold: AppTest, workspace: Workspace, empty: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_plans, "LARGE_BYTES", 1000)
    monkeypatch.setattr(import_plans, "HEAD_BYTES", 500)
    data = "s1,s2,score\n" + "".join(f"A{n}.,B{n}.,{n % 6}\n" for n in range(200))
    app = upload(gold, big_csv=data)
    assert "the numbers are of the first rows alone" in words_on(app)
    assert int(app.metric[0].value) < 60
    press_import(app)

    (job,) = list_jobs(workspace, empty.id)
    assert job.step == "import-files"
    options = from_json(ImportFilesOptions, get_run(workspace, job.run_id).options)
    assert [file.name for file in options.files] == ["big.csv"]
    assert read_upload(workspace, options.files[0].path) == data.encode()
    told = from_json(ImportOptions, options.files[0].options)
    assert told.score_range == (0.0, 5.0)
    assert told.columns == ("s1", "s2", "score")
    assert count_project(workspace, empty.id).gold == 0


# --- the report ---------------------------------------------------------------------------------------


def test_the_report_says_what_came_in(gold: AppTest, workspace: Workspace, empty: Project) -> None:
    good = "".join(f"Dog {n} barks.,Dog {n} sleeps.,{n % 6}\n" for n in range(40))
    app = upload(gold, a_csv="s1,s2,score\n" + good + "A.,B.,nine\nOnly one\nA.,B.,ten\n")
    press_import(app)
    assert "43 rows read, 40 kept, 3 rejected" in words_on(app)
    reasons = next(f.value for f in app.dataframe if "Lines" in f.value.columns)
    assert reasons.to_numpy().tolist() == [
        ["Score is not a number", 2, "42, 44"],
        ["Row does not have 3 columns", 1, "43"],
    ]
    assert len(app.get("plotly_chart")) == 2
    assert "The longest has 3 words" in words_on(app)


def test_the_report_stays_with_the_import(
    open_page: OpenPage, workspace: Workspace, empty: Project
) -> None:
    data = b"s1,s2,score\nA.,B.,1\nC.,D.,5\nE.,F.,x\n"
    done = import_file(workspace, empty.id, data, "a.csv", ImportOptions(score_range=(0.0, 5.0)))
    app = open_page("gold", project=empty.id)
    app.session_state["gold-tab"] = "Imports"
    app.run()
    assert not app.get("plotly_chart"), "a closed report reads nothing"
    app.session_state[f"report-{done.run_id}"] = True
    app.run()
    assert not app.exception
    assert [metric.value for metric in app.metric] == ["3", "2", "1"]
    told = json.loads(report_json(workspace, list_runs(workspace, empty.id, "import")))
    assert told["files"][0]["rejected_by_reason"] == [
        {"reason": "Score is not a number", "rows": 1, "first_lines": [4]}
    ]
    assert told["joint"]["overview"]["sentences"] == 4


def test_an_import_of_an_older_version_has_a_shorter_report(
    open_page: OpenPage, workspace: Workspace, project: Project
) -> None:
    (run,) = list_runs(workspace, project.id, "import")
    lacking = dict.fromkeys(("joint", "notes", "files", "preset", "splits", "kind"))
    update_run(workspace, run.id, metrics={**lacking, "rejected": 2})
    app = open_page("gold", project=project.id)
    app.session_state["gold-tab"] = "Imports"
    app.session_state[f"report-{run.id}"] = True
    app.run()
    assert not app.exception
    assert "before rejected rows were kept" in words_on(app)
    assert json.loads(report_json(workspace, list_runs(workspace, project.id, "import")))


def test_files_that_came_together_are_one_import(workspace: Workspace, empty: Project) -> None:
    options = ImportOptions(score_range=(0.0, 5.0))
    one = [
        SourceFile(name, f"A{name}.,B.,1\nC.,D.,2\n".encode(), options)
        for name in ("a.csv", "b.csv")
    ]
    import_files(workspace, empty.id, one)
    import_file(workspace, empty.id, b"E.,F.,1\nG.,H.,2\n", "c.csv", options)
    groups = came_together(list_runs(workspace, empty.id, "import"))
    assert [[run.name for run in group] for group in groups] == [["c.csv"], ["a.csv", "b.csv"]]


def test_reasons_are_counted_without_their_values() -> None:
    rows = [Rejected(n, f"Score is not a number: '{n}'", "") for n in range(1, 15)]
    assert reasons_of([*rows, Rejected(20, "Sentence 1 is blank: ''", "")]) == [
        ("Score is not a number", 14, list(range(1, 11))),
        ("Sentence 1 is blank", 1, [20]),
    ]


def test_long_sentences_are_flagged_as_an_estimate() -> None:
    lengths = [0] * len(LENGTH_EDGES)
    lengths[2] = 9
    assert "None seems longer than the 128 tokens" in length_words(lengths, 12, 128)
    lengths[LENGTH_EDGES.index(120)] = 3
    told = length_words(lengths, 150, 128)
    assert "3 sentences of 120 words or more are likely longer than the 128 tokens" in told
    assert "estimate" in told


# --- page Sample --------------------------------------------------------------------------------------


def test_sample_takes_sentences_before_there_are_any(
    open_page: OpenPage, workspace: Workspace, empty: Project
) -> None:
    app = open_page("sample", project=empty.id)
    app = upload(app, more_txt="A first sentence.\nA second one.\n")
    press_import(app, "sentences")
    assert count_project(workspace, empty.id).unlabelled_sentences == 2
    assert "2 rows read, 2 kept, 0 rejected" in words_on(app)


def test_sample_takes_pairs_of_ones_own(
    open_page: OpenPage, workspace: Workspace, project: Project
) -> None:
    app = open_page("sample", project=project.id)
    assert not app.file_uploader, "the panel is closed at first"
    app.session_state["bring-your-own-panel"] = True
    app.run()
    app.segmented_control(key="sample-unlabelled-kind").set_value("unlabelled-pairs").run()
    app = upload(app, mine_tsv="How are you?\tHow do you do?\nIt rains.\tThe sun shines.\n")
    press_import(app, "unlabelled-pairs")
    assert "2 rows read, 2 kept" in words_on(app)
    assert sorted(gold_scores(workspace, project.id)), "gold is left alone"


# --- figures ------------------------------------------------------------------------------------------


def test_scores_stand_where_the_declared_scale_has_them() -> None:
    figure = imported_scores_figure([3, 0, 0, 1], ScoreRange(1, 5))
    assert list(figure.data[0].x) == [1.5, 2.5, 3.5, 4.5]
    assert list(figure.data[0].y) == [3, 0, 0, 1]
    assert figure.layout.xaxis.range == (1, 5)


def test_long_sentences_have_a_colour_of_their_own() -> None:
    figure = lengths_figure([0, 5, 2, 1], (0, 5, 10, 120), long_from=120)
    assert list(figure.data[0].x) == ["1–4", "5–9", "10–119", "120+"]
    colors = figure.data[0].marker.color
    assert len(set(colors[:3])) == 1
    assert colors[3] != colors[0]


def test_repeated_pairs_are_listed(gold: AppTest) -> None:
    app = upload(gold, **{"pairs.csv": "sentence1,sentence2,score\na,b,1\nb,a,3\nc,d,2\n"})
    (frame,) = [table.value for table in app.dataframe if "Reversed" in table.value]
    assert frame["Line"].tolist() == [2, 3]
    assert frame["Reversed"].tolist() == [False, True]
    assert frame["Scores differ"].all()


def test_the_gold_that_is_there_is_read_when_a_plan_is_made_not_at_every_click(
    open_page: OpenPage, workspace: Workspace, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    from augsbert_core.ui import gold_import

    read: list[int] = []

    def counted(workspace: Workspace, project_id: int) -> dict[str, set[str]]:
        read.append(project_id)
        return {"test": {"x"}}

    monkeypatch.setattr(gold_import, "split_keys", counted)
    app = open_page("gold", project=project.id)
    app.session_state["gold-tab"] = "Import gold pairs"
    app = upload(app.run(), more_csv="sentence1,sentence2,score,split\nx,y,1,train\n")
    assert "Leak report" in words_on(app)
    assert len(read) == 1
    app.run()
    assert len(read) == 1
