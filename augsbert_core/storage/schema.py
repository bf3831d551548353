"""The tables, as named migrations that are each applied once.

Never edit a migration that has been released: add one.
"""

from sqlite_utils import Database, Migrations

from augsbert_core.errors import WorkbenchError

migrations = Migrations("augsbert")


@migrations()
def foundation(db: Database) -> None:
    """Projects, sentences, gold, candidates, silver, runs, jobs and the log of human edits."""
    for statement in FOUNDATION.split(";\n\n"):
        db.execute(statement)


@migrations()
def density_lab(db: Database) -> None:
    """Both ranks of a pair, kept subsets of a pool, stored counts, and a silver table for a million pairs."""
    for statement in DENSITY_LAB.split(";\n\n"):
        db.execute(statement)


@migrations()
def training_lab(db: Database) -> None:
    """Batches of runs, NLI pairs and triplets, uncertain labels, more figures per evaluation, shared devices."""
    for statement in TRAINING_LAB.split(";\n\n"):
        db.execute(statement)


@migrations()
def data_doors(db: Database) -> None:
    """What a file said besides the score, and every row that an import could not use."""
    for statement in DATA_DOORS.split(";\n\n"):
        db.execute(statement)


@migrations()
def human_loop(db: Database) -> None:
    """Edits of many pairs that can be taken back, annotation tasks, best-worst answers, more scores per pair."""
    for statement in HUMAN_LOOP.split(";\n\n"):
        db.execute(statement)


@migrations()
def guided_demo(db: Database) -> None:
    """What people predicted on the Learn page."""
    db.execute(GUIDED_DEMO)


@migrations()
def edits_in_parts(db: Database) -> None:
    """Of each change of an edit whether it stands: large edits are taken back part by part."""
    for statement in EDITS_IN_PARTS.split(";\n\n"):
        db.execute(statement)


def is_up_to_date(db: Database) -> bool:
    """Whether every migration was applied, and no other; changes nothing."""
    if not db["_sqlite_migrations"].exists():
        return False
    rows = db.execute(
        "SELECT name FROM _sqlite_migrations WHERE migration_set = ?", [migrations.name]
    )
    return {name for (name,) in rows} == {migration.name for migration in migrations._migrations}


def migrate(db: Database) -> None:
    """Apply what is pending, inside the caller's transaction; refuse a database from the future."""
    applied = {migration.name for migration in migrations.applied(db)}
    unknown = applied - {migration.name for migration in migrations._migrations}
    if unknown:
        raise WorkbenchError(
            "This workspace was made by a newer version of the workbench "
            f"(it knows {', '.join(sorted(unknown))}). Update the workbench, or choose another workspace."
        )
    if migrations.pending(db):
        migrations.apply(db)


