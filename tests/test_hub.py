"""Pushing a model: against a hub of our own on this machine, with the real client and its real protocol."""

import base64
import json
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from typer.testing import CliRunner

from augsbert_core import cli
from augsbert_core.errors import WorkbenchError
from augsbert_core.models import hub
from augsbert_core.options import BiEncoderOptions, PushOptions, to_json
from augsbert_core.steps import export
from augsbert_core.storage import queue, runs
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project

TOKEN = "hf_verysecret"


class FakeHub(ThreadingHTTPServer):
    """The few answers of the hub that a push of small files needs. refuse: answer everything with 403."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), FakeHandler)
        self.repos: dict[str, dict[str, Any]] = {}
        self.files: dict[str, bytes] = {}
        self.tokens: set[str | None] = set()
        self.refuse = False

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class FakeHandler(BaseHTTPRequestHandler):
    server: FakeHub

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        repo = self.path.removeprefix("/api/models/").partition("?")[0]
        self.answer({"id": repo, "siblings": [], "sha": "0" * 40, **self.server.repos[repo]})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        self.server.tokens.add(self.headers.get("Authorization"))
        if self.server.refuse:
            self.answer({"error": f"the token {TOKEN} has no write access"}, 403)
        elif self.path == "/api/repos/create":
            told = json.loads(body)
            repo = f"{told.get('organization', 'me')}/{told['name']}"
            if repo in self.server.repos:
                self.answer({"error": "exists", "url": f"{self.server.address}/{repo}"}, 409)
                return
            private = told.get("private", told.get("visibility") == "private")
            self.server.repos[repo] = {"private": private}
            self.answer({"url": f"{self.server.address}/{repo}"})
        elif self.path == "/api/validate-yaml":
            assert "library_name" in json.loads(body)["content"]
            self.answer({"errors": [], "warnings": []})
        elif "/preupload/" in self.path:
            files = json.loads(body)["files"]
            self.answer(
                {
                    "files": [
                        {"path": one["path"], "uploadMode": "regular", "shouldIgnore": False}
                        for one in files
                    ]
                }
            )
        elif "/commit/" in self.path:
            for line in body.splitlines():
                item = json.loads(line)
                if item["key"] == "file":
                    value = item["value"]
                    self.server.files[value["path"]] = base64.b64decode(value["content"])
            self.answer({"commitUrl": f"{self.server.address}/x/y/commit/1", "commitOid": "1" * 40})

    def answer(self, content: dict[str, Any], status: int = 200) -> None:
        data = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture
def fake_hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    """A hub on this machine, which alone may be reached."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    server = FakeHub()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def run_id(workspace: Workspace, project: Project) -> int:
    """A finished run with a model folder of small files."""
    told = BiEncoderOptions(base="owner/base", seed=1)
    made = runs.add_run(workspace, project.id, "train-bi-encoder", "b", to_json(told), 1)
    folder = workspace.run_folder(made) / "model"
    (folder / "1_Pooling").mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(b"weights" * 100)
    (folder / "config.json").write_text("{}")
    (folder / "1_Pooling" / "config.json").write_text("{}")
    runs.update_run(
        workspace, made, model_path=f"models/run-{made}/model", metrics={"metric": "spearman"}
    )
    job = queue.add_job(workspace, project.id, made, "train-bi-encoder", "cpu")
    queue.finish_job(workspace, job, "done", message="Done")
    return made


def test_a_push_makes_a_private_repository_and_uploads_every_file(
    workspace: Workspace, run_id: int, fake_hub: FakeHub
) -> None:
    options = PushOptions(run_id, "owner/model")
    address = export.push_model(workspace, options, TOKEN, endpoint=fake_hub.address)
    assert address == f"{fake_hub.address}/owner/model"
    assert fake_hub.repos == {"owner/model": {"private": True}}
    assert fake_hub.tokens == {f"Bearer {TOKEN}"}
    sizes = {name: len(content) for name, content in fake_hub.files.items()}
    assert sizes == dict(export.push_files(workspace, run_id))
    assert fake_hub.files["model.safetensors"] == b"weights" * 100
    assert b'base_model: "owner/base"' in fake_hub.files["README.md"]
    assert runs.get_run(workspace, run_id).metrics["pushed_to"] == address
    stored = b"".join(path.read_bytes() for path in workspace.home.glob("workbench.db*"))
    assert TOKEN.encode() not in stored


