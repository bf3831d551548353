"""The sample project: our own small gold set and unlabelled sentences, imported like anybody's."""

import hashlib

from augsbert_core import bundle
from augsbert_core.errors import WorkbenchError
from augsbert_core.options import ImportOptions
from augsbert_core.steps.import_data import import_file
from augsbert_core.storage import projects, runs
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project

SAMPLE_NAME = "Sample: everyday sentences"

STUDENT_LAYERS = 2
"""The sample's student keeps 2 of 6 layers: small enough for silver pairs to have something to teach."""

SAMPLE_FILES = (
    ("gold_pairs.csv", ImportOptions(kind="pairs", score_range=(0.0, 5.0))),
    ("computing_sentences.csv", ImportOptions(kind="sentences")),
)


def open_sample_project(workspace: Workspace, name: str = SAMPLE_NAME) -> Project:
    """The sample project, made at the first call; asked for again, the one there is.

    The sentences of the second domain come in as unlabelled; sampling leaves them out unless asked.
    """
    project = projects.find_project(workspace, name) or projects.create_project(
        workspace, name, student_layers=STUDENT_LAYERS, is_sample=True
    )
    for file, options in SAMPLE_FILES:
        path = bundle.root() / "sample_data" / file
        try:
            data = path.read_bytes()
        except OSError as error:
            raise WorkbenchError(
                f"The sample file {file} is missing from this installation ({error.strerror}). "
                "Install the workbench again."
            ) from error
        if runs.find_import(workspace, project.id, hashlib.sha256(data).hexdigest()) is None:
            import_file(workspace, project.id, data, file, options)
    return projects.get_project(workspace, project.id)