# AUTOINCREMENT where an id names a folder or is shown to people: an id never comes back.
# Pairs refer to sentences without a foreign key: SQLite would scan every pair table for each sentence
# that goes, and sentences go in two places only (a project's deletion, an import taken back).
FOUNDATION = """
CREATE TABLE project (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE COLLATE NOCASE,
    task TEXT NOT NULL CHECK (task IN ('regression', 'classification')),
    score_low REAL NOT NULL,
    score_high REAL NOT NULL,
    student_layers INTEGER,
    is_sample INTEGER NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL
);

CREATE TABLE sentence (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER NOT NULL REFERENCES project ON DELETE CASCADE,
    key TEXT NOT NULL,
    text TEXT NOT NULL,
    unlabelled_run_id INTEGER REFERENCES run ON DELETE SET NULL,
    is_unlabelled INTEGER GENERATED ALWAYS AS (unlabelled_run_id IS NOT NULL) VIRTUAL,
    UNIQUE (project_id, key)
);

CREATE INDEX sentence_by_import ON sentence (unlabelled_run_id);

CREATE TABLE run (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER NOT NULL REFERENCES project ON DELETE CASCADE,
    step TEXT NOT NULL,
    name TEXT NOT NULL,
    options TEXT NOT NULL,
    seed INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'started'
        CHECK (state IN ('started', 'done', 'failed', 'cancelled', 'interrupted')),
    data_hash TEXT,
    device TEXT,
    metrics TEXT NOT NULL DEFAULT '{}',
    versions TEXT NOT NULL DEFAULT '{}',
    model_path TEXT,
    created_at TEXT NOT NULL,
    finished_at TEXT
);

CREATE INDEX run_by_project ON run (project_id, step);

CREATE TABLE gold_pair (
    id INTEGER PRIMARY KEY,
    project_id INTEGER NOT NULL REFERENCES project ON DELETE CASCADE,
    run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    sentence1_id INTEGER NOT NULL,
    sentence2_id INTEGER NOT NULL,
    swapped INTEGER NOT NULL DEFAULT 0,
    score REAL NOT NULL CHECK (score BETWEEN 0 AND 1),
    raw_score REAL NOT NULL,
    split TEXT NOT NULL CHECK (split IN ('train', 'dev', 'test')),
    group_name TEXT NOT NULL DEFAULT '',
    source_file TEXT NOT NULL,
    source_line INTEGER NOT NULL,
    CHECK (sentence1_id <= sentence2_id)
);

CREATE INDEX gold_pair_by_split ON gold_pair (project_id, split, score);

CREATE INDEX gold_pair_by_pair ON gold_pair (project_id, sentence1_id, sentence2_id);

CREATE INDEX gold_pair_by_run ON gold_pair (run_id);

CREATE TABLE candidate_set (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER NOT NULL REFERENCES project ON DELETE CASCADE,
    run_id INTEGER NOT NULL UNIQUE REFERENCES run ON DELETE CASCADE,
    strategy TEXT NOT NULL,
    corpus_size INTEGER NOT NULL,
    n_pairs INTEGER NOT NULL,
    notices TEXT NOT NULL DEFAULT '[]',
    created_at TEXT NOT NULL
);

CREATE TABLE candidate_pair (
    candidate_set_id INTEGER NOT NULL REFERENCES candidate_set ON DELETE CASCADE,
    sentence1_id INTEGER NOT NULL,
    sentence2_id INTEGER NOT NULL,
    rank INTEGER,
    sampler_score REAL,
    PRIMARY KEY (candidate_set_id, sentence1_id, sentence2_id),
    CHECK (sentence1_id < sentence2_id)
) WITHOUT ROWID;

CREATE TABLE silver_set (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER NOT NULL REFERENCES project ON DELETE CASCADE,
    run_id INTEGER NOT NULL UNIQUE REFERENCES run ON DELETE CASCADE,
    candidate_set_id INTEGER NOT NULL REFERENCES candidate_set ON DELETE CASCADE,
    labeler TEXT NOT NULL,
    labeler_run_id INTEGER REFERENCES run ON DELETE SET NULL,
    created_at TEXT NOT NULL
);

CREATE TABLE silver_pair (
    id INTEGER PRIMARY KEY,
    silver_set_id INTEGER NOT NULL REFERENCES silver_set ON DELETE CASCADE,
    sentence1_id INTEGER NOT NULL,
    sentence2_id INTEGER NOT NULL,
    rank INTEGER,
    sampler_score REAL,
    score REAL NOT NULL CHECK (score BETWEEN 0 AND 1),
    raw_score REAL NOT NULL,
    correction REAL CHECK (correction BETWEEN 0 AND 1),
    status TEXT NOT NULL DEFAULT 'unreviewed'
        CHECK (status IN ('unreviewed', 'corrected', 'accepted', 'rejected', 'flagged')),
    final_score REAL GENERATED ALWAYS AS (coalesce(correction, score)) VIRTUAL,
    UNIQUE (silver_set_id, sentence1_id, sentence2_id),
    CHECK (sentence1_id < sentence2_id)
);

CREATE INDEX silver_pair_by_score ON silver_pair (silver_set_id, final_score);

CREATE INDEX silver_pair_by_status ON silver_pair (silver_set_id, status, final_score);

CREATE INDEX silver_pair_by_rank ON silver_pair (silver_set_id, rank, final_score);

CREATE TABLE evaluation (
    id INTEGER PRIMARY KEY,
    project_id INTEGER NOT NULL REFERENCES project ON DELETE CASCADE,
    run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    target TEXT NOT NULL,
    target_run_id INTEGER REFERENCES run ON DELETE CASCADE,
    split TEXT NOT NULL,
    metric TEXT NOT NULL,
    value REAL,
    low REAL,
    high REAL,
    threshold REAL,
    n_pairs INTEGER NOT NULL,
    seconds REAL NOT NULL,
    data_hash TEXT NOT NULL,
    predictions BLOB NOT NULL,
    created_at TEXT NOT NULL,
    UNIQUE (project_id, target, split, metric, data_hash)
);

CREATE TABLE metric (
    run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    name TEXT NOT NULL,
    step INTEGER NOT NULL,
    value REAL NOT NULL,
    PRIMARY KEY (run_id, name, step)
) WITHOUT ROWID;

CREATE TABLE job (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER NOT NULL REFERENCES project ON DELETE CASCADE,
    run_id INTEGER NOT NULL UNIQUE REFERENCES run ON DELETE CASCADE,
    step TEXT NOT NULL,
    device TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'queued' CHECK (state IN
        ('queued', 'running', 'cancelling', 'cancelled', 'failed', 'interrupted', 'done')),
    in_foreground INTEGER NOT NULL DEFAULT 0,
    progress REAL NOT NULL DEFAULT 0,
    message TEXT NOT NULL DEFAULT '',
    error TEXT,
    details TEXT,
    attempt INTEGER NOT NULL DEFAULT 0,
    host TEXT,
    pid INTEGER,
    pid_started REAL,
    heartbeat TEXT,
    log_path TEXT,
    created_at TEXT NOT NULL,
    started_at TEXT,
    finished_at TEXT
);

CREATE INDEX job_by_state ON job (state, device);

CREATE TABLE event (
    id INTEGER PRIMARY KEY,
    project_id INTEGER NOT NULL REFERENCES project ON DELETE CASCADE,
    at TEXT NOT NULL,
    actor TEXT NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    subject_id INTEGER NOT NULL,
    before TEXT,
    after TEXT
);

CREATE INDEX event_by_subject ON event (subject, subject_id)
"""

