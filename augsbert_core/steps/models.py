"""Find the model that a step was told to use: a run of this project, or a name; and what a labeler is made of."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from augsbert_core.calibration import FEWEST_PAIRS
from augsbert_core.errors import WorkbenchError
from augsbert_core.models.labeling import LabelerPart
from augsbert_core.pairs import ScoredPairs
from augsbert_core.storage import gold, projects, runs
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project

JOIN = " + "
"""Between the members of a labeler that is a mean."""

MODEL_KINDS = {"train-cross-encoder": "cross_encoder", "train-bi-encoder": "bi_encoder"}

CALIBRATION_PAIRS = 50
"""Cosines are calibrated on the dev split when it has so many pairs, else on the training split."""

MOST_DIGITS = 18
"""No run has a longer number; SQLite holds none above 2⁶³ − 1."""


def run_number(target: str) -> int | None:
    """The run id in "run:ID", None for anything else. WorkbenchError: no run can have this number."""
    kind, _, number = target.partition(":")
    if kind != "run" or not (number.isascii() and number.isdigit()):
        return None
    digits = number.lstrip("0") or "0"
    if len(digits) > MOST_DIGITS:
        raise WorkbenchError(
            f"There is no run {digits[:MOST_DIGITS]}…, a number of {len(digits)} digits. "
            "`augsbert jobs` lists the runs there are."
        )
    return int(digits)


def run_model(
    workspace: Workspace, project: Project, target: str, step: str | None = None
) -> str | None:
    """The model folder of "run:ID", None when the target names no run.

    WorkbenchError: the run is missing, of another project, unfinished, of another step than `step`, or
    its folder is gone.
    """
    run_id = run_number(target)
    if run_id is None:
        return None
    run = runs.get_run(workspace, run_id)
    if run.project_id != project.id:
        raise WorkbenchError(f"Run {run_id} belongs to another project.")
    if step is not None and run.step != step:
        raise WorkbenchError(
            f"Run {run_id} is of step {run.step}; here one of step {step} is needed."
        )
    if run.state == "done" and not run.model_path:
        raise WorkbenchError(
            f"The model of run {run_id} is not in this workspace: projects are imported without models. Train it "
            "again."
        )
    if run.state != "done" or not run.model_path:
        raise WorkbenchError(f"Run {run_id} has no finished model (its state is {run.state!r}).")
    folder = workspace.home / run.model_path
    if not folder.is_dir():
        raise WorkbenchError(f"The model folder of run {run_id} is gone ({run.model_path}).")
    return str(folder)


# --- labelers --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Member:
    """One scorer of a labeler.

    text: "run:ID", or a cross-encoder's name or folder. kind: "cross_encoder" or "bi_encoder". project_id: the
    project on whose gold a bi-encoder's cosines are calibrated, that in which it was trained.
    """

    text: str
    kind: str
    location: str
    project_id: int


def split_labeler(text: str) -> list[str]:
    """The members of a labeler's text, "run:3 + run:7", each as one text, runs first in ascending order.

    A run may be given by its number alone where several are joined. A folder whose name holds " + " stays
    whole. WorkbenchError: a member is empty or named twice.
    """
    if text.strip() and Path(text).expanduser().is_dir():
        return [text]
    parts = [part.strip() for part in re.split(r"\s\+\s", text)]
    if len(parts) > 1:
        parts = [f"run:{part.lstrip('0')}" if _is_number(part) else part for part in parts]
    if not all(parts) or len(set(parts)) < len(parts):
        raise WorkbenchError(
            f"{text!r} is not a labeler. Give run:ID, a cross-encoder's name or folder, or several different "
            f"ones joined by {JOIN!r}."
        )
    numbers = {part: run_number(part) for part in parts}
    return sorted(parts, key=lambda part: (numbers[part] is None, numbers[part] or 0))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def normal_labeler(text: str) -> str:
    """A labeler's text as it is stored: equal for the same members in another order."""
    return JOIN.join(split_labeler(text))


def labeler_members(workspace: Workspace, project: Project, text: str) -> list[Member]:
    """What a labeler is made of; a run may be another project's (domain adaptation).

    WorkbenchError: a run is missing, unfinished or no model; the text is no labeler's.
    """
    return [_member(workspace, project, part) for part in split_labeler(text)]


def _member(workspace: Workspace, project: Project, text: str) -> Member:
    run_id = run_number(text)
    if run_id is None:
        return Member(text, "cross_encoder", text, project.id)
    run = runs.get_run(workspace, run_id)
    if run.step not in MODEL_KINDS:
        raise WorkbenchError(
            f"Run {run_id} is of step {run.step}; a labeler is a trained cross-encoder or bi-encoder."
        )
    owner = projects.get_project(workspace, run.project_id)
    location = run_model(workspace, owner, text) or ""
    return Member(text, MODEL_KINDS[run.step], location, owner.id)


def passes_per_pair(members: Sequence[Member], both_orders: bool = False) -> int:
    """Cross-encoder passes that one label costs: members × orders. A bi-encoder embeds each sentence once."""
    n_cross = sum(member.kind == "cross_encoder" for member in members)
    return n_cross * (2 if both_orders else 1)


@dataclass(frozen=True)
class CalibrationData:
    """The gold pairs that a member's cosines are calibrated on, and the split they come from."""

    member: Member
    split: str
    pairs: ScoredPairs


def calibrations(workspace: Workspace, members: Sequence[Member]) -> list[CalibrationData]:
    """For each bi-encoder: the dev split when it has 50 pairs, else the training split.

    WorkbenchError: there are fewer than ten pairs.
    """
    return [_calibration(workspace, one) for one in members if one.kind == "bi_encoder"]


def _calibration(workspace: Workspace, member: Member) -> CalibrationData:
    split, pairs = "dev", gold.scored_pairs(workspace, member.project_id, "dev")
    if len(pairs) < CALIBRATION_PAIRS:
        split, pairs = "train", gold.scored_pairs(workspace, member.project_id, "train")
    if len(pairs) < FEWEST_PAIRS:
        raise WorkbenchError(
            f"The cosines of the bi-encoder {member.text} become scores by calibration on gold, and "
            f"{len(pairs)} training pairs are too few: import {FEWEST_PAIRS} or more, or let a cross-encoder label."
        )
    return CalibrationData(member, split, pairs)


def calibration_hash(found: Sequence[CalibrationData]) -> str | None:
    """A fingerprint of the pairs that a labeler is calibrated on, None without a bi-encoder."""
    return "-".join(gold.data_hash(one.pairs) for one in found) or None


def labeler_parts(workspace: Workspace, project: Project, text: str) -> list[LabelerPart]:
    """The members of a labeler as `models.labeling.load_labeler` takes them. WorkbenchError: as above."""
    members = labeler_members(workspace, project, text)
    pairs = {found.member: found.pairs for found in calibrations(workspace, members)}
    return [LabelerPart(one.location, one.kind, pairs.get(one)) for one in members]
