"""The documents are true: what they name exists, what exists is in them, and their commands work."""

import ast
import re
import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import cast

import click
import pytest
import typer

from augsbert_core.cli import app
from augsbert_core.options import BiEncoderOptions, CrossEncoderOptions
from augsbert_core.queues import QUEUES
from augsbert_core.sampling import SAMPLERS, STRATEGY_NAMES
from augsbert_core.storage.database import open_workspace
from augsbert_core.storage.projects import list_projects
from tests.conftest import GOLD_CSV
from tests.silver_pairs import sixty_pairs
from tests.test_cli import Terminal, small_models  # noqa: F401  (a fixture)

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = [ROOT / "README.md", ROOT / "sample_data" / "README.md", *sorted((ROOT / "docs").glob("*.md"))]  # fmt: skip
SAMPLE = ROOT / "sample_data" / "gold_pairs.csv"


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


# --- the command line ------------------------------------------------------------------------------


def leaf_commands() -> dict[str, click.Command]:
    """Every command of the command line by its full name."""
    found: dict[str, click.Command] = {}

    def walk(name: str, command: click.Command) -> None:
        inner = getattr(command, "commands", None)
        if inner:
            for child, sub in inner.items():
                walk(f"{name} {child}".strip(), sub)
        if not inner or (name and getattr(command, "invoke_without_command", False)):
            found[name] = command

    walk("", cast(click.Command, typer.main.get_command(app)))
    return found


COMMANDS = leaf_commands()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_in_the_readme(name: str) -> None:
    assert re.search(rf"`{name}\b", README), f"`{name}` is not in the README"
    for parameter in COMMANDS[name].params:
        for option in parameter.opts:
            if option.startswith("--") and option not in {"--help", "--json"}:
                assert f"`{option}`" in README, f"{name} {option} is not in the README"


def test_every_strategy_queue_page_and_training_option_is_in_the_readme() -> None:
    for name in {*SAMPLERS, *STRATEGY_NAMES, *QUEUES}:
        assert f"| `{name}` |" in README, f"{name} is not in the README"
    for page in (ROOT / "pages").glob("*.py"):
        title = page.stem.replace("_", "-").capitalize()
        assert f"**{title}**" in README, f"page {title} is not in the tour"
    names = {
        field.name
        for options in (CrossEncoderOptions, BiEncoderOptions)
        for field in fields(options)
    }
    for name in names:
        assert f"`{name}`" in README, f"option {name} is not in the README"


def test_defaults_in_the_readme_are_the_real_ones() -> None:
    labeler, student = CrossEncoderOptions(), BiEncoderOptions()
    rows = {
        cells[0].strip(" `"): [cell.strip() for cell in cells[1:3]]
        for cells in (
            line.strip("|").split("|")
            for line in README.splitlines()
            if re.match(r"\| `[a-z_]+` \|", line) and line.count("|") == 5
        )
    }
    for name in (
        "epochs",
        "batch_size",
        "learning_rate",
        "warmup_ratio",
        "weight_decay",
        "max_length",
    ):
        shown = [float(cell) for cell in rows[name]]
        assert shown == [getattr(labeler, name), getattr(student, name)], name


# --- commands in the documents ---------------------------------------------------------------------


@dataclass(frozen=True)
class Line:
    """A command as a document has it."""

    document: str
    text: str

    def __str__(self) -> str:
        return f"{self.document}: {self.text}"


PROGRAMS = ("augsbert", "make", "python", "python3", ".venv/bin/")


