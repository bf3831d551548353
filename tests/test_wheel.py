"""The built wheel holds the app, and its command works in any folder."""

import os
import subprocess
import sys
import sysconfig
import time
import urllib.request
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def run(*command: object, cwd: Path, **extra: str) -> str:
    result = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": "", **extra},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new virtual environment with the wheel in it; the dependencies are those of the test run."""
    folder = tmp_path_factory.mktemp("wheel")
    run(
        *(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT),
        cwd=folder,
    )
    (wheel,) = folder.glob("*.whl")
    venv.create(folder / "env", with_pip=True)
    python = next(
        path
        for path in (folder / "env" / "bin" / "python", folder / "env" / "Scripts" / "python.exe")
        if path.exists()
    )
    run(python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel, cwd=folder)
    site = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder)
    (Path(site.strip()) / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python


def test_the_wheel_brings_its_own_app_and_sample(installed: Path, tmp_path: Path) -> None:
    program = (
        "import augsbert_core.bundle as b; r = b.root(); print(r);"
        "print(all((r / n).exists() for n in"
        " ('app.py', 'pages/start.py', '.streamlit/config.toml', 'sample_data/gold_pairs.csv')))"
    )
    root, is_complete = run(installed, "-c", program, cwd=tmp_path).split("\n")[:2]
    assert is_complete == "True"
    assert ROOT not in Path(root).parents


def test_the_command_works_in_any_folder(installed: Path, tmp_path: Path) -> None:
    augsbert = installed.with_name("augsbert")
    (tmp_path / "gold.csv").write_text("sentence1,sentence2,score,split\na b,a c,1,train\n")
    run(augsbert, "import", "gold.csv", "-p", "P", "--score-range", "0:5", cwd=tmp_path)
    assert (tmp_path / "workspace" / "workbench.db").exists()
    assert '"P"' in run(augsbert, "projects", "--json", cwd=tmp_path)


def test_the_app_starts_from_any_folder_and_uses_its_workspace(
    installed: Path, tmp_path: Path, free_port: int
) -> None:
    with subprocess.Popen(
        [installed.with_name("augsbert"), "app", "--port", str(free_port)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        try:
            health = f"http://localhost:{free_port}/_stcore/health"
            for _ in range(240):
                try:
                    with urllib.request.urlopen(health, timeout=1) as answer:
                        assert answer.status == 200
                        break
                except OSError:
                    assert process.poll() is None
                    time.sleep(0.25)
            else:
                pytest.fail("the app did not start")
            assert (tmp_path / "workspace" / "workbench.db").exists()
        finally:
            process.terminate()
            process.wait(20)
