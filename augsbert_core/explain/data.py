"""Gold pairs and imports in plain sentences."""

from augsbert_core.explain.phrases import Z95, known, many, reach, share

TYPICAL = 0.75
"""A correlation as good models reach it, at which the reach of a test split is stated."""

FEWEST = 3
"""Of fewer test pairs nothing is measured; an order has an interval from one more on."""

ONE_SIDED = 0.1

MANY_REJECTED = 0.05

BECAME = {
    "pairs": "gold pairs: scored by people, such pairs train models, choose checkpoints and measure the end result",
    "sentences": "unlabelled sentences: they have no score, and candidate pairs can be made of them",
    "unlabelled-pairs": "candidate pairs: they have no score until people or a labeler give them one",
    "nli": "NLI pairs: they have a class in place of a score, and train a bi-encoder in a stage of their own",
    "triplets": "triplets: they say which of two sentences is nearer, and train a bi-encoder in a stage of their own",
}
"""Kind of import → what its rows are."""

NEXT = {
    "pairs": "The report tells how the files were read, not whether the scores are right: the tab Label errors "
    "looks for slips.",
    "sentences": "Next, sample candidate pairs on the Sample page, with the unlabelled sentences in the corpus.",
    "unlabelled-pairs": "Next, let the labeler score them on the Sample page, or annotate some.",
    "nli": "Next, choose a recipe with an NLI stage on the Train page.",
    "triplets": "Next, choose a recipe with a stage of triplets on the Train page.",
}


def gold_pairs(
    *,
    n_train: int,
    n_test: int,
    high_share: float | None,
    middle: str,
    task: str,
    all_alike: bool = False,
) -> tuple[str, ...]:
    """What the gold pairs of a project are good for.

    high_share: of training pairs at or above the middle of the scale. middle: that score as it is written. all_alike:
    whether the training pairs have one and the same score.
    """
    teaches = n_train > 1 and not all_alike
    said = [
        _training(n_train, known(high_share), middle) if teaches else _nothing_to_learn(n_train)
    ]
    if sure := _test(n_test, task):
        said.append(sure)
    said.append(
        "None of this shows whether the scores are right; the tab Label errors looks for slips."
    )
    said.append(
        "Next, train a cross-encoder on them, and let the gate say whether it is better than a student trained on "
        "gold alone."
        if teaches
        else "Next, import pairs of different scores into the training split."
        if n_train
        else "Next, import pairs into the training split."
    )
    return tuple(said)


def _nothing_to_learn(n_train: int) -> str:
    if not n_train:
        return "No pair is in the training split, so nothing can be learnt from these scores."
    if n_train == 1:
        return "There is 1 training pair: nothing can be learnt from a single score."
    return (
        f"The {many(n_train, 'training pair')} all have the same score, so nothing can be learnt from them: a model that "
        "gives every pair that score makes no mistake."
    )


def _training(n_train: int, high_share: float | None, middle: str) -> str:
    if high_share is None:
        return _nothing_to_learn(0)
    text = (
        f"Of the {many(n_train, 'training pair')}, {share(high_share)} are scored {middle} or more; silver pairs are "
        "later held against this spread"
    )
    if high_share >= 1 - ONE_SIDED:
        return f"{text}. It is one-sided: models see hardly any unlike pairs, which random sampling would bring in."
    if high_share <= ONE_SIDED:
        return f"{text}. It is one-sided: models see hardly any similar pairs, which BM25 or semantic search find."
    return f"{text}."


def _test(n_test: int, task: str) -> str:
    """How finely the test split measures."""
    if not n_test:
        return ""
    if n_test < (FEWEST if task == "classification" else FEWEST + 1):
        return f"The test split has {many(n_test, 'pair')}, too few to measure on."
    if task == "classification":
        half = Z95 * (0.25 / n_test) ** 0.5
        what = "a share such as accuracy has a 95 % interval of up to"
    else:
        half = reach(TYPICAL, n_test) or 1.0
        what = f"a Spearman × 100 of {100 * TYPICAL:.0f} has a 95 % interval of about"
    return (
        f"With {many(n_test, 'test pair')}, {what} ± {100 * min(half, 1.0):.1f} points; models measured on the same "
        "pairs can be told apart somewhat better."
    )


def imported(
    *,
    kind: str,
    n_read: int,
    n_kept: int,
    n_rejected: int,
    n_others: int = 0,
) -> tuple[str, ...]:
    """What came of an import. n_others: rows merged, left out as leaks, or not in the subsample."""
    if not n_kept:
        none = (
            "The 1 row did not come" if n_read == 1 else f"None of the {many(n_read, 'row')} came"
        )
        return (
            f"{none} in, so the project is as it was before.",
            "When all rows share one reason, the columns or the scale were likely read wrongly: import again and "
            "overrule them.",
        )
    said = [
        f"{many(n_kept, 'row')} came in {'among the' if n_kept == 1 else 'as'} {BECAME.get(kind, kind)}."
    ]
    rejected = n_rejected / n_read if n_read else 0.0
    if rejected >= MANY_REJECTED:
        said.append(
            f"{share(rejected)} of the rows were rejected. Where many share one reason, a wrong column, scale or "
            "separator is likelier than bad data: import again and overrule it."
        )
    elif n_rejected:
        said.append(
            f"Rejected were {share(rejected)} of the rows, each with its line and reason: nothing was dropped in silence."
        )
    if n_others:
        said.append(
            f"{many(n_others, 'further row')} did not come in as told: merged as repeats, left out as leaks, or not in "
            "the subsample."
        )
    return (*said, NEXT.get(kind, "Next, look at the rows that came in."))[:4]