def command_lines() -> list[Line]:
    """The commands of all documents: of shell blocks, and of code within sentences that begins with a program."""
    found: dict[Line, None] = {}
    for path in DOCUMENTS:
        name, text = str(path.relative_to(ROOT)), text_of(path)
        for language, block in re.findall(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            if language in {"bash", ""}:
                lines = (re.sub(r"\s+#.*$", "", line).strip() for line in block.splitlines())
                found |= {Line(name, line): None for line in lines if line}
        prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
        for code in re.findall(r"`([^`\n]+)`", prose):
            if code.startswith(PROGRAMS) and " " in code:
                found[Line(name, code)] = None
    return list(found)


LINES = command_lines()
OURS = [line for line in LINES if line.text.removeprefix(".venv/bin/").startswith("augsbert ")]
OTHERS = [line for line in LINES if line not in OURS]

PLACEHOLDERS = {
    "FILE": str(SAMPLE), "DIR": ".", "RUN": "1", "SET": "1", "TASK": "1", "ID": "1", "OLD": "1", "NEW": "2",
    "sts-train.tsv": str(SAMPLE), "sts-dev.tsv": str(SAMPLE), "sts-test.tsv": str(SAMPLE),
}  # fmt: skip
"""What the documents write for something of the reader's own."""


def words_of(text: str) -> list[str]:
    """The words after `augsbert`, with something in place of the placeholders."""
    words = shlex.split(text.removeprefix(".venv/bin/"))[1:]
    return [PLACEHOLDERS.get(word, word) for word in words]


def split_command(words: list[str]) -> tuple[str, list[str]]:
    """The name of the command and its arguments, without what stands before it (`--home DIR`, `--version`)."""
    while words and words[0].startswith("--"):
        words = words[2:] if words[0] == "--home" else words[1:]
    for length in (2, 1):
        if " ".join(words[:length]) in COMMANDS:
            return " ".join(words[:length]), words[length:]
    return " ".join(words[:1]), words[1:]


def test_there_are_commands_to_check() -> None:
    assert len(OURS) > 35
    assert len(OTHERS) > 10


@pytest.mark.parametrize("line", OURS, ids=str)
def test_every_augsbert_command_is_accepted(line: Line) -> None:
    """Each name, option and value passes the parser, as far as it is spelt out."""
    name, arguments = split_command(words_of(line.text))
    if not name:  # `augsbert --version`
        known = {option for one in typer.main.get_command(app).params for option in one.opts}
        assert set(words_of(line.text)) <= known, line
        return
    groups = {command.rpartition(" ")[0] for command in COMMANDS}
    assert name in COMMANDS or name in groups, f"{line} is no command"
    if name not in COMMANDS:
        return
    command = COMMANDS[name]
    if line in _SENTENCES and not arguments:  # a name in a sentence, without what it needs
        return
    known = {option for one in command.params for option in (*one.opts, *one.secondary_opts)}
    assert {word for word in arguments if word.startswith("--")} <= known, line
    with command.make_context(name, list(arguments)):
        pass


_SENTENCES = {
    line
    for line in OURS
    if f"`{line.text}`" in text_of(ROOT / line.document)
}  # fmt: skip


@pytest.mark.parametrize("line", OTHERS, ids=str)
def test_every_other_command_names_what_exists(line: Line) -> None:
    words = shlex.split(line.text)
    while "=" in words[0]:
        words = words[1:]
    program, arguments = words[0].removeprefix(".venv/bin/"), words[1:]
    project = tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]
    extras = project["optional-dependencies"]
    if program == "make":
        targets = [word for word in arguments if "=" not in word]
        for target in targets:
            assert re.search(rf"^{target}:", text_of(ROOT / "Makefile"), re.MULTILINE), line
    elif program == "pip" or arguments[:3] == ["-m", "pip", "install"]:
        for extra in re.findall(r"\[([a-z,]+)\]", line.text):
            assert set(extra.split(",")) <= extras.keys(), line
        for place, word in enumerate(arguments):
            if word == "-c":
                assert (ROOT / arguments[place + 1]).is_file(), line
            if word.startswith("torch=="):
                assert word in text_of(ROOT / "constraints.txt").splitlines(), line
    elif program in {"python", "python3"} and arguments[:1] == ["-m"]:
        module = arguments[1]
        assert module in {"venv", "pytest"}, line
        for word in arguments[2:]:
            assert not word.startswith("tests/") or (ROOT / word).exists(), line
        for marker in re.findall(r"not (\w+)", line.text):
            assert f'"{marker}: ' in text_of(ROOT / "pyproject.toml"), line
    elif program in {"python", "python3"}:
        script = text_of(ROOT / arguments[0])
        for option in (word for word in arguments[1:] if word.startswith("--")):
            assert f'"{option}"' in script, f"{line}: {option}"
    elif program == "streamlit":
        assert (arguments[0], (ROOT / arguments[1]).is_file()) == ("run", True), line
        assert all(word.startswith("--server.") for word in arguments[2:] if word.startswith("--"))
    else:
        assert program in {"ruff", "mypy"}, f"{line} is a command that no test knows"
        assert any(each.startswith(program) for each in extras["dev"]), line


