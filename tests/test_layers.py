"""Imports point down only: each room may touch the rooms below it and the libraries of its layer."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = "augsbert_core"

WORDS = {
    "pairs",
    "options",
    "errors",
    "progress",
    "bundle",
    "fence",
    "files",
    "cards",
    "scripts",
    "toml_text",
    "scales",
    "learn",
    "person_names",
    "explain",
    "words",
}
NUMERICS = {
    "sampling",
    "density",
    "metrics",
    "charts",
    "calibration",
    "seeds",
    "best_worst",
    "queues",
    "word_diff",
}
FILES = {"importing", "exporting"}
ENGINE = WORDS | NUMERICS | FILES | {"models", "storage"}

ROOMS: dict[str, tuple[set[str], set[str]]] = {
    # room: (rooms it may import, libraries it may import besides the standard library)
    "words": (WORDS, {"numpy"}),
    "numerics": (
        WORDS | NUMERICS,
        {"numpy", "scipy", "sklearn", "rank_bm25", "numba", "pandas", "plotly"},
    ),
    "models": (
        WORDS | NUMERICS | {"models"},
        {"numpy", "scipy", "torch", "transformers", "sentence_transformers", "datasets", "accelerate",
         "safetensors", "huggingface_hub", "faiss", "tokenizers"},
    ),
    "importing": (
        WORDS | {"importing"},
        {"numpy", "scipy", "pyarrow", "openpyxl", "charset_normalizer", "datasets", "huggingface_hub"},
    ),
    "exporting": (
        WORDS | {"exporting", "importing"},
        {"numpy", "pyarrow", "openpyxl", "datasets"},
    ),
    "storage": (WORDS | FILES | {"storage"}, {"numpy", "pandas", "sqlite_utils"}),
    "steps": (ENGINE | {"steps"}, {"numpy", "pandas"}),
    "jobs": (ENGINE | {"steps", "jobs"}, {"psutil"}),
    "cli": (ENGINE | {"steps", "jobs", "cli"}, {"typer", "rich", "streamlit", "click"}),
    "ui": (
        WORDS | NUMERICS | FILES | {"storage", "steps", "jobs", "ui", "devices"},
        {"numpy", "pandas", "plotly", "streamlit"},
    ),
}  # fmt: skip

JOB_MODULES = {"jobs", "worker", "processes", "classroom"}


def room_of(path: Path) -> str:
    """The room a source file belongs to."""
    relative = path.relative_to(ROOT)
    if relative.parts[0] != PACKAGE:
        return "ui"
    name = relative.parts[1].removesuffix(".py")
    if name in WORDS or name == "__init__":
        return "words"
    if name in NUMERICS:
        return "numerics"
    if name == "serve":
        return "ui"
    return "jobs" if name in JOB_MODULES else name


def imports_of(path: Path) -> list[str]:
    """The dotted name of every module that a file imports, wherever in the file."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            # "from augsbert_core import metrics" names the room in the alias.
            found += [f"{base}.{alias.name}" for alias in node.names] if base == PACKAGE else [base]
    return found


SOURCES = sorted(
    [*ROOT.glob(f"{PACKAGE}/**/*.py"), *ROOT.glob("pages/*.py"), ROOT / "app.py"],
)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_imports_only_from_below(path: Path) -> None:
    room = room_of(path)
    rooms, libraries = ROOMS[room]
    for module in imports_of(path):
        head, _, rest = module.partition(".")
        if head == PACKAGE:
            target = rest.split(".")[0] if rest else ""
            target = "jobs" if target in JOB_MODULES else target
            if room == "ui" and rest.startswith("models"):
                assert rest == "models.devices", f"{path} imports {module}: pages never train"
                continue
            assert target in rooms or target in {"", "__version__"}, f"{path} imports {module}"
        elif head not in sys.stdlib_module_names:
            assert head in libraries, f"{path} imports {module}, which its room does not use"


def test_the_app_and_the_command_line_start_without_torch() -> None:
    """Whatever a page or command imports at start must not pull in the training libraries."""
    modules = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for path in SOURCES
        if path.parts[-2] not in {"models", "pages"} and path.name != "app.py"
    ]
    modules += [f"{PACKAGE}.models.{name}" for name in ("catalog", "devices", "training")]
    heavy = [
        "torch",
        "transformers",
        "sentence_transformers",
        "datasets",
        "accelerate",
        "numba",
        "sklearn",
        "openpyxl",
    ]
    program = (
        f"import importlib, sys\nfor name in {modules!r}: importlib.import_module(name)\n"
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.stdout.strip() == "[]", result.stdout + result.stderr


def test_sql_lives_in_storage_alone() -> None:
    for path in SOURCES:
        if room_of(path) == "storage":
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                words = node.value.split()
                is_sql = words[:1] in (["SELECT"], ["INSERT"], ["UPDATE"], ["DELETE"], ["PRAGMA"])
                assert not is_sql, f"{path}:{node.lineno} holds SQL"
