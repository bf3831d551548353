"""Projects: create, rename, delete, and count what each one holds."""

import sqlite3
from dataclasses import dataclass

from augsbert_core.errors import WorkbenchError
from augsbert_core.pairs import TASKS, ScoreRange
from augsbert_core.storage import deletion
from augsbert_core.storage.database import Workspace, now, reading, writing
from augsbert_core.storage.queue import refuse_while_at_work
from augsbert_core.storage.records import Project, record

LONGEST_GUIDELINE = 20_000
"""Characters: some ten pages, more than anyone reads beside a pair."""


def create_project(
    workspace: Workspace,
    name: str,
    *,
    task: str = "regression",
    score_range: ScoreRange | None = None,
    student_layers: int | None = None,
    is_sample: bool = False,
) -> Project:
    """Add an empty project. WorkbenchError: the name is empty, too long or taken."""
    if task not in TASKS:
        raise ValueError(f"task must be one of {TASKS}, not {task!r}")
    scale = score_range or ScoreRange(0.0, 1.0)
    row = (
        _checked_name(name),
        task,
        scale.low,
        scale.high,
        student_layers,
        is_sample,
        now(),
    )
    try:
        with writing(workspace) as db:
            cursor = db.execute(
                "INSERT INTO project (name, task, score_low, score_high, student_layers, is_sample,"
                " created_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
                row,
            )
            project_id = cursor.lastrowid
    except sqlite3.IntegrityError:
        raise _name_taken(name) from None
    assert project_id is not None  # noqa: S101 (for the type checker; SQLite always gives a row id)
    return get_project(workspace, project_id)


def find_or_create_project(workspace: Workspace, name: str) -> tuple[Project, bool]:
    """The project with this name, and whether it was made just now: of several callers at once one makes it.

    WorkbenchError: the name is empty or too long.
    """
    name = _checked_name(name)
    with writing(workspace) as db:
        find = "SELECT * FROM project WHERE name = ?"
        row = db.execute(find, [name]).fetchone()
        if row is not None:
            return record(Project, row), False
        db.execute(
            "INSERT INTO project (name, task, score_low, score_high, created_at) VALUES (?, ?, ?, ?, ?)",
            [name, TASKS[0], 0.0, 1.0, now()],
        )
        return record(Project, db.execute(find, [name]).fetchone()), True


def delete_if_empty(workspace: Workspace, project_id: int) -> bool:
    """Remove a project in which nothing was ever done; True when it is gone.

    Whoever has begun to bring something in keeps it: they have a run.
    """
    with writing(workspace) as db:
        db.execute(
            "DELETE FROM project WHERE id = ? AND NOT EXISTS (SELECT 1 FROM run WHERE project_id = project.id)",
            [project_id],
        )
        return not db.execute("SELECT 1 FROM project WHERE id = ?", [project_id]).fetchone()


def get_project(workspace: Workspace, project_id: int) -> Project:
    """The project with this id. WorkbenchError when it is gone."""
    with reading(workspace) as db:
        row = db.execute(
            "SELECT * FROM project WHERE id = ? AND NOT deleting", [project_id]
        ).fetchone()
    if row is None:
        raise WorkbenchError(f"Project {project_id} does not exist (any more). Choose another one.")
    return record(Project, row)


def find_project(workspace: Workspace, name: str) -> Project | None:
    """The project with this name, upper and lower case alike, or None."""
    with reading(workspace) as db:
        row = db.execute("SELECT * FROM project WHERE name = ?", [name.strip()]).fetchone()
    return record(Project, row) if row else None


def project_named(workspace: Workspace, name: str) -> Project:
    """The project with this name. WorkbenchError that lists the projects there are."""
    project = find_project(workspace, name)
    if project is None:
        names = ", ".join(repr(other.name) for other in list_projects(workspace)) or "none yet"
        raise WorkbenchError(f"There is no project {name!r}. Projects in this workspace: {names}.")
    return project


def list_projects(workspace: Workspace) -> list[Project]:
    """All projects, by name."""
    with reading(workspace) as db:
        return [
            record(Project, row)
            for row in db.execute(
                "SELECT * FROM project WHERE NOT deleting ORDER BY name COLLATE NOCASE"
            )
        ]


def rename_project(workspace: Workspace, project_id: int, name: str) -> None:
    """Give a project another name. WorkbenchError: empty, too long or taken."""
    try:
        with writing(workspace) as db:
            db.execute(
                "UPDATE project SET name = ? WHERE id = ?",
                [_checked_name(name), project_id],
            )
    except sqlite3.IntegrityError:
        raise _name_taken(name) from None


class GuidelineChanged(WorkbenchError):
    """Someone else has saved a guideline meanwhile. text: theirs."""

    def __init__(self, text: str) -> None:
        super().__init__("The guideline was changed elsewhere meanwhile. Yours was not saved.")
        self.text = text


