"""How far a stratified run may go: which options are refused, its most passes and its pilot."""

import math

from augsbert_core.errors import WorkbenchError
from augsbert_core.options import StratifiedOptions
from augsbert_core.steps.label import check_labeler
from augsbert_core.steps.models import run_model
from augsbert_core.steps.sample import check_corpus
from augsbert_core.storage import gold
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project

SMALLEST_C = 0.001
"""Below it a run would score more than a thousand pairs for each that it keeps."""

PASSES_PER_KEPT = 10
"""Without `max_passes`, at most n_keep / c times this are scored, should the proxy be of no use."""

SMALLEST_COUNTED_C = 0.1
"""A smaller c does not raise that limit any further."""

MOST_PASSES = 200_000
"""Nor do more pairs wanted: whoever needs more passes names `max_passes`."""

SMALLEST_PILOT = 50
"""The pilot is at most half of the pairs wanted, but not cut below this."""


def check_stratified(
    workspace: Workspace, project: Project, options: StratifiedOptions, *, is_resumed: bool = False
) -> None:
    """WorkbenchError: a number out of range, no such model, no gold, or fewer than two sentences.

    is_resumed: the pairs to draw from are stored already, so silver sets to leave out may be gone.
    """
    for name in ("n_keep", "pilot", "rounds", "batch_size"):
        if getattr(options, name) < 1:
            raise WorkbenchError(f"{name} is {getattr(options, name)}. Give 1 or more.")
    if options.max_passes is not None and options.max_passes < 1:
        raise WorkbenchError(f"max_passes is {options.max_passes}. Give 1 or more.")
    if not SMALLEST_C <= options.c <= 1:
        raise WorkbenchError(f"c is {options.c:g}. Give a value from {SMALLEST_C:g} to 1.")
    check_labeler(workspace, project, options.labeler)
    run_model(workspace, project, options.encoder, "train-bi-encoder")
    if not len(gold.gold_scores(workspace, project.id, ["train"])):
        raise WorkbenchError(
            "There are no gold training pairs, so there is no gold density to follow. Import some on the "
            "Gold page first."
        )
    check_corpus(workspace, project, options, excluded_may_be_gone=is_resumed)


def max_passes(options: StratifiedOptions) -> int:
    """How many pairs may be scored at most.

    Unless the options say: 10 · n_keep / max(c, 0.1), at most 200,000, but never fewer than n_keep.
    """
    if options.max_passes is not None:
        return options.max_passes
    wanted = math.ceil(PASSES_PER_KEPT * options.n_keep / max(options.c, SMALLEST_COUNTED_C))
    return max(min(wanted, MOST_PASSES), options.n_keep)


def pilot_pairs(options: StratifiedOptions) -> int:
    """Pairs of the first round: as asked, but at most half of n_keep, or SMALLEST_PILOT if that is more.

    A pilot is spread evenly over the cosines, so most of a large one would not be kept.
    """
    return min(options.pilot, max(SMALLEST_PILOT, options.n_keep // 2))


def pilot_notices(options: StratifiedOptions) -> list[str]:
    """What to tell when the pilot is smaller than asked for."""
    pairs = pilot_pairs(options)
    if pairs == options.pilot:
        return []
    return [f"The pilot has {pairs:,} pairs, not {options.pilot:,}: {options.n_keep:,} are wanted."]


def shortfall_notices(options: StratifiedOptions, n_kept: int, n_scored: int) -> list[str]:
    """Why fewer pairs are kept than were wanted."""
    if n_kept >= options.n_keep:
        return []
    most = max_passes(options)
    if n_scored < most:
        why = "no more were to be had, or the rounds were used up"
    elif options.max_passes is None:
        why = f"a run without --max-passes stops at {most:,} passes; with a larger limit it goes further"
    else:
        why = "no more passes were allowed"
    return [
        f"{n_kept:,} pairs are kept, not {options.n_keep:,}: {n_scored:,} pairs were scored, and {why}. "
        f"Keeping {options.n_keep:,} takes at least as many passes."
    ]


def nothing_kept_notice(pool_set_id: int, n_scored: int) -> str:
    """What to do with a pool of which the rule keeps no pair."""
    return (
        f"The rule keeps none of the {n_scored:,} scored pairs: they are too few, or gold pairs have other "
        f"scores. Their scores are stored as silver set {pool_set_id}: try another rule, c or bandwidth on "
        "the Silver page under Keep (`keep` at the command line), or sample from more sentences "
        "(--unlabelled)."
    )
