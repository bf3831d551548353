"""What a step is handed besides its options."""

from dataclasses import dataclass
from pathlib import Path

from augsbert_core.progress import Report, ShouldStop, never, silent
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project, Run


@dataclass(frozen=True)
class StepContext:
    """The run that a step carries out, where it works, and how it reports and is stopped."""

    workspace: Workspace
    project: Project
    run: Run
    device: str = "cpu"
    report: Report = silent
    should_stop: ShouldStop = never

    @property
    def folder(self) -> Path:
        """The run's own folder, made when first asked for."""
        folder = self.workspace.run_folder(self.run.id)
        folder.mkdir(parents=True, exist_ok=True)
        return folder