# deleting: hidden at once, removed by `deletion.sweep` in short transactions.
# rank_counts: JSON, rank → how many candidates have it. candidate_overlap: for two candidate sets with these
# many pairs, how many they share (first_set_id < second_set_id); stale when a set has grown since.
# silver_pair is laid out in the order of its sentences, so that a set lies in one piece; its indexes hold
# all that filters and orders of the silver table need. (final_score is no generated column: SQLite would not
# let an index on one answer alone.) silver_pair_reviewed costs nothing while labelling.
# silver_bin: how many pairs of a silver set have which status, rank (0: none) and corrected score, in
# SCORE_BINS equal bins of [0, 1], kept by the functions that write silver_pair. Counting a million rows
# anew takes too long for a slider.
DENSITY_LAB = """
ALTER TABLE project ADD COLUMN deleting INTEGER NOT NULL DEFAULT 0;

ALTER TABLE candidate_set ADD COLUMN deleting INTEGER NOT NULL DEFAULT 0;

ALTER TABLE candidate_set ADD COLUMN gold_left_out INTEGER;

ALTER TABLE candidate_set ADD COLUMN rank_counts TEXT NOT NULL DEFAULT '{}';

ALTER TABLE candidate_pair ADD COLUMN bm25_rank INTEGER;

ALTER TABLE candidate_pair ADD COLUMN semantic_rank INTEGER;

UPDATE candidate_set SET rank_counts = (
    SELECT json_group_object(rank, n) FROM (
        SELECT rank, count(*) AS n FROM candidate_pair
        WHERE candidate_set_id = candidate_set.id AND rank IS NOT NULL GROUP BY rank));

CREATE TABLE candidate_overlap (
    first_set_id INTEGER NOT NULL REFERENCES candidate_set ON DELETE CASCADE,
    second_set_id INTEGER NOT NULL REFERENCES candidate_set ON DELETE CASCADE,
    first_n_pairs INTEGER NOT NULL,
    second_n_pairs INTEGER NOT NULL,
    n_shared INTEGER NOT NULL,
    PRIMARY KEY (first_set_id, second_set_id)
) WITHOUT ROWID;

CREATE INDEX candidate_overlap_by_second ON candidate_overlap (second_set_id);

ALTER TABLE silver_set ADD COLUMN deleting INTEGER NOT NULL DEFAULT 0;

ALTER TABLE silver_set ADD COLUMN pool_set_id INTEGER REFERENCES silver_set ON DELETE SET NULL;

ALTER TABLE silver_set ADD COLUMN rule TEXT;

ALTER TABLE silver_set ADD COLUMN n_passes INTEGER;

ALTER TABLE silver_set ADD COLUMN n_pairs INTEGER NOT NULL DEFAULT 0;

ALTER TABLE silver_set ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;

ALTER TABLE silver_pair RENAME TO old_silver_pair;

CREATE TABLE silver_pair (
    silver_set_id INTEGER NOT NULL REFERENCES silver_set ON DELETE CASCADE,
    sentence1_id INTEGER NOT NULL,
    sentence2_id INTEGER NOT NULL,
    id INTEGER NOT NULL,
    rank INTEGER,
    sampler_score REAL,
    score REAL NOT NULL CHECK (score BETWEEN 0 AND 1),
    raw_score REAL NOT NULL,
    correction REAL CHECK (correction BETWEEN 0 AND 1),
    status TEXT NOT NULL DEFAULT 'unreviewed'
        CHECK (status IN ('unreviewed', 'corrected', 'accepted', 'rejected', 'flagged')),
    final_score REAL NOT NULL CHECK (final_score = coalesce(correction, score)),
    PRIMARY KEY (silver_set_id, sentence1_id, sentence2_id),
    CHECK (sentence1_id < sentence2_id)
) WITHOUT ROWID;

INSERT INTO silver_pair (silver_set_id, sentence1_id, sentence2_id, id, rank, sampler_score, score,
    raw_score, correction, status, final_score)
SELECT silver_set_id, sentence1_id, sentence2_id, id, rank, sampler_score, score, raw_score, correction,
    status, final_score
FROM old_silver_pair ORDER BY silver_set_id, sentence1_id, sentence2_id;

DROP TABLE old_silver_pair;

CREATE UNIQUE INDEX silver_pair_by_id ON silver_pair (id);

CREATE INDEX silver_pair_by_score ON silver_pair
    (silver_set_id, final_score, sentence1_id, sentence2_id, rank);

CREATE INDEX silver_pair_by_second ON silver_pair
    (silver_set_id, sentence2_id, sentence1_id, final_score, rank);

CREATE INDEX silver_pair_reviewed ON silver_pair (silver_set_id, status, final_score, rank)
    WHERE status <> 'unreviewed';

CREATE TABLE silver_bin (
    silver_set_id INTEGER NOT NULL REFERENCES silver_set ON DELETE CASCADE,
    status TEXT NOT NULL,
    rank INTEGER NOT NULL,
    bin INTEGER NOT NULL,
    n_pairs INTEGER NOT NULL,
    PRIMARY KEY (silver_set_id, status, rank, bin)
) WITHOUT ROWID;

INSERT INTO silver_bin
SELECT silver_set_id, status, coalesce(rank, 0), min(cast(final_score * 512 AS INTEGER), 511), count(*)
FROM silver_pair GROUP BY 1, 2, 3, 4;

UPDATE silver_set SET n_pairs = (
    SELECT coalesce(sum(n_pairs), 0) FROM silver_bin WHERE silver_set_id = silver_set.id)
"""

