"""Push a model to the Hugging Face hub. The token is an argument, and is kept nowhere."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from augsbert_core.errors import WorkbenchError

ENVIRONMENT = "HF_TOKEN"
"""The environment variable that a token is read from when none is given."""

_REPO = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")


def check_repo(repo: str) -> None:
    """WorkbenchError: this can be no repository on the hub."""
    if not _REPO.fullmatch(repo) or len(repo) > 96 or "--" in repo or ".." in repo:
        raise WorkbenchError(
            f"{repo!r} is no repository. Write it as owner/name, with letters, digits, '.', '-' and '_'."
        )


def push(
    files: Sequence[tuple[str, Path | bytes]],
    repo: str,
    token: str,
    *,
    private: bool,
    endpoint: str | None = None,
) -> str:
    """Make the repository if there is none, upload the files as one commit, and return the model's address.

    files: (name there, file or content); files are read from disk as they are sent. A repository that exists keeps
    its visibility. WorkbenchError: no token, no connection, or the hub refuses; never with the token in it.
    """
    if not token.strip():
        raise WorkbenchError(
            f"There is no token. Make one with write access at huggingface.co/settings/tokens, and give it in "
            f"{ENVIRONMENT}."
        )
    from huggingface_hub import CommitOperationAdd, HfApi
    from huggingface_hub.utils import disable_progress_bars

    disable_progress_bars()
    token = token.strip()
    api = HfApi(endpoint=endpoint, token=token)
    operations = [
        CommitOperationAdd(path_in_repo=name, path_or_fileobj=source) for name, source in files
    ]
    try:
        api.create_repo(repo, private=private, exist_ok=True)
        _check_visibility(api, repo, private)
        api.create_commit(repo, operations, commit_message="Add model from the AugSBERT Workbench")
    except WorkbenchError:
        raise
    except Exception as error:  # noqa: BLE001 (the hub client fails in a dozen unrelated ways)
        text = " ".join(str(error).split()).replace(token, "…")[:300]
        raise WorkbenchError(
            f"The hub did not take {repo}: {text or type(error).__name__}"
        ) from None
    return f"{api.endpoint}/{repo}"


def _check_visibility(api: Any, repo: str, private: bool) -> None:
    """Never upload what was meant to be private into a public repository that was there before."""
    if private and not api.model_info(repo).private:
        raise WorkbenchError(
            f"The repository {repo} exists already and is public. Make it private on the hub, name another one, "
            "or push it as public."
        )
