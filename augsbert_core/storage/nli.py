"""NLI pairs: what a premise says about a hypothesis."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sqlite_utils import Database

from augsbert_core.importing.column_names import NLI_LABELS
from augsbert_core.pairs import TrainingRows
from augsbert_core.storage.database import Workspace, columns, reading
from augsbert_core.storage.runs import ImportRecord
from augsbert_core.storage.sentences import add_sentence_rows, rows_of_ids

CONTRADICTION, ENTAILMENT, NEUTRAL = 0, 1, 2
"""The classes of `nli_training_rows`, as sentence-transformers numbers them; files count otherwise."""

INSERT_SQL = """
INSERT INTO nli_pair (project_id, run_id, premise_id, hypothesis_id, label, source_line)
VALUES (?, ?, ?, ?, ?, ?)
"""


def add_nli_pairs(
    store: Workspace | Database,
    project_id: int,
    rows: Sequence[tuple[str, ...]],
    lines: Sequence[int],
    *,
    record: ImportRecord,
    metrics: Mapping[str, Any],
) -> int:
    """Write one import, all of its rows or none; returns its run's id. rows: (premise, hypothesis, label)."""
    return add_sentence_rows(
        store, project_id, INSERT_SQL, rows, lines, n_texts=2, record=record, metrics=metrics
    )


READ_SQL = """
SELECT premise_id, hypothesis_id,
  CASE label WHEN 'contradiction' THEN 0 WHEN 'entailment' THEN 1 ELSE 2 END
FROM nli_pair WHERE project_id = ? ORDER BY id
"""


def nli_training_rows(workspace: Workspace, project_id: int) -> TrainingRows:
    """All NLI pairs of a project, in the order of their import: premise, hypothesis.

    labels: 0 contradiction, 1 entailment, 2 neutral, as int64.
    """
    with reading(workspace) as db:
        found = columns(db, READ_SQL, [project_id], np.int64)
        return rows_of_ids(db, found[:2], found[2])


def count_nli(workspace: Workspace, project_id: int) -> dict[str, int]:
    """How many NLI pairs of each label a project has."""
    with reading(workspace) as db:
        rows = db.execute(
            "SELECT label, count(*) FROM nli_pair WHERE project_id = ? GROUP BY label", [project_id]
        )
        counts = {label: int(count) for label, count in rows}
    return {label: counts.get(label, 0) for label in NLI_LABELS}
