"""Whether the last job of a step still deserves room on its page."""

from augsbert_core.storage.queue import list_jobs
from augsbert_core.ui.bench import Bench


def needs_a_look(bench: Bench, *steps: str) -> bool:
    """True while the last job of these steps waits or runs, and when it went wrong; its result speaks for a done one."""
    project_id = bench.project.id if bench.project else None
    jobs = [job for job in list_jobs(bench.workspace, project_id) if job.step in steps]
    return bool(jobs) and jobs[0].state != "done"