# --- commands that are run -------------------------------------------------------------------------


def run_line(augsbert: Terminal, line: str, told: Mapping[str, object]) -> None:
    """Run a documented line as it stands, but for the reader's own names."""
    words = [str(told.get(word, word)) for word in shlex.split(line)[1:]]
    code, out, err = augsbert(*words)
    assert code == 0, f"{line}\n{out}\n{err}"


def documented(start: str) -> str:
    """The one line of the documents that begins like this."""
    (found,) = {line.text for line in OURS if line.text.startswith(start)}
    return found


@pytest.fixture
def terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Terminal:
    """The sample's gold pairs in a project P."""
    terminal = Terminal(tmp_path / "home", capsys)
    told = {"FILE": SAMPLE}
    run_line(terminal, documented("augsbert import FILE --project P --score-range"), told)
    return terminal


def test_documented_commands_work_on_the_sample(terminal: Terminal, tmp_path: Path) -> None:
    """Those that need no model: nothing is replaced here."""
    told: dict[str, object] = {
        "FILE": SAMPLE,
        "STS": "P",
        "gold.parquet": tmp_path / "gold.parquet",
    }
    run_line(terminal, documented("augsbert import FILE --dry-run"), told)
    run_line(terminal, documented("augsbert sample --project P --strategy bm25"), told)
    run_line(terminal, documented("augsbert export gold"), told)
    assert (tmp_path / "gold.parquet").stat().st_size > 1000
    run_line(terminal, documented("augsbert backup"), {"FILE": tmp_path / "copy.db"})
    assert open_workspace(tmp_path / "home").database.stat().st_size > 100_000
    assert (tmp_path / "copy.db").is_file()
    for line in ("augsbert annotate queues", "augsbert recipes"):
        assert line in {each.text for each in OURS}
        run_line(terminal, line, {})
    for more in ("strategies --project P", "imports --project P", "recipes show augsbert"):
        run_line(terminal, f"augsbert {more}", {})
    for listing in ("projects", "jobs"):
        code, out, _ = terminal(listing)
        assert (code, "P" in out) == (0, True)


def test_documented_commands_work_on_a_silver_set(terminal: Terminal, tmp_path: Path) -> None:
    """Keeping, review, audit and annotation of a small made set."""
    workspace = open_workspace(tmp_path / "home")
    (project,) = list_projects(workspace)
    set_id = sixty_pairs(workspace, project)
    told: dict[str, object] = {"SET": set_id, "ID": 1}
    run_line(terminal, documented("augsbert keep --project P"), {"ID": set_id})
    run_line(terminal, f"augsbert top-k --project P --silver {set_id}", {})
    run_line(terminal, documented("augsbert review SET"), told)
    run_line(terminal, documented("augsbert audit draw SET"), told)
    run_line(terminal, f"augsbert audit report {set_id}", {})
    new = ("annotate", "new", "--project", "P", "--candidates", 1, "--queue", "random")
    task = terminal.json(*new, "--pairs", 20, "--people", 2)["task_id"]
    run_line(terminal, documented("augsbert annotate agreement TASK"), {"TASK": task})
    code, _, said = terminal("annotate", "merge", task, "--how", "mean")
    assert (code, "score" in said) == (1, True)  # nobody has scored yet


