"""Files in, in the background: the step that reads what was kept in the workspace."""

from typing import Any

from augsbert_core.errors import WorkbenchError
from augsbert_core.options import ImportFilesOptions, ImportOptions, from_json
from augsbert_core.steps.context import StepContext
from augsbert_core.steps.import_data import import_files
from augsbert_core.steps.import_plan import SourceFile
from augsbert_core.storage import uploads
from augsbert_core.storage.batches import children
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project


def import_in_background(context: StepContext, options: ImportFilesOptions) -> dict[str, Any]:
    """The step of a background import: what `import_files` does, with files that were kept in the workspace.

    Begun again after a crash that came just after the rows, it finds them there and is done.
    """
    paths = [file.path for file in options.files]
    if done := children(context.workspace, context.run.id):
        uploads.forget_uploads(context.workspace, paths, read_by=context.run.id)
        return _summary(
            [run.id for run in done],
            *(
                sum(run.metrics[key] for run in done)
                for key in ("rows_read", "pairs_kept", "rejected")
            ),
        )
    sources = [
        SourceFile(
            file.name,
            uploads.read_upload(context.workspace, file.path),
            from_json(ImportOptions, file.options),
        )
        for file in options.files
    ]
    imported = import_files(
        context.workspace,
        context.project.id,
        sources,
        context.report,
        context.should_stop,
        parent_run_id=context.run.id,
    )
    uploads.forget_uploads(context.workspace, paths, read_by=context.run.id)
    run_ids = [file.run_id for file in imported.files]
    return _summary(run_ids, imported.rows_read, imported.pairs_kept, len(imported.rejected))


def _summary(run_ids: list[int], rows_read: int, kept: int, rejected: int) -> dict[str, Any]:
    return {
        "import_run_ids": run_ids,
        "rows_read": rows_read,
        "pairs_kept": kept,
        "rejected": rejected,
    }


def check_import(workspace: Workspace, project: Project, options: ImportFilesOptions) -> None:
    """WorkbenchError: there is nothing to import, or a file is gone."""
    if not options.files:
        raise WorkbenchError("There is no file to import. Choose one first.")
    for file in options.files:
        uploads.require_upload(workspace, file.path)
