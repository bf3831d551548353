"""Files out: spreadsheets run nothing, programs get every value back."""

import io
import os
import stat
import tempfile
from pathlib import Path

import pytest

from augsbert_core.errors import WorkbenchError
from augsbert_core.exporting import files
from augsbert_core.exporting.files import (
    Entry,
    rejected_csv,
    safe_cell,
    to_csv,
    write_csv,
    write_file,
    write_folder,
    write_zip,
)
from augsbert_core.importing.reading import read_table
from augsbert_core.importing.rows import Rejected
from augsbert_core.options import ImportOptions

FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx"]


@pytest.mark.parametrize("text", FORMULAS)
def test_texts_that_look_like_formulas_are_escaped(text):
    assert safe_cell(text) == "'" + text
    assert read_table(to_csv(["text", "score"], [[text, -0.5]]), "out.csv").rows == [
        ["'" + text, "-0.5"]
    ]


def test_texts_that_do_not_are_left_alone():
    assert [safe_cell(text) for text in ["", "a=b", "3-1", " =x", "'x"]] == [
        "",
        "a=b",
        "3-1",
        " =x",
        "'x",
    ]


def test_files_for_programs_come_back_equal():
    rows = [[text, 'He said "hi", then\nleft'] for text in FORMULAS] + [["Füße", "漢字"]]
    data = to_csv(["sentence1", "sentence2"], rows, safe=False)
    assert read_table(data, "out.csv").rows == rows
    assert not data.startswith(b"\xef\xbb\xbf")


def test_spreadsheets_get_a_byte_order_mark_and_empty_cells_for_what_is_no_number():
    data = to_csv(["a", "b", "c"], [[None, float("nan"), 0.1]])
    assert data == b"\xef\xbb\xbfa,b,c\r\n,,0.1\r\n"


def test_rows_are_written_as_they_come_and_counted():
    file = io.StringIO(newline="")
    assert write_csv(file, ["n"], ([n] for n in range(3)), delimiter="\t") == 3
    assert file.getvalue() == "n\r\n0\r\n1\r\n2\r\n"


def test_rejected_rows_can_be_downloaded():
    table = read_table(
        rejected_csv([Rejected(7, "Score is not a number: 'x'", "=a,b,x")]),
        "r.csv",
        ImportOptions(header=True),
    )
    assert table.header == ["line", "reason", "text"]
    assert table.rows == [["7", "Score is not a number: 'x'", "'=a,b,x"]]


# --- new files and folders ---------------------------------------------------------------------------


def put_file(content: bytes, path: Path) -> None:
    write_file(Entry("a.txt", content), path)


def put_folder(content: bytes, path: Path) -> None:
    write_folder([Entry("a.txt", content)], path)


def put_zip(content: bytes, path: Path) -> None:
    write_zip([Entry("a.txt", content)], path)


PUTS = [put_file, put_folder, put_zip]


@pytest.mark.parametrize("put", PUTS)
def test_files_of_the_user_beside_the_target_stay(tmp_path: Path, put) -> None:
    own = {name: tmp_path / name for name in ("u.partial", "v.partial", "v.folder", "v.arrow")}
    for place in own.values():
        place.mkdir()
        (place / "mine.txt").write_text("mine")
    (tmp_path / "w.partial").write_text("mine")
    for name in ("u", "v", "w"):
        put(b"exported", tmp_path / name)
    assert [(place / "mine.txt").read_text() for place in own.values()] == ["mine"] * 4
    assert (tmp_path / "w.partial").read_text() == "mine"
    assert {path.name for path in tmp_path.iterdir()} == {*own, "w.partial", "u", "v", "w"}


@pytest.mark.parametrize("links", [True, False])
def test_of_two_exports_to_one_target_the_first_to_finish_wins(
    tmp_path: Path, links: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not links:
        monkeypatch.setattr(os, "link", refused)
    for number, put in enumerate(PUTS):
        target = tmp_path / str(number)

        def slow(file: object, put=put, target=target) -> None:
            put(b"the other's", target)
            file.write("ours")  # type: ignore[attr-defined]

        before = tmp_path / f"alone-{number}"
        put(b"the other's", before)
        write = write_folder if put is put_folder else write_zip
        with pytest.raises(WorkbenchError, match=f"{number} exists already"):
            write([Entry("a.txt", slow)], target)
        assert content(target) == content(before)
    assert len(list(tmp_path.iterdir())) == 2 * len(PUTS)


def refused(*_: object) -> None:
    raise PermissionError(1, "Operation not permitted")


def content(path: Path) -> bytes:
    return (path / "a.txt" if path.is_dir() else path).read_bytes()


def test_without_second_names_a_file_still_comes_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a FAT disk."""
    monkeypatch.setattr(os, "link", refused)
    put_file(b"whole", tmp_path / "a.txt")
    assert content(tmp_path / "a.txt") == b"whole"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_an_empty_folder_is_filled_and_anyone_may_read_the_files(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "empty", target_is_directory=True)
    put_folder(b"x", tmp_path / "link")
    put_file(b"x", tmp_path / "file")
    usual = tmp_path / "usual"
    usual.mkdir()
    (usual / "file").touch()
    assert content(tmp_path / "empty") == b"x"
    assert mode(tmp_path / "empty") == mode(usual)
    assert mode(tmp_path / "file") == mode(usual / "file")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("put", PUTS)
@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("x" * 300, "cannot be written .File name too long"),
        ("new/" + "x" * 300, "cannot be written .File name too long"),
        ("new/" + "x" * 300 + "/y", "cannot be written .File name too long"),
        ("a\0b", "is no name for a file"),
        ("a-file/x", "cannot be written .Not a directory"),
        ("a-file/x/y", "cannot be written .Not a directory"),
    ],
)
def test_a_target_that_cannot_be_is_refused_before_anything_is_made(
    tmp_path: Path, name: str, why: str, put
) -> None:
    (tmp_path / "a-file").touch()
    with pytest.raises(WorkbenchError, match=why):
        put(b"", tmp_path / name)
    assert os.listdir(tmp_path) == ["a-file"]


@pytest.mark.parametrize("put", PUTS)
def test_a_folder_that_may_not_be_written_to_is_refused(
    tmp_path: Path, put, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, *_: Path(path) != tmp_path)
    with pytest.raises(WorkbenchError, match=r"cannot be written \(Permission denied"):
        put(b"", tmp_path / "new" / "x")
    assert os.listdir(tmp_path) == []
    # Some disks say so only when something is made.
    monkeypatch.undo()
    monkeypatch.setattr(tempfile, "mkdtemp", refused)
    with pytest.raises(WorkbenchError, match=r"cannot be written \(Operation not permitted"):
        put(b"", tmp_path / "x")
    assert os.listdir(tmp_path) == []


def test_nobody_is_told_of_the_folder_in_which_files_become_whole(tmp_path: Path) -> None:
    def full(file: object) -> None:
        raise OSError(
            28, "No space left on device", str(tmp_path / f"{files.UNFINISHED}x" / "file")
        )

    with pytest.raises(WorkbenchError) as refusal:
        write_file(Entry("a.txt", full), tmp_path / "a.txt")
    said = "cannot be written (No space left on device). Choose another place."
    assert str(refusal.value) == f"{tmp_path / 'a.txt'} {said}"


def test_the_home_of_nobody_is_refused() -> None:
    with pytest.raises(WorkbenchError, match="Write the folder out"):
        files.expanded(Path("~no-such-user/x.csv"))