# parent_run_id, child_key: the batch that a run belongs to, and its name in it. shared: the job does not mind
# others on its device. order_gap: |s(A, B) - s(B, A)|; label_spread: standard deviation between the members of an
# averaged labeler; both on the scale [0, 1]. passes_per_pair: cross-encoder passes that a label costs. details: further figures of an evaluation, JSON.
# NLI pairs and triplets keep their direction: a premise is no hypothesis.
TRAINING_LAB = """
ALTER TABLE run ADD COLUMN parent_run_id INTEGER REFERENCES run ON DELETE SET NULL;

ALTER TABLE run ADD COLUMN child_key TEXT;

CREATE INDEX run_by_parent ON run (parent_run_id);

ALTER TABLE job ADD COLUMN shared INTEGER NOT NULL DEFAULT 0;

ALTER TABLE silver_set ADD COLUMN passes_per_pair INTEGER NOT NULL DEFAULT 1;

ALTER TABLE silver_pair ADD COLUMN order_gap REAL;

ALTER TABLE silver_pair ADD COLUMN label_spread REAL;

ALTER TABLE evaluation ADD COLUMN details TEXT NOT NULL DEFAULT '{}';

CREATE TABLE nli_pair (
    id INTEGER PRIMARY KEY,
    project_id INTEGER NOT NULL REFERENCES project ON DELETE CASCADE,
    run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    premise_id INTEGER NOT NULL,
    hypothesis_id INTEGER NOT NULL,
    label TEXT NOT NULL CHECK (label IN ('entailment', 'neutral', 'contradiction')),
    source_line INTEGER NOT NULL
);

CREATE INDEX nli_pair_by_project ON nli_pair (project_id, label);

CREATE INDEX nli_pair_by_run ON nli_pair (run_id);

CREATE TABLE triplet (
    id INTEGER PRIMARY KEY,
    project_id INTEGER NOT NULL REFERENCES project ON DELETE CASCADE,
    run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    anchor_id INTEGER NOT NULL,
    positive_id INTEGER NOT NULL,
    negative_id INTEGER NOT NULL,
    source_line INTEGER NOT NULL
);

CREATE INDEX triplet_by_project ON triplet (project_id);

CREATE INDEX triplet_by_run ON triplet (run_id)
"""

