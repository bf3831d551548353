"""What changed when another labeler scored the same pairs, and whether it came closer to people."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from augsbert_core.errors import WorkbenchError
from augsbert_core.metrics.audit import ErrorChange, Estimate, error_change
from augsbert_core.options import CrossEncoderOptions, from_json
from augsbert_core.pairs import ScoreRange, pair_codes
from augsbert_core.steps.audit import audit_report, scaled_text
from augsbert_core.steps.promotion import promoted_sets
from augsbert_core.storage import gold, projects, runs, silver_sets
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.promotions import vouched_pairs
from augsbert_core.storage.records import Run, SilverSet
from augsbert_core.storage.relabelled import SharedPairs, decided_later, pair_texts, shared_pairs

SEED = 42
Z95 = 1.959964
"""The reach of a normal 95 % interval in standard errors."""

PAGE_COLUMNS = (
    "sentence1",
    "sentence2",
    "old",
    "new",
    "change",
    "human",
    "basis",
    "used",
    "moved",
)
BASES = ("corrected", "audited", "accepted", "")


@dataclass(frozen=True)
class Relabelled:
    """Two silver sets on the pairs that they share; arrays have one entry per pair.

    human: a correction, else the score of an audit; NaN without either. An accepted pair has none: people let the old
    score stand, and against that score any other labeler can only lose. basis: one of `BASES` per pair, what people
    said of it. used: a labeler has learnt from the pair, or gold holds it, so that agreement with people there proves
    nothing. order: places by |change|, the largest first.
    mean_change: of |new - old|. towards, away: corrected pairs, used ones included, that came closer to people or
    went farther from them.
    corrections: the error on corrected pairs that were not used, None without any; audited: on the pairs of an audit
    that were not used, each weighed by what it stands for. n_corrected, n_used: corrected pairs, and those used.
    n_accepted: pairs of which people said only that the old score may stand.
    dev_scores: of both labelers, where they are runs that have one.
    """

    old_set_id: int
    new_set_id: int
    score_range: ScoreRange
    shared: SharedPairs
    human: np.ndarray
    basis: np.ndarray
    used: np.ndarray
    order: np.ndarray
    mean_change: Estimate
    towards: int
    away: int
    corrections: ErrorChange | None
    audited: ErrorChange | None
    n_corrected: int
    n_used: int
    n_accepted: int
    dev_scores: tuple[float | None, float | None]

    @property
    def n_pairs(self) -> int:
        return len(self.human)


def relabelled(workspace: Workspace, old_set_id: int, new_set_id: int) -> Relabelled:
    """Hold two silver sets against each other, pair by pair; a million pairs take seconds.

    WorkbenchError: one set twice, of two projects, or without a pair in common.
    """
    old, new = (silver_sets.get_silver_set(workspace, one) for one in (old_set_id, new_set_id))
    if old.id == new.id:
        raise WorkbenchError("A silver set cannot be compared with itself. Choose two.")
    if old.project_id != new.project_id:
        raise WorkbenchError(f"Silver sets {old.id} and {new.id} belong to two projects.")
    shared = shared_pairs(workspace, old.id, new.id)
    if not len(shared.codes):
        raise WorkbenchError(f"Silver sets {old.id} and {new.id} have no pair in common.")
    used = np.isin(shared.codes, _used_codes(workspace, old, new))
    audit, audited = _audit(workspace, (old, new), shared, used)
    corrected = np.isfinite(shared.correction)
    human = np.where(corrected, shared.correction, audit)
    basis = np.select([corrected, np.isfinite(audit), shared.accepted], BASES[:3], BASES[3])
    closer = np.abs(shared.new - human) - np.abs(shared.old - human)
    fair = corrected & ~used
    return Relabelled(
        old_set_id=old.id,
        new_set_id=new.id,
        score_range=projects.get_project(workspace, old.project_id).score_range,
        shared=shared,
        human=human,
        basis=basis,
        used=used,
        order=np.argsort(-np.abs(shared.new - shared.old), kind="stable"),
        mean_change=_mean(np.abs(shared.new - shared.old)),
        towards=int((corrected & (closer < 0)).sum()),
        away=int((corrected & (closer > 0)).sum()),
        corrections=_change(shared, human, fair) if fair.any() else None,
        audited=audited,
        n_corrected=int(corrected.sum()),
        n_used=int((corrected & used).sum()),
        n_accepted=int((basis == "accepted").sum()),
        dev_scores=(_dev_score(workspace, old), _dev_score(workspace, new)),
    )


def _mean(values: np.ndarray) -> Estimate:
    """With a normal interval: many pairs, taken as a sample of pairs like them."""
    mean = float(values.mean())
    if len(values) < 2:
        return Estimate(mean)
    reach = Z95 * float(values.std(ddof=1)) / math.sqrt(len(values))
    return Estimate(mean, mean - reach, mean + reach)


def _change(shared: SharedPairs, human: np.ndarray, rows: np.ndarray) -> ErrorChange:
    return error_change(
        shared.old[rows], shared.new[rows], human[rows], rng=np.random.default_rng(SEED)
    )


def _used_codes(workspace: Workspace, old: SilverSet, new: SilverSet) -> np.ndarray:
    """Pairs that one of the labelers has learnt from: gold, and decisions made before its training ended."""
    codes = [pair_codes(*gold.gold_pair_ids(workspace, old.project_id))]
    for found in (old, new):
        run = _labeler_run(workspace, found)
        if run is None or run.step != "train-cross-encoder":
            continue
        for set_id in promoted_sets(from_json(CrossEncoderOptions, run.options)):
            try:
                decided = vouched_pairs(workspace, set_id).all_codes
            except WorkbenchError:  # that set has been deleted
                continue
            later = decided_later(workspace, set_id, run.finished_at or "9")
            codes.append(np.setdiff1d(decided, later))
    return np.concatenate(codes)


def _labeler_run(workspace: Workspace, found: SilverSet) -> Run | None:
    if found.labeler_run_id is None:
        return None
    try:
        return runs.get_run(workspace, found.labeler_run_id)
    except WorkbenchError:  # it has been deleted
        return None


def _dev_score(workspace: Workspace, found: SilverSet) -> float | None:
    run = _labeler_run(workspace, found)
    value = run.metrics.get("dev_score") if run else None
    return None if value is None else float(value)


def _audit(
    workspace: Workspace,
    sets: tuple[SilverSet, SilverSet],
    shared: SharedPairs,
    used: np.ndarray,
) -> tuple[np.ndarray, ErrorChange | None]:
    """People's scores in the audit of either set, the old one's first, and the error on its pairs that were not used."""
    human = np.full(len(shared.codes), np.nan)
    reports = (audit_report(workspace, found.id) for found in sets)
    report = next((one for one in reports if one is not None), None)
    if report is None:
        return human, None
    sample = report.sample[report.sample["human"].notna()]
    codes = pair_codes(
        sample["sentence1_id"].to_numpy(np.int64), sample["sentence2_id"].to_numpy(np.int64)
    )
    places = np.searchsorted(shared.codes, codes)
    places = np.minimum(places, len(shared.codes) - 1)
    is_shared = shared.codes[places] == codes
    sample, places = sample[is_shared], places[is_shared]
    human[places] = sample["human"].to_numpy(np.float64)
    fair = ~used[places]
    if not fair.any():
        return human, None
    rows, taken = places[fair], sample[fair]
    found = error_change(
        shared.old[rows],
        shared.new[rows],
        human[rows],
        rng=np.random.default_rng(SEED),
        stratum=taken["stratum"].to_numpy(np.int64),
        stratum_size=taken["stratum_size"].to_numpy(np.float64),
    )
    return human, found


def change_page(
    workspace: Workspace, found: Relabelled, *, offset: int = 0, limit: int = 50
) -> pd.DataFrame:
    """A page of the pairs with the largest changes first: `PAGE_COLUMNS`, scores in [0, 1].

    human: NaN without a human score. basis: as in `Relabelled`. moved: "towards", "away" or "", in respect of human.
    """
    rows = found.order[offset : offset + limit]
    shared, human = found.shared, found.human[rows]
    old, new = shared.old[rows], shared.new[rows]
    texts = pair_texts(workspace, shared.old_ids[rows].tolist())
    pairs = [texts.get(number, ("", "")) for number in shared.old_ids[rows].tolist()]
    closer = np.abs(new - human) - np.abs(old - human)
    moved = np.select([closer < 0, closer > 0], ["towards", "away"], "")
    return pd.DataFrame(
        {
            "sentence1": [first for first, _ in pairs],
            "sentence2": [second for _, second in pairs],
            "old": old,
            "new": new,
            "change": new - old,
            "human": human,
            "basis": found.basis[rows],
            "used": found.used[rows],
            "moved": moved,
        },
        columns=list(PAGE_COLUMNS),
    )


def outcome(found: Relabelled) -> tuple[str, str]:
    """Whether the new labeler came closer to people, in a word and in sentences.

    The word: "closer", "farther", "unclear", or "unknown" where nothing fair is known. The audit decides where there
    is one: its pairs were drawn at random, while people correct what looks wrong, which flatters any other labeler.
    """
    said = []
    word = "unknown"
    for one, what in ((found.audited, "audited"), (found.corrections, "corrected")):
        if one is None:
            continue
        direction = _direction(one)
        word = direction if word == "unknown" else word
        said.append(_sentence(found, one, what, direction))
    if found.corrections is not None and found.audited is None:
        said.append(
            "People correct what looks wrong, so any other labeler looks better on corrected pairs: draw an audit to "
            "be sure."
        )
    if word == "unknown":
        said.append(_nothing_fair(found))
    elif found.n_used:
        said.append(f"{found.n_used:,} corrected pairs are left out: training has seen them.")
    return word, " ".join(said)


def _direction(one: ErrorChange) -> str:
    low, high = one.change.low, one.change.high
    if low is None or high is None or low <= 0 <= high:
        return "unclear"
    return "closer" if high < 0 else "farther"


def _sentence(found: Relabelled, one: ErrorChange, what: str, direction: str) -> str:
    scale = found.score_range
    verdict = {
        "closer": "The new labeler is closer to people",
        "farther": "Retraining did not help: the new labeler is farther from people",
        "unclear": "Retraining has not clearly helped: the change of the error may be chance",
    }[direction]
    return (
        f"{verdict}. On {one.n:,} {what} pairs that no labeler was trained on, MAE {scaled_text(one.before, scale)} "
        f"before and {scaled_text(one.after, scale)} after, a change of {scaled_text(one.change, scale, sign=True)} "
        "(95 % intervals)."
    )


def _nothing_fair(found: Relabelled) -> str:
    remedy = "Draw an audit, or correct further pairs, to know."
    if found.n_corrected:
        return (
            f"All {found.n_corrected:,} corrected pairs were used for training, so that the new labeler agrees with them "
            f"proves nothing. {remedy}"
        )
    if np.isfinite(found.human).any():
        return f"All audited pairs were used for training, so that they prove nothing. {remedy}"
    if found.n_accepted:
        return (
            f"No pair was corrected or audited. Of the {found.n_accepted:,} accepted pairs people said that the old "
            f"score may stand, which says nothing about a better one. {remedy}"
        )
    return f"No pair has a human score to compare with. {remedy}"


def people_text(human: float | None, basis: str, old: float, scale: ScoreRange) -> str:
    """What people said of a pair: "2.50", "accepted at 2.57", or "". human, old: in [0, 1]."""
    if basis == "accepted":
        return f"accepted at {scale.to_raw(old):.2f}"
    return "" if human is None or math.isnan(human) else f"{scale.to_raw(human):.2f}"


def summary_text(found: Relabelled) -> str:
    """How much changed, in one sentence."""
    shared = found.shared
    text = (
        f"{found.n_pairs:,} pairs in both sets; the score of a pair changed by "
        f"{scaled_text(found.mean_change, found.score_range)} on average (95 % interval)."
    )
    if found.n_corrected:
        text += (
            f" Of {found.n_corrected:,} corrected pairs, {found.towards:,} moved towards people and {found.away:,} away; "
            f"{found.n_used:,} of them were used for training."
        )
    if found.n_accepted:
        text += (
            f" {found.n_accepted:,} pairs were accepted at the old score, which counts neither as towards people nor "
            "as away from them."
        )
    if shared.n_only_old or shared.n_only_new:
        text += f" {shared.n_only_old:,} pairs are in the old set alone, {shared.n_only_new:,} in the new one."
    return text
