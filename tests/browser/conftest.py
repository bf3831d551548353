"""A real server and a real Chromium."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class Server:
    """The app on a free port, with a workspace of its own; it can be stopped and started again."""

    def __init__(self, home: Path) -> None:
        self.home = home
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://localhost:{self.port}"
        self.process: subprocess.Popen | None = None

    def start(self) -> None:
        """Start and wait until the server says that it is well."""
        self.process = subprocess.Popen(
            # As `augsbert app` starts it.
            [
                *(sys.executable, "-m", "augsbert_core.serve"),
                *("run", "app.py", "--server.port", str(self.port)),
            ],
            cwd=ROOT,
            env={**os.environ, "AUGSBERT_HOME": str(self.home), "HF_HUB_OFFLINE": "1"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for _ in range(240):
            try:
                with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=1) as answer:  # noqa: S310
                    if answer.status == 200:
                        return
            except OSError:
                time.sleep(0.25)
        raise RuntimeError("the server did not start")

    def kill(self) -> None:
        """End the server at once, as a crash would."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    made = Server(tmp_path / "home")
    made.start()
    yield made
    made.kill()


@pytest.fixture(scope="session")
def browser() -> Iterator[object]:
    if not CHROMIUM:
        if os.environ.get("BROWSER_TESTS") == "require":
            pytest.fail("Chromium is not installed, but BROWSER_TESTS=require asks for it")
        pytest.skip("Chromium is not installed (Debian: apt-get install chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()