def test_a_second_push_goes_to_the_same_repository(
    workspace: Workspace, run_id: int, fake_hub: FakeHub
) -> None:
    for _ in range(2):
        options = PushOptions(run_id, "owner/model", private=False)
        export.push_model(workspace, options, TOKEN, endpoint=fake_hub.address)
    assert fake_hub.repos == {"owner/model": {"private": False}}


def test_nothing_private_goes_into_a_public_repository(
    workspace: Workspace, run_id: int, fake_hub: FakeHub
) -> None:
    fake_hub.repos["owner/model"] = {"private": False}
    with pytest.raises(WorkbenchError, match="exists already and is public"):
        export.push_model(
            workspace, PushOptions(run_id, "owner/model"), TOKEN, endpoint=fake_hub.address
        )
    assert not fake_hub.files


def test_a_refusal_is_told_without_the_token(
    workspace: Workspace, run_id: int, fake_hub: FakeHub
) -> None:
    fake_hub.refuse = True
    with pytest.raises(WorkbenchError, match="owner/model") as caught:
        export.push_model(
            workspace, PushOptions(run_id, "owner/model"), TOKEN, endpoint=fake_hub.address
        )
    assert TOKEN not in str(caught.value)
    assert "pushed_to" not in runs.get_run(workspace, run_id).metrics


@pytest.mark.parametrize("repo", ["", "model", "a/b/c", "../x", "a b/c", "owner/", "owner/a--b"])
def test_what_is_no_repository_is_refused(workspace: Workspace, run_id: int, repo: str) -> None:
    with pytest.raises(WorkbenchError, match="owner/name"):
        export.push_model(workspace, PushOptions(run_id, repo), TOKEN)


def test_offline_the_real_hub_is_not_asked(workspace: Workspace, run_id: int) -> None:
    with pytest.raises(WorkbenchError, match="offline mode is enabled"):
        export.push_model(workspace, PushOptions(run_id, "owner/model"), TOKEN)
    with pytest.raises(WorkbenchError, match="no token"):
        export.push_model(workspace, PushOptions(run_id, "owner/model"), " ")


def test_the_command_lists_files_and_never_uploads_unasked(
    workspace: Workspace, run_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pushed: list[tuple[str, str, bool]] = []

    def push(
        files: list[Any], repo: str, token: str, *, private: bool, endpoint: str | None
    ) -> str:
        pushed.append((repo, token, private))
        return f"https://hub/{repo}"

    monkeypatch.setattr(hub, "push", push)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    told = ["--home", str(workspace.home), "push", "--run", str(run_id), "--repo", "owner/model"]
    dry = CliRunner().invoke(cli.app, [*told, "--dry-run"])
    assert dry.exit_code == 0
    assert "model.safetensors" in dry.stdout
    assert "Not sent" in dry.stdout
    unasked = CliRunner().invoke(cli.app, told)
    assert isinstance(unasked.exception, WorkbenchError)
    assert "--yes" in str(unasked.exception)
    assert not pushed

    sure = CliRunner().invoke(cli.app, [*told, "--public", "--yes", "--json"])
    assert sure.exit_code == 0, sure.exception
    assert pushed == [("owner/model", TOKEN, False)]
    assert json.loads(sure.stdout)["address"] == "https://hub/owner/model"
    assert TOKEN not in dry.output + sure.output


def test_the_folder_of_a_model_that_is_gone_is_named(workspace: Workspace, run_id: int) -> None:
    shutil.rmtree(workspace.run_folder(run_id))
    with pytest.raises(WorkbenchError, match="is gone"):
        export.push_files(workspace, run_id)