# raw_label: the score as the file writes it, where that is a word. source_id: the file's own name of the row.
# Two tables are built anew for the sake of large imports: the unique index of sentence is one that can be left out
# while many rows are added, and the splits are compared one by one (SQLite makes a small table of a list of values
# for each row that it checks).
DATA_DOORS = """
CREATE TABLE new_sentence (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER NOT NULL REFERENCES project ON DELETE CASCADE,
    key TEXT NOT NULL,
    text TEXT NOT NULL,
    unlabelled_run_id INTEGER REFERENCES run ON DELETE SET NULL,
    is_unlabelled INTEGER GENERATED ALWAYS AS (unlabelled_run_id IS NOT NULL) VIRTUAL
);

INSERT INTO new_sentence (id, project_id, key, text, unlabelled_run_id)
SELECT id, project_id, key, text, unlabelled_run_id FROM sentence ORDER BY id;

DELETE FROM sqlite_sequence WHERE name = 'new_sentence';

INSERT INTO sqlite_sequence (name, seq) SELECT 'new_sentence', seq FROM sqlite_sequence WHERE name = 'sentence';

DROP TABLE sentence;

ALTER TABLE new_sentence RENAME TO sentence;

CREATE UNIQUE INDEX sentence_by_key ON sentence (project_id, key);

CREATE INDEX sentence_by_import ON sentence (unlabelled_run_id) WHERE unlabelled_run_id IS NOT NULL;

CREATE TABLE new_gold_pair (
    id INTEGER PRIMARY KEY,
    project_id INTEGER NOT NULL REFERENCES project ON DELETE CASCADE,
    run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    sentence1_id INTEGER NOT NULL,
    sentence2_id INTEGER NOT NULL,
    swapped INTEGER NOT NULL DEFAULT 0,
    score REAL NOT NULL CHECK (score BETWEEN 0 AND 1),
    raw_score REAL NOT NULL,
    split TEXT NOT NULL CHECK (split = 'train' OR split = 'dev' OR split = 'test'),
    group_name TEXT NOT NULL DEFAULT '',
    source_file TEXT NOT NULL,
    source_line INTEGER NOT NULL,
    raw_label TEXT NOT NULL DEFAULT '',
    source_id TEXT NOT NULL DEFAULT '',
    CHECK (sentence1_id <= sentence2_id)
);

INSERT INTO new_gold_pair (id, project_id, run_id, sentence1_id, sentence2_id, swapped, score, raw_score, split,
    group_name, source_file, source_line)
SELECT id, project_id, run_id, sentence1_id, sentence2_id, swapped, score, raw_score, split, group_name, source_file,
    source_line FROM gold_pair ORDER BY id;

DROP TABLE gold_pair;

ALTER TABLE new_gold_pair RENAME TO gold_pair;

CREATE INDEX gold_pair_by_split ON gold_pair (project_id, split, score);

CREATE INDEX gold_pair_by_pair ON gold_pair (project_id, sentence1_id, sentence2_id);

CREATE INDEX gold_pair_by_run ON gold_pair (run_id);

CREATE TABLE import_reject (
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    line INTEGER NOT NULL,
    reason TEXT NOT NULL,
    text TEXT NOT NULL
);

CREATE INDEX import_reject_by_run ON import_reject (run_id)
"""