@pytest.mark.usefixtures("small_models")
def test_the_loop_of_the_readme_works(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Most of the block under Command line, in its order, with models that train at once."""
    terminal = Terminal(tmp_path / "home", capsys)
    (tmp_path / "gold.csv").write_text(GOLD_CSV, encoding="utf-8")
    imported = documented("augsbert import FILE --project P --score-range")
    run_line(terminal, imported, {"FILE": tmp_path / "gold.csv"})
    labeler: dict[str, object] = {"RUN": 2, "ID": 1}
    for start in (
        "augsbert train cross-encoder --project P",
        "augsbert sample --project P --strategy bm25 --top-k 5",
        "augsbert label --project P",
    ):
        run_line(terminal, documented(start), labeler)
    run_line(terminal, documented("augsbert train bi-encoder --project P --silver ID"), {"ID": 1})
    runs = terminal.json("compare", "--project", "P")["rows"]
    student = max(row["run_id"] or 0 for row in runs)
    run_line(
        terminal,
        documented("augsbert train bi-encoder --project P --equal-steps"),
        {"RUN": student},
    )
    run_line(terminal, documented("augsbert gate --project P"), {})
    run_line(terminal, "augsbert compare --project P --markdown", {})


# --- what documents say of the code ----------------------------------------------------------------


@cache
def names_in(path: Path) -> set[str]:
    """What a module defines at its top: functions, classes and constants."""
    found: set[str] = set()
    for node in ast.parse(text_of(path)).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
    return found


METHOD = text_of(ROOT / "docs" / "method.md")
SECTIONS = re.split(r"^## ", METHOD, flags=re.MULTILINE)[1:]


def test_every_function_of_the_method_exists() -> None:
    links = re.findall(r"\[`([\w.]+)`\]\(\.\./(augsbert_core/[\w/]+\.py)\)", METHOD)
    assert len(links) == METHOD.count("[`")  # every name is a link
    assert len(links) > 90
    for name, file in links:
        module, _, function = name.rpartition(".")
        assert f"augsbert_core/{module.replace('.', '/')}.py" == file, name
        assert function in names_in(ROOT / file), f"{name} is not in {file}"


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.splitlines()[0])
def test_every_formula_names_its_source_and_its_function(section: str) -> None:
    assert re.search(r"^Source: .{10,}", section, flags=re.MULTILINE)
    assert re.search(r"^- \[`", section, flags=re.MULTILINE)


def test_the_method_names_every_strategy_queue_and_loss() -> None:
    from augsbert_core.models.losses import LOSSES
    from augsbert_core.models.pair_losses import PAIR_LOSSES

    functions: list[object] = [*SAMPLERS.values(), *(queue.function for queue in QUEUES.values())]
    for function in functions:
        name = getattr(function, "__name__", "?")
        assert f".{name}`]" in METHOD, name
    for name in (*QUEUES, *LOSSES, *PAIR_LOSSES):
        assert re.search(rf"(^|[\s,]){name}[\s,]", METHOD, flags=re.MULTILINE), name


def test_files_named_in_the_documents_exist() -> None:
    for path in DOCUMENTS:
        if path.name in {
            "changelog.md",
            "results.md",
        }:  # they speak of other times, and of files as data
            continue
        for name in re.findall(
            r"`((?:augsbert_core|tests|pages|docs|benchmarks)/[\w/.*]*)`", text_of(path)
        ):
            is_to_be_made = Path(name).stem == "mine"
            assert is_to_be_made or any(ROOT.glob(name.rstrip("/"))), f"{path.name}: {name}"
    recipes = text_of(ROOT / "docs" / "contributing.md")
    places = re.findall(r"`([A-Z_]{4,})`[^()]{0,60}\(`(augsbert_core/[\w/]+\.py)`\)", recipes)
    assert len(places) >= 5
    for constant, file in places:
        assert constant in names_in(ROOT / file), f"{constant} is not in {file}"


def test_links_between_documents_resolve() -> None:
    for path in DOCUMENTS:
        for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", text_of(path)):
            file, _, anchor = target.partition("#")
            other = (path.parent / file).resolve() if file else path
            assert other.exists(), f"{path.name}: {target}"
            if anchor:
                headings = re.findall(r"^#+ (.+)$", text_of(other), flags=re.MULTILINE)
                slugs = {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}
                assert anchor in slugs, f"{path.name}: {target}"
    for path in (ROOT / "docs").glob("*.md"):
        assert f"(docs/{path.name})" in README, f"{path.name} is not linked from the README"


def test_results_in_the_readme_are_those_that_were_measured() -> None:
    """Scores and differences in the README stand in docs/results.md too."""
    results = text_of(ROOT / "docs" / "results.md").replace("−", "-")
    questions = README.split("## Questions")[1].split("## Words")[0]
    tour = README.split("## Tour")[1].split("\n## ")[0]
    differences = {"1.9": 80.8 - 78.9}  # of two rows of one table
    for number in re.findall(r"(?<![\d.=])\d{1,2}\.\d(?![\d.])", questions + tour):
        expected = differences.get(number)
        if expected is not None:
            assert f"{expected:.1f}" == number
            assert "80.8 (78.6 to 82.7)" in results
            assert "78.9 (76.6 to 81.0)" in results
        else:
            assert re.search(rf"(?<![\d.]){re.escape(number)}(?!\d)", results), number
