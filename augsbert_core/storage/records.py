"""Rows that other rooms hold in their hands, as frozen dataclasses."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from augsbert_core.pairs import ScoreRange
from augsbert_core.scales import Level

RecordType = TypeVar("RecordType")

JSON_COLUMNS = {"metrics", "versions", "notices"}


@dataclass(frozen=True)
class Project:
    """One task with its gold pairs. student_layers: the default for new bi-encoders, None keeps all.

    guideline: how pairs are to be scored, Markdown, for annotators.
    """

    id: int
    name: str
    task: str
    score_low: float
    score_high: float
    student_layers: int | None
    is_sample: bool
    created_at: str
    guideline: str = ""

    @property
    def score_range(self) -> ScoreRange:
        return ScoreRange(self.score_low, self.score_high)


@dataclass(frozen=True)
class Run:
    """One execution of one step: what it was told, on which data, and what came out."""

    id: int
    project_id: int
    step: str
    name: str
    options: str
    seed: int
    state: str
    data_hash: str | None
    device: str | None
    metrics: dict[str, Any]
    versions: dict[str, Any]
    model_path: str | None
    created_at: str
    finished_at: str | None
    parent_run_id: int | None = None
    child_key: str | None = None


@dataclass(frozen=True)
class Job:
    """The queue entry that carries out a run. name: the run's, for people."""

    id: int
    project_id: int
    run_id: int
    name: str
    step: str
    device: str
    state: str
    in_foreground: bool
    progress: float
    message: str
    error: str | None
    details: str | None
    attempt: int
    host: str | None
    pid: int | None
    pid_started: float | None
    heartbeat: str | None
    log_path: str | None
    created_at: str
    started_at: str | None
    finished_at: str | None
    shared: bool = False


@dataclass(frozen=True)
class CandidateSet:
    """Sampled pairs that wait for a labeler.

    gold_left_out: gold pairs that the strategy would have chosen too, None where that is not known.
    """

    id: int
    project_id: int
    run_id: int
    strategy: str
    corpus_size: int
    n_pairs: int
    notices: list[str]
    created_at: str
    gold_left_out: int | None = None


@dataclass(frozen=True)
class SilverSet:
    """One labelling run, or the pairs that a rule kept of one.

    n_pairs: scored (or kept) so far; n_candidates: candidates in all. pool_set_id, rule: the silver set that
    the pairs were kept from, and how; None for a labelling run. n_passes: cross-encoder passes that the set
    rests on, those for pairs that were not kept included; None for passes_per_pair each. revision: grows with every change. sampled_with, made_with:
    options of the runs that sampled the candidates and made the set, as JSON.
    """

    id: int
    project_id: int
    run_id: int
    candidate_set_id: int
    labeler: str
    labeler_run_id: int | None
    created_at: str
    strategy: str
    n_candidates: int
    n_pairs: int
    state: str
    pool_set_id: int | None = None
    rule: str | None = None
    n_passes: int | None = None
    passes_per_pair: int = 1
    revision: int = 0
    sampled_with: str = "{}"
    made_with: str = "{}"

    @property
    def is_complete(self) -> bool:
        """Every candidate is scored and no job is at it, even if its run ended badly afterwards.

        A stratified pool has all scores between its rounds too, so while its run is started it is not.
        """
        if self.state == "done" or self.rule is not None:
            return self.state == "done"
        return self.state != "started" and self.n_pairs >= self.n_candidates > 0

    @property
    def passes(self) -> int:
        """Cross-encoder passes behind the set: for its own pairs, or all of the pool it was kept from."""
        return self.n_pairs * self.passes_per_pair if self.n_passes is None else self.n_passes


@dataclass(frozen=True)
class AnnotationTask:
    """Pairs that people score, or put in order, on one scale.

    kind, purpose, source, queue, scale: as in `TaskOptions`. silver_set_id: the set that the pairs are from, None when
    there was none or it is gone; the task keeps its pairs. n_scores: how many people score a pair, or answer a tuple.
    closed: it takes no more scores. score_range: of raw scores: the scale's own, that of the project for "0-1", and 0 to 1
    for words. n_answers: scores so far, or answers to tuples, of everyone together.
    """

    id: int
    project_id: int
    run_id: int
    silver_set_id: int | None
    name: str
    kind: str
    purpose: str
    source: str
    queue: str
    scale: str
    levels: tuple[Level, ...]
    n_scores: int
    seed: int
    closed: bool
    created_at: str
    score_range: ScoreRange
    n_items: int
    n_tuples: int
    n_answers: int

    @property
    def n_wanted(self) -> int:
        """So many scores, or answers, make it complete."""
        return (self.n_items if self.kind == "scores" else self.n_tuples) * self.n_scores


def record(record_class: type[RecordType], row: Mapping[str, Any]) -> RecordType:
    """Build a record from the columns of a row that it has fields for."""
    names = [field.name for field in fields(record_class)]  # type: ignore[arg-type]
    values = {
        name: json.loads(row[name]) if name in JSON_COLUMNS else row[name]
        for name in names
        if name in row.keys()  # noqa: SIM118 (sqlite3.Row tests values with `in`)
    }
    for name in ("is_sample", "in_foreground", "shared", "closed"):
        if name in values:
            values[name] = bool(values[name])
    return record_class(**values)