def set_guideline(
    workspace: Workspace, project_id: int, text: str, *, seen: str | None = None
) -> None:
    """Say how pairs are to be scored, in Markdown.

    seen: the guideline that this text was made from. GuidelineChanged: it is another one by now; WorkbenchError: too
    long, or the project is gone. Then nothing is saved.
    """
    text = text.strip()
    if len(text) > LONGEST_GUIDELINE:
        raise WorkbenchError(
            f"The guideline has {len(text):,} characters, and {LONGEST_GUIDELINE:,} are the most. Shorten it."
        )
    with writing(workspace) as db:
        row = db.execute("SELECT guideline FROM project WHERE id = ?", [project_id]).fetchone()
        if seen is not None and row is not None and row[0] not in (seen, text):
            raise GuidelineChanged(row[0])
        changed = db.execute(
            "UPDATE project SET guideline = ? WHERE id = ? AND NOT deleting", [text, project_id]
        ).rowcount
    if not changed:
        raise WorkbenchError(f"Project {project_id} does not exist (any more). Choose another one.")


def delete_project(workspace: Workspace, project_id: int) -> list[int]:
    """Remove a project with all that belongs to it; returns its run ids, whose folders may go too.

    It is out of sight at once; of a large project, `deletion.sweep` removes the rest bit by bit.
    WorkbenchError: one of its jobs is still at work.
    """
    with writing(workspace) as db:
        refuse_while_at_work(db, project_id, "delete the project")
        rows = db.execute("SELECT id FROM run WHERE project_id = ?", [project_id]).fetchall()
        deletion.hide_project(db, project_id)
    deletion.sweep(workspace, deletion.AT_ONCE_SECONDS)
    return [row[0] for row in rows]


@dataclass(frozen=True)
class ProjectCounts:
    """How far a project has come, for the checklist on the Start page."""

    train: int
    dev: int
    test: int
    unlabelled_sentences: int
    cross_encoders: int
    candidate_sets: int
    silver_sets: int
    silver_pairs: int
    corrections: int
    bi_encoders: int
    augmented_bi_encoders: int
    evaluations: int

    @property
    def gold(self) -> int:
        return self.train + self.dev + self.test


def count_project(workspace: Workspace, project_id: int) -> ProjectCounts:
    """Count the rows of one project."""
    with reading(workspace) as db:
        row = db.execute(COUNT_SQL, {"project": project_id}).fetchone()
    return ProjectCounts(**dict(row))


COUNT_SQL = """
SELECT
  (SELECT count(*) FROM gold_pair WHERE project_id = :project AND split = 'train') AS train,
  (SELECT count(*) FROM gold_pair WHERE project_id = :project AND split = 'dev') AS dev,
  (SELECT count(*) FROM gold_pair WHERE project_id = :project AND split = 'test') AS test,
  (SELECT count(*) FROM sentence WHERE unlabelled_run_id IN
     (SELECT id FROM run WHERE project_id = :project AND step = 'import')) AS unlabelled_sentences,
  (SELECT count(*) FROM run WHERE project_id = :project AND step = 'train-cross-encoder'
     AND state = 'done') AS cross_encoders,
  (SELECT count(*) FROM candidate_set WHERE project_id = :project AND NOT deleting) AS candidate_sets,
  (SELECT count(*) FROM silver_set JOIN run ON run.id = run_id
     WHERE silver_set.project_id = :project AND run.state = 'done' AND NOT deleting) AS silver_sets,
  (SELECT coalesce(sum(n_pairs), 0) FROM silver_set WHERE project_id = :project AND NOT deleting)
     AS silver_pairs,
  (SELECT coalesce(sum(n_pairs), 0) FROM silver_bin WHERE status = 'corrected' AND silver_set_id IN
     (SELECT id FROM silver_set WHERE project_id = :project AND NOT deleting)) AS corrections,
  (SELECT count(*) FROM run WHERE project_id = :project AND step = 'train-bi-encoder'
     AND state = 'done') AS bi_encoders,
  (SELECT count(*) FROM run WHERE project_id = :project AND step = 'train-bi-encoder'
     AND state = 'done' AND json_extract(options, '$.silver_set_id') IS NOT NULL)
     AS augmented_bi_encoders,
  (SELECT count(*) FROM evaluation WHERE project_id = :project) AS evaluations
"""


def _checked_name(name: str) -> str:
    name = " ".join(name.split())
    if not name or len(name) > 80 or not name.isprintable():
        raise WorkbenchError("A project needs a name of 1 to 80 printable characters.")
    return name


def _name_taken(name: str) -> WorkbenchError:
    return WorkbenchError(
        f"There is a project named {name.strip()!r} already. Choose another name."
    )