# edit: one decision of one person on one pair or on many; edit_change holds what it replaced, one row per pair.
# state: "applied" counts, "undone" can be done again, "dropped" was undone and then something else was decided;
# rows of kind "undo" and "redo" are the log of those and have the state "logged". pair_id and the scores are those
# of the subject: a silver pair's correction in [0, 1] (NULL: none), or a gold pair's raw score; the status of a gold
# pair is its raw_label, before_unit its score in [0, 1]. silver_set_id: NULL for edits of gold.
# annotation_event only grows; annotation holds what its last event for a pair and an annotator left, and who has a
# pair on the screen at this moment ("claimed"; at: '' when nobody has, and the row keeps a mark alone). Scores are in [0, 1]; swapped: the
# second sentence was shown first.
# The items of a best-worst tuple are of its own task, with which they go; foreign keys would cost a search each.
# stratum, stratum_size: the part of a silver set that a pair of an audit was drawn from, and its size.
# best_worst_answer only grows too: the last row of a tuple and a judge counts. shown: item ids in the order on the
# screen. silver_student: what another model says about every pair of a silver set, float32 in the order of ids.
HUMAN_LOOP = """
CREATE TABLE edit (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER NOT NULL REFERENCES project ON DELETE CASCADE,
    silver_set_id INTEGER REFERENCES silver_set ON DELETE CASCADE,
    subject TEXT NOT NULL CHECK (subject = 'silver_pair' OR subject = 'gold_pair'),
    kind TEXT NOT NULL,
    actor TEXT NOT NULL,
    at TEXT NOT NULL,
    summary TEXT NOT NULL DEFAULT '',
    n_changes INTEGER NOT NULL DEFAULT 0,
    state TEXT NOT NULL DEFAULT 'applied'
        CHECK (state = 'applied' OR state = 'undone' OR state = 'dropped' OR state = 'logged'),
    target_edit_id INTEGER REFERENCES edit ON DELETE CASCADE
);

CREATE INDEX edit_by_actor ON edit (project_id, silver_set_id, actor, state);

CREATE INDEX edit_by_set ON edit (silver_set_id) WHERE silver_set_id IS NOT NULL;

CREATE INDEX edit_by_target ON edit (target_edit_id) WHERE target_edit_id IS NOT NULL;

CREATE TABLE edit_change (
    edit_id INTEGER NOT NULL REFERENCES edit ON DELETE CASCADE,
    pair_id INTEGER NOT NULL,
    before_score REAL,
    before_status TEXT NOT NULL,
    after_score REAL,
    after_status TEXT NOT NULL,
    before_unit REAL CHECK (before_unit BETWEEN 0 AND 1),
    PRIMARY KEY (edit_id, pair_id)
) WITHOUT ROWID;

CREATE INDEX edit_change_by_pair ON edit_change (pair_id, edit_id);

INSERT INTO edit (id, project_id, silver_set_id, subject, kind, actor, at, n_changes, state, target_edit_id)
SELECT event.id, event.project_id, silver_pair.silver_set_id, 'silver_pair', 'review', event.actor, event.at, 1,
    CASE WHEN EXISTS (SELECT 1 FROM event AS undo WHERE undo.kind = 'undo' AND undo.subject = 'event'
      AND undo.subject_id = event.id)
      THEN 'dropped' ELSE 'applied' END, NULL
FROM event JOIN silver_pair ON silver_pair.id = event.subject_id
WHERE event.kind = 'review' AND event.subject = 'silver_pair' ORDER BY event.id;

INSERT INTO edit_change (edit_id, pair_id, before_score, before_status, after_score, after_status)
SELECT event.id, event.subject_id, json_extract(event.before, '$.correction'), json_extract(event.before, '$.status'),
    json_extract(event.after, '$.correction'), json_extract(event.after, '$.status')
FROM event JOIN edit ON edit.id = event.id;

INSERT INTO edit (id, project_id, silver_set_id, subject, kind, actor, at, n_changes, state, target_edit_id)
SELECT event.id, event.project_id, done.silver_set_id, 'silver_pair', 'undo', event.actor, event.at, 1, 'logged', done.id
FROM event JOIN edit AS done ON done.id = event.subject_id WHERE event.kind = 'undo' AND event.subject = 'event';

DROP TABLE event;

ALTER TABLE project ADD COLUMN guideline TEXT NOT NULL DEFAULT '';

CREATE TABLE annotation_task (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER NOT NULL REFERENCES project ON DELETE CASCADE,
    run_id INTEGER NOT NULL UNIQUE REFERENCES run ON DELETE CASCADE,
    silver_set_id INTEGER REFERENCES silver_set ON DELETE SET NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind = 'scores' OR kind = 'best-worst'),
    purpose TEXT NOT NULL CHECK (purpose = 'gold' OR purpose = 'audit'),
    source TEXT NOT NULL CHECK (source = 'candidates' OR source = 'silver' OR source = 'gold'),
    queue TEXT NOT NULL,
    scale TEXT NOT NULL,
    levels TEXT NOT NULL,
    n_scores INTEGER NOT NULL DEFAULT 1 CHECK (n_scores >= 1),
    seed INTEGER NOT NULL,
    closed INTEGER NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL
);

CREATE INDEX annotation_task_by_project ON annotation_task (project_id);

CREATE INDEX annotation_task_by_set ON annotation_task (silver_set_id) WHERE silver_set_id IS NOT NULL;

CREATE TABLE annotation_item (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    task_id INTEGER NOT NULL REFERENCES annotation_task ON DELETE CASCADE,
    position INTEGER NOT NULL,
    sentence1_id INTEGER NOT NULL,
    sentence2_id INTEGER NOT NULL,
    source_pair_id INTEGER,
    suggestion REAL CHECK (suggestion BETWEEN 0 AND 1),
    reason TEXT NOT NULL DEFAULT '',
    stratum INTEGER,
    stratum_size INTEGER,
    adjudicated_score REAL CHECK (adjudicated_score BETWEEN 0 AND 1),
    adjudicator TEXT,
    UNIQUE (task_id, sentence1_id, sentence2_id),
    CHECK (sentence1_id <= sentence2_id)
);

CREATE INDEX annotation_item_by_position ON annotation_item (task_id, position);

CREATE TABLE annotation_event (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    task_id INTEGER NOT NULL REFERENCES annotation_task ON DELETE CASCADE,
    item_id INTEGER NOT NULL REFERENCES annotation_item ON DELETE CASCADE,
    annotator TEXT NOT NULL,
    at TEXT NOT NULL,
    action TEXT NOT NULL,
    score REAL CHECK (score BETWEEN 0 AND 1),
    flagged INTEGER NOT NULL DEFAULT 0,
    swapped INTEGER NOT NULL DEFAULT 0,
    suggestion_seen INTEGER NOT NULL DEFAULT 0,
    seconds REAL,
    undone_event_id INTEGER
);

CREATE INDEX annotation_event_by_item ON annotation_event (item_id, annotator);

CREATE INDEX annotation_event_by_annotator ON annotation_event (task_id, annotator);

CREATE TABLE annotation (
    task_id INTEGER NOT NULL REFERENCES annotation_task ON DELETE CASCADE,
    item_id INTEGER NOT NULL REFERENCES annotation_item ON DELETE CASCADE,
    annotator TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state = 'claimed' OR state = 'scored' OR state = 'skipped'),
    score REAL CHECK (score BETWEEN 0 AND 1),
    flagged INTEGER NOT NULL DEFAULT 0,
    swapped INTEGER NOT NULL DEFAULT 0,
    suggestion_seen INTEGER NOT NULL DEFAULT 0,
    seconds REAL,
    at TEXT NOT NULL,
    PRIMARY KEY (item_id, annotator)
) WITHOUT ROWID;

CREATE INDEX annotation_by_annotator ON annotation (task_id, annotator, state, item_id, flagged, seconds);

CREATE TABLE best_worst_tuple (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    task_id INTEGER NOT NULL REFERENCES annotation_task ON DELETE CASCADE,
    position INTEGER NOT NULL,
    item1_id INTEGER NOT NULL,
    item2_id INTEGER NOT NULL,
    item3_id INTEGER NOT NULL,
    item4_id INTEGER NOT NULL
);

CREATE INDEX best_worst_tuple_by_task ON best_worst_tuple (task_id, position);

CREATE TABLE best_worst_answer (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    task_id INTEGER NOT NULL REFERENCES annotation_task ON DELETE CASCADE,
    tuple_id INTEGER NOT NULL REFERENCES best_worst_tuple ON DELETE CASCADE,
    annotator TEXT NOT NULL,
    at TEXT NOT NULL,
    action TEXT NOT NULL CHECK (action = 'answer' OR action = 'skip' OR action = 'undo'),
    best_item_id INTEGER,
    worst_item_id INTEGER,
    shown TEXT NOT NULL DEFAULT '[]',
    seconds REAL
);

CREATE INDEX best_worst_answer_by_tuple ON best_worst_answer (tuple_id, annotator);

CREATE INDEX best_worst_answer_by_annotator ON best_worst_answer (task_id, annotator);

CREATE TABLE silver_student (
    silver_set_id INTEGER NOT NULL REFERENCES silver_set ON DELETE CASCADE,
    model TEXT NOT NULL,
    run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    n_pairs INTEGER NOT NULL,
    scores BLOB NOT NULL,
    PRIMARY KEY (silver_set_id, model)
);

CREATE TABLE out_of_fold (
    run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    gold_pair_id INTEGER NOT NULL,
    fold INTEGER NOT NULL,
    gold_score REAL NOT NULL CHECK (gold_score BETWEEN 0 AND 1),
    score REAL NOT NULL CHECK (score BETWEEN 0 AND 1),
    PRIMARY KEY (run_id, gold_pair_id)
) WITHOUT ROWID
"""

GUIDED_DEMO = """
CREATE TABLE lesson_progress (
    person TEXT NOT NULL,
    lesson TEXT NOT NULL,
    answer TEXT NOT NULL,
    answered_at TEXT NOT NULL,
    revealed_at TEXT,
    details TEXT NOT NULL DEFAULT '{}',
    PRIMARY KEY (person, lesson)
) WITHOUT ROWID
"""

# in_force: the edit's decision on this pair stands (perhaps below a later one of someone else); an undo ends that,
# pair by pair, and leaves it where it leaves the pair. sqlite_sequence: no id of a silver pair is given twice.
EDITS_IN_PARTS = """
ALTER TABLE edit_change ADD COLUMN in_force INTEGER NOT NULL DEFAULT 1 CHECK (in_force IN (0, 1));

UPDATE edit_change SET in_force = 0
WHERE edit_id IN (SELECT id FROM edit WHERE state = 'undone' OR state = 'dropped');

INSERT INTO sqlite_sequence (name, seq) SELECT 'silver_pair', coalesce(max(id), 0) FROM silver_pair
"""
