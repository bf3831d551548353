"""Copy gold pairs with words replaced: the paper's comparison with plain data augmentation (NLPAug)."""

from typing import Any

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.models import augmentation
from augsbert_core.options import AugmentOptions
from augsbert_core.pairs import ScoredPairs, sentence_key, text_pair_key
from augsbert_core.progress import stretch
from augsbert_core.steps.context import StepContext
from augsbert_core.storage import augmented, gold
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project

TRIES = 3
"""A copy that cannot be used is drawn anew this often in all."""

MOST_COPIES = 20


def check_augmenting(workspace: Workspace, project: Project, options: AugmentOptions) -> None:
    """WorkbenchError: impossible options, no gold training pairs, or a model that predicts no words."""
    limits = (
        ("Copies per pair", options.per_pair, 1, MOST_COPIES),
        ("The share of words", options.share, 0.01, 1.0),
        ("The number of best words", options.top, 1, 1000),
    )
    for what, value, low, high in limits:
        if not low <= value <= high:
            raise WorkbenchError(f"{what} is {value:g}. Give a number from {low:g} to {high:g}.")
    if not len(gold.scored_pairs(workspace, project.id, "train")):
        raise WorkbenchError(
            f"Project {project.name!r} has no gold pairs in the training split to copy. "
            "Import some on the Gold page first."
        )
    augmentation.check_masked_model(options.model)


def augment(context: StepContext, options: AugmentOptions) -> dict[str, Any]:
    """Make the copies and store them as one silver set, all or none; done twice for one run, the first stands.

    A copy has the score of its pair. None is a gold pair of any split or another copy, and none has a sentence
    of dev or test.
    """
    workspace, project = context.workspace, context.project
    set_id = augmented.augmented_set_of_run(workspace, context.run.id)
    if set_id is not None:
        return dict(context.run.metrics) | {"silver_set_id": set_id}
    check_augmenting(workspace, project, options)
    context.report(0.0, f"Loading {options.model}")
    masked = augmentation.load_masked_model(options.model, context.device)
    train = gold.scored_pairs(workspace, project.id, "train")
    copies = _copies(context, options, masked, train)
    if not copies:
        raise WorkbenchError(
            "No copy could be used: every one of them equals a gold pair, or has no word that can be "
            "replaced. Raise the share of words."
        )
    missing = options.per_pair * len(train) - len(copies)
    notices = []
    if missing:
        notices.append(
            f"{missing:,} copies could not be used in {TRIES} tries: they equal a gold pair or another copy, "
            "have a sentence of dev or test, or no word that can be replaced."
        )
    context.report(0.97, f"Storing {len(copies):,} pairs")
    set_id = augmented.add_augmented_set(
        workspace, project.id, context.run.id, copies, model=options.model, notices=notices
    )
    return {
        "silver_set_id": set_id,
        "n_copies": len(copies),
        "n_left_out": missing,
        "notices": notices,
    }


def _copies(
    context: StepContext,
    options: AugmentOptions,
    masked: augmentation.MaskedModel,
    train: ScoredPairs,
) -> list[tuple[str, str, float]]:
    """The usable copies, in the order of the gold pairs; those that cannot be used are drawn again."""
    taken, held_out = _not_to_be_made(context, train)
    made: dict[int, tuple[str, str, float]] = {}
    open_places = np.arange(options.per_pair * len(train))
    for number in range(TRIES):
        pairs = (open_places % len(train)).tolist()
        texts = [train.sentences1[pair] for pair in pairs]
        texts += [train.sentences2[pair] for pair in pairs]
        replaced = augmentation.replace_words(
            masked,
            texts,
            share=options.share,
            top=options.top,
            seed=options.seed + number * 1_000_003,
            report=stretch(context.report, 0.9 * number / TRIES, 0.9 * (number + 1) / TRIES),
            should_stop=context.should_stop,
        )
        for row, place in enumerate(open_places.tolist()):
            first, second = replaced[row], replaced[row + len(pairs)]
            if first is None or second is None:
                continue
            key = text_pair_key(first, second)
            if key[0] != key[1] and key not in taken and not held_out.intersection(key):
                taken.add(key)
                made[place] = (first, second, float(train.scores[pairs[row]]))
        open_places = np.array([at for at in open_places.tolist() if at not in made], dtype=int)
        if not len(open_places):
            break
    return [made[place] for place in sorted(made)]


def _not_to_be_made(
    context: StepContext, train: ScoredPairs
) -> tuple[set[tuple[str, str]], set[str]]:
    """The gold pairs of every split, and the sentences of dev and test."""
    others = [
        gold.scored_pairs(context.workspace, context.project.id, split) for split in ("dev", "test")
    ]
    taken = {
        text_pair_key(first, second)
        for pairs in (train, *others)
        for first, second in zip(pairs.sentences1, pairs.sentences2, strict=True)
    }
    held_out = {
        sentence_key(text) for pairs in others for text in (*pairs.sentences1, *pairs.sentences2)
    }
    return taken, held_out
